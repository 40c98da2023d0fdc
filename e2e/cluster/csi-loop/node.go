package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// NodeGetInfo names the node as Kubernetes does.
func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: d.node}, nil
}

// NodeGetCapabilities lists what a node can do.
func (d *driver) NodeGetCapabilities(
	context.Context, *csi.NodeGetCapabilitiesRequest,
) (*csi.NodeGetCapabilitiesResponse, error) {
	response := &csi.NodeGetCapabilitiesResponse{}
	for _, kind := range []csi.NodeServiceCapability_RPC_Type{
		csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csi.NodeServiceCapability_RPC_EXPAND_VOLUME,
		csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
	} {
		rpc := &csi.NodeServiceCapability_RPC{Type: kind}
		capability := &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: rpc}}
		response.Capabilities = append(response.Capabilities, capability)
	}
	return response, nil
}

// NodeStageVolume makes the device, and mounts the file system where the kubelet wants it for all pods of the node.
func (d *driver) NodeStageVolume(
	_ context.Context, request *csi.NodeStageVolumeRequest,
) (*csi.NodeStageVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	if !slices.Contains(known.Attached, d.node) {
		return nil, status.Errorf(codes.FailedPrecondition, "the volume is attached to %v, not here", known.Attached)
	}
	if err := d.pool.fail("mountFailures", known.ID, known.Behaviour.MountFailures); err != nil {
		return nil, err
	}
	// Before the device is made: who unstages knows then that there may be one.
	if !slices.Contains(known.Staged, d.node) {
		known.Staged = append(known.Staged, d.node)
		if err := d.pool.save(known); err != nil {
			return nil, err
		}
	}
	device, err := attachLoop(d.pool.image(known.ID))
	if err != nil {
		return nil, err
	}
	if mount := request.GetVolumeCapability().GetMount(); mount != nil {
		err = stage(mount, device, request.GetStagingTargetPath())
	}
	return &csi.NodeStageVolumeResponse{}, err
}

