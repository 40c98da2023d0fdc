//! Job files drawn at random, each the same whenever its number is given, which time ends.

/// Almost all of the time is pauses: how soon an idle processor wakes up for the rest varies. There is no ramp, because
/// fio counts operations of it when a job pauses.
const PAUSES: &str = "ioengine=psync\niodepth=1\nramp_time=0\nthinktime=50ms\nthinktime_blocks=4\n";

/// As above for mixes, which need thousands of operations: of so many as a thousand the share of reads is off by more
/// than a point by chance alone.
const PAUSES_OF_MIX: &str = "ioengine=psync\niodepth=1\nramp_time=0\nruntime=24\nthinktime=40ms\nthinktime_blocks=32\n";

/// Draws job files.
pub(super) struct Generator(u64);

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn draw(&mut self, below: u64) -> u64 {
        // The generator of Marsaglia with 64 bits; its high bits are the better ones.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) % below
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.draw(choices.len() as u64) as usize]
    }

    /// A job file whose rate the device or the job decides, without the page cache.
    ///
    /// It has one section, and neither direction of a mix is as frequent as the other: where two queues meet two caps,
    /// who gets how much depends on who is back first. And what fio documents and does otherwise is left out:
    /// - Pauses of a queue. Fio does not count all that it sends between two of them.
    /// - Rates of a mix. While fio waits for the direction that is not due it empties the queue of the other one, and
    ///   stays below both rates on a device that takes its time.
    pub(super) fn job(&mut self) -> String {
        let mut job = String::from("[global]\ndirectory=DIRECTORY\ndirect=1\ntime_based\nruntime=12\nramp_time=1\n");
        // The draws of a mix are others in each turn, as its share is off by chance in each.
        job += "randrepeat=0\n";
        let rw = self.one_of(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
        job += &format!("[job]\nrw={rw}\nsize={}m\n", 4 + self.draw(12));
        job += self.one_of(&["bs=4k\n", "bs=8k\n", "bs=16k\n", "bssplit=4k/60:16k/40\n", "bsrange=4k-16k\n"]);
        let engine = self.one_of(&["psync", "libaio", "io_uring", "sync", "pvsync2"]);
        job += &format!("ioengine={engine}\n");
        if matches!(engine, "libaio" | "io_uring") {
            job += &format!("iodepth={}\n", 1 + self.draw(32));
        }
        if rw.ends_with("rw") {
            job += &format!("rwmixread={}\n", self.one_of(&["10", "20", "30", "40", "60", "70", "80", "90"]));
        }
        if rw.starts_with("rand") {
            job += self.one_of(&["", "norandommap\n", "random_distribution=zipf:1.1\n", "percentage_random=50\n"]);
        }
        job += self.one_of(&["", "", "numjobs=2\n", "numjobs=3\ngroup_reporting\n", "nrfiles=4\n"]);
        job += self.one_of(if rw.ends_with("rw") {
            &["", "", PAUSES_OF_MIX]
        } else {
            &["", "", PAUSES, "rate_iops=300\n"]
        });
        if job.contains("rate_iops") && (job.contains("bssplit") || job.contains("bsrange")) {
            // The rate counts bytes then, and with a map fio cuts more sizes to what is left in it.
            job += "norandommap\n";
        }
        job
    }
}
