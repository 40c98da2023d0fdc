//! When a cell has been measured long enough: one rule for a cell alone, one for cells that take turns.
//!
//! Both look again and again, each time with more data, and are content after a number of passing looks in a row: a
//! rule that stops at the first one stops when the interval is short by chance.

pub mod contiguous;
pub mod rounds;

/// What a rule wants before it is content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Half of the 95 % interval, as a share of the mean.
    pub precision: f64,
    /// Passing looks in a row.
    pub confirmations: u32,
}
