#!/bin/sh
# SPDX-License-Identifier: MIT
# limits.sh PROGRAM SHIM: the shim's own test, with PoCL alone.
ls /etc/OpenCL/vendors/pocl*.icd >/dev/null 2>&1 || { echo "skipped: PoCL is not installed"; exit 77; }
vendors=$(mktemp -d) || exit 1
trap 'rm -rf "$vendors"' EXIT
cp /etc/OpenCL/vendors/pocl*.icd "$vendors"
for device in nvidia_turing arm_small; do
    OCL_ICD_VENDORS=$vendors CLF_TEST_GPU=$device CLF_TEST_GPU_LOG=$vendors/log LD_PRELOAD=$2 "$1" || exit 1
done
[ "$(grep -c '^refused ' "$vendors/log")" -eq 10 ] || { echo "FAIL: refusals that were written down:"; cat "$vendors/log"; exit 1; }
