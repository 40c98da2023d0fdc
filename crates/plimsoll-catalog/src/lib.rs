//! What storage is said to deliver: products, machine sizes and burst models of the clouds, each figure with its
//! source and date, and what of it binds a load. Pure: it is handed descriptions and returns limits.
//!
//! Read [`expectation::Expectation`] first, then [`product::PRODUCTS`]. What is not documented is absent: nothing is
//! guessed.

#![forbid(unsafe_code)]
#![cfg_attr(test, expect(clippy::float_cmp, reason = "figures of documents are whole, and formulas keep them so"))]

pub mod alternatives;
mod aws;
mod azure;
pub mod before_buying;
pub mod bucket;
pub mod catalog;
pub mod ceiling;
pub mod detection;
pub mod error;
pub mod expectation;
mod gcp;
pub mod limits_file;
pub mod listing;
pub mod need;
pub mod objects;
pub mod product;
pub mod quantity;
pub mod source;
mod storage_class;
mod table;
