//! What one run of equally spaced values says: its mean, how far that may be off, whether it moved, dipped or shifted.
//!
//! Every function takes the window as a slice and answers with positions in it. Values are rates of successive seconds
//! unless a function says otherwise. Neighbouring seconds resemble each other, so none of them treats seconds as
//! independent.

pub mod change_points;
pub mod half_width;
pub mod long_run_variance;
pub mod moments;
pub mod period;
pub mod slope;
pub mod truncation;
