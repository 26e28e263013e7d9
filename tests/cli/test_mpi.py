#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed and search under mpirun: what one process gives, whoever takes which window; a rank that dies ends all and leaves nothing.
usage: test_mpi.py PROGRAM DATA"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
model = os.path.join(data, "families", "distilbert")
if not shutil.which("mpirun"):
    print("skipped: mpirun is not installed")
    sys.exit(77)
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl="self,vader")
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def ranks_of(process):
    """The processes that mpirun started."""
    found, todo = [], [process.pid]
    while todo:
        pid = todo.pop()
        try:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                more = [int(word) for word in file.read().split()]
        except OSError:
            continue
        todo += more
        for child in more:
            try:
                if os.path.samefile(f"/proc/{child}/exe", program):
                    found.append(child)
            except OSError:
                pass
    return found


def has_begun(pid):
    """Whether a rank keeps embeddings: in a file without a name beside the output."""
    try:
        return any("/bad.npy." in os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return False


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    rng = random.Random(5)
    words = "the cat sat on a mat and then it ran away".split()
    with open("lines.txt", "w", encoding="ascii") as file:
        file.writelines(" ".join(rng.choices(words, k=rng.choice((1, 3, 9, 20)))) + "\n" for _ in range(2000))

    def embed(output, *more):
        return [program, "embed", model, "--file", "lines.txt", "--window", "32", "-o", output, *more]

    def mpirun(ranks, *command):
        return subprocess.run(["mpirun", "-n", str(ranks), *command], capture_output=True, text=True, check=False)

    one = subprocess.run(embed("want.npy"), capture_output=True, text=True, check=False)
    if one.returncode != 0 and "device" in one.stderr:
        print("skipped:", one.stderr)
        sys.exit(77)
    want = read("want.npy")
    for ranks in (2, 3):
        with open("all.npy.mpi", "wb") as file:  # longer than what is written in its place
            file.write(bytes(2 * len(want)))
        done = mpirun(ranks, *embed("all.npy"))
        if "built without MPI" in done.stderr:
            print("skipped: built without MPI")
            if done.returncode == 0 or os.path.exists("all.npy"):
                fail("without MPI, several processes wrote one file")
            sys.exit(1 if failures else 77)
        if done.returncode != 0 or not os.path.exists("all.npy"):
            fail(f"{ranks} ranks: status {done.returncode}: {done.stderr[-600:]}")
        elif read("all.npy") != want:
            fail(f"{ranks} ranks: other bytes than one process's")
    check = subprocess.run([program, "verify", "all.npy", "--model", model], capture_output=True, text=True, check=False)
    if check.returncode != 0:
        fail(f"verify: {check.stderr}")
    if sorted(os.listdir()) != ["all.npy", "all.npy.json", "lines.txt", "want.npy", "want.npy.json"]:
        fail(f"left: {os.listdir()}")

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
        one = subprocess.run(command, input=queries, capture_output=True, text=True, check=False)
        done = subprocess.run(["mpirun", "-n", str(ranks), *command], input=queries, capture_output=True, text=True, check=False)
        if one.returncode != 0 or done.returncode != 0:
            fail(f"search in {name}: status {one.returncode} and {done.returncode}: {done.stderr[-600:]}")
        elif len(hits(one.stdout)) != 2 or hits(one.stdout) != hits(done.stdout):
            fail(f"search in {name}: other hits than one process's: {done.stdout[:300]} instead of {one.stdout[:300]}")
        elif max(abs(a - b) for a, b in zip(scores(one.stdout), scores(done.stdout))) > 1e-6:
            fail(f"search in {name}: other scores than one process's")
    done = mpirun(2, *search("all.npy", "--pooling", "cls", "the cat"))
    if done.returncode != 2 or done.stdout or "rank 0 of 2 on " not in done.stderr or "pooling" not in done.stderr:
        fail(f"search in a corpus of another pooling: status {done.returncode}: {done.stderr[-600:]}")
    done = mpirun(2, *search("-", "the cat"))
    if done.returncode != 2 or done.stdout or "--corpus" not in done.stderr:
        fail(f"search in a corpus from standard input: status {done.returncode}: {done.stderr[-600:]}")

    # A rank that fails says so with its name; one that is killed is told by mpirun. Nothing is written.
    with open("bad.jsonl", "w", encoding="ascii") as file:
        file.write('"good"\n' * 100 + "bad\n")
    with open("bad.npy.mpi", "wb") as file:  # as a run that was killed while it wrote may leave it: the next removes it
        file.write(b"half")
    done = mpirun(2, program, "embed", model, "--file", "bad.jsonl", "--window", "32", "-o", "bad.npy")
    if done.returncode == 0 or " of 2 on " not in done.stderr or "line 101" not in done.stderr:
        fail(f"a broken line: status {done.returncode}: {done.stderr[-600:]}")
    process = subprocess.Popen(["mpirun", "-n", "2", *embed("bad.npy")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    victims = []
    while process.poll() is None and not victims:
        victims = [pid for pid in ranks_of(process) if has_begun(pid)]
        time.sleep(0.005)
    if victims:
        os.kill(victims[-1], signal.SIGKILL)
    told = process.communicate()[0]
    if not victims or process.returncode == 0 or "rank" not in told:
        fail(f"a killed rank: status {process.returncode}: {told[-600:]}")
    if any(name.startswith("bad.npy") for name in os.listdir()):
        fail(f"a failed run left {os.listdir()}")

print("all passed" if not failures else f"{len(failures)} failures")
sys.exit(1 if failures else 0)
