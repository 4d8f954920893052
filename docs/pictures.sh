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
mkdir -p "$folder/night"
cp corpus/{perf,revent}/c*/*.{data,revent} corpus/qemu/c*/*.log "$folder/night" 2>/dev/null || true
cd "$folder"

# draw FILE NAME light|dark HEIGHT: FILE as the picture NAME.png.
draw() {
    local scheme=1
    [ "$3" = light ] || scheme=0
    chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars --window-size=900,"$4" \
        --user-data-dir="$folder/profile" --blink-settings=preferredColorScheme=$scheme \
        --screenshot="$pictures/$2.png" "file://$folder/$1" 2>/dev/null
}
"$program" check night.data boot.log --format html -o check.html || [ $? = 1 ]
"$program" map night.data --format html -o map.html
"$program" map boot.log --format svg -o boot.svg
"$program" check night --format svg -o night.svg || [ $? = 1 ]
draw check.html check light 820
draw map.html map dark 1000
draw boot.svg picture light 570
draw night.svg rows light 740
ls -l "$pictures"
