//! A log under construction.

use super::ids::{Ids, Sound};

/// A complete event of a built log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Offset of the id.
    pub start: usize,
    /// Offset after the event.
    pub end: usize,
    /// Its name.
    pub name: &'static str,
}

/// A log: header and events, END only when it is written.
#[derive(Clone, Debug)]
pub struct Log {
    /// The layout.
    pub ids: Ids,
    /// The bytes so far.
    pub bytes: Vec<u8>,
    /// The events so far.
    pub marks: Vec<Mark>,
    /// The clocks: host and virtual.
    times: [i64; 2],
    /// Name of the last checkpoint.
    checkpoint: &'static str,
}

impl Log {
    /// A header, as a finished log has it.
    pub fn new(ids: Ids) -> Self {
        let mut bytes = ids.version.to_be_bytes().to_vec();
        bytes.resize(12, 0);
        let times = [1_700_000_000_000_000_000, 0];
        Self { ids, bytes, marks: Vec::new(), times, checkpoint: "CP_INIT" }
    }

    /// An event of any bytes.
    pub fn event(&mut self, name: &'static str, bytes: &[u8]) -> &mut Self {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.marks.push(Mark { start, end: self.bytes.len(), name });
        self
    }

    fn with(&mut self, name: &'static str, id: u8, payload: &[u8]) -> &mut Self {
        self.event(name, &[&[id], payload].concat())
    }

    /// INSTRUCTION.
    pub fn instruction(&mut self, count: u32) -> &mut Self {
        self.with("INSTRUCTION", 0, &count.to_be_bytes())
    }

    /// INTERRUPT.
    pub fn interrupt(&mut self) -> &mut Self {
        self.with("INTERRUPT", 1, &[])
    }

    /// EXCEPTION.
    pub fn exception(&mut self) -> &mut Self {
        self.with("EXCEPTION", 2, &[])
    }

    /// CLOCK_HOST, 1 ms later than the last one.
    pub fn host(&mut self) -> &mut Self {
        self.times[0] += 1_000_000;
        self.host_at(self.times[0])
    }

    /// CLOCK_HOST.
    pub fn host_at(&mut self, time: i64) -> &mut Self {
        self.with("CLOCK_HOST", self.ids.clocks, &time.to_be_bytes())
    }

    /// CLOCK_VIRTUAL_RT, 1 ms later than the last one.
    pub fn virtual_rt(&mut self) -> &mut Self {
        self.times[1] += 1_000_000;
        self.virtual_rt_at(self.times[1])
    }

    /// CLOCK_VIRTUAL_RT.
    pub fn virtual_rt_at(&mut self, time: i64) -> &mut Self {
        self.with("CLOCK_VIRTUAL_RT", self.ids.clocks + 1, &time.to_be_bytes())
    }

    /// A checkpoint.
    pub fn checkpoint(&mut self, name: &'static str) -> &mut Self {
        self.checkpoint = name;
        let id = self.ids.checkpoint + self.ids.checkpoint_number(name);
        self.with(name, id, &[])
    }

    /// A shutdown, by the number of the cause.
    pub fn shutdown(&mut self, cause: usize) -> &mut Self {
        self.with(self.ids.causes[cause], self.ids.shutdown + cause as u8, &[])
    }

    /// CHAR_WRITE.
    pub fn char_write(&mut self, result: u32, offset: u32) -> &mut Self {
        let id = self.ids.chars.expect("the layout has characters");
        let payload = [result.to_be_bytes(), offset.to_be_bytes()].concat();
        self.with("CHAR_WRITE", id, &payload)
    }

    /// CHAR_READ_ALL.
    pub fn read_all(&mut self, bytes: &[u8]) -> &mut Self {
        let id = self.ids.chars.expect("the layout has characters") + 1;
        self.with("CHAR_READ_ALL", id, &array(bytes))
    }

    /// CHAR_READ_ALL_ERROR.
    pub fn read_error(&mut self, code: i32) -> &mut Self {
        let id = self.ids.chars.expect("the layout has characters") + 2;
        self.with("CHAR_READ_ALL_ERROR", id, &code.to_be_bytes())
    }

