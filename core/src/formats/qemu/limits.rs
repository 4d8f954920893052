//! The limits of QEMU record/replay logs.

use crate::limits::Limit;

/// All of them.
pub static LIMITS: &[&Limit] = &[];
