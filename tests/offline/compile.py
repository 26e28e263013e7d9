#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every kernel variant that the tests asked for with the code generator of a GPU family; needs no device.

usage: compile.py TARGET --kernels DIRECTORY [--newer-than FILE] [--jobs N]

TARGET is a row of TARGETS below. DIRECTORY is what CLF_KERNEL_DUMP filled while the op, nn and model tests ran: one file per kernel, file
and options in its first two lines. Files older than FILE (the library) come from an earlier build and are passed over.

A variant fails when the compiler refuses it or warns, since drivers print warnings on the user's terminal. It also fails for AMD and NVIDIA
when it spills registers. Intel's compiler chooses the number of lanes to fit, so that its spills are only listed as a remark.

The row front_end takes variants through clang's OpenCL C front end alone. The others are code generators and take the variants of the
GPU family and those of cl/any; those of the CPU family (cl/cpu: one work-item per group, wide vectors held in registers) no GPU chooses.
All take a sample in which every two options stand together that do so in any variant, about half of all. The generations of a vendor
share it, so that one or another compiles each, and each takes every kernel file. CLF_OFFLINE_ALL=1: every variant on every target.

Exit status: 0 all compile, 1 some do not, 77 the compiler is not installed."""
import argparse
import concurrent.futures
import heapq
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))
CLC = "/usr/lib/clc"
CLANGS = ("clang-15", "clang-19", "clang")  # Debian 12's, Debian 13's
NEWER_CLANGS = ("clang-19", "clang-20", "clang-21")  # for processors that clang 15 does not know, or whose registers it does not use up
# Linker warnings are of the libraries, which name no vendor in their triples.
CLANG = ["-x", "cl", "-cl-std=CL1.2", "-O3", "-Werror", "-Wno-linker-warnings", "-nogpulib", "-Xclang", "-finclude-default-header",
         "-Xclang", "-fdeclare-opencl-builtins"]
FOR_NVIDIA = {"-DMANY_REGISTERS=1"}  # whose GPUs alone are said to have them (host/runtime/device.c)


class Unavailable(Exception):
    """The compiler, or something it needs, is not on this machine."""


def require(*candidates):
    for candidate in candidates:
        path = candidate if os.path.isabs(candidate) and os.path.exists(candidate) else shutil.which(candidate)
        if path:
            return path
    raise Unavailable(f"not found: {' or '.join(candidates)}")


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode == 0, done.stdout + done.stderr


class FrontEnd:
    """Syntax and types of every variant, of the CPU family too."""
    spills_fail, takes_cpu_family = False, True
    # Instructions of a CPU's matrix unit take operands in registers that no other target has.
    TARGET, TARGET_OF_X86 = ["-target", "spir64-unknown-unknown"], ["-target", "x86_64-linux-gnu", "-march=sapphirerapids"]

    def __init__(self):
        self.tool = require(*CLANGS)

    def compile(self, source, options, _work):
        target = self.TARGET_OF_X86 if any(option.startswith("-DUNIT=X86_") for option in options) else self.TARGET
        good, log = run([self.tool, *target, *CLANG, "-fsyntax-only", *options, source])
        return good, 0, log


class Intel:
    """ocloc of intel-opencl-icd; it prints spills as a warning."""
    spills_fail, takes_cpu_family = False, False
    refuses = FOR_NVIDIA

    def __init__(self, device):
        self.device, self.tool = device, require("ocloc")

    def compile(self, source, options, work):
        good, log = run([self.tool, "compile", "-file", source, "-device", self.device, "-options", " ".join(["-Werror", *options]),
                         "-output", "kernel", "-out_dir", work])
        built = good and any(entry.endswith(".bin") for entry in os.listdir(work))
        spills = sum(int(count) for count in re.findall(r"spill(?:ed)?\D{0,40}?(\d+)", log, re.IGNORECASE))
        return built, spills, log


class Amd:
    """clang's amdgcn back end; the assembly's metadata counts spills. LLVM 15's library has nothing of half precision."""
    spills_fail, takes_cpu_family = True, False
    refuses = FOR_NVIDIA
    BUILT_IN = ["-include", os.path.join(HERE, "half_amd.h")]

    def __init__(self, processor, clangs=CLANGS):
        self.processor, self.tool = processor, require(*clangs)
        self.library = require(f"{CLC}/amdgcn--amdhsa.bc")

    def compile(self, source, options, work):
        out = os.path.join(work, "kernel.s")
        good, log = run([self.tool, "-target", "amdgcn-amd-amdhsa", "-mcpu=" + self.processor, *CLANG, *self.BUILT_IN,
                         "-Xclang", "-mlink-builtin-bitcode", "-Xclang", self.library, "-S", *options, source, "-o", out])
        if not good:
            return False, 0, log
        with open(out, encoding="utf-8") as file:
            counts = re.findall(r"\.[sv]gpr_spill_count:\s*(\d+)", file.read())
        if not counts:
            return False, 0, "the assembly has no metadata"
        return True, sum(map(int, counts)), log


