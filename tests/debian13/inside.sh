# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# In the root of Debian 13, behind quickstart: the small tests on its PoCL, and what its other compilers and drivers say. Sourced by bash
# there, with SECONDS_FOR_TESTS: when so many have gone, no more tests are begun, and those that are left out are named.
cd /clformer || exit 1
# shellcheck source=tests/run.sh
. tests/run.sh
failed=/clformer/build/failed # an empty file: something did
: >build/skips
rm -f $failed

# Tests of test_fast, while there is time.
small() { # REGULAR-EXPRESSION
    if [ "$SECONDS" -gt "$SECONDS_FOR_TESTS" ]; then
        echo "no time left: $1" >>build/skips
        return
    fi
    test_fast "$1" || : >$failed
}

build() { # DIRECTORY CMAKE-OPTIONS...
    local directory=$1
    shift
    { cmake -S . -B "$directory" "$@" && cmake --build "$directory" --parallel "$(nproc)"; } >/tests.log 2>&1 && return
    grep -E -A 5 'error|warning' /tests.log | head -n 40
    : >$failed
}

echo "GCC $(gcc -dumpfullversion): the tests build without warnings"
build build -DCLF_BUILD_TESTS=ON -DCLF_BUILD_BENCH=OFF
rm -rf build/kernels # of an earlier run
[ ! -e $failed ] || exit 1

# Models first, whose kernels are those of the main work. classify, encoders and sentence compile some hundred kernels for models like those
# of model.encoders: left out. PoCL's binaries have machine code for every size of work-groups: none is compiled anew.
echo "PoCL $(dpkg-query -W -f '${Version}' pocl-opencl-icd)"
export POCL_AFFINITY=1 POCL_WORK_GROUP_SPECIALIZATION=0
run_ctest build -L '^unit$' || : >$failed
small '^(model\..*|cli\.(families|generate))$'
# Without op.gemm.matrix.*: PoCL 6 makes wrong code of the emulated units with its default method (POCL_WORK_GROUP_METHOD=loops is right).
small '^(nn\..*|op\.[a-z_0-9]+)$'
small '^runtime\.launch_graph$' # alone: on a busy machine a graph's work-groups wait too long for each other, and it is given up
small '^cli\.translate$'
small '^cli\.serve_http$' # libmicrohttpd 1.0 reads malformed messages by other rules than Debian 12's 0.9.75

echo "clang 19: the library and the program build without warnings"
CC=clang-19 build /build-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DCLF_WERROR=ON -DCLF_BUILD_TESTS=OFF \
    -DCLF_BUILD_BENCH=OFF

echo "clang 19: kernels for AMD's GPUs"
python3 tests/offline/compile.py amd_gfx1100 --kernels build/kernels || : >$failed

# Skipped where the driver shows no device. Mesa 25.0's llvmpipe crashes in its own code when layer_norm_group is launched (Mesa 22.3's does
# not), so that layer norms, embeddings with them and models are left out here.
echo "rusticl of Mesa $(dpkg-query -W -f '${Version}' mesa-opencl-icd)"
export RUSTICL_ENABLE=llvmpipe
if CLF_DEVICE=llvmpipe build/clformer devices | grep -q llvmpipe; then
    CLF_DEVICE=llvmpipe CLF_TEST_SMALL=1 CLF_TEST_NUMBERS=1 run_ctest build -R '^op\.(softmax|pooling)$' || : >$failed
else
    echo "rusticl shows no device" >>build/skips
fi
[ ! -e $failed ]