    /// RANDOM.
    pub fn random(&mut self, result: i32, bytes: &[u8]) -> &mut Self {
        let id = self.ids.random.expect("the layout has random numbers");
        self.with("RANDOM", id, &[result.to_be_bytes().to_vec(), array(bytes)].concat())
    }

    fn count(&self, value: u64) -> Vec<u8> {
        match self.ids.sound {
            Sound::Narrow => (value as u32).to_be_bytes().to_vec(),
            Sound::Wide | Sound::Unplaced => value.to_be_bytes().to_vec(),
        }
    }

    /// AUDIO_OUT.
    pub fn audio_out(&mut self, played: u64) -> &mut Self {
        let id = self.ids.audio.expect("the layout has sound");
        let payload = self.count(played);
        self.with("AUDIO_OUT", id, &payload)
    }

    /// AUDIO_IN that counts `recorded` samples and has `written` of them.
    pub fn audio_in(&mut self, recorded: u64, position: u64, written: usize) -> &mut Self {
        let id = self.ids.audio.expect("the layout has sound") + 1;
        let mut payload = self.count(recorded);
        if self.ids.sound != Sound::Unplaced {
            payload.extend(self.count(position));
        }
        for number in 0..written as u64 {
            payload.extend((number * 3).to_be_bytes());
            payload.extend((number * 5).to_be_bytes());
        }
        self.with("AUDIO_IN", id, &payload)
    }

    /// An asynchronous event. Through 7.0 it belongs to the last checkpoint.
    pub fn asynchronous(&mut self, name: &'static str, payload: &[u8]) -> &mut Self {
        let number = self.ids.checkpoint_number(self.checkpoint);
        self.asynchronous_at(name, number, payload)
    }

    /// An asynchronous event of another checkpoint.
    pub fn asynchronous_at(
        &mut self,
        name: &'static str,
        checkpoint: u8,
        payload: &[u8],
    ) -> &mut Self {
        let place = self.ids.asynchronous.iter().position(|one| *one == name);
        let number = place.expect("the layout has the event") as u8;
        if self.ids.own_ids {
            return self.with(name, 3 + number, payload);
        }
        self.event(name, &[&[3, checkpoint, number], payload].concat())
    }

    /// A key, as the layout writes qcodes or keycodes.
    pub fn key(&mut self, code: u32, down: u8) -> &mut Self {
        let mut payload = vec![0, 0, 0, 0];
        if self.ids.qcodes > 0 {
            payload.extend(1_u32.to_be_bytes());
        }
        payload.extend(code.to_be_bytes());
        payload.push(down);
        self.asynchronous("ASYNC_INPUT", &payload)
    }

    /// A key by number.
    pub fn key_number(&mut self, number: u64, down: u8) -> &mut Self {
        let mut payload = vec![0; 8];
        payload.extend(number.to_be_bytes());
        payload.push(down);
        self.asynchronous("ASYNC_INPUT", &payload)
    }

    /// A button.
    pub fn button(&mut self, button: u32, down: u8) -> &mut Self {
        let payload = [&1_u32.to_be_bytes()[..], &button.to_be_bytes(), &[down]].concat();
        self.asynchronous("ASYNC_INPUT", &payload)
    }

    /// A pointer: kind 2 moves, kind 3 stands.
    pub fn pointer(&mut self, kind: u32, axis: u32, value: i64) -> &mut Self {
        let payload = [&kind.to_be_bytes()[..], &axis.to_be_bytes(), &value.to_be_bytes()].concat();
        self.asynchronous("ASYNC_INPUT", &payload)
    }

    /// A touch.
    pub fn touch(&mut self, kind: u32, axis: u32) -> &mut Self {
        let payload = [
            &4_u32.to_be_bytes()[..],
            &kind.to_be_bytes(),
            &1_i64.to_be_bytes(),
            &2_i64.to_be_bytes(),
            &axis.to_be_bytes(),
            &300_i64.to_be_bytes(),
        ];
        self.asynchronous("ASYNC_INPUT", &payload.concat())
    }

    /// INPUT_SYNC.
    pub fn sync(&mut self) -> &mut Self {
        self.asynchronous("ASYNC_INPUT_SYNC", &[])
    }