class Nvidia:
    """clang's NVPTX back end, then, where the CUDA toolkit is installed, ptxas: it prints spilled bytes. No cl_khr_fp16, as
    in NVIDIA's driver."""
    spills_fail, takes_cpu_family = True, False
    refuses = {"-DIS_HALF=1"}
    # libclc of LLVM 15 has no native_exp2 for NVIDIA's GPUs, whose instruction for it is this.
    BUILT_IN = ["-include", os.path.join(HERE, "native_nvidia.h")]

    def __init__(self, architecture):
        self.architecture, self.tool = architecture, require(*CLANGS)
        self.library = require(f"{CLC}/nvptx64--nvidiacl.bc")
        try:
            self.ptxas = require("ptxas", "/usr/local/cuda/bin/ptxas")
        except Unavailable:
            if architecture != "sm_75":
                raise Unavailable("ptxas; without it " + architecture + " differs in nothing from sm_75") from None
            self.ptxas = None

    def compile(self, source, options, work):
        out = os.path.join(work, "kernel.ptx")
        # clang 15 knows architectures up to sm_86; what it writes for sm_75 is valid input for every later one. Products of bfloat16
        # are instructions from sm_80 on.
        written_for = "sm_80" if "-DUNIT=NVIDIA_BF16" in options else "sm_75"
        good, log = run([self.tool, "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", written_for, "-Xclang",
                         "-target-feature", "-Xclang", "+ptx70", *CLANG, *self.BUILT_IN, "-Xclang", "-mlink-builtin-bitcode",
                         "-Xclang", self.library, "-S", *options, source, "-o", out])
        if not good or not self.ptxas:
            return good, 0, log
        good, log = run([self.ptxas, "-v", "-arch=" + self.architecture, out, "-o", os.path.join(work, "kernel.cubin")])
        return good, sum(map(int, re.findall(r"(\d+) bytes spill", log))), log


TARGETS = {
    "front_end": FrontEnd,
    "intel_gen9": lambda: Intel("skl"), "intel_gen12lp": lambda: Intel("tgllp"), "intel_dg2": lambda: Intel("dg2"),
    "amd_gfx906": lambda: Amd("gfx906"), "amd_gfx1030": lambda: Amd("gfx1030"), "amd_gfx1100": lambda: Amd("gfx1100"),
    "nvidia_sm75": lambda: Nvidia("sm_75"), "nvidia_sm90": lambda: Nvidia("sm_90"),
}
# Targets of check_isa.py alone, which holds their matrix units to rules.
MATRIX_TARGETS = {
    "nvidia_sm80": lambda: Nvidia("sm_80"), "nvidia_sm120": lambda: Nvidia("sm_120"), "amd_gfx90a": lambda: Amd("gfx90a"),
    "amd_gfx942_new": lambda: Amd("gfx942", NEWER_CLANGS), "amd_gfx1100_new": lambda: Amd("gfx1100", NEWER_CLANGS),
    "amd_gfx1200_new": lambda: Amd("gfx1200", NEWER_CLANGS), "intel_pvc": lambda: Intel("pvc"),
}


def read_variants(directory, newer_than):
    """[(path, file, options)], one for each pair of kernel file and options: kernels of one pair share a program. Emulated
    matrix units are left out, which no GPU runs. PoCL was asked not to optimise some, so that tests end sooner: GPUs optimise all."""
    oldest = os.path.getmtime(newer_than) if newer_than else 0
    variants = {}
    for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else []:
        path = os.path.join(directory, name)
        if not name.endswith(".cl") or os.path.getmtime(path) < oldest:
            continue
        with open(path, encoding="utf-8") as file:
            head = re.fullmatch(r"// (\S+): (\S+)\n", file.readline())
            options = re.fullmatch(r"// options:(.*)\n", file.readline())
            if not head or not options:
                sys.exit(f"{path}: the first two lines are not those of a kernel dump")
        if " -DIS_EMULATED=1" not in options[1]:
            variants[head[1], options[1].replace(" -cl-opt-disable", "")] = path
    return [(path, file, options.split()) for (file, options), path in variants.items()]


