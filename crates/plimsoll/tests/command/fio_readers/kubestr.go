// Decodes a report on standard input the way kubestr does, into types that refuse what is not of their kind, and
// prints a few numbers of it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

type latency struct {
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	Mean   float32 `json:"mean"`
	Stddev float32 `json:"stddev"`
	N      int64   `json:"N"`
}

type direction struct {
	IoBytes     int64   `json:"io_bytes"`
	IoKbytes    int64   `json:"io_kbytes"`
	BwBytes     int64   `json:"bw_bytes"`
	Bw          int64   `json:"bw"`
	Iops        float32 `json:"iops"`
	Runtime     int64   `json:"runtime"`
	TotalIos    int64   `json:"total_ios"`
	ShortIos    int64   `json:"short_ios"`
	DropIos     int64   `json:"drop_ios"`
	SlatNs      latency `json:"slat_ns"`
	ClatNs      latency `json:"clat_ns"`
	LatNs       latency `json:"lat_ns"`
	BwMin       int64   `json:"bw_min"`
	BwMax       int64   `json:"bw_max"`
	BwAgg       float32 `json:"bw_agg"`
	BwMean      float32 `json:"bw_mean"`
	BwDev       float32 `json:"bw_dev"`
	BwSamples   int32   `json:"bw_samples"`
	IopsMin     int32   `json:"iops_min"`
	IopsMax     int32   `json:"iops_max"`
	IopsMean    float32 `json:"iops_mean"`
	IopsStddev  float32 `json:"iops_stddev"`
	IopsSamples int32   `json:"iops_samples"`
}

type job struct {
	Jobname           string             `json:"jobname"`
	Groupid           int                `json:"groupid"`
	Error             int                `json:"error"`
	Eta               int                `json:"eta"`
	Elapsed           int                `json:"elapsed"`
	Options           map[string]string  `json:"job options"`
	Read              direction          `json:"read"`
	Write             direction          `json:"write"`
	Trim              direction          `json:"trim"`
	Sync              direction          `json:"sync"`
	JobRuntime        int32              `json:"job_runtime"`
	UsrCpu            float32            `json:"usr_cpu"`
	SysCpu            float32            `json:"sys_cpu"`
	Ctx               int32              `json:"ctx"`
	Majf              int32              `json:"majf"`
	Minf              int32              `json:"minf"`
	IodepthLevel      map[string]float32 `json:"iodepth_level"`
	IodepthSubmit     map[string]float32 `json:"iodepth_submit"`
	IodepthComplete   map[string]float32 `json:"iodepth_complete"`
	LatencyNs         map[string]float32 `json:"latency_ns"`
	LatencyUs         map[string]float32 `json:"latency_us"`
	LatencyMs         map[string]float32 `json:"latency_ms"`
	LatencyDepth      int32              `json:"latency_depth"`
	LatencyTarget     int32              `json:"latency_target"`
	LatencyPercentile float32            `json:"latency_percentile"`
	LatencyWindow     int32              `json:"latency_window"`
}

type report struct {
	Version     string            `json:"fio version"`
	Timestamp   int64             `json:"timestamp"`
	TimestampMs int64             `json:"timestamp_ms"`
	Time        string            `json:"time"`
	Global      map[string]string `json:"global options"`
	Jobs        []job             `json:"jobs"`
	Disks       []struct {
		Name        string  `json:"name"`
		ReadIos     int64   `json:"read_ios"`
		WriteIos    int64   `json:"write_ios"`
		ReadMerges  int64   `json:"read_merges"`
		WriteMerges int64   `json:"write_merges"`
		ReadTicks   int64   `json:"read_ticks"`
		WriteTicks  int64   `json:"write_ticks"`
		InQueue     int64   `json:"in_queue"`
		Util        float32 `json:"util"`
	} `json:"disk_util"`
}

func main() {
	var read report
	if err := json.NewDecoder(os.Stdin).Decode(&read); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(read.Version, read.Global["ioengine"], read.Global["direct"])
	for _, job := range read.Jobs {
		fmt.Println(job.Jobname, job.Options["rw"], job.Read.Iops, job.Read.Bw, job.Read.IopsMin,
			job.Read.IopsMax, job.Read.IopsMean, job.Write.Iops, job.Write.Bw)
	}
	for _, disk := range read.Disks {
		fmt.Println(disk.Name, disk.Util)
	}
}
