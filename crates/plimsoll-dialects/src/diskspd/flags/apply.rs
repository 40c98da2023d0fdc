//! What each flag does to the line that it stands in.

use super::super::{
    command_line::{Action, Line, MaxOffset},
    flag_values::{affinity as processors, distribution as ranges, leading_size, number, percent, size},
    profile::{Cache, Content, Priority, Rate, ResultFormat},
};
use crate::problem::Wrong;

type Said = Result<(), Wrong>;

pub(super) fn help(line: &mut Line, _: &str) -> Said {
    line.action = Action::Help;
    Ok(())
}

pub(super) fn experiments(line: &mut Line, text: &str) -> Said {
    line.profile.experiments = number(text, 0)?;
    Ok(())
}

pub(super) fn affinity(line: &mut Line, text: &str) -> Said {
    if !text.is_empty() {
        line.span.affinity.extend(processors(text)?);
    }
    Ok(())
}

pub(super) fn base(line: &mut Line, text: &str) -> Said {
    if std::mem::replace(&mut line.has_base, true) {
        return Err(Wrong::new("-B is given twice").instead("give it once"));
    }
    let (base, rest) = leading_size(text, line.target.block_size)?;
    line.target.base_offset = base;
    match rest.strip_prefix(':') {
        Some(length) => {
            let end = size(length, line.target.block_size)?.checked_add(base);
            let end = end.ok_or_else(|| Wrong::new("base and length are more than 16 EiB").instead("write less"))?;
            line.end_at(end, MaxOffset::OfBase)
        }
        None if rest.is_empty() => Ok(()),
        None => Err(Wrong::new(format!("\"{rest}\" stands behind the base")).instead("write -B<base>:<length>")),
    }
}

pub(super) fn max_offset(line: &mut Line, text: &str) -> Said {
    let end = size(text, line.target.block_size)?;
    line.end_at(end, MaxOffset::Own)
}

pub(super) fn create(line: &mut Line, text: &str) -> Said {
    line.target.file_size = Some(size(text, line.target.block_size)?);
    Ok(())
}

pub(super) fn cooldown(line: &mut Line, text: &str) -> Said {
    line.times.cooldown_s = Some(number(text, 0)?);
    Ok(())
}

pub(super) fn duration(line: &mut Line, text: &str) -> Said {
    line.times.duration_s = Some(number(text, 1)?);
    Ok(())
}

pub(super) fn warmup(line: &mut Line, text: &str) -> Said {
    line.times.warmup_s = Some(number(text, 0)?);
    Ok(())
}

pub(super) fn deviation(line: &mut Line, text: &str) -> Said {
    line.span.measures_deviation = true;
    let given = if text.is_empty() { 0 } else { number(text, 0)? };
    if given > 0 {
        line.span.bucket_ms = given;
    }
    Ok(())
}

pub(super) fn threads_in_all(line: &mut Line, text: &str) -> Said {
    line.span.threads = number(text, 1)?;
    Ok(())
}

pub(super) fn rate(line: &mut Line, text: &str) -> Said {
    line.target.rate = Some(match text.strip_suffix('i') {
        Some(iops) => Rate::Iops(number(iops, 1)?),
        None => Rate::BytesPerMillisecond(number(text, 1)?),
    });
    Ok(())
}

pub(super) fn burst(line: &mut Line, text: &str) -> Said {
    line.target.burst = Some(number(text, 1)?);
    Ok(())
}

pub(super) fn think_time(line: &mut Line, text: &str) -> Said {
    line.target.think_time_ms = Some(number(text, 1)?);
    Ok(())
}

pub(super) fn priority(line: &mut Line, text: &str) -> Said {
    line.target.priority = match text {
        "1" => Priority::VeryLow,
        "2" => Priority::Low,
        "3" => Priority::Normal,
        _ => return Err(Wrong::new(format!("\"{text}\" is not a priority")).instead("write 1, 2 or 3")),
    };
    Ok(())
}

pub(super) fn depth(line: &mut Line, text: &str) -> Said {
    line.target.depth = number(text, 1)?;
    Ok(())
}

pub(super) fn depth_in_all(line: &mut Line, text: &str) -> Said {
    line.span.depth = number(text, 1)?;
    Ok(())
}

pub(super) fn progress(line: &mut Line, text: &str) -> Said {
    let given = if text.is_empty() { 0 } else { number(text, 0)? };
    line.profile.progress = if given == 0 { 65_536 } else { given };
    Ok(())
}

