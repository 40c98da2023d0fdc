//! What lies at the paths that an input names; whoever has a machine looks.

/// What lies at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Which kind of thing.
    pub kind: FoundKind,
    /// Its bytes; of a directory those that are free.
    pub size_bytes: u64,
}

/// The kinds of things that paths lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A block device.
    Device,
    /// Anything else.
    Other,
}

/// Looks at a path; `None` when nothing is there.
pub type Look<'a> = dyn Fn(&str) -> Option<Found> + 'a;
