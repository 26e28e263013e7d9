#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# devices and selftest. usage: test_devices.sh PROGRAM DATA
set -u
. "$(dirname "$0")/common.sh"

"$program" devices >"$work/out" 2>"$work/err" || fail "devices: $(cat "$work/err")"
"$program" devices --json >"$work/json" || fail "devices --json"
grep -q '"devices"' "$work/json" || fail "devices --json: $(head -c 200 "$work/json")"
if ! grep -q '"usable": true' "$work/json"; then
    echo "skipped: no usable device"
    exit 77
fi
grep -q '\[default\]' "$work/out" || fail "no default device"
grep -q 'because:' "$work/out" || fail "no reason for the default device"

# Without any platform the list is empty and says why; commands that need a device fail with that reason.
mkdir "$work/none"
OCL_ICD_VENDORS=$work/none "$program" devices >"$work/out" 2>"$work/err" || fail "devices without a platform: $(cat "$work/err")"
grep -q 'note: ' "$work/out" || fail "no note without a platform: $(cat "$work/out")"
OCL_ICD_VENDORS=$work/none env -u CLF_DEVICE "$program" selftest >"$work/out" 2>"$work/err" && fail "selftest without a platform succeeds"
grep -q 'no usable OpenCL device' "$work/err" || fail "selftest without a platform: $(cat "$work/err")"

# Selectors.
"$program" selftest --device nosuch >/dev/null 2>"$work/err" && fail "unknown device accepted"
grep -q 'no device matches "nosuch"; there are: 0:' "$work/err" || fail "unknown device: $(cat "$work/err")"

# Every op of this device is right, and a kernel that is wrong is found.
"$program" selftest >"$work/out" 2>"$work/err" || fail "selftest: $(grep FAIL "$work/out"; cat "$work/err")"
grep -q 'all passed' "$work/out" || fail "selftest: $(cat "$work/out")"
mkdir "$work/kernels"
for file in embedding_vector.cl embedding_group.cl; do
    sed 's/sum_columns\?(&rows, c, scale)/& * 1.001f/' "$(dirname "$0")/../../cl/$file" >"$work/kernels/$file"
    cmp -s "$(dirname "$0")/../../cl/$file" "$work/kernels/$file" && fail "the wrong $file equals the right one"
done
CLF_KERNEL_DIR=$work/kernels "$program" selftest >"$work/out" 2>"$work/err" && fail "a wrong kernel passes selftest"
grep -q 'FAIL' "$work/out" || fail "a wrong kernel is not reported: $(cat "$work/out")"

finish
