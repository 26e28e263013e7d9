#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the machine code that GPUs' compilers make of a kernel: resources, and its hot loop by pipe. Needs no device.

The hot loop is the innermost loop with the most fused multiply-adds. It is found in the flow graph of the disassembly (basic blocks,
dominators, natural loops), so that the order of blocks in the listing does not matter.

    measure(target, kernel file, kernel, options) -> dict, or Broken; Unavailable names the compiler that is not installed

target is a row of compile.py's TARGETS. Importable only; check_isa.py holds kernels to rules, bench/gpu_model.py prints a model from
the same numbers."""
import collections
import glob
import os
import re
import subprocess
import tempfile

from compile import MATRIX_TARGETS, TARGETS, Unavailable, require

CL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cl")


class Broken(Exception):
    """The kernel does not compile, or has no loop or no multiply-add to be judged by."""


def flatten(name, seen=None):
    """The text of a kernel file with its includes in front, each once, as host/runtime/kernel_source.c does."""
    seen = set() if seen is None else seen
    if name in seen:
        return ""
    seen.add(name)
    paths = glob.glob(os.path.join(CL, "*", name))
    if len(paths) != 1:
        raise Broken(f"kernel file {name}: {len(paths)} of that name below cl/")
    out = []
    with open(paths[0], encoding="utf-8") as file:
        for line in file:
            include = re.match(r'#include "([^"]+)"', line)
            out.append(flatten(include[1], seen) if include else line)
    return "".join(out)


# --- one kernel, one target -> its disassembly and resources ------------------------------------------------------------------------

def amd_listing(work, kernel, _):
    with open(work + "/kernel.s", encoding="utf-8") as file:
        text = file.read()
    body = text[text.index(f"\n{kernel}:"):]
    meta = text[text.index("amdhsa.kernels"):]
    own = next(part for part in meta.split("  - .args") if re.search(rf"\.name:\s+{kernel}\b", part))

    def number(key):
        found = re.search(rf"\.{key}:\s+(\d+)", own)
        return int(found[1]) if found else 0
    return body[:body.index(".Lfunc_end")], {
        "registers": number("vgpr_count"), "local": number("group_segment_fixed_size"), "lanes": number("wavefront_size"),
        "spill": number("vgpr_spill_count") + number("sgpr_spill_count") + number("private_segment_fixed_size")}


def nvidia_listing(work, kernel, log):
    own = next(part for part in log.split("Compiling entry function '") if part.startswith(kernel + "'"))
    local = re.search(r"(\d+) bytes smem", own)
    done = subprocess.run([require("nvdisasm", "/usr/local/cuda/bin/nvdisasm"), "-c", "-hex", work + "/kernel.cubin"], capture_output=True,
                          text=True, errors="replace", check=False)
    if done.returncode:
        raise Broken("nvdisasm: " + done.stderr[:500])
    body = done.stdout[done.stdout.index(f".text.{kernel}:"):]
    end = re.search(r"\n\s*\.section\s", body)
    return body[:end.start()] if end else body, {
        "registers": int(re.search(r"Used (\d+) registers", own)[1]), "local": int(local[1]) if local else 0, "lanes": 32,
        "spill": sum(map(int, re.findall(r"(\d+) bytes spill", own)))}


def intel_listing(work, kernel, _):
    """IGC writes one file per number of lanes it tried; the last one is what it kept."""
    files = []
    for path in glob.glob(work + "/igc/*.asm"):
        with open(path, encoding="utf-8", errors="replace") as file:
            if file.readline().strip() == "//.kernel " + kernel:
                files.append(path)
    if not files:
        raise Broken("IGC wrote no listing of " + kernel)
    path = max(files, key=os.path.getmtime)
    with open(path, encoding="utf-8", errors="replace") as file:
        body = file.read()
    spill = re.search(r"//\.spill size (\d+)", body)
    return body[body.index("//.instCount"):] if "//.instCount" in body else body, {
        "registers": int(re.search(r"numGRF=(\d+)", body)[1]), "local": 0, "lanes": int(re.search(r"simd(\d+)", os.path.basename(path))[1]),
        "spill": int(spill[1]) if spill else 0}


LISTINGS = {"amd": amd_listing, "nvidia": nvidia_listing, "intel": intel_listing}
CHIPS = {"nvidia_sm75": "sm_75", "nvidia_sm80": "sm_80", "nvidia_sm90": "sm_90", "nvidia_sm120": "sm_120",
         "intel_gen9": "skl", "intel_gen12lp": "tgllp", "intel_dg2": "dg2"}


def chip(target):
    return CHIPS.get(target, target.split("_")[1])


def listing(target, file, kernel, options, edit=None):
    """(disassembly, resources); edit: a pair of texts, of which the second takes the first one's place in the source."""
    compiler = {**TARGETS, **MATRIX_TARGETS}[target]()
    refused = getattr(compiler, "refuses", set()) & set(options)
    if refused:
        raise Unavailable("never built there: " + ", ".join(sorted(refused)))
    if getattr(compiler, "ptxas", "") is None:
        raise Unavailable("ptxas")
    if target.startswith("nvidia"):
        require("nvdisasm", "/usr/local/cuda/bin/nvdisasm")
    text = flatten(file)
    if edit and edit[0] not in text:
        raise Broken(f"{file} has no \"{edit[0]}\"")
    with tempfile.TemporaryDirectory() as work:
        source = work + "/source.cl"
        with open(source, "w", encoding="utf-8") as out:
            out.write(text.replace(*edit) if edit else text)
        os.environ.update(IGC_ShaderDumpEnable="1", IGC_DumpToCustomDir=work + "/igc")
        try:
            good, _, log = compiler.compile(source, options, work)
        finally:
            del os.environ["IGC_ShaderDumpEnable"], os.environ["IGC_DumpToCustomDir"]
        if not good:
            raise Broken("does not compile: " + log[:1000])
        return LISTINGS[target.split("_")[0]](work, kernel, log)


