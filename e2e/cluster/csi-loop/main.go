// csi-loop is a small but real CSI driver for tests. A volume is a sparse file in a folder that all nodes share;
// staging it makes a loop device of the file, a file system on that and a mount. A StorageClass says how it behaves:
//
//	parameter            what it is                                            when absent
//	readIops             reads a second that each container may do             no limit
//	writeIops            writes a second                                       no limit
//	readBytesPerSecond   bytes that may be read a second                       no limit
//	writeBytesPerSecond  bytes that may be written a second                    no limit
//	provisionDelay       how long creating a volume takes, such as 2s          0s
//	attachDelay          how long attaching it to a node takes                 0s
//	provisionFailures    so many first calls for a volume fail                 0
//	attachFailures       the same of ControllerPublishVolume                   0
//	mountFailures        the same of NodeStageVolume                           0
//
// Sizes and rates are plain numbers, and a rate of 0 is no limit. An unknown parameter is refused.
//
// One process serves each node, and one more the controller's calls. What they know of volumes is in files, so any of
// them can be killed and started again.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const driverName = "loop.csi.test"

// driver answers the calls of all three services of CSI.
type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
	node      string
	pool      pool
	throttles *throttles
}

func main() {
	endpoint := flag.String("endpoint", "", "path of the CSI socket")
	folder := flag.String("pool", "", "folder of the volumes, shared by all nodes")
	node := flag.String("node", "", "name of the node; without it this is the controller, and what follows is not needed")
	registrationSocket := flag.String("registration-socket", "", "path of the socket in the kubelet's plugins_registry")
	cgroup := flag.String("cgroup", "", "folder of the node's control groups in the blkio hierarchy")
	state := flag.String("state", "", "file that keeps which volumes are throttled on this node")
	flag.Parse()
	needed := []string{"endpoint", "pool"}
	if *node != "" {
		needed = append(needed, "registration-socket", "cgroup", "state")
	}
	for _, name := range needed {
		if flag.Lookup(name).Value.String() == "" {
			fmt.Fprintf(os.Stderr, "csi-loop: --%s is needed\n", name)
			os.Exit(2)
		}
	}
	log.SetFlags(log.LstdFlags | log.Lmicroseconds)
	volumes, err := newPool(*folder)
	if err != nil {
		log.Fatal(err)
	}
	d := &driver{node: *node, pool: volumes}
	if *node == "" {
		serve(*endpoint, func(server *grpc.Server) {
			csi.RegisterIdentityServer(server, d)
			csi.RegisterControllerServer(server, d)
		})
	} else {
		if d.throttles, err = newThrottles(*cgroup, *state); err != nil {
			log.Fatal(err)
		}
		go d.throttles.watch()
		serve(*endpoint, func(server *grpc.Server) {
			csi.RegisterIdentityServer(server, d)
			csi.RegisterNodeServer(server, d)
		})
		serve(*registrationSocket, func(server *grpc.Server) {
			registration.RegisterRegistrationServer(server, registrar{endpoint: *endpoint})
		})
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	<-signals
}

// serve answers on a socket of its own, in the background. Each call leaves one line in the log.
func serve(path string, register func(*grpc.Server)) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		log.Fatal(err)
	}
	// A process that was killed leaves its socket behind.
	os.Remove(path)
	listener, err := net.Listen("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(logCall))
	register(server)
	go func() { log.Fatal(server.Serve(listener)) }()
}

func logCall(
	ctx context.Context, request any, call *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (any, error) {
	started := time.Now()
	response, err := handler(ctx, request)
	name := call.FullMethod[strings.LastIndexByte(call.FullMethod, '/')+1:]
	if name == "Probe" {
		return response, err
	}
	about := ""
	if volume, ok := request.(interface{ GetVolumeId() string }); ok {
		about = volume.GetVolumeId()
	} else if named, ok := request.(interface{ GetName() string }); ok {
		about = named.GetName()
	}
	log.Printf("%s %s %v err=%v", name, about, time.Since(started).Round(time.Millisecond), err)
	return response, err
}

// GetPluginInfo says who this is.
func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: driverName, VendorVersion: "1"}, nil
}

// GetPluginCapabilities says that there is a controller, and that volumes can grow while they are in use.
func (d *driver) GetPluginCapabilities(
	context.Context, *csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	service := &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}
	growth := &csi.PluginCapability_VolumeExpansion{Type: csi.PluginCapability_VolumeExpansion_ONLINE}
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{
		{Type: &csi.PluginCapability_Service_{Service: service}},
		{Type: &csi.PluginCapability_VolumeExpansion_{VolumeExpansion: growth}},
	}}, nil
}

// Probe says that the driver is ready, which it is from the start.
func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

// registrar tells the kubelet where the driver is; usually a sidecar does that.
type registrar struct {
	registration.UnimplementedRegistrationServer
	endpoint string
}

func (r registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: driverName, Endpoint: r.endpoint, SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (registrar) NotifyRegistrationStatus(
	_ context.Context, status *registration.RegistrationStatus,
) (*registration.RegistrationStatusResponse, error) {
	log.Printf("registration: ok=%v %s", status.PluginRegistered, status.Error)
	return &registration.RegistrationStatusResponse{}, nil
}
