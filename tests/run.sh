# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# ./quickstart test: which parts there are and what each runs on. Sourced by quickstart, whose functions (say, fail, need_program ...) and
# directory it uses.

failed_parts=()
summary=()

# Minutes here of what takes so many on one core, with no kernel compiled before.
minutes_of() { echo $((($1 + $(nproc) - 1) / $(nproc))); }

# Runs one part of the tests, which takes so many minutes, roughly, and remembers how it went.
part() { # TITLE MINUTES COMMAND...
    local title=$1 minutes=$2 start=$SECONDS result=passed skips skip
    shift 2
    say "Part: $title"
    [ "$minutes" -lt 2 ] || note "up to about $minutes minutes"
    : >build/skips
    "$@" || { result=FAILED; failed_parts+=("$title"); }
    skips=$(wc -l <build/skips)
    while IFS= read -r skip; do note "skipped: $skip"; done <build/skips
    [ "$skips" -eq 0 ] || title+=", $skips skipped"
    summary+=("$(printf '%-7s %4d s  %s' "$result" $((SECONDS - start)) "$title")")
    note "${title}: $result"
}

# --full ends within 90 minutes, on a slow machine too: when CLF_TEST_END has come, in seconds since 1970, it leaves out the tests that are
# left, and names their part among the skipped ones. It is set for --full alone.
seconds_left() { echo $((${CLF_TEST_END:-$(($(date +%s) + 86400))} - $(date +%s))); }

# Whether a part that needs so many minutes has them; else it is told as skipped.
has_time() { # MINUTES TITLE
    [ $(($1 * 60)) -gt "$(seconds_left)" ] || return 0
    summary+=("$(printf '%-7s %4d s  %s' skipped 0 "$2: no time left")")
    note "$2: skipped, no time left"
    return 1
}

# ctest on a build directory, with two tests more than processors: drivers start linkers and wait for them, ranks wait for each other. All
# parts share one kernel cache, whose keys tell implementations apart: what is compiled once stays. What programs and cases of programs
# skipped goes to build/skips, a line each: ctest itself tells neither the cases nor the reasons. Tests that CLF_TEST_END ends fail nothing
# if those before them passed.
run_ctest() { # BUILD CTEST-OPTIONS...
    local build=$1 status=0 left told=$1/ctest.log
    shift
    left=$(seconds_left)
    : >"$told"
    if [ "$left" -gt 0 ]; then
        set -o pipefail
        CLF_CACHE_DIR=$PWD/build/test-cache timeout --kill-after=10 "$left" \
            ctest --test-dir "$build" --output-on-failure --no-tests=error -j $(($(nproc) + 2)) "$@" </dev/null | tee "$told" || status=$?
    else
        status=124
    fi
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "no time left: ended after $(grep -c -E ' Passed +[0-9.]+ sec$' "$told" || true) of its tests" >>build/skips
        ! grep -q -E '^ *[0-9]+/[0-9]+ Test .*\*\*\*(Failed|Exception|Timeout|Not Run)' "$told"
        return
    fi
    awk '/^[0-9]+\/[0-9]+ Testing: / { test = $3 }
         /^(skipped|left out): / { sub(/^[a-z ]+: */, ""); seen[test ": " $0] }
         /^\[  SKIPPED \] / && $4 !~ /^[0-9]+$/ { seen[test ": " $4] }
         END { for (line in seen) print line }' "$build/Testing/Temporary/LastTest.log" | sort >>build/skips
    return $status
}
ctest_functions=$(declare -f seconds_left run_ctest) # for `bash -c`

# Lines "index name / platform" of the devices that can be used.
usable_devices() {
    build/clformer devices --json | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    if device["usable"]:
        print(device["index"], device["name"], "/", device["platform"])'
}

