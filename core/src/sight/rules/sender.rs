//! Rules about content that is private to whoever made a recording.

#![allow(missing_docs, reason = "the texts of a rule are its documentation")]

use crate::model::rule::rules;
use crate::model::{Remedy, Rule, Severity};

rules! {
    HOST_NAME = Rule {
        code: "AU1001",
        name: "host-name",
        severity: Severity::Info,
        summary: "the recording names the host",
        problem: "The recorder stores the name of the machine: perf in HOSTNAME, ovni in the name \
            of the loom.",
        impact: "Whoever has the recording knows the name of the machine.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, tools/perf/util/header.c: write_hostname; ovni 1.14, src/rt/ovni.c",
    };
    SYSTEM = Rule {
        code: "AU1002",
        name: "system",
        severity: Severity::Info,
        summary: "the recording describes the system",
        problem: "perf stores the release of the kernel, the version of perf, and the model of \
            the processor.",
        impact: "The release of a kernel shows which of its holes are open.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, tools/perf/util/header.c: write_osrelease, write_version, \
            write_cpudesc",
    };
    COMMAND_LINE = Rule {
        code: "AU1003",
        name: "command-line",
        severity: Severity::Info,
        summary: "the recording holds a command line",
        problem: "perf stores its own command line, apitrace that of the traced process. They \
            name files, hosts and options.",
        impact: "Whoever has the recording knows which program ran with which arguments.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, tools/perf/util/header.c: write_cmdline; apitrace 11.1, \
            lib/trace/trace_writer_local.cpp",
    };
    SECRET = Rule {
        code: "AU1004",
        name: "secret",
        severity: Severity::Info,
        summary: "a text looks like a secret",
        problem: "The text has a word such as password= or token=, the form of a key of a \
            service, or a password in a URL.",
        impact: "Whoever has the recording may be able to use it.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "the words and the forms of keys in core/src/sight/text.rs",
    };
    USER_NAME = Rule {
        code: "AU1005",
        name: "user-name",
        severity: Severity::Info,
        summary: "a text names a user",
        problem: "A path goes through the folder of a user, which lies in `home` on Linux and in \
            `Users` elsewhere.",
        impact: "Whoever has the recording knows the account.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "Filesystem Hierarchy Standard 3.0, /home",
    };
    PROCESS = Rule {
        code: "AU1006",
        name: "process",
        severity: Severity::Info,
        summary: "the recording names processes",
        problem: "Names and ids of processes and threads: perf in COMM, ovni in its metadata, \
            apitrace in its properties.",
        impact: "Whoever has the recording knows which programs ran.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_COMM; ovni 1.14, stream.json; apitrace 11.1, process.name",
    };
    KERNEL_ADDRESS = Rule {
        code: "AU1007",
        name: "kernel-address",
        severity: Severity::Info,
        summary: "the recording holds addresses of the kernel",
        problem: "Samples, maps and symbols of the kernel show where it lies in memory.",
        impact: "They defeat the random layout of the kernel (KASLR) until the machine boots \
            again.",
        remedy: Remedy::Next("Move them before you share the recording, if the recipient must not \
            know it. Each map gets a place that follows from the order and the lengths of the \
            maps, and addresses keep their offsets in their maps:\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_MMAP of the kernel, PERF_RECORD_KSYMBOL, callchains",
    };
    MEMORY = Rule {
        code: "AU1008",
        name: "memory",
        severity: Severity::Info,
        summary: "the recording holds memory or registers of programs",
        problem: "Samples hold the top of the stack, registers or raw data, as perf record \
            --call-graph dwarf writes them.",
        impact: "The memory of a program can hold keys, passwords and documents.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_REGS_USER, PERF_SAMPLE_RAW",
    };
    NETWORK_PACKET = Rule {
        code: "AU1009",
        name: "network-packet",
        severity: Severity::Info,
        summary: "the log holds network packets",
        problem: "QEMU stores every packet that reached the guest.",
        impact: "Packets hold addresses and whatever was not encrypted.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "QEMU, replay/replay-net.c",
    };
    KEY_STROKE = Rule {
        code: "AU1010",
        name: "key-stroke",
        severity: Severity::Info,
        summary: "the recording holds key strokes",
        problem: "Every key that was pressed is stored in order: in QEMU logs and in revent \
            recordings of a keyboard.",
        impact: "Typed passwords can be read from the recording.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "QEMU, replay/replay-input.c; Workload Automation, revent.c",
    };
    POINTER_POSITION = Rule {
        code: "AU1011",
        name: "pointer-position",
        severity: Severity::Info,
        summary: "the recording holds positions of fingers or a pointer",
        problem: "Touches and pointer events are stored with their position.",
        impact: "Positions show what was chosen, and PINs that were typed on a screen.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "QEMU, replay/replay-input.c; Workload Automation, revent.c",
    };
    DEVICE_INPUT = Rule {
        code: "AU1012",
        name: "device-input",
        severity: Severity::Info,
        summary: "the log holds bytes read from devices",
        problem: "QEMU stores every byte that a serial port, a console or a channel passed to the \
            guest, and the sound that a microphone gave it.",
        impact: "Console input can hold names and passwords.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "QEMU, replay/replay-char.c, replay/replay-audio.c",
    };
    RANDOM_NUMBERS = Rule {
        code: "AU1013",
        name: "random-numbers",
        severity: Severity::Info,
        summary: "the log holds the random numbers of the guest",
        problem: "QEMU stores every random number that the guest got from its host.",
        impact: "Keys that the guest made from them can be computed again.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "QEMU, replay/replay-random.c",
    };
    SHADER_SOURCE = Rule {
        code: "AU1014",
        name: "shader-source",
        severity: Severity::Info,
        summary: "the trace holds sources of shaders",
        problem: "apitrace stores the text of every shader that the program compiled.",
        impact: "Shaders are part of the program and may be a trade secret.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "apitrace 11.1, glShaderSource and its relatives",
    };
    TEXTURE_OR_BUFFER = Rule {
        code: "AU1015",
        name: "texture-or-buffer",
        severity: Severity::Info,
        summary: "the trace holds textures or buffers",
        problem: "apitrace stores the pixels and vertices that the program passed to the driver.",
        impact: "They show pictures, documents and models of the program.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "apitrace 11.1, blobs of glTexImage2D, glBufferData and their relatives",
    };
    EXTRA_METADATA = Rule {
        code: "AU1016",
        name: "extra-metadata",
        severity: Severity::Info,
        summary: "the recording has metadata beyond what its format needs",
        problem: "ovni stores members that the program sets, apitrace properties of the process.",
        impact: "They can describe the program, its input or its environment.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "ovni 1.14, ovni_attr_set_json; apitrace 11.1, properties",
    };
    FILE_PATH = Rule {
        code: "AU1017",
        name: "file-path",
        severity: Severity::Info,
        summary: "the recording names files",
        problem: "Maps of programs and libraries, build ids, and the paths of devices.",
        impact: "Whoever has the recording knows which programs, libraries and versions are \
            installed.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_MMAP2, HEADER_BUILD_ID",
    };
    BUILD_ID = Rule {
        code: "AU1018",
        name: "build-id",
        severity: Severity::Info,
        summary: "the recording holds build ids",
        problem: "A build id is a hash that the linker writes into a program, a library or the \
            kernel. perf stores those of the files in which samples lie.",
        impact: "A build id names an exact build. Whoever has the recording can look up the \
            package, and which of its holes are open, even if the path is replaced. perf finds \
            the symbols of a file by it, so a redacted recording shows addresses instead.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, HEADER_BUILD_ID, PERF_RECORD_MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID",
    };
    KERNEL_SYMBOL = Rule {
        code: "AU1019",
        name: "kernel-symbol",
        severity: Severity::Info,
        summary: "the recording names code that was loaded into the kernel",
        problem: "KSYMBOL records name BPF programs, trampolines and other code that came and \
            went while perf recorded. BPF_PROG_INFO has the names of programs and their tags, \
            which are hashes of their code.",
        impact: "The names of BPF programs show which monitoring, filters and security tools run \
            on the machine.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_KSYMBOL; Linux 6.1, kernel/bpf/core.c: bpf_get_prog_name",
    };
    BRANCH_TRACE = Rule {
        code: "AU1020",
        name: "branch-trace",
        severity: Severity::Info,
        summary: "the recording holds AUX data, the trace of a processor",
        problem: "Intel PT, Arm SPE and CoreSight store branches, addresses and times of every \
            program on the traced processors.",
        impact: "The path of a program through its code can be followed branch by branch; it \
            shows what was computed, with keys as well.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_AUXTRACE; zeros are padding packets in Intel PT \
            (intel-pt-pkt-decoder.c) and Arm SPE (arm-spe-pkt-decoder.c)",
    };
    CHOSEN_NAME = Rule {
        code: "AU1021",
        name: "chosen-name",
        severity: Severity::Info,
        summary: "the recording has names and labels that somebody chose",
        problem: "Users and programs name events, groups, tasks, marks, objects, debug groups, \
            uniforms and devices. Every such text counts that is not a word which the recorder \
            writes by itself.",
        impact: "Names can tell what a program does, for whom, and on which machine.",
        remedy: Remedy::Next("Replace it before you share the recording, if the recipient must not \
            know it. --show prints it:\n\
            \x20 tracemend audit --show FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, tools/perf/util/header.c: write_event_desc, write_group_desc; ovni \
            1.14, labels of task types and marks; apitrace 11.1, glObjectLabel and its relatives; \
            Workload Automation, revent.c: the name of a gamepad",
    };
    UNKNOWN_CONTENT = Rule {
        code: "AU1022",
        name: "unknown-content",
        severity: Severity::Info,
        summary: "the recording has bytes whose meaning is not known",
        problem: "Features, records, members and parts of them that tracemend does not know, and \
            bytes that no field claims: before the end of a feature or record, in a header, \
            between values.",
        impact: "They can hold anything, private content as well.",
        remedy: Remedy::Next("Look at them (map shows where they are), and replace them before \
            you share the recording:\n\
            \x20 tracemend map --depth 3 FILE\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "the fields that the decoders read, as tracemend map shows them",
    };
    ADDRESS = Rule {
        code: "AU1023",
        name: "address",
        severity: Severity::Info,
        summary: "the recording holds addresses of programs",
        problem: "Maps, samples, call chains and branches show where programs, libraries and data \
            lie in memory.",
        impact: "They defeat the random layout of a program (ASLR) until it ends, which a service \
            does seldom.",
        remedy: Remedy::Next("Move them before you share the recording, if the recipient must not \
            know it. Each map gets a place that follows from the order and the lengths of the \
            maps, and addresses keep their offsets in their maps:\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "perf 6.1, PERF_RECORD_MMAP2, PERF_SAMPLE_IP, PERF_SAMPLE_ADDR, \
            PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_BRANCH_STACK",
    };
    DAMAGE = Rule {
        code: "AU1024",
        name: "damage",
        severity: Severity::Info,
        summary: "the recording has damaged bytes",
        problem: "Damage covers bytes that no decoder can read, or numbers that hold text.",
        impact: "They can be a part of anything that the recording held: names, command lines, \
            memory.",
        remedy: Remedy::Next("Repair the recording before you share it, which drops most of them, \
            or replace them with the rest of the private content:\n\
            \x20 tracemend redact FILE -o OUT"),
        source: "the tiles of `tracemend map` and the errors of `tracemend check`",
    };
}
