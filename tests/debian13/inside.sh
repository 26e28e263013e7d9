# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# In the root of Debian 13, behind quickstart: the small tests on its PoCL, and what its other compilers and drivers say. Sourced by bash
# there.
cd /clformer || exit 1
# shellcheck source=tests/run.sh
. tests/run.sh
status=0
: >build/skips

echo "GCC $(gcc -dumpfullversion): the tests build without warnings"
cmake -S . -B build -DCLF_BUILD_TESTS=ON -DCLF_BUILD_BENCH=OFF >/dev/null && cmake --build build --parallel "$(nproc)" >build/tests.log 2>&1 ||
    { grep -E -A 5 'error|warning' build/tests.log | head -n 40; exit 1; }

# PoCL's binaries have machine code for every size of work-groups: none is compiled anew, as on the other system's PoCL. The three commands
# that are left out compile some hundred kernels for models like those of model.encoders.
echo "PoCL $(dpkg-query -W -f '${Version}' pocl-opencl-icd)"
export POCL_AFFINITY=1 POCL_WORK_GROUP_SPECIALIZATION=0
run_ctest build -L '^unit$' || status=1
test_fast '^cli\.(classify|encoders|sentence)$' || status=1

echo "clang 19: the library and the program build without warnings"
CC=clang-19 cmake -S . -B /build-clang -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG= -DCLF_WERROR=ON -DCLF_BUILD_TESTS=OFF \
    -DCLF_BUILD_BENCH=OFF >/dev/null && ninja -C /build-clang >/build-clang.log 2>&1 ||
    { grep -E -A 5 'error|warning' /build-clang.log | head -n 40; status=1; }

echo "clang 19: kernels for AMD's GPUs"
python3 tests/offline/compile.py amd_gfx1100 --kernels build/kernels || status=1

# Skipped where the driver shows no device. Mesa 25.0's llvmpipe crashes in its own code when layer_norm_group is launched (Mesa 22.3's does
# not), so that layer norms, embeddings with them and models are left out here.
echo "rusticl of Mesa $(dpkg-query -W -f '${Version}' mesa-opencl-icd)"
export RUSTICL_ENABLE=llvmpipe CLF_DEVICE=llvmpipe CLF_TEST_SMALL=1 CLF_TEST_NUMBERS=1
if build/clformer devices | grep -q llvmpipe; then
    run_ctest build -R '^op\.(softmax|pooling)$' || status=1
else
    echo "rusticl shows no device" >>build/skips
fi
exit $status
