#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models how fast the GPU products could be by their machine code: a MODEL ON PAPER, NOTHING HERE WAS TIMED ON A GPU.

usage: gpu_model.py [TARGET ...]      prints three tables; a target whose compiler or disassembler is not installed is left out by name

The share of the peak of fused multiply-adds is the smaller of two bounds:
  issue   the share of multiply-adds in the work of the arithmetic pipe in the hot loop (tests/offline/isa.py reads the compilers' output).
          Exponentials contain multiply-adds too, so in attention only those of the two products count, in one block of keys
  local   the rate at which local memory delivers bytes, divided by the bytes per multiply-add, without broadcasts (pessimistic)
Products in half precision are in per cent of the same peak, that of float32: up to 200.
The table of precisions compares the three precisions for large products, also in units of that peak. `highest` is gemm_tiled.cl, the others
are gemm_matrix.cl, whose hot loop is compiled for whole slices of k. A matrix unit is busy for the clocks of its instructions. Other
instructions are issued at the same time; on RDNA they use the same pipe, so they are issued before or after.
Global memory is not modelled: tiles of 64 x 64 need 0.125 bytes of it per multiply-add. The result is an upper bound that ranks kernels; it
predicts no time."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "offline"))
import check_isa  # noqa: E402
import isa  # noqa: E402
from compile import TARGETS, Unavailable  # noqa: E402

# Per compute unit (AMD: CU, NVIDIA: SM, Intel: 16 execution units that share a local memory): multiply-adds per clock, and bytes of local
# memory per clock. AMD: the "Vega ISA", "RDNA 2 ISA" and "RDNA3 ISA" reference guides (LDS: 128 bytes per clock and CU). NVIDIA: CUDA
# C++ programming guide, arithmetic instructions and shared memory (32 banks of 4 bytes per clock; 64 bytes on sm_75 are assumed, not
# confirmed). Intel: graphics programmer's references, shared local memory.
UNITS = {
    "amd_gfx906": (64, 128), "amd_gfx1030": (64, 128), "amd_gfx1100": (128, 128), "nvidia_sm75": (64, 64), "nvidia_sm90": (128, 128),
    "intel_gen12lp": (128, 128), "intel_dg2": (128, 128),
    "nvidia_sm80": (64, 128), "nvidia_sm120": (128, 128), "amd_gfx90a": (64, 128), "amd_gfx942_new": (128, 128),
    "amd_gfx1100_new": (128, 128), "amd_gfx1200_new": (128, 128), "intel_pvc": (128, 128),
}
# Matrix units: clocks that one instruction of isa.py's `matrix` occupies the pipe of a SIMD unit, and the unit's peak divided by that of
# multiply-adds.
# Both follow from the published peaks in TFLOP/s: T4 65, A100 312, and H100 989, of which mma.sync reaches 0.63 (637 measured). The RTX
# 5090 has 210 with float32 sums, MI250X 383, MI300X 1,307, RX 7900 XTX 123, RX 9070 XT 195, Arc A770 137, and Max 1550 832.
MATRIX_UNITS = {
    "nvidia_sm75": (8, 8), "nvidia_sm80": (8, 16), "nvidia_sm90": (6.35, 9.5), "nvidia_sm120": (32, 2), "amd_gfx90a": (32, 8),
    "amd_gfx942_new": (16, 8), "amd_gfx1100_new": (32, 2), "amd_gfx1200_new": (16, 4), "intel_dg2": (16, 8), "intel_pvc": (8, 16),
}
PRODUCTS = {"high": 3, "medium": 1}  # products on the matrix unit for one product of the op

BOUND_BY_ARITHMETIC = ("gemm_tiled", "attention_group")  # other kernels wait for memory, so their loads in flight decide


def issue_share(target, have):
    counts = have["counts"]
    fma = counts["fma"]
    if counts.get("half"):  # an instruction holds two of them, and no two such instructions run at once
        return have["fma"] / (2 if target == "amd_gfx1100" else 1)
    if target in ("amd_gfx90a", "amd_gfx942_new"):  # the peak of gfx942 counts two per instruction
        return (fma + counts.get("packed", 0)) / (fma + counts.get("valu", 0) + 4 * counts.get("trans", 0)) * 64 / UNITS[target][0]
    if target == "amd_gfx906":  # an exponential takes the pipe four times as long; elsewhere it has a pipe of its own
        return fma / (fma + counts.get("valu", 0) + 4 * counts.get("trans", 0))
    if target.startswith(("amd_gfx11", "amd_gfx12")):  # two multiply-adds per clock where the compiler pairs them
        return fma / 2 / (fma + counts.get("valu", 0) + counts.get("trans", 0) - counts.get("dual", 0))
    if target in ("nvidia_sm75", "nvidia_sm80"):  # one instruction per clock is issued, 16 lanes take two clocks for one
        return 2 * fma / max(2 * fma, 2 * counts.get("valu", 0), fma / have["fma"])
    if target in ("nvidia_sm90", "nvidia_sm120"):
        return fma / max(2 * counts.get("valu", 0), fma / have["fma"])
    return have["fma"]


def bounds(target, have, of):
    """Shares of the multiply-adds' peak that issue and local memory allow."""
    # Intel's listing does not show the bytes, so those of the same source on another target stand for them
    per_fma = (of("amd_gfx1030") if target.startswith("intel") else have)["local_per_fma"]
    lanes, bytes_per_clock = UNITS[target]
    return issue_share(target, have), bytes_per_clock / lanes / per_fma


def share_of_peak(target, have, of):
    """A cell of the table: "issue/local memory **the smaller**" in per cent."""
    issue, local = bounds(target, have, of)
    most = 2 if have["counts"].get("half") else 1
    return f"{100 * issue:.0f}/{100 * local:.0f} **{100 * min(most, issue, local):.0f}**"


def matrix_share(target, counts):
    """Share of the matrix unit's peak: its clocks in one iteration of the loop, divided by all clocks of the iteration."""
    busy = MATRIX_UNITS[target][0] * counts["matrix"]
    arithmetic = counts.get("valu", 0) + counts.get("fma", 0) + counts.get("trans", 0)
    issued = sum(count for pipe, count in counts.items() if pipe in isa.PIPES and pipe != "wait")
    if target.startswith(("amd_gfx11", "amd_gfx12")):
        return busy / (busy + arithmetic)
    if target.startswith("amd"):  # 16 lanes for a wave of 64
        return busy / max(busy, 4 * arithmetic)
    if target.startswith("nvidia"):  # integers by 16 lanes
        return busy / max(busy, 2 * arithmetic, issued)
    vectors = counts["alu_lanes8"] / (2 if target == "intel_pvc" else 1)  # intel_pvc has 16 lanes
    return busy / max(busy, vectors + issued - arithmetic - counts["matrix"])


def print_precisions(targets, left_out):
    """Prints the table of precisions, for the tiles that the engines choose for large products (check_isa.py)."""
    whole_slices = ("if (left >= DEPTH)", "if (true)")
    print("Model, not measured: speed of large products, 1 = the peak of float32 multiply-adds; share of the matrix unit's peak\n\n"
          "| GPU | highest | high | medium |\n|---|---|---|---|")
    for target in targets:
        def of(other):
            return check_isa.measure(other, *check_isa.KERNELS[0][1:])
        cells = []
        try:
            cells.append(f"{min(1, *bounds(target, of(target), of)):.2f}")
            for precision, products in PRODUCTS.items():
                file, kernel, options = next((row[1:4] for row in check_isa.KERNELS
                                              if row[0] == f"product on a matrix unit, {precision}" and target in row[4]), (None,) * 3)
                if not file:
                    raise isa.Broken("check_isa.py has no rule for the code of its matrix unit")
                counts = isa.measure(target, file, kernel, options, whole_slices)["counts"]
                if not counts.get("matrix"):
                    raise isa.Broken("no loop with matrix instructions found")
                share = matrix_share(target, counts)
                cells.append(f"{share * MATRIX_UNITS[target][1] / products:.2f} ({100 * share:.0f} %)")
        except (Unavailable, isa.Broken) as reason:
            left_out.add(f"{target}: {reason}")
        print(f"| {target} | " + " | ".join(cells + ["-"] * (3 - len(cells))) + " |", flush=True)
    print()


def under_way(_, have, __):
    """A cell of the table: loads that a work-item has in flight (share of 16-byte loads), hardware threads that fit on a SIMD unit."""
    return f"{have['flight']} ({100 * have['wide_loads']:.0f} %), {have['threads']:.0f}"


def print_table(title, targets, is_in, cell, left_out):
    print(title + "\n\n| kernel | " + " | ".join(targets) + " |\n|---|" + "---|" * len(targets))
    for name, file, kernel, options, rules in check_isa.KERNELS:
        if not is_in(kernel):
            continue
        cells = []
        for target in targets:
            def of(other):
                return check_isa.measure(other, file, kernel, options, rules)
            try:
                cells.append(cell(target, of(target), of))
            except (Unavailable, isa.Broken) as reason:
                left_out.add(f"{target}: {reason}")
                cells.append("-")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def main():
    targets = sys.argv[1:] or list(UNITS)
    with_units = [target for target in targets if target in MATRIX_UNITS]
    others = [target for target in targets if target in TARGETS]
    unknown = [target for target in targets if target not in UNITS]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not in the model; there are: {', '.join(UNITS)}")
    left_out = set()
    if with_units:
        print_precisions(with_units, left_out)
    if others:
        print_table("Model, not measured: share of FMA peak in %, issue / local memory -> the least", others,
                    lambda kernel: kernel in BOUND_BY_ARITHMETIC, share_of_peak, left_out)
        print_table("Counted in the code: loads from global memory under way at once (share of them that are 16 bytes), "
                    "hardware threads on a SIMD unit", others, lambda kernel: kernel not in BOUND_BY_ARITHMETIC, under_way, left_out)
    for line in sorted(left_out):
        print("left out: " + line)


if __name__ == "__main__":
    main()
