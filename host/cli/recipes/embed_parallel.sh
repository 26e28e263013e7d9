#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Embeds a file of texts by GNU parallel: on this machine, or on others that see the same files (--sshloginfile through PARALLEL_OPTIONS).
# usage: embed_parallel.sh MODEL_DIR TEXTS OUT.npy SHARDS [OPTIONS of embed ...]
# With several devices: DEVICES="0 1 2" gives each job that runs at once one of them (--device), JOBS as many unless it is set. Of several
# hosts, parallel does not tell which job is whose: there JOBS=1 and --device all among the options use what each has.
# Run it again after an interruption: shards that are done are not done again. The shards stay in OUT.npy.shards until the output is there.
set -eu
[ $# -ge 4 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 2; }
model=$1 texts=$2 output=$3 shards=$4
shift 4
[[ $shards =~ ^[1-9][0-9]*$ ]] || { echo "embed_parallel.sh: SHARDS: expected a whole number from 1, found \"$shards\"" >&2; exit 2; }
clformer=${CLFORMER:-clformer}
read -ra devices <<<"${DEVICES:-}"
jobs=${JOBS:-${#devices[@]}}
[ "$jobs" != 0 ] || jobs=100%
# Each line that parallel reads is a command as it is: nothing in it, such as {} in a prompt, means anything to parallel. Its shell is the
# user's, which may not be this one: bash gets the command as one word.
commands() {
    local shard command
    for shard in $(seq "$shards"); do
        command=$(printf '%q ' "$clformer" embed "$model" --file "$texts" --shard "$shard/$shards" -o "$output.shards" "$@")
        [ ${#devices[@]} -eq 0 ] ||
            command="devices=($(printf '%q ' "${devices[@]}")); $command --device \"\${devices[(PARALLEL_JOBSLOT - 1) % ${#devices[@]}]}\""
        printf "bash -c '%s'\n" "${command//\'/\'\\\'\'}"
    done
}
# shellcheck disable=SC2086
commands "$@" | parallel --will-cite --jobs "$jobs" --halt soon,fail=1 ${PARALLEL_OPTIONS:-}
"$clformer" gather "$output.shards" -o "$output"
rm -r "$output.shards"
