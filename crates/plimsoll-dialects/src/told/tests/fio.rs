//! fio's normal report, of fio 3 and of fio 2.

use plimsoll_record::told::Direction;

use super::*;

const NORMAL: &str = "\
mix: (g=0): rw=randrw, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=4
...
fio-3.33
Starting 2 processes

mix: (groupid=0, jobs=2): err= 0: pid=12: Sun Nov 22 08:57:42 2026
  read: IOPS=1000, BW=8000KiB/s (8192kB/s)(15.6MiB/2000msec)
    slat (nsec): min=615, max=2947.6k, avg=47081.56, stdev=56908.11
    clat (nsec): min=1078, max=10430k, avg=115713.64, stdev=313479.51
     lat (usec): min=5, max=10431, avg=162.80, stdev=322.94
    clat percentiles (usec):
     |  1.00th=[    6], 50.00th=[   94], 99.00th=[  379], 99.90th=[ 6980],
     | 99.99th=[10028]
   bw (  KiB/s): min=280496, max=307344, per=99.92%, avg=290618.67, stdev=6534.23, samples=6
  write: IOPS=500, BW=4000KiB/s (4096kB/s)(8000KiB/2000msec); 0 zone resets
     lat (msec): min=5, max=10, avg=6.25, stdev=1.50
  lat (usec)   : 2=0.01%, 10=27.32%, 20=5.90%, 50=2.50%, 100=16.47%
  cpu          : usr=1.73%, sys=23.48%, ctx=38226, majf=0, minf=27
     issued rwts: total=2000,1000,0,0 short=0,0,0,0 dropped=0,0,0,0
     latency   : target=0, window=0, percentile=100.00%, depth=4

Run status group 0 (all jobs):
   READ: bw=8000KiB/s (8192kB/s), 8000KiB/s-8000KiB/s (8192kB/s-8192kB/s), io=15.6MiB (16.4MB), run=2000-2000msec
  WRITE: bw=4000KiB/s (4096kB/s), 4000KiB/s-4000KiB/s (4096kB/s-4096kB/s), io=8000KiB (8192kB), run=2000-2000msec
";

#[test]
fn a_job_of_a_report_has_its_latencies_and_exact_counts() {
    let found = find(NORMAL);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((result.told.lines, result.workload.as_deref()), ((6, 19), Some("mix")));
    // The date is that of the end, two seconds later.
    assert_eq!(result.started, Some("2026-11-22T08:57:40Z".parse().unwrap()));
    assert_eq!(texts(result), ["fio tells its time without a zone: it is taken for UTC"]);
    let load = transfers(result);
    assert_eq!((load.pattern.as_deref(), load.block_size_bytes), (Some("randrw"), Some(8192)));
    assert_eq!((load.queue_depth, load.jobs, load.engine.as_deref()), (Some(4), Some(2), Some("libaio")));
    let [read, write] = [&load.read, &load.write].map(|direction| direction.as_ref().unwrap());
    assert_eq!((read.operations, read.bytes), (Some(2000), Some(2000 * 8192)));
    assert_eq!((write.operations, write.bytes), (Some(1000), Some(8_192_000)));
    // Of latencies those of completions, where fio tells both.
    assert!(close(read.latency_mean_ns, 115_713.64) && close(read.latency_stddev_ns, 313_479.51));
    let percents: Vec<f64> = read.percentiles.iter().map(|percentile| percentile.percent).collect();
    assert_eq!(percents, [0.0, 1.0, 50.0, 99.0, 99.9, 99.99, 100.0]);
    assert!(close(Some(read.percentiles[2].latency_ns), 94_000.0));
    assert!(close(write.latency_mean_ns, 6.25e6) && close(Some(write.percentiles[1].latency_ns), 10e6));
}

#[test]
fn a_log_hides_no_latencies() {
    let of = |text: &str| transfers(&find(text)[0]).clone();
    for prefix in ["[pod/fio-7x/fio] ", "fio-1  | ", "Nov 28 16:00:00 host fio[123]: ", "[2026-11-28T16:00:00] ", ">"] {
        for text in [NORMAL, SYNCS] {
            let marked: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
            assert_eq!(of(&marked), of(text), "{prefix}");
        }
    }
}

#[test]
fn latencies_are_all_of_one_kind() {
    let of = |text: &str| transfers(&find(text)[0]).read.clone().unwrap();
    // Those of one priority are not those of all.
    let head = "    clat percentiles (usec):";
    let of_priority = |name: &str| format!("    {name} (usec): min=90, max=95, avg=92.00, stdev=1.00\n");
    let [high, low, newer] = ["high prio_clat", "low prio_clat", "clat prio 0/4"].map(of_priority);
    assert_eq!(of(&NORMAL.replacen(head, &format!("{high}{low}{newer}{head}"), 1)), of(NORMAL));
    // Percentiles of whole latencies have the mean and the ends of whole latencies.
    let whole = of(&NORMAL.replacen(head, "     lat percentiles (usec):", 1));
    assert!(close(whole.latency_mean_ns, 162_800.0) && close(whole.latency_stddev_ns, 322_940.0));
    let ends = [&whole.percentiles[0], &whole.percentiles[6]].map(|of| of.latency_ns);
    assert_eq!((ends, whole.percentiles[1].latency_ns), ([5000.0, 10_431_000.0], 6000.0));
}