func stage(wanted *csi.VolumeCapability_MountVolume, device, place string) error {
	if mounted(place) {
		return nil
	}
	kind := wanted.GetFsType()
	if kind == "" {
		kind = "ext4"
	}
	if err := makeFileSystem(kind, device); err != nil {
		return err
	}
	// Another node that has it mounted has it grown already.
	if len(mountsOf(device)) == 0 {
		if err := growBeforeMount(kind, device); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(place, 0o750); err != nil {
		return err
	}
	options := append([]string{"rw"}, wanted.GetMountFlags()...)
	if kind == "xfs" {
		// A copy has the identity of what it was copied from.
		options = append(options, "nouuid")
	}
	if _, err := command("mount", "-t", kind, "-o", strings.Join(options, ","), device, place); err != nil {
		return err
	}
	if kind == "xfs" {
		return growMounted(kind, device, place)
	}
	return nil
}

// NodeUnstageVolume undoes that. The device stays while another node has it.
func (d *driver) NodeUnstageVolume(
	_ context.Context, request *csi.NodeUnstageVolumeRequest,
) (*csi.NodeUnstageVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if place := request.GetStagingTargetPath(); mounted(place) {
		if _, err := command("umount", place); err != nil {
			return nil, err
		}
	}
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	known.Staged = slices.DeleteFunc(known.Staged, func(node string) bool { return node == d.node })
	if device := loopOf(d.pool.image(request.GetVolumeId())); device != "" && len(known.Staged) == 0 {
		if _, err := command("losetup", "--detach", device); err != nil {
			return nil, err
		}
	}
	if err == nil {
		err = d.pool.save(known)
	} else {
		err = nil
	}
	return &csi.NodeUnstageVolumeResponse{}, err
}

// NodePublishVolume puts the volume where one pod gets it, and has the pod's containers throttled.
func (d *driver) NodePublishVolume(
	_ context.Context, request *csi.NodePublishVolumeRequest,
) (*csi.NodePublishVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	device := loopOf(d.pool.image(known.ID))
	if device == "" {
		return nil, status.Error(codes.FailedPrecondition, "the volume is not staged on this node")
	}
	number, err := numberOf(device)
	if err != nil {
		return nil, err
	}
	target := request.GetTargetPath()
	throttled := throttle{Pod: podOf(target), Device: number, Limits: known.Behaviour.Limits}
	if throttled.Pod == "" {
		return nil, status.Errorf(codes.InvalidArgument, "%s does not name a pod", target)
	}
	if err := d.throttles.add(target, throttled); err != nil {
		return nil, err
	}
	if mounted(target) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	source := request.GetStagingTargetPath()
	if request.GetVolumeCapability().GetBlock() != nil {
		source = device
		err = makeFile(target)
	} else {
		err = os.MkdirAll(target, 0o750)
	}
	if err != nil {
		return nil, err
	}
	if _, err := command("mount", "--bind", source, target); err != nil {
		return nil, err
	}
	if request.GetReadonly() {
		_, err = command("mount", "-o", "remount,bind,ro", target)
	}
	return &csi.NodePublishVolumeResponse{}, err
}

// podOf finds the pod in a path of the kubelet: /pods/POD/volumes/.. of a file system, and
// /volumeDevices/publish/VOLUME/POD of a device.
func podOf(target string) string {
	parts := strings.Split(target, "/")
	if at := slices.Index(parts, "publish"); at >= 0 && at+2 < len(parts) {
		return parts[at+2]
	}
	if at := slices.Index(parts, "pods"); at >= 0 && at+1 < len(parts) {
		return parts[at+1]
	}
	return ""
}

// makeFile makes the file that a device is mounted on.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// NodeUnpublishVolume undoes that.
func (d *driver) NodeUnpublishVolume(
	_ context.Context, request *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	target := request.GetTargetPath()
	if mounted(target) {
		if _, err := command("umount", target); err != nil {
			return nil, err
		}
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return &csi.NodeUnpublishVolumeResponse{}, d.throttles.remove(target)
}

// NodeExpandVolume makes the device as long as its file, and the file system as large as the device.
func (d *driver) NodeExpandVolume(
	_ context.Context, request *csi.NodeExpandVolumeRequest,
) (*csi.NodeExpandVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	device := loopOf(d.pool.image(known.ID))
	if device == "" {
		return nil, status.Error(codes.FailedPrecondition, "the volume is not staged on this node")
	}
	if _, err := command("losetup", "--set-capacity", device); err != nil {
		return nil, err
	}
	if mount := request.GetVolumeCapability().GetMount(); mount != nil {
		kind := mount.GetFsType()
		if kind == "" {
			kind = "ext4"
		}
		if err := growMounted(kind, device, request.GetVolumePath()); err != nil {
			return nil, err
		}
	}
	return &csi.NodeExpandVolumeResponse{CapacityBytes: known.SizeBytes}, nil
}

// NodeGetVolumeStats says how full a file system is, and how large a device.
func (d *driver) NodeGetVolumeStats(
	_ context.Context, request *csi.NodeGetVolumeStatsRequest,
) (*csi.NodeGetVolumeStatsResponse, error) {
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(request.GetVolumePath())
	if err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	if !info.IsDir() {
		usage := &csi.VolumeUsage{Unit: csi.VolumeUsage_BYTES, Total: known.SizeBytes}
		return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{usage}}, nil
	}
	var found syscall.Statfs_t
	if err := syscall.Statfs(request.GetVolumePath(), &found); err != nil {
		return nil, err
	}
	block, files := int64(found.Bsize), int64(found.Files)
	return &csi.NodeGetVolumeStatsResponse{Usage: []*csi.VolumeUsage{{
		Unit:      csi.VolumeUsage_BYTES,
		Total:     int64(found.Blocks) * block,
		Available: int64(found.Bavail) * block,
		Used:      int64(found.Blocks-found.Bfree) * block,
	}, {
		Unit:      csi.VolumeUsage_INODES,
		Total:     files,
		Available: int64(found.Ffree),
		Used:      files - int64(found.Ffree),
	}}}, nil
}
