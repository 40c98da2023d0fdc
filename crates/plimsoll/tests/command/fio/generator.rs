//! Job files drawn at random, each the same whenever its number is given.

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

    fn happens(&mut self, percent: u64) -> bool {
        self.draw(100) < percent
    }

    /// A job file with one to three sections, all of which a size or a number of operations ends.
    pub(super) fn job(&mut self) -> String {
        let sections = 1 + self.draw(3);
        let mut job = String::from("[global]\ndirectory=DIRECTORY\n");
        // Where only some jobs of a group have it, fio loses one of them.
        if self.happens(50) {
            job += "group_reporting\n";
        }
        for index in 0..sections {
            job += &format!("[job{index}]\n");
            if index > 0 && self.happens(50) {
                job += "stonewall\n";
            }
            self.section(&mut job);
        }
        job
    }

    fn section(&mut self, job: &mut String) {
        let rw = self.one_of(&["read", "write", "randread", "randwrite", "rw", "randrw"]);
        *job += &format!("rw={rw}\n");
        let drawn = ["bsrange=4k-32k", "bssplit=4k/60:16k/30:64k/", "bs=4k,16k"];
        let is_drawn = self.happens(35);
        *job += &match is_drawn {
            true => self.one_of(&drawn[..if rw.ends_with("rw") { 3 } else { 2 }]).to_owned() + "\n",
            false => format!("bs={}\n", self.one_of(&["4k", "8k", "16k", "64k"])),
        };
        // Some sizes are no multiple of blocks and files.
        *job += &match self.draw(4) {
            0 => format!("size={}k\n", 1000 + 4 * self.draw(1000)),
            _ => format!("size={}m\n", 1 + self.draw(8)),
        };
        self.submission(job);
        if rw.ends_with("rw") && self.happens(70) {
            *job += &format!("rwmixread={}\n", 10 * (1 + self.draw(9)));
        }
        if rw.starts_with("rand") {
            *job += self.one_of(&["norandommap\n", "", ""]);
        }
        if rw.starts_with("rand") && !is_drawn && self.happens(15) {
            // Where files have a part of a block at the end, fio ends when it draws that one.
            *job += "size=4m\nrandom_distribution=zipf:1.1\n";
            return;
        }
        self.files(job);
        *job += match self.draw(8) {
            0 => "io_size=512k\n",
            1 => "loops=2\n",
            2 => "number_ios=20\n",
            3 => "offset=256k\n",
            4 => "io_size=10m\n",
            _ => "",
        };
        if rw.contains("write") {
            *job += self.one_of(&["", "", "fsync=16\n", "fdatasync=8\n", "end_fsync=1\n", "overwrite=1\n"]);
        }
        // How long a file gets that is written at random, or with sizes at random, is chance.
        if rw == "write" && !is_drawn {
            *job += self.one_of(&["", "fallocate=none\n"]);
        }
    }

    fn submission(&mut self, job: &mut String) {
        let engine = self.one_of(&["psync", "libaio", "io_uring", "sync", "pvsync2", "posixaio", "mmap", "vsync"]);
        *job += &format!("ioengine={engine}\n");
        if matches!(engine, "libaio" | "io_uring") {
            *job += &format!("direct=1\niodepth={}\n", 1 + self.draw(32));
            *job += self.one_of(&["", "iodepth_batch=4\n", "iodepth_batch_complete_min=4\n"]);
        } else if engine != "mmap" && self.happens(50) {
            *job += "direct=1\n";
        }
    }

    fn files(&mut self, job: &mut String) {
        match self.draw(6) {
            0 => *job += &format!("nrfiles={}\n", 2 + self.draw(3)),
            // Where nothing says that a file is done, fio stays in the first one.
            1 if !job.contains("norandommap") => *job += "nrfiles=4\nfile_service_type=sequential\n",
            1 => *job += "nrfiles=4\nfile_service_type=roundrobin:8\n",
            2 if !job.contains("norandommap") => {
                *job += &format!("nrfiles=3\nopenfiles={}\n", 1 + self.draw(3));
            }
            _ => {}
        }
        if self.happens(30) {
            *job += &format!("numjobs={}\n", 2 + self.draw(2));
        }
    }
}

/// The block size of a section; of several the smallest.
pub(super) fn block_bytes(section: &str) -> usize {
    match section.lines().find_map(|line| line.strip_prefix("bs=")) {
        Some(size) if !size.contains(',') => 1024 * size.trim_end_matches('k').parse::<usize>().unwrap(),
        _ => 4096,
    }
}
