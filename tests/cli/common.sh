# SPDX-License-Identifier: MIT
# Shared by the shell tests, which source it with their arguments PROGRAM DATA: a temporary directory, counted failures, and the program's
# output.
program=$1
data=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
# runs the program; status in $status, standard output in $work/out, standard error in $work/err
run() { "$program" "$@" >"$work/out" 2>"$work/err"; status=$?; }
expect_status() { [ "$status" -eq "$1" ] || fail "$2: status $status, expected $1: $(head -c 300 "$work/err")"; }
expect_error() { grep -qF -- "$1" "$work/err" || fail "$2: standard error lacks \"$1\": $(head -c 300 "$work/err")"; }
expect_lines() { [ "$(wc -l <"$work/out")" -eq "$1" ] || fail "$2: $(wc -l <"$work/out") lines, expected $1"; }
# ends the test where the run before found no device, unless one was asked for
skip_without_device() {
    [ "$status" -ne 0 ] && [ -z "${CLF_DEVICE+set}" ] && grep -q "no usable OpenCL device" "$work/err" || return 0
    echo "skipped: $(head -1 "$work/err")"
    exit 77
}
finish() {
    [ "$failures" -eq 0 ] && echo "all passed"
    exit $((failures > 0))
}
