//! The result of a comparison of two recordings.

/// The members of a dump that a comparison treats in their own way.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "json"),
    allow(dead_code, reason = "`diff` reads them, from lines of JSON")
)]
pub struct Comparison {
    /// Members that name what a record is: records of one kind agree in them.
    pub kind: &'static [&'static str],
    /// Members that follow from others, or from the place of a record.
    pub derived: &'static [&'static str],
    /// Members that differ between two runs of one program: clocks, ids and addresses.
    pub volatile: &'static [&'static str],
    /// Whether texts that begin with `0x` are addresses.
    pub has_addresses: bool,
    /// The singular noun for a record of a dump.
    pub noun: &'static str,
    /// The words after "first" for a record that differs in what is volatile and nothing else, and
    /// for one that differs in more.
    pub titles: [&'static str; 2],
    /// The bytes that a dump does not show.
    pub hidden: Hidden,
}

/// The bytes that a dump does not show, and that are compared besides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hidden {
    /// All others: heads and tables, and content of records.
    All,
    /// Those after the last record: recordings with the same records have other heads.
    AfterRecords,
    /// None: the bytes of a file only wrap the records.
    None,
}

impl Comparison {
    /// A comparison of every member and every byte.
    pub const EXACT: Self = Self {
        kind: &["kind"],
        derived: &["number"],
        volatile: &[],
        has_addresses: false,
        noun: "record",
        titles: ["record that differs in times, ids or addresses only", "record that differs"],
        hidden: Hidden::All,
    };
}

/// The first records in which two recordings differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// Number of records that were compared, up to the first one that differs in content or kind.
    pub records: u64,
    /// Bytes of the first and the second recording that are not valid records and were left out, up
    /// to the place where the comparison ended.
    pub left_out: [u64; 2],
    /// The first difference of each degree, the first one first.
    pub differences: Vec<Difference>,
    /// The first bytes that differ although the records do not.
    pub hidden: Option<HiddenDifference>,
}

impl Compared {
    /// Whether the recordings differ.
    pub fn is_different(&self) -> bool {
        let [one, two] = self.left_out;
        !self.differences.is_empty() || self.hidden.is_some() || one != two
    }
}

/// The extent to which two records differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Degree {
    /// In nothing but clocks, ids and addresses, which differ between two runs of one program.
    Volatile,
    /// In other fields, too.
    Content,
    /// They are of different kinds, or one is missing.
    Kind,
}

/// Two records that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The extent.
    pub degree: Degree,
    /// The first fields that differ; empty if one record is missing.
    pub fields: Vec<FieldDifference>,
    /// The number of the record in both recordings.
    pub number: u64,
    /// The records as lines of a dump in JSON; `None` for a recording that ended before.
    pub records: [Option<String>; 2],
    /// Number of records from these on that only the first or the second recording has, if both
    /// agree after them.
    pub missing: Option<[u64; 2]>,
}

/// A field that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldDifference {
    /// Its name in a dump; of an entry of a list with its place, such as `entries[2].id`.
    pub name: String,
    /// Its values as text that is safe to print; `None` for a record that does not have it.
    pub values: [Option<String>; 2],
}

impl Difference {
    /// Whether records of one kind with other content came before.
    pub fn is_of_another_kind_later(&self, compared: &Compared) -> bool {
        let mut before = compared.differences.iter().take_while(|one| *one != self);
        self.degree == Degree::Kind && before.any(|one| one.degree == Degree::Content)
    }
}

/// Bytes that differ and that a dump does not show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HiddenDifference {
    /// The name of the file in the first recording, or in the second if the first has no such file.
    pub file: String,
    /// The number of the record that holds them; `None` if no record does.
    pub number: Option<u64>,
    /// Whether the files are there.
    pub is_there: [bool; 2],
    /// Where the first different byte is, in each file.
    pub offsets: [u64; 2],
    /// The names of the regions that hold it, from the section to the field.
    pub place: Vec<String>,
    /// A few bytes from there on; fewer where a file ends.
    pub bytes: [Vec<u8>; 2],
}
