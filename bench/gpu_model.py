#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the GPU products could reach by their machine code: a MODEL ON PAPER, NOTHING HERE WAS TIMED ON A GPU.

usage: gpu_model.py [TARGET ...]      prints a table; a target whose compiler or disassembler is not installed is left out by name

Share of the peak of fused multiply-adds = the least of
  issue   what the arithmetic pipe does besides multiply-adds in the hot loop (tests/offline/isa.py reads the compilers' output); in attention, whose
          exponentials hold multiply-adds too, those of the two products count, in one block of keys
  local   bytes of local memory per multiply-add against what the memory delivers, no gain from broadcasts (pessimistic)
Global memory is left out: tiles of 64 x 64 ask 0.125 bytes per multiply-add of it. An upper bound that ranks kernels; it predicts no time."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "offline"))
import check_isa  # noqa: E402
import isa  # noqa: E402
from compile import Unavailable  # noqa: E402

# Per compute unit (AMD: CU, NVIDIA: SM, Intel: 16 execution units that share a local memory): lanes that multiply-add per clock, bytes of local memory
# per clock. Sources: AMD "Vega ISA", "RDNA 2 ISA" and "RDNA3 ISA" reference guides (LDS: 128 bytes per clock and CU); NVIDIA CUDA C++ programming guide,
# arithmetic instructions and shared memory (32 banks of 4 bytes per clock; 64 bytes on sm_75 are assumed, not confirmed); Intel graphics programmer's
# references, shared local memory.
UNITS = {
    "amd_gfx906": (64, 128), "amd_gfx1030": (64, 128), "amd_gfx1100": (128, 128), "nvidia_sm75": (64, 64), "nvidia_sm90": (128, 128),
    "intel_gen12lp": (128, 128), "intel_dg2": (128, 128),
}

BOUND_BY_ARITHMETIC = ("gemm_tiled", "attention_group")  # the others wait for memory


def issue_share(target, have):
    counts = have["counts"]
    fma = counts["fma"]
    if target == "amd_gfx906":  # an exponential takes the pipe four times as long; elsewhere it has a pipe of its own
        return fma / (fma + counts.get("valu", 0) + 4 * counts.get("trans", 0))
    if target == "amd_gfx1100":  # two multiply-adds per clock where the compiler pairs them
        return fma / 2 / (fma + counts.get("valu", 0) + counts.get("trans", 0) - counts.get("dual", 0))
    if target == "nvidia_sm75":  # one instruction per clock is issued, 16 lanes take two clocks for one
        return 2 * fma / max(2 * fma, 2 * counts.get("valu", 0), fma / have["fma"])
    if target == "nvidia_sm90":
        return fma / max(2 * counts.get("valu", 0), fma / have["fma"])
    return have["fma"]


def main():
    targets = sys.argv[1:] or list(UNITS)
    unknown = [target for target in targets if target not in UNITS]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not in the model; there are: {', '.join(UNITS)}")
    print("Model, not measured: share of FMA peak in %, issue / local memory -> the least\n")
    print("| kernel | " + " | ".join(targets) + " |\n|---|" + "---|" * len(targets))
    left_out = set()
    for title, file, kernel, options, rules in check_isa.KERNELS:
        if kernel not in BOUND_BY_ARITHMETIC:
            continue
        cells = []
        for target in targets:
            try:
                have = check_isa.measure(target, file, kernel, options, rules)
                # Intel's listing does not tell the bytes: those of the same source elsewhere
                same = check_isa.measure("amd_gfx1030", file, kernel, options, rules) if target.startswith("intel") else have
                per_fma = same["local_per_fma"]
            except (Unavailable, isa.Broken) as reason:
                left_out.add(f"{target}: {reason}")
                cells.append("-")
                continue
            lanes, bytes_per_clock = UNITS[target]
            issue, local = issue_share(target, have), bytes_per_clock / lanes / per_fma
            cells.append(f"{100 * issue:.0f}/{100 * local:.0f} **{100 * min(1, issue, local):.0f}**")
        print(f"| {title} | " + " | ".join(cells) + " |")
    for line in sorted(left_out):
        print("left out: " + line)


if __name__ == "__main__":
    main()
