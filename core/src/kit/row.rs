//! Fields of fixed sizes that follow one another, declared as data.

use crate::kit::cursor::{Cursor, ReadError};

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number of one byte.
    U8,
    /// A number of two bytes.
    U16,
    /// A number of four bytes.
    U32,
    /// A number of eight bytes.
    U64,
    /// Four bytes that people read in hexadecimal.
    Hex32,
    /// Eight bytes that people read in hexadecimal.
    Hex64,
    /// So many bytes that are no number.
    Bytes(u64),
}

impl Form {
    /// Returns the size of the field in bytes.
    pub const fn size(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 | Self::Hex32 => 4,
            Self::U64 | Self::Hex64 => 8,
            Self::Bytes(size) => size,
        }
    }
}

/// Fields that follow one another, each with its label.
pub type Row = [(&'static str, Form)];

/// Returns the size of a row in bytes.
pub fn row_size(row: &Row) -> u64 {
    row.iter().fold(0, |sum: u64, (_, form)| sum.saturating_add(form.size()))
}

impl Cursor<'_> {
    /// Reads the fields of a row.
    ///
    /// # Errors
    ///
    /// The first field that does not fit in the window.
    pub fn row(&mut self, row: &Row) -> Result<(), ReadError> {
        row.iter().try_for_each(|(label, form)| match self.has_log() {
            true => self.number(label, *form).map(drop),
            false => self.skip(1, form.size(), label),
        })
    }

    /// Reads the fields of a row up to the first one that does not fit in the window.
    pub fn fitting(&mut self, row: &Row) {
        _ = row.iter().try_for_each(|(label, form)| self.number(label, *form).map(drop));
    }

    /// Reads a field, and returns its number; 0 for a field of bytes.
    ///
    /// # Errors
    ///
    /// The field does not fit in the window.
    pub fn number(&mut self, label: &'static str, form: Form) -> Result<u64, ReadError> {
        match form {
            Form::U8 => self.u8(label).map(u64::from),
            Form::U16 => self.u16(label).map(u64::from),
            Form::U32 => self.u32(label).map(u64::from),
            Form::U64 => self.u64(label),
            Form::Hex32 => self.hex32(label).map(u64::from),
            Form::Hex64 => self.hex64(label),
            Form::Bytes(size) => self.skip(1, size, label).map(|()| 0),
        }
    }

    /// Reads `count` rows.
    ///
    /// # Errors
    ///
    /// The rows do not fit in the window; then none is read. The label is that of the first field.
    pub fn rows(&mut self, count: u64, row: &Row) -> Result<(), ReadError> {
        // Rows of no bytes would be there any number of times.
        let Some((label, _)) = row.first() else { return Ok(()) };
        let all = self.unlogged().window(count.saturating_mul(row_size(row)), label);
        if !self.has_log() || all.is_err() {
            return self.skip(count, row_size(row), label);
        }
        (0..count).try_for_each(|_| self.row(row))
    }

    /// Moves past `count` rows, which are noted as one field, and each by itself if a log wants the
    /// entries of lists.
    ///
    /// # Errors
    ///
    /// The rows do not fit in the window.
    #[inline]
    pub fn skip_rows(
        &mut self,
        count: u64,
        row: &Row,
        label: &'static str,
    ) -> Result<(), ReadError> {
        let start = self.has_entries().then(|| self.clone());
        self.skip(count, row_size(row), label)?;
        start.map_or(Ok(()), |mut start| start.rows(count, row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::cursor::Order;
    use crate::kit::field_log::{FieldLog, FieldValue};
    use crate::kit::span::Layer;

    const ROW: &Row = &[("a", Form::U16), ("b", Form::Hex32), ("c", Form::Bytes(2))];

    #[test]
    fn a_row_is_read_field_by_field_with_and_without_a_log() {
        let bytes: Vec<u8> = (1..=20).collect();
        let new = |len: usize| Cursor::new(&bytes[..len], Layer::stored(0), 0, Order::Little);
        let log = FieldLog::new(100);
        for mut cursor in [new(20), new(20).with_log(&log)] {
            assert_eq!(cursor.row(ROW), Ok(()));
            assert_eq!(cursor.position(), 8);
            assert_eq!(cursor.rows(1, ROW), Ok(()));
            let error = cursor.rows(1, ROW).unwrap_err();
            assert_eq!((error.label, cursor.position()), ("a", 16));
            assert_eq!(cursor.row(ROW).unwrap_err().label, "b");
            assert_eq!(cursor.rows(u64::MAX, &[]), Ok(()));
            cursor.fitting(ROW);
            assert_eq!(cursor.position(), 20);
        }
        let fields = log.into_noted().fields;
        let values: Vec<_> = fields.iter().map(|field| (&*field.label, &field.value)).collect();
        assert_eq!(values[0], ("a", &FieldValue::Number(0x201)));
        assert_eq!(values[1], ("b", &FieldValue::Hex(0x0605_0403)));
        assert_eq!(values[2], ("c", &FieldValue::Bytes(vec![7, 8])));
        assert_eq!(values.len(), 8);
    }
}