def sample(variants):
    """As few variants, about, as hold every option and every pair of options that any variant of their file holds: again and again the one
    that adds most of these. Options that all variants of a file share decide nothing."""
    shared = {}
    for _, file, options in variants:
        shared[file] = shared.get(file, set(options)) & set(options)
    missing = [{(file, *pair) for pair in itertools.combinations_with_replacement(sorted(set(options) - shared[file]), 2)} or {file}
               for _, file, options in variants]
    queue = [(-len(pairs), index) for index, pairs in enumerate(missing)]
    heapq.heapify(queue)
    held, taken = set(), []
    while queue:
        promised, index = heapq.heappop(queue)
        missing[index] -= held
        if len(missing[index]) == -promised:  # no other adds more
            taken.append(index)
            held |= missing[index]
        elif missing[index]:
            heapq.heappush(queue, (-len(missing[index]), index))
    return [variants[index] for index in sorted(taken)]


def share(variants, target):
    """The part of this target in the sample: each variant by one target of every vendor, and of every kernel file one by each target."""
    vendor = [name for name in TARGETS if name.split("_")[0] == target.split("_")[0]]
    few = sample(variants)
    taken = few[vendor.index(target)::len(vendor)]
    files = {file for _, file, _ in taken}
    one_each = {file: (path, file, options) for path, file, options in few if file not in files}
    return taken + list(one_each.values())


def is_cpu_family(variant):
    """Whether a variant is for CPUs alone, by its folder of cl/ or its options. Among the kernels for both families these are work-groups
    of one item in peaks. Others are several vectors of sums in an item of einsum (CPU_VECTORS of host/kernel/einsum.c), and vectors of
    activations (host/kernel/activation.c)."""
    _, file, options = variant
    return (file.startswith("cpu/") or (file.startswith("peak/") and "-DWG=1" in options) or
            (file == "any/einsum.cl" and "-DVECTORS=4" in options) or
            (file == "any/activation_map.cl" and "-DCHUNK=1" not in options))


def check(compiler, variant):
    """(whether the variant passes, what is to be said about it or None)"""
    path, file, options = variant
    with tempfile.TemporaryDirectory() as work:
        good, spills, log = compiler.compile(path, options, work)
    title = f"{file} {' '.join(options)}\n  in {path}"
    if not good:
        errors = [line for line in log.splitlines() if "error" in line.lower()] or log.splitlines()[-5:]
        return False, "\n".join([f"does not compile: {title}"] + ["  " + line for line in errors[:5]])
    if spills:
        return not compiler.spills_fail, f"spills registers ({spills}): {title}"
    return True, None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--newer-than")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    try:
        compiler = TARGETS[options.target]()
    except Unavailable as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    variants = read_variants(options.kernels, options.newer_than)
    if not variants:
        sys.exit(f"no kernels of this build in {options.kernels}: run the op, nn and model tests first (ctest -L 'op|nn|model')")
    if not options.target.startswith("intel"):  # the others' compilers of OpenCL C 1.2 know no sub-groups
        variants = [variant for variant in variants if not {"-DSUBGROUPS=1", "-DSUBGROUPS=16"} & set(variant[2])]
    variants = [variant for variant in variants if getattr(compiler, "refuses", set()).isdisjoint(variant[2])]
    if not compiler.takes_cpu_family:
        variants = [variant for variant in variants if not is_cpu_family(variant)]
    if not os.environ.get("CLF_OFFLINE_ALL"):
        variants = share(variants, options.target)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda variant: check(compiler, variant), variants))
    for _, remark in results:
        if remark:
            print(remark)
    failures = sum(not passed for passed, _ in results)
    names = sorted({file for _, file, _ in variants})
    print(f"{options.target}: {len(variants)} variants of {len(names)} kernel files ({', '.join(names)}), {failures} failed")
    if getattr(compiler, "ptxas", "") is None:
        print("ptxas is not installed: compiled to PTX only, registers not counted")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
