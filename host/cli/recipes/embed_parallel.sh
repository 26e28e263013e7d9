#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Embeds a file of texts by GNU parallel: on this machine, or on others that see the same files (--sshloginfile through PARALLEL_OPTIONS).
# usage: embed_parallel.sh MODEL_DIR TEXTS OUT.npy SHARDS [OPTIONS of embed ...]
# Run it again after an interruption: shards that are done are not done again. The shards stay in OUT.npy.shards until the output is there.
set -eu
[ $# -ge 4 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 2; }
model=$1 texts=$2 output=$3 shards=$4
shift 4
clformer=${CLFORMER:-clformer}
# shellcheck disable=SC2086
parallel --will-cite --jobs "${JOBS:-100%}" --halt soon,fail=1 --quote ${PARALLEL_OPTIONS:-} \
    "$clformer" embed "$model" --file "$texts" --shard "{}/$shards" -o "$output.shards" "$@" ::: $(seq "$shards")
"$clformer" gather "$output.shards" -o "$output"
rm -r "$output.shards"
