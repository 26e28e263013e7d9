#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Large products and long attention on slow integrated GPUs, which the shim shows: no launch takes more than twice the budget there, by the
shim's own count of its work. Nothing is computed, so that sizes may be large.
usage: test_budget.py PROGRAM SHIM DEVICE"""
import os
import subprocess
import sys
import tempfile

from shown import pocl_alone

program, shim, device = sys.argv[1:]
BUDGET_MS = 100
# Rows and columns of the matrices, and q, k and v of attention [batch, tokens, columns], as large as one allocation allows.
SIZES = {"intel_gen9": (8192, (16, 8192, 128)), "amd_vega8": (8192, (32, 8192, 128)), "arm_small": (3072, (16, 4096, 64))}
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def write_zeros(name, *shape):
    """A .npy file of zeros that takes no space on disk."""
    path, count = os.path.join(work, name), 4
    for size in shape:
        count *= size
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
        file.truncate(10 + len(header) + count)
    return path


def run(arguments, keys, launch_ms="", lose=""):
    """Exit status, standard error, and kernel and milliseconds of each launch that the shim let through and refused."""
    log = os.path.join(work, "log")
    if os.path.exists(log):
        os.remove(log)
    environment = dict(os.environ, CLF_TEST_GPU=device, CLF_TEST_GPU_LOG=log, LD_PRELOAD=shim, OCL_ICD_VENDORS=vendors, CLF_NO_TUNED="1",
                       CLF_CACHE_DIR="", CLF_TEST_GPU_IDLE="1", CLF_TEST_GPU_KEYS=str(keys), CLF_TEST_GPU_BUDGET_MS=str(BUDGET_MS),
                       CLF_LAUNCH_MS=launch_ms, **({"CLF_TEST_GPU_LOSE": lose} if lose else {}))
    environment.pop("CLF_DEVICE", None)
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    launches = {"launch": [], "refused": []}
    with open(log, encoding="utf-8") as file:
        for word in map(str.split, file):
            if word[0] in launches:
                launches[word[0]].append((word[1], float(word[9]) if len(word) > 9 else 0.0))
    return done.returncode, done.stderr, launches["launch"], launches["refused"]


def check(arguments, kernel, keys=0):
    """With its budget the command keeps below the shim's; without one it would not, which shows that the shim counts."""
    status, error, launches, refused = run(arguments, keys)
    timed = [ms for name, ms in launches if name.startswith(kernel)]
    print(f"{device}: {arguments[:2]}: {len(timed)} launches of {kernel}, {max(timed, default=0):.1f} ms the longest")
    if status != 0 or refused or len(timed) < 2 or sum(timed) < 2 * BUDGET_MS:
        fail(f"{arguments[:2]}: status {status}, {len(timed)} launches of {kernel} in {sum(timed):.0f} ms, refused {refused[:3]}: {error}")
    status, error, launches, refused = run(arguments, keys, "0")
    if status != 1 or not refused or "CL_OUT_OF_RESOURCES" not in error:
        fail(f"{arguments[:2]} without a budget: status {status}, refused {refused[:3]}: {error}")


def check_lost(arguments, kernel):
    """A device that is lost ends the command, whose message names the last launch and what makes launches shorter."""
    for lose in ("1", "3"):
        status, error, launches, _ = run(arguments, 0, lose=lose)
        has_launched = any(name.startswith(kernel) for name, _ in launches)
        if status != 1 or "clFinish: CL_OUT_OF_RESOURCES" not in error or (has_launched and "CLF_LAUNCH_MS below 100" not in error):
            fail(f"{arguments[:2]}, device lost at wait {lose}: status {status}: {error}")
    if not has_launched:
        fail(f"{arguments[:2]}: the device was lost before {kernel} at every wait")


with tempfile.TemporaryDirectory() as work:
    vendors = pocl_alone(work)
    size, shape = SIZES[device]
    matrix, tokens, out = write_zeros("matrix.npy", size, size), write_zeros("tokens.npy", *shape), os.path.join(work, "out.npy")
    check(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=tiled"], "gemm_tiled")
    check_lost(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=tiled"], "gemm_tiled")
    check(["op", "attention", tokens, tokens, tokens, "-o", out, "--engine", "attention=group"], "attention_group", shape[1])
sys.exit(1 if failures else 0)
