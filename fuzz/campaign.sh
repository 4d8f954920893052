#!/usr/bin/env bash
# Fuzzes targets side by side and keeps the inputs that it finds:
#
#   fuzz/campaign.sh SECONDS CORES [TARGET...]
#
# Each target runs for SECONDS on one core, from the committed corpus (fuzz/seeds/) and what is in
# fuzz/corpus/ already. Afterwards its inputs are minimised and packed into fuzz/seeds/ again, and
# fuzz/campaigns.tsv gets a line with its figures, which fuzz/FUZZING.md adds up. A failure leaves
# its input in fuzz/artifacts/TARGET/; the target goes on, and the script ends with status 1.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -lt 2 ]; then
    sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
seconds=$1 cores=$2
shift 2
[ $# -gt 0 ] || set -- $(cargo fuzz list)

# Longest input in bytes. Behaviour that needs longer ones is tested by the forge.
export LEN_MAX=1024
# A target that fails more often than this in a run is not worth more time before it is repaired.
export FAILURES_MAX=20
export SECONDS_EACH=$seconds COMMIT DAY
COMMIT=$(git rev-parse --short HEAD)
DAY=$(date +%F)
# Comparisons are not traced: that takes half of the time, and dictionaries have the magic numbers.
cargo fuzz build --sanitizer none --no-trace-compares
fuzz/seeds.sh fuzz/corpus
mkdir -p fuzz/seeds

# Prints the last number after a word in a log of libFuzzer.
number() { grep -o "$1 *[0-9]*" "$2" | tail -1 | grep -o '[0-9]*$' || echo 0; }

# Fuzzes for some seconds. libFuzzer ends at a failure, so it is started again, at most FAILURES_MAX
# times: fuzz SECONDS LOG TARGET OPTION...
fuzz() {
    local until=$((SECONDS + $1)) log=$2 program=fuzz/target/x86_64-unknown-linux-gnu/release/$3
    local left failures=0
    shift 3
    while left=$((until - SECONDS)) && [ "$left" -gt 0 ] && [ "$failures" -lt "$FAILURES_MAX" ]; do
        "$program" -max_total_time="$left" "$@" >>"$log" 2>&1 || failures=$((failures + 1))
    done
    [ "$failures" = 0 ]
}

fuzz_one() {
    local target=$1 folder=fuzz/corpus/$1 artifacts=fuzz/artifacts/$1/ log outcome=ok
    local dictionary=fuzz/corpus/dictionaries/${1%%_*}.dict
    # How often an edge is taken is not counted: the same time gives more executions and mostly more
    # edges, from half as many inputs.
    local -a options=(-max_len="$LEN_MAX" -len_control=20 -use_counters=0 -rss_limit_mb=1024
        -timeout=20 -print_final_stats=1 -artifact_prefix="$artifacts")
    [ ! -e "$dictionary" ] || options+=(-dict="$dictionary")
    log=$(mktemp -d)
    mkdir -p "$folder" "$artifacts"
    # The last quarter is a run of its own: the edges that it adds tell whether more are to come.
    local TIMEFORMAT=%U
    { time fuzz $((SECONDS_EACH * 3 / 4)) "$log/first" "$target" "$folder" "${options[@]}" ||
        outcome=FAILED; } 2>"$log/time-first"
    { time fuzz $((SECONDS_EACH / 4)) "$log/last" "$target" "$folder" "${options[@]}" ||
        outcome=FAILED; } 2>"$log/time-last"
    grep -h -A 6 -E 'panicked at|libFuzzer: (timeout|out-of-memory)' "$log"/first "$log"/last |
        cut -c 1-2000 >&2 || true
    # Inputs that fail are no part of the folder.
    mkdir "$log/least"
    "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$log/least" "$folder" -merge=1 \
        -max_len=65536 -use_counters=0 -rss_limit_mb=1024 >/dev/null 2>&1
    rm -r "$folder" && mv "$log/least" "$folder"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -C "$folder" -cf - . |
        gzip -n9 >"fuzz/seeds/$target.tar.gz"
    local runs edges_before edges
    runs=$(cat "$log/first" "$log/last" |
        awk '/^stat::number_of_executed_units:/ { runs += $2 } END { print runs + 0 }')
    edges_before=$(number 'cov:' "$log/first")
    edges=$(number 'cov:' "$log/last")
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$DAY" "$COMMIT" "$target" "$outcome" "$runs" \
        "$(cat "$log/time-first" "$log/time-last" | awk -v runs="$runs" \
            '{ used += $1 } END { printf "%.0f", used ? runs / used : 0 }')" \
        "$edges" "$((edges > edges_before ? (edges - edges_before) * 14400 / SECONDS_EACH : 0))" \
        "$(find "$folder" -type f | wc -l)" >>fuzz/campaigns.tsv
    rm -rf "$log"
    [ "$outcome" = ok ]
}
export -f fuzz_one fuzz number

failed=0
printf '%s\n' "$@" | xargs -P "$cores" -I{} bash -c 'fuzz_one {}' || failed=1
fuzz/table.sh
exit $failed