CONTROL = " control="  # in the rest of an NVIDIA instruction: the upper half of its code, which holds what it waits for


# --- assembly -> [(label or None, mnemonic, rest)] --------------------------------------------------------------------------------
def parse(target, body):
    out = []
    for line in body.splitlines():
        if target.startswith("gfx"):
            line = line.split(";")[0].rstrip() if not line.startswith(";") else ""
            m = re.match(r"^(\.?\w+):", line)
            if m:
                out.append(("label", m[1], ""))
                continue
            m = re.match(r"^\s+([a-z]\w+)\s*(.*)$", line)
            if m and not line.strip().startswith("."):
                out.append(("op", m[1], m[2]))
        elif target.startswith("sm_"):
            m = re.match(r"^(\.L_\w+):", line)
            if m:
                out.append(("label", m[1], ""))
                continue
            m = re.match(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?);", line)
            if m:
                text = m[1].strip()
                p = re.match(r"^(@!?U?P\w+\s+)?([A-Z][\w.]*)\s*(.*)$", text)
                if p:
                    out.append(("op", p[2], (p[1] or "") + p[3]))
                continue
            m = re.match(r"^\s+/\* 0x([0-9a-f]{16}) \*/", line)
            if m and out and out[-1][0] == "op":
                out[-1] = ("op", out[-1][1], out[-1][2] + CONTROL + m[1])
        else:
            line = line.split("//")[0].rstrip()
            m = re.match(r"^(\w+):\s*$", line)
            if m:
                out.append(("label", m[1], ""))
                continue
            m = re.match(r"^\s*(\([^)]*\)\s+)?([a-z][\w.]*)\s*\((\d+)\|M(\d+)\)\s*(.*)$", line)
            if m:
                out.append(("op", m[2], "(%s|M%s) " % (m[3], m[4]) + m[5]))
                continue
            m = re.match(r"^\s*(\([^)]*\)\s+)?(jmpi|sync\S*|call|ret|while|goto|brd|brc|endif|else|if|join|nop|illegal)\b(.*)$", line)
            if m:
                out.append(("op", m[2], m[3]))
    return out


