package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// How often control groups are looked at while a throttled volume is published. A container's group is made well before
// its program starts, so the limit is there first.
const pollInterval = 10 * time.Millisecond

// throttles keeps the limits of volumes that are published on this node. With version 1 of control groups only the
// limit of the container's own group holds it back, and each container that starts has a new one: so they are watched.
type throttles struct {
	// The node's folder in the blkio hierarchy.
	cgroup string
	// Where published is kept, for the next process.
	file string

	lock      sync.Mutex
	wake      chan struct{}
	published map[string]throttle
	// The groups that each published volume was written to.
	written map[string]map[string]bool
}

// throttle is one volume for one pod; the map's key is the path where the pod gets it.
type throttle struct {
	Pod    string `json:"pod"`
	Device string `json:"device"`
	Limits limits `json:"limits"`
}

func newThrottles(cgroup, file string) (*throttles, error) {
	t := &throttles{
		cgroup:    cgroup,
		file:      file,
		wake:      make(chan struct{}, 1),
		published: map[string]throttle{},
		written:   map[string]map[string]bool{},
	}
	if err := read(file, "", &t.published); err != nil && status.Code(err) != codes.NotFound {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	for target := range t.published {
		if !mounted(target) {
			delete(t.published, target)
		}
	}
	return t, nil
}

// add watches the containers of a pod from now on.
func (t *throttles) add(target string, added throttle) error {
	if added.Limits == (limits{}) {
		return nil
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	t.published[target] = added
	delete(t.written, target)
	select {
	case t.wake <- struct{}{}:
	default:
	}
	return write(t.file, t.published)
}

func (t *throttles) remove(target string) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	if _, known := t.published[target]; !known {
		return nil
	}
	delete(t.published, target)
	delete(t.written, target)
	return write(t.file, t.published)
}

// watch never ends. It sleeps while nothing is throttled.
func (t *throttles) watch() {
	for {
		if t.apply() == 0 {
			<-t.wake
		} else {
			time.Sleep(pollInterval)
		}
	}
}

// apply limits every container that has appeared, and gives how many volumes are watched.
func (t *throttles) apply() int {
	t.lock.Lock()
	defer t.lock.Unlock()
	for target, watched := range t.published {
		written := t.written[target]
		now := map[string]bool{}
		for _, group := range t.containers(watched.Pod) {
			now[group] = written[group] || limit(group, watched)
		}
		// A group that is gone is forgotten, as another may get its name.
		t.written[target] = now
	}
	return len(t.published)
}

// containers gives the control groups of a pod's containers. The folder above them is named by the pod's quality of
// service, which the driver does not know.
func (t *throttles) containers(pod string) []string {
	for _, quality := range []string{"", "burstable", "besteffort"} {
		// The pattern has no error: it is a constant but for names of folders.
		pattern := filepath.Join(t.cgroup, "kubepods", quality, "pod"+pod, "*", "blkio.throttle.read_iops_device")
		found, _ := filepath.Glob(pattern)
		if len(found) > 0 {
			for index := range found {
				found[index] = filepath.Dir(found[index])
			}
			return found
		}
	}
	return nil
}

// limit writes all limits to one group, and says whether it could. A group that has just gone cannot be written to.
func limit(group string, watched throttle) bool {
	for file, most := range map[string]uint64{
		"blkio.throttle.read_iops_device":  watched.Limits.ReadIops,
		"blkio.throttle.write_iops_device": watched.Limits.WriteIops,
		"blkio.throttle.read_bps_device":   watched.Limits.ReadBytesPerSecond,
		"blkio.throttle.write_bps_device":  watched.Limits.WriteBytesPerSecond,
	} {
		if most == 0 {
			continue
		}
		line := fmt.Sprintf("%s %d", watched.Device, most)
		if err := os.WriteFile(filepath.Join(group, file), []byte(line), 0o600); err != nil {
			log.Printf("throttle %s: %v", group, err)
			return false
		}
	}
	log.Printf("throttle %s: device %s, %+v", group, watched.Device, watched.Limits)
	return true
}
