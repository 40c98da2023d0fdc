//! One I/O operation: the unit that a stream produces and an engine performs.

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OperationKind {
    /// Reads `length` bytes at `offset`.
    Read = 0,
    /// Writes `length` bytes at `offset`.
    Write = 1,
    /// Makes earlier writes and the file's metadata durable (`fsync`).
    Sync = 2,
    /// Makes earlier writes durable, metadata only where needed to read them back (`fdatasync`).
    DataSync = 3,
}

impl OperationKind {
    /// Whether this is one of the two sync kinds, which carry no data.
    pub const fn is_sync(self) -> bool {
        matches!(self, Self::Sync | Self::DataSync)
    }
}

/// One operation on the target; offsets count from the start of the file or device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub kind: OperationKind,
    /// In which of the files that a worker has open.
    pub file: u16,
    /// Bytes to transfer; zero for syncs.
    pub length: u32,
    /// Where, in bytes.
    pub offset: u64,
}
