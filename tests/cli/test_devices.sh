#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# devices and selftest. usage: test_devices.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"
# Tests that depend on no device run only in the whole test: PoCL's folders, drivers that crash or hang, faults that the self-test must
# find.
is_whole() { [ -z "${CLF_TEST_NUMBERS:-}" ]; }

"$program" devices >"$work/out" 2>"$work/err" || fail "devices: $(cat "$work/err")"
"$program" devices --json >"$work/json" || fail "devices --json"
grep -q '"devices"' "$work/json" || fail "devices --json: $(head -c 200 "$work/json")"
if ! grep -q '"usable": true' "$work/json"; then
    echo "skipped: no usable device"
    exit 77
fi
cp "$work/out" "$work/out.short"
grep -q '\[default\]' "$work/out" || fail "no default device"
grep -q 'because:' "$work/out" || fail "no reason for the default device"

# A caller that ignores the end of its children passes that on.
(trap "" CHLD; exec "$program" devices) >"$work/out" 2>"$work/err" || fail "devices with SIGCHLD ignored: $(cat "$work/err")"
cmp -s "$work/out" "$work/out.short" || fail "devices with SIGCHLD ignored: $(cat "$work/out")"

# Without any platform the list is empty and says why; commands that need a device fail with that reason.
mkdir "$work/none"
OCL_ICD_VENDORS=$work/none "$program" devices >"$work/out" 2>"$work/err" || fail "devices without a platform: $(cat "$work/err")"
grep -q 'note: ' "$work/out" || fail "no note without a platform: $(cat "$work/out")"
OCL_ICD_VENDORS=$work/none env -u CLF_DEVICE "$program" selftest >"$work/out" 2>"$work/err" && fail "selftest without a platform succeeds"
grep -q 'no usable OpenCL device' "$work/err" || fail "selftest without a platform: $(cat "$work/err")"

