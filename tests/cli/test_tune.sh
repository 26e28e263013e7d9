#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tune: candidates that are wrong, crash or hang are lost alone; the choice is kept, shown and can be ignored.
# usage: test_tune.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"

export XDG_CONFIG_HOME=$work/config
kernels=$(dirname "$0")/../../cl
kept=$XDG_CONFIG_HOME/clformer/tuned.json
run devices --json
if ! grep -q '"usable": true' "$work/out"; then
    echo "skipped: no usable device"
    exit 77
fi
grep -q '"tuned": true' "$work/out" && fail "tuned before tuning"

# A small model: the work is in what goes wrong.
mkdir -p "$work/model" "$work/kernels/cpu" "$work/kernels/gpu" "$work/kernels/any"
printf '{"model_type": "bert", "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2,
         "num_hidden_layers": 1, "vocab_size": 9, "max_position_embeddings": 8}' >"$work/model/config.json"

# One engine is wrong: its numbers are checked. It is none that the device uses untuned, gemv on CPUs and packed on GPUs. clblast's epilogue
# does not build.
type=$(PYTHONPATH=$(dirname "$0") python3 -c 'from runs import used_device; print(used_device()["type"])' "$program" "$data")
if [ "$type" = GPU ]; then
    wrong=packed file=cpu/gemm_packed.cl
    sed 's/^#define FINISH_VECTOR(i, v) .* = /&1.001f * /' "$kernels/$file" >"$work/kernels/$file"
else
    wrong=gemv file=gpu/gemm_gemv.cl
    sed 's/^#define STORE_RESULT(value, row, column)/#define STORE_RESULT(right, row, column) STORE_WRONG((right) * 1.001f, row, column)\
#define STORE_WRONG(value, row, column)/' "$kernels/$file" >"$work/kernels/$file"
fi
cmp -s "$kernels/$file" "$work/kernels/$file" && fail "the wrong kernel equals the right one"
cat >"$work/kernels/any/gemm_epilogue.cl" <<'CL'
__kernel void gemm_epilogue(int m) { no such statement; }
CL
CLF_KERNEL_DIR=$work/kernels CLF_ENGINE= run tune --model "$work/model" --minutes 0.01 --limit 120
[ "$status" -eq 0 ] || fail "tune with broken candidates: status $status: $(cat "$work/err")"
grep -q "gemm=$wrong  LOST: .*wrong numbers" "$work/err" || fail "wrong numbers pass: $(cat "$work/err")"
grep -q 'gemm=clblast  LOST: ' "$work/err" || fail "a kernel that does not build passes: $(cat "$work/err")"
grep -q 'kept in ' "$work/out" || fail "no choice is kept: $(cat "$work/out")"
grep -q -E '[0-9] µs +[0-9.]+ x' "$work/out" || fail "no time in µs: $(cat "$work/out")"
grep -q -E '\b1 (products|candidates)\b' "$work/out" "$work/err" && fail "one product is no plural: $(cat "$work/err")"
grep -q ' lost$' "$work/out" || fail "the lost candidates are not counted: $(cat "$work/out")"
[ -f "$kept" ] || fail "no $kept"

# Shown; ignored on demand.
run devices --all
grep -q 'tuned         yes' "$work/out" || fail "devices does not show it: $(grep tuned "$work/out")"
run devices --json
grep -q '"tuned": true' "$work/out" || fail "devices --json does not show it"
run devices --no-tuned --json
grep -q '"tuned": true' "$work/out" && fail "devices --no-tuned"
CLF_NO_TUNED=1 run devices --json
grep -q '"tuned": true' "$work/out" && fail "CLF_NO_TUNED=1"
CLF_NO_TUNED=0 run devices --json
grep -q '"tuned": true' "$work/out" || fail "CLF_NO_TUNED=0 ignores it"

# Commands read it, unless they are told not to.
CLF_LOG=info run pronounce hello
grep -q 'tuned choices from' "$work/err" || fail "pronounce does not use the choices: $(cat "$work/err")"
CLF_LOG=info run pronounce --no-tuned hello
grep -q 'tuned choices from' "$work/err" && fail "pronounce --no-tuned uses them"

# For another precision: what is there stays, and commands that ask for that precision are told its rules.
rm -rf "$work/kernels/$file" "$work/kernels/any/gemm_epilogue.cl"
rules=$(grep -c '"precision": "highest"' "$kept")
run tune --model "$work/model" --precision medium --minutes 0.001 --limit 120
[ "$status" -eq 0 ] || fail "tune --precision medium: status $status: $(cat "$work/err")"
grep -q ', precision medium$' "$work/out" || fail "tune does not tell the precision: $(head -1 "$work/out")"
[ "$(grep -c '"precision": "highest"' "$kept")" -eq "$rules" ] || fail "tune --precision medium drops the rules of highest: $(cat "$kept")"
[ "$(grep -c '"precision": "medium"' "$kept")" -eq "$rules" ] || fail "tune --precision medium: $(cat "$kept")"
run tune --precision low
[ "$status" -eq 2 ] || fail "--precision low: status $status"

