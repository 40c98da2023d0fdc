package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// CreateSnapshot copies what a volume holds now.
func (d *driver) CreateSnapshot(
	_ context.Context, request *csi.CreateSnapshotRequest,
) (*csi.CreateSnapshotResponse, error) {
	id := request.GetName()
	unlock, err := d.pool.lock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	made := &snapshot{}
	err = read(d.pool.file("snapshots", id), "snapshot", made)
	if status.Code(err) == codes.NotFound {
		origin, err := d.copyVolume(request.GetSourceVolumeId(), d.pool.snapshotImage(id))
		if err != nil {
			return nil, err
		}
		made = &snapshot{ID: id, Volume: origin.ID, SizeBytes: origin.SizeBytes, Created: time.Now()}
		if err := write(d.pool.file("snapshots", id), made); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if made.Volume != request.GetSourceVolumeId() {
		return nil, status.Errorf(codes.AlreadyExists, "snapshot %s is of volume %s", id, made.Volume)
	}
	return &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{
		SnapshotId:     id,
		SourceVolumeId: made.Volume,
		SizeBytes:      made.SizeBytes,
		CreationTime:   timestamppb.New(made.Created),
		ReadyToUse:     true,
	}}, nil
}

// DeleteSnapshot removes the copy.
func (d *driver) DeleteSnapshot(
	_ context.Context, request *csi.DeleteSnapshotRequest,
) (*csi.DeleteSnapshotResponse, error) {
	id := request.GetSnapshotId()
	unlock, err := d.pool.lock(id)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, path := range []string{d.pool.snapshotImage(id), d.pool.file("snapshots", id)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return &csi.DeleteSnapshotResponse{}, nil
}
