package main

import (
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// limits are what a container may do with a volume in a second; 0 is no limit.
type limits struct {
	ReadIops            uint64 `json:"readIops,omitempty"`
	WriteIops           uint64 `json:"writeIops,omitempty"`
	ReadBytesPerSecond  uint64 `json:"readBytesPerSecond,omitempty"`
	WriteBytesPerSecond uint64 `json:"writeBytesPerSecond,omitempty"`
}

// behaviour is what a StorageClass asks of its volumes.
type behaviour struct {
	Limits            limits        `json:"limits"`
	ProvisionDelay    time.Duration `json:"provisionDelay,omitempty"`
	AttachDelay       time.Duration `json:"attachDelay,omitempty"`
	ProvisionFailures uint64        `json:"provisionFailures,omitempty"`
	AttachFailures    uint64        `json:"attachFailures,omitempty"`
	MountFailures     uint64        `json:"mountFailures,omitempty"`
}

// parseParameters refuses what it does not know: a misspelt limit would be no limit.
func parseParameters(parameters map[string]string) (behaviour, error) {
	var b behaviour
	numbers := map[string]*uint64{
		"readIops":            &b.Limits.ReadIops,
		"writeIops":           &b.Limits.WriteIops,
		"readBytesPerSecond":  &b.Limits.ReadBytesPerSecond,
		"writeBytesPerSecond": &b.Limits.WriteBytesPerSecond,
		"provisionFailures":   &b.ProvisionFailures,
		"attachFailures":      &b.AttachFailures,
		"mountFailures":       &b.MountFailures,
	}
	delays := map[string]*time.Duration{"provisionDelay": &b.ProvisionDelay, "attachDelay": &b.AttachDelay}
	for name, text := range parameters {
		var err error
		if number, ok := numbers[name]; ok {
			*number, err = strconv.ParseUint(text, 10, 64)
		} else if delay, ok := delays[name]; ok {
			*delay, err = time.ParseDuration(text)
		} else if !strings.HasPrefix(name, "csi.storage.k8s.io/") {
			return b, status.Errorf(codes.InvalidArgument, "the StorageClass has parameter %q, which is unknown", name)
		}
		if err != nil {
			return b, status.Errorf(codes.InvalidArgument, "parameter %s of the StorageClass: %v", name, err)
		}
	}
	return b, nil
}