# PoCL finds a folder for its kernels where HOME has none, or it is said which is missing; without a linker no kernel is begun.
pocl=/etc/OpenCL/vendors/pocl.icd
if is_whole && grep -q 'Portable Computing Language' "$work/out.short" && [ -f "$pocl" ]; then
    mkdir "$work/private"
    # Mesa says of its own that it can keep no shaders.
    hide() { env -u XDG_CACHE_HOME -u POCL_CACHE_DIR -u CLF_DEVICE MESA_SHADER_CACHE_DISABLE=true "$@"; }
    for home in HOME=/dev/null HOME=/proc XDG_CACHE_HOME=/dev/null/x; do
        hide "$home" TMPDIR="$work/private" "$program" devices >"$work/out" 2>&1 || fail "devices with $home: $(cat "$work/out")"
        cmp -s "$work/out" "$work/out.short" || fail "devices with $home: $(cat "$work/out")"
        hide "$home" TMPDIR="$work/private" OCL_ICD_VENDORS=$pocl "$program" pronounce a >"$work/out" 2>&1 ||
            fail "pronounce with $home: $(cat "$work/out")"
    done
    folder=$work/private/clformer-$(id -u)
    [ "$(stat -c %a "$folder")" = 700 ] && [ -n "$(ls "$folder/pocl")" ] || fail "no private folder: $(ls -lR "$work/private")"
    rm -r "$folder"
    ln -s "$work" "$folder"
    hide HOME=/dev/null TMPDIR="$work/private" OCL_ICD_VENDORS=$pocl "$program" pronounce a >"$work/out" 2>&1 &&
        fail "a private folder that is a link is used: $(cat "$work/out")"
    grep -q "PoCL cannot write its kernel cache: /dev/null/.cache/pocl/kcache: Not a directory; .*clformer-" "$work/out" ||
        fail "no reason for PoCL's missing devices: $(cat "$work/out")"
    hide POCL_CACHE_DIR=/proc/nowhere "$program" devices >"$work/out" 2>&1
    grep -q "PoCL cannot write its kernel cache: POCL_CACHE_DIR /proc/nowhere" "$work/out" ||
        fail "POCL_CACHE_DIR is not named: $(cat "$work/out")"
    rm "$folder"
    case $program in
    /*)
        hide PATH=/nonexistent "$program" devices >"$work/out" 2>&1 || fail "devices without ld: $(cat "$work/out")"
        grep -q 'PoCL needs the linker ld' "$work/out" || fail "no word of the missing ld: $(cat "$work/out")"
        hide PATH=/nonexistent OCL_ICD_VENDORS=$pocl "$program" pronounce a >"$work/out" 2>&1
        [ $? -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q '^clformer: .*PoCL needs the linker ld' "$work/out" ||
            fail "pronounce without ld: $(cat "$work/out")"
        ;;
    esac
fi

# One driver that aborts and one that hangs are named and left out; the others are listed, and nothing stays behind.
if is_whole && [ -f "${CLF_TEST_DRIVER_ABORTS:-}" ] && [ -d "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}" ]; then
    mkdir "$work/vendors" "$work/tmp"
    cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd "$work/vendors"
    echo "$CLF_TEST_DRIVER_ABORTS" >"$work/vendors/aborts.icd"
    echo "$CLF_TEST_DRIVER_HANGS" >"$work/vendors/hangs.icd"
    echo /nonexistent/libnothing.so >"$work/vendors/missing.icd"
    TMPDIR=$work/tmp OCL_ICD_VENDORS=$work/vendors "$program" devices --json >"$work/broken" 2>"$work/err" ||
        fail "devices with broken drivers: $(cat "$work/err")"
    grep -q 'vendors/aborts.icd: its library crashes' "$work/broken" || fail "a driver that aborts is not named: $(tail -5 "$work/broken")"
    grep -q 'vendors/missing.icd: its library /nonexistent/libnothing.so cannot be loaded' "$work/broken" ||
        fail "a library that is not there is not named: $(tail -5 "$work/broken")"
    grep -q 'vendors/hangs.icd: its library hangs' "$work/broken" || fail "a driver that hangs is not named: $(tail -5 "$work/broken")"
    [ "$(grep -c '"index"' "$work/broken")" -eq "$(grep -c '"index"' "$work/json")" ] ||
        fail "broken drivers hide the others: $(cat "$work/broken")"
    [ -z "$(ls -A "$work/tmp")" ] || fail "devices left files: $(ls "$work/tmp")"

    OCL_ICD_VENDORS=$work/vendors/aborts.icd "$program" devices >"$work/one" 2>"$work/err" ||
        fail "devices with one broken driver's file: $(cat "$work/err")"
    grep -q 'vendors/aborts.icd: its library crashes' "$work/one" || fail "a single file is not named: $(cat "$work/one")"

    # Another command meets the crash itself, starts again and goes on without that driver.
    rm "$work/vendors/hangs.icd" "$work/vendors/missing.icd"
    printf 'a' >"$work/word"
    "$program" pronounce --file "$work/word" >"$work/whole" || fail "pronounce"
    TMPDIR=$work/tmp OCL_ICD_VENDORS=$work/vendors "$program" pronounce --file - <"$work/word" >"$work/out" 2>"$work/err" ||
        fail "pronounce with a broken driver: $(cat "$work/err")"
    cmp -s "$work/out" "$work/whole" || fail "a broken driver changes the result: $(cat "$work/out")"
    grep -q '^clformer: .*vendors/aborts.icd: its library crashes (Aborted); left out$' "$work/err" ||
        fail "the driver is not named: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "more than a line on a broken driver: $(cat "$work/err")"
    [ -z "$(ls -A "$work/tmp")" ] || fail "pronounce left files: $(ls "$work/tmp")"
    # The processes that compile its kernels start later and are without that driver too.
    TMPDIR=$work/tmp OCL_ICD_VENDORS=$work/vendors CLF_CACHE_DIR=$work/cold CLF_LOG=info "$program" pronounce --file "$work/word" \
        >"$work/out" 2>"$work/err" || fail "pronounce with a broken driver and an empty cache: $(cat "$work/err")"
    grep -q 'compiled in this process' "$work/err" && fail "no compiling process finds the device: $(cat "$work/err")"
    cmp -s "$work/out" "$work/whole" || fail "a broken driver changes the result of new kernels: $(cat "$work/out")"
    echo "$CLF_TEST_DRIVER_EXITS" >"$work/vendors/aborts.icd"
    OCL_ICD_VENDORS=$work/vendors "$program" pronounce --file - <"$work/word" >"$work/out" 2>"$work/err" ||
        fail "pronounce with a driver that exits: $(cat "$work/err")"
    cmp -s "$work/out" "$work/whole" || fail "a driver that exits changes the result: $(cat "$work/out")"
    grep -q 'vendors/aborts.icd: its library ends the program (status 0); left out$' "$work/err" ||
        fail "a driver that exits is not named: $(cat "$work/err")"
    echo "$CLF_TEST_DRIVER_ABORTS" >"$work/vendors/aborts.icd"
    OCL_ICD_VENDORS=$work/vendors "$program" op positional_encoding --length 3 --dim 2 >"$work/out" 2>"$work/err" ||
        fail "a command with arguments and a broken driver: $(cat "$work/err")"
    [ "$(wc -l <"$work/out")" -eq 3 ] || fail "a broken driver changes the arguments: $(cat "$work/out")"

    # Commands that leave devices to processes of their own name it as well, once, and a result file holds what was left out.
    TMPDIR=$work/tmp OCL_ICD_VENDORS=$work/vendors "$program" bench --suite peak --quick --filter launch/round-trip --seconds 0.01 \
        --rounds 1 -o "$work/bench" >"$work/out" 2>"$work/err" || fail "bench with a broken driver: $(cat "$work/err")"
    [ "$(grep -c 'vendors/aborts.icd: its library crashes (Aborted); left out$' "$work/err")" -eq 1 ] ||
        fail "bench does not name the driver: $(cat "$work/err")"
    grep -q '"what":"a driver","why":"[^"]*vendors/aborts.icd: its library crashes' "$work/bench" ||
        fail "the result file does not name the driver: $(tail -5 "$work/bench")"
    mkdir "$work/model"
    printf '{"model_type": "bert", "hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2,
             "num_hidden_layers": 1, "vocab_size": 9, "max_position_embeddings": 8}' >"$work/model/config.json"
    TMPDIR=$work/tmp XDG_CONFIG_HOME=$work/config OCL_ICD_VENDORS=$work/vendors CLF_ENGINE= "$program" tune --model "$work/model" \
        --minutes 0 >"$work/out" 2>"$work/err" || fail "tune with a broken driver: $(cat "$work/err")"
    [ "$(grep -c 'vendors/aborts.icd: its library crashes (Aborted); left out$' "$work/err")" -eq 1 ] ||
        fail "tune does not name the driver: $(cat "$work/err")"
    [ -z "$(ls -A "$work/tmp")" ] || fail "bench or tune left files: $(ls "$work/tmp")"
fi
"$program" devices --all >"$work/all" || fail "devices --all"
[ "$(grep -c '^   extensions ' "$work/all")" -eq "$(grep -c '"index"' "$work/json")" ] || fail "devices --all: $(cat "$work/all")"
if [ "$(grep -c '"usable": true' "$work/json")" -gt 0 ]; then
    CLF_MATRIX_UNIT=AMD_GFX12 CLF_CACHE_DIR=$work/matrix "$program" devices --all >"$work/matrix.out" ||
        fail "devices --all with an emulated matrix unit"
    rates='[0-9.e-]+ TFLOP/s, [0-9.e-]+ times the peak of float32'
    grep -qE "^   matrix unit   AMD RDNA 4 wmma bfloat16 \(emulated\), probe passed, $rates\$" "$work/matrix.out" ||
        fail "devices --all names no matrix unit: $(cat "$work/matrix.out")"
fi
# One line stands below each device, and one for each kernel that took too long to compile on a busy machine.
[ "$(grep '^   ' "$work/out.short" | grep -vc '^   left out: .* took longer than ')" = "$(grep -c '"index"' "$work/json")" ] ||
    fail "the short list has other lines than one below each device: $(cat "$work/out.short")"

# Selectors.
"$program" selftest --device nosuch >/dev/null 2>"$work/err" && fail "unknown device accepted"
grep -q 'no device matches "nosuch"; found: 0:' "$work/err" || fail "unknown device: $(cat "$work/err")"

# A question that a driver does not answer is told by its name.
if is_whole && [ -f "${CLF_TEST_FAIL_QUERY_LIBRARY:-}" ] && ! ldd "$program" | grep -q "lib.san"; then
    LD_PRELOAD=$CLF_TEST_FAIL_QUERY_LIBRARY CLF_TEST_FAIL_QUERY=1 "$program" selftest --device 0 >/dev/null 2>"$work/err" &&
        fail "a device that says nothing is used"
    grep -q 'device 0 .* cannot be used: clGetDeviceInfo of CL_DEVICE_TYPE: CL_OUT_OF_HOST_MEMORY (-6)' "$work/err" ||
        fail "the failed query is not named: $(cat "$work/err")"
    LD_PRELOAD=$CLF_TEST_FAIL_QUERY_LIBRARY CLF_TEST_CRASH=1 "$program" pronounce word >"$work/out" 2>"$work/err"
    status=$?
    [ "$status" -eq 139 ] || fail "a driver that crashes with its device: status $status"
    [ "$(grep -c '^clformer: an OpenCL driver crashed while its device was opened' "$work/err")" -eq 1 ] ||
        fail "the crash is not told: $(cat "$work/err")"
fi

# Every op of this device is right, and a kernel that is wrong is found. Where this device has only the small cases, or a small share of
# the larger ones, it is the norms.
filter=${CLF_TEST_SMALL:+norm}
case ${CLF_TEST_SHARE:-} in 0-0/*) filter=norm ;; esac
"$program" selftest --filter "$filter" >"$work/out" 2>"$work/err" || fail "selftest: $(grep FAIL "$work/out"; cat "$work/err")"
grep -qE '^  all passed: [0-9]+' "$work/out" || fail "selftest: $(cat "$work/out")"
rows=$(grep -cE '^  layer_norm .*  (pass|n/a) ' "$work/out")
for op in gemm masked_softmax layer_norm rms_norm l2_normalize log_softmax attention cached_attention embedding pool top_k; do
    [[ $op == *"$filter"* ]] || continue
    grep -qE "^  $op +default +pass" "$work/out" || fail "selftest: no row of $op by the library's choice"
    grep -qE "^  $op +(vector|group|tiled) +pass" "$work/out" || fail "selftest: no engine of $op is forced: $(cat "$work/out")"
done
if [ -z "$filter" ]; then
    for op in rotary decoder; do
        grep -qE "^  $op +default +pass" "$work/out" || fail "selftest: no row of $op: $(cat "$work/out")"
    done
    grep -qE '^  gemm +(bundles|blocks) +pass' "$work/out" ||
        fail "selftest: no product of quantised weights: $(grep '^  gemm' "$work/out")"
fi
grep ' n/a ' "$work/out" | grep -vqE ' n/a +[a-z]' && fail "selftest leaves an engine out without a reason: $(grep ' n/a ' "$work/out")"
index=$(sed -n 's/^\([0-9]*\): .*/\1/p' "$work/out")
"$program" selftest --filter layer_norm >"$work/out" 2>"$work/err" || fail "selftest of one op: $(cat "$work/out" "$work/err")"
[ "$(grep -c '^  layer_norm ' "$work/out")" -eq "$rows" ] && [ "$(wc -l <"$work/out")" -eq $((rows + 2)) ] ||
    fail "selftest of one op: $(cat "$work/out")"
