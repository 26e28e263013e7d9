#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Models how fast the GPU products could be by their machine code: a MODEL ON PAPER, NOTHING HERE WAS TIMED ON A GPU.

usage: gpu_model.py [TARGET ...]      prints two tables; a target whose compiler or disassembler is not installed is left out by name

Share of the peak of fused multiply-adds = the least of
  issue   what the arithmetic pipe does besides multiply-adds in the hot loop (tests/offline/isa.py reads the compilers' output); in
          attention, whose exponentials hold multiply-adds too, those of the two products count, in one block of keys
  local   bytes of local memory per multiply-add against what the memory delivers, no gain from broadcasts (pessimistic)
Products by halves are in units of the same peak, that of float32: up to 200.
Global memory is left out: tiles of 64 x 64 ask 0.125 bytes per multiply-add of it. An upper bound that ranks kernels; it
predicts no time."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "offline"))
import check_isa  # noqa: E402
import isa  # noqa: E402
from compile import Unavailable  # noqa: E402

# Per compute unit (AMD: CU, NVIDIA: SM, Intel: 16 execution units that share a local memory): lanes that multiply-add per clock, bytes of
# local memory per clock. AMD: the "Vega ISA", "RDNA 2 ISA" and "RDNA3 ISA" reference guides (LDS: 128 bytes per clock and CU). NVIDIA: CUDA
# C++ programming guide, arithmetic instructions and shared memory (32 banks of 4 bytes per clock; 64 bytes on sm_75 are assumed, not
# confirmed). Intel: graphics programmer's references, shared local memory.
UNITS = {
    "amd_gfx906": (64, 128), "amd_gfx1030": (64, 128), "amd_gfx1100": (128, 128), "nvidia_sm75": (64, 64), "nvidia_sm90": (128, 128),
    "intel_gen12lp": (128, 128), "intel_dg2": (128, 128),
}

BOUND_BY_ARITHMETIC = ("gemm_tiled", "attention_group")  # the others wait for memory: what they have under way decides


def issue_share(target, have):
    counts = have["counts"]
    fma = counts["fma"]
    if counts.get("half"):  # two to an instruction, and no two such instructions at once
        return have["fma"] / (2 if target == "amd_gfx1100" else 1)
    if target == "amd_gfx906":  # an exponential takes the pipe four times as long; elsewhere it has a pipe of its own
        return fma / (fma + counts.get("valu", 0) + 4 * counts.get("trans", 0))
    if target == "amd_gfx1100":  # two multiply-adds per clock where the compiler pairs them
        return fma / 2 / (fma + counts.get("valu", 0) + counts.get("trans", 0) - counts.get("dual", 0))
    if target == "nvidia_sm75":  # one instruction per clock is issued, 16 lanes take two clocks for one
        return 2 * fma / max(2 * fma, 2 * counts.get("valu", 0), fma / have["fma"])
    if target == "nvidia_sm90":
        return fma / max(2 * counts.get("valu", 0), fma / have["fma"])
    return have["fma"]


def share_of_peak(target, have, of):
    """"issue/local memory **the least**" in per cent."""
    # Intel's listing does not tell the bytes: those of the same source elsewhere
    per_fma = (of("amd_gfx1030") if target.startswith("intel") else have)["local_per_fma"]
    lanes, bytes_per_clock = UNITS[target]
    issue, local = issue_share(target, have), bytes_per_clock / lanes / per_fma
    most = 2 if have["counts"].get("half") else 1
    return f"{100 * issue:.0f}/{100 * local:.0f} **{100 * min(most, issue, local):.0f}**"


def under_way(_, have, __):
    """Loads that an item has under way at once and how many of them are of 16 bytes; hardware threads that fit on a SIMD unit."""
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
    unknown = [target for target in targets if target not in UNITS]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not in the model; there are: {', '.join(UNITS)}")
    left_out = set()
    print_table("Model, not measured: share of FMA peak in %, issue / local memory -> the least", targets,
                lambda kernel: kernel in BOUND_BY_ARITHMETIC, share_of_peak, left_out)
    print_table("Counted in the code: loads from global memory under way at once (share of them that are 16 bytes), "
                "hardware threads on a SIMD unit", targets, lambda kernel: kernel not in BOUND_BY_ARITHMETIC, under_way, left_out)
    for line in sorted(left_out):
        print("left out: " + line)


if __name__ == "__main__":
    main()
