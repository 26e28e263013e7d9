#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Embeds a file of texts by a Slurm array, one task per shard, and joins the shards in a job that waits for them.
# usage: embed_slurm.sh MODEL_DIR TEXTS OUT.npy SHARDS [OPTIONS of embed ...]
# Options of sbatch (a partition, --gres=gpu:1, --time) through SBATCH_OPTIONS. Tasks that are requeued go on where they were; submit it
# again and only what is missing is done; where a task failed, scancel the job that waits for it. The shards stay in OUT.npy.shards until
# the output is there.
set -eu
[ $# -ge 4 ] || { sed -n 's/^# usage: //p' "$0" >&2; exit 2; }
model=$1 texts=$2 output=$3 shards=$4
shift 4
[[ $shards =~ ^[1-9][0-9]*$ ]] || { echo "embed_slurm.sh: SHARDS: expected a whole number from 1, found \"$shards\"" >&2; exit 2; }
clformer=${CLFORMER:-clformer}
quoted() { printf '%q ' "$@"; }
# shellcheck disable=SC2086
array=$(sbatch --parsable --requeue --job-name=embed --array="1-$shards" ${SBATCH_OPTIONS:-} <<END
#!/usr/bin/env bash
exec $(quoted "$clformer" embed "$model" --file "$texts") --shard "\$SLURM_ARRAY_TASK_ID/$shards" -o $(quoted "$output.shards" "$@")
END
)
# shellcheck disable=SC2086
sbatch --parsable --job-name=gather --dependency="afterok:$array" ${SBATCH_OPTIONS:-} <<END
#!/usr/bin/env bash
set -e
$(quoted "$clformer" gather "$output.shards" -o "$output")
rm -r $(quoted "$output.shards")
END
