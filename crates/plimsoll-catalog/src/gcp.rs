//! Google Cloud.

pub(crate) mod filestore;
pub(crate) mod hyperdisks;
pub(crate) mod local_ssd;
pub(crate) mod machines;
pub(crate) mod persistent_disks;
