#!/usr/bin/env bash
# Writes the captures beside it: the output of the program on recordings of the corpus.
#
#   bash docs/captures.sh
#
# The commands are in tests/tests/all/command_line/captures.rs, whose test compares the files.
set -euo pipefail
cd "$(dirname "$0")/.."
BLESS=1 cargo test -q -p tracemend-tests --test all command_line::captures
git --no-pager diff --stat -- docs/captures
