//! Amazon Web Services.

pub(crate) mod files;
pub(crate) mod instances;
pub(crate) mod volumes;