# For every driver a folder of its own under build/drivers, and in it the devices that it shows, as usable_devices says them.
separate_drivers() {
    local all=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors} driver folder
    rm -rf build/drivers
    for driver in "$all"/*.icd; do
        folder=$PWD/build/drivers/$(basename "$driver" .icd)
        [ -f "$driver" ] || continue
        mkdir -p "$folder"
        cp "$driver" "$folder/"
        OCL_ICD_VENDORS=$folder usable_devices >"$folder/devices" || rm -rf "$folder"
    done
}

# The variables by which tests see the driver of a device alone (tests/cli/one_driver.sh); nothing where it is not found, or by two drivers.
one_driver() { # "NAME / PLATFORM"
    local found
    found=$(grep -H -E '^[0-9]+ ' build/drivers/*/devices 2>/dev/null |
        NAME=$1 awk '{ at = index($0, ":"); line = substr($0, at + 1); number = line; sub(/ .*/, "", number); sub(/^[0-9]+ /, "", line)
                       if (line == ENVIRON["NAME"]) { folder = substr($0, 1, at - 1)
                                                      sub(/\/devices$/, "", folder); print number, folder } }')
    [ "$(wc -l <<<"$found")" -eq 1 ] && [ -n "$found" ] || return 0
    printf 'CLF_TEST_ONE_DEVICE=%s\nCLF_TEST_ONE_DRIVER=%s\n' "${found%% *}" "$PWD/${found#* }"
}

device_labels='^(runtime|op|nn|model|cli)$'

# The tests of all emulated matrix units of GPUs but one. Units differ in the layout of their registers; the host's code is the same.
other_units='op\..*\.matrix.*\.(NVIDIA_BF16|AMD|INTEL).*'

test_devices() {
    local devices index name small numbers left_out share minutes alone
    # One device is enough to show that spoiled kernels fail the models' tests.
    local spoiled='model\..*\.spoiled'
    devices=$(usable_devices) || fail "clformer devices --json failed"
    [ -n "$devices" ] || fail "no OpenCL device can be used"
    separate_drivers
    while read -r index name; do
        small= numbers= left_out='^$' share= minutes=30
        # llvmpipe ends a loop after 65,535 iterations: large shapes cannot be right there, nor long sums on emulated matrix units. PoCL
        # alone runs the commands and the tests of models whose work no device changes. The other tests leave such parts out with
        # CLF_TEST_NUMBERS. llvmpipe compiles for minutes: there the tests of ops and models ask for the same numbers as these of commands.
        local common='attention|bench|compare|report|tune|pronounce|terminal|parts|pool|mpi|slurm|fingerprint|kept'
        common+='|examples|output|completion|manual|quickstart' # PoCL's alone, where output goes, and what takes no device at all
        common+='|install|example|readme'                            # an installed library, which no device changes
        common+='|chat|model_contents|convert|convert_mixes|adapters' # texts and files of models
        common+='|embed|serve_.*' # input and output of MiniLM, whose numbers model.minilm tests; HTTP
        local host='model\.(directory_account|memory_.*|bench_run)' # keys of files, plans of memory, made-up workloads
        case $name in
            *llvmpipe*) small=1 numbers=1 minutes=10 left_out="^(op\\..*(matrix|bf16).*|$spoiled|$host"
                left_out+="|cli\\.($common|op|einsum|sentence|classify|encoders|translate|search))\$" ;;
            *'Intel(R) OpenCL'*) numbers=$full share=1-7/8 minutes=15
                left_out="^($spoiled|$host|cli\\.($common|op|einsum))\$" ;;
            *'Portable Computing Language'*) share=0-0/8 ;;
        esac
        # These two share the larger cases of the tests of ops and workloads in --full, Intel's, which compiles in a third of the time, most
        # of them; without it every device runs all of them.
        [ -n "$full" ] || share=
        mapfile -t alone < <(one_driver "$name")
        part "OpenCL device $index, $name" "$(minutes_of $minutes)" env CLF_DEVICE="$index" "${alone[@]}" \
            ${small:+CLF_TEST_SMALL=1} ${numbers:+CLF_TEST_NUMBERS=1} ${share:+CLF_TEST_SHARE=$share} \
            bash -c "$ctest_functions; run_ctest build -L '$device_labels' -E '$left_out'"
    done <<<"$devices"
}

# Intel's CPU runtime from PyPI, without root: libraries in one folder, and an ICD folder with it beside the system's.
intel_packages='intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 tbb==2023.2.0 tcmlib==1.6.0'

# Wheels from PyPI, unpacked into $work/unpacked beside DIRECTORY.
fetch_wheels() { # DIRECTORY PACKAGE==VERSION...
    local directory=$1 wheel
    shift
    mkdir -p "$(dirname "$directory")"
    trap clean_up EXIT # also where this runs in a subshell
    work=$(mktemp -d "$(dirname "$directory")/.fetch.XXXXXX")
    watched "$work/log" python3 -m pip download --no-deps --disable-pip-version-check --retries 2 --dest "$work" "$@" ||
        { tail -n 3 "$work/log" >&2; return 1; }
    for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$work/unpacked" || return 1; done
}

