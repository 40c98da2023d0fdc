//! Options about what is done, where, and in which sizes.

use plimsoll_workload::units::ByteCount;

use super::{
    Category::Pattern,
    Entry,
    kind::{Kind, Value, word},
};
use crate::fio::{
    lists::{self, Directional},
    settings::{Direction, Distribution, Generator, Sequencer, Settings, Step},
    value::Reading,
};
use crate::problem::Wrong;

const PERCENT: Kind = Kind::Integer { min: 0, max: 100 };
const WORDS: &[&str] = &["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"];
const TRIM_WORDS: &[&str] = &["trim", "randtrim", "trimwrite", "randtrimwrite"];
/// As many operations as a number of 32 bits counts.
const STEP_MAX: i64 = u32::MAX as i64;

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(
        Pattern,
        "rw",
        Kind::Special("read, write, randread, randwrite, rw or randrw; and :N for a step"),
        "What is done, and in which order",
        |s, v, reading| direction(s, &v.text(), reading),
    )
    .aliases(&["readwrite"])
    .default("read")
    .approximate(
        "of randread:N and its like, a new place is drawn for so many of a hundred operations; with write:N and its \
         like, several files are one sequence; of rw, reads and writes are one",
    )
    // Lowering tells of the first and the last.
    .when(|s| matches!(s.pattern.step, Step::Skip(_)) && s.files.count > 1),
    Entry::exact(
        Pattern,
        "rw_sequencer",
        Kind::Choice(&["sequential", "identical"]),
        "What a random job does between new places, with rw=randread:N",
        |s, v, _| {
            s.pattern.sequencer = if v.word() == "identical" { Sequencer::Identical } else { Sequencer::Sequential };
            Ok(())
        },
    )
    .default("sequential")
    .approximate("identical is refused where it has an effect")
    .told_by_lowering(),
    Entry::exact(Pattern, "rwmixread", PERCENT, "How many of a hundred mixed operations read", |s, v, _| {
        s.pattern.read_percent = v.percent();
        Ok(())
    })
    .default("50"),
    Entry::exact(Pattern, "rwmixwrite", PERCENT, "How many of a hundred mixed operations write", |s, v, _| {
        s.pattern.read_percent = 100 - v.percent();
        Ok(())
    })
    .default("50"),
    Entry::exact(Pattern, "bs", Kind::Sizes, "The size of a block", |s, v, _| {
        blocks(v)?.put_over(&mut s.pattern.block_size);
        Ok(())
    })
    .aliases(&["blocksize"])
    .default("4k"),
    Entry::exact(
        Pattern,
        "bsrange",
        Kind::SizeRanges,
        "The bounds of sizes that are drawn; goes before bs",
        |s, v, _| {
            let ranges = v.size_ranges();
            for range in ranges.each().into_iter().flatten() {
                lists::at_least_one_byte(range.low)?;
            }
            map(ranges, Some).put_over(&mut s.pattern.block_range);
            Ok(())
        },
    )
    .aliases(&["blocksize_range"])
    .approximate("in a sequence, a size that has no room at the end of the region goes to its start")
    .when(|s| !s.pattern.direction.is_random),
    Entry::exact(
        Pattern,
        "bssplit",
        Kind::Special("SIZE/PERCENT:SIZE/PERCENT, blanks share the rest; for reads, writes and trims, with commas"),
        "Sizes that are drawn with percentages; goes before bsrange",
        |s, v, reading| {
            lists::block_split(&v.text(), reading)?.put_over(&mut s.pattern.block_split);
            Ok(())
        },
    )
    .approximate("in a sequence, a size that has no room at the end of the region goes to its start")
    .when(|s| !s.pattern.direction.is_random),
    Entry::exact(Pattern, "ba", Kind::Sizes, "What random offsets are multiples of", |s, v, _| {
        map(blocks(v)?, Some).put_over(&mut s.pattern.alignment);
        Ok(())
    })
    .aliases(&["blockalign"])
    .approximate("of a random job, anything but its smallest block is refused")
    // Checks refuse it.
    .when(|_| false),
    Entry::exact(
        Pattern,
        "bs_is_seq_rand",
        Kind::Boolean,
        "The first size of bs is for sequential operations, the second for random ones",
        |s, v, _| {
            s.pattern.is_size_by_order = v.truth();
            Ok(())
        },
    )
    .default("0")
    .approximate("with percentage_random, all operations have the size of random ones")
    .when(|s| s.pattern.is_size_by_order && has_sequences(s)),
    Entry::exact(
        Pattern,
        "bs_unaligned",
        Kind::Flag,
        "Sizes of bsrange need not be multiples of the least",
        |s, v, _| {
            s.pattern.is_unaligned = v.truth();
            Ok(())
        },
    )
    .aliases(&["blocksize_unaligned"])
    .ignored_for("sizes of a range are multiples of the least")
    .when(|s| s.pattern.is_unaligned && s.pattern.block_range.each().into_iter().any(Option::is_some)),
    Entry::exact(
        Pattern,
        "percentage_random",
        Kind::Integers { min: 0, max: 100 },
        "How many of a hundred operations of a random job go to a new place",
        |s, v, _| {
            map(v.integers(), |percent| percent as u8).put_over(&mut s.pattern.random_percent);
            Ok(())
        },
    )
    .default("100,100,100")
    .approximate("in a mix, the share of reads is that of writes too")
    .when(|s| {
        let percent = &s.pattern.random_percent;
        is_mix(s) && s.pattern.direction.is_random && percent.read != percent.write
    }),
    Entry::exact(
        Pattern,
        "random_distribution",
        Kind::Special(
            "random, zipf[:theta[:center]], pareto[:h[:center]], normal[:deviation[:center]], \
             zoned:ACCESS/SIZE:.. in percent, or zoned_abs:ACCESS/BYTES:..",
        ),
        "How places are drawn",
        |s, v, reading| {
            s.pattern.distribution = distribution(&v.text(), reading)?;
            Ok(())
        },
    )
    .default("random")
    .approximate(
        "the center is not heeded; in a mix, the zones of reads are those of writes too; verified blocks are each \
         written once",
    )
    .when(distribution_differs),
    Entry::exact(
        Pattern,
        "random_generator",
        Kind::Choice(&["tausworthe", "lfsr", "tausworthe64"]),
        "What draws random numbers",
        |s, v, _| {
            s.pattern.generator = match v.word() {
                "lfsr" => Generator::Lfsr,
                "tausworthe64" => Generator::Tausworthe64,
                _ => Generator::Tausworthe,
            };
            Ok(())
        },
    )
    .default("tausworthe")
    .ignored_for("plimsoll's own generators visit each block once, at any size, without a map")
    .when(|s| s.pattern.generator != Generator::Tausworthe),
    Entry::exact(Pattern, "norandommap", Kind::Flag, "A block may be used again before all others were", |s, v, _| {
        s.pattern.may_repeat_blocks = v.truth();
        Ok(())
    }),
    Entry::ignored(
        Pattern,
        "softrandommap",
        Kind::Boolean,
        "Go on without a map of blocks when there is no memory for it",
        "plimsoll needs no map",
    )
    .default("0")
    .unless(&["0", "1"]),
    Entry::exact(Pattern, "randrepeat", Kind::Boolean, "Each run uses the same places", |s, v, _| {
        s.pattern.is_repeatable = v.truth();
        Ok(())
    })
    .default("1")
    .approximate("runs repeat each other, but not fio: the generators differ")
    .when(|s| s.pattern.is_repeatable),
    Entry::exact(Pattern, "allrandrepeat", Kind::Boolean, "Each run draws everything alike", |s, v, _| {
        s.pattern.is_repeatable |= v.truth();
        Ok(())
    })
    .default("0"),
    Entry::exact(Pattern, "randseed", Kind::Size, "What random numbers follow from", |s, v, _| {
        s.pattern.seed = Some(v.size().0);
        Ok(())
    })
    .default("0x89")
    .approximate("runs of one seed repeat each other, but not fio: the generators differ"),
    Entry::exact(Pattern, "number_ios", Kind::Size, "End after so many operations", |s, v, _| {
        s.pattern.operations = Some(v.size().0).filter(|operations| *operations > 0);
        Ok(())
    })
    .default("0"),
];

