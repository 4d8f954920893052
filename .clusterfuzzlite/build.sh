#!/bin/bash -eu
# Builds every fuzz target with its first inputs and its dictionary into $OUT.
#
# SRC, OUT and SANITIZER come from the container of ClusterFuzzLite or OSS-Fuzz. Outside of it, with
# the stable toolchain:
#
#   SRC=$(dirname "$PWD") OUT=/tmp/out SANITIZER=none .clusterfuzzlite/build.sh
cd "${PROJECT:-$SRC/tracemend}"

# Bounds are checked in all code of the project, and overflows by debug assertions.
cargo fuzz build --sanitizer "${SANITIZER:-address}" --debug-assertions
built=fuzz/target/x86_64-unknown-linux-gnu/release

fuzz/seeds.sh "$OUT/seeds"
for program in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$program" .rs)
    cp "$built/$target" "$OUT/"
    # A target without first inputs begins with none.
    if [ -d "$OUT/seeds/$target" ]; then
        (cd "$OUT/seeds/$target" && find . -type f | zip -q -@ "$OUT/${target}_seed_corpus.zip")
    fi
    dictionary=$OUT/seeds/dictionaries/${target%%_*}.dict
    if [ -e "$dictionary" ]; then cp "$dictionary" "$OUT/$target.dict"; fi
done
rm -r "$OUT/seeds"
