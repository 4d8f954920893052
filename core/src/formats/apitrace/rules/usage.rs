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
