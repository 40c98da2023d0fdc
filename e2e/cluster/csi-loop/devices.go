package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// command runs a program; what it said is part of the error.
func command(arguments ...string) (string, error) {
	output, err := exec.Command(arguments[0], arguments[1:]...).CombinedOutput()
	if err != nil {
		return "", status.Errorf(codes.Internal, "%s: %v: %s",
			strings.Join(arguments, " "), err, strings.Join(strings.Fields(string(output)), " "))
	}
	return strings.TrimSpace(string(output)), nil
}

// loopOf gives the loop device of an image, if it has one.
func loopOf(image string) string {
	devices, err := command("losetup", "--noheadings", "--output", "NAME", "--associated", image)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(devices, "\n")
	return strings.TrimSpace(first)
}

// attachLoop gives the loop device of an image, and makes it when there is none.
func attachLoop(image string) (string, error) {
	if device := loopOf(image); device != "" {
		return device, nil
	}
	return command("losetup", "--direct-io=on", "--find", "--show", image)
}

// numberOf gives a device's number, as 7:3.
func numberOf(device string) (string, error) {
	number, err := os.ReadFile(filepath.Join("/sys/class/block", filepath.Base(device), "dev"))
	return strings.TrimSpace(string(number)), err
}

// mounts gives the fields of each line of the table of mounts: number of the device, root, and place are the third to
// the fifth.
func mounts() [][]string {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	var found [][]string
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 5 {
			found = append(found, fields)
		}
	}
	return found
}

func mounted(place string) bool {
	return slices.ContainsFunc(mounts(), func(fields []string) bool { return fields[4] == place })
}

// mountsOf gives where the file system of a device is mounted.
func mountsOf(device string) []string {
	number, err := numberOf(device)
	if err != nil {
		return nil
	}
	var places []string
	for _, fields := range mounts() {
		if fields[2] == number {
			places = append(places, fields[4])
		}
	}
	return places
}

// makeFileSystem does so on a device that has nothing yet.
func makeFileSystem(kind, device string) error {
	if exec.Command("blkid", "--probe", device).Run() == nil {
		return nil
	}
	arguments := []string{"mkfs." + kind, "-q", device}
	if kind == "ext4" {
		// All of it now: what the kernel writes later, in the background, would be part of what is measured.
		arguments = []string{"mkfs.ext4", "-q", "-m0", "-E", "lazy_itable_init=0,lazy_journal_init=0", device}
	}
	_, err := command(arguments...)
	return err
}

// growBeforeMount makes an ext4 as large as its device. The file may have become longer while nobody had it, or is a
// copy of a shorter one. Other file systems grow only when they are mounted.
func growBeforeMount(kind, device string) error {
	if kind != "ext4" {
		return nil
	}
	// Without a check that is newer than its last mount, it does not grow. A status of 1 means that it was repaired.
	var exit *exec.ExitError
	err := exec.Command("e2fsck", "-f", "-p", device).Run()
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
		return status.Errorf(codes.Internal, "e2fsck -f -p %s: %v", device, err)
	}
	_, err = command("resize2fs", device)
	return err
}

// growMounted makes a mounted file system as large as its device. The kernel grows ext4 only for who has
// CAP_SYS_RESOURCE; without it, this is an error until the volume is mounted the next time.
func growMounted(kind, device, place string) error {
	var err error
	switch kind {
	case "ext4":
		_, err = command("resize2fs", device)
	case "xfs":
		_, err = command("xfs_growfs", place)
	}
	return err
}
