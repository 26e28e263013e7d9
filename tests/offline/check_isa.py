#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the machine code of the GPU kernels to rules; needs no device.

usage: check_isa.py TARGET

TARGET is a row of compile.py's TARGETS. A rule names the least or the most of what isa.measure() finds in the hot loop. Rules are shares and sizes, not
counts, and stand about ten points away from what was measured: another version of a compiler unrolls, schedules and allocates otherwise. No kernel may
spill. A kernel that does not compile, has no loop, or no multiply-add in it, fails.

Exit status: 0 all hold, 1 some do not, 77 a compiler or disassembler is not installed."""
import sys

import isa
from compile import SKIPPED, TARGETS, Unavailable


def typed(*names):
    return [option for name in names for option in (f"-D{name}_T=float", f"-DLOAD_{name}=load_f32", f"-DSTORE_{name}=store_f32")]


RESULT = ["-DWIDTH=1", "-DHAS_BIAS=1", "-DHAS_RESIDUAL=1", "-DHAS_BLOCKS=0", "-DHAS_BATCH=0", "-DACTIVATE=activate_none", *typed("A", "B", "C", "R")]


def tiled(item, reads):
    return [*RESULT, "-DWG_M=8", "-DWG_N=8", f"-DITEM_M={item}", f"-DITEM_N={item}", "-DSLICE=8", "-DIS_SPLIT=0", "-DOFFSET_T=uint", "-DIS_A_K_INNER=1",
            "-DIS_B_K_INNER=1", "-DA_READS=ALIGNED_VECTORS", f"-DB_READS={reads}", "-DC_VECTOR=1"]


# (title, file, kernel, options, {vendor: {"least": ..., "most": ...}})
KERNELS = [
    ("product, 8 x 8 results per item", "gemm_tiled.cl", "gemm_tiled", tiled(8, "ALIGNED_VECTORS"), {
        "amd": {"least": {"fma": 0.88, "wide": 0.9, "load_bytes": 16, "flight": 2}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "nvidia": {"least": {"fma": 0.78, "wide": 0.9, "load_bytes": 16, "loads": 4}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "intel": {"least": {"fma": 0.74}}}),
    ("product, a weight that is not aligned", "gemm_tiled.cl", "gemm_tiled", tiled(8, "VECTORS"), {
        "amd": {"least": {"fma": 0.88, "wide": 0.9, "flight": 2}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "nvidia": {"least": {"fma": 0.77, "wide": 0.9, "loads": 4}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "intel": {"least": {"fma": 0.74}}}),
    ("product, 4 x 4 results per item", "gemm_tiled.cl", "gemm_tiled", tiled(4, "ALIGNED_VECTORS"), {
        "amd": {"least": {"fma": 0.85, "wide": 0.9, "load_bytes": 16}, "most": {"local_per_fma": 2.5, "registers": 80}},
        "nvidia": {"least": {"fma": 0.65, "wide": 0.9, "load_bytes": 16}, "most": {"local_per_fma": 2.5, "registers": 80}},
        "intel": {"least": {"fma": 0.70}}}),
    ("few rows against a weight as stored", "gemm_gemv.cl", "gemm_gemv_dot", [*RESULT, "-DROWS=4", "-DWG=64", "-DIS_VECTOR=1"],
     {"amd": {"least": {"fma": 0.4, "load_bytes": 16, "flight": 2}}, "nvidia": {"least": {"load_bytes": 16, "loads": 4}}, "intel": {}}),
    ("cached attention, keys in parts: rows of values under way at once", "cached_attention_group.cl", "cached_attention_group",
     ["-DHEAD=64", "-DHAS_ROWS=0", "-DHAS_COUNTS=1", "-DHAS_WINDOW=0", "-DHAS_SOFT_CAP=0", "-DHAS_BIAS=0", "-DWG=64", "-DLANES=64", "-DIS_SPLIT=1",
      "-DIS_ALIGNED=1"],
     {"amd": {"least": {"flight": 7}, "most": {"registers": 128}}, "nvidia": {"least": {"loads": 7}, "most": {"registers": 128}}, "intel": {}}),
]


def failures(have, rules):
    out = [f"{key} {have.get(key, 0):.2f}, at least {want}" for key, want in rules.get("least", {}).items() if have.get(key, 0) < want]
    out += [f"{key} {have.get(key, 0):.2f}, at most {want}" for key, want in rules.get("most", {}).items() if have.get(key, 0) > want]
    return out + ([f"spills {have['spill']} bytes"] if have["spill"] else [])


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in TARGETS or sys.argv[1].split("_")[0] not in isa.LISTINGS:
        sys.exit(__doc__)
    target = sys.argv[1]
    failed = 0
    for title, file, kernel, options, rules in KERNELS:
        try:
            have = isa.measure(target, file, kernel, options)
            bad = failures(have, rules[target.split("_")[0]])
        except Unavailable as reason:
            print(f"skipped: {reason}")
            sys.exit(SKIPPED)
        except isa.Broken as reason:
            have, bad = {}, [str(reason)]
        failed += bool(bad)
        print(f"{'FAIL' if bad else 'ok  '} {title}: " + " ".join(f"{key}={value:.3g}" for key, value in have.items() if key != "counts") +
              (f"  <- {'; '.join(bad)}" if bad else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
