package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// pool is the folder that all nodes share:
//
//	volumes/ID.img     what is in a volume
//	volumes/ID.json    what is known of it
//	snapshots/ID.img   and ID.json, the same of a snapshot
//	calls/ID.json      how often and since when something was asked of a volume, which may never come to be
//	locks/ID           held while one of these files changes
type pool struct{ folder string }

// volume is what is known of one.
type volume struct {
	ID        string    `json:"id"`
	SizeBytes int64     `json:"sizeBytes"`
	Behaviour behaviour `json:"behaviour"`
	// Shared volumes may be attached to several nodes at once.
	Shared bool `json:"shared,omitempty"`
	// Where it is attached, and where it is staged.
	Attached []string `json:"attached,omitempty"`
	Staged   []string `json:"staged,omitempty"`
	// What it was copied from.
	Origin string `json:"origin,omitempty"`
}

// snapshot is a copy that never changes.
type snapshot struct {
	ID        string    `json:"id"`
	Volume    string    `json:"volume"`
	SizeBytes int64     `json:"sizeBytes"`
	Created   time.Time `json:"created"`
}

// call is what is known of one kind of request for one volume.
type call struct {
	Failed uint64    `json:"failed,omitempty"`
	Began  time.Time `json:"began,omitzero"`
}

func newPool(folder string) (pool, error) {
	for _, inner := range []string{"volumes", "snapshots", "calls", "locks"} {
		if err := os.MkdirAll(filepath.Join(folder, inner), 0o700); err != nil {
			return pool{}, err
		}
	}
	return pool{folder}, nil
}

func (p pool) image(id string) string { return filepath.Join(p.folder, "volumes", id+".img") }

func (p pool) snapshotImage(id string) string { return filepath.Join(p.folder, "snapshots", id+".img") }

func (p pool) file(kind, id string) string { return filepath.Join(p.folder, kind, id+".json") }

// lock keeps other calls for this volume out, those of other processes included, until the result is called.
func (p pool) lock(id string) (unlock func(), err error) {
	if id == "" || strings.ContainsAny(id, "/ ") {
		return nil, status.Errorf(codes.InvalidArgument, "%q is no id of a volume", id)
	}
	file, err := os.OpenFile(filepath.Join(p.folder, "locks", id), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

func (p pool) volume(id string) (*volume, error) {
	found := &volume{}
	return found, read(p.file("volumes", id), "volume "+id, found)
}

func (p pool) save(v *volume) error { return write(p.file("volumes", v.ID), v) }

// fail counts a call, and is an error as often as the StorageClass asks for.
func (p pool) fail(kind, id string, failures uint64) error {
	calls, err := p.calls(id)
	if err != nil || calls[kind].Failed >= failures {
		return err
	}
	counted := calls[kind]
	counted.Failed++
	calls[kind] = counted
	if err := write(p.file("calls", id), calls); err != nil {
		return err
	}
	return status.Errorf(codes.Internal, "%s: call %d of %d fails, as the StorageClass asks for",
		kind, counted.Failed, failures)
}

// delay waits until this much time has passed since the first such call. Callers give up and ask again, so it is not
// the time of one call.
func (p pool) delay(ctx context.Context, kind, id string, delay time.Duration) error {
	if delay <= 0 {
		return nil
	}
	began, err := p.began(kind, id)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	case <-time.After(time.Until(began.Add(delay))):
		return nil
	}
}

func (p pool) began(kind, id string) (time.Time, error) {
	unlock, err := p.lock(id)
	if err != nil {
		return time.Time{}, err
	}
	defer unlock()
	calls, err := p.calls(id)
	if err != nil {
		return time.Time{}, err
	}
	known := calls[kind]
	if known.Began.IsZero() {
		known.Began = time.Now()
		calls[kind] = known
		err = write(p.file("calls", id), calls)
	}
	return known.Began, err
}

// done forgets when a call began: the next one takes its time again.
func (p pool) done(kind, id string) error {
	calls, err := p.calls(id)
	if err != nil || calls[kind].Began.IsZero() {
		return err
	}
	known := calls[kind]
	known.Began = time.Time{}
	calls[kind] = known
	return write(p.file("calls", id), calls)
}

func (p pool) calls(id string) (map[string]call, error) {
	calls := map[string]call{}
	err := read(p.file("calls", id), "", &calls)
	if status.Code(err) == codes.NotFound {
		err = nil
	}
	return calls, err
}

func (p pool) forget(id string) error {
	for _, path := range []string{p.image(id), p.file("volumes", id), p.file("calls", id)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func read(path, what string, into any) error {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return status.Errorf(codes.NotFound, "there is no %s", what)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// write leaves the old content or the new one, whenever the process is killed.
func write(path string, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