pub(super) fn random(line: &mut Line, text: &str) -> Said {
    let alignment = if text.is_empty() { None } else { Some(size(text, line.target.block_size)?) };
    if alignment == Some(0) {
        return Err(Wrong::new("offsets cannot be multiples of 0").instead("write -r<align>, or -r for a block"));
    }
    if line.random.replace(alignment).is_some() {
        return Err(Wrong::new("-r is given twice").instead("give it once"));
    }
    line.access_is_one()
}

pub(super) fn random_share(line: &mut Line, text: &str) -> Said {
    let share = percent(text, 1)?;
    if line.random_percent.replace(share).is_some_and(|earlier| earlier != 100) {
        return Err(Wrong::new("-rs is given twice").instead("give it once"));
    }
    line.access_is_one()
}

pub(super) fn distribution(line: &mut Line, text: &str) -> Said {
    line.distribution = Some(ranges(text, line.target.block_size)?);
    Ok(())
}

pub(super) fn sequential(line: &mut Line, text: &str, is_interlocked: bool) -> Said {
    let stride = if text.is_empty() { None } else { Some(size(text, line.target.block_size)?) };
    if line.sequential.replace((stride, is_interlocked)).is_some() {
        return Err(Wrong::new("-s is given twice").instead("give it once"));
    }
    line.access_is_one()
}

pub(super) fn format(line: &mut Line, text: &str, is_profile_only: bool) -> Said {
    if is_profile_only {
        line.action = Action::ShowProfile;
    }
    line.format = match text {
        "text" => Some(ResultFormat::Text),
        "xml" => Some(ResultFormat::Xml),
        "" if is_profile_only => line.format,
        _ => {
            return Err(Wrong::new(format!("\"{text}\" is not a format of results")).instead("write -Rtext or -Rxml"));
        }
    };
    Ok(())
}

pub(super) fn cache(line: &mut Line, cache: Cache, word: &str) -> Said {
    if line.cache.is_some() || (cache == Cache::None && line.target.is_mapped) {
        return Err(twice(word));
    }
    line.cache = Some(cache);
    Ok(())
}

pub(super) fn writes_through(line: &mut Line, _: &str) -> Said {
    if std::mem::replace(&mut line.target.writes_through, true) {
        return Err(twice("-Sw"));
    }
    Ok(())
}

pub(super) fn unbuffered_and_through(line: &mut Line, _: &str) -> Said {
    if line.cache.is_some() || line.target.writes_through || line.target.is_mapped {
        return Err(twice("-Sh"));
    }
    line.cache = Some(Cache::None);
    line.target.writes_through = true;
    Ok(())
}

pub(super) fn mapped(line: &mut Line, _: &str) -> Said {
    if line.target.is_mapped || line.cache == Some(Cache::None) {
        return Err(twice("-Sm"));
    }
    line.target.is_mapped = true;
    Ok(())
}

fn twice(word: &str) -> Wrong {
    Wrong::new(format!("{word} contradicts or repeats what -S or -h said before it"))
        .instead("give one of b, u, r, m and h, and w at most once")
}

pub(super) fn threads(line: &mut Line, text: &str) -> Said {
    line.target.threads = number(text, 1)?;
    Ok(())
}

pub(super) fn thread_stride(line: &mut Line, text: &str) -> Said {
    line.target.thread_stride = size(text, line.target.block_size)?;
    if line.target.thread_stride == 0 {
        return Err(Wrong::new("threads cannot begin 0 bytes apart").instead("write more, or leave -T out"));
    }
    Ok(())
}

pub(super) fn writes(line: &mut Line, text: &str) -> Said {
    line.target.write_percent = percent(text, 0)?;
    Ok(())
}

pub(super) fn seed(line: &mut Line, text: &str) -> Said {
    line.times.seed = Some(if text.is_empty() { None } else { Some(number(text, 0)?) });
    Ok(())
}

pub(super) fn buffer(line: &mut Line, text: &str) -> Said {
    let (length, file) = text.split_once(',').map_or((text, None), |(length, file)| (length, Some(file)));
    let bytes = size(length, line.target.block_size)?;
    if bytes == 0 {
        return Err(Wrong::new("a buffer cannot have 0 bytes").instead("write a block or more"));
    }
    let file = file.filter(|file| !file.is_empty()).map(str::to_owned);
    line.target.content = Content::Buffer { size: bytes, file };
    Ok(())
}
