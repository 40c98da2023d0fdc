//! diskspd's command lines and XML profiles: what was asked is read into a [`profile::Profile`], or all problems at
//! once; and diskspd's reports of what became of it.
//!
//! The grammar is diskspd's, with two exceptions: what it reads the beginning of (`-d1m` is a second to it) is refused,
//! and only `-` begins a flag, as `/` begins paths here.

mod checks;
mod command_line;
mod flag_values;
pub mod flags;
pub mod lowering;
pub mod profile;
mod profile_xml;
pub mod reference;
pub mod report;

pub use self::{
    command_line::{Action, Asked, Places, Surroundings, Switches, translate},
    profile_xml::{BYTES_MAX as PROFILE_BYTES_MAX, read as read_profile, write as write_profile},
};
