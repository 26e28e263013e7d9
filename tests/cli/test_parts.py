#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work that survives a killed process: embed --resume, embed --shard and gather, and the recipe for GNU parallel. Whatever happens on
the way, the bytes at the end are those of one run, and memory does not grow with the file. usage: test_parts.py PROGRAM DATA"""
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from runs import (data, expect, fail, failures, finish, make_wide_model, model, program, read, run, run_ending, skip, skip_without_device,
                  used_device, write_lines)

root = os.path.dirname(os.path.dirname(data))
LINES, WINDOW, SHARDS = 3000, 32, 3
MANY, WIDTH, MANY_WINDOW = 20000, 1024, 512


def must_die(name, call, *command):
    done = run_ending(call, *command)
    if done.returncode != -signal.SIGKILL:
        fail(f"{name}: not ended at {call}, status {done.returncode}: {done.stderr[-400:]}")


def resident(done):
    return float(re.search(r"host memory +([\d.]+) MB", done.stderr).group(1))


def has_window():
    """Whether the second window of c.npy.part has begun: what is said on a signal then counts the first."""
    return (read("c.npy.part") or b"").count(b"clf-rows") >= 2


def while_running(do, *command, ready=lambda: os.path.exists("c.npy.part")):
    """The command, with do(process) called once it is ready, or else its part file is there. Its status and standard error."""
    with subprocess.Popen([*command, "-o", "c.npy"], stderr=subprocess.PIPE, text=True) as process:
        end = time.monotonic() + 300
        while process.poll() is None and not ready() and time.monotonic() < end:
            time.sleep(0.005)
        do(process)
        told = process.communicate()[1]
    return subprocess.CompletedProcess(command, process.returncode, "", told)


def check_changes(command):
    """Texts that change while they are read end in no output, and a terminal that is closed says what is kept. `command`: many windows of
    c.txt."""
    def append(_):
        with open("c.txt", "a", encoding="ascii") as file:
            file.write("one more\n")

    def replace(_):
        shutil.copy("c.txt", "other.txt")
        os.replace("other.txt", "c.txt")

    for name, do in (("cut", lambda _: os.truncate("c.txt", os.path.getsize("c.txt") // 2)), ("longer", append), ("replaced", replace)):
        shutil.copy("lines.txt", "c.txt")
        expect(f"texts {name} while they are read", while_running(do, *command), 1, "c.txt: the file changed while it was being read")
        if os.path.exists("c.npy"):
            fail(f"texts {name} while they are read: an output")
        os.remove("c.npy.part")
    # Other texts for a while: of what was read then nothing is kept.
    def overwrite(_):
        with open("c.txt", "r+b") as file:
            content = file.read()
            file.seek(0)
            file.write(content[::-1])

    shutil.copy("lines.txt", "c.txt")
    expect("texts written over while they are read", while_running(overwrite, *command), 1,
           "c.txt: the file changed while it was being read")
    shutil.copy("lines.txt", "c.txt")
    expect("their first state again", run(*command, "--resume", "-o", "c.npy"), 0)
    expect("the same at once", run(*command, "-o", "straight.npy"), 0)
    if read("c.npy") != read("straight.npy"):
        fail("rows of other texts were kept")
    os.remove("c.npy")
    shutil.copy("lines.txt", "c.txt")
    expect("SIGHUP", while_running(lambda process: process.send_signal(signal.SIGHUP), *command, ready=has_window), -signal.SIGHUP,
           "clformer: interrupted; ", "embeddings are kept in c.npy.part")
    for number in (signal.SIGQUIT, signal.SIGXCPU, signal.SIGUSR1):  # which the driver's compiler takes over and lets pass once
        expect(number.name, while_running(lambda process, n=number: process.send_signal(n), *command, ready=has_window), -number)


def check_strangers(command):
    """A foreign file with the part file's name is reported and left as it is, also where there is nothing to go on with. `command`: several
    windows into b.npy."""
    def write(path):
        with open(path, "w", encoding="ascii") as file:
            file.write("precious\n")

    for name, make, words in (("file", write, "not a part file"), ("link", lambda path: os.symlink("precious", path), "a link"),
                              ("dangling link", lambda path: os.symlink("nowhere", path), "a link"),
                              ("pipe", os.mkfifo, "not a regular file"), ("directory", os.mkdir, "")):
        for path, arguments in (("b.npy.part", command), ("b.npy.part", [*command, "--resume"]),
                                ("one/shard-00001-of-00001.part", [*command[:command.index("-o")], "--shard", "1/1", "-o", "one"]),
                                ("one/shard-00001-of-00001.done", [*command[:command.index("-o")], "--shard", "1/1", "-o", "one"])):
            os.makedirs("one", exist_ok=True)
            write("precious")
            make(path)
            before = os.lstat(path)
            expect(f"{name} at {path}, {arguments[-3:]}", run(*arguments, timeout=120), 1, f"{path}: ", words)
            after = os.lstat(path)
            if (before.st_ino, before.st_mode) != (after.st_ino, after.st_mode) or read("precious") != b"precious\n" or \
                    name == "file" and read(path) != b"precious\n" or os.path.exists("nowhere") or os.path.exists("b.npy"):
                fail(f"{name} at {path}, {arguments[-3:]}: not left alone")
            os.rmdir(path) if name == "directory" else os.remove(path)
            shutil.rmtree("one")


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    os.environ["POCL_AFFINITY"] = "0"
    write_lines("lines.txt", LINES, 7)
    write_lines("few.txt", 20, 9)
    common = [program, "embed", model, "--file", "lines.txt", "--window", str(WINDOW)]
    before_all = ["few.txt", "lines.txt", "want.npy", "want.npy.json"]
    done = run(*common, "-o", "want.npy")
    skip_without_device(done)
    expect("embed", done, 0)
    want, told = read("want.npy"), read("want.npy.json")
    if sorted(os.listdir()) != before_all:
        fail(f"left: {os.listdir()}")

    # --resume: each run goes on where the one before was ended, in the middle of a write or before a call.
    for call in ("pwrite:1",  # the header
                 "pwrite:2",  # a record, behind the header, which is written again
                 "pwrite:2",  # a record's rows
                 "fdatasync:1", "pwrite:8", "fdatasync:40",  # 1, 3 and 40 windows are done
                 "fsync:1", "linkat:1", "fsync:2", "linkat:2",  # all: the output and its fingerprint get their temporary names
                 "renameat2:1", "rename:1", "rename:2", "rename:1",  # and their own
                 "unlink:1", "unlink:2"):  # what was exchanged and the part file are removed
        must_die("--resume", call, *common, "--resume", "-o", "all.npy")
        found = read("all.npy")
        if (found is not None) != call.startswith("unlink") or found not in (None, want) or read("all.npy.part") is None:
            fail(f"ended at {call}: {os.listdir()}")
        if call.startswith(("pwrite", "fdatasync")) and sorted(os.listdir()) != ["all.npy.part", *before_all]:
            fail(f"ended at {call}: left {os.listdir()}")
    for name in set(os.listdir()) - {*before_all, "all.npy.part"}:
        if not re.fullmatch(r"all\.npy(\.json)?(\.[0-9a-f]{6})?", name):
            fail(f"left {name}")
        os.remove(name)
    with open("all.npy.part", "ab") as file:  # a record that was torn
        file.write(read("all.npy.part")[-500:-3])
    expect("embed --resume", run(*common, "--resume", "-o", "all.npy", "--stats"), 0, "(0 texts")  # all windows were there
    if read("all.npy") != want or read("all.npy.json") != told or os.path.exists("all.npy.part"):
        fail("--resume: other bytes than one run's")

    # 20,000 lines: as much memory as 2,000, and the same bytes after it was ended five times.
    write_lines("many.txt", MANY, 8)
    with open("many.txt", encoding="ascii") as whole, open("some.txt", "w", encoding="ascii") as some:
        some.writelines(next(whole) for _ in range(MANY // 10))
    make_wide_model("wide", WIDTH)

    def embed_many(texts, output):
        return [program, "embed", "wide", "--file", texts, "--window", str(MANY_WINDOW), "--resume", "--stats", "-o", output]

    for texts in ("some.txt", "many.txt"):  # compiling kernels takes memory, and the last window of each file may need others
        expect("kernels", run(*embed_many(texts, "kernels.npy")), 0)
    few, many = run(*embed_many("some.txt", "some.npy")), run(*embed_many("many.txt", "many.npy"))
    expect("2,000 lines", few, 0)
    expect("20,000 lines", many, 0, "(20000 texts")
    all_rows = MANY * 4 * WIDTH / 1e6
    if "ASAN_OPTIONS" in os.environ:
        print("left out: memory, since AddressSanitizer keeps what is freed")
    elif not failures and not resident(many) < resident(few) + all_rows / 3:
        fail(f"20,000 lines take {resident(many)} MB of memory, 2,000 take {resident(few)}")
    for call in ("fdatasync:1", "pwrite:7", "fdatasync:9", "pwrite:2", "fdatasync:20"):
        must_die("20,000 lines", call, *embed_many("many.txt", "killed.npy"))
    expect("20,000 lines resumed", run(*embed_many("many.txt", "killed.npy")), 0)
    if read("killed.npy") != read("many.npy") or read("killed.npy.json") != read("many.npy.json"):
        fail("20,000 lines, ended five times: other bytes than one run's")

    # The same after kill -9 at any moment: at a share of a whole run's time.
    rng = random.Random()
    shares = sorted(rng.random() for _ in range(3))
    began = time.monotonic()
    expect("20,000 lines", run(*embed_many("many.txt", "timed.npy")), 0)
    whole_run = time.monotonic() - began
    for share in shares:
        with subprocess.Popen(embed_many("many.txt", "random.npy"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(share * whole_run)
            process.kill()
    expect(f"20,000 lines resumed after {shares}", run(*embed_many("many.txt", "random.npy")), 0)
    if read("random.npy") != read("many.npy") or read("random.npy.json") != read("many.npy.json") or os.path.exists("random.npy.part"):
        fail(f"20,000 lines, ended at {shares} of {whole_run:.2f} s: other bytes than one run's")

    # A failure keeps what was done, too; the job must be the same.
    with open("lines.txt", encoding="ascii") as file:
        lines = [f'"{line.strip()}"\n' for line in file]
    with open("broken.jsonl", "w", encoding="ascii") as file:
        file.writelines([*lines[:200], "broken\n"])
    broken = [program, "embed", model, "--file", "broken.jsonl", "-o", "b.npy", "--window", str(WINDOW)]
    expect("a broken line", run(*broken), 1, "line 201", "192 embeddings are kept in b.npy.part")
    expect("other options", run(*broken, "--resume", "--pooling", "cls"), 2,
           'b.npy.part was begun with another pooling: "mean", here "cls"')
    for name, more, variable in (("forced_engines", ["--engine", "gemm=tiled"], {}), ("forced_engines", [], {"CLF_ENGINE": "gemm=tiled"}),
                                 ("precision", ["--precision", "high"], {}),
                                 ("tuned", [], {"CLF_NO_TUNED": "" if os.environ.get("CLF_NO_TUNED") else "1"})):
        expect(f"another {name}, {more} {variable}", run(*broken, "--resume", *more, env={**os.environ, **variable}), 2,
               f'b.npy.part was begun with another {name}: "')
    prompts = ["passage " * 40 + end for end in ("one", "two")]
    before = read("b.npy.part")
    os.remove("b.npy.part")
    expect("a long prompt", run(*broken, "--prompt", prompts[0]), 1, "192 embeddings are kept")
    expect("another with the same beginning", run(*broken, "--resume", "--prompt", prompts[1]), 2,
           "b.npy.part was begun with another prompt", 'passage two"')
    with open("b.npy.part", "wb") as file:
        file.write(before)
    expect("another window", run(*broken[:-1], "16", "--resume"), 2, "another --window: 32, here 16")
    with open("broken.jsonl", "w", encoding="ascii") as file:
        file.writelines(lines[:201])
    expect("other texts", run(*broken, "--resume"), 2, "b.npy.part was begun with other texts")
    before = read("b.npy.part")
    expect("another start without --resume", run(*broken), 2, "b.npy.part keeps 192 embeddings of an interrupted run (--resume continues",
           "remove the file to start over")
    if read("b.npy.part") != before or os.path.exists("b.npy"):
        fail("another start without --resume: what was kept was written over")
    os.remove("b.npy.part")
    expect("another start", run(*broken), 0)
    if os.path.exists("b.npy.part"):
        fail("a part file outlived its output")
    for name in ("b.npy", "b.npy.json"):
        os.remove(name)
    check_strangers([*broken[:-1], "128"])
    check_changes([program, "embed", model, "--file", "c.txt", "--window", "8"])
    os.remove("c.npy.part")
    expect("--resume of standard input", run(program, "embed", model, "-", "--resume", "-o", "c.npy"), 2, "--resume: expected")

    for more in (["-o", "c.npy"], ["--resume", "-o", "c.npy"], ["--shard", "1/2", "-o", "c"]):
        expect(f"texts that are not there, {more}", run(program, "embed", model, "--file", "nosuch.txt", *more), 1,
               "open nosuch.txt: No such file")

    # --shard: ended in the middle, run again, joined.
    def shard(i, *more):
        return [*common, "--shard", f"{i}/{SHARDS}", "-o", "parts", *more]

    expect("gather of nothing", run(program, "gather", "parts", "-o", "g.npy"), 1, "manifest.json")
    must_die("the manifest", "linkat:1", *shard(1))
    must_die("the first shard", "pwrite:1", *shard(1))
    must_die("the first shard", "pwrite:9", *shard(1))
    must_die("the second shard", "fdatasync:5", *shard(2))
    expect("gather of halves", run(program, "gather", "parts", "-o", "g.npy"), 1, "3 of 3 shards are unfinished")
    for i in range(1, SHARDS):
        expect(f"shard {i}", run(*shard(i)), 0)
    expect("gather too early", run(program, "gather", "parts", "-o", "g.npy"), 1, "1 of 3 shards are unfinished", "--shard 3/3")
    must_die("the last shard", "rename:1", *shard(3))
    expect("another job", run(*shard(3, "--pooling", "max")), 2, "manifest.json was begun with another pooling")
    expect("the last shard", run(*shard(3)), 0)
    first = os.path.join("parts", "shard-00001-of-00003.done")
    before = os.stat(first).st_mtime_ns
    expect("a shard that is done", run(*shard(1)), 0)
    if os.stat(first).st_mtime_ns != before:
        fail("a shard that was done was written again")
    # One that says so and is not whole is gone on with, and another shard's or another job's is refused.
    whole = bytearray(read(first))
    for name, damaged in (("empty", b""), ("cut in its first line", whole[:100]), ("cut", whole[:len(whole) // 2]),
                          ("flipped", whole[:-200] + bytes([whole[-200] ^ 1]) + whole[-199:])):
        with open(first, "wb") as file:
            file.write(damaged)
        expect(f"a done shard, {name}", run(*shard(1)), 0, "incomplete")
        if read(first) != bytes(whole):
            fail(f"a done shard, {name}: not as it was")
    shutil.copy(os.path.join("parts", "shard-00002-of-00003.done"), first)
    expect("another shard's file", run(*shard(1)), 2, "expected shard 1, found shard 2")
    with open(first, "wb") as file:
        file.write(whole)
    expect("gather", run(program, "gather", "parts", "-o", "g.npy"), 0)
    if read("g.npy") != want or read("g.npy.json") != told:
        fail("gather: other bytes than one run's")
    os.symlink(os.path.abspath("parts"), "alias")
    os.link(first, "linked.npy")
    before = {name: read(os.path.join("parts", name)) for name in os.listdir("parts")}
    for output, taken in (("parts/manifest.json", "manifest.json"), ("alias/manifest.json", "manifest.json"),
                          ("parts/manifest", "manifest.json"), (first, "shard-00001"), ("linked.npy", "shard-00001")):
        expect(f"gather into {output}", run(program, "gather", "parts", "-o", output), 2, f"-o {output} would replace parts/{taken}")
    if {name: read(os.path.join("parts", name)) for name in os.listdir("parts")} != before:
        fail("gather wrote over what it reads")
    os.remove("linked.npy")
    expect("gather into its directory", run(program, "gather", "parts", "-o", "parts/g.npy"), 0)

    # More shards than a process may have files open.
    for i in range(1, 17):
        expect(f"shard {i} of 16", run(program, "embed", model, "--file", "few.txt", "--window", "1", "--shard", f"{i}/16",
                                       "-o", "sixteen"), 0)
    expect("few lines", run(program, "embed", model, "--file", "few.txt", "--window", "1", "-o", "few.npy"), 0)
    expect("16 shards and 12 files", run("sh", "-c", 'ulimit -n 12; exec "$@"', "sh", program, "gather", "sixteen", "-o", "sixteen.npy"), 0)
    if read("sixteen.npy") != read("few.npy"):
        fail("16 shards: other bytes than one run's")
    for name in ("0/3", "4/3", "1", "1/x", "-1/3", "1/3x"):
        expect(f"--shard {name}", run(*common, "--shard", name, "-o", "parts"), 2, "--shard: expected i/N")
    expect("--shard without -o", run(*common, "--shard", "1/2"), 2, "-o DIR")

    # A manifest and a part file that tell of what no run can have are refused: a window that its memory does not hold, shards without end.
    of_many = [program, "embed", model, "--file", "many.txt"]
    expect("a shard of many lines", run(*of_many, "--window", "512", "--shard", "1/40", "-o", "hostile"), 0)
    must_die("many lines", "fdatasync:2", *of_many, "--window", "512", "-o", "hostile.npy")
    manifest, part = read("hostile/manifest.json"), read("hostile.npy.part")
    line = part[:part.index(b"\n")]
    for name, number in (("window", MANY), ("window", 0), ("shards", 10 ** 9), ("shards", 0), ("shard", 0), ("batch_tokens", -1)):
        with open("hostile/manifest.json", "w", encoding="utf-8") as file:
            json.dump({**json.loads(manifest), name: number}, file)
        with open("hostile.npy.part", "wb") as file:
            file.write(json.dumps({**json.loads(line), name: number}, separators=(",", ":")).encode() + part[len(line):])
        told = f'"{name}": expected '
        expect(f"a manifest with {name} {number}", run(*of_many, "--shard", "2/40", "-o", "hostile", timeout=120), 1,
               "hostile/manifest.json: " + told)
        expect(f"gather of a manifest with {name} {number}", run(program, "gather", "hostile", "-o", "h.npy", timeout=120), 1, told)
        expect(f"a part file with {name} {number}", run(*of_many, "--resume", "-o", "hostile.npy", timeout=120), 1,
               "hostile.npy.part: " + told)
        if os.path.exists("h.npy") or os.path.exists("hostile.npy"):
            fail(f"{name} {number}: an output")
    os.remove("hostile.npy.part")

    # A fault of a part is reported, and nothing is written.
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
    expect("a shard twice", run(program, "gather", "parts", "-o", "g.npy"), 1, "expected shard 1, found shard 2")

    # The recipe: the bytes of one run, whatever the options hold, and a device for each job that runs at once.
    if not shutil.which("parallel"):
        skip("GNU parallel is not installed")
    recipes = os.path.join(root, "host", "cli", "recipes")
    for shards in ("0", "x", "-1", ""):
        for name in ("embed_parallel.sh", "embed_slurm.sh"):
            expect(f"{name} of {shards} shards", run(os.path.join(recipes, name), model, "lines.txt", "p.npy", shards,
                                                     env={**os.environ, "CLFORMER": program}),
                   2, f'SHARDS: expected a whole number from 1, found "{shards}"')
    with open("recorder", "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\necho "$@" >>{shlex.quote(os.path.join(work, "recorded"))}\nexec {shlex.quote(program)} "$@"\n')
    os.chmod("recorder", 0o700)
    shutil.copy("few.txt", "it's a {} file.txt")
    prompt = "it's {} of {%} {#}\n\"$HOME\" \\ "
    few = ["--window", "1", "--prompt", prompt]
    used = used_device()
    names = [str(used["index"]), f"{used['platform_index']}:{used['platform_device_index']}"]  # of one device
    expect("a prompt of many characters", run(program, "embed", model, "--file", "few.txt", *few, "-o", "q.npy"), 0)
    for texts, output, options, expected, devices in (("lines.txt", "p.npy", ["--window", str(WINDOW)], "want.npy", ""),
                                                      ("it's a {} file.txt", "{}.npy", few, "q.npy", " ".join(names))):
        done = run(os.path.join(recipes, "embed_parallel.sh"), model, texts, output, "3", *options,
                   env={**os.environ, "CLFORMER": os.path.join(work, "recorder"), "DEVICES": devices, "JOBS": "2"})
        expect(f"embed_parallel.sh {texts}", done, 0)
        if read(output) is None or read(output) != read(expected) or os.path.exists(f"{output}.shards"):
            fail(f"embed_parallel.sh {texts}: other bytes than one run's")
    recorded = (read("recorded") or b"").decode().split("\n")
    named = [line.rsplit("--device ", 1)[1] for line in recorded if "--device " in line]
    if len(named) != 3 or set(named) != set(names):
        fail(f"embed_parallel.sh with DEVICES: {recorded}")

finish()
