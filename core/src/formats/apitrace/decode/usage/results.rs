//! Results that apitrace converts to a number or an address.
//!
//! apitrace aborts on a value that it cannot convert (`lib/trace/trace_model.cpp`). dump converts
//! the results of glGetError, since it hides calls without an error (`trace_parser.cpp`:
//! `adjust_call_flags`). replay converts those that it compares, and those that later calls pass as
//! arguments (`glretrace.py`, `glretrace_*.cpp`, `retrace_stdc.cpp`).

use super::ID_MAX;
use crate::formats::apitrace::decode::grammar::ValueToken;
use crate::kit::num::to_usize;

/// The type that a result is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// A number with a sign.
    Signed,
    /// A number without a sign.
    Unsigned,
    /// An address.
    Address,
}

/// The functions with such a result.
const SIGNED: [&str; 14] = [
    "glGetError",
    "glCheckFramebufferStatus",
    "glCheckFramebufferStatusEXT",
    "glCheckNamedFramebufferStatus",
    "glCheckNamedFramebufferStatusEXT",
    "glClientWaitSync",
    "glGetAttribLocation",
    "glGetAttribLocationARB",
    "glGetProgramResourceLocation",
    "glGetSubroutineUniformLocation",
    "glGetUniformLocation",
    "glGetUniformLocationARB",
    "eglChooseConfig",
    "eglMakeCurrent",
];
const UNSIGNED: [&str; 18] = [
    "glCreateProgram",
    "glCreateProgramObjectARB",
    "glCreateShader",
    "glCreateShaderObjectARB",
    "glCreateShaderProgramEXT",
    "glCreateShaderProgramv",
    "glCreateShaderProgramvEXT",
    "glGenLists",
    "glGetImageHandleARB",
    "glGetImageHandleNV",
    "glGetSubroutineIndex",
    "glGetTextureHandleARB",
    "glGetTextureHandleNV",
    "glGetTextureSamplerHandleARB",
    "glGetTextureSamplerHandleNV",
    "glGetUniformBlockIndex",
    "glNewBufferRegion",
    "glXCreatePbuffer",
];
const ADDRESSES: [&str; 19] = [
    "malloc",
    "eglCreateContext",
    "eglCreatePbufferSurface",
    "eglCreateWindowSurface",
    "glFenceSync",
    "glFenceSyncAPPLE",
    "glImportSyncEXT",
    "glMapBuffer",
    "glMapBufferARB",
    "glMapBufferOES",
    "glMapBufferRange",
    "glMapBufferRangeEXT",
    "glMapNamedBuffer",
    "glMapNamedBufferEXT",
    "glMapNamedBufferRange",
    "glMapNamedBufferRangeEXT",
    "glXCreateContext",
    "glXCreateContextAttribsARB",
    "glXCreateNewContext",
];

impl Conversion {
    fn of(name: &[u8]) -> Option<Self> {
        let lists = [
            (Self::Signed, SIGNED.as_slice()),
            (Self::Unsigned, UNSIGNED.as_slice()),
            (Self::Address, ADDRESSES.as_slice()),
        ];
        let has_name = |names: &[&str]| names.iter().any(|one| one.as_bytes() == name);
        lists.into_iter().find(|(_, names)| has_name(names)).map(|(conversion, _)| conversion)
    }

    /// Whether apitrace can convert a value that begins with this token.
    pub fn takes(self, token: ValueToken<'_>) -> bool {
        match token {
            // The second of two forms is converted, which follows.
            ValueToken::Null | ValueToken::Opaque(_) | ValueToken::Repr => true,
            ValueToken::Bool(_)
            | ValueToken::Float(_)
            | ValueToken::Double(_)
            | ValueToken::Enum(..)
            | ValueToken::Bitmask(_) => self != Self::Address,
            ValueToken::Negative(value) => match self {
                Self::Signed => true,
                Self::Unsigned => value == 0,
                Self::Address => false,
            },
            ValueToken::Unsigned(value) => match self {
                Self::Signed => i64::try_from(value).is_ok(),
                Self::Unsigned => true,
                Self::Address => false,
            },
            _ => false,
        }
    }

    /// Returns the word for the values that can be converted.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Signed => "a number",
            Self::Unsigned => "a number that is not negative",
            Self::Address => "an address",
        }
    }
}

/// The conversions of results by the ids of functions.
#[derive(Debug, Default)]
pub struct Results(Vec<Option<Conversion>>);

impl Results {
    pub(super) fn add_function(&mut self, id: u64, name: &[u8]) {
        let index = to_usize(id.min(ID_MAX));
        if index >= self.0.len() {
            self.0.resize(index.saturating_add(1), None);
        }
        if let Some(cell) = self.0.get_mut(index) {
            *cell = Conversion::of(name);
        }
    }

    /// Returns the conversion of the results of a function.
    #[inline(always)]
    pub fn conversion(&self, function: u64) -> Option<Conversion> {
        self.0.get(to_usize(function)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_as_apitrace_converts_them() {
        let mut results = Results::default();
        for (id, name) in [(7, "glGetError"), (8, "glGenLists"), (9, "malloc"), (10, "free")] {
            results.add_function(id, name.as_bytes());
        }
        let conversions = [7, 8, 9].map(|id| results.conversion(id).unwrap());
        assert_eq!((results.conversion(10), results.conversion(1 << 40)), (None, None));
        let taken = |token| conversions.map(|conversion| conversion.takes(token));
        assert_eq!(taken(ValueToken::Null), [true, true, true]);
        assert_eq!(taken(ValueToken::Opaque(7)), [true, true, true]);
        assert_eq!(taken(ValueToken::Unsigned(7)), [true, true, false]);
        assert_eq!(taken(ValueToken::Unsigned(1 << 63)), [false, true, false]);
        assert_eq!(taken(ValueToken::Negative(1)), [true, false, false]);
        assert_eq!(taken(ValueToken::Float(0.5)), [true, true, false]);
        assert_eq!(taken(ValueToken::String), [false, false, false]);
        assert_eq!(taken(ValueToken::Array(2)), [false, false, false]);
    }
}
