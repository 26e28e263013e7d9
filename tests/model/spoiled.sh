#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# spoiled.sh PROGRAM SOURCE: the comparison of embeddings fails when a kernel writes NaN, or nothing, into one row. PROGRAM is test_minilm.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CLF_TEST_SPREAD=1 CLF_TEST_SMALL=1 # a few texts
kernel=$2/cl/any/pooling.cl
store='PASTE(vector_, STORE_Y)(y + y_offset + sequence \* y_stride + c, result);'
failures=0

mkdir -p "$work/right/any" "$work/nan/any" "$work/nothing/any"
cp "$kernel" "$work/right/any/"
sed "s/^\( *\)$store/\1if (sequence == 1) result = NAN;\n&/" "$kernel" >"$work/nan/any/pooling.cl"
sed "s/^\( *\)$store/\1if (sequence != 1)\n&/" "$kernel" >"$work/nothing/any/pooling.cl"
for kind in right nan nothing; do
    CLF_KERNEL_DIR=$work/$kind CMOCKA_TEST_ABORT=0 "$1" >"$work/out" 2>&1
    status=$?
    [ $status -eq 77 ] && { cat "$work/out"; exit 77; }
    if [ $kind = right ]; then
        [ $status -eq 0 ] || { echo "FAIL: the right kernel: $(tail -5 "$work/out")"; failures=1; }
        continue
    fi
    cmp -s "$kernel" "$work/$kind/any/pooling.cl" && { echo "FAIL: $kind: the kernel was not changed"; failures=1; }
    for test in test_texts_in_mixed_batches test_ids_in_file_order; do
        grep -q "FAILED *\] $test" "$work/out" || { echo "FAIL: $kind in one row passes $test"; failures=1; }
    done
    grep -q 'text 1 differs by\|not finite' "$work/out" || { echo "FAIL: $kind: the row is not named: $(grep differs "$work/out")"; failures=1; }
done
[ $failures -eq 0 ] && echo "all passed"
exit $failures
