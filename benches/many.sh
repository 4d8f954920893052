#!/usr/bin/env bash
# Checks many small recordings, as in CI: the rate, and how it grows with jobs and shards.
#
#   cargo build --release -p tracemend-cli
#   benches/many.sh target/release/tracemend [OTHER_BUILD]
#
# RECORDINGS (10,000, in hundreds) and ROUNDS (7) change the amount. Time is processor time of one
# process, user and system: other work on the machine counts less. For N shards it is that of the
# slowest shard, since N machines end with it. The runs take turns; the fastest of a kind counts.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?the program to measure}")
other=${2:+$(realpath "$2")}
recordings=${RECORDINGS:-10000} rounds=${ROUNDS:-7}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Copies the recordings of the corpus in turns into a directory of 100, and this one.
copy() {
    local set=$1 number=0 source
    shift
    mkdir -p "$folder/$set/0"
    while [ "$number" -lt 100 ]; do
        for source in "$@"; do
            [ "$number" -lt 100 ] || break
            cp -r "$source" "$folder/$set/0/$number-${source##*/}"
            number=$((number + 1))
        done
    done
    for number in $(seq $((recordings / 100 - 1))); do
        cp -r "$folder/$set/0" "$folder/$set/$number"
    done
}
copy perf corpus/perf/clean/plain.data
copy mix corpus/{perf,apitrace,ovni,qemu,revent}/clean/*

# Sets `spent` to the processor time of a command in milliseconds.
measure() {
    local TIMEFORMAT='%3U %3S' times user system
    times=$({ time "$@" >/dev/null 2>&1; } 2>&1) || { echo "failed: $*" >&2 && exit 1; }
    read -r user system <<<"$times"
    spent=$((10#${user/./} + 10#${system/./}))
}

# Keeps the least time of a kind of run in `best`.
declare -A best
keep() { if [ -z "${best[$1]:-}" ] || [ "$2" -lt "${best[$1]}" ]; then best[$1]=$2; fi; }

check_shards() {
    local set=$1 count=$2 slowest=0 part
    for part in $(seq "$count"); do
        measure "$program" check "$folder/$set" --no-config --jobs 1 --shard "$part/$count" \
            --format json -o "$folder/$part.json"
        if [ "$spent" -gt "$slowest" ]; then slowest=$spent; fi
    done
    keep "$set shards $count" "$slowest"
    measure "$program" merge "$folder"/*.json --format "json=$folder/merged"
    keep "$set merge $count" "$spent"
    rm -f "$folder"/*.json "$folder/merged"
}

for _ in $(seq "$rounds"); do
    for set in perf mix; do
        measure "$program" check "$folder/$set" --no-config --jobs 1
        keep "$set jobs 1" "$spent"
        measure "$program" check "$folder/$set" --no-config --jobs 2
        keep "$set jobs 2" "$spent"
        if [ -n "$other" ]; then
            measure "$other" check "$folder/$set" --no-config --jobs 1
            keep "$set other" "$spent"
            measure "$other" check "$folder/$set" --no-config --jobs 2
            keep "$set other 2" "$spent"
        fi
        for count in 1 2 4 8 16; do check_shards "$set" "$count"; done
    done
done

divide() { awk -v a="$1" -v b="$2" -v d="$3" 'BEGIN { printf "%.*f", d, a / (b > 0 ? b : 1) }'; }
for set in perf mix; do
    one=${best[$set jobs 1]}
    printf '%s, %s recordings: %s ms, %s recordings per second and core\n' "$set" "$recordings" \
        "$one" "$(divide "$((recordings * 1000))" "$one" 0)"
    printf '  processor time with 2 jobs / with 1: %s\n' "$(divide "${best[$set jobs 2]}" "$one" 2)"
    if [ -n "$other" ]; then
        printf '  processor time of the other build: %s with 1 job, %s with 2\n' \
            "$(divide "${best[$set other]}" "$one" 2)" "$(divide "${best[$set other 2]}" "$one" 2)"
    fi
    for count in 1 2 4 8 16; do
        slowest=${best[$set shards $count]}
        printf '  %2s shards: slowest %s ms, %s times as fast as one; merge %s ms\n' "$count" \
            "$slowest" "$(divide "${best[$set shards 1]}" "$slowest" 2)" \
            "${best[$set merge $count]}"
    done
done