fn is_mix(settings: &Settings) -> bool {
    settings.pattern.direction.reads && settings.pattern.direction.writes
}

/// Whether a random job also goes on where the last operation ended.
fn has_sequences(settings: &Settings) -> bool {
    let percent = &settings.pattern.random_percent;
    settings.pattern.direction.is_random && percent.read.min(percent.write) < 100
}

fn distribution_differs(settings: &Settings) -> bool {
    if !settings.pattern.direction.is_random || settings.pattern.distribution == Distribution::Uniform {
        return false;
    }
    let is_verified = settings.content.verify.is_some() && settings.pattern.direction.writes;
    is_verified
        || match &settings.pattern.distribution {
            Distribution::Zipf { center, .. } | Distribution::Pareto { center, .. } => center.is_some(),
            Distribution::Zoned(zones) => is_mix(settings) && zones.read != zones.write,
            // Lowering tells of the center of a normal distribution.
            Distribution::Uniform | Distribution::Normal { .. } => false,
        }
}

fn map<A: Copy, B>(values: Directional<Option<A>>, to: impl Fn(A) -> B) -> Directional<Option<B>> {
    Directional { read: values.read.map(&to), write: values.write.map(&to), trim: values.trim.map(&to) }
}

fn blocks(value: &Value) -> Result<Directional<Option<ByteCount>>, Wrong> {
    let sizes = value.sizes();
    for size in sizes.each().into_iter().flatten() {
        lists::at_least_one_byte(*size)?;
    }
    Ok(sizes)
}

