//! The numbers of errors, by the names that the kernel's headers give them.

/// The errors of I/O; others are given as numbers.
const ERRORS: &[(&str, i32)] = &[
    ("EPERM", 1),
    ("ENOENT", 2),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("EWOULDBLOCK", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("ENODEV", 19),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("EROFS", 30),
    ("ERANGE", 34),
    ("EDEADLK", 35),
    ("ENOLCK", 37),
    ("ENODATA", 61),
    ("ETIME", 62),
    ("EREMOTE", 66),
    ("ENOLINK", 67),
    ("EPROTO", 71),
    ("EBADMSG", 74),
    ("EOVERFLOW", 75),
    ("EILSEQ", 84),
    ("EOPNOTSUPP", 95),
    ("ENOBUFS", 105),
    ("ETIMEDOUT", 110),
    ("ECONNREFUSED", 111),
    ("EHOSTDOWN", 112),
    ("EHOSTUNREACH", 113),
    ("ESTALE", 116),
    ("EREMOTEIO", 121),
    ("EDQUOT", 122),
    ("ENOMEDIUM", 123),
    ("EMEDIUMTYPE", 124),
    ("ECANCELED", 125),
];

/// A read or write that failed.
pub(super) const EIO: i32 = 5;
/// A block that is not what was written.
pub(super) const EILSEQ: i32 = 84;
/// Something that was not done.
pub(super) const ECANCELED: i32 = 125;
/// An operation took longer than was allowed.
pub(super) const ETIMEDOUT: i32 = 110;

/// The number of a name.
pub(super) fn of(name: &str) -> Option<i32> {
    ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}
