#!/bin/sh
# SPDX-License-Identifier: MIT
# oclgrind.sh PROGRAM: runs a test program at its small sizes on Oclgrind's simulated device. Oclgrind reports races, reads of uninitialised
# or foreign memory and misuse of the API in its log and exits with the program's own status, so any line in the log is a failure.
command -v oclgrind >/dev/null 2>&1 || { echo "skipped: oclgrind is not installed"; exit 77; }
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
unset CLF_DEVICE
CLF_TEST_SMALL=1 oclgrind --data-races --uninitialized --check-api --max-errors 20 --log "$log" "$@"
status=$?
if [ -s "$log" ]; then
    echo "Oclgrind reports:"
    cat "$log"
    exit 1
fi
exit $status
