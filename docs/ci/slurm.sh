#!/usr/bin/env bash
# One part of a check as a task of a Slurm job array; the reports are joined when all have ended:
#
#   export DIR=/data/traces REPORTS=/data/reports
#   job=$(sbatch --parsable --array=1-16 docs/ci/slurm.sh)
#   sbatch --dependency=afterany:"$job" --wrap 'tracemend merge "$REPORTS"/*.json'
#
#SBATCH --job-name=tracemend
#SBATCH --cpus-per-task=1
set -euo pipefail
part=$SLURM_ARRAY_TASK_ID parts=$SLURM_ARRAY_TASK_COUNT
mkdir -p "$REPORTS"
# Findings do not fail a task: the verdict is that of the joined report. A task that runs again
# takes over what its report has.
report=$REPORTS/$part-of-$parts.json
earlier=$report.earlier
resume=()
if [ -e "$report" ]; then mv -f "$report" "$earlier"; fi
if [ -e "$earlier" ]; then resume=(--resume "$earlier"); fi
exec tracemend check "$DIR" --shard "$part/$parts" --jobs "${SLURM_CPUS_PER_TASK:-1}" \
    --fail-on never --format json -o "$report" "${resume[@]}"
