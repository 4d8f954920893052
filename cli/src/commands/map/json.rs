//! A map as one JSON document: the contract is `schema/map.schema.json`.
//!
//! The document is written step by step, so that a map of any size takes no memory.

use serde::Serialize;
use tracemend::{FormatId, MapStep, Region};

use crate::kit::exit::{Exit, Failure};

/// Version of the layout.
const SCHEMA: &str = "tracemend.map.v1";

/// A region as it is written.
#[derive(Serialize)]
struct Entry<'r> {
    start: u64,
    end: u64,
    kind: &'static str,
    name: &'r str,
    meaning: Option<&'r str>,
    value: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    children: Option<Vec<Entry<'r>>>,
}

impl<'r> Entry<'r> {
    fn new(region: &'r Region) -> Self {
        Self {
            children: Some(region.children.iter().map(Self::new).collect()),
            ..Self::alone(region)
        }
    }

    /// The region without its children.
    fn alone(region: &'r Region) -> Self {
        let span = region.span;
        Self {
            start: span.start(),
            end: span.end(),
            kind: region.kind.name(),
            name: &region.name,
            meaning: region.meaning.as_deref(),
            value: region.value.as_deref(),
            children: None,
        }
    }
}

fn write(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| Failure::new(Exit::Io, error.to_string()))
}

/// The text before the layers.
pub(super) fn head(name: &str, format: FormatId) -> Result<String, Failure> {
    let tool = tracemend::json::TOOL;
    let (name, format) = (write(&name)?, write(&format.name())?);
    Ok(format!(
        "{{\"schema\": \"{SCHEMA}\", \"tool\": \"{tool}\", \"recordings\": [{{\n\"path\": {name}, \
         \"format\": {format}, \"files\": ["
    ))
}

/// The regions that contain one byte, the outermost first.
pub(super) fn path(name: &str, format: FormatId, regions: &[Region]) -> Result<String, Failure> {
    let entries: Vec<Entry<'_>> = regions.iter().map(Entry::alone).collect();
    let text = head(name, format)?;
    Ok(format!("{text}], \"layers\": [], \"at\": {}\n}}]}}\n", write(&entries)?))
}

/// Writes the steps of a map: those of the files, or those of the bytes that they expand to. The
/// others are left out, so a document takes two maps and no memory.
pub(super) struct Writer {
    is_expanded: bool,
    /// Whether the step is in a layer that is written.
    is_wanted: bool,
    has_layer: bool,
    /// Whether the lists of regions that are open have one.
    open: Vec<bool>,
}

impl Writer {
    pub(super) const fn new(is_expanded: bool) -> Self {
        Self { is_expanded, is_wanted: false, has_layer: false, open: Vec::new() }
    }

    /// Ends the layer that is open.
    pub(super) fn end_layer(&mut self) -> &'static str {
        let text = if self.open.is_empty() { "" } else { "]}" };
        self.open.clear();
        text
    }

    pub(super) fn step(&mut self, step: MapStep<'_>) -> Result<String, Failure> {
        if let MapStep::Layer(layer) = step {
            self.is_wanted = layer.layer.is_stored() != self.is_expanded;
            if !self.is_wanted {
                return Ok(self.end_layer().to_string());
            }
            let end = self.end_layer();
            let between = if self.has_layer { "," } else { "" };
            self.has_layer = true;
            self.open.push(false);
            let (name, length) = (write(&layer.name)?, layer.length);
            let start = format!("{end}{between}\n{{\"name\": {name}, \"length\": {length}");
            return Ok(start + ", \"regions\": [");
        }
        if !self.is_wanted {
            return Ok(String::new());
        }
        let has_one = self.open.last_mut().is_some_and(|last| std::mem::replace(last, true));
        let between = if has_one { ",\n" } else { "\n" };
        Ok(match step {
            MapStep::Region(region) => format!("{between}{}", write(&Entry::new(region))?),
            MapStep::Open(region) => {
                self.open.push(false);
                let text = write(&Entry::alone(region))?;
                let text = text.strip_suffix('}').unwrap_or(&text);
                format!("{between}{text},\"children\":[")
            }
            MapStep::Close => {
                self.open.pop();
                "]}".to_string()
            }
            _ => String::new(),
        })
    }
}
