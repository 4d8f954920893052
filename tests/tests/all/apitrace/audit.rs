//! `audit` of traces: private values of calls.

use tracemend::{AuditRequest, FileSet, Options};
use tracemend_tests::forge::apitrace::{Container, Detail, Stream, Value};

#[test]
fn the_source_of_a_shader_that_a_call_returns_is_private() {
    let mut stream = Stream::new(6);
    stream.name(1, "glGetShaderSource", &["shader", "source"]);
    let call = stream.enter(0, 1, 2, &[Detail::Arg(0, Value::Uint(3))]);
    let source = Value::String(b"#version 450\nvoid main() {}\n".to_vec());
    stream.leave(call, &[Detail::Arg(1, source)]);
    let bytes = Container::Snappy.file(&stream.bytes);
    let files = FileSet::single("app.trace", &bytes);
    let report = tracemend::audit(&files, &Options::default(), &AuditRequest::default());
    let codes: Vec<_> = report.counts().keys().copied().collect();
    assert_eq!(codes, ["AU1014"]);
}
