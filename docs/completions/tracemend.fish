# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_tracemend_global_optspecs
    string join \n color= sandbox= h/help V/version
end

function __fish_tracemend_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_tracemend_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_tracemend_using_subcommand
    set -l cmd (__fish_tracemend_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c tracemend -n "__fish_tracemend_needs_command" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_needs_command" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_needs_command" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_needs_command" -s V -l version -d 'Print version'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "audit" -d 'List what a recording carries that endangers a recipient or is private to its sender'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "redact" -d 'Replace the private content of a recording by fillers of the same length'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "apply" -d 'Apply the edits of a plan, or undo them'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "verify" -d 'Prove that OUT is SRC with exactly the edits of PLAN'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "map" -d 'Show what every byte of a recording is: sections, records, fields, gaps and damage'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "explain" -d 'Explain a code, or find the codes behind a reader\'s message'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "codes" -d 'List all codes with their severity and whether a repair has a fix'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "formats" -d 'List the formats, and what can be checked and repaired'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "merge" -d 'Join the JSON reports of several checks into one report in any format'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "completions" -d 'Print the completion script for a shell'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "man" -d 'Print the manual page of tracemend or of one of its commands'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "self-test" -d 'Check and repair a built-in damaged recording of each format'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "check" -d 'Check recordings and report every problem with its position and its fix, if there is one'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "repair" -d 'Repair a recording, prove the result, and report what was kept, dropped and added'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "dump" -d 'Print the records of a recording as text, in the style of other tools, or as lines of JSON'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "diff" -d 'Show the first records in which two recordings differ'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "cut" -d 'Write a part of a recording as a recording of its own'
complete -c tracemend -n "__fish_tracemend_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l format -d 'human (default), json (schema/check.schema.json), sarif, or another format of `check`; repeatable: all but one name a file' -r -f -a "human\t''
json\t''
jsonl\t''
oneline\t''
sarif\t''
junit\t''
github\t''
gitlab\t''
azure\t''
rdjson\t''
tap\t''
html\t''
svg\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -s o -l output -d 'Write the report to FILE, all of it or nothing' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l type -d 'Read every file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l concern -d 'Look for one concern only: recipient or sender' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l show -d 'Show excerpts instead of their first and last character and their length'
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand audit" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -s o -l output -d 'Write the redacted recording to OUT' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l out-dir -d 'Write every redacted recording below DIR, under its path in the directory that was named; one report about all of them' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l only -d 'Replace this kind of content only (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l keep -d 'Leave this kind of content as it is (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l undo-plan -d 'Also write a plan that undoes the redaction: it HOLDS THE PRIVATE BYTES; for `apply --reverse`' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l format -d 'Format of the report: human or json (schema/redact.schema.json; of several recordings schema/redactions.schema.json)' -r -f -a "human\t''
json\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l type -d 'Read the file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l dry-run -d 'Show what would be replaced; write nothing'
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l force -d 'Replace an existing output or plan'
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand redact" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -s o -l output -d 'Write the result to OUT' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -l reverse -d 'Undo the plan'
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -l force -d 'Replace an existing OUT'
complete -c tracemend -n "__fish_tracemend_using_subcommand apply" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand verify" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand verify" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand verify" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l format -d 'text, json (one document, schema/map.schema.json), svg (a picture: bytes, records by time, and what a repair makes of them) or html (one page without a script, with the picture and the findings of a check)' -r -f -a "text\t''
json\t''
html\t''
svg\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l depth -d 'Levels to show: 1 for sections and groups of records, 2 for records, 3 for fields, more for the fields of fields [default: 1, in JSON and HTML 3]' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l at -d 'Show only the regions that contain the byte at this offset, such as 4096 or 0x1000' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l file -d 'File of the recording that --at counts in, for a directory' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -s o -l output -d 'Write to FILE, all of it or nothing' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l type -d 'Read the file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l expanded -d 'Count --at in the bytes that the file expands to'
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand map" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand explain" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand explain" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c tracemend -n "__fish_tracemend_using_subcommand codes" -l format -d 'human or json' -r -f -a "human\t''
json\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand codes" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand codes" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand codes" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand formats" -l format -d 'human or json' -r -f -a "human\t''
json\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand formats" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand formats" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand formats" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -l format -d 'As for `check`' -r -f -a "human\t''
json\t''
jsonl\t''
oneline\t''
sarif\t''
junit\t''
github\t''
gitlab\t''
azure\t''
rdjson\t''
tap\t''
html\t''
svg\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -s o -l output -d 'Write the report to FILE, all of it or nothing' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -l fail-on -d 'Exit with 1 from this severity on: error, warning, info or never' -r -f -a "error\t''
warning\t''
info\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand merge" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand completions" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand completions" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand completions" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand man" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand man" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand man" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand self-test" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand self-test" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand self-test" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l files-from -d 'Also check the paths in FILE (`-` reads standard input), one per line, or separated by NUL' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l format -d 'human (default), json (one document, schema/check.schema.json), jsonl (one recording per line, then the totals), oneline (PATH:OFFSET: SEVERITY[CODE] MESSAGE), sarif (SARIF 2.1.0), junit (XML), tap (version 14), github and azure (commands of their logs), gitlab (code quality), rdjson (reviewdog), html (one page without a script, with the pages of the codes) or svg (a picture with a row for each recording); repeatable: all but one name a file' -r -f -a "human\t''
json\t''
jsonl\t''
oneline\t''
sarif\t''
junit\t''
github\t''
gitlab\t''
azure\t''
rdjson\t''
tap\t''
html\t''
svg\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -s o -l output -d 'Write the report to FILE, all of it or nothing' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l type -d 'Read every file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l fail-on -d 'Exit with 1 from this severity on: error, warning, info or never [default: error]' -r -f -a "error\t''
warning\t''
info\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l deny -d 'Report CODE as an error (repeatable, like --warn and --allow): a code, the beginning of codes, a name or `all`; the closest of several decides' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l warn -d 'Report CODE as a warning' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l allow -d 'Do not report CODE; a reached limit still exits with 6' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l config -d 'Read the policy from FILE instead of the tracemend.toml in this directory or above it' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l baseline -d 'Do not report the findings in FILE, wherever they have moved in their recordings' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l shard -d 'Check one part of N, the same on every machine, with I from 1 to N (0 stands for N); `tracemend merge` joins the reports' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l resume -d 'Take over what an earlier JSON report has about recordings that are older than it and have the same length' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l max-findings -d 'Show at most N findings per recording; all are counted' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l jobs -d 'Number of threads; does not change the result' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l donor -d 'perf: take lost TRACING_DATA and features of the machine from FILE, a recording of the same kernel; apitrace: take lost definitions from FILE, a trace by the same build of the tracer' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l abi -d 'perf: also write attrs of at most BYTES, a published size such as 128, for an older perf' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l for-perf -d 'perf: also write what perf VERSION refuses in a way that it reads, or leave it out' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l part -d 'perf: keep recording N, counted from 1, of a file in which several follow one another; apitrace: keep trace 1 or 2 of a file that contains two: `1` the first trace, `2` the second trace; ovni: which run stays of a stream that was written over a longer one: `1` the run that ended last, `2` the one before it' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l strategy -d 'ovni: how a trace that did not end is closed: `close` add the missing end to each stream, `cut` end all streams at the earliest last clock [default: close]; qemu: how to close a log that is unfinished or damaged: `prefix` keep the part before the first damage, and add the missing end, `close` only add the missing end, and leave a damaged log as it is [default: prefix]' -r -f -a "close\t''
cut\t''
prefix\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l qemu-version -d 'qemu: the release of QEMU that wrote the log, if the log fits several' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l release -d 'revent: release keys and contacts that are still pressed at the end: `auto` only if the end of the recording was lost, `always` in every recording, `never` in no recording [default: auto]' -r -f -a "always\t''
auto\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l target -d 'revent: compare with the device of a replay: its model, or a file with its input devices, as `getevent -lp` or /proc/bus/input/devices list them' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l no-config -d 'Read no tracemend.toml'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l write-baseline -d 'Write the findings of this run to the baseline, so that later runs do not report them'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l statistics -d 'Print how often each code was found instead of the findings'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l checksums -d 'Add the CRC-32 of each recording to a JSON report; --resume then compares it with that of the report instead of the times'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l all -d 'Show every finding in full, and up to 65536 per recording instead of 1000'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -s v -l verbose -d 'Also print facts about each recording: layout, devices, models, clocks'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l strict -d 'Report every file of a directory that is skipped as an error'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -s q -l quiet -d 'Print nothing for clean recordings, and no totals'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l close-calls -d 'apitrace: add an empty leave to each call that has none'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -l upgrade -d 'ovni: also convert the trace to the newest layout; revent: also convert the recording to version 3'
complete -c tracemend -n "__fish_tracemend_using_subcommand check" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -s o -l output -d 'Write the repaired recording to OUT, into OUT if that is a directory, or for `-` to standard output, with the report on standard error' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l out-dir -d 'Write every repaired recording below DIR, under its path in the directory that was named; one report about all of them' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l plan -d 'Write every edit to FILE, for `apply` and `verify` (schema/plan.schema.json)' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l format -d 'Format of the report: human or json (schema/repair.schema.json; of several recordings schema/repairs.schema.json)' -r -f -a "human\t''
json\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l safety -d 'Allow fixes up to this class: `exact` writes values that other bytes determine, `synthetic` also adds what the format requires, `lossy` also drops or replaces recorded bytes' -r -f -a "exact\t''
synthetic\t''
lossy\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l type -d 'Read the file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l jobs -d 'Number of threads; does not change the result' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l donor -d 'perf: take lost TRACING_DATA and features of the machine from FILE, a recording of the same kernel; apitrace: take lost definitions from FILE, a trace by the same build of the tracer' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l abi -d 'perf: also write attrs of at most BYTES, a published size such as 128, for an older perf' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l for-perf -d 'perf: also write what perf VERSION refuses in a way that it reads, or leave it out' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l part -d 'perf: keep recording N, counted from 1, of a file in which several follow one another; apitrace: keep trace 1 or 2 of a file that contains two: `1` the first trace, `2` the second trace; ovni: which run stays of a stream that was written over a longer one: `1` the run that ended last, `2` the one before it' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l strategy -d 'ovni: how a trace that did not end is closed: `close` add the missing end to each stream, `cut` end all streams at the earliest last clock [default: close]; qemu: how to close a log that is unfinished or damaged: `prefix` keep the part before the first damage, and add the missing end, `close` only add the missing end, and leave a damaged log as it is [default: prefix]' -r -f -a "close\t''
cut\t''
prefix\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l qemu-version -d 'qemu: the release of QEMU that wrote the log, if the log fits several' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l release -d 'revent: release keys and contacts that are still pressed at the end: `auto` only if the end of the recording was lost, `always` in every recording, `never` in no recording [default: auto]' -r -f -a "always\t''
auto\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l target -d 'revent: compare with the device of a replay: its model, or a file with its input devices, as `getevent -lp` or /proc/bus/input/devices list them' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l in-place -d 'Replace each source; keep the original as NAME.orig'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l no-backup -d 'With --in-place: do not keep NAME.orig'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l dry-run -d 'Show what a repair would do; write only the plan, if --plan is given'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l lossy-warnings -d 'Also drop or replace recorded bytes to repair a warning'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l partial -d 'Write the output even if errors remain; still exits with 4'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l force -d 'Replace an existing output or plan'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l link -d 'Directories: hard-link unchanged files instead of copying them'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l close-calls -d 'apitrace: add an empty leave to each call that has none'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -l upgrade -d 'ovni: also convert the trace to the newest layout; revent: also convert the recording to version 3'
complete -c tracemend -n "__fish_tracemend_using_subcommand repair" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l format -d 'text; jsonl: one object per record, one per line, with offset, length and kind; or csv: a table of one kind of record, or with -o DIR/ one file per kind; lists are JSON in a cell' -r -f -a "text\t''
jsonl\t''
csv\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l numbers -d 'In jsonl: numbers as JSON numbers, or each as a string of its digits, since most readers of JSON lose digits of integers above 2^53: number or string' -r -f -a "number\t''
string\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l style -d 'Style of a text, the first one of the format if it is not given' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -s o -l output -d 'Write to FILE, all of it or nothing; for csv also a directory' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l type -d 'Read the file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l range -d 'perf: only the records from number A up to B, counted from 0, without B; qemu: only the events from number A up to B, counted from 0, without B; revent: only the events from number A up to B, counted from 0, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l time -d 'perf: only the records from second A up to B, as the dump shows them, without B; revent: only the events from second A up to B, as the dump shows them, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l kind -d 'perf: only the records of a type, such as MMAP2; ovni: only the events whose codes begin with NAME, such as OH or VTx; qemu: only the events of a kind, such as INSTRUCTION, or of several, such as ASYNC or CP' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l event -d 'perf: only the samples of an event, such as cpu-clock' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l calls -d 'apitrace: only the calls from number A up to B, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l grep -d 'apitrace: only the calls of functions whose names contain PATTERN; ^ and $ stand for the ends of a name, * for any text, | separates patterns' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l thread -d 'apitrace: only the calls of the thread with this number; ovni: only the events of threads with this id in the path of their stream' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l frame -d 'apitrace: only the calls of frame N, counted from 0, or of the frames A..B, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l from-icount -d 'qemu: only the events before which the guest had executed N instructions or more' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l qemu-version -d 'qemu: the release of QEMU that wrote the log, if the log fits several' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l device -d 'revent: only the events of device N, counted from 0' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand dump" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand diff" -l type -d 'Read the files as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand diff" -l qemu-version -d 'qemu: the release of QEMU that wrote the log, if the log fits several' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand diff" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand diff" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand diff" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -s o -l output -d 'Write the part to OUT' -r -F
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l type -d 'Read the file as this format (see `tracemend formats`)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l limits -d 'Limits on work and memory: default, strict (an eighth of each) or large (eight times each)' -r -f -a "strict\t''
default\t''
large\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l limit -d 'Set one limit, such as window=1048576; the page of each format lists them (repeatable)' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l range -d 'perf: keep the samples among the records from number A up to B, as a dump counts, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l time -d 'perf: keep the samples from second A up to B, as a dump shows them, without B' -r
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l color -d 'Colour of text for people: auto, always or never; NO_COLOR, CLICOLOR_FORCE and FORCE_COLOR decide if it is auto' -r -f -a "auto\t''
always\t''
never\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l sandbox -d 'Give up what reading does not need before the first recording is opened: on (as without a value; the run prints what it gave up, and fails if it cannot), off, or auto, which is on as far as the system allows it' -r -f -a "auto\t'As far as the system allows it, without a word'
on\t'All of it or no run, and the run prints what it gave up'
off\t''"
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l force -d 'Replace an existing output'
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -l no-transport -d 'Read the bytes as they are stored: do not unpack archives, decode text or undo conversions'
complete -c tracemend -n "__fish_tracemend_using_subcommand cut" -s h -l help -d 'Print help'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "audit" -d 'List what a recording carries that endangers a recipient or is private to its sender'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "redact" -d 'Replace the private content of a recording by fillers of the same length'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "apply" -d 'Apply the edits of a plan, or undo them'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "verify" -d 'Prove that OUT is SRC with exactly the edits of PLAN'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "map" -d 'Show what every byte of a recording is: sections, records, fields, gaps and damage'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "explain" -d 'Explain a code, or find the codes behind a reader\'s message'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "codes" -d 'List all codes with their severity and whether a repair has a fix'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "formats" -d 'List the formats, and what can be checked and repaired'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "merge" -d 'Join the JSON reports of several checks into one report in any format'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "completions" -d 'Print the completion script for a shell'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "man" -d 'Print the manual page of tracemend or of one of its commands'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "self-test" -d 'Check and repair a built-in damaged recording of each format'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "check" -d 'Check recordings and report every problem with its position and its fix, if there is one'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "repair" -d 'Repair a recording, prove the result, and report what was kept, dropped and added'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "dump" -d 'Print the records of a recording as text, in the style of other tools, or as lines of JSON'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "diff" -d 'Show the first records in which two recordings differ'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "cut" -d 'Write a part of a recording as a recording of its own'
complete -c tracemend -n "__fish_tracemend_using_subcommand help; and not __fish_seen_subcommand_from audit redact apply verify map explain codes formats merge completions man self-test check repair dump diff cut help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
