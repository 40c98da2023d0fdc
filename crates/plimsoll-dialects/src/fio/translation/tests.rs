//! Promises about whole translations.
