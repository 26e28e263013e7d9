#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed and search under mpirun: what one process gives, whoever takes which window; a rank that dies ends all and leaves nothing. Other
commands are refused.
usage: test_mpi.py PROGRAM DATA"""
import json
import os
import re
import shutil
import signal
import tempfile
from concurrent.futures import ThreadPoolExecutor

from runs import ending, expect, fail, finish, make_broken_vendors, model, program, read, run, skip, skip_without_device, worst, write_lines

if not shutil.which("mpirun"):
    skip("mpirun is not installed")
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_btl="self,vader")

with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    write_lines("lines.txt", 2000, 5)

    def embed(output, *more):
        return [program, "embed", model, "--file", "lines.txt", "--window", "32", "-o", output, *more]

    def mpirun(ranks, *command, variables=None, **more):
        exports = [word for name, value in (variables or {}).items() for word in ("-x", f"{name}={value}")]
        # The folder of a user's sessions is one: an mpirun that ends removes it, also between another's making it and using it.
        with tempfile.TemporaryDirectory() as session:
            return run("mpirun", "--mca", "orte_tmpdir_base", session, "-n", str(ranks), *exports, *command, **more)

    one = run(*embed("want.npy"))
    skip_without_device(one)
    want = read("want.npy")
    for ranks in (2, 3):
        done = mpirun(ranks, *embed("all.npy"))
        if "built without MPI" in done.stderr:
            if done.returncode == 0 or os.path.exists("all.npy"):
                fail("without MPI, several processes wrote one file")
            skip("built without MPI")
        expect(f"{ranks} ranks", done, 0)
        if read("all.npy") != want:
            fail(f"{ranks} ranks: other bytes than one process's")
    expect("verify", run(program, "verify", "all.npy", "--model", model), 0)
    if sorted(os.listdir()) != ["all.npy", "all.npy.json", "lines.txt", "want.npy", "want.npy.json"]:
        fail(f"left: {os.listdir()}")

    # Links are followed to the file that they name, which keeps its mode. Two jobs of one output do not meet in a file of both.
    os.mkdir("real")
    open("real/old.npy", "wb").close()
    os.chmod("real/old.npy", 0o600)
    os.symlink("real/old.npy", "link.npy")
    with ThreadPoolExecutor(2) as several:
        for done in several.map(lambda _: mpirun(2, *embed("link.npy")), range(2)):
            expect("two jobs through a link", done, 0)
    if not os.path.islink("link.npy") or read("real/old.npy") != want or os.stat("real/old.npy").st_mode & 0o777 != 0o600:
        fail(f"through a link: {os.listdir()} {os.listdir('real')} {oct(os.stat('real/old.npy').st_mode)}")
    if sorted(os.listdir("real")) != ["old.npy", "old.npy.json"]:
        fail(f"through a link: left {os.listdir('real')}")
    shutil.rmtree("real")
    os.remove("link.npy")

    # A launcher of another MPI leaves each process alone with the whole job.
    foreign = {name: value for name, value in os.environ.items() if not name.startswith("PMI")}
    done = run(*embed("none.npy"), env={**foreign, "PMI_SIZE": "2", "PMI_RANK": "0"})
    expect("another MPI", done, 1, "mpirun started 2 processes, but MPI reports 1: this program was built with another MPI")
    if os.path.exists("none.npy"):
        fail("another MPI: an output")

    # Few texts, without --window: which window that is, the refusals below tell.
    write_lines("few.txt", 300, 6)
    few = [program, "embed", model, "--file", "few.txt", "-o", "few.npy", "--stats"]
    expect("few texts", run(*few), 0, "(300 texts")
    one = read("few.npy")
    done = mpirun(2, *few)
    expect("few texts of two ranks", done, 0)
    if read("few.npy") != one:
        fail("few texts of two ranks: other bytes than one process's")

    # The list of devices goes round the ranks of a machine; which one a rank has is told by --stats.
    two = {"POCL_DEVICES": "pthread basic"}
    listed = [device["name"] for device in json.loads(run(program, "devices", "--json", env={**os.environ, **two}).stdout)["devices"]
              if device["platform"] == "Portable Computing Language"]
    if len(set(listed)) == 2:
        done = mpirun(3, *few, "--device", ",".join(listed[::-1]), variables=two)
        expect("three ranks and two devices", done, 0)
        took = sorted(re.findall(r"^device +(.*?) \(", done.stderr, re.MULTILINE))
        if took != sorted([listed[1], listed[0], listed[1]]):
            fail(f"three ranks of {listed[::-1]} took {took}")
    else:
        print("left out: which device a rank takes, since PoCL shows", listed)
    done = mpirun(2, *few, "--device", "0,nosuchdevice")
    if done.returncode == 0 or "rank 1 of 2 on " not in done.stderr or 'no device matches "nosuchdevice"' not in done.stderr:
        fail(f"a device that is none, of rank 1: {done.stderr[-600:]}")

    # Ranks that do not do one job are refused, by name.
    shutil.copytree(model, "other")
    with open("other/model.safetensors", "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    write_lines("else.txt", 300, 7)
    os.remove("few.npy")
    search_few = [program, "search", model, "--corpus", "few.txt", "the cat"]
    for name, own, theirs, words in (("model", few, ["other" if word == model else word for word in few], "another model"),
                                     ("texts", few, ["else.txt" if word == "few.txt" else word for word in few], "other texts"),
                                     ("pooling", few, [*few, "--pooling", "max"], 'another pooling: "mean", here "max"'),
                                     ("window", few, [*few, "--window", "16"], "another --window: 32, here 16"),
                                     ("output", few, ["few2.npy" if word == "few.npy" else word for word in few],
                                      "other options: few.npy, here few2.npy"),
                                     ("model of a search", search_few, ["other" if word == model else word for word in search_few],
                                      "another model"),
                                     ("corpus", search_few, ["else.txt" if word == "few.txt" else word for word in search_few],
                                      "other texts"),
                                     ("--top", search_few, [*search_few, "--top", "3"], "--top 5, --rerank no")):
        done = mpirun(1, *own, ":", "-n", "1", *theirs)
        expect(f"ranks of another {name}", done, 2, "rank 1 of 2 on ", f"rank 0 has {words}" if name != "--top" else words)
        if done.stdout or os.path.exists("few.npy") or os.path.exists("few2.npy"):
            fail(f"ranks of another {name}: an output: {done.stdout[:200]} {os.listdir()}")
    for name in ("few.txt", "few.npy.json", "else.txt"):
        os.remove(name)
    shutil.rmtree("other")

    # A driver that aborts while it is loaded is left out before MPI begins, and named once. (mpirun itself loads drivers: it must
    # not see it.)
    vendors = make_broken_vendors("vendors")
    for more in (([], ["--device", "0"], ["--device", "all"]) if vendors else ()):
        done = mpirun(2, *embed("all.npy", *more), variables={"OCL_ICD_VENDORS": vendors})
        expect(f"a driver that aborts {more}", done, 0)
        if done.stderr.count("aborts.icd: its library crashes") != 1 or read("all.npy") is None or len(read("all.npy")) != len(want):
            fail(f"a driver that aborts {more}: {done.stderr[-600:]}")

    if vendors:
        shutil.rmtree(vendors)

    # A listing of devices that hangs although no driver alone does: after a minute, here seconds (impatient.c).
    done = mpirun(2, os.environ["CLF_TEST_IMPATIENT"], *embed("none.npy")[1:],
                  variables=ending("send:1", signal=int(signal.SIGSTOP), child=1), timeout=300)
    expect("a listing that hangs", done, 1, "listing the devices: not finished within 5 s")
    if os.path.exists("none.npy"):
        fail("a listing that hangs: an output")

    # Search: one answer, that of one process. Many lines are alike, so that equal scores must come in the order of the corpus; and more are
    # asked for than a rank has.
    def search(corpus, *more):
        return [program, "search", model, "--corpus", corpus, "--json", *more]

    def hits(text):
        return [[(hit["index"], hit["text"]) for hit in json.loads(line)["hits"]] for line in text.splitlines()]

    def scores(text):
        return [hit["score"] for line in text.splitlines() for hit in json.loads(line)["hits"]]

    for name, ranks, queries, command in (
        ("texts", 2, None, search("lines.txt", "the cat", "a mat")),
        ("rows", 3, "the dog\nran\n", search("all.npy", "--texts", "lines.txt", "--top", "1000", "--file", "-")),
    ):
        one, done = run(*command, input=queries), mpirun(ranks, *command, input=queries)
        if one.returncode != 0 or done.returncode != 0:
            fail(f"search in {name}: status {one.returncode} and {done.returncode}: {done.stderr[-600:]}")
        elif len(hits(one.stdout)) != 2 or hits(one.stdout) != hits(done.stdout):
            fail(f"search in {name}: other hits than one process's: {done.stdout[:300]} instead of {one.stdout[:300]}")
        elif not worst(abs(a - b) for a, b in zip(scores(one.stdout), scores(done.stdout))) <= 1e-6:
            fail(f"search in {name}: other scores than one process's")
    open("none.txt", "wb").close()
    for done in (run(*search("lines.txt", "--no-keep", "--file", "none.txt")), mpirun(2, *search("lines.txt", "--file", "none.txt"))):
        expect("search for no query", done, 0)
        if done.stdout:
            fail(f"search for no query: {done.stdout[:300]}")
    os.remove("none.txt")
    for name, command, part in (("a corpus of another pooling", search("all.npy", "--pooling", "cls", "the cat"), "rank 0 of 2 on "),
                                ("a corpus from standard input", search("-", "the cat"), "--corpus")):
        done = mpirun(2, *command)
        expect(f"search in {name}", done, 2, part)
        if done.stdout:
            fail(f"search in {name}: {done.stdout[:300]}")

    # Work that each rank would do is refused, once and by the first rank: commands that share nothing, and inputs that ranks cannot share.
    # A line of one process's own is said by it.
    listed = run(program, "--help").stdout.split("commands:\n")[1].split("\n\n")[0]
    listed = "\n".join(line for line in listed.splitlines() if not line.startswith("   "))  # without what continues a line
    alone = [line.split()[0] for line in listed.splitlines() if not line.strip().startswith(("embed ", "search "))]
    if len(alone) < 20 or "rerank" not in alone:
        fail(f"commands: {alone}")
    alone = [(name, [name, *(["softmax"] if name == "op" else ["a", "b"])]) for name in alone]
    refused = alone + [("embed", ["embed", model, "x"]),
                       ("embed --shard", ["embed", model, "--file", "lines.txt", "--shard", "1/2", "-o", "shards"]),
                       ("search", ["search", model])]
    with ThreadPoolExecutor(4) as several:  # mpirun mostly waits
        answers = several.map(lambda each: mpirun(2, program, *each[1]), refused)
    for (name, command), done in zip(refused, answers):
        expect(f"{name} of two ranks", done, 2)
        ours = [line for line in done.stderr.splitlines() if line.startswith(("clformer: ", "E_"))]
        if done.stdout or len(ours) != 1 or ((name, command) in alone and "mpirun started 2 processes" not in ours[0]):
            fail(f"{name} of two ranks: {done.stdout[:300]} {done.stderr[-900:]}")
    own = mpirun(2, "sh", "-c", f'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then sleep 7; else exec "{program}" rerank a b; fi')
    expect("a refusal of one rank", own, 2, "clformer: rerank: mpirun started 2 processes")

    # A rank that fails says so with its name; one that is killed is told by mpirun with its number. Nothing is left, also where it dies
    # while all write the file: only a complete fingerprint that had its temporary name already.
    with open("bad.jsonl", "w", encoding="ascii") as file:
        file.write('"good"\n' * 100 + "bad\n")
    done = mpirun(2, program, "embed", model, "--file", "bad.jsonl", "--window", "32", "-o", "bad.npy")
    if done.returncode == 0 or " of 2 on " not in done.stderr or "line 101" not in done.stderr:
        fail(f"a broken line: status {done.returncode}: {done.stderr[-600:]}")
    for call, rank in (("MPI_Win_flush:1", 1), ("MPI_Win_flush:1", 0), ("pwrite:1", None), ("MPI_File_sync:1", 1), ("MPI_File_sync:1", 0),
                       ("rename:1", 0)):
        who = {"once": os.path.join(work, "once")} if rank is None else {"rank": rank}
        if call in ("MPI_File_sync:1", "rename:1"):  # the other one removes the file at SIGTERM: mpirun gives it so many seconds
            os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "3"
        done = mpirun(2, *embed("bad.npy"), variables=ending(call, **who))
        told = done.stdout + done.stderr
        if done.returncode == 0 or f"rank {'' if rank is None else rank}" not in told or "signal 9" not in told:
            fail(f"rank {rank} dies at {call}: status {done.returncode}: {told[-600:]}")
        left = [name for name in os.listdir() if name.startswith("bad.npy")]
        if call == "rename:1" and len(left) == 1 and re.fullmatch(r"bad\.npy\.json\.[0-9a-f]{6}", left[0]):
            os.remove(left.pop())
        if left:
            fail(f"rank {rank} dies at {call}: left {left}")
    # The file in which a rank keeps its windows never has a name, so that the rank need not remove it.
    expect("a rank would die at its first removal of a file", mpirun(2, *embed("bad.npy"), variables=ending("unlink:1", rank=1)), 0)
    if read("bad.npy") != want or sorted(name for name in os.listdir() if name.startswith("bad.npy")) != ["bad.npy", "bad.npy.json"]:
        fail(f"a rank would die at its first removal of a file: {os.listdir()}")

finish()
