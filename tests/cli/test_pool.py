#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed, search and rerank on several devices at once, a process each: the same bytes as one device's, also when a process is killed in the
middle. usage: test_pool.py PROGRAM DATA"""
import json
import os
import re
import signal
import subprocess
import tempfile
import time

from runs import (data, ending, expect, fail, finish, make_broken_vendors, make_spoiled_model, model, program, read, run, run_ending,
                  skip_without_device, worst, write_lines)

scorer = os.path.join(data, "classifiers", "bert")
WINDOW = 32
LOST = 15  # seconds: impatient.c, as that of the list

with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    write_lines("lines.txt", 2000, 3)

    def embed(output, *more):
        return [program, "embed", model, "--file", "lines.txt", "--window", str(WINDOW), "-o", output, *more]

    done = run(*embed("want.npy"))
    skip_without_device(done)
    expect("embed", done, 0)
    want = read("want.npy")

    # The default device twice, thrice.
    for devices in (",", ",,"):
        expect(f"--device {devices}", run(*embed("all.npy", "--device", devices)), 0)
        if read("all.npy") != want:
            fail(f"--device {devices}: other bytes than one device's")
    # The fingerprint names all that shared the work.
    listed = [(i, d["name"]) for i, d in enumerate(json.loads(run(program, "devices", "--json").stdout)["devices"]) if d["usable"]]
    others = [(i, name) for i, name in listed if name != listed[0][1]]
    if others:
        write_lines("few.txt", 8, 4)
        two = (listed[0], others[0])
        done = run(program, "embed", model, "--file", "few.txt", "-o", "two.npy", "--device", ",".join(str(i) for i, _ in two))
        expect("two devices", done, 0)
        told = json.loads(read("two.npy.json"))["device"]
        if told != ", ".join(name for _, name in two):
            fail(f"devices {two} are told as {told!r}: {done.stderr}")

    for devices in (",nosuchdevice", "nosuchdevice,0", "0,nosuchdevice,nosuchdevice2", "99,nosuchdevice2"):
        wrong = "99" if devices[:2] == "99" else "nosuchdevice"
        done = run(*embed("none.npy", "--device", devices))
        expect(f"--device {devices}: one of no device", done, 1, f'no device matches "{wrong}"; found: 0: ')
        if "left out" in done.stderr or os.path.exists("none.npy"):
            fail(f"--device {devices}: work was done: {done.stderr!r}, {os.listdir()}")

    for devices in ("all", "0,0"):
        expect(f"similarity --device {devices}", run(program, "similarity", model, "the cat", "a mat", "--device", devices), 1,
               "only embed, search, rerank and serve use several devices: no device matches")

    # The weights are on the devices of the processes alone, which also compute the fingerprint's sentences.
    none = ("read back       0.0 ms (0.00 MB)\ndevice memory   0.0 MB at its peak, 0.0 MB of host memory used in place", "(engine ")
    done = run(*embed("stats.npy", "--stats"))
    if none[0] in done.stderr:
        fail(f"one device without memory: {done.stderr}")
    precision = re.findall("^precision .*", done.stderr, re.MULTILINE)
    done = run(*embed("stats.npy", "--stats", "--device", ","))
    expect("the memory of their parent", done, 0, *none, "processes       one for each device; their programs, transfers, memory")
    expect("a trace of several", run(*embed("none.npy", "--trace", "trace.json", "--device", ",")), 2, 'expected one device, found ","')
    if os.path.exists("trace.json") or os.path.exists("none.npy"):
        fail("a trace of several devices left a file")
    if len(precision) != 1 or "none" in precision[0] or precision != re.findall("^precision .*", done.stderr, re.MULTILINE):
        fail(f"the precision of their products: {done.stderr} instead of {precision}")
    if read("stats.npy.json") != read("want.npy.json"):
        fail(f"another fingerprint: {read('stats.npy.json')} instead of {read('want.npy.json')}")

    # Quantized: the same bytes too, and the processes of the devices computed them.
    for output in ("one.npy", "one.txt"):
        two = output.replace("one", "two")
        done = [run(*embed(output, "--quantize", "int8", "--stats")), run(*embed(two, "--quantize", "int8", "--stats", "--device", ","))]
        expect(f"--quantize to {output}", done[0], 0)
        expect(f"--quantize to {two}", done[1], 0, "(0.00 MB)\ndevice memory", "2000 texts")
        if "(0.00 MB)\ndevice memory" in done[0].stderr or read(two) is None or read(output) != read(two):
            fail(f"--quantize on two: other bytes than one device's, or one device reads nothing back: {done[0].stderr}")

    # A process is killed in the middle of an answer, of its head or of its rows: its window is done by the other.
    for call in ("send:2", "send:3", "send:5"):
        done = run_ending(call, *embed("killed.npy", "--device", ","), child=1, once=f"{call}.once")
        expect(f"a process that dies at {call}", done, 0, "signal 9", "another device takes its texts")
        if read("killed.npy") != want:
            fail(f"a process that dies at {call}: other bytes than one device's")
    # The first process that is forked lists the devices.
    expect("a process that dies at once", run_ending("send:1", *embed("killed.npy", "--device", ","), child=2, once="first.once"), 0,
           "signal 9", "it is left out")
    if read("killed.npy") != want:
        fail("a process that dies at once: other bytes than one device's")

    # All of them die: what was done is kept. The program itself dies: the same.
    os.remove("killed.npy")
    expect("all die", run_ending("send:5", *embed("killed.npy", "--device", ",,"), child=1), 1, "signal 9")
    if os.path.exists("killed.npy"):
        fail("all devices died, and there is an output")
    done = run_ending("fdatasync:9", *embed("killed.npy", "--device", ",", "--resume"))
    if done.returncode != -signal.SIGKILL or os.path.exists("killed.npy"):
        fail(f"the program was not ended: status {done.returncode}: {done.stderr[-400:]}")
    expect("--resume", run(*embed("killed.npy", "--device", ",", "--resume")), 0)
    if read("killed.npy") != want or os.path.exists("killed.npy.part"):
        fail("ended with all its devices: --resume gives other bytes")

    # A process that stops is not waited for: before it reads a request, while it opens the model, or in the middle of an answer, where half
    # a minute must show that it has.
    stopped = {"signal": int(signal.SIGSTOP), "child": 2}
    slow = subprocess.Popen(embed("slow.npy", "--device", ","), stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **ending("send:3", once="half.once", **stopped)})
    hanging = make_broken_vendors("hanging", "hangs")
    hung = subprocess.Popen(embed("hung.npy", "--device", ","), stderr=subprocess.PIPE, text=True,
                            env={**os.environ, "OCL_ICD_VENDORS": hanging}) if hanging else None
    # With limits of seconds: what is over only after half an hour.
    impatient, late = os.environ["CLF_TEST_IMPATIENT"], {}
    with open("long.txt", "w", encoding="ascii") as file:
        file.writelines("the cat " * 4000 + "\n" for _ in range(100))
    for name, call, path, more in (("in a window", "send:2", "lines.txt", {"once": "window.once"}),
                                   ("all in a window", "send:2", "lines.txt", {}),
                                   ("all at the model", "send:1", "lines.txt", {}), ("at the model", "send:1", "-", {"once": "model.once"}),
                                   ("before a large window", "recv:1", "long.txt", {"once": "large.once"}),
                                   ("at the list of devices", "send:1", "lines.txt", {"child": 1})):
        variables = ending(call, **{**stopped, **more})
        late[name] = subprocess.Popen(
            [impatient, "embed", model, "--file", path, "--window", str(WINDOW), "--format", "text", "--device", ","],
            env={**os.environ, **variables}, stdin=subprocess.PIPE, stdout=open(f"{name}.out", "wb"), stderr=open(f"{name}.err", "wb"))
    with open("lines.txt", "rb") as file:
        lines = file.read()
    late["at the model"].stdin.write(lines[:len(lines) // 2])  # what has opened the model has done these, and waits for more
    late["at the model"].stdin.flush()
    late_since = time.monotonic()

    # The texts are another's after a while, or those of few texts, such as the fingerprint's, at once.
    text = [program, "embed", model, "--file", "lines.txt", "--window", str(WINDOW), "--format", "text"]
    numbers = run(*text).stdout
    for call, told in (("recv:1", ("no answer for", "another device computes its texts too")),
                       ("send:1", ("has not opened the model", "it will join once it has"))):
        done = run_ending(call, *text, "--device", ",", once=f"{call}.once", timeout=300, **stopped)
        expect(f"a process that stops at {call}", done, 0, *told)
        if done.stdout != numbers or not numbers:
            fail(f"a process that stops at {call}: other numbers than one device's")
    expect("a process that stops at the fingerprint",
           run_ending("recv:1", *embed("stopped.npy", "--device", ","), once="fingerprint.once", timeout=300, **stopped), 0)
    if read("stopped.npy") != want:
        fail("a process that stops at the fingerprint: other bytes than one device's")

    # Windows of a file of few texts are small enough for all; what was begun with others goes on with those.
    few = [program, "embed", model, "--file", "few.txt", "-o", "few.npy"]
    write_lines("few.txt", 200, 4)
    expect("200 texts", run(*few), 0)
    one = read("few.npy")
    expect("200 texts on two", run_ending("fdatasync:2", *few, "--device", ","), -signal.SIGKILL)
    expect("200 texts of two processes, gone on with by one", run(*few, "--resume", "--stats"), 0, "(136 texts")
    if read("few.npy") != one:
        fail("200 texts on two: other bytes than one device's")

    # A text to blame is told by its line, as by one device.
    texts = ["the cat", "", "the cat sat on a mat and then it ran away", "a mat"]
    make_spoiled_model("spoiled", texts)
    with open("texts.txt", "w", encoding="ascii") as file:
        file.writelines(text + "\n" for text in texts)
    for more in ([], ["--device", ","]):
        done = run(program, "embed", "spoiled", "--file", "texts.txt", *more)
        expect(f"a spoiled text {more}", done, 1, "texts.txt: line 3: embed: the result is not finite")
    expect("weights of a spoiled text", run(program, "attention", "spoiled", texts[2], "--json"), 1,
           "attention: the weights are not finite")

    # Search, its corpus embedded by two; rerank, its pairs scored by two.
    one = run(program, "search", model, "--corpus", "lines.txt", "--no-keep", "--json", "the cat")
    two = run(program, "search", model, "--corpus", "lines.txt", "--no-keep", "--json", "--device", ",", "the cat")
    expect("search", two, 0)
    if one.stdout != two.stdout or not one.stdout:
        fail(f"search on two: {two.stdout[:200]} instead of {one.stdout[:200]}")
    killed = run_ending("send:3", program, "search", model, "--corpus", "lines.txt", "--no-keep", "--json", "--device", ",", "the cat",
                        child=2, once="search.once")
    expect("search, and a process dies at its second window", killed, 0, "signal 9", "another device takes its texts")
    if one.stdout != killed.stdout:
        fail(f"search on two, one of which dies: {killed.stdout[:200]} instead of {one.stdout[:200]}")
    # The hits' pairs scored by two: the corpus has its embeddings, so that all but the query's are pairs.
    ask = [program, "search", model, "--corpus", "want.npy", "--texts", "lines.txt", "--rerank", scorer, "--json", "the cat",
           "a mat and then"]
    one, two = run(*ask), run(*ask, "--device", ",", "--stats")
    expect("search --rerank on two", two, 0, "(102 texts", "0.0 MB of host memory used in place")
    killed = run_ending("send:5", *ask, "--device", ",", child=1, once="hits.once")
    expect("search --rerank, and a process dies at pairs", killed, 0, "signal 9", "another device takes its texts")
    if not one.stdout or two.stdout != one.stdout or killed.stdout != one.stdout:
        fail(f"search --rerank on two: {two.stdout[:200]} {killed.stdout[:200]} instead of {one.stdout[:200]}")
    rerank = [program, "rerank", scorer, "the cat", "--file", "lines.txt", "--json", "--stats"]
    one, two = run(*rerank), run(*rerank, "--device", ",")
    expect("rerank", one, 0, "2000 texts")
    expect("rerank on two", two, 0, "(0.00 MB)\ndevice memory", "2000 texts")
    killed = run_ending("send:3", *rerank, "--device", ",", child=1, once="rerank.once")
    expect("rerank, and a process dies", killed, 0, "signal 9", "another device takes its texts")
    if not one.stdout or two.stdout != one.stdout or killed.stdout != one.stdout:
        fail(f"rerank on two: {two.stdout[:200]} {killed.stdout[:200]} instead of {one.stdout[:200]}")
    done = run(program, "rerank", model, "the cat", "a", "b", "--device", ",")
    expect("rerank by a model without a head", done, 1, "no classification head")
    if "another takes" in done.stderr:
        fail(f"a model that cannot do it was tried on another device: {done.stderr}")

    # A driver that aborts while it is loaded is named once and left out, before there is more than one process that could load it.
    with open("two.txt", "w", encoding="ascii") as file:
        file.write("the cat\na mat\n")
    vendors = make_broken_vendors("vendors")
    for name, command in (("embed", [program, "embed", model, "--file", "two.txt"]),
                          ("search", [program, "search", model, "--corpus", "two.txt", "--no-keep", "--json", "cat"]),
                          ("rerank", [program, "rerank", scorer, "cat", "--file", "two.txt", "--json"])):
        for devices in (",", "all") if vendors else ():
            whole, done = run(*command), run(*command, "--device", devices, env={**os.environ, "OCL_ICD_VENDORS": vendors})
            expect(f"{name} --device {devices} and a driver that aborts", done, 0, "aborts.icd: its library crashes")
            said = [line for line in done.stderr.splitlines() if "same hardware" not in line]
            if len(done.stdout.splitlines()) != len(whole.stdout.splitlines()) or len(said) != 1:
                fail(f"{name} --device {devices} and a driver that aborts: {done.stdout[:300]} {done.stderr}")

    # What CLF_DEVICE says is a list, too.
    for devices in (",", "all"):
        expect(f"CLF_DEVICE={devices}", run(*embed("all.npy"), env={**os.environ, "CLF_DEVICE": devices}), 0)

    # "all" takes one of several devices that are one piece of hardware, and says so. A list may name them.
    two = {**os.environ, "POCL_DEVICES": "pthread basic"}
    done = run(program, "embed", model, "--file", "two.txt", "--device", "all", env=two)
    expect("--device all of one piece of hardware", done, 0, "is the same hardware as device ", "--device all leaves it out")
    done = run(program, "embed", model, "--file", "two.txt", "--device", "Portable Computing Language,basic", env=two)
    expect("a list of one piece of hardware", done, 0)
    if "same hardware" in done.stderr:
        fail(f"a list of one piece of hardware: {done.stderr}")

    # A driver that hangs while it is loaded is left out after a while.
    if hung and (hung.wait(timeout=300) != 0 or "hangs.icd: its library hangs" not in hung.stderr.read() or read("hung.npy") != want):
        fail("a driver that hangs while it is loaded")
    if slow.wait(timeout=300) != 0 or "stopped in the middle of an answer; another device takes its texts" not in slow.stderr.read() or \
            read("slow.npy") != want:
        fail("a process that stops in the middle of an answer")

    # A process that never answers is ended, and another one, if there is one, gets its texts.
    time.sleep(max(0, late_since + LOST + 1 - time.monotonic()))
    late["at the model"].communicate(lines[len(lines) // 2:], timeout=300)
    for name, status, told in (("in a window", 0, (f"no answer for {LOST} s; its process was ended; another device takes its texts",
                                                   "no answer for 1 s; it may be compiling")),
                               ("all in a window", 1,
                                (f"the last device (default) failed: no answer for {LOST} s; its process was ended",)),
                               ("all at the model", 1, (f"no device has opened the model within {LOST} s",)),
                               ("at the model", 0, ("its process was ended; it is left out",)),
                               ("at the list of devices", 1, (f"listing the devices: not finished within {LOST} s",)),
                               ("before a large window", 0, ("it no longer reads; another device takes its texts",))):
        ended = subprocess.CompletedProcess(name, late[name].wait(timeout=300), "", read(f"{name}.err").decode())
        expect(f"a process that hangs {name}", ended, status, *told)
        if status == 0 and name != "before a large window" and read(f"{name}.out").decode() != numbers:
            fail(f"a process that hangs {name}: other numbers than one device's")
    if len(read("before a large window.out").splitlines()) != 100:
        fail("a process that hangs before a large window: not all embeddings")

    # All devices, of different kinds, differ by rounding only.
    with open("lines.txt", encoding="ascii") as file:
        some = [next(file) for _ in range(40)]
    with open("some.txt", "w", encoding="ascii") as file:
        file.writelines(some)
    few = [program, "embed", model, "--file", "some.txt", "--window", "8", "--format", "text"]
    rows = [run(*few, *more) for more in ([], ["--device", "all"])]
    expect("--device all", rows[1], 0)
    a, b = ([[float(x) for x in line.split()] for line in done.stdout.splitlines()] for done in rows)
    if len(b) != 40 or not worst(abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)) <= 1e-4 * max(abs(x) for p in a for x in p):
        fail("--device all: other embeddings than the default device's")

finish()
