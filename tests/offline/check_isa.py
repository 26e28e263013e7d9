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


SLICE = 16  # of attention_group, as its launcher has it


def attention_division(target):
    """Keys of a part, and vectors of keys of an item: more where there are registers for them."""
    return (32, 2) if target.startswith("nvidia") else (16, 1)


def attention(head, items_k):
    """Options for a target: 64 queries to a work-group, no mask."""
    def options(target):
        part_keys, key_vectors = attention_division(target)
        macros = {"WIDTH": 4, "ITEMS_Q": 8, "ITEMS_K": items_k, "ROW_VECTORS": 2, "KEY_VECTORS": key_vectors, "COLUMN_VECTORS": 1, "SLICE": SLICE,
                  "TILE_PARTS": 1, "PART_KEYS": part_keys, "IS_ALIGNED": 1, "HAS_NATIVE_EXP2": 1, "HEAD": head, "HEAD_V": head, "IS_CAUSAL": 0,
                  "HAS_KEY_MASK": 0, "HAS_LENGTHS": 0, "HAS_BIAS": 0, "HAS_WINDOW": 0, "HAS_KEEP": 0, "EMPTY_ROWS": "EMPTY_ROWS_ZERO"}
        return [*typed("IN", "OUT"), *(f"-D{name}={value}" for name, value in macros.items())]
    return options


def attention_products(head, items_k):
    """isa.product_block's arguments for a target: an item has 8 queries x 4 or 8 keys of scores and 8 x 4 results; loops load two
    rows of a slice, and as many of a part as 8 items in a column leave to each."""
    def products(target):
        part_keys, key_vectors = attention_division(target)
        return 32 * key_vectors * head, max(head // SLICE, 4 * key_vectors * items_k // part_keys), (2, part_keys // 8)
    return products


# (title, file, kernel, options or a function of the target, {vendor or target: {"least": ..., "most": ...}, "products": where there are two})
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
     ["-DHEAD=64", *typed("KV"), "-DHAS_ROWS=0", "-DHAS_COUNTS=1", "-DHAS_WINDOW=0", "-DHAS_SOFT_CAP=0", "-DHAS_BIAS=0", "-DWG=64", "-DLANES=64", "-DIS_SPLIT=1",
      "-DIS_ALIGNED=1"],
     {"amd": {"least": {"flight": 7}, "most": {"registers": 128}}, "nvidia": {"least": {"loads": 7}, "most": {"registers": 128}}, "intel": {}}),
    ("fused attention, heads of 32", "attention_group.cl", "attention_group", attention(32, 8), {
        "products": attention_products(32, 8),
        "amd": {"least": {"fma": 0.65}, "most": {"local_per_fma": 2.0, "registers": 144}},
        "nvidia": {"least": {"fma": 0.60}, "most": {"local_per_fma": 1.65, "registers": 184}},
        "intel_gen12lp": {"least": {"fma": 0.40}}, "intel_dg2": {"least": {"fma": 0.51}}}),
    ("fused attention, heads of 64", "attention_group.cl", "attention_group", attention(64, 16), {
        "products": attention_products(64, 16),
        "amd": {"least": {"fma": 0.74}, "most": {"local_per_fma": 1.85, "registers": 144}},
        "nvidia": {"least": {"fma": 0.65}, "most": {"local_per_fma": 1.55, "registers": 184}},
        "intel_gen12lp": {"least": {"fma": 0.49}}, "intel_dg2": {"least": {"fma": 0.61}}}),
]


def measure(target, file, kernel, options, rules):
    if "products" in rules:
        return isa.measure_products(target, file, kernel, options(target), rules["products"](target))
    return isa.measure(target, file, kernel, options)


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
        own = rules.get(target, rules.get(target.split("_")[0]))
        if own is None:
            continue
        try:
            have = measure(target, file, kernel, options, rules)
            bad = failures(have, own)
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
