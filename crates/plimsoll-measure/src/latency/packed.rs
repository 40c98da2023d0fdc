//! A distribution as few bytes, for where it has to travel: it loses nothing, and what is no distribution is refused.

use super::{CompactHistogram, LatencyHistogram, Totals, buckets::Resolution};

impl LatencyHistogram {
    /// As bytes: digits, totals, and the buckets that are not empty.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Totals { clamped, sum_ns, sum_of_squares, max_ns, .. } = self.totals;
        let mut bytes = vec![self.buckets.resolution().significant_digits()];
        bytes.extend(sum_ns.to_le_bytes());
        bytes.extend(sum_of_squares.to_le_bytes());
        for number in [clamped, self.min_ns().unwrap_or(0), max_ns] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(CompactHistogram::from(self).steps());
        bytes
    }

    /// What such bytes stand for; `None` when they are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (digits, rest) = bytes.split_first()?;
        if !matches!(digits, 2 | 3) {
            return None;
        }
        let (sum_ns, rest) = rest.split_first_chunk()?;
        let (sum_of_squares, rest) = rest.split_first_chunk()?;
        let (clamped, rest) = number(rest)?;
        let (min_ns, rest) = number(rest)?;
        let (max_ns, mut steps) = number(rest)?;
        if min_ns > max_ns {
            return None;
        }
        let mut histogram = Self::with(Resolution::new(*digits));
        let mut index = 0_usize;
        while !steps.is_empty() {
            index = index.checked_add(usize::try_from(take(&mut steps)?).ok()?)?;
            let count = take(&mut steps)?;
            if !histogram.buckets.has(index) {
                return None;
            }
            histogram.buckets.add_at(index, count);
            histogram.totals.count = histogram.totals.count.saturating_add(count);
        }
        let totals = &mut histogram.totals;
        if totals.count > 0 {
            (totals.min_ns, totals.max_ns) = (min_ns, max_ns);
        }
        totals.clamped = clamped;
        totals.sum_ns = u128::from_le_bytes(*sum_ns);
        totals.sum_of_squares = f64::from_le_bytes(*sum_of_squares);
        Some(histogram)
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*number), rest))
}

/// Takes a number of seven bits a byte, the lowest first; `None` when it does not end or is too large.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        number |= bits.checked_shl(shift).filter(|shifted| shifted >> shift == bits)?;
        if *byte < 0x80 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn nothing_is_lost_on_the_way(
            latencies in prop::collection::vec((0_u64..8_000_000_000_000, 1_u64..1 << 40), 0..200),
            is_fine in any::<bool>(),
        ) {
            let mut histogram = if is_fine { LatencyHistogram::fine() } else { LatencyHistogram::coarse() };
            latencies.iter().for_each(|(latency, count)| histogram.record_many(*latency, *count));
            let bytes = histogram.to_bytes();
            let back = LatencyHistogram::from_bytes(&bytes).unwrap();
            prop_assert_eq!(&back, &histogram);
            prop_assert_eq!(back.to_bytes(), bytes);
        }

        #[test]
        fn no_bytes_are_too_strange(
            start in prop::collection::vec(any::<u8>(), 0..80),
            latencies in prop::collection::vec(1_u64..1_000_000_000, 0..20),
            place in any::<prop::sample::Index>(),
            with in any::<u8>(),
        ) {
            let _ = LatencyHistogram::from_bytes(&start);
            let mut histogram = LatencyHistogram::coarse();
            latencies.iter().for_each(|latency| histogram.record_many(*latency, 1));
            let mut bytes = histogram.to_bytes();
            let at = place.index(bytes.len());
            bytes[at] = with;
            let _ = LatencyHistogram::from_bytes(&bytes);
            let _ = LatencyHistogram::from_bytes(&bytes[..at]);
        }
    }

    #[test]
    fn what_is_too_large_or_does_not_end_is_no_number() {
        for bytes in
            [&[0x80][..], &[0xff; 9], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]]
        {
            assert_eq!(take(&mut &*bytes), None, "{bytes:?}");
        }
        assert_eq!(take(&mut &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01][..]), Some(u64::MAX));
        assert_eq!(take(&mut &[0x05, 0x09][..]), Some(5));
    }
}