"$program" selftest --filter nosuch >"$work/out" 2>"$work/err" && fail "selftest of an unknown op passes"
grep -q 'no op has "nosuch" in its name: expected one of gemm, ' "$work/err" || fail "selftest of an unknown op: $(cat "$work/err")"

# A driver that refuses a query midway leaves one engine untested: that is said, and is not passed. The second row of the table names an
# engine; its context asks after the list and the first row have. Which device it is changes nothing in that.
if is_whole && [ -f "${CLF_TEST_FAIL_QUERY_LIBRARY:-}" ] && ! ldd "$program" | grep -q "lib.san"; then # sanitizers want to be loaded first
    devices=$(grep -c '"index"' "$work/json")
    LD_PRELOAD=$CLF_TEST_FAIL_QUERY_LIBRARY CLF_TEST_FAIL_QUERY=$((2 * devices + 1 + index)) \
        "$program" selftest --filter layer_norm >"$work/out" 2>"$work/err" &&
        fail "selftest passes with an engine untested: $(tail -1 "$work/out")"
    [ "$(grep -c ' UNTESTED ' "$work/out")" -eq 1 ] || fail "an untested engine is not named: $(cat "$work/out")"
    grep -q 'NOT PASSED: 0 failed, 1 untested' "$work/out" || fail "untested is not told: $(tail -1 "$work/out")"
    [ "$(grep -cE '  (pass|n/a|UNTESTED) ' "$work/out")" -ge "$rows" ] || fail "rows are missing: $(cat "$work/out")"
