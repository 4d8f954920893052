//! Sound traces: every model, every state, every kind of metadata.

use super::{Stream, Thread, Trace};

/// A sound trace.
#[derive(Clone, Debug)]
pub struct Clean {
    /// Its name: the feature that it shows.
    pub name: &'static str,
    /// The trace.
    pub trace: Trace,
}

/// Returns the sound trace with this name.
///
/// # Panics
///
/// If no trace has the name.
pub fn by_name(name: &str) -> Trace {
    clean().into_iter().find(|clean| clean.name == name).unwrap().trace
}

fn one(thread: Thread, stream: Stream) -> Trace {
    Trace::of(&thread, stream)
}

fn thread() -> Thread {
    Thread::new(7, 7)
}

/// Returns all sound traces.
pub fn clean() -> Vec<Clean> {
    let named = |(name, trace): (&'static str, Trace)| Clean { name, trace };
    let mut all: Vec<Clean> = single().into_iter().map(named).collect();
    all.extend(several().into_iter().map(named));
    all
}

/// Traces of one thread.
fn single() -> Vec<(&'static str, Trace)> {
    let begun = || Stream::default().begin(0);
    vec![
        ("smallest", one(thread(), begun().end())),
        (
            "thread_states",
            one(
                thread(),
                begun().plain(&["OHc", "OHp", "OHw", "OHr", "OHp", "OHr", "OHc", "OB."]).end(),
            ),
        ),
        (
            "affinity_and_flush",
            one(
                thread().cpus(&[(0, 4), (1, 5)]),
                begun()
                    .ids("OAs", &[1])
                    .ids("OAs", &[1])
                    .ids("OAs", &[u32::MAX])
                    .plain(&["OF[", "OF]", "OU[", "OU]"])
                    .end()
                    .plain(&["OF[", "OF]"]),
            ),
        ),
        (
            "marks",
            one(
                thread().more(
                    "mark",
                    concat!(
                        r#"{"3": {"title": "one", "chan_type": "single", "#,
                        r#""labels": {"5": "five"}}, "#,
                        r#""9": {"title": "many", "chan_type": "stack"}}"#
                    ),
                ),
                begun()
                    .mark("OM=", 5, 3)
                    .mark("OM=", 5, 3)
                    .mark("OM[", 1, 9)
                    .mark("OM[", 1, 9)
                    .mark("OM]", 1, 9)
                    .mark("OM]", 1, 9)
                    .end(),
            ),
        ),
        (
            "nosv_tasks",
            one(
                thread().require("nosv", "2.7.0"),
                begun()
                    .plain(&["VHw", "VS[", "VSn", "VPr", "VPp"])
                    .kind("VYc", 1, "first")
                    .kind("VYc", 2, "")
                    .ids("VTc", &[1, 1])
                    .ids("VTc", &[2, 2])
                    .ids("VTC", &[3, 2])
                    .ids("VTx", &[1, 0])
                    .plain(&["VAs", "VAS", "VAp"])
                    .ids("VTp", &[1, 0])
                    .ids("VTx", &[2, 0])
                    .ids("VTe", &[2, 0])
                    .ids("VTx", &[3, 1])
                    .ids("VTe", &[3, 1])
                    .ids("VTr", &[1, 0])
                    .plain(&["VAP"])
                    .ids("VTe", &[1, 0])
                    .ids("VTx", &[1, 0])
                    .ids("VTe", &[1, 0])
                    .plain(&["VHW"])
                    .end(),
            ),
        ),
        (
            "counters",
            one(
                Thread {
                    other: vec![(
                        "nosv",
                        concat!(
                            r#"{"hwc": {"0": {"name": "cycles"}, "1": {"name": "instructions"}}, "#,
                            r#""can_breakdown": true}"#
                        )
                        .to_string(),
                    )],
                    ..thread().require("nosv", "2.7.0")
                },
                begun().jumbo("VWC", &[1; 16]).end(),
            ),
        ),
        (
            "nanos6_tasks",
            one(
                thread().require("nanos6", "1.1.0"),
                begun()
                    .plain(&["6Hw", "6W[", "6Wt", "6S@", "6Pr"])
                    .kind("6Yc", 1, "t")
                    .ids("6Tc", &[1, 1])
                    .ids("6Tc", &[2, 1])
                    .ids("6Tx", &[1])
                    .plain(&["6Bb"])
                    .ids("6Tp", &[1])
                    .ids("6Tr", &[1])
                    .ids("6Tx", &[2])
                    .ids("6Te", &[2])
                    .plain(&["6BB"])
                    .ids("6Te", &[1])
                    .plain(&["6WT", "6W]", "6HW"])
                    .end(),
            ),
        ),
        (
            "openmp",
            one(
                thread().require("openmp", "1.2.0"),
                begun()
                    .plain(&["PH[", "PBs", "PBS", "PT["])
                    .kind("POc", 1, "same")
                    .kind("POc", 2, "same")
                    .ids("PPc", &[1, 1])
                    .ids("PPx", &[1])
                    .ids("PQx", &[1])
                    .ids("PQe", &[2])
                    .ids("PPe", &[1])
                    .ids("PPx", &[1])
                    .ids("PPe", &[1])
                    .plain(&["PT]", "PH]"])
                    .end(),
            ),
        ),
        (
            "libraries",
            one(
                thread()
                    .require("mpi", "1.0.0")
                    .require("tampi", "1.0.0")
                    .require("nodes", "1.0.0"),
                begun().plain(&["MUi", "MUI", "TLi", "TGc", "TGC", "TLI", "DR[", "DR]"]).end(),
            ),
        ),
        (
            "kernel",
            one(
                thread().require("kernel", "1.0.0"),
                begun().plain(&["KCO", "KCI", "KCO", "KCI"]).end(),
            ),
        ),
        (
            "foreign_model",
            one(
                thread().require("private", "1.0.0"),
                begun().with("txx", b"private").jumbo("tyy", b"").end(),
            ),
        ),
        (
            "comments",
            one(thread(), begun().end()).replace(
                "stream.json",
                "\"version\": 3,",
                "// of the metadata\n    \"version\": 3, /* since 1.11 */",
            ),
        ),
    ]
}

/// Traces of several threads.
fn several() -> Vec<(&'static str, Trace)> {
    let two = || (Thread::new(7, 7).cpus(&[(0, 0), (1, 1)]), Thread::new(7, 8).cpus(&[]));
    let (first, second) = two();
    let shared = Trace::of(
        &first.clone().require("nosv", "2.7.0"),
        Stream::default()
            .begin(0)
            .kind("VYc", 1, "t")
            .ids("VTc", &[1, 1])
            .ids("VTx", &[1, 0])
            .ids("VTe", &[1, 0])
            .plain(&["OHp"])
            .wait(5_000)
            .plain(&["OHr"])
            .end(),
    )
    .and(
        &second,
        Stream::at(2_000)
            .begin(0)
            .ids("VTx", &[1, 0])
            .ids("VTe", &[1, 0])
            .ids("OAs", &[1])
            .ids("OAr", &[1, 7])
            .ids("OAr", &[0, 7])
            .end(),
    );
    let ranked = |pid: u32, rank: u32| {
        let thread = Thread::new(pid, pid).cpus(&[(rank, rank)]);
        thread.more("rank", rank.to_string()).more("nranks", "2")
    };
    let ranks = Trace::of(&ranked(7, 0), Stream::default().begin(0).end())
        .and(&ranked(9, 1), Stream::default().begin(1).end());
    let far = Thread { loom: "other.1".to_string(), ..Thread::new(3, 3) };
    let gate = 7_200_000_000_000;
    let hosts = Trace::of(&Thread::new(7, 7), Stream::default().begin(0).end())
        .and(&far, Stream::at(gate).begin(0).end())
        .put(
            "clock-offsets.txt",
            Some(
                format!(
                    "rank hostname offset_median offset_mean offset_std\n0 node 0 0 0\n\
                     1 other -{gate} 0 0\n"
                )
                .into_bytes(),
            ),
        );
    vec![("two_threads", shared), ("two_ranks", ranks), ("two_hosts", hosts)]
}

/// Returns a trace in the layout of libovni 1.5 to 1.10.
pub fn version2() -> Trace {
    let of_thread = r#"{
    "version": 2,
    "ovni": {
        "lib": {
            "version": "1.9.1",
            "commit": "unknown"
        },
        "require": {
            "ovni": "1.0.0"
        },
        "finished": 1
    }
}"#;
    version1().put("loom.node.0/proc.7/thread.7.json", Some(of_thread.into()))
}

/// Returns a trace in the layout of libovni 1.0 to 1.4.
pub fn version1() -> Trace {
    let of_process = r#"{"version": 1, "app_id": 1, "rank": 0, "nranks": 1,
        "cpus": [{"index": 0, "phyid": 4}, {"index": 1, "phyid": 5}]}"#;
    Trace::default()
        .put("loom.node.0/proc.7/metadata.json", Some(of_process.into()))
        .put("loom.node.0/proc.7/thread.7.obs", Some(Stream::default().begin(0).end().bytes))
        .put("loom.node.0/proc.7/thread.7/stream.json", None)
}
