package main

import (
	"context"
	"os"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A volume that nobody gave a size.
const sizeBytesDefault = 1 << 30

// ControllerGetCapabilities lists what the controller can do.
func (d *driver) ControllerGetCapabilities(
	context.Context, *csi.ControllerGetCapabilitiesRequest,
) (*csi.ControllerGetCapabilitiesResponse, error) {
	response := &csi.ControllerGetCapabilitiesResponse{}
	for _, kind := range []csi.ControllerServiceCapability_RPC_Type{
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		csi.ControllerServiceCapability_RPC_CLONE_VOLUME,
		csi.ControllerServiceCapability_RPC_EXPAND_VOLUME,
		csi.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT,
	} {
		rpc := &csi.ControllerServiceCapability_RPC{Type: kind}
		capability := &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{Rpc: rpc}}
		response.Capabilities = append(response.Capabilities, capability)
	}
	return response, nil
}

// shared says whether volumes with these access modes may be attached to several nodes. All nodes are one kernel, so a
// file system that is mounted on two of them is one file system.
func shared(capabilities []*csi.VolumeCapability) bool {
	return slices.ContainsFunc(capabilities, func(capability *csi.VolumeCapability) bool {
		switch capability.GetAccessMode().GetMode() {
		case csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER,
			csi.VolumeCapability_AccessMode_MULTI_NODE_SINGLE_WRITER,
			csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY:
			return true
		default:
			return false
		}
	})
}

// CreateVolume makes a sparse file, or a copy of another volume or a snapshot.
func (d *driver) CreateVolume(
	ctx context.Context, request *csi.CreateVolumeRequest,
) (*csi.CreateVolumeResponse, error) {
	id := request.GetName()
	wanted, err := parseParameters(request.GetParameters())
	if err != nil {
		return nil, err
	}
	if err := d.pool.delay(ctx, "provision", id, wanted.ProvisionDelay); err != nil {
		return nil, err
	}
	unlock, err := d.pool.lock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	made, err := d.pool.volume(id)
	switch status.Code(err) {
	case codes.OK:
		if made.SizeBytes < request.GetCapacityRange().GetRequiredBytes() {
			return nil, status.Errorf(codes.AlreadyExists, "volume %s has %d bytes", id, made.SizeBytes)
		}
	case codes.NotFound:
		if err := d.pool.fail("provisionFailures", id, wanted.ProvisionFailures); err != nil {
			return nil, err
		}
		if made, err = d.create(request, wanted); err != nil {
			return nil, err
		}
	default:
		return nil, err
	}
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId:      id,
		CapacityBytes: made.SizeBytes,
		VolumeContext: request.GetParameters(),
		ContentSource: request.GetVolumeContentSource(),
	}}, nil
}

func (d *driver) create(request *csi.CreateVolumeRequest, wanted behaviour) (*volume, error) {
	made := &volume{
		ID:        request.GetName(),
		SizeBytes: request.GetCapacityRange().GetRequiredBytes(),
		Behaviour: wanted,
		Shared:    shared(request.GetVolumeCapabilities()),
	}
	if made.SizeBytes == 0 {
		made.SizeBytes = sizeBytesDefault
	}
	image, least := d.pool.image(made.ID), int64(0)
	if source := request.GetVolumeContentSource().GetSnapshot(); source != nil {
		origin := &snapshot{}
		if err := read(d.pool.file("snapshots", source.GetSnapshotId()), "snapshot", origin); err != nil {
			return nil, err
		}
		made.Origin, least = origin.ID, origin.SizeBytes
		if err := copyImage(d.pool.snapshotImage(origin.ID), image); err != nil {
			return nil, err
		}
	} else if source := request.GetVolumeContentSource().GetVolume(); source != nil {
		origin, err := d.copyVolume(source.GetVolumeId(), image)
		if err != nil {
			return nil, err
		}
		made.Origin, least = origin.ID, origin.SizeBytes
	}
	if made.SizeBytes < least {
		os.Remove(image)
		return nil, status.Errorf(codes.InvalidArgument,
			"%d bytes are too few for a copy of %s, which has %d", made.SizeBytes, made.Origin, least)
	}
	if err := resize(image, made.SizeBytes); err != nil {
		return nil, err
	}
	return made, d.pool.save(made)
}

