//! Promises about the table of options.
