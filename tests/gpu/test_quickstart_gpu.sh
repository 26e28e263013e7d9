#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ./quickstart gpu with PoCL shown as a GPU: what is refused, what runs on the GPU and what it leaves. The build tools and ctest are made
# up, and the program is told to measure little. usage: test_quickstart_gpu.sh PROGRAM DATA SHIM
set -u
shim=$3
. "$(dirname "$0")/../cli/common.sh"
ls /etc/OpenCL/vendors/pocl*.icd >/dev/null 2>&1 || { echo "skipped: PoCL is not installed"; exit 77; }
tree=$work/tree bin=$work/bin calls=$work/calls
mkdir -p "$tree/build/tests" "$tree/tests/gpu" "$bin" "$work/home" "$work/vendors"
cp "$(dirname "$0")/../../quickstart" "$tree/"
cp "$(dirname "$0")/../run.sh" "$tree/tests/"
cp "$(dirname "$0")/run.sh" "$tree/tests/gpu/"
cp /etc/OpenCL/vendors/pocl*.icd "$work/vendors/"
cat >"$tree/build/clformer" <<TEXT
#!/bin/bash
echo "clformer \$*" >>"$calls"
case \$1 in
    bench) exec "$program" \$(sed 's/--model [^ ]*//' <<<"\$*") --suite ops --filter rms_norm ;;
    tune) exit 0 ;;
    selftest) [ -z "\${CLF_TEST_SLEEP:-}" ] || exec sleep 20; echo "all passed"; exit 0 ;; # gpu.amd_rdna2 has the real one
esac
exec "$program" "\$@"
TEXT
chmod +x "$tree/build/clformer"
for tool in cmake ninja pkg-config ctest cc apt-get; do
    printf '#!/bin/bash\necho "%s $* CLF_DEVICE=${CLF_DEVICE:-} CLF_TEST_SMALL=${CLF_TEST_SMALL:-}" >>"%s"\n' "$tool" "$calls" >"$bin/$tool"
    chmod +x "$bin/$tool"
done
start() { # ARGUMENTS...: quickstart gpu with the variables in extra
    : >"$calls"
    env -u CLF_DEVICE PATH="$bin:$PATH" HOME="$work/home" XDG_CACHE_HOME="$work/home" OCL_ICD_VENDORS="$work/vendors" \
        CLF_MODEL_DIR="$data/families/distilbert" CLF_CACHE_DIR= "${extra[@]}" "$tree/quickstart" gpu "$@" >"$work/out" 2>"$work/err"
    status=$?
}

# No GPU: one line that names what there is, before anything is built.
extra=(CLF_TEST=none)
start
expect_status 1 "without a GPU"
expect_error 'no GPU with an OpenCL driver that can be used; there is: 0: ' "without a GPU"
expect_error '(CPU' "without a GPU"
[ "$(wc -l <"$work/err")" -eq 1 ] || fail "without a GPU: more than a line: $(cat "$work/err")"
grep -q '^cmake' "$calls" && fail "without a GPU: something was built"
extra=(CLF_TEST=none OCL_ICD_VENDORS="$work/home")
start
expect_status 1 "without a device"
expect_error 'there is: no OpenCL device at all' "without a device"
extra=(CLF_TEST=none)
start --fast
expect_status 2 "an unknown word"
start --quick more
expect_status 2 "too many words"

# With one: self-test, tests, bench and tune run on it, and the result file is of that GPU.
extra=(CLF_TEST_GPU=amd_rdna2 LD_PRELOAD="$shim")
start --quick
expect_status 0 "on a GPU"
for text in 'GPU 0 gfx1030' 'up to about ' ' minutes (self-test' 'passed '; do
    case $text in ' minutes (self-test') text='minutes (' ;; esac
    grep -qF -- "$text" "$work/out" || fail "on a GPU: \"$text\" is not said: $(cat "$work/out")"
done
for call in 'clformer selftest --device 0' 'ctest --test-dir build .*-L ^(runtime|op|nn)\$ CLF_DEVICE=0 CLF_TEST_SMALL=1' \
    'clformer bench --device 0 --quick' 'clformer tune --device 0 .*--minutes 2'; do
    grep -q -- "^$call" "$calls" || fail "on a GPU: no call \"$call\": $(cat "$calls")"
done
grep -q '"name": *"gfx1030"' "$tree/build/gpu/bench.json" ||
    fail "bench.json is not of the GPU: $(head -c 300 "$tree/build/gpu/bench.json")"
grep -q 'all passed' "$tree/build/gpu/selftest.txt" || fail "selftest.txt: $(tail -2 "$tree/build/gpu/selftest.txt")"
grep -q 'gfx1030' "$tree/build/gpu/devices.txt" || fail "devices.txt: $(head -3 "$tree/build/gpu/devices.txt")"

# A test that fails is told, and what follows runs nevertheless.
printf '#!/bin/bash\nexit 8\n' >"$bin/ctest"
extra=(CLF_TEST_GPU=amd_rdna2 LD_PRELOAD="$shim")
sed -i 's/^    bench) .*/    bench) exit 0 ;;/' "$tree/build/clformer"
start --quick
expect_status 1 "a failed test"
expect_error '1 of 4 parts failed' "a failed test"
grep -q '^clformer tune' "$calls" || fail "a failed test: no tuning"

# Interrupted: 130 and one line.
env -u CLF_DEVICE PATH="$bin:$PATH" HOME="$work/home" XDG_CACHE_HOME="$work/home" OCL_ICD_VENDORS="$work/vendors" \
    CLF_MODEL_DIR="$data/families/distilbert" CLF_TEST_SLEEP=1 "${extra[@]}" \
    timeout --preserve-status -s INT 6 "$tree/quickstart" gpu --quick >"$work/out" 2>"$work/err"
status=$?
expect_status 130 "interrupted"
expect_error 'interrupted' "interrupted"
finish