# Once more: what was chosen before is a candidate, however short the time is, and rules for other models' products stay.
python3 - "$kept" <<'PYTHON'
import json, sys
with open(sys.argv[1]) as file:
    root = json.load(file)
rules = root["devices"][0]["gemm"]
rule = next(rule for rule in rules if rule["precision"] == "highest")
rule.update(engine="tiled", tile={"wg_m": 8, "wg_n": 8})
rules.append(dict(rule, m=1001))
with open(sys.argv[1], "w") as file:
    json.dump(root, file)
PYTHON
run tune --model "$work/model" --minutes 0.001 --limit 120
[ "$status" -eq 0 ] || fail "tune once more: status $status: $(cat "$work/err")"
[ "$(grep -c 'gemm=tiled:wg_m=8:wg_n=8' "$work/err")" -eq 1 ] || fail "tune passes over what was chosen: $(cat "$work/err")"
[ "$(grep -c '"m": 1001,' "$kept")" -eq 1 ] || fail "tune drops the rule of another product: $(cat "$kept")"

# Interrupted: a status that says so, what was kept before stays, no folder is left.
mkdir "$work/temporary"
cp "$kept" "$work/before"
for number in 2 15 1; do
    : >"$work/err"
    TMPDIR=$work/temporary env --default-signal=INT "$program" tune --model "$work/model" --minutes 5 --limit 120 \
        >"$work/out" 2>"$work/err" &
    for ((wait = 0; wait < 600; wait++)); do
        grep -q '  1  untuned' "$work/err" && break
        sleep 0.1
    done
    kill -"$number" $!
    wait $!
    status=$?
    expect_status $((128 + number)) "tune interrupted by signal $number"
    grep -q "^clformer: tune: interrupted; nothing was kept, $kept is as it was" "$work/err" ||
        fail "tune interrupted: $(tail -n 1 "$work/err")"
    compgen -G "$work/temporary/clformer*" >/dev/null && fail "tune interrupted by signal $number leaves $(ls "$work/temporary")"
    cmp -s "$kept" "$work/before" || fail "tune interrupted by signal $number changed $kept"
done

# A candidate that hangs, one that crashes: processes of their own. Only where a kernel runs as the host's code can it do both for sure.
if [ "$type" != GPU ] && "$program" devices --all | grep -A3 '\[default\]' | grep -q 'Portable Computing Language'; then
    rm -f "$work/kernels/"*/*.cl
    # shellcheck disable=SC2016
    sed 's/^    float sum\[[A-Z]*\];/    *(volatile __global float *)8 = 1.0f;\n&/' \
        "$kernels/gpu/gemm_gemv.cl" >"$work/kernels/gpu/gemm_gemv.cl"
    sed 's/^    float4 sum\[ITEM_M\]/    for (volatile int again = 1; again;) {}\n    float4 sum[ITEM_M]/' \
        "$kernels/gpu/gemm_tiled.cl" >"$work/kernels/gpu/gemm_tiled.cl"
    for file in gpu/gemm_gemv gpu/gemm_tiled; do
        cmp -s "$kernels/$file.cl" "$work/kernels/$file.cl" && fail "$file.cl was not changed"
    done
    cp "$kept" "$work/before"
    CLF_KERNEL_DIR=$work/kernels run tune --model "$work/model" --minutes 0.001 --limit 20
    [ "$status" -eq 0 ] || fail "tune with a crash and a hang: status $status: $(cat "$work/err")"
    grep -q 'gemm=gemv  LOST: .*process ended ' "$work/err" || fail "no crash: $(cat "$work/err")"
    grep -q 'gemm=tiled  LOST: no answer .*within 20 s' "$work/err" || fail "no hang: $(cat "$work/err")"
    [ "$(grep -c 'process ended ' "$work/err")" -eq 1 ] || fail "more than one crash: $(cat "$work/err")"
    grep -qE '[1-9][0-9]* candidates compared' "$work/out" || fail "the others are lost too: $(grep lost "$work/out")"
    pgrep -f "$program tune" >/dev/null && fail "a candidate's process is left"
fi

# Refusals: a broken file is neither used nor overwritten.
printf '{' >"$kept"
run tune --model "$work/model"
[ "$status" -eq 1 ] || fail "tune over a broken file: status $status"
grep -q 'remove this file' "$work/err" || fail "tune over a broken file: $(cat "$work/err")"
[ "$(cat "$kept")" = "{" ] || fail "the broken file was changed"
run pronounce hello
[ "$status" -eq 0 ] || fail "pronounce with a broken file: status $status"
grep -q 'tuned choices are ignored' "$work/err" || fail "the broken file is not told: $(cat "$work/err")"
run devices --all
grep -q 'tuned         no: ' "$work/out" || fail "devices with a broken file: $(grep tuned "$work/out")"
run tune --model "$work/nosuch"
[ "$status" -eq 1 ] || fail "no model: status $status"
run tune --minutes -1
[ "$status" -eq 2 ] || fail "--minutes -1: status $status"
rm "$kept"
run tune --device nosuch
grep -q 'no device matches "nosuch"' "$work/err" || fail "unknown device: $(cat "$work/err")"

finish
