//! The id in an EVENT_UPDATE, which gives an event a name, a unit or a scale.

use super::Events;
use crate::formats::perf::decode::body::BodyError;
use crate::formats::perf::decode::frame::RecordView;
use crate::formats::perf::layout::record as kind;

/// `type` of an EVENT_UPDATE with a name.
const NAME: u64 = 2;

impl Events {
    /// Reads the fields of a record as [`Self::read_fields`] does, and checks the event that an
    /// EVENT_UPDATE is about.
    ///
    /// # Errors
    ///
    /// The first field that does not fit in the record, or an id that is that of no event.
    pub fn judge_fields(&self, record: &RecordView<'_>) -> Result<Option<u64>, BodyError> {
        let time = self.read_fields(record)?;
        self.check_update(record)?;
        Ok(time)
    }

    /// Checks that a name in an EVENT_UPDATE is for the event of a recording that has a single one:
    /// perf gives it the name in each of them, whatever the id is (perf 6.1, util/evlist.c,
    /// `evlist__id2evsel`). The id 0 stands for the first event.
    fn check_update(&self, record: &RecordView<'_>) -> Result<(), BodyError> {
        let is_single = self.attrs.len() == 1 && self.ids.len() > 0 && !self.is_partial;
        if record.frame.kind != kind::EVENT_UPDATE || !is_single {
            return Ok(());
        }
        let label = "event_update.id";
        let mut body = record.cursor(self.dialect.order);
        // Units and scales change no sample, and the ids of the attr may be those that are damaged.
        let is_name = body.u64("event_update.type")? == NAME;
        let start = body.position();
        let value = body.u64(label)?;
        let span = body.since(start);
        if !is_name || value == 0 || self.find(value).is_some() {
            return Ok(());
        }
        // perf names an event by its first id, and the kernel counts upwards.
        let first = self.ids.least().filter(|first| differ_in_one_byte(*first, value));
        Err(match first {
            Some(right) => BodyError::Differs { label, value, right, span },
            None => BodyError::Unknown { label, value, span },
        })
    }
}

fn differ_in_one_byte(one: u64, other: u64) -> bool {
    (one ^ other).to_le_bytes().iter().filter(|byte| **byte != 0).count() == 1
}
