#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the machine code of the GPU kernels to rules; needs no device.

usage: check_isa.py TARGET

TARGET is a row of compile.py's TARGETS or MATRIX_TARGETS. A rule names the least or the most of what isa.measure() finds in the hot \
loop. Rules are \
shares and sizes, not
counts, and stand about ten points away from what was measured: another version of a compiler unrolls, schedules and allocates otherwise. \
No kernel may
spill. A kernel that does not compile, has no loop, or no multiply-add in it, fails.

Exit status: 0 all hold, 1 some do not, 77 a compiler or disassembler is not installed."""
import sys

import isa
from compile import MATRIX_TARGETS, SKIPPED, TARGETS, Unavailable


def typed(*names):
    return [option for name in names for option in (f"-D{name}_T=float", f"-DLOAD_{name}=load_f32", f"-DSTORE_{name}=store_f32")]


RESULT = ["-DWIDTH=1", "-DHAS_BIAS=1", "-DHAS_RESIDUAL=1", "-DHAS_BLOCKS=0", "-DHAS_BATCH=0", "-DACTIVATE=activate_none",
          *typed("A", "C", "R")]


def tiled(item_m, item_n, reads, is_half=0):
    return [*RESULT, *typed("B"), f"-DIS_HALF={is_half}", "-DWG_M=8", "-DWG_N=8", f"-DITEM_M={item_m}", f"-DITEM_N={item_n}", "-DSLICE=8",
            "-DIS_SPLIT=0", "-DOFFSET_T=uint", "-DIS_A_K_INNER=1",
            "-DIS_B_K_INNER=1", "-DA_READS=ALIGNED_VECTORS", f"-DB_READS={reads}", "-DC_VECTOR=1"]


def gemv(storage, columns, reads):
    """Four rows of floats against columns of a storage type, whose loads an item has under way together."""
    return [*RESULT, f"-DB_T={STORED[storage]}", f"-DLOAD_B=load_{storage}", "-DROWS=4", f"-DCOLUMNS={columns}", f"-DSUMS={4 * columns}",
            "-DWG=64", "-DSUBGROUPS=0", "-DA_READS=ALIGNED_VECTORS", f"-DB_READS={reads}"]


def matrix(unit, waves, blocks, parts, buffers):
    """As host/kernel/gemm_matrix.c chooses: float rows of both operands, waves and blocks down and across."""
    macros = {"UNIT": unit, "IS_EMULATED": 0, "WAVES_M": waves[0], "WAVES_N": waves[1], "BLOCKS_M": blocks[0], "BLOCKS_N": blocks[1],
              "SLICE": 32, "BUFFERS": buffers, "A_PARTS": parts, "B_PARTS": parts, "TOTAL_EVERY": 4 if parts == 2 else 0,
              "OFFSET_T": "uint", "IS_A_K_INNER": 1, "IS_B_K_INNER": 1, "A_READS": "ALIGNED_VECTORS", "B_READS": "ALIGNED_VECTORS",
              "B_FORM": "B_ROWS", "C_VECTOR": 1}
    own = [option for option in (*RESULT, *typed("B")) if not option.startswith(("-DSTORE_A", "-DSTORE_B"))]
    return [*own, *(f"-D{name}={value}" for name, value in macros.items())]


def matrix_peak(unit, blocks):
    return [f"-DUNIT={unit}", "-DIS_EMULATED=0", "-DWAVES=4", f"-DBLOCKS_M={blocks[0]}", f"-DBLOCKS_N={blocks[1]}"]


def attention_matrix(unit, head, numbers):
    """As host/kernel/attention_matrix.c divides 64 queries of floats, no mask: waves along the columns until a lane's results fit."""
    lanes = MATRIX_LANES[unit]
    values, most = 256 // lanes, 64 if unit in ("NVIDIA_BF16", "AMD_CDNA") else 32
    waves_n = 1
    while waves_n < 8 and -(-head // (16 * waves_n)) * values > most:
        waves_n *= 2
    is_nvidia = unit.startswith("NVIDIA")
    row_items = waves_n * lanes // (8 if is_nvidia or lanes < 16 else 16)
    least_keys = max(32, 16 * waves_n, (4 if is_nvidia else 8) * row_items)
    macros = {"UNIT": unit, "IS_EMULATED": 0, "WAVES_M": 4, "WAVES_N": waves_n, "NUMBERS": numbers,
              "KEY_BLOCK": least_keys if numbers == 2 else max(64, least_keys), "PART_KEYS": 32, "SLICE": 32, "READS": "ALIGNED_VECTORS",
              "OFFSET_T": "uint", "TILE_PARTS": 1, "HAS_NATIVE_EXP2": 1, "HEAD": head, "HEAD_V": head, "IS_CAUSAL": 0, "HAS_KEY_MASK": 0,
              "HAS_LENGTHS": 0, "HAS_BIAS": 0, "HAS_WINDOW": 0, "HAS_KEEP": 0, "EMPTY_ROWS": "EMPTY_ROWS_ZERO"}
    return [*typed("IN", "OUT"), *(f"-D{name}={value}" for name, value in macros.items())]


MATRIX_LANES = {"NVIDIA_F16": 32, "NVIDIA_BF16": 32, "AMD_GFX11": 32, "AMD_GFX12": 32, "AMD_CDNA": 64, "INTEL_16": 16, "INTEL_8": 8}
STORED = {"f32": "float", "f16": "half", "bf16": "ushort"}
GEMV_RULES = {"amd": {"least": {"threads": 4, "fma": 0.4, "wide_loads": 0.85, "flight": 3}},
              "nvidia": {"least": {"threads": 6, "wide_loads": 0.8, "flight": 3}}, "intel": {"least": {"wide_loads": 0.85}}}
# NVIDIA's compiler makes single loads of what is not aligned; but on devices with a memory of their own weights have buffers of their own.
GEMV_RULES_UNALIGNED = {**GEMV_RULES, "nvidia": {"least": {"threads": 6, "flight": 5}}}


def group_items(target):
    """Sizes of work-groups that may be parts of a launch graph."""
    return 256 if target.startswith("nvidia") else 64


def blocks(number):
    """As host/kernel/gemm_blocks.c shares them: by more columns where registers are many."""
    def options(target):
        is_nvidia = target.startswith("nvidia")
        return [*RESULT, "-DROWS=1", f"-DWG={group_items(target)}", "-DLANES=32", f"-DCOLUMNS={4 if is_nvidia else 1}",
                f"-DIS_ALIGNED={int(number == 12)}", "-DIS_GATED=0", f"-DIS_UNROLLED={int(is_nvidia)}", f"-DBLOCKS={number}",
                "-DA_READS=ALIGNED_VECTORS"]
    return options


def cached_attention(target):
    return ["-DHEAD=64", *typed("KV"), "-DIS_Q8=0", "-DHAS_WINDOW=0", "-DHAS_SOFT_CAP=0", "-DHAS_BIAS=0", f"-DWG={group_items(target)}",
            f"-DLANES={group_items(target)}", "-DIS_SPLIT=1", "-DIS_ALIGNED=1", "-DSUBGROUPS=0", "-DOFFSET_T=uint"]


def attention_division(target, head, items_k):
    """As host/kernel/attention_group.c divides 64 queries: an item has more of everything where there are registers for it."""
    is_large = target.startswith("nvidia")
    rows, halves = 2 if is_large or head <= 64 else 1, 2 if is_large and head <= 64 else 1
    return {"ITEMS_Q": 8, "ITEMS_K": items_k, "ROW_VECTORS": rows, "KEY_VECTORS": 2 if is_large else 1,
            "COLUMN_VECTORS": head * halves // (4 * items_k), "KEY_HALVES": halves, "MANY_REGISTERS": int(is_large), "SLICE": 16,
            "PART_KEYS": 32 if halves == 2 else 16, "TILE_PARTS": 2 // rows}


def attention(head, items_k):
    """Options for a target: 64 queries in a tile, no mask."""
    def options(target):
        macros = {"WIDTH": 4, **attention_division(target, head, items_k), "IS_ALIGNED": 1, "HAS_NATIVE_EXP2": 1, "HEAD": head,
                  "HEAD_V": head, "IS_CAUSAL": 0, "HAS_KEY_MASK": 0, "HAS_LENGTHS": 0, "HAS_BIAS": 0, "HAS_WINDOW": 0, "HAS_KEEP": 0,
                  "EMPTY_ROWS": "EMPTY_ROWS_ZERO"}
        return [*typed("IN", "OUT"), *(f"-D{name}={value}" for name, value in macros.items())]
    return options


def attention_products(head, items_k):
    """isa.product_block's arguments for a target: first the multiply-adds of an item in each product. Then the turns of the loops over
    slices and parts, and of the loops that load a slice (two items to a line) and a part of v."""
    def products(target):
        by = attention_division(target, head, items_k)
        keys, group, queries = 4 * by["KEY_VECTORS"] * items_k, 8 * items_k, 32 * by["ROW_VECTORS"]
        return (16 * by["ROW_VECTORS"] * by["KEY_VECTORS"] * head, max(head // by["SLICE"], keys // by["PART_KEYS"]),
                (-(-2 * max(keys, queries) // group), by["PART_KEYS"] * (items_k // by["KEY_HALVES"]) // group))
    return products


# (title, file, kernel, options or a function of the target, {vendor or target: {"least": ..., "most": ...},
# "products": where there are two})
KERNELS = [
    ("product, 8 x 8 results per item", "gemm_tiled.cl", "gemm_tiled", tiled(8, 8, "ALIGNED_VECTORS"), {
        "amd": {"least": {"threads": 2, "fma": 0.88, "wide": 0.9, "wide_loads": 0.85, "flight": 2},
                "most": {"local_per_fma": 1.25, "registers": 128}},
        "nvidia": {"least": {"threads": 4, "fma": 0.78, "wide": 0.9, "wide_loads": 0.85, "flight": 3},
                   "most": {"local_per_fma": 1.25, "registers": 128}},
        "intel": {"least": {"fma": 0.74}}}),
    ("product, a weight that is not aligned", "gemm_tiled.cl", "gemm_tiled", tiled(8, 8, "VECTORS"), {
        "amd": {"least": {"threads": 2, "fma": 0.88, "wide": 0.9, "flight": 2}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "nvidia": {"least": {"threads": 4, "fma": 0.77, "wide": 0.9, "flight": 3}, "most": {"local_per_fma": 1.25, "registers": 128}},
        "intel": {"least": {"fma": 0.74}}}),
    ("product, 4 x 4 results per item", "gemm_tiled.cl", "gemm_tiled", tiled(4, 4, "ALIGNED_VECTORS"), {
        "amd": {"least": {"threads": 3, "fma": 0.85, "wide": 0.9, "wide_loads": 0.85}, "most": {"local_per_fma": 2.5, "registers": 80}},
        "nvidia": {"least": {"threads": 6, "fma": 0.65, "wide": 0.9, "wide_loads": 0.85}, "most": {"local_per_fma": 2.5, "registers": 80}},
        "intel": {"least": {"fma": 0.70}}}),
    # of halves a multiply-add counts half of a float's; NVIDIA's OpenCL has no cl_khr_fp16
    ("product by halves, 8 x 4 results per item", "gemm_tiled.cl", "gemm_tiled", tiled(8, 4, "ALIGNED_VECTORS", is_half=1), {
        "amd": {"least": {"threads": 2, "fma": 1.2, "wide_loads": 0.85, "flight": 2}, "most": {"local_per_fma": 1.1, "registers": 128}},
        "intel": {"least": {"fma": 0.2}}}),
    *((title, "gemm_gemv.cl", "gemm_gemv_dot", gemv(storage, columns, reads), rules) for title, storage, columns, reads, rules in (
        ("few rows against a weight as stored", "f32", 2, "ALIGNED_VECTORS", GEMV_RULES),
        ("few rows against a weight that is not aligned", "f32", 2, "VECTORS", GEMV_RULES_UNALIGNED),
        ("few rows against a weight of float16", "f16", 2, "ALIGNED_VECTORS", GEMV_RULES),
        ("few rows against a weight of bfloat16", "bf16", 2, "ALIGNED_VECTORS", GEMV_RULES))),
    # Matrix instructions in the loop over slices, which also has the loads of the last, shorter slice.
    *((f"product on a matrix unit, {title}", "gemm_matrix.cl", "gemm_matrix", matrix(unit, waves, blocks_of_wave, parts, buffers),
       {target: {"least": {"matrix": least}, "most": {"registers": registers}}})
      for title, target, unit, waves, blocks_of_wave, parts, buffers, least, registers in (
          ("medium", "nvidia_sm75", "NVIDIA_F16", (2, 4), (4, 2), 1, 2, 0.16, 192),
          ("high", "nvidia_sm75", "NVIDIA_F16", (2, 4), (2, 2), 2, 2, 0.19, 224),
          ("medium", "nvidia_sm80", "NVIDIA_BF16", (2, 4), (4, 4), 1, 2, 0.10, 255),
          ("high", "nvidia_sm80", "NVIDIA_BF16", (2, 4), (2, 2), 2, 2, 0.09, 192),
          ("medium", "nvidia_sm90", "NVIDIA_BF16", (2, 4), (4, 4), 1, 2, 0.10, 255),
          ("high", "nvidia_sm90", "NVIDIA_BF16", (2, 4), (2, 2), 2, 2, 0.09, 192),
          ("medium", "nvidia_sm120", "NVIDIA_BF16", (2, 4), (4, 4), 1, 2, 0.08, 255),
          ("high", "nvidia_sm120", "NVIDIA_BF16", (2, 4), (2, 2), 2, 2, 0.08, 192),
          ("medium", "amd_gfx90a", "AMD_CDNA", (2, 4), (4, 4), 1, 1, 0.05, 192),
          ("high", "amd_gfx90a", "AMD_CDNA", (2, 4), (4, 2), 2, 1, 0.07, 192),
          ("medium", "amd_gfx942_new", "AMD_CDNA", (2, 4), (4, 4), 1, 1, 0.06, 192),
          ("high", "amd_gfx942_new", "AMD_CDNA", (2, 4), (4, 2), 2, 1, 0.07, 192),
          ("medium", "amd_gfx1100_new", "AMD_GFX11", (2, 4), (4, 2), 1, 1, 0.02, 255),
          ("high", "amd_gfx1100_new", "AMD_GFX11", (2, 4), (2, 2), 2, 1, 0.02, 240),
          ("medium", "amd_gfx1200_new", "AMD_GFX12", (2, 4), (4, 2), 1, 1, 0.02, 224),
          ("high", "amd_gfx1200_new", "AMD_GFX12", (2, 4), (2, 2), 2, 1, 0.02, 224),
          ("medium", "intel_dg2", "INTEL_8", (2, 8), (2, 2), 1, 1, 0.03, 128),
          ("high", "intel_dg2", "INTEL_8", (2, 4), (2, 2), 2, 1, 0.03, 128))),
    # The loop of its two products that has the larger share of matrix instructions.
    *((f"fused attention on a matrix unit, {'medium' if numbers == 1 else 'high'}", "attention_matrix.cl", "attention_matrix",
       attention_matrix(unit, 64, numbers), {target: {"least": {"matrix": least}, "most": {"registers": registers}}})
      for target, unit, numbers, least, registers in (
          ("nvidia_sm75", "NVIDIA_F16", 1, 0.27, 192), ("nvidia_sm75", "NVIDIA_F16", 2, 0.40, 192),
          ("nvidia_sm80", "NVIDIA_BF16", 1, 0.16, 192), ("nvidia_sm80", "NVIDIA_BF16", 2, 0.18, 160),
          ("nvidia_sm90", "NVIDIA_BF16", 1, 0.14, 160), ("nvidia_sm90", "NVIDIA_BF16", 2, 0.18, 160),
          ("nvidia_sm120", "NVIDIA_BF16", 1, 0.13, 160), ("nvidia_sm120", "NVIDIA_BF16", 2, 0.16, 160),
          ("amd_gfx90a", "AMD_CDNA", 1, 0.06, 160), ("amd_gfx90a", "AMD_CDNA", 2, 0.05, 160),
          ("amd_gfx942_new", "AMD_CDNA", 1, 0.05, 160), ("amd_gfx942_new", "AMD_CDNA", 2, 0.05, 160),
          ("amd_gfx1100_new", "AMD_GFX11", 1, 0.045, 250), ("amd_gfx1100_new", "AMD_GFX11", 2, 0.04, 255),
          ("amd_gfx1200_new", "AMD_GFX12", 1, 0.05, 192), ("amd_gfx1200_new", "AMD_GFX12", 2, 0.045, 192),
          ("intel_dg2", "INTEL_8", 1, 0.02, 128), ("intel_dg2", "INTEL_8", 2, 0.03, 128))),
    *(("peak of a matrix unit", "matrix_rate.cl", "matrix_rate", matrix_peak(unit, blocks_of_wave),
       {target: {"least": {"matrix": least}, "most": {"registers": 128}}})
      for target, unit, blocks_of_wave, least in (
          ("nvidia_sm75", "NVIDIA_F16", (4, 2), 0.8), ("nvidia_sm90", "NVIDIA_BF16", (4, 2), 0.8),
          ("amd_gfx1100", "AMD_GFX11", (4, 2), 0.6), ("intel_dg2", "INTEL_8", (2, 1), 0.5), ("nvidia_sm80", "NVIDIA_BF16", (4, 2), 0.7),
          ("nvidia_sm120", "NVIDIA_BF16", (4, 2), 0.4),
          ("amd_gfx90a", "AMD_CDNA", (4, 2), 0.6), ("amd_gfx942_new", "AMD_CDNA", (4, 2), 0.6),
          ("amd_gfx1200_new", "AMD_GFX12", (4, 2), 0.5), ("intel_pvc", "INTEL_16", (2, 1), 0.45))),
    *((f"few rows against quantised blocks, {title}", "gemm_blocks.cl", "gemm_blocks",
       blocks(number),
       {"amd": {"least": {"fma": 0.16}, "most": {"loads": amd}}, "nvidia": {"least": {"fma": 0.17}, "most": {"loads": nvidia}},
        "intel": {"least": {"fma": 0.13}}})
      for title, number, amd, nvidia in (("Q8_0", 8, 13, 165), ("Q4_K", 12, 12, 36))),  # loads of 32 weights; on NVIDIA of 256
    ("cached attention, keys in parts: rows of values under way at once", "cached_attention_group.cl", "cached_attention_group",
     cached_attention,
     {"amd": {"least": {"threads": 2, "fma": 0.15, "flight": 7}, "most": {"registers": 128}},
      "nvidia": {"least": {"threads": 6, "fma": 0.12, "flight": 5}, "most": {"registers": 128}}, "intel": {"least": {"fma": 0.15}}}),
    ("fused attention, heads of 32", "attention_group.cl", "attention_group", attention(32, 8), {
        "products": attention_products(32, 8),
        "amd": {"least": {"fma": 0.65}, "most": {"local_per_fma": 2.0, "registers": 144}},
        "nvidia": {"least": {"threads": 2, "fma": 0.66}, "most": {"local_per_fma": 1.33, "registers": 248}},
        "intel_gen12lp": {"least": {"fma": 0.40}}, "intel_dg2": {"least": {"fma": 0.51}}}),
    ("fused attention, heads of 64", "attention_group.cl", "attention_group", attention(64, 16), {
        "products": attention_products(64, 16),
        "amd": {"least": {"fma": 0.74}, "most": {"local_per_fma": 1.85, "registers": 144}},
        "nvidia": {"least": {"threads": 2, "fma": 0.71}, "most": {"local_per_fma": 1.28, "registers": 248}},
        "intel_gen12lp": {"least": {"fma": 0.49}}, "intel_dg2": {"least": {"fma": 0.61}}}),
    ("fused attention, heads of 128", "attention_group.cl", "attention_group", attention(128, 16), {
        "products": attention_products(128, 16),
        "amd": {"least": {"fma": 0.72}, "most": {"local_per_fma": 2.2, "registers": 144}},
        "nvidia": {"least": {"threads": 2, "fma": 0.73}, "most": {"local_per_fma": 1.25, "registers": 248}},
        "intel_gen12lp": {"least": {"fma": 0.40}}, "intel_dg2": {"least": {"fma": 0.54}}}),
]


def measure(target, file, kernel, options, rules):
    options = options(target) if callable(options) else options
    have = (isa.measure_products(target, file, kernel, options, rules["products"](target)) if "products" in rules else
            isa.measure(target, file, kernel, options))
    if target in TARGETS:
        have["threads"] = isa.occupancy(isa.chip(target), have, group_of(options))
    return have


def group_of(options):
    """Work-items of a group."""
    value = dict(option[2:].split("=", 1) for option in options if "=" in option)
    if "UNIT" in value:
        waves = int(value["WAVES"]) if "WAVES" in value else int(value["WAVES_M"]) * int(value["WAVES_N"])
        return waves * MATRIX_LANES[value["UNIT"]]
    return int(value["WG"]) if "WG" in value else \
        int(value.get("WG_M", value.get("ITEMS_Q"))) * int(value.get("WG_N", value.get("ITEMS_K")))


def failures(have, rules):
    out = [f"{key} {have.get(key, 0):.2f}, at least {want}" for key, want in rules.get("least", {}).items() if have.get(key, 0) < want]
    out += [f"{key} {have.get(key, 0):.2f}, at most {want}" for key, want in rules.get("most", {}).items() if have.get(key, 0) > want]
    return out + ([f"spills {have['spill']} bytes"] if have["spill"] else [])


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in {**TARGETS, **MATRIX_TARGETS} or sys.argv[1].split("_")[0] not in isa.LISTINGS:
        sys.exit(__doc__)
    target = sys.argv[1]
    failed = 0
    for title, file, kernel, options, rules in KERNELS:
        own = rules.get(target, None if target in MATRIX_TARGETS else rules.get(target.split("_")[0]))
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