fetch_intel_runtime() { # DIRECTORY
    say "Fetching Intel's CPU runtime for OpenCL (270 MB, Intel's licence) into $1"
    # shellcheck disable=SC2086
    fetch_wheels "$1" $intel_packages || return 1
    mkdir "$work/lib"
    find "$work"/unpacked/*.data/data/lib -maxdepth 1 -type f ! -name 'libOpenCL.so*' \
        -exec mv -t "$work/lib" {} + # the loader is the system's
    [ -f "$work/lib/libintelocl.so" ] || return 1
    mv -T "$work/lib" "$1"
    rm -rf "$work"
    work=
}

use_intel_runtime() {
    local library=$cache/intel-opencl-2026.2 vendors=$PWD/build/vendors
    [ -f "$library/libintelocl.so" ] || fetch_intel_runtime "$library" || return 1
    mkdir -p "$vendors"
    cp /etc/OpenCL/vendors/*.icd "$vendors/"
    echo "$library/libintelocl.so" >"$vendors/intel.icd"
    export OCL_ICD_VENDORS=$vendors LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# NVIDIA's assembler and disassembler, which judge the GPU kernels' code, from PyPI where CUDA does not bring them.
declare -A nvidia_packages=([ptxas]=nvidia-cuda-nvcc==13.0.88 [nvdisasm]=nvidia-cuda-nvdisasm==13.5.37)

fetch_nvidia_tool() { # DIRECTORY TOOL
    say "Fetching NVIDIA's $2 (${nvidia_packages[$2]}, NVIDIA's licence) into $1"
    fetch_wheels "$1" "${nvidia_packages[$2]}" || return 1
    local found
    found=$(find "$work/unpacked" -path "*/bin/$2" -type f) && [ -n "$found" ] || return 1
    mkdir -p "$1"
    chmod +x "$found"
    mv "$found" "$1/$2"
    rm -rf "$work"
    work=
}

# Tests that need a tool which cannot be fetched are skipped and name it.
use_nvidia_tools() {
    local tools=$cache/nvidia-tools-13 tool
    for tool in ptxas nvdisasm; do
        [ -x "$tools/$tool" ] || [ -x "/usr/local/cuda/bin/$tool" ] || command -v "$tool" >/dev/null 2>&1 ||
            (fetch_nvidia_tool "$tools" "$tool") || note "NVIDIA's $tool could not be fetched: tests of the code for its GPUs are skipped"
    done
    export PATH=$PATH:$tools
}

check_implementations() {
    local wanted status=0
    for wanted in 'Portable Computing Language' llvmpipe 'Intel(R) OpenCL'; do
        printf '%s\n' "${summary[@]}" | grep -q -F "$wanted" || { echo "no part ran on: $wanted"; status=1; }
    done
    return $status
}

# The sanitizers' shadow memory does not fit every layout of random addresses.
fixed_addresses() { if setarch -R true 2>/dev/null; then setarch -R "$@"; else "$@"; fi; }

test_sanitized() {
    (
        unset LD_LIBRARY_PATH RUSTICL_ENABLE
        mkdir -p build-sanitize/vendors # PoCL alone: other drivers load libraries in ways that AddressSanitizer refuses
        cp /etc/OpenCL/vendors/pocl*.icd build-sanitize/vendors/
        export OCL_ICD_VENDORS=$PWD/build-sanitize/vendors CLF_DEVICE='Portable Computing Language' CLF_TEST_SMALL=1
        export UBSAN_OPTIONS=print_stacktrace=1
        export LSAN_OPTIONS=suppressions=$PWD/tests/support/lsan.supp:print_suppressions=0
        # Leaks are looked for where no driver runs: LeakSanitizer itself may crash while PoCL's threads work.
        # PoCL's LLVM gives threads signal stacks of its own, which AddressSanitizer would unmap as its own when a thread ends.
        local options=strict_string_checks=1:allocator_may_return_null=1:use_sigaltstack=0 status=0
        # Scripts that run nothing of what is instrumented, or build it themselves. Other engines have the same host code.
        local left_out="^(cli.(install|example|readme|quickstart)|model\\..*\\.(spoiled|engines)|$other_units)\$"
        ASAN_OPTIONS=$options:detect_leaks=1 fixed_addresses \
            bash -c "$ctest_functions; run_ctest build-sanitize -L '^unit\$'" || status=1
        ASAN_OPTIONS=$options:detect_leaks=0 fixed_addresses \
            bash -c "$ctest_functions; run_ctest build-sanitize -L '$device_labels' -E '$left_out'" || status=1
        exit $status
    )
}

