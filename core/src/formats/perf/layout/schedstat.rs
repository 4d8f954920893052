//! The counts of SCHEDSTAT_DOMAIN, by the version of `/proc/schedstat`.
//!
//! A domain has counts for each state of a CPU that balances its load, and common ones. Version 16
//! exchanged the first two states; version 17 divided the imbalance.
//!
//! Source: `schedstat-v15.h`, `schedstat-v16.h` and `schedstat-v17.h` of
//! `tools/lib/perf/include/perf`.

use crate::kit::row::Form::U32;
use crate::kit::row::Row;

/// Returns the counts of a version, in their order; empty if it is unknown.
pub const fn domain_counts(version: u16) -> &'static [&'static Row] {
    match version {
        15 => &[
            IDLE,
            IDLE_IMBALANCE,
            IDLE_END,
            BUSY,
            BUSY_IMBALANCE,
            BUSY_END,
            NEWIDLE,
            NEWIDLE_IMBALANCE,
            NEWIDLE_END,
            COMMON,
        ],
        16 => &[
            BUSY,
            BUSY_IMBALANCE,
            BUSY_END,
            IDLE,
            IDLE_IMBALANCE,
            IDLE_END,
            NEWIDLE,
            NEWIDLE_IMBALANCE,
            NEWIDLE_END,
            COMMON,
        ],
        17 => &[
            BUSY,
            BUSY_IMBALANCES,
            BUSY_END,
            IDLE,
            IDLE_IMBALANCES,
            IDLE_END,
            NEWIDLE,
            NEWIDLE_IMBALANCES,
            NEWIDLE_END,
            COMMON,
        ],
        _ => &[],
    }
}

const IDLE: &Row = &[
    ("schedstat.idle_lb_count", U32),
    ("schedstat.idle_lb_balanced", U32),
    ("schedstat.idle_lb_failed", U32),
];
const IDLE_IMBALANCE: &Row = &[("schedstat.idle_lb_imbalance", U32)];
const IDLE_IMBALANCES: &Row = &[
    ("schedstat.idle_lb_imbalance_load", U32),
    ("schedstat.idle_lb_imbalance_util", U32),
    ("schedstat.idle_lb_imbalance_task", U32),
    ("schedstat.idle_lb_imbalance_misfit", U32),
];
const IDLE_END: &Row = &[
    ("schedstat.idle_lb_gained", U32),
    ("schedstat.idle_lb_hot_gained", U32),
    ("schedstat.idle_lb_nobusyq", U32),
    ("schedstat.idle_lb_nobusyg", U32),
];
const BUSY: &Row = &[
    ("schedstat.busy_lb_count", U32),
    ("schedstat.busy_lb_balanced", U32),
    ("schedstat.busy_lb_failed", U32),
];
const BUSY_IMBALANCE: &Row = &[("schedstat.busy_lb_imbalance", U32)];
const BUSY_IMBALANCES: &Row = &[
    ("schedstat.busy_lb_imbalance_load", U32),
    ("schedstat.busy_lb_imbalance_util", U32),
    ("schedstat.busy_lb_imbalance_task", U32),
    ("schedstat.busy_lb_imbalance_misfit", U32),
];
const BUSY_END: &Row = &[
    ("schedstat.busy_lb_gained", U32),
    ("schedstat.busy_lb_hot_gained", U32),
    ("schedstat.busy_lb_nobusyq", U32),
    ("schedstat.busy_lb_nobusyg", U32),
];
const NEWIDLE: &Row = &[
    ("schedstat.newidle_lb_count", U32),
    ("schedstat.newidle_lb_balanced", U32),
    ("schedstat.newidle_lb_failed", U32),
];
const NEWIDLE_IMBALANCE: &Row = &[("schedstat.newidle_lb_imbalance", U32)];
const NEWIDLE_IMBALANCES: &Row = &[
    ("schedstat.newidle_lb_imbalance_load", U32),
    ("schedstat.newidle_lb_imbalance_util", U32),
    ("schedstat.newidle_lb_imbalance_task", U32),
    ("schedstat.newidle_lb_imbalance_misfit", U32),
];
const NEWIDLE_END: &Row = &[
    ("schedstat.newidle_lb_gained", U32),
    ("schedstat.newidle_lb_hot_gained", U32),
    ("schedstat.newidle_lb_nobusyq", U32),
    ("schedstat.newidle_lb_nobusyg", U32),
];
const COMMON: &Row = &[
    ("schedstat.alb_count", U32),
    ("schedstat.alb_failed", U32),
    ("schedstat.alb_pushed", U32),
    ("schedstat.sbe_count", U32),
    ("schedstat.sbe_balanced", U32),
    ("schedstat.sbe_pushed", U32),
    ("schedstat.sbf_count", U32),
    ("schedstat.sbf_balanced", U32),
    ("schedstat.sbf_pushed", U32),
    ("schedstat.ttwu_wake_remote", U32),
    ("schedstat.ttwu_move_affine", U32),
    ("schedstat.ttwu_move_balance", U32),
];
