#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# spoiled.sh MODEL PROGRAM SOURCE: the tests of a model's numbers fail when a kernel writes NaN, or nothing, into one row. PROGRAM is
# test_MODEL of this folder.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export CLF_TEST_SMALL=1 # a few texts
failures=0

# The line that stores, how it begins when that row is to become NaN or to stay unwritten, the tests that must see it, and how they name it.
case $1 in
    minilm) # sentence 1 of the pooling
        export CLF_TEST_SPREAD=1
        kernel=any/pooling.cl
        store='PASTE(vector_, STORE_Y)(y + y_offset + sequence \* y_stride + c, result);'
        nan='if (sequence == 1) result = NAN;\n&' nothing='if (sequence != 1)\n&'
        tests='test_texts_in_mixed_batches test_ids_in_groups' named='text 1 differs by\|not finite'
        ;;
    g2p) # logits of the first step: the only products of 58 columns, here by the engine that every device has
        export CLF_ENGINE=gemm=tiled CLF_TEST_ONLY=test_memory_features_and_logits
        kernel=gpu/gemm_tiled.cl
        store='STORE_C(c, C_ROW(batch, row + i) + C_COLUMN(column + j),  *\\'
        nan='if (n == 58 \&\& row + i == 0) STORE_C(c, C_ROW(batch, row + i) + C_COLUMN(column + j), NAN); else \\\n&'
        nothing='if (n != 58 || row + i != 0) \\\n&'
        tests=$CLF_TEST_ONLY named='logits: differs by'
        ;;
esac

folder=${kernel%/*}
mkdir -p "$work/right/$folder" "$work/nan/$folder" "$work/nothing/$folder"
cp "$3/cl/$kernel" "$work/right/$folder/"
sed "s/^ *$store/$nan/" "$3/cl/$kernel" >"$work/nan/$kernel"
sed "s/^ *$store/$nothing/" "$3/cl/$kernel" >"$work/nothing/$kernel"
for kind in right nan nothing; do
    CLF_KERNEL_DIR=$work/$kind CMOCKA_TEST_ABORT=0 "$2" >"$work/out" 2>&1
    status=$?
    [ $status -eq 77 ] && { cat "$work/out"; exit 77; }
    if [ $kind = right ]; then
        [ $status -eq 0 ] || { echo "FAIL: the right kernel: $(tail -5 "$work/out")"; failures=1; }
        continue
    fi
    cmp -s "$3/cl/$kernel" "$work/$kind/$kernel" && { echo "FAIL: $kind: the kernel was not changed"; failures=1; }
    for test in $tests; do
        grep -q "FAILED *\] $test" "$work/out" || { echo "FAIL: $kind in one row passes $test"; failures=1; }
    done
    grep -q "$named" "$work/out" || { echo "FAIL: $kind: the row is not named: $(cat "$work/out")"; failures=1; }
done
[ $failures -eq 0 ] && echo "all passed"
exit $failures
