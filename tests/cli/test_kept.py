#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search keeps a corpus's embeddings beside it: made once, used as long as text and model are the same, never trusted when damaged.
usage: test_kept.py PROGRAM DATA"""
import json
import os
import re
import shutil
import subprocess
import tempfile

from runs import data, fail, finish, program, skip_without_device

LINES = ["the cat sat", "zebra quick", "dog, dog!", "on the mat", "quick quick", "the cat sat"]
QUERIES = 1


def write(lines):
    with open("c.txt", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def search(*options, model="model", corpus="c.txt"):
    """The hits, how many lines of the corpus were embedded, what was said beside that."""
    done = subprocess.run([program, "search", model, "--corpus", corpus, "--stats", "--json", "--top", "6", *options, "the dog"],
                          capture_output=True, text=True, check=False)
    embedded = re.search(r"^run .*\((\d+) texts?", done.stderr, re.MULTILINE)
    if done.returncode != 0 or not embedded:
        skip_without_device(done)
        raise SystemExit(f"FAIL: search {options}: status {done.returncode}: {done.stderr}")
    said = [line for line in done.stderr.splitlines() if line.startswith("clformer: ") and " longer than " not in line]
    return json.loads(done.stdout)["hits"], int(embedded.group(1)) - QUERIES, said


def expect(name, found, embedded, *said, **of_other):
    """As many lines were embedded, and the hits are those of a search that keeps nothing."""
    hits, count, notes = found
    if count != embedded:
        fail(name, f"{count} lines were embedded, expected {embedded}")
    if len(notes) != len(said) or any(part not in note for part, note in zip(said, notes)):
        fail(name, "said", notes, "expected", said)
    key = content(of_other.get("corpus", "c.txt")), of_other.get("model")
    if key not in without:
        without[key] = search("--no-keep", **of_other)[0]
    wanted = without[key]
    if [hit["text"] for hit in hits] != [hit["text"] for hit in wanted]:
        fail(name, "order", hits, wanted)
    if not all(abs(hit["score"] - want["score"]) <= 1e-5 for hit, want in zip(hits, wanted)):
        fail(name, "scores", hits, wanted)


without = {}  # hits of searches that keep nothing
sidecar, beside = "c.txt.embeddings.npy", "c.txt.embeddings.npy.json"
with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    for name, source in (("model", "distilbert"), ("other", "distilbert")):
        shutil.copytree(os.path.join(data, "families", source), name)
    with open("other/model.safetensors", "r+b") as file:  # other weights of the same shapes
        file.seek(-4000, os.SEEK_END)
        values = file.read()
        file.seek(-4000, os.SEEK_END)
        file.write(b"".join(values[i:i + 4] for i in range(3996, -1, -4)))

    write(LINES)
    expect("--no-keep", search("--no-keep"), len(LINES))
    if sorted(os.listdir()) != ["c.txt", "model", "other"]:
        fail("--no-keep leaves", os.listdir())
    expect("first", search(), len(LINES))
    if sorted(os.listdir()) != ["c.txt", sidecar, beside, "model", "other"]:
        fail("left", os.listdir())
    first = content(sidecar), content(beside), os.stat(sidecar).st_ino
    expect("second", search(), 0)
    if first != (content(sidecar), content(beside), os.stat(sidecar).st_ino):
        fail("a search that embeds nothing writes")

    # One line changed, one new, the order turned round, lines removed.
    write([LINES[0], "zebra on the mat", *LINES[2:]])
    expect("a changed line", search(), 1)
    write([*LINES[:1:-1], "zebra on the mat", "a new one"])
    expect("a new line", search(), 1)
    write(["a new one", LINES[3], LINES[4]])
    expect("lines removed", search(), 0)
    with open(beside, encoding="utf-8") as file:
        if json.load(file)["rows"] != 3:
            fail("rows that no line has are kept")
    write(LINES)
    search()

    # What makes other vectors makes all again.
    expect("another model", search(model="other"), len(LINES), model="other")
    expect("the first model", search(), len(LINES))
    if search("--max-tokens", "4")[1] != len(LINES):
        fail("other options: embeddings of another length were used")
    search()
    if sorted(os.listdir()) != ["c.txt", sidecar, beside, "model", "other"]:
        fail("files put in the place of others: left", os.listdir())

    # So does each file that a tokenizer is read from, also where it is new.
    shutil.copytree("model", "retold")
    search(model="retold")
    for name in ("added_tokens.json", "special_tokens_map.json"):
        with open(os.path.join("retold", name), "w", encoding="ascii") as file:
            file.write("{}")
        expect(name, search(model="retold"), len(LINES), model="retold")
    for name in ("sentencepiece.bpe.model", "source.spm", "target.spm", "target_vocab.json", "vocab.json", "merges.txt"):
        with open(os.path.join("retold", name), "w", encoding="ascii") as file:
            file.write("{}")
        if search(model="retold")[1] != len(LINES):
            fail(name, "old embeddings were used")
        os.remove(os.path.join("retold", name))
        search(model="retold")
    write(["The Cat SAT", *LINES[1:]])
    search(model="retold")
    with open("retold/sentence_bert_config.json", "w", encoding="ascii") as file:
        file.write('{"do_lower_case": true}')
    expect("do_lower_case", search(model="retold"), len(LINES), model="retold")
    with open("retold/sentence_bert_config.json", "w", encoding="ascii") as file:
        file.write('{"do_lower_case": false}')
    if search(model="retold")[1] != len(LINES):
        fail("do_lower_case is false: old embeddings were used")
    write(LINES)
    search()

    # Damage.
    whole, told = content(sidecar), content(beside)
    for name, path, bytes_ in (("truncated", sidecar, whole[:-100]), ("changed", sidecar, whole[:-4] + b"\0\0\0\0"),
                               ("fingerprint truncated", beside, told[:-40]),
                               ("hashes missing", beside, told.replace(json.loads(told)["texts"][:32].encode(), b"", 1))):
        with open(path, "wb") as file:
            file.write(bytes_)
        expect(name, search(), len(LINES), "it is made again")
        if content(sidecar) != whole or content(beside) != told:
            fail(name, "was not made again")

    # A name that nothing can be read or written at: told as what it is, and left.
    os.rename(sidecar, "aside.npy")
    for target in ("nowhere.npy", sidecar):
        os.symlink(target, sidecar)
        expect(f"a link to {target}", search(), len(LINES), "the embeddings are not kept")
        if not os.path.islink(sidecar) or os.path.exists("nowhere.npy"):
            fail(f"a link to {target} was followed or replaced")
        os.remove(sidecar)
    os.rename("aside.npy", sidecar)

    # Another's file of that name stays as it is.
    def put(path, bytes_):
        with open(path, "wb") as file:
            file.write(bytes_)

    os.remove(beside)
    for name, make in (("no fingerprint", lambda: None),
                       ("made by embed", lambda: subprocess.run([program, "embed", "model", "-o", sidecar, "one"], check=True)),
                       ("made by embed and changed", lambda: put(sidecar, content(sidecar)[:-4] + b"\0\0\0\0")),
                       ("a .json of others", lambda: put(beside, b'{"mine": 1}')),
                       ("a .json of others alone", lambda: os.remove(sidecar))):
        make()
        before = [os.path.exists(path) and content(path) for path in (sidecar, beside)]
        expect(name, search(), len(LINES), "was not made by search")
        if [os.path.exists(path) and content(path) for path in (sidecar, beside)] != before:
            fail(name, "another's file was replaced")
    os.remove(beside)

    # Where nothing can be written: both files or none, and the search goes on.
    os.mkdir(beside)
    expect("a folder in the way", search(), len(LINES), "the embeddings are not kept")
    if os.path.exists(sidecar):
        fail("the embeddings were written without their fingerprint")
    os.rmdir(beside)
    if os.path.isfile("/proc/version"):  # in a folder where nobody can write
        expect("/proc", search(corpus="/proc/version"), 1, "the embeddings are not kept", corpus="/proc/version")
    search("--engine", "gemm=tiled")
    if os.path.exists(sidecar):
        fail("embeddings of a forced engine are kept")
    with open("c.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in LINES)
    expect(".jsonl", search(corpus="c.jsonl"), len(LINES), corpus="c.jsonl")
    expect(".jsonl again", search(corpus="c.jsonl"), 0, corpus="c.jsonl")
    if sorted(os.listdir()) != ["c.jsonl", "c.jsonl.embeddings.npy", "c.jsonl.embeddings.npy.json", "c.txt", "model", "other", "retold"]:
        fail("left at the end", os.listdir())

finish()
