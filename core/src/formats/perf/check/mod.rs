//! Items to findings: judges, and reads bytes only through the decoders.
//!
//! [`mod@file`] takes recordings with a header of sections, [`pipe`] those of a stream; both hand their
//! records to [`records`]. [`outline`] reads header and attrs, [`features`] the sections behind the
//! records, [`donor`] what another recording still has of them.

pub mod donor;
pub mod features;
pub mod file;
pub mod outline;
pub mod pipe;
pub mod records;
