//! Rules and messages for faults of the stream.

use crate::formats::apitrace::decode::grammar::{
    Space, StreamError, SymbolUse, TokenWarning, Unlisted,
};
use crate::formats::apitrace::decode::tracker::warnings::WarningKind;
use crate::formats::apitrace::layout::{ID_MAX, UINT_LEN_MAX};
use crate::formats::apitrace::rules;
use crate::kit::num::to_u64;
use crate::kit::words::{byte_count, plural};
use crate::model::Rule;
use crate::model::edit::Safety;

/// The fix for a warning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WarningFix {
    /// It drops the part, which is named here.
    Drop(&'static str),
    /// It writes this index of an argument.
    Index(u64),
    /// It writes null in the place of the result.
    Null,
    /// It writes this number in the leave, as a fix of this class.
    Number(u64, Safety),
}

/// The rule that a warning breaks, the message, and what a repair does.
pub(super) type Described = (&'static Rule, String, Option<WarningFix>);

pub(super) fn describe_warning(kind: WarningKind) -> Described {
    match kind {
        WarningKind::ArgumentIndex { index, count, missing } => (
            &rules::ARGUMENT_INDEX,
            format!(
                "argument index {index} is out of range: the function has {}",
                plural(count, "argument")
            ),
            Some(missing.map_or(WarningFix::Drop("the argument"), WarningFix::Index)),
        ),
        WarningKind::ArgumentOrder(index) => (
            &rules::ARGUMENT_ORDER,
            format!("argument {index} follows one with the same or a higher index"),
            None,
        ),
        WarningKind::Result(conversion) => (
            &rules::RESULT_TYPE,
            format!("result cannot be converted to {}", conversion.expected()),
            Some(WarningFix::Null),
        ),
        WarningKind::NeverEntered(number) => (
            &rules::LEAVE_NEVER_ENTERED,
            format!("unexpected leave: call {number} was never entered"),
            Some(WarningFix::Drop("the leave")),
        ),
        WarningKind::LeftTwice(number) => (
            &rules::LEAVE_TWICE,
            format!("duplicate leave of call {number}"),
            Some(WarningFix::Drop("the leave")),
        ),
        WarningKind::WrongNumber { found, expected, is_certain } => (
            &rules::LEAVE_NUMBER_WRONG,
            format!("leave has the number {found}, but only call {expected} is open"),
            Some(WarningFix::Number(
                expected,
                if is_certain { Safety::Exact } else { Safety::Lossy },
            )),
        ),
        WarningKind::BlobText => (
            &rules::BLOB_AS_TEXT,
            "string `blob(N)` stands for the bytes of a blob, which are lost".to_string(),
            None,
        ),
        WarningKind::InvalidText => {
            (&rules::TEXT_NOT_UTF8, "string is not UTF-8 or contains a NUL".to_string(), None)
        }
        WarningKind::Property => {
            (&rules::PROPERTY_CONTROL, "property contains a control character".to_string(), None)
        }
        WarningKind::Token(warning) => describe_token_warning(warning),
    }
}

fn describe_token_warning(warning: TokenWarning) -> Described {
    match warning {
        TokenWarning::Overlong(len) => (
            &rules::INTEGER_OVERLONG,
            format!("integer takes {}, more than it needs", byte_count(to_u64(len))),
            None,
        ),
        TokenWarning::Oversized(len) => (
            &rules::INTEGER_OVERSIZED,
            format!("integer of {len} bytes is out of range: more than 64 bits"),
            None,
        ),
        TokenWarning::EnumValue(kind) => (
            &rules::ENUM_VALUE,
            format!("enum value has type {kind}, expected 3 or 4"),
            Some(WarningFix::Drop("the argument")),
        ),
        TokenWarning::NameNotUtf8(space) => {
            (&rules::NAME_INVALID, format!("{} name is not UTF-8", space.name()), None)
        }
        TokenWarning::NameControl(space) => (
            &rules::NAME_INVALID,
            format!("{} name contains a control character", space.name()),
            None,
        ),
        TokenWarning::ZeroFlag => {
            (&rules::ZERO_FLAG, "bitmask flag is 0, but it is not the first flag".to_string(), None)
        }
        TokenWarning::ThreadDetail => (
            &rules::THREAD_DETAIL,
            "unsupported call detail 3: the thread of the call".to_string(),
            Some(WarningFix::Drop("the detail")),
        ),
        TokenWarning::NameNotIdentifier => {
            (&rules::NAME_INVALID, "function name is not an identifier".to_string(), None)
        }
        TokenWarning::Unlisted(symbol, unlisted) => {
            let SymbolUse { space, id, is_negative, value } = symbol;
            let sign = if is_negative { "-" } else { "" };
            let (name, shown) = match space {
                Space::Bitmask => (space.name(), format!("{value:#x}")),
                _ => (space.name(), format!("{sign}{value}")),
            };
            let rule = match unlisted {
                Unlisted::Impossible => &rules::VALUE_IMPOSSIBLE,
                Unlisted::Unusual => &rules::VALUE_UNLISTED,
            };
            (rule, format!("{name} {id} has the value {shown}, which it does not list"), None)
        }
        TokenWarning::Flags(flags) => {
            (&rules::FLAGS_UNKNOWN, format!("unknown call flags {flags:#x}, expected 0x1"), None)
        }
    }
}

pub(super) fn describe_error(error: StreamError) -> (&'static Rule, String) {
    let rule = match error {
        StreamError::Count(..) => &rules::COUNT_RANGE,
        StreamError::Id(..) => &rules::ID_RANGE,
        StreamError::Depth(_) => &rules::NESTING_TOO_DEEP,
        _ => &rules::STREAM_DAMAGED,
    };
    let message = match error {
        StreamError::EventTag(tag) => format!("unknown event tag {tag:#04x}"),
        StreamError::DetailTag(tag) => format!("unknown call detail {tag:#04x}"),
        StreamError::ValueType(tag) => format!("unknown value type {tag:#04x}"),
        StreamError::FrameTag(tag) => format!("unknown stack frame detail {tag:#04x}"),
        StreamError::EnumType(tag) => {
            format!("value in an enum signature has type {tag:#04x}, expected 3 or 4")
        }
        StreamError::Count(field, value) => {
            format!("{} is {value}, expected at most {}", field.name(), field.max())
        }
        StreamError::StringPastEnd(missing) => {
            format!("truncated string: {} past the end of the stream", byte_count(missing))
        }
        StreamError::Id(space, id) => {
            format!("{} id is {id}, expected at most {ID_MAX}", space.name())
        }
        StreamError::UnterminatedInteger => {
            format!("unterminated integer: no last byte within {UINT_LEN_MAX} bytes")
        }
        StreamError::Depth(max) => format!("values are nested more than {max} levels deep"),
        StreamError::Properties => {
            "invalid properties: a name is not text or too long, or they do not end".to_string()
        }
        StreamError::MissingHeader => "missing header: the stream begins in its middle".to_string(),
        StreamError::Version(version) => format!("unknown version {version}"),
        StreamError::Thread(thread) => format!("thread number {thread} is out of range"),
        StreamError::Limit(limit, max) => {
            format!("limit reached: more than {max} {}", limit.unit)
        }
        StreamError::Name(space) => format!("invalid {} name", space.name()),
        StreamError::Zeros => "unexpected zeros: expected the arguments of a call".to_string(),
        StreamError::InconsistentCalls => {
            "inconsistent call numbers: the leaves do not match the open calls".to_string()
        }
    };
    (rule, message)
}