fn direction(settings: &mut Settings, text: &str, reading: &mut Reading) -> Result<(), Wrong> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    if TRIM_WORDS.contains(&name.trim()) {
        return Err(Wrong::new(format!("rw={name} is not possible: trims are not supported"))
            .instead("use blkdiscard or fstrim, and measure writes"));
    }
    let name = word(name, WORDS)?;
    let direction = Direction {
        reads: name != "write" && name != "randwrite",
        writes: name != "read" && name != "randread",
        is_random: name.starts_with("rand"),
    };
    settings.pattern.step = match rest.map(|rest| reading.integer(rest)).transpose()? {
        None => Step::None,
        Some(operations @ 1..=STEP_MAX) if direction.is_random => {
            Step::Operations(u32::try_from(operations).unwrap_or(u32::MAX))
        }
        Some(operations) if direction.is_random => {
            let wrong = Wrong::new(format!("{operations} operations between random places"));
            return Err(wrong.instead(format!("write a number from 1 to {STEP_MAX}")));
        }
        Some(bytes) => Step::Skip(bytes),
    };
    settings.pattern.direction = direction;
    Ok(())
}

pub(super) fn distribution(text: &str, reading: &mut Reading) -> Result<Distribution, Wrong> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    if name == "sequence" {
        return Err(Wrong::new("random_distribution=sequence is not supported").instead("write zoned or random"));
    }
    let name = word(name, &["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"])?;
    if let "zoned" | "zoned_abs" = name {
        let rest = rest.ok_or_else(|| Wrong::new("no zones are given").instead("write zoned:60/10:40/90"))?;
        let zones = lists::zones(rest, name == "zoned_abs", reading)?;
        return Ok(Distribution::Zoned(Directional {
            read: zones.read.unwrap_or_default(),
            write: zones.write.unwrap_or_default(),
            trim: zones.trim.unwrap_or_default(),
        }));
    }
    let given = rest.map(|rest| lists::decimal_pair(rest, reading)).transpose()?;
    let center = given.and_then(|(_, center)| center);
    if center.is_some_and(|center| !(0.0..=1.0).contains(&center)) {
        return Err(
            Wrong::new("the center is not in the file").instead("write a number from 0 to 1 after the second colon")
        );
    }
    let parameter = |default: f64| given.map_or(default, |(value, _)| value);
    match name {
        "zipf" => {
            let theta = parameter(1.1);
            not_one(theta)?;
            Ok(Distribution::Zipf { theta, center })
        }
        "pareto" => {
            let h = parameter(0.2);
            between_zero_and_one(h)?;
            Ok(Distribution::Pareto { h, center })
        }
        "normal" => {
            let deviation = parameter(0.0);
            below_a_hundred(deviation)?;
            Ok(Distribution::Normal { deviation, center })
        }
        _ => Ok(Distribution::Uniform),
    }
}

fn not_one(theta: f64) -> Result<(), Wrong> {
    if theta > 0.0 && (theta - 1.0).abs() > f64::EPSILON {
        return Ok(());
    }
    Err(Wrong::new(format!("zipf with the exponent {theta}")).instead("write a number above 0 that is not 1"))
}

fn between_zero_and_one(h: f64) -> Result<(), Wrong> {
    if h > 0.0 && h < 1.0 {
        return Ok(());
    }
    Err(Wrong::new(format!("pareto with the power {h}")).instead("write a number between 0 and 1"))
}

fn below_a_hundred(deviation: f64) -> Result<(), Wrong> {
    if (0.0..100.0).contains(&deviation) {
        return Ok(());
    }
    Err(Wrong::new(format!("normal with the deviation {deviation}")).instead("write a number from 0 to below 100"))
}
