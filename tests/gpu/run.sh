# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# ./quickstart gpu: what to run first on a machine with a GPU. Sourced by quickstart behind tests/run.sh, whose functions it uses.

# "index name" of the GPU to check: the one that CLF_DEVICE names, else the first that can be used. Where there is none, one line says what
# there is instead.
find_gpu() {
    build/clformer devices --json 2>/dev/null | python3 -c '
import json, sys
try:
    devices = json.load(sys.stdin)["devices"]
except ValueError:
    sys.exit("quickstart: clformer devices --json failed")
wanted = sys.argv[1]
seen = ", ".join("%d: %s (%s%s)" % (d["index"], d["name"], d["type"], "" if d["usable"] else ", not usable: " + d["reason"])
                 for d in devices)
for d in devices:
    if d["usable"] and d["type"] == "GPU" and (not wanted or wanted == str(d["index"]) or wanted in d["name"] or wanted == "gpu"):
        print(d["index"], d["name"])
        break
else:
    sys.exit("quickstart: no GPU %swith an OpenCL driver that can be used; there is: %s" %
             ("that CLF_DEVICE=%s names and " % wanted if wanted else "", seen or "no OpenCL device at all"))' "${CLF_DEVICE:-}" || exit 1
}

# Minutes of what is to be done, roughly: a first start compiles every kernel.
estimate_gpu() { # QUICK
    local minutes=$((${#missing_packages[@]} > 0 ? 3 : 0)) what="self-test, tests, bench, tune"
    [ -x build/clformer ] && [ -x build/tests/op.gemm ] || { minutes=$((minutes + 8 / $(nproc) + 1)) what="the build, $what"; }
    if [ -n "$1" ]; then minutes=$((minutes + 12)); else minutes=$((minutes + 45)); fi
    note "up to about $minutes minutes ($what)"
}

gpu_selftest() { build/clformer selftest --device "$CLF_DEVICE" | tee "$1"; }
gpu_tests() { CLF_TEST_SMALL=${1:-} run_ctest build -L "$2"; }

run_gpu() { # [--quick]
    local quick= gpu folder=build/gpu start=$SECONDS minutes=10 labels=$device_labels
    [ $# -le 1 ] || refuse "gpu: too many words: $*"
    case ${1:-} in
        --quick) quick=1 minutes=2 labels='^(runtime|op|nn)$' ;;
        '') ;;
        *) refuse "gpu: \"$1\" is not --quick" ;;
    esac
    check_tree
    if [ -n "${CLF_MODEL_DIR:-}" ]; then check_model "$CLF_MODEL_DIR"; elif [ ! -e "$cache/models/all-MiniLM-L6-v2" ]; then check_cache; fi
    say "clformer on this machine's GPU: is it right, how fast is it, which engines suit it"
    need_to_build
    need_program python3 python3
    [ -n "${CLF_MODEL_DIR:-}" ] || [ -e "$cache/models/all-MiniLM-L6-v2" ] || need_to_fetch
    need_module cmocka libcmocka-dev
    if [ -x build/clformer ] && command -v python3 >/dev/null 2>&1; then gpu=$(find_gpu) || exit 1; fi # before minutes of building
    estimate_gpu "$quick"
    install_missing "for the tests"
    configure_and_build build -DCLF_BUILD_TESTS=ON
    gpu=$(find_gpu) || exit 1
    export CLF_DEVICE=${gpu%% *}
    note "GPU $gpu"
    find_model
    export CLF_MODEL_DIR=$model_dir
    mkdir -p "$folder"
    build/clformer devices --all >"$folder/devices.txt"
    part "self-test" 1 gpu_selftest "$folder/selftest.txt"
    part "tests on it" $((quick ? 5 : 19)) gpu_tests "$quick" "$labels"
    part "bench" $((quick ? 3 : 15)) \
        build/clformer bench --device "$CLF_DEVICE" ${quick:+--quick} --model "$CLF_MODEL_DIR" -o "$folder/bench.json"
    part "tune" "$minutes" build/clformer tune --device "$CLF_DEVICE" --model "$CLF_MODEL_DIR" --minutes "$minutes"
    note "measured: $PWD/$folder/bench.json; devices.txt and selftest.txt beside it; clformer report makes a page of it"
    finish_tests "$start"
}