def kind(target, op, rest):
    """pipe of an instruction: fma, matrix, valu, salu, lds, vmem, branch, barrier, wait, trans"""
    if re.match(r"v_(wmma|mfma)_|HMMA|dpas", op):
        return "matrix"
    if target.startswith("gfx"):
        if op.startswith("v_"):
            if re.search(r"v_dual_fmac?_f32|v_dual_fma", op):
                return "fma"
            if re.match(r"v_(pk_)?(fma|fmac|mac|mad|fmaak|fmamk|madak|madmk)(_legacy)?_(f32|f16|mix\w*)", op):
                return "fma"
            if re.match(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_", op):
                return "trans"
            return "valu"
        if op.startswith("ds_"):
            return "lds"
        if re.match(r"(global|flat|buffer|scratch)_", op):
            return "vmem"
        if op.startswith("s_barrier"):
            return "barrier"
        if re.match(r"s_(cbranch|branch)", op):
            return "branch"
        if re.match(r"s_(waitcnt|nop|clause|delay_alu|inst_prefetch|waitcnt_depctr|waitcnt_vscnt|set_inst)", op):
            return "wait"
        if re.match(r"s_(load|buffer_load)", op):
            return "smem"
        return "salu"
    if target.startswith("sm_"):
        base = op.split(".")[0]
        if base in ("FFMA", "HFMA2", "FFMA2"):
            return "fma"
        if base == "MUFU":
            return "trans"
        if base in ("LDS", "STS", "ATOMS", "LDSM"):
            return "lds"
        if base in ("LDG", "STG", "LD", "ST", "LDL", "STL", "LDC", "LDGSTS", "ATOM", "RED", "LDGDEPBAR", "MEMBAR"):
            return "smem" if base == "LDC" else "vmem"
        if base in ("BAR",):
            return "barrier"
        if base in ("BRA", "EXIT", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "CALL", "RET", "YIELD", "NOP", "BRX"):
            return "branch"
        if base.startswith("U") or base in ("R2UR", "S2UR"):
            return "salu"
        return "valu"
    base = op.split(".")[0]
    if op == "mad" and re.search(r":h?f\b", rest.replace("0x", "")) or op in ("mac",) :
        return "fma" if not re.search(r":d\b|:ud\b|:w\b|:uw\b", rest) else "valu"
    if base in ("send", "sends", "sendc", "load", "store"):
        return "send"
    if op.startswith(("load", "store")):
        return "send"
    if op.startswith("math"):
        return "trans"
    if base in ("jmpi", "while", "goto", "if", "else", "endif", "join", "call", "ret", "brd", "brc"):
        return "branch"
    if base in ("sync", "nop"):
        return "wait"
    return "valu"


def bytes_of(target, op, rest, width):
    """bytes of one lane (AMD, NVIDIA) or of the message (Intel) that a memory instruction moves"""
    if target.startswith("gfx"):
        m = re.search(r"_(b|dwordx|u|i)(\d+)(_d16\w*)?$", op)
        per = 4
        if re.search(r"b128|dwordx4", op): per = 16
        elif re.search(r"b96|dwordx3", op): per = 12
        elif re.search(r"b64|dwordx2", op): per = 8
        elif re.search(r"u8|i8|byte", op): per = 1
        elif re.search(r"u16|i16|short", op): per = 2
        if re.match(r"ds_(read|write|load|store)2(st64|_stride64)?_b64", op): per = 16
        elif re.match(r"ds_(read|write|load|store|read)_?2(addr)?(st64|_stride64)?_b32", op) or \
                re.match(r"ds_(load|store)_2addr(_stride64)?_b32", op): per = 8
        elif re.match(r"ds_(load|store)_2addr(_stride64)?_b64", op): per = 16
        return per
    if target.startswith("sm_"):
        if ".128" in op: return 16
        if ".64" in op: return 8
        if ".U8" in op or ".S8" in op: return 1
        if ".U16" in op or ".S16" in op: return 2
        return 4
    # Intel: registers of 32 bytes that the message brings back, bits 20 to 24 of its descriptor, shared by its lanes
    lanes, descriptor = re.match(r"\((\d+)\|", rest), re.findall(r"0x([0-9A-F]{8})\b", rest)
    return (int(descriptor[-1], 16) >> 20 & 31) * 32 // int(lanes[1]) if lanes and descriptor else 0


BRANCH = re.compile(r"^(s_c?branch|BRA|BRX|jmpi|while|goto|if|else|brd|brc)")


def blocks_of(items):
    """[(first, last, successors)]: basic blocks by labels and branches; the block after a branch follows unless the branch always jumps"""
    starts = {0}
    for i, (k, op, rest) in enumerate(items):
        if k == "label":
            starts.add(i)
        elif BRANCH.match(op) or op in ("s_endpgm", "EXIT"):
            starts.add(i + 1)
    starts = sorted(x for x in starts if x < len(items))
    where = {}
    for n, first in enumerate(starts):
        if items[first][0] == "label":
            where[items[first][1]] = n
    out = []
    for n, first in enumerate(starts):
        last = (starts[n + 1] if n + 1 < len(starts) else len(items)) - 1
        k, op, rest = items[last]
        to = set()
        falls = True
        if k == "op" and BRANCH.match(op):
            to |= {where[x] for x in re.findall(r"\.?[A-Za-z_]\w*", rest) if x in where}
            falls = not (op == "s_branch" or (op.startswith("BRA") and not re.match(r"@|!?UP\d,", rest)) or
                         op == "jmpi" and not rest.startswith("@"))
        elif k == "op" and (op == "s_endpgm" or op == "EXIT" and not rest.startswith("@")):
            falls = False
        if falls and n + 1 < len(starts):
            to.add(n + 1)
        out.append((first, last, to))
    return out


def natural_loops(items):
    """{header block: set of blocks}: loops of the flow graph, so that the order in which a compiler lays blocks out does not matter"""
    blocks = blocks_of(items)
    n = len(blocks)
    before = [set() for _ in range(n)]
    for b, (_, _, to) in enumerate(blocks):
        for t in to:
            before[t].add(b)
    roots = {0} | {b for b in range(n) if not before[b]} # functions that were not inlined
    reach, stack = set(), list(roots)
    while stack:
        b = stack.pop()
        if b not in reach:
            reach.add(b)
            stack += blocks[b][2]
    dom = {b: set(reach) for b in reach}
    for r in roots:
        dom[r] = {r}
    change = True
    while change:
        change = False
        for b in sorted(reach - roots):
            ps = [dom[p] for p in before[b] if p in reach]
            new = set.intersection(*ps) | {b} if ps else {b}
            if new != dom[b]:
                dom[b], change = new, True
    loops = {}
    for b in reach:
        for h in blocks[b][2]:
            if h in dom[b]:
                body, stack = {h}, [b]
                while stack:
                    x = stack.pop()
                    if x not in body:
                        body.add(x)
                        stack += [p for p in before[x] if p in reach]
                loops.setdefault(h, set()).update(body)
    return blocks, loops


def code_of(items, blocks, body):
    return [item for b in sorted(body) for item in items[blocks[b][0]:blocks[b][1] + 1]]


def hot_loop(target, items):
    """the loop with the highest share of matrix instructions, else the innermost with the most fused multiply-adds: (its items,
    those of the loop around it or None); None without loops"""
    blocks, loops = natural_loops(items)
    inner = [h for h in loops if not any(o != h and loops[o] < loops[h] for o in loops)]
    if not inner:
        return None
    pipes = {h: [kind(target, op, rest) for k, op, rest in code_of(items, blocks, loops[h]) if k == "op"] for h in loops}
    h = max(inner, key=lambda h: (pipes[h].count("fma"), -len(pipes[h])))
    share = {h: pipes[h].count("matrix") / len(pipes[h]) for h in loops}
    if max(share.values()) > 0: # whatever other loops are in there
        h = max(loops, key=lambda h: share[h])
    around = [o for o in loops if o != h and loops[h] < loops[o]]
    outer = min(around, key=lambda o: len(loops[o])) if around else None
    return code_of(items, blocks, loops[h]), code_of(items, blocks, loops[outer]) if outer is not None else None


def kinds(target, op, rest):
    """Both halves of an instruction of gfx1100 that holds two."""
    second = re.search(r"::\s*v_dual_(\w+)", rest) if op.startswith("v_dual_") else None
    return [kind(target, op, rest)] + (["fma" if re.match(r"fma", second[1]) else "valu"] if second else [])


def is_half(op, rest):
    """Whether an instruction of Intel's multiplies or adds halves alone, of which its pipe takes twice as many."""
    return op in ("mad", "mul", "add") and set(re.findall(r":(\w+)\b", rest)) == {"hf"}


def half_products(target, op, rest):
    """Multiply-adds of halves in an instruction, for each lane; a chain's first one is a multiplication."""
    if target.startswith("gfx"):
        return 2 if re.match(r"v_pk_(fma|mul)_f16", op) else 0
    return int(op in ("mad", "mul") and is_half(op, rest))


def multiply_adds(counts):
    """Counts the loop's multiply-adds: where halves are multiplied, those of floats only add up their sums."""
    return counts["half"] or counts["fma"]


def stores_alone(target, ops):
    """Whether a block's memory operations are some stores to local memory and nothing else."""
    pipes = [kind(target, op, rest) for op, rest in ops]
    local = [op for (op, _), pipe in zip(ops, pipes) if pipe == "lds"]
    return len(local) >= 4 and "vmem" not in pipes and all(re.match(r"ds_(write|store)|STS", op) for op in local)


def product_block(target, items, product, around, others):
    """One turn of a loop that goes through two products of `product` multiply-adds each: [(times, items)], items as often as they are
    executed, or None. A product's loop is repeated until the product has its multiply-adds, and an inner loop around it `around` times.
    Other loops in there are repeated as `others` says: first for the product with more multiply-adds in its loop, then for the other one.
    Stores of an item there under a
    condition belong to one turn. The two are the loops with the highest share of multiply-adds."""
    blocks, loops = natural_loops(items)
    ops = [[pipe for k, op, rest in code_of(items, blocks, {b}) if k == "op" for pipe in kinds(target, op, rest)]
           for b in range(len(blocks))]
    parent = {h: min((o for o in loops if loops[h] < loops[o]), key=lambda o: len(loops[o]), default=None) for h in loops}
    own = {h: [op for b in loops[h] if all(b not in loops[o] for o in loops if parent[o] == h) for op in ops[b]] for h in loops}
    fma = {h: own[h].count("fma") for h in loops}
    dense = sorted((h for h in loops if fma[h] >= 16), key=lambda h: -fma[h] / len(own[h]))
    dense = [h for h in dense if parent[h] is not None]
    both = [h for h in loops if sum(loops[p] < loops[h] for p in dense[:2]) == 2]
    if len(dense) < 2 or not both:
        return None
    whole = max(both, key=lambda h: len(loops[h]))
    pair = sorted(dense[:2], key=lambda h: -fma[h])

    def product_in(h):
        return next((n for n, p in enumerate(pair) if loops[p] < loops[h]), None)

    def times(h):
        if h == whole:
            return 1
        if h in pair:
            return product / fma[h]
        if product_in(h) is not None:
            return around
        outer = product_in(parent[h])
        return (others[outer] if parent[h] != whole and outer is not None else 1) * times(parent[h])

    def times_of_block(b, h):
        code = [(op, rest) for k, op, rest in items[blocks[b][0]:blocks[b][1] + 1] if k == "op"]
        return 1 if h not in pair and product_in(h) is not None and stores_alone(target, code) else times(h)
    of_block = {b: min((h for h in loops if b in loops[h]), key=lambda h: len(loops[h])) for b in loops[whole]}
    return [(times_of_block(b, h), items[blocks[b][0]:blocks[b][1] + 1]) for b, h in of_block.items()]


def tally(target, items, width=32):
    c, b, names = collections.Counter(), collections.Counter(), collections.Counter()
    for k, op, rest in items:
        if k != "op":
            continue
        kk = kind(target, op, rest)
        if kk == "send" and not target.startswith(("gfx", "sm_")):
            low = op + " " + rest
            kk = send_kind(op, rest)
        c[kk] += 1
        names[op] += 1
        if half_products(target, op, rest):
            c["half"] += half_products(target, op, rest)
        c["packed"] += op.startswith("v_pk_fma_f32")  # two multiply-adds of floats
        if op.startswith("v_dual_"):
            second = re.search(r"::\s*v_dual_(\w+)", rest)
            if second:
                c["fma" if re.match(r"fma", second[1]) else "valu"] += 1
                c["dual"] += 1
        if kk in ("lds", "vmem", "smem"):
            b[kk] += bytes_of(target, op, rest, width)
        if not target.startswith(("gfx", "sm_")):
            m = re.match(r"\((\d+)\|", rest)
            lanes = int(m[1]) if m else 1
            if kk == "fma":
                c["fma_lanes"] += lanes
            c["half_lanes"] += lanes * half_products(target, op, rest)
            if kk in ("valu", "fma", "trans"):
                c["alu_lanes8"] += max(1, (lanes + 15) // 16 if is_half(op, rest) else (lanes + 7) // 8)
    return c, b, names


def send_kind(op, rest):
    text = op + " " + rest
    if "slm" in text or re.search(r"0x[0-9A-F]+FE\b", text) :
        return "lds"
    return "vmem"


def in_flight(name, items):
    """The most global loads between two waits for one, by what the compiler writes at its waits. AMD has a counter in an instruction of its
    own. NVIDIA has six scoreboards in an instruction's control bits: three bits from the 46th of the upper half name the one that is set,
    six bits from the 52nd those that are waited for. Intel has tokens: `$3` is the token that a load takes, `$3.dst` the wait for its
    numbers. A token that is taken again was waited for, too."""
    most, under_way = 0, []
    for _, op, rest in items:
        if name.startswith("gfx"):
            left = re.search(r"vmcnt\((\d+)\)", rest) if op == "s_waitcnt" else None
            under_way = under_way[max(0, len(under_way) - int(left[1])):] if left else under_way
            token = 0 if re.match(r"(global|flat|buffer)_load", op) else None
        elif name.startswith("sm_"):
            control = int(rest.rpartition(CONTROL)[2], 16) if CONTROL in rest else 0
            under_way = [board for board in under_way if not control >> 52 >> board & 1]
            token = control >> 46 & 7 if is_load(name, op, rest) else None
        else:
            waits = set(re.findall(r"(\$\d+)\.dst", rest))
            taken = re.search(r"(\$\d+)[^.\d]", rest) if is_send(op) else None
            under_way = [own for own in under_way if own not in waits and not (taken and own == taken[1])]
            token = taken[1] if taken and is_load(name, op, rest) else None
        if token is not None:
            under_way.append(token)
        most = max(most, len(under_way))
    return most


PIPES = ("fma", "matrix", "valu", "salu", "lds", "vmem", "smem", "branch", "barrier", "trans", "wait")


def is_send(op):
    return op.split(".")[0] in ("send", "sends", "sendc", "load")


def is_load(name, op, rest):
    """Whether it reads global memory."""
    if name.startswith(("gfx", "sm_")):
        return bool(re.match(r"(global|flat|buffer)_load|LDG|LD\.E", op))
    return is_send(op) and send_kind(op, rest) == "vmem" and not op.endswith("gtwy") and bytes_of(name, op, rest, 1) > 0


# Per chip: 32-bit registers for each lane that all hardware threads of a SIMD unit share, the unit in which they are allocated, and the
# most threads. Then the SIMD units that share the local memory, its bytes, and lanes of a thread. Sources as in bench/gpu_model.py;
# NVIDIA: compute capabilities.
UNITS = {
    "gfx906": (256, 4, 10, 4, 64 << 10, 64), "gfx1030": (1024, 16, 16, 2, 64 << 10, 32), "gfx1100": (1536, 24, 16, 2, 64 << 10, 32),
    "sm_75": (512, 8, 8, 4, 64 << 10, 32), "sm_90": (512, 8, 16, 4, 227 << 10, 32),
    "skl": (896, 128, 7, 16, 64 << 10, 0), "tgllp": (896, 128, 7, 16, 64 << 10, 0), "dg2": (1024, 128, 8, 16, 64 << 10, 0),
}


def occupancy(name, have, group):
    """Hardware threads that a SIMD unit holds at once, by registers and local memory of work-groups of so many items (Intel:
    by registers alone)."""
    registers, unit, most, simds, local, lanes = UNITS[name]
    threads = min(most, registers // (-(-have["registers"] // unit) * unit))
    if have["local"]:
        threads = min(threads, local // have["local"] * -(-group // (lanes or have["lanes"])) / simds)
    return threads


def measure_products(target, file, kernel, options, products):
    """As measure(), for a kernel whose loop goes through two products (product_block's arguments after the items). fma is the share of the
    products' multiply-adds alone among all arithmetic of a turn; local_per_fma is all bytes of a turn for each of them."""
    code, out = listing(target, file, kernel, options)
    name = chip(target)
    turn = product_block(name, parse(name, code), *products)
    if not turn:
        raise Broken("no loop with two products found")
    counts, bytes_moved, lanes8 = collections.Counter(), 0.0, 0.0
    for times, items in turn:
        have, moved, _ = tally(name, items, out["lanes"])
        for pipe, count in have.items():
            counts[pipe] += times * count
        bytes_moved += times * moved["lds"]
        lanes8 += times * have["alu_lanes8"]
    useful = 2 * products[0]
    counts["valu"] += counts["fma"] - useful  # multiply-adds of exponentials and addresses
    counts["fma"] = useful
    out["counts"] = dict(counts)
    if target.startswith("amd"):
        out["fma"] = useful / (useful + counts["valu"] + counts["trans"])
    elif target.startswith("nvidia"):
        out["fma"] = useful / sum(count for pipe, count in counts.items() if pipe not in ("wait", "dual"))
    else:
        out["fma"] = useful * out["lanes"] / 8 / lanes8
        return out
    out["local_per_fma"] = bytes_moved / useful
    return out


def measure(target, file, kernel, options, edit=None):
    """Returns spill, registers, local (bytes) and lanes, and these figures of the hot loop:

    fma: the share of multiply-adds in the arithmetic pipe, on NVIDIA among all issued instructions. Half-precision ones count twice, up to
    2.

    counts: instructions by pipe.

    loads, wide_loads, flight: global loads in the loop, the share of them with 16 bytes for each lane, and the most of them between two
    waits.

    wide, local_per_fma: the share of local-memory reads that are 128 bits, and bytes of local memory per multiply-add, where the listing
    shows them."""
    code, out = listing(target, file, kernel, options, edit)
    name = chip(target)
    loop = hot_loop(name, parse(name, code))
    if not loop:
        raise Broken("no loop found")
    items = [item for item in loop[0] if item[0] == "op"]
    counts, moved, _ = tally(name, items, out["lanes"])
    if not counts["fma"] and not counts["matrix"]:
        raise Broken("the loop has no multiply-adds")
    out["counts"] = dict(counts)
    if counts["matrix"]:
        out["matrix"] = counts["matrix"] / sum(count for pipe, count in counts.items() if pipe in PIPES and pipe != "wait")
        return out
    if target.startswith("amd"):
        out["fma"] = multiply_adds(counts) / (counts["fma"] + counts["valu"] + counts["trans"])
    elif target.startswith("nvidia"):
        out["fma"] = counts["fma"] / sum(count for pipe, count in counts.items() if pipe not in ("wait", "dual"))
    else:
        out["fma"] = (counts["half_lanes"] or counts["fma_lanes"]) / 8 / counts["alu_lanes8"]
    reads = [(op, bytes_of(name, op, rest, 32)) for _, op, rest in items if re.match(r"ds_(read|load)|LDS", op)]
    if reads:
        out["wide"] = sum(size == 16 and not re.search(r"read2|2addr", op) for op, size in reads) / len(reads)
        out["local_per_fma"] = moved["lds"] / multiply_adds(counts)
    loads = [bytes_of(name, op, rest, 32) for _, op, rest in items if is_load(name, op, rest)]
    if loads:
        out["loads"] = len(loads)
        out["wide_loads"] = sum(size == 16 for size in loads) / len(loads)
        if name != "skl":  # no tokens: the hardware finds out by itself
            out["flight"] = in_flight(name, items)
    return out
