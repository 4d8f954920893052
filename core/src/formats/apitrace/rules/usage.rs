//! How calls use their functions.

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    ARGUMENT_ORDER = Rule {
        code: "AT2017",
        name: "argument-order",
        severity: Severity::Warning,
        summary: "the arguments of an event are not in ascending order",
        problem: "The tracer writes the arguments of an event by ascending index, each once. Here \
            an argument follows one with the same or a higher index: one of the two indices is \
            damaged.",
        impact: "apitrace 11.1 shows the value under another argument, and `?` for the one that \
            is missing. replay passes 0 for that one.",
        remedy: Remedy::Next("The original index is unknown, so repair keeps the bytes. Compare \
            the call with another call of the same function."),
        source: "188 sound traces: no event of 6,050,000; measured with dump 11.1",
    };
    ARGUMENTS_UNUSUAL = Rule {
        code: "AT2018",
        name: "arguments-unusual",
        severity: Severity::Info,
        summary: "a call has other arguments than all other calls of its function",
        problem: "The tracer writes the same arguments in every enter of a function, mostly in \
            every leave, and always with values of the same type. One enter has other arguments \
            than at least 3 others, or one leave than at least 8 others, or a value has another \
            type than in at least 8 others. An index or a type is damaged, or the function failed \
            and returned nothing.",
        impact: "apitrace 11.1 shows `?` for an argument that is missing. replay passes 0 for it.",
        remedy: Remedy::Next("Nothing has to be done if the call failed. Otherwise compare it \
            with another call of the same function."),
        source: "188 sound traces: 9 of 6,050,000 events, all in a file that apitrace trim wrote",
    };
    PRIMITIVE_BROKEN = Rule {
        code: "AT2019",
        name: "primitive-broken",
        severity: Severity::Info,
        summary: "glBegin and glEnd do not pair up",
        problem: "Between glBegin and glEnd a thread passes vertices and their attributes. Here \
            another function is called there, or glEnd without a glBegin. An id is damaged, or \
            the program makes an error that GL reports as GL_INVALID_OPERATION.",
        impact: "replay gets errors from GL, and later draws may be missing.",
        remedy: Remedy::Next("Compare the calls around the place with another part of the trace \
            that draws the same."),
        source: "188 sound traces: none of 156,797 pairs; OpenGL 2.1, section 2.6.3",
    };
    BLOB_SIZE = Rule {
        code: "AT2020",
        name: "blob-size",
        severity: Severity::Info,
        summary: "the size of a blob does not match the arguments of its call",
        problem: "The tracer computes the size of a blob from the other arguments: the size of a \
            buffer, or width, height, depth, format and type of an image. Here the two differ: \
            one of the arguments is damaged, or the program sets up images in a way that the \
            check does not know.",
        impact: "replay reads past the end of a blob that is too small, and may crash.",
        remedy: Remedy::Next("The original value is unknown, so repair keeps the bytes. Compare \
            the call with another recording of the same program."),
        source: "188 sound traces: none of 348 such blobs; apitrace 11.1, lib/trace and \
            helpers/glsize.hpp",
    };
    RESULT_TYPE = Rule {
        code: "AT2021",
        name: "result-type",
        severity: Severity::Error,
        summary: "a result has a value that apitrace cannot convert",
        problem: "apitrace converts the results of some functions to a number or an address: dump \
            those of glGetError, replay those that it compares or that later calls pass as \
            arguments, such as contexts, shaders and mapped buffers. Here the result of such a \
            function is a string, an array or a structure, a number instead of an address, or a \
            number that is out of range. Its type is damaged.",
        impact: "apitrace 11.1 aborts (SIGABRT) at the call: dump at glGetError, replay at the \
            others. Calls after it are not shown.",
        remedy: Remedy::Fix("Replaces the result by null, which apitrace converts to 0; the call \
            and its arguments stay.\n\
            Class: lossy. Cost: the result.\n\
            Run:\n\
            \x20 tracemend repair app.trace -o repaired.trace"),
        source: "apitrace 11.1, lib/trace/trace_model.cpp: toSInt, toUInt, toUIntPtr; measured \
            with dump and replay",
    };
}
