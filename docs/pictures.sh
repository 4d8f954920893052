#!/usr/bin/env bash
# Draws the pictures of pages beside it: docs/pictures/*.png.
#
#   bash docs/pictures.sh
#
# Needs chromium. The recordings are of the corpus; the pictures differ from one version of the
# browser to the next, so no test compares them.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build -q -p tracemend-cli
program=$PWD/${CARGO_TARGET_DIR:-target}/debug/tracemend
pictures=$PWD/docs/pictures
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$pictures"
cp corpus/perf/crashed/diskfull.data "$folder/night.data"
cp corpus/qemu/crashed/cut_11.1.log "$folder/boot.log"
cp corpus/perf/clean/plain.data "$folder/plain.data"
cd "$folder"

# draw NAME light|dark: NAME.html as a picture.
draw() {
    local scheme=1
    [ "$2" = light ] || scheme=0
    chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --window-size=900,820 \
        --user-data-dir="$folder/profile" --blink-settings=preferredColorScheme=$scheme \
        --screenshot="$pictures/$1.png" "file://$folder/$1.html" 2>/dev/null
}
"$program" check night.data boot.log --format html -o check.html || [ $? = 1 ]
"$program" map plain.data --format html -o map.html
draw check light
draw map dark
ls -l "$pictures"
