#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed and search on several devices at once, a process each: the same bytes as one device's, also when a process is killed in the middle.
usage: test_pool.py PROGRAM DATA"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
model = os.path.join(data, "families", "distilbert")
WINDOW = 32
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def children(process):
    try:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    rng = random.Random(3)
    words = "the cat sat on a mat and then it ran away".split()
    with open("lines.txt", "w", encoding="ascii") as file:
        file.writelines(" ".join(rng.choices(words, k=rng.choice((1, 3, 9, 20)))) + "\n" for _ in range(2000))

    def run(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)

    def expect(name, done, status, *parts):
        if done.returncode != status:
            fail(f"{name}: status {done.returncode}, expected {status}: {done.stderr[-400:]}")
        for part in parts:
            if part not in done.stderr:
                fail(f'{name}: "{part}" is not in {done.stderr[-400:]}')

    def embed(output, *more):
        return ["embed", model, "--file", "lines.txt", "--window", str(WINDOW), "-o", output, *more]

    done = run(*embed("want.npy"))
    if done.returncode != 0 and "device" in done.stderr:
        print("skipped:", done.stderr)
        sys.exit(77)
    expect("embed", done, 0)
    want = read("want.npy")

    # The default device twice, thrice.
    for devices in (",", ",,"):
        expect(f"--device {devices}", run(*embed("all.npy", "--device", devices)), 0)
        if read("all.npy") != want:
            fail(f"--device {devices}: other bytes than one device's")
    expect("a device that is none", run(*embed("all.npy", "--device", ",nosuchdevice")), 0, "device nosuchdevice", "it is left out")
    if read("all.npy") != want:
        fail("one device left: other bytes")
    expect("no device", run(*embed("none.npy", "--device", "nosuchdevice,nosuchdevice2")), 1, "nosuchdevice2")

    # Quantized: the same bytes too, and the processes of the devices computed them: their parent read nothing back.
    one = run(*embed("one.npy", "--quantize", "int8", "--stats"))
    two = run(*embed("two.npy", "--quantize", "int8", "--stats", "--device", ","))
    expect("--quantize", one, 0)
    expect("--quantize on two", two, 0, "(0.00 MB)\ndevice memory", "2000 texts")
    if "(0.00 MB)\ndevice memory" in one.stderr or not os.path.exists("two.npy") or read("one.npy") != read("two.npy"):
        fail(f"--quantize on two: other bytes than one device's, or one device reads nothing back: {one.stderr}")

    # A process is killed in the middle: its window is done by the other.
    hit = False
    for attempt in range(5):
        process = subprocess.Popen([program, *embed("killed.npy", "--device", ",")], stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not os.path.exists("killed.npy.part"):
            time.sleep(0.005)
        victims = children(process)
        if victims:
            os.kill(victims[attempt % len(victims)], signal.SIGKILL)
        told = process.communicate()[1]
        if process.returncode != 0 or read("killed.npy") != want:
            fail(f"a killed process: status {process.returncode}, bytes {'the same' if read('killed.npy') == want else 'differ'}: {told}")
        if "signal 9" in told and "another takes its texts" in told:
            hit = True
            break
    if not hit:
        fail("no process could be killed while it had a window")

    # Search, its corpus embedded by two.
    one = run("search", model, "--corpus", "lines.txt", "--no-keep", "--json", "the cat")
    two = run("search", model, "--corpus", "lines.txt", "--no-keep", "--json", "--device", ",", "the cat")
    expect("search", two, 0)
    if one.stdout != two.stdout or not one.stdout:
        fail(f"search on two: {two.stdout[:200]} instead of {one.stdout[:200]}")

    # All devices, of different kinds, differ by rounding only.
    with open("lines.txt", encoding="ascii") as file:
        some = [next(file) for _ in range(40)]
    with open("some.txt", "w", encoding="ascii") as file:
        file.writelines(some)
    few = [program, "embed", model, "--file", "some.txt", "--window", "8", "--format", "text"]
    rows = [subprocess.run([*few, *more], capture_output=True, text=True, check=False) for more in ([], ["--device", "all"])]
    expect("--device all", rows[1], 0)
    a, b = ([[float(x) for x in line.split()] for line in done.stdout.splitlines()] for done in rows)
    if len(b) != 40 or max(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) > 1e-4 * max(abs(x) for p in a for x in p):
        fail("--device all: other embeddings than the default device's")

print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