// copyVolume copies what a volume holds now.
func (d *driver) copyVolume(id, to string) (*volume, error) {
	unlock, err := d.pool.lock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	origin, err := d.pool.volume(id)
	if err != nil {
		return nil, err
	}
	// What a file system holds back is not in the image yet. Writes that go on meanwhile may be in the copy or not.
	if device := loopOf(d.pool.image(id)); device != "" {
		for _, place := range mountsOf(device) {
			if _, err := command("sync", "--file-system", place); err != nil {
				return nil, err
			}
		}
		if _, err := command("blockdev", "--flushbufs", device); err != nil {
			return nil, err
		}
	}
	return origin, copyImage(d.pool.image(id), to)
}

func copyImage(from, to string) error {
	_, err := command("cp", "--sparse=always", "--reflink=auto", from, to)
	return err
}

// resize makes a file that long, and makes it when there is none.
func resize(path string, sizeBytes int64) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	return file.Truncate(sizeBytes)
}

// DeleteVolume removes the file.
func (d *driver) DeleteVolume(
	_ context.Context, request *csi.DeleteVolumeRequest,
) (*csi.DeleteVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	if known, err := d.pool.volume(request.GetVolumeId()); err == nil && len(known.Attached) > 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "the volume is attached to %v", known.Attached)
	}
	return &csi.DeleteVolumeResponse{}, d.pool.forget(request.GetVolumeId())
}

// ControllerPublishVolume records that a node has the volume.
func (d *driver) ControllerPublishVolume(
	ctx context.Context, request *csi.ControllerPublishVolumeRequest,
) (*csi.ControllerPublishVolumeResponse, error) {
	id, node := request.GetVolumeId(), request.GetNodeId()
	known, err := d.pool.volume(id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(known.Attached, node) {
		if err := d.pool.delay(ctx, "attach to "+node, id, known.Behaviour.AttachDelay); err != nil {
			return nil, err
		}
	}
	unlock, err := d.pool.lock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if known, err = d.pool.volume(id); err != nil {
		return nil, err
	}
	if !slices.Contains(known.Attached, node) {
		if len(known.Attached) > 0 && !known.Shared {
			return nil, status.Errorf(codes.FailedPrecondition, "the volume is attached to %v", known.Attached)
		}
		if err := d.pool.fail("attachFailures", id, known.Behaviour.AttachFailures); err != nil {
			return nil, err
		}
		if err := d.pool.done("attach to "+node, id); err != nil {
			return nil, err
		}
		known.Attached = append(known.Attached, node)
		if err := d.pool.save(known); err != nil {
			return nil, err
		}
	}
	return &csi.ControllerPublishVolumeResponse{}, nil
}

// ControllerUnpublishVolume records that a node, or every node, no longer has the volume.
func (d *driver) ControllerUnpublishVolume(
	_ context.Context, request *csi.ControllerUnpublishVolumeRequest,
) (*csi.ControllerUnpublishVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := d.pool.volume(request.GetVolumeId())
	if status.Code(err) == codes.NotFound {
		return &csi.ControllerUnpublishVolumeResponse{}, nil
	} else if err != nil {
		return nil, err
	}
	known.Attached = slices.DeleteFunc(known.Attached, func(node string) bool {
		return request.GetNodeId() == "" || node == request.GetNodeId()
	})
	return &csi.ControllerUnpublishVolumeResponse{}, d.pool.save(known)
}

// ValidateVolumeCapabilities confirms all: what cannot be is refused when it is asked for.
func (d *driver) ValidateVolumeCapabilities(
	_ context.Context, request *csi.ValidateVolumeCapabilitiesRequest,
) (*csi.ValidateVolumeCapabilitiesResponse, error) {
	if _, err := d.pool.volume(request.GetVolumeId()); err != nil {
		return nil, err
	}
	confirmed := &csi.ValidateVolumeCapabilitiesResponse_Confirmed{VolumeCapabilities: request.GetVolumeCapabilities()}
	return &csi.ValidateVolumeCapabilitiesResponse{Confirmed: confirmed}, nil
}

// ControllerExpandVolume makes the file longer; the node makes the device and the file system follow.
func (d *driver) ControllerExpandVolume(
	_ context.Context, request *csi.ControllerExpandVolumeRequest,
) (*csi.ControllerExpandVolumeResponse, error) {
	unlock, err := d.pool.lock(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer unlock()
	known, err := d.pool.volume(request.GetVolumeId())
	if err != nil {
		return nil, err
	}
	if wanted := request.GetCapacityRange().GetRequiredBytes(); wanted > known.SizeBytes {
		if err := resize(d.pool.image(known.ID), wanted); err != nil {
			return nil, err
		}
		known.SizeBytes = wanted
		if err := d.pool.save(known); err != nil {
			return nil, err
		}
	}
	return &csi.ControllerExpandVolumeResponse{CapacityBytes: known.SizeBytes, NodeExpansionRequired: true}, nil
}