# Host code of two threads that share a cl_context; PoCL is not instrumented.
test_threads() {
    (
        unset LD_LIBRARY_PATH RUSTICL_ENABLE
        mkdir -p build-thread/vendors
        cp /etc/OpenCL/vendors/pocl*.icd build-thread/vendors/
        export OCL_ICD_VENDORS=$PWD/build-thread/vendors CLF_DEVICE='Portable Computing Language' CLF_TEST_SMALL=1
        export TSAN_OPTIONS=suppressions=$PWD/tests/support/tsan.supp:ignore_noninstrumented_modules=1:halt_on_error=1
        fixed_addresses bash -c "$ctest_functions; run_ctest build-thread -R '^(runtime.shared|model.(session|scheduler))\$'"
    )
}

# The set for work in progress: the numbers of every op, layer and family of models on PoCL, at small sizes.
fast_tests='^((op|nn|model)\..*|runtime\.launch_graph|cli\.(families|encoders|generate|translate|classify|sentence))$'
test_fast() { # [REGULAR-EXPRESSION: those of that set alone]
    CLF_TEST_SMALL=1 CLF_TEST_NUMBERS=1 CLF_DEVICE='Portable Computing Language' \
        run_ctest build -L "$device_labels" -R "${1:-$fast_tests}" -E '^model\..*\.(engines|spoiled)$'
}

