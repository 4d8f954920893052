#!/bin/sh
# Runs the fuzz targets, two at a time: fuzz/run.sh SECONDS|smoke [TARGET...]
#
# `smoke` runs the same 1000 inputs each time, so that the same commit gives the same verdict;
# SECONDS looks for new inputs. Prints the executions of each target and exits with 1 if one
# crashed; the input is then in fuzz/artifacts/TARGET/. See fuzz/README.md.
set -eu
cd "$(dirname "$0")/.."

if [ $# -lt 1 ]; then
    echo "usage: fuzz/run.sh SECONDS|smoke [TARGET...]" >&2
    exit 2
fi
case $1 in
smoke) limits="-runs=1000 -seed=1 -timeout=60" ;;
*) limits="-max_total_time=$1 -timeout=10" ;;
esac
shift
[ $# -gt 0 ] || set -- $(cargo fuzz list)

cargo run --quiet --package tracemend-tools --bin seeds -- fuzz/corpus
# One binary a target, all built before the first run.
cargo fuzz build --sanitizer none --no-trace-compares
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Runs a target; writes its verdict to $results/TARGET, and its log beside it.
run() {
    mkdir -p "fuzz/corpus/$1"
    log=$results/$1.log
    # Without a sanitizer, which safe Rust does not need, a stable toolchain is enough. Tracing
    # comparisons takes half of the time; the dictionaries have the magic numbers.
    # shellcheck disable=SC2086 # several options
    if cargo fuzz run --sanitizer none --no-trace-compares "$1" "fuzz/corpus/$1" -- \
        $limits -max_len=16384 -len_control=20 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=1 >"$log" 2>&1; then
        outcome=ok
    else
        outcome=FAILED
        # The broken property, or the reason why libFuzzer ended.
        grep -A 6 -E 'panicked at|libFuzzer: (timeout|out-of-memory|run interrupted)' "$log" |
            cut -c 1-4000 || true
        ls "fuzz/artifacts/$1"
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$1: $outcome, ${runs:-no} executions" | tee "$results/$1"
}

# A target uses one thread: every second one runs beside the others.
half() {
    first=$1
    shift
    number=0
    for target in "$@"; do
        number=$((number + 1))
        [ $((number % 2)) -ne "$first" ] || run "$target"
    done
}
half 0 "$@" &
half 1 "$@"
wait

echo
failed=0
for target in "$@"; do
    cat "$results/$target" || failed=1
    grep -q ': ok, ' "$results/$target" || failed=1
done
exit $failed
