#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests compilers that die at the N-th kernel, for each N of three commands. Every kernel in turn is the one that the cache lacks, and that
ends whatever process compiles it (dying_compiler.c). The command goes on with another engine and the same numbers, or ends with status 1
and a clear message. The next start does not ask the compiler for that kernel again, and works if another engine can do the work. Beside it,
from empty caches:
the first and the last kernel die, a compiler hangs, exits, and outlives the program that started it.

The driver is that of OCL_ICD_VENDORS, or PoCL.

usage: dying_compiler.py PROGRAM DATA SHIM [STEP]     STEP: each STEP-th kernel of a command; absent: each"""
import concurrent.futures
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, DATA, SHIM = sys.argv[1:4]
STEP = int(sys.argv[4]) if len(sys.argv) > 4 else 1
DRIVER = os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors/pocl.icd"
LAST_WORDS = "LLVM ERROR: out of cheese" if "pocl" in DRIVER else "signal 6"  # Intel's runtime adds words of its own
failures = []


def fail(*parts):
    failures.append(" ".join(map(str, parts)))
    print("FAILED:", *parts, flush=True)


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CLF_", "POCL_"))}
    kept.update(OCL_ICD_VENDORS=DRIVER, POCL_AFFINITY="1", POCL_WORK_GROUP_SPECIALIZATION="0", CLF_DEVICE="0", CLF_NO_TUNED="1",
                CLF_CACHE_DIR=os.path.join(folder, "cache"), POCL_CACHE_DIR=os.path.join(folder, "pocl"), **more)
    return kept


def start(folder, arguments, **more):
    return subprocess.Popen([PROGRAM, *arguments], env=environment(folder, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True)


def run(folder, arguments, **more):
    process = start(folder, arguments, **more)
    try:
        out, err = process.communicate(timeout=900)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        err += "(no end within 900 s)"
    return process.returncode, out, err


def dying(folder, chosen, how="abort"):
    return {"LD_PRELOAD": SHIM, "CLF_DYING": str(chosen), "CLF_DYING_HOW": how, "CLF_DYING_LIST": os.path.join(folder, "compiled")}


def compiled(folder):
    try:
        with open(os.path.join(folder, "compiled"), encoding="ascii") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def numbers(text):
    """Every number of a JSON text, or the text itself."""
    try:
        values = json.loads(text)
    except ValueError:
        return text

    def walk(value):
        if isinstance(value, dict):
            return [x for key in sorted(value) for x in walk(value[key])]
        if isinstance(value, list):
            return [x for item in value for x in walk(item)]
        return [value]
    return walk(values)


def agree(a, b):
    a, b = numbers(a), numbers(b)
    if isinstance(a, str) or isinstance(b, str) or len(a) != len(b):
        return a == b
    return all(abs(x - y) <= 2e-4 if isinstance(x, float) and isinstance(y, float) else x == y for x, y in zip(a, b))


def is_clear(err):
    """One line, and before it one of the engines that are left out."""
    lines = [line for line in err.splitlines() if line]
    told = [line for line in lines if line.startswith("clformer: left out from now on: ")]
    return len(lines) - len(told) == 1 and len(told) <= 1 and all(line.startswith("clformer: ") for line in lines)


def judge(what, done, want, words=LAST_WORDS):
    """Whether it ended as it may; 0 or 1. want None: times, which are others each time; a row tells what failed."""
    status, out, err = done
    if want is None:
        if status not in (0, 1):
            fail(what, "status", status, err)
        return status
    if status == 0:
        if not agree(out, want):
            fail(what, "other numbers:", out[:200], "expected", want[:200])
    elif status != 1 or not is_clear(err):
        fail(what, "status", status, err)
    if words not in err and not (status == 0 and not err):
        fail(what, "the driver's last words are missing:", err)
    return status


def sweep(name, arguments, root, may_fail, is_timed=False):
    """Each kernel of the command in turn; may_fail: of how many kernels there is no other engine."""
    warm = os.path.join(root, name)
    status, want, err = run(warm, arguments)
    if status != 0:
        fail(name, "without a fault:", status, err)
        return
    want = None if is_timed else want
    kernels = sorted(os.path.basename(path) for path in glob.glob(os.path.join(warm, "cache/programs/*.bin")))
    if len(kernels) < 3:
        fail(name, "only", len(kernels), "kernels")
    others = os.path.join(root, name + "-others")  # kernels of the engines that took over: compiled once for all
    os.mkdir(others)

    def without(numbered):
        number, kernel = numbered
        folder = os.path.join(root, f"{name}-{number}")
        shutil.copytree(os.path.join(warm, "cache"), os.path.join(folder, "cache"))
        for other in os.listdir(others):
            shutil.copy(os.path.join(others, other), os.path.join(folder, "cache/programs"))
        os.remove(os.path.join(folder, "cache/programs", kernel))
        what = f"{name}, {kernel} ({number} of {len(kernels)}):"
        first = judge(what, run(folder, arguments, **dying(folder, 1)), want)
        before = compiled(folder)
        second = judge(what + " second start:", run(folder, arguments, **dying(folder, 1)), want)
        if first != 0 and second == 0:
            fail(what, "the first start ended with status 1, although another engine can do the work")
        if first == 0 and (second != 0 or compiled(folder) != before):
            fail(what, "the second start:", second, compiled(folder), "after", before)
        for path in glob.glob(os.path.join(folder, "cache/programs/*.bin")):
            if os.path.basename(path) not in kernels:
                os.replace(path, os.path.join(others, os.path.basename(path)))
        shutil.rmtree(folder)
        return second == 0

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        worked = list(pool.map(without, list(enumerate(kernels, 1))[::STEP]))
    print(f"{name}: {len(kernels)} kernels, {len(worked)} taken away, {sum(worked)} of these have another engine", flush=True)
    if worked.count(False) > may_fail:
        fail(name, worked.count(False), "kernels have no other engine, expected", may_fail, "at most")


def from_empty_caches(root):
    arguments = ["embed", os.path.join(DATA, "families/distilbert"), "a b"]
    status, want, err = run(os.path.join(root, "plain"), arguments)
    if status != 0:
        fail("embed from empty caches:", status, err)
    for chosen, how, more, words in ((6, "abort", {}, "signal 6"), (1, "hang", {"CLF_COMPILE_SECONDS": "5"}, "took longer than 5 s")):
        folder = os.path.join(root, f"cold-{how}")
        judge(f"program {chosen}, {how}:", run(folder, arguments, **dying(folder, chosen, how), **more), want, words)


def processes_of(folder):
    """Those that were started with this cache."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as file:
                if ("CLF_CACHE_DIR=" + os.path.join(folder, "cache")).encode() in file.read().split(b"\0"):
                    found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def no_orphans(root):
    """A compiler that hangs is gone soon after its program, however that ends."""
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        folder = os.path.join(root, f"orphan-{number}")
        process = start(folder, ["embed", os.path.join(DATA, "families/distilbert"), "a b"], **dying(folder, 1, "hang"))
        if not wait_until(lambda: compiled(folder) and len(processes_of(folder)) > 1, 60):
            fail("no compiling process was seen")
        process.send_signal(number)
        process.communicate()
        if not wait_until(lambda: not processes_of(folder), 10):
            fail(f"signal {number}: left running:", processes_of(folder))
            for left in processes_of(folder):
                os.kill(left, signal.SIGKILL)
        if glob.glob(os.path.join(folder, "cache/programs/unusable-*")):
            fail(f"signal {number}: an interruption was taken for a crash of the compiler")


def main():
    if not os.path.exists(DRIVER):
        print(DRIVER, "is not there")
        sys.exit(77)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where a shell in the background ignores it
    root = tempfile.mkdtemp(prefix="clformer-dying-")
    try:
        sweep("embed", ["embed", os.path.join(DATA, "families/distilbert"), "a b"], root, 3)
        sweep("generate", ["generate", os.path.join(DATA, "generation/llama"), "a", "--max-tokens", "4", "--json"], root, 8)
        bench = "bench --suite ops --filter masked_softmax/f32/96x128-lengths-x32 --seconds 0.02 --rounds 1"
        sweep("bench", bench.split(), root, 3, True)
        from_empty_caches(root)
        no_orphans(root)
    finally:
        shutil.rmtree(root)
    print("failed: %d" % len(failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