/// What fio writes when 10,029 writes of 2,300 bytes are each followed by a sync: 23,066,700 bytes are `21.0MiB` to it.
const SYNCS: &str = "\
log: (g=0): rw=write, bs=(R) 2300B-2300B, (W) 2300B-2300B, (T) 2300B-2300B, ioengine=sync, iodepth=1
fio-3.33
Starting 1 process

log: (groupid=0, jobs=1): err= 0: pid=12
  write: IOPS=58, BW=132KiB/s (135kB/s)(21.0MiB/170299msec); 0 zone resets
    clat (usec): min=2, max=900, avg=53.50, stdev=16.25
  fsync/fdatasync/sync_file_range:
    sync (usec): min=400, max=5729.7k, avg=16924.25, stdev=1354.50
    sync percentiles (usec):
     |  1.00th=[    537],  5.00th=[    652], 99.00th=[ 299893]
     issued rwts: total=0,10029,0,0 short=10029,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
  WRITE: bw=132KiB/s (135kB/s), 132KiB/s-132KiB/s (135kB/s-135kB/s), io=21.0MiB (23.1MB), run=170299-170299msec
";

#[test]
fn a_rate_gives_way_to_that_of_a_count_and_not_to_that_of_rounded_bytes() {
    let rate = |text: &str| transfers(&find(text)[0]).read.as_ref().unwrap().bytes_per_second;
    let line = "job: (groupid=0, jobs=1): err= 0: pid=12\n  \
                read: IOPS=500, BW=500MiB/s (524MB/s)(14.6GiB/30001msec)\n";
    assert!(close(rate(line), 500.0 * 1_048_576.0), "{:?}", rate(line));
    let load = "job: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, \
                ioengine=libaio, iodepth=4\nfio-3.33\n";
    let counted = format!("{load}{line}     issued rwts: total=15002,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n");
    assert!(close(rate(&counted), 15_002.0 * 1_048_576.0 / 30.001), "{:?}", rate(&counted));
}

#[test]
fn sizes_of_which_fio_lost_what_it_carried_agree() {
    let found = find(SYNCS);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(texts(result), Vec::<String>::new());
    let load = transfers(result);
    let write = load.write.as_ref().unwrap();
    assert_eq!((load.block_size_bytes, write.bytes), (Some(2300), Some(23_066_700)));
    assert!(close(write.latency_mean_ns, 53_500.0) && write.percentiles.len() == 2);
    let of_syncs = |text: &str| transfers(&find(text)[0]).sync.clone().unwrap();
    let sync = of_syncs(SYNCS);
    let told: Vec<_> = sync.percentiles.iter().map(|of| (of.percent, of.latency_ns)).collect();
    assert_eq!(told, [(0.0, 4e5), (1.0, 537e3), (5.0, 652e3), (99.0, 299_893e3), (100.0, 5_729_700e3)]);
    assert!(close(sync.latency_mean_ns, 16_924_250.0) && close(sync.latency_stddev_ns, 1_354_500.0));
    // Of `fdatasync` fio counts none.
    assert_eq!((sync.operations, sync.iops), (None, None));
    let counted = of_syncs(&SYNCS.replace("0,10029,0,0 s", "0,10029,0,5000 s"));
    assert!(counted.operations == Some(5000) && close(counted.iops, 5000.0 / 170.299));
    let said = |counts: &str| {
        let found = find(&SYNCS.replace("0,10029,0,0 s", counts));
        texts(&found[0]).into_iter().map(str::to_owned).filter(|text| text.contains("sync")).collect::<Vec<_>>()
    };
    assert_eq!(said("0,10029,0,10029 s"), [""; 0]);
    assert!(said("0,10029,0,313 s")[0].starts_with("fio counts syncs of fsync and none of fdatasync"));
    // There are no more syncs than writes.
    assert!(said("0,999,0,0 s")[0].starts_with("percentiles of syncs are left out"));
    let few = of_syncs(&SYNCS.replace("0,10029,0,0 s", "0,999,0,0 s"));
    assert_eq!(few.percentiles.iter().map(|of| of.percent).collect::<Vec<_>>(), [0.0, 1.0, 5.0, 100.0]);
    let alone = find(SYNCS.lines().last().unwrap());
    assert_eq!((texts(&alone[0]), transfers(&alone[0]).write.as_ref().unwrap().bytes), (vec![], Some(22 << 20)));
    let wrong = SYNCS.replace("21.0MiB", "20.0MiB");
    assert!(texts(&find(&wrong)[0]).join("; ").contains("20971520 bytes in 170.299 s are not 135168"));
    // So are IOPS: 10,980 are `10.0k`.
    let fast = SYNCS.replace("IOPS=58", "IOPS=10.0k").replace("0,10029,0,0 s", "0,1869883,0,0 s");
    assert!(!texts(&find(&fast)[0]).join("; ").contains("IOPS"), "{fast}");
}

