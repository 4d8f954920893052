//! Streams that are set aside: their files get names that the tools of ovni do not look for.

use crate::formats::ovni::decode::files::{JSON, OBS, StreamFiles};
use crate::model::edit::{Fix, Safety};

/// Ending of a file that was set aside.
const ENDING: &str = "copy";

/// Returns the fix that sets a stream aside. No byte is dropped, but if the stream is not a copy,
/// its events are lost to the tools.
pub fn set_aside(files: &StreamFiles, is_copy: bool) -> Option<Fix> {
    let join = |leaf: &str| match files.dir.as_str() {
        "" => format!("{leaf}.{ENDING}"),
        dir => format!("{dir}/{leaf}.{ENDING}"),
    };
    let json = files.present_json().map(|index| (index, join(JSON)));
    let obs = files.present_obs().map(|index| (index, join(OBS)));
    let renames: Vec<(u32, String)> = json.into_iter().chain(obs).collect();
    let safety = if is_copy { Safety::Synthetic } else { Safety::Lossy };
    let text = format!("rename its files to {JSON}.{ENDING} and {OBS}.{ENDING}");
    (!renames.is_empty()).then(|| Fix { renames, ..Fix::new(safety, text, Vec::new()) })
}