    /// CHAR_READ.
    pub fn char_read(&mut self, device: u8, bytes: &[u8]) -> &mut Self {
        self.asynchronous("ASYNC_CHAR_READ", &[vec![device], array(bytes)].concat())
    }

    /// NET.
    pub fn net(&mut self, filter: u8, flags: u32, packet: &[u8]) -> &mut Self {
        let payload = [vec![filter], flags.to_be_bytes().to_vec(), array(packet)].concat();
        self.asynchronous("ASYNC_NET", &payload)
    }

    /// END alone.
    pub fn end(&mut self) -> &mut Self {
        self.with("END", self.ids.end, &[])
    }

    /// Returns the events that end a log of the layout.
    pub fn close(&mut self) -> &mut Self {
        if let Some(signal) = self.ids.signal {
            self.with("SHUTDOWN+HOST_SIGNAL", signal, &[]);
        }
        self.end()
    }

    /// The bytes of [`Log::close`].
    pub fn closing(&self) -> Vec<u8> {
        self.ids.signal.into_iter().chain([self.ids.end]).collect()
    }

    /// The machine starts: what every log begins with.
    pub fn start(&mut self) -> &mut Self {
        self.host().virtual_rt().checkpoint("CP_INIT").host();
        self.checkpoint("CP_RESET").host()
    }

    /// Something usual, chosen by a number.
    pub fn tick(&mut self, number: usize) -> &mut Self {
        let warp = self.ids.checkpoints()[0];
        match number % 5 {
            0 => self.instruction(1000 + number as u32).exception(),
            1 => self.instruction(77).checkpoint(warp).virtual_rt(),
            2 => self.checkpoint("CP_CLOCK_HOST").host(),
            3 => self.checkpoint("CP_CLOCK_VIRTUAL_RT").virtual_rt(),
            _ => self.checkpoint("CP_CLOCK_VIRTUAL").instruction(5).interrupt(),
        };
        if number % 5 == 4 { self.instruction(9).host() } else { self }
    }

    /// The first `len` bytes with the version that a killed recorder leaves.
    pub fn killed(&self, len: usize) -> Vec<u8> {
        let mut bytes = self.bytes[..len].to_vec();
        let version = bytes.len().min(4);
        bytes[..version].fill(0);
        bytes
    }

    /// Returns the repair of the first `len` bytes, which contain the header: the complete events,
    /// without those at the end after which a guest needs another one, and the closing.
    pub fn mended(&self, len: usize) -> Vec<u8> {
        let whole: Vec<&Mark> = self.marks.iter().filter(|mark| mark.end <= len).collect();
        if whole.last().is_some_and(|mark| mark.name == "END") {
            return self.bytes[..len].to_vec();
        }
        self.close_after(&whole)
    }

    /// Returns whether a log that is irregular from `at` on is repaired: as [`Log::mended`],
    /// perhaps without events of the 64 bytes before it.
    pub fn is_mended_before(&self, at: usize, repaired: &[u8]) -> bool {
        (at.saturating_sub(64)..=at).any(|at| {
            let whole: Vec<&Mark> = self.marks.iter().filter(|mark| mark.end <= at).collect();
            self.close_after(&whole) == repaired
        })
    }

    /// Returns the offset after the last reading of a clock before `at`.
    pub fn last_clock_before(&self, at: usize) -> usize {
        let clocks = self.marks.iter().filter(|mark| mark.name.starts_with("CLOCK"));
        clocks.rev().find(|mark| mark.end <= at).map_or(12, |mark| mark.end)
    }

    fn close_after(&self, whole: &[&Mark]) -> Vec<u8> {
        let demands = ["INSTRUCTION", "CP_CLOCK_VIRTUAL", "AUDIO_OUT"];
        let kept = whole.iter().rev().find(|mark| !demands.contains(&mark.name));
        let cut = kept.map_or(12, |mark| mark.end);
        if kept.is_some_and(|mark| mark.name == "SHUTDOWN+HOST_SIGNAL") {
            return [&self.bytes[..cut], &[self.ids.end]].concat();
        }
        [&self.bytes[..cut], &self.closing()[..]].concat()
    }
}

/// u32 length and bytes.
pub fn array(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_be_bytes()[..], bytes].concat()
}