fi
mkdir -p "$work/kernels/cpu" "$work/kernels/gpu"
for file in cpu/embedding_vector.cl gpu/embedding_group.cl; do
    sed 's/sum_columns\?(&rows, c, scale)/& * 1.001f/' "$(dirname "$0")/../../cl/$file" >"$work/kernels/$file"
    cmp -s "$(dirname "$0")/../../cl/$file" "$work/kernels/$file" && fail "the wrong $file equals the right one"
done
CLF_KERNEL_DIR=$work/kernels "$program" selftest --filter embedding >"$work/out" 2>"$work/err" && fail "a wrong kernel passes selftest"
grep -q 'FAIL' "$work/out" || fail "a wrong kernel is not reported: $(cat "$work/out")"

# A fault in what only some calls of an op reach is found, too: the self-test has a case for each.
notices() { # OP FILE RIGHT WRONG
    local file=$work/spoiled/$2
    rm -rf "$work/spoiled"
    mkdir -p "$(dirname "$file")"
    python3 - "$(dirname "$0")/../../cl/$2" "$file" "$3" "$4" <<'END' || fail "\"$3\" is not once in $2"
import sys
source, target, right, wrong = sys.argv[1:]
with open(source, encoding="utf-8") as file:
    text = file.read()
if text.count(right) != 1:
    sys.exit(1)
with open(target, "w", encoding="utf-8") as file:
    file.write(text.replace(right, wrong))
END
    CLF_KERNEL_DIR=$work/spoiled "$program" selftest --filter "$1" >"$work/out" 2>"$work/err" && fail "$2 with \"$4\" passes selftest"
    grep -qE "^  $1 +default +FAIL" "$work/out" || fail "$2 with \"$4\": $(cat "$work/out" "$work/err")"
}
if is_whole; then
    notices soft_cap any/soft_cap.cl 'cap * tanh(y[' '3.0f * tanh(y['
    notices row_check any/row_check.cl '= flag;' '= 0;'
    notices exp_sum any/exp_sum.cl '? NAN : sum' '? NAN : 1.001f * sum'
    notices activation any/activation_map.cl 'ACTIVATE(LOAD_X(x, x_offset + axes_offset(axes.dim, axes.x, AXES, i)))' 0.0f
    notices cached_attention shared/cached_attention.cl '((score) + (bias)[' '((score) - (bias)['
    # Only some families of models reach these: the cache as q8_0, grouped key heads, heads of 128, quantised tables, tanh GELU as a gate.
    notices cached_attention any/kv_cache.cl 'half_from_above(as_float(most_bits) / 127.0f)' 'half_from_above(as_float(most_bits) / 140.0f)'
    notices attention shared/attention_arguments.cl 'head / layout.heads_per_key_head' head
    notices rotary any/rotary.cl 'min(first + ITEM_PAIRS, PAIRS)' 'min(first + ITEM_PAIRS, PAIRS > 32 ? PAIRS - 1 : PAIRS)'
    notices embedding any/weight_rows.cl 'row_weight(from, (uint)c) * scale' '1.001f * row_weight(from, (uint)c) * scale'
    notices feed_forward shared/activation.cl '7.13548163e-2f' '0.14f'
fi

finish
