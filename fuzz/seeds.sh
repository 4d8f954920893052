#!/bin/sh
# Writes the first inputs of every target to a folder: fuzz/seeds.sh FOLDER
#
# They are the minimised inputs of earlier campaigns (fuzz/seeds/TARGET.tar.gz), the recordings of
# the forge and of corpus/.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
cargo run --quiet --package tracemend-tools --bin seeds -- "$folder"
for packed in fuzz/seeds/*.tar.gz; do
    [ -e "$packed" ] || continue
    target=$folder/$(basename "$packed" .tar.gz)
    mkdir -p "$target"
    tar -xzf "$packed" -C "$target"
done
