//! Calls between glBegin and glEnd: vertices and their attributes, and no other function of GL.

use super::{Misuse, push_misuse};
use crate::formats::apitrace::decode::repeats::FirstUse;
use crate::kit::num::to_usize;

/// Threads that may be between glBegin and glEnd at once; a driver has far fewer.
const THREADS_MAX: usize = 64;
/// How the names begin of functions that may be called there.
const INSIDE: [&str; 16] = [
    "glVertex",
    "glColor",
    "glNormal",
    "glTexCoord",
    "glMultiTexCoord",
    "glIndex",
    "glSecondaryColor",
    "glFogCoord",
    "glEvalCoord",
    "glEvalPoint",
    "glArrayElement",
    "glMaterial",
    "glEdgeFlag",
    "glCallList",
    "glUniform",
    "glPrimitive",
];

/// What a function has to do with glBegin and glEnd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    /// Nothing: it is not one of GL, or unknown, or may be called everywhere.
    #[default]
    Any,
    Begin,
    End,
    /// It may not be called between the two.
    Outside,
}

impl Role {
    fn of(name: &[u8]) -> Self {
        let is_inside = INSIDE.iter().any(|start| name.starts_with(start.as_bytes()));
        let is_gl = name.strip_prefix(b"gl").and_then(<[u8]>::first);
        match name {
            b"glBegin" => Self::Begin,
            b"glEnd" => Self::End,
            _ if !is_inside && is_gl.is_some_and(|next| *next != b'X') => Self::Outside,
            _ => Self::Any,
        }
    }
}

/// A thread that is between glBegin and glEnd.
#[derive(Clone, Copy, Debug)]
struct Open {
    thread: u64,
    /// The call of glBegin.
    begin: u64,
    /// Whether a call was reported: one lost glEnd is one finding.
    is_reported: bool,
}

/// The threads that are between glBegin and glEnd.
#[derive(Debug, Default)]
pub struct Primitives {
    /// By the ids of functions.
    roles: Vec<Role>,
    open: Vec<Open>,
    found: Vec<Misuse>,
}

impl Primitives {
    pub(super) fn add_function(&mut self, id: u64, name: &[u8]) {
        let index = to_usize(id);
        if index >= self.roles.len() {
            self.roles.resize(index.saturating_add(1), Role::Any);
        }
        if let Some(role) = self.roles.get_mut(index) {
            *role = Role::of(name);
        }
    }

    /// Adds a call of a thread.
    #[inline(always)]
    pub fn add_call(&mut self, function: u64, thread: u64, first: FirstUse) {
        let role = self.roles.get(to_usize(function)).copied().unwrap_or_default();
        let is_plain = role == Role::Any || (role == Role::Outside && self.open.is_empty());
        if !is_plain {
            self.judge(role, thread, first);
        }
    }

    fn judge(&mut self, role: Role, thread: u64, first: FirstUse) {
        let has_room = self.open.len() < THREADS_MAX;
        let open = self.open.iter_mut().find(|open| open.thread == thread);
        match (role, open) {
            (Role::Begin, None) if has_room => {
                self.open.push(Open { thread, begin: first.call, is_reported: false });
            }
            (Role::End, Some(_)) => self.open.retain(|open| open.thread != thread),
            (Role::End, None) => {
                push_misuse(&mut self.found, first, || "glEnd without a glBegin".to_string());
            }
            (Role::Begin | Role::Outside, Some(open)) if !open.is_reported => {
                open.is_reported = true;
                let begin = open.begin;
                push_misuse(&mut self.found, first, || {
                    format!("call is between the glBegin of call {begin} and its glEnd")
                });
            }
            _ => {}
        }
    }

    /// Returns the calls that are where they may not be.
    pub fn found(&self) -> &[Misuse] {
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(calls: &[(u64, u64)]) -> Vec<u64> {
        let mut primitives = Primitives::default();
        for (id, name) in (0..).zip(["glBegin", "glEnd", "glVertex3f", "glClear", "glXSwap"]) {
            primitives.add_function(id, name.as_bytes());
        }
        for (call, (function, thread)) in (0..).zip(calls) {
            let first = FirstUse { call, argument: None, at: call, end: call + 1 };
            primitives.add_call(*function, *thread, first);
        }
        assert!(primitives.open.len() <= THREADS_MAX);
        primitives.found().iter().map(|one| one.at.call).collect()
    }

    #[test]
    fn only_vertices_are_between_begin_and_end_of_a_thread() {
        assert_eq!(found(&[(3, 0), (0, 0), (2, 0), (3, 1), (4, 0), (1, 0), (3, 0)]), [0_u64; 0]);
        assert_eq!(found(&[(0, 0), (2, 0), (3, 0), (3, 0), (1, 0), (3, 0)]), [2]);
        assert_eq!(found(&[(0, 0), (0, 0)]), [1]);
        assert_eq!(found(&[(0, 0), (1, 0), (1, 0)]), [2]);
        let many: Vec<(u64, u64)> = (0..1000).map(|thread| (0, thread)).collect();
        assert_eq!(found(&many), [0_u64; 0]);
    }
}
