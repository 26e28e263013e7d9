#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What survives a process that is killed: embed --resume, embed --shard and gather, and the recipe for GNU parallel. Whatever happens on the
way, the bytes at the end are those of one run. usage: test_parts.py PROGRAM DATA"""
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
root = os.path.dirname(os.path.dirname(data))
model = os.path.join(data, "families", "distilbert")
LINES, WINDOW, SHARDS = 3000, 32, 3
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    os.environ["POCL_AFFINITY"] = "0"
    rng = random.Random(7)
    words = "the cat sat on a mat and then it ran away".split()
    with open("lines.txt", "w", encoding="ascii") as file:
        file.writelines(" ".join(rng.choices(words, k=rng.choice((1, 3, 9, 20)))) + "\n" for _ in range(LINES))
    common = [program, "embed", model, "--file", "lines.txt", "--window", str(WINDOW)]

    def run(*arguments):
        return subprocess.run(arguments, capture_output=True, text=True, check=False)

    def expect(name, done, status, *parts):
        if done.returncode != status:
            fail(f"{name}: status {done.returncode}, expected {status}: {done.stderr[-400:]}")
        for part in parts:
            if part not in done.stderr:
                fail(f'{name}: "{part}" is not in {done.stderr[-400:]}')

    def run_killed(*arguments, after):
        """Starts a command and kills it at some moment; whether it was still running."""
        process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL

    began = time.monotonic()
    done = run(*common, "-o", "want.npy")
    seconds = time.monotonic() - began
    if done.returncode != 0 and "device" in done.stderr:
        print("skipped:", done.stderr)
        sys.exit(77)
    expect("embed", done, 0)
    want, told = read("want.npy"), read("want.npy.json")
    if sorted(os.listdir()) != ["lines.txt", "want.npy", "want.npy.json"]:
        fail(f"left: {os.listdir()}")

    # --resume: killed again and again, and never anything but the part file until all is there.
    kills = kept = 0
    for _ in range(4):
        kills += run_killed(*common, "--resume", "-o", "all.npy", after=rng.uniform(0.3, 1) * seconds)
        kept += os.path.exists("all.npy.part")
        if kills and not os.path.exists("all.npy") and set(os.listdir()) - {"lines.txt", "want.npy", "want.npy.json", "all.npy.part"}:
            fail(f"a run that was killed left {os.listdir()}")
    if os.path.exists("all.npy.part"):
        with open("all.npy.part", "ab") as file:  # a record that was torn
            file.write(read("all.npy.part")[-500:-3])
    expect("embed --resume", run(*common, "--resume", "-o", "all.npy"), 0)
    if read("all.npy") != want or read("all.npy.json") != told or os.path.exists("all.npy.part"):
        fail("--resume: other bytes than one run's")
    if not kills or not kept:
        fail(f"--resume: {kills} runs were killed, {kept} left a part file")

    # A failure keeps what was done, too; the job must be the same.
    shutil.copy("lines.txt", "broken.jsonl")
    lines = [f'"{line.strip()}"\n' for line in open("lines.txt", encoding="ascii")]
    with open("broken.jsonl", "w", encoding="ascii") as file:
        file.writelines([*lines[:200], "broken\n"])
    broken = [program, "embed", model, "--file", "broken.jsonl", "-o", "b.npy", "--window", str(WINDOW)]
    expect("a broken line", run(*broken), 1, "line 201", "192 embeddings are kept in b.npy.part")
    expect("other options", run(*broken, "--resume", "--pooling", "cls"), 2, 'b.npy.part was begun with another pooling: "mean", now "cls"')
    expect("another window", run(*broken[:-1], "16", "--resume"), 2, "another --window: 32, now 16")
    with open("broken.jsonl", "w", encoding="ascii") as file:
        file.writelines(lines[:201])
    expect("other texts", run(*broken, "--resume"), 2, "b.npy.part was begun with other texts")
    expect("another start", run(*broken), 0)
    if os.path.exists("b.npy.part"):
        fail("a part file outlived its output")
    expect("--resume of standard input", run(program, "embed", model, "-", "--resume", "-o", "c.npy"), 2, "--resume: expected")

    # --shard: killed at some moment, run again, joined.
    def shard(i, *more):
        return [*common, "--shard", f"{i}/{SHARDS}", "-o", "parts", *more]

    for i in range(1, SHARDS):  # the last one is not begun before gather asks for it
        run_killed(*shard(i), after=rng.uniform(0.3, 1) * seconds)
    os.rename("parts", "killed") if os.path.exists("parts") else None
    expect("gather of nothing", run(program, "gather", "parts", "-o", "g.npy"), 1, "manifest.json")
    os.rename("killed", "parts") if os.path.exists("killed") else None
    for i in range(1, SHARDS):
        expect(f"shard {i}", run(*shard(i)), 0)
    expect("gather too early", run(program, "gather", "parts", "-o", "g.npy"), 1, "1 of 3 shards are not done", "--shard 3/3")
    run_killed(*shard(SHARDS), after=rng.uniform(0.3, 1) * seconds)
    expect("another job", run(*shard(3, "--pooling", "max")), 2, "manifest.json was begun with another pooling")
    expect("the last shard", run(*shard(3)), 0)
    first = os.path.join("parts", "shard-00001-of-00003.done")
    before = os.stat(first).st_mtime_ns
    expect("a shard that is done", run(*shard(1)), 0)
    if os.stat(first).st_mtime_ns != before:
        fail("a shard that was done was written again")
    expect("gather", run(program, "gather", "parts", "-o", "g.npy"), 0)
    if read("g.npy") != want or read("g.npy.json") != told:
        fail("gather: other bytes than one run's")
    for name in ("0/3", "4/3", "1", "1/x", "-1/3", "1/3x"):
        expect(f"--shard {name}", run(*common, "--shard", name, "-o", "parts"), 2, "--shard: expected i/N")
    expect("--shard without -o", run(*common, "--shard", "1/2"), 2, "-o DIR")

    # What is wrong with a part is said, and nothing is written.
    os.remove("g.npy")
    good = read(first)
    for name, content in (("a bit", good[:-5000] + bytes([good[-5000] ^ 1]) + good[-4999:]), ("the end", good[:-200]),
                          ("a window", good[:len(good) // 2]), ("all", b"")):
        with open(first, "wb") as file:
            file.write(content)
        expect(f"{name} is broken", run(program, "gather", "parts", "-o", "g.npy"), 1, "shard-0000")
        if os.path.exists("g.npy"):
            fail(f"{name} is broken, and gather wrote its output")
    with open(first, "wb") as file:
        file.write(read(os.path.join("parts", "shard-00002-of-00003.done")))
    expect("a shard twice", run(program, "gather", "parts", "-o", "g.npy"), 1, "says that it is shard 2")

    # The recipe.
    if shutil.which("parallel"):
        done = subprocess.run([os.path.join(root, "host", "cli", "recipes", "embed_parallel.sh"), model, "lines.txt", "p.npy", "3", "--window", str(WINDOW)],
                              env={**os.environ, "CLFORMER": program, "JOBS": "2"}, capture_output=True, text=True, check=False)
        expect("embed_parallel.sh", done, 0)
        if not os.path.exists("p.npy") or read("p.npy") != want or os.path.exists("p.npy.shards"):
            fail("embed_parallel.sh: other bytes than one run's")
    else:
        print("left out: GNU parallel is not installed")

print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