#[test]
fn a_client_tells_of_its_servers() {
    let load = |result: &FoundResult| {
        let load = transfers(result);
        (result.workload.clone().unwrap(), load.pattern.clone(), load.block_size_bytes, load.queue_depth)
    };
    let text = NORMAL.replace("mix: (g=0)", "<host-1> mix: (g=0)").replace("Starting", "<host-1> Starting");
    let expected = ("mix".to_owned(), Some("randrw".to_owned()), Some(8192), Some(4));
    assert_eq!(find(&text).iter().map(load).collect::<Vec<_>>(), std::slice::from_ref(&expected));
    // The sum of all is a result where nothing is told of each.
    let sum =
        "All clients: (groupid=0, jobs=4): err= 0: pid=0\n  read: IOPS=4000, BW=31.3Mi (32.8M)(62.5MiB/2000msec)\n";
    let read = transfers(&find(sum)[0]).read.clone().unwrap();
    assert!(close(read.bytes_per_second, 62.5 * 1_048_576.0 / 2.0) && close(read.iops, 4000.0));
    let (jobs, groups) = text.split_once("Run status").unwrap();
    let found = find(&format!("{jobs}{sum}\nRun status{groups}"));
    assert_eq!(found.iter().map(load).collect::<Vec<_>>(), [expected]);
    assert_eq!(texts(&found[0]).len(), 1);
    // What all servers did is added, in the order of their jobs; and what the client says after that is another run's.
    let server = |pid: &str, group: &str| {
        let other = NORMAL[NORMAL.find("\nmix: (groupid").unwrap()..].replace("status group 0", "status group 1");
        let other = other.replace("mix: (groupid=0", "log: (groupid=1");
        (NORMAL[NORMAL.find("\nmix: (groupid").unwrap()..].to_owned() + &other).replace("pid=12", pid) + group
    };
    let text = [server("pid=1", ""), server("pid=2", sum), server("pid=3", sum)].concat();
    let of = |result: &FoundResult| (result.workload.clone().unwrap(), transfers(result).jobs.unwrap());
    let expected = [("mix", 4), ("log", 4), ("mix", 2), ("log", 2)].map(|(name, jobs)| (name.to_owned(), jobs));
    assert_eq!(find(&text).iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(find(&text.replace(sum, "")).len(), 6);
}

#[test]
fn a_job_may_be_called_like_its_device() {
    for prefix in ["", "// ", "# "] {
        let text: String =
            NORMAL.replace("mix:", "/dev/sda:").lines().map(|line| format!("{prefix}{line}\n")).collect();
        let found = find(&text);
        assert_eq!((found.len(), found[0].workload.as_deref()), (1, Some("/dev/sda")), "{prefix}");
        assert_eq!(transfers(&found[0]).queue_depth, Some(4), "{prefix}");
    }
}

#[test]
fn clones_are_one_load_and_other_jobs_are_not() {
    let of = |name: &str, clones: usize| {
        let (load, rest) = NORMAL.split_once("\nmix: (groupid").unwrap();
        let (job, _) = rest.split_once("Run status group").unwrap();
        load.replace("mix:", &format!("{name}:"))
            + &format!("\n{name}: (groupid{job}").replace("jobs=2", "jobs=1").repeat(clones)
    };
    let found = find(&of("mix", 3));
    let [result] = found.as_slice() else { panic!("{found:?}") };
    let load = transfers(result);
    let read = load.read.as_ref().unwrap();
    assert_eq!((load.jobs, load.elapsed_ns), (Some(3), Some(2_000_000_000)));
    assert_eq!((read.operations, read.bytes, read.threads.len()), (Some(6000), Some(3 * 2000 * 8192), 3));
    assert!(close(read.iops, 3000.0) && close(read.latency_mean_ns, 115_713.64));
    // Percentiles of parts are no percentile of the whole, but ends are.
    let percents: Vec<f64> = read.percentiles.iter().map(|percentile| percentile.percent).collect();
    assert_eq!(percents, [0.0, 100.0]);
    assert_eq!(find(&(of("a", 1) + &of("b", 1))).len(), 2);
}

#[test]
fn only_jobs_that_are_one_load_are_said_to_have_run_for_different_times() {
    let job = &NORMAL[NORMAL.find("mix: (groupid").unwrap()..];
    let (job, groups) = job.split_once("Run status").unwrap();
    let groups = groups
        .replace("bw=8000KiB/s (8192kB/s)", "bw=13.0MiB/s (13.6MB/s)")
        .replace("io=15.6MiB (16.4MB), run=2000-2000", "io=31.2MiB (32.8MB), run=1200-2400");
    let short = job.replace("1000, BW=8000KiB/s (8192kB/s)(15.6MiB/2000", "1667, BW=13.0MiB/s (13.7MB/s)(15.6MiB/1200");
    let long = job.replace("1000, BW=8000KiB/s (8192kB/s)(15.6MiB/2000", "833, BW=6667KiB/s (6827kB/s)(15.6MiB/2400");
    let said = |second: &str| {
        let found = find(&format!("{short}{second}Run status{groups}"));
        found.iter().map(|result| texts(result).contains(&fio_text::DIFFERENT_TIMES)).collect::<Vec<_>>()
    };
    assert_eq!(said(&long.replace("mix:", "log:")), [false, false]);
    assert_eq!(said(&long), [true]);
}

#[test]
fn a_group_that_is_not_the_sum_of_its_jobs_is_named() {
    let wrong =
        NORMAL.replace("io=8000KiB (8192kB)", "io=16000KiB (16384kB)").replace("WRITE: bw=4000", "WRITE: bw=8000");
    let said = texts(&find(&wrong)[0]).join("; ");
    assert!(said.contains("8192000 bytes are not the 16384000 of their group"), "{said}");
    let wrong = NORMAL.replace("total=2000,", "total=3000,");
    let said = texts(&find(&wrong)[0]).join("; ");
    assert!(said.contains("3000 operations in 2 s are not 1000 IOPS"), "{said}");
    assert!(said.contains("not all of the size that is told of blocks"), "{said}");
    let wrong = NORMAL.replace("BW=8000KiB/s", "BW=9000KiB/s");
    let said = texts(&find(&wrong)[0]).join("; ");
    assert!(said.contains("16384000 bytes in 2 s are not 9216000 bytes per second"), "{said}");
    let failed = NORMAL.replace("err= 0", "err= 5 (file:io_u.c:1, func=io_u, error=Input/output error)");
    assert!(texts(&find(&failed)[0]).contains(&"the job ended with error 5"));
}

#[test]
fn reports_of_fio_2_count_in_powers_of_1024() {
    let text = "\
old: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=64
fio-2.0.15
Starting 1 process

old: (groupid=0, jobs=1): err= 0: pid=21423: Thu May  9 16:33:14 2013
  read : io=8000KB, bw=800KB/s, iops=200 , runt= 10000msec
    slat (usec): min=3 , max=249858 , avg=53.47, stdev=1982.29
    clat (msec): min=22 , max=1.8K, avg=300.5, stdev=281.25
     lat (msec): min=293 , max=1805 , avg=300.95, stdev=282.08
    clat percentiles (msec):
     |  1.00th=[   10], 99.00th=[   1200]
     issued    : total=r=2000/w=0/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=8000KB, aggrb=800KB/s, minb=800KB/s, maxb=800KB/s, mint=10000msec, maxt=10000msec
";
    let found = find(text);
    let [result] = found.as_slice() else { panic!("{found:?}") };
    let load = transfers(result);
    let read = load.read.as_ref().unwrap();
    assert_eq!((load.block_size_bytes, load.queue_depth), (Some(4096), Some(64)));
    assert_eq!((read.operations, read.bytes), (Some(2000), Some(8000 * 1024)));
    assert!(close(read.iops, 200.0) && close(read.latency_mean_ns, 300.5e6));
    assert!(close(Some(read.percentiles.last().unwrap().latency_ns), 1.8e9));
    assert!(texts(result).contains(&"KB, MB and GB of fio 2 are powers of 1024"), "{result:?}");
    // The last line alone, as people quote it.
    let line = text.lines().last().unwrap();
    let alone = find(line);
    assert_eq!(transfers(&alone[0]).read.as_ref().unwrap().bytes, Some(8000 * 1024));
    let wrong = find(&line.replace("aggrb=800KB/s", "aggrb=900KB/s"));
    assert!(texts(&wrong[0]).join("; ").contains("is not aggrb=900KB/s"), "{wrong:?}");
}

#[test]
fn commands_name_targets_when_they_are_in_the_order_of_results() {
    let command = |file: &str, rw: &str| format!("fio --name=x --filename={file} --rw={rw} --bs=16k\n");
    let named = |commands: &str| {
        let text = commands.to_owned() + FIO + &FIO.replace("rw=randrw", "rw=randread");
        find(&text).into_iter().map(|result| result.target).collect::<Vec<_>>()
    };
    let both = command("/a", "randrw") + &command("/b", "randread");
    assert_eq!(named(&both), [Some("/a".to_owned()), Some("/b".to_owned())]);
    for other in [command("/a", "randrw"), both.clone() + &both, command("/a", "randread") + &command("/b", "randrw")] {
        assert_eq!(named(&other), [None, None], "{other}");
    }
}

#[test]
fn reads_and_writes_as_one_have_a_status_line_of_their_own() {
    let status = "MIXED: bw=12000KiB/s (12.3MB/s), io=23.4MiB (24.6MB), run=2000-2000msec\n";
    let alone = find(status);
    assert_eq!(transfers(&alone[0]).total.as_ref().unwrap().bytes, Some((23.4 * 1_048_576.0_f64).round() as u64));
    // fio 3.33 tells of both beside each, without a rate: its latencies are not those of writes.
    let both = NORMAL.replace(
        "  lat (usec)   :",
        "  mixed: IOPS=0, BW=0 (0)(0B/2000msec)\n    clat (msec): min=1, max=99, avg=33.00, stdev=9.00\n  lat (usec)   :",
    );
    let found = find(&(both.clone() + "  " + status));
    let [result] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(texts(result).len(), 1, "{result:?}");
    assert!(close(transfers(result).write.as_ref().unwrap().latency_mean_ns, 6.25e6));
    let wrong = find(&(both + "  " + &status.replace("23.4MiB (24.6MB)", "46.8MiB (49.1MB)")));
    assert!(texts(&wrong[0]).join("; ").contains("bytes are not the"), "{wrong:?}");
}

#[test]
fn rates_may_be_in_bits() {
    let bits = NORMAL
        .replace("BW=8000KiB/s (8192kB/s)", "BW=62.5Mibit/s (65.5Mbit/s)")
        .replace("bw=8000KiB/s (8192kB/s)", "bw=62.5Mibit/s (65.5Mbit/s)");
    let (found, of_bytes) = (find(&bits), find(NORMAL));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((transfers(&found[0]), texts(&found[0])), (transfers(&of_bytes[0]), texts(&of_bytes[0])));
    let alone = find(bits.lines().find(|line| line.contains("READ:")).unwrap());
    assert!(close(transfers(&alone[0]).read.as_ref().unwrap().bytes_per_second, 8000.0 * 1024.0));
}

#[test]
fn sections_have_their_own_loads_and_those_that_are_summed_up_what_they_share() {
    let (head, report) = NORMAL.split_once('\n').unwrap();
    let of = |text: &str| {
        let result = find(text).remove(0);
        let load = transfers(&result);
        (load.queue_depth, load.jobs, texts(&result).contains(&OF_SEVERAL))
    };
    let section = |name: &str, depth: &str| head.replace("mix:", name).replace("iodepth=4", depth) + "\n";
    let (same, deep) = (section("log:", "iodepth=4"), section("log:", "iodepth=16"));
    assert_eq!(of(&format!("{head}\n{same}{report}")), (Some(4), Some(2), false));
    let both = format!("{head}\n{deep}{report}");
    assert_eq!(of(&both), (None, Some(2), true));
    // Each for itself, also where it is told again.
    let one = both.replace("jobs=2", "jobs=1");
    assert_eq!(of(&one), (Some(4), Some(1), false));
    let (_, job) = both.split_once("processes\n").unwrap();
    assert_eq!(of(&format!("{both}{job}")), (None, Some(2), true));
    // Groups may have sections of one name, and another run its own.
    let later = section("mix:", "iodepth=16").replace("g=0", "g=1");
    assert_eq!(of(&format!("{head}\n{later}{report}")), (Some(4), Some(2), false));
    assert_eq!(of(&format!("{deep}Starting 1 process\n{head}\n{report}")), (Some(4), Some(2), false));
}

/// A job of fio's JSON that wrote for ten seconds, with its options and what else is told of it and of its writes.
fn json_job(options: &str, job: &str, writes: &str) -> String {
    format!(
        "{{ \"jobname\" : \"a\", \"groupid\" : 0, \"error\" : 0, \"job options\" : {{ {options} }}, {job} \
         \"write\" : {{ \"io_bytes\" : 4096000, \"io_kbytes\" : 4000, \"bw_bytes\" : 409600, \"iops\" : 100.0, \
         \"runtime\" : 10000, \"total_ios\" : 1000{writes} }} }}"
    )
}

/// A report in JSON of such jobs.
fn json(jobs: &[String]) -> String {
    format!(
        "{{ \"fio version\" : \"fio-3.33\", \"timestamp_ms\" : 1795869611000, \"jobs\" : [ {} ] }}",
        jobs.join(",\n")
    )
}

/// The only result of a report of such jobs.
fn json_result(jobs: &[String]) -> FoundResult {
    let mut found = find(&json(jobs));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn lists_of_percentiles_that_old_versions_fill_up_have_no_percentile_of_nothing() {
    let writes = r#", "clat_ns" : { "min" : 5, "max" : 90, "mean" : 20.5,
        "percentile" : { "50.000000" : 19, "0.00" : 0, "0.00" : 0 } }"#;
    let result = json_result(&[json_job("", "", writes)]);
    assert_eq!(texts(&result), [""; 0]);
    let percentiles = transfers(&result).write.as_ref().unwrap().percentiles.iter().map(|of| of.percent);
    assert_eq!(percentiles.collect::<Vec<_>>(), [0.0, 50.0, 100.0]);
}

#[test]
fn all_numbers_of_latency_are_of_the_same_one() {
    let writes = |of_clat: &str| {
        format!(
            r#", "clat_ns" : {{ "min" : 5, "max" : 90, "mean" : 20.5 {of_clat} }},
            "lat_ns" : {{ "min" : 500, "max" : 9000, "mean" : 700.0, "percentile" : {{ "50.000000" : 600 }} }}"#
        )
    };
    for (of_clat, mean, inside) in [("", 700.0, 600.0), (r#", "percentile" : { "50.000000" : 19 }"#, 20.5, 19.0)] {
        let result = json_result(&[json_job("", "", &writes(of_clat))]);
        assert_eq!(texts(&result), [""; 0]);
        let write = transfers(&result).write.as_ref().unwrap();
        assert!(
            close(write.latency_mean_ns, mean) && close(Some(write.percentiles[1].latency_ns), inside),
            "{write:?}"
        );
    }
}

#[test]
fn percentiles_of_a_part_of_the_operations_are_left_out() {
    let rows = "\n     |  1.00th=[    6], 50.00th=[   94], 99.00th=[  379], 99.90th=[ 6980],\n     | 99.99th=[10028]\n";
    let of_priorities =
        ["high", "low"].map(|which| format!("    {which} prio (50.00%) clat percentiles (usec):{rows}"));
    let result = &find(&NORMAL.replace("   bw (", &format!("{}   bw (", of_priorities.concat())))[0];
    assert_eq!(transfers(result).read, transfers(&find(NORMAL)[0]).read);
}

#[test]
fn a_status_line_that_contradicts_itself_is_told_of_its_jobs() {
    let found = find(&NORMAL.replace("READ: bw=8000KiB/s (8192kB/s)", "READ: bw=80.0MiB/s (83.9MB/s)"));
    assert!(texts(&found[0]).iter().any(|text| text.contains("is not bw=80.0MiB/s")), "{:?}", texts(&found[0]));
}

#[test]
fn what_contradicts_itself_of_reads_is_not_told_of_jobs_that_only_wrote() {
    let writer = "wr: (groupid=0, jobs=1): err= 0: pid=13: Sun Nov 22 08:57:42 2026\n  write: IOPS";
    let two = NORMAL.replace("  write: IOPS", writer);
    let found = find(&two.replace("READ: bw=8000KiB/s (8192kB/s)", "READ: bw=80.0MiB/s (83.9MB/s)"));
    let is_told = |of: &FoundResult| texts(of).iter().any(|text| text.contains("is not bw=80.0MiB/s"));
    assert_eq!(found.iter().map(is_told).collect::<Vec<_>>(), [true, false], "{found:?}");
}

#[test]
fn a_mix_is_half_reads_unless_it_was_asked_for_another_share() {
    for (options, percent) in [
        (r#""rw" : "randrw""#, Some(50)),
        (r#""readwrite" : "rw:8""#, Some(50)),
        (r#""rw" : "rw", "rwmixread" : "90""#, Some(90)),
        (r#""rw" : "rw", "rwmixwrite" : "90""#, Some(10)),
        (r#""rw" : "rw", "rwmixread" : "much""#, None),
        (r#""rw" : "randwrite""#, None),
    ] {
        assert_eq!(transfers(&json_result(&[json_job(options, "", "")])).read_percent, percent, "{options}");
    }
    let job = json(&[json_job(r#""rw" : "rw", "rwmixwrite" : "90""#, "", "")]);
    let of_all = job.replacen(r#""jobs""#, r#""global options" : { "rwmixread" : "70" }, "jobs""#, 1);
    assert_eq!(transfers(&find(&of_all)[0]).read_percent, Some(10), "what the job asks for comes first");
}

#[test]
fn operations_in_flight_at_the_end_of_a_ramp_make_no_other_size() {
    let job = json_job(r#""bs" : "4k", "iodepth" : "8", "ramp_time" : "5""#, "", "");
    let ramped = job.replace("4096000", "4128768");
    for jobs in [vec![ramped.clone()], vec![job.clone(), ramped]] {
        let result = json_result(&jobs);
        assert_eq!((transfers(&result).block_size_bytes, texts(&result)), (Some(4096), vec![]), "{result:?}");
    }
    // As many as were asked for.
    let deep = |bytes: u64| {
        let job = job.replace("409600,", &format!("{},", bytes / 10)).replace("\"8\"", "\"64\"");
        job.replace("4096000", &bytes.to_string())
    };
    let result = json_result(&[deep(1000 * 4096), deep(1060 * 4096)]);
    assert_eq!((transfers(&result).block_size_bytes, texts(&result)), (Some(4096), vec![]), "{result:?}");
    let unramped = deep(1060 * 4096).replace("\"5\"", "\"0\"");
    for other in [job.replace("\"4k\"", "\"8k\""), unramped, deep(1100 * 4096)] {
        let result = json_result(&[other]);
        assert_eq!((transfers(&result).block_size_bytes, texts(&result)), (None, vec![OTHER_SIZES]));
    }
    // Words do not tell of a ramp.
    let words = NORMAL
        .replace("iodepth=4", "iodepth=64")
        .replace("BW=8000KiB/s (8192kB/s)(15.6MiB", "BW=8512KiB/s (8716kB/s)(16.6MiB")
        .replace("bw=8000KiB/s (8192kB/s)", "bw=8512KiB/s (8716kB/s)")
        .replace("io=15.6MiB (16.4MB)", "io=16.6MiB (17.4MB)");
    let result = find(&words).remove(0);
    assert_eq!((transfers(&result).block_size_bytes, texts(&result).len()), (Some(8192), 1), "{result:?}");
    assert_eq!(transfers(&result).read.as_ref().unwrap().bytes, Some(17_406_361));
}

#[test]
fn clones_that_ran_for_different_times_have_the_rate_of_the_longest() {
    let job = json_job("", "", "");
    let half =
        job.replace("\"iops\" : 100.0", "\"iops\" : 50.0").replace("409600,", "204800,").replace("10000", "20000");
    let result = json_result(&[job.clone(), half]);
    assert_eq!(texts(&result), [fio_text::DIFFERENT_TIMES]);
    let write = transfers(&result).write.as_ref().unwrap();
    assert!(close(write.iops, 100.0) && close(write.bytes_per_second, 409_600.0), "{write:?}");
    let alike = json_result(&[job.clone(), job.replace("10000", "10010")]);
    assert_eq!(texts(&alike), [""; 0]);
    assert!(close(transfers(&alike).write.as_ref().unwrap().iops, 200.0), "{alike:?}");
}

#[test]
fn reads_of_clones_have_a_time_of_their_own() {
    let (before, job) = NORMAL.split_once("mix: (groupid").unwrap();
    let (job, _) = job.split_once("Run status").unwrap();
    let job = format!("mix: (groupid{job}").replace("jobs=2", "jobs=1");
    let fast = job
        .replace("IOPS=1000, BW=8000KiB/s (8192kB/s)(15.6MiB/2000", "IOPS=2000, BW=15.6MiB/s (16.4MB/s)(15.6MiB/1000");
    let of = |second: &str| {
        let result = find(&format!("{before}{job}{second}")).remove(0);
        let load = transfers(&result);
        let [reads, writes] = [&load.read, &load.write].map(|of| of.as_ref().unwrap().iops.unwrap().round());
        (reads, writes, texts(&result).contains(&fio_text::DIFFERENT_TIMES))
    };
    assert_eq!(of(&job), (2000.0, 1000.0, false));
    assert_eq!(of(&fast), (2000.0, 1000.0, true));
    // Both read for half the time that they wrote.
    let result =
        find(&format!("{before}{fast}{}", fast.replace("8000KiB/2000", "8000KiB/2500").replace("=500", "=400")));
    assert!(close(transfers(&result[0]).read.as_ref().unwrap().iops, 4000.0), "{result:?}");
}

#[test]
fn sections_that_fio_sums_up_are_not_told_as_one_of_them() {
    let options =
        r#""bs" : "4k", "rw" : "randwrite", "iodepth" : "8", "size" : "1g", "filename" : "/d", "numjobs" : "2""#;
    let of = |options: &str, job: &str| {
        let result = json_result(&[json_job(options, job, "")]);
        let is_of_several = texts(&result).iter().any(|text| text.contains("sum") && text.contains("several sections"));
        let load = transfers(&result);
        let asked = [load.pattern.is_some(), load.queue_depth.is_some(), load.working_set_bytes.is_some()];
        assert!(
            asked.into_iter().chain([result.target.is_some()]).all(|is_told| is_told != is_of_several),
            "{result:?}"
        );
        (is_of_several, load.jobs, texts(&result).len())
    };
    assert_eq!(of(options, "\"job_runtime\" : 50000,"), (true, Some(5), 1));
    assert_eq!(of(options, "\"job_runtime\" : 35000,"), (true, None, 1));
    assert_eq!(of(options, "\"job_runtime\" : 20000,"), (false, Some(2), 0));
    // One of both ran for half the time, if they are both of one section, as a name among the options says.
    let named = |name: &str| options.replace("\"bs\"", &format!("\"name\" : \"{name}\", \"bs\""));
    assert_eq!(of(options, "\"job_runtime\" : 15000,"), (true, None, 2));
    assert_eq!(of(&named("a"), "\"job_runtime\" : 15000,"), (false, Some(2), 1));
    assert_eq!(of(&named("b"), "\"job_runtime\" : 20000,"), (true, Some(2), 1));
    // One of clones that are told one by one.
    assert_eq!(of(options, "\"job_runtime\" : 9999,"), (false, Some(1), 0));
    let reads = options.replace("randwrite", "randread");
    assert_eq!(of(&reads, ""), (true, None, 1));
    // Reads that verify are nobody's pattern, and take a time of their own.
    assert_eq!(of(&(reads + ", \"verify\" : \"crc32c\""), "\"job_runtime\" : 90000,"), (false, Some(2), 0));
}

#[test]
fn hosts_have_all_their_jobs() {
    let job = json_job("\"numjobs\" : \"4\"", "\"job_runtime\" : 40000,", "");
    let on = |host: &str, job: &str| job.replace("\"error\"", &format!("\"hostname\" : \"{host}\", \"error\""));
    assert_eq!(transfers(&json_result(&[on("a", &job), on("b", &job)])).jobs, Some(8));
    // Servers tell of all their jobs before others do.
    let other = job.replace("\"a\"", "\"b\"");
    let report = json(&["a", "b"].map(|host| on(host, &job) + ",\n" + &on(host, &other)));
    let found = find(&report.replace("\"jobs\" : [", "\"client_stats\" : ["));
    let of = |result: &FoundResult| (result.workload.clone().unwrap(), transfers(result).jobs.unwrap());
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), [("a".to_owned(), 8), ("b".to_owned(), 8)]);
    // Without the times of all jobs.
    let job = job.replace("\"job_runtime\" : 40000,", "");
    assert_eq!(transfers(&json_result(&[on("a", &job), on("b", &job)])).jobs, Some(8));
    assert_eq!(transfers(&json_result(&[on("a", &job), on("a", &job)])).jobs, Some(2));
}

#[test]
fn what_only_sums_up_all_clients_is_named() {
    let report =
        json(&[json_job("", "", "").replace("\"a\"", "\"All clients\"")]).replace("\"jobs\"", "\"client_stats\"");
    assert_eq!(find(&report), []);
    let hint = hint(&report).unwrap();
    assert!(hint.starts_with("fio's JSON that begins in line 1 only sums up all clients; give "), "{hint}");
}

#[test]
fn a_report_began_with_its_first_job() {
    let of = |jobs: &[String]| find(&json(jobs)).into_iter().filter_map(|result| result.started).min().unwrap();
    let at = |ms: i64| jiff::Timestamp::from_millisecond(ms).unwrap();
    let job = |job: &str| json_job("", job, "");
    let groups = |first: &str| [job(first), job("\"elapsed\" : 61,").replace("\"groupid\" : 0", "\"groupid\" : 1")];
    assert_eq!(of(&[job("\"elapsed\" : 61,")]), at(1_795_869_601_000));
    assert_eq!(of(&groups("\"elapsed\" : 61,")), at(1_795_869_550_000));
    assert_eq!(of(&groups("\"job_start\" : 1795869540500,")), at(1_795_869_540_500));
}

#[test]
fn syncs_are_told_beside_what_they_follow() {
    let syncs = |mean: &str, jobs: usize| {
        let latency = format!(
            "{{ \"min\" : 9, \"max\" : 5000000, \"mean\" : {mean}, \"N\" : 1000, \
             \"percentile\" : {{ \"50.000000\" : 1500000, \"99.000000\" : 4000000 }} }}"
        );
        let sync = format!("\"sync\" : {{ \"total_ios\" : 0, \"lat_ns\" : {latency} }},");
        transfers(&json_result(&vec![json_job("\"fdatasync\" : \"1\"", &sync, ""); jobs])).sync.clone()
    };
    let of = |sync: &Direction| sync.percentiles.iter().map(|of| (of.percent, of.latency_ns)).collect::<Vec<_>>();
    let one = syncs("1643399.37", 1).unwrap();
    assert_eq!(of(&one), [(0.0, 9.0), (50.0, 15e5), (99.0, 4e6), (100.0, 5e6)]);
    assert!(one.operations == Some(1000) && close(one.iops, 100.0) && close(one.latency_mean_ns, 1_643_399.37));
    let two = syncs("1643399.37", 2).unwrap();
    assert_eq!(of(&two), [(0.0, 9.0), (100.0, 5e6)]);
    assert!(two.operations == Some(2000) && close(two.iops, 200.0) && close(two.latency_mean_ns, 1_643_399.37));
    assert_eq!(syncs("0.0", 1), None);
}
