//! Serving what the history has, and what is being measured on this machine: the page of reports, the data that it asks
//! for, and metrics that others collect.
//!
//! A [`server::Server`] is bound to an address and runs until it is told to stop. Every answer is made of records,
//! summaries and journals by the crates that know these; what is here is who may ask ([`access`]), what is asked, and
//! what is told to those who stay and listen. It prints nothing, takes no time and reads no environment: what it needs
//! is handed to it with [`server::Settings`].

#![forbid(unsafe_code)]

pub mod access;
mod answer;
mod events;
mod following;
pub mod importing;
mod live;
pub mod metrics;
mod page;
mod query;
mod reports;
mod routes;
mod runs;
pub mod server;
#[cfg(test)]
mod tests;
