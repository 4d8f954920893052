#!/bin/sh
# Prints the figures of all campaigns (fuzz/campaigns.tsv): executions added up by target, the rest
# from the last campaign.
set -eu
cd "$(dirname "$0")"
awk -F '\t' '
    NR > 1 {
        if (!($3 in runs)) order[++count] = $3
        runs[$3] += $5; total += $5; failed[$3] += $4 != "ok"; failures += $4 != "ok"
        rate[$3] = $6; edges[$3] = $7; grows[$3] = $8; inputs[$3] = $9
    }
    END {
        print "| target | executions | per CPU second | edges | new edges per hour | inputs | failed runs |"
        print "|---|---|---|---|---|---|---|"
        for (i = 1; i <= count; i++) {
            t = order[i]
            printf "| `%s` | %d | %d | %d | %d | %d | %d |\n", t, runs[t], rate[t], edges[t], \
                grows[t], inputs[t], failed[t]
        }
        printf "| all | %d | | | | | %d |\n", total, failures
    }' campaigns.tsv