run_tests() { # [--fast | --full | --faults | --debian13]
    local full= faults= fast= debian13= debian13_part='Debian 13: quickstart, PoCL 6, rusticl, GCC 14, clang 19'
    [ $# -le 1 ] || refuse "test: too many words: $*"
    case ${1:-} in
        --full) full=1 ;;
        --faults) faults=1 ;;
        --fast) fast=1 ;;
        --debian13) debian13=1 ;;
        '') ;;
        *) refuse "test: unknown option \"$1\"; expected --fast, --full, --faults or --debian13" ;;
    esac
    check_tree
    if [ -n "${CLF_MODEL_DIR:-}" ]; then
        check_model "$CLF_MODEL_DIR"
    elif [ ! -e "$cache/models/all-MiniLM-L6-v2" ]; then
        check_cache
    fi
    local start=$SECONDS
    [ -z "$full" ] || export CLF_TEST_END=$(($(date +%s) + 84 * 60))
    say "clformer: builds the tests and runs them on every OpenCL device of this machine"
    tell_system
    describe_machine
    [ -z "$full" ] ||
        note "first adding PoCL, rusticl and Intel's CPU runtime; then Oclgrind, the GPU compilers, sanitizers and fuzz targets"
    need_to_build
    need_to_fetch
    need_module cmocka libcmocka-dev
    python3 -c 'import yaml' 2>/dev/null || needs_package python3-yaml # cli.serve_deploy
    need_file '/etc/OpenCL/vendors/pocl*.icd' pocl-opencl-icd
    need_program parallel parallel # a recipe of host/cli/recipes
    if [ -n "$full" ]; then
        need_program g++ g++
        need_program clang-15 clang-15
        need_file /usr/lib/clc/amdgcn--amdhsa.bc libclc-15
        need_file /etc/OpenCL/vendors/rusticl.icd mesa-opencl-icd
        need_program oclgrind oclgrind
        need_program ocloc intel-opencl-icd
        need_program mpirun openmpi-bin
        need_program mpicc libopenmpi-dev
        need_file /usr/sbin/slurmctld slurmctld
        need_file /usr/sbin/slurmd slurmd
        need_file /usr/sbin/munged munge
        need_program rsvg-convert librsvg2-bin # pictures of reports are drawn by it, too
    fi
    if [ -n "$full$debian13" ]; then
        # shellcheck source=tests/debian13/run.sh
        . tests/debian13/run.sh
        if [ "$(id -u)" -eq 0 ]; then need_program debootstrap debootstrap; fi
    fi
    local fetches=
    [ -n "${CLF_MODEL_DIR:-}" ] || [ -e "$cache/models/all-MiniLM-L6-v2" ] || fetches=fetches
    if [ -n "$full" ]; then
        estimate "$fetches" 120 6000 "the tests of --full" # Intel's runtime, six builds, a root of Debian 13
    else
        estimate "$fetches" "$((faults ? 480 * $(nproc) : fast ? 10 : 24))" 300 "the tests"
    fi
    install_missing "for the tests"
    configure_and_build build -DCLF_BUILD_TESTS=ON
    if [ -n "$faults" ]; then
        part "every kind of call failed once, or the part of them whose turn it is tonight" 480 run_ctest build -L '^faults_all$' --verbose
        finish_tests "$start"
        return
    fi
    if [ -z "${CLF_MODEL_DIR:-}" ] && ! (find_model); then
        [ -z "$full" ] || fail "the tests need the model"
        note "without the model its tests are skipped"
    fi
    [ -n "${CLF_MODEL_DIR:-}" ] || export CLF_MODEL_DIR=$cache/models/all-MiniLM-L6-v2

    export RUSTICL_ENABLE=${RUSTICL_ENABLE:-llvmpipe} POCL_AFFINITY=${POCL_AFFINITY:-1}
    # PoCL compiles a kernel once for the launches of a shape and once for its binary; here the binary's code serves for both, which halves
    # the compiling of --full. Without --full the tests run what users run.
    [ -z "$full" ] || export POCL_WORK_GROUP_SPECIALIZATION=0
    rm -rf build/kernels
    part "unit tests (no device)" 1 run_ctest build -L '^unit$'
    if [ -n "$debian13" ]; then
        part "$debian13_part" "$(minutes_of 24)" test_debian13
        finish_tests "$start"
        return
    fi
    if [ -n "$fast" ]; then
        part "numbers of every op, layer and family of models on PoCL" "$(minutes_of 8)" test_fast
        finish_tests "$start"
        return
    fi
    if [ -n "$full" ]; then
        use_intel_runtime || fail "Intel's CPU runtime could not be fetched"
        use_nvidia_tools
    fi
    test_devices
    if [ -n "$full" ]; then
        part "all three OpenCL implementations were there" 0 check_implementations
        part "a sample of calls failed once" "$(minutes_of 5)" run_ctest build -L '^faults$'
        part "Oclgrind: races, uninitialised and foreign memory" "$(minutes_of 6)" run_ctest build -L '^oclgrind$'
        part "PoCL shown as nine GPUs: choices, limits, results, launches" "$(minutes_of 8)" run_ctest build -L '^gpu$'
        part "kernels compile for Intel, AMD and NVIDIA GPUs" "$(minutes_of 14)" run_ctest build -L '^offline$'
        local sanitized='host code under AddressSanitizer and UndefinedBehaviorSanitizer (PoCL)'
        local threads='two threads under ThreadSanitizer (PoCL)'
        if has_time 8 "$sanitized"; then
            configure_and_build build-sanitize -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-g1 \
                -DCLF_SANITIZE=address,undefined -DCLF_BUILD_TESTS=ON -DCLF_BUILD_BENCH=OFF
            part "$sanitized" "$(minutes_of 12)" test_sanitized
        fi
        if has_time 6 "$threads"; then
            targets="test_runtime_test_shared test_model_test_session test_model_test_scheduler" \
                configure_and_build build-thread -DCLF_SANITIZE=thread -DCLF_BUILD_TESTS=ON -DCLF_BUILD_BENCH=OFF
            part "$threads" "$(minutes_of 2)" test_threads
        fi
        if has_time 6 "fuzz targets"; then
            CC=clang-15 targets="fuzz clformer" configure_and_build build-fuzz -DCLF_FUZZ=ON -DCLF_BUILD_TESTS=ON -DCLF_BUILD_BENCH=OFF
            part "fuzz targets" "$(minutes_of 5)" run_ctest build-fuzz -L '^fuzz$'
        fi
        if has_time 14 "$debian13_part"; then part "$debian13_part" "$(minutes_of 24)" test_debian13; fi
    fi

    finish_tests "$start"
}

finish_tests() { # START
    say "Tests: $((SECONDS - $1)) s"
    printf '   %s\n' "${summary[@]}"
    [ ${#failed_parts[@]} -eq 0 ] || fail "${#failed_parts[@]} of ${#summary[@]} parts failed"
    note "all passed"
}
