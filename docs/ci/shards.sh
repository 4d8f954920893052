#!/usr/bin/env bash
# Checks the recordings below DIR in N parts on this machine and joins the reports:
#
#   docs/ci/shards.sh DIR N REPORT.json
set -euo pipefail
dir=$1 parts=$2 report=$3
shards=$(mktemp -d)
trap 'rm -rf "$shards"' EXIT
for part in $(seq "$parts"); do
    tracemend check "$dir" --shard "$part/$parts" --jobs 1 --fail-on never \
        --format json -o "$shards/$part.json" &
done
wait
tracemend merge "$shards"/*.json --format "json=$report" --format human
