#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""search keeps a corpus's embeddings: made once, used as long as text and model are the same, never trusted when damaged.
usage: test_kept.py PROGRAM DATA"""
import json
import math
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

from runs import data, fail, finish, program, skip_without_device

LINES = ["the cat sat", "zebra quick", "dog, dog!", "on the mat", "quick quick", "the cat sat"]
QUERIES = 1


def write(lines):
    with open("c.txt", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)


def content(path):
    with open(path, "rb") as file:
        return file.read()


def search(*options, model="model", corpus="c.txt", env={}):
    """The hits, how many lines of the corpus were embedded, what was said beside that."""
    index = () if "--index" in options or env else ("--index", sidecar if corpus == "c.txt" else corpus + ".npy")
    done = subprocess.run([program, "search", model, "--corpus", corpus, "--stats", "--json", "--top", "6", *options, *index, "the dog"],
                          capture_output=True, text=True, check=False, env={**os.environ, **env})
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


def in_the_cache_folder():
    """Nothing appears beside the corpus, and what an earlier version kept there is taken over once."""
    cache = {"CLF_CACHE_DIR": os.path.abspath("cache")}
    folder = os.path.join("cache", "embeddings")
    write(LINES)
    before = sorted(os.listdir())
    expect("the cache folder", search(env=cache), len(LINES))
    expect("the cache folder again", search(env=cache), 0)
    if sorted(os.listdir()) != sorted([*before, "cache"]) or os.stat(folder).st_mode & 0o777 != 0o700:
        fail("the cache folder: left", os.listdir(), oct(os.stat(folder).st_mode))
    first, second = sorted(os.listdir(folder))
    if not re.fullmatch(r"c\.txt-[0-9a-f]{16}\.npy", first) or second != first + ".json":
        fail("the cache folder has", first, second)
    expect("another model has an index of its own", search(model="other", env=cache), len(LINES), model="other")
    expect("and leaves the first one's", search(env=cache), 0)
    if len(os.listdir(folder)) != 4:
        fail("the cache folder has", os.listdir(folder))
    os.rename(os.path.join(folder, first), "c.txt.embeddings.npy")
    os.rename(os.path.join(folder, second), "c.txt.embeddings.npy.json")
    expect("an earlier version's", search(env=cache), 0, "c.txt.embeddings.npy are now kept in")
    os.remove("c.txt.embeddings.npy")
    os.remove("c.txt.embeddings.npy.json")
    expect("after an earlier version's", search(env=cache), 0)
    os.chmod(folder, 0o777)
    expect("a folder that others may write to", search(env=cache), len(LINES), "can be written by other users; the embeddings are not kept")
    shutil.rmtree("cache")
    expect("no cache", search(env={"CLF_CACHE_DIR": ""}), len(LINES))
    expect("--index DIR", search("--index", "kept/here"), len(LINES))
    expect("--index DIR again", search("--index", "kept/here"), 0)
    shutil.rmtree("kept")


def ask(*arguments, status=0):
    done = subprocess.run([program, "search", "model", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != status:
        fail("search", arguments, "status", done.returncode, done.stderr)
    return done


def several_files():
    """Hits name their file and line; blank lines are no texts; members of a JSON object come back; a file's name is no query."""
    os.mkdir("notes")
    with open("notes/a.md", "w", encoding="utf-8") as file:
        file.write("\n \t\u00a0\u3000\nthe cat sat\n\non the mat\r\n\r\n")
    with open("notes/b.jsonl", "w", encoding="utf-8") as file:
        file.write('{"id": 7, "text": "zebra quick", "path": "x/y.md", "more": [1]}\n\n"dog, dog!"\n{"text": " "}\n{"text": "quick"}\n')
    with open("notes/empty.md", "w", encoding="utf-8"):
        pass
    files = ["notes/a.md", "notes/b.jsonl", "notes/empty.md"]
    wanted = {("notes/a.md", 2, "the cat sat"): None, ("notes/a.md", 4, "on the mat"): None, ("notes/b.jsonl", 2, "dog, dog!"): None,
              ("notes/b.jsonl", 0, "zebra quick"): {"id": 7, "path": "x/y.md", "more": [1]}, ("notes/b.jsonl", 4, "quick"): None}
    for arguments in (["--corpus", *files, "--json", "--index", "kept", "--", "the dog"],
                      ["--json", "--no-keep", "--corpus", files[0], "--corpus", files[1], "--corpus", files[2], "the dog"],
                      ["--json", "--index", "kept", "--corpus", files[0], "--corpus", files[1], files[2], "--", "the dog"]):
        hits = json.loads(ask(*arguments).stdout)["hits"]
        found = {(hit["file"], hit["index"], hit["text"]): hit.get("fields") for hit in hits}
        if found != wanted or len(hits) != len(wanted):
            fail("several files", arguments, hits)
    written = '"id": 18446744073709551615, "time": 1732723200.123456, "price": 1.50, "none": [NaN, -Infinity, 1e999], "s": "\\u0000-1"'
    with open("exact.jsonl", "w", encoding="utf-8") as file:
        file.write("\ufeff{" + written + ', "text": "zebra"}\n')
    line = ask("--json", "--no-keep", "--corpus", "exact.jsonl", "the dog").stdout
    if '"fields": {' + written.replace("NaN, -Infinity, 1e999", "null, null, null") + "}" not in line:
        fail("members with the digits that were written", line)
    if len(os.listdir("kept")) != 4:
        fail("an index for each file that holds a text", os.listdir("kept"))
    stats = ask("--stats", "--index", "kept", "--corpus", *files, "--", "the dog").stderr
    if not re.search(rf"^run .*\({QUERIES} texts?", stats, re.MULTILINE):
        fail("several files: kept rows are embedded again", stats)
    shown = ask("--index", "kept", "--corpus", *files, "--", "the dog").stdout.splitlines()
    if not any(re.fullmatch(r" +-?[0-9.]+. notes/b\.jsonl:1  id=7 path=x/y\.md zebra quick", line) for line in shown):
        fail("several files as text", shown)
    alone = json.loads(ask("--json", "--no-keep", "--corpus", files[0], "the dog").stdout)["hits"]
    if sorted((hit["index"], hit["text"]) for hit in alone) != [(2, "the cat sat"), (4, "on the mat")]:
        fail("blank lines", alone)
    refused = ask("--corpus", *files, "the dog", status=2).stderr
    if f"--corpus {files[0]} {files[1]} -- QUERY" not in refused or refused.count("\n") != 1:
        fail("a file's name as a query:", refused)
    named = ask("--corpus", files[0], "--json", "--", files[1])
    if json.loads(named.stdout)["query"] != files[1]:
        fail("a file's name as a query behind --", named.stdout)
    for arguments, status, part in ((["--corpus", "notes/", "q"], 1, "notes/: is a directory: expected a file of texts (clformer search "
                                     "MODEL_DIR --corpus notes/* --"),
                                    (["--corpus", files[0], "nowhere.md", "--", "q"], 1, "nowhere.md: No such file"),
                                    (["--corpus", files[0], sidecar, "--", "q"], 2, "expected one file of embeddings or files of texts"),
                                    (["--corpus", files[2], "q"], 1, "holds no text"),
                                    (["--index", "f.npy", "--corpus", *files, "--", "q"], 2, "expected a folder for 3"),
                                    (["--corpus", "-", "-", "--", "q"], 2, "would both read standard input")):
        if part not in ask(*arguments, status=status).stderr:
            fail(arguments, "does not say", part)
    shutil.rmtree("kept")


def quantile(rising, share):
    at = share * (len(rising) - 1)
    low = int(at)
    return rising[low] + (at - low) * (rising[min(low + 1, len(rising) - 1)] - rising[low])


def chance():
    """Hits are marked by the formula of the manual, and the languages of the model's card are named."""
    words = "the cat sat on a mat zebra quick dog".split()
    lines = [f"{words[i % 9]} {words[i // 2 % 7]} {words[i // 3 % 5]} {i}" for i in range(60)]
    for count in (9, 10, 60):
        write(lines[:count])
        told = json.loads(ask("--no-keep", "--json", "--top", "1024", "--corpus", "c.txt", "the dog").stdout)
        scores = sorted(hit["score"] for hit in told["hits"])
        median = quantile(scores, 0.5)
        wanted = median + (median - quantile(scores, 0.15865525)) * math.sqrt(2 * math.log(count))
        if count < 10:
            if "chance" in told or any("above_chance" in hit for hit in told["hits"]):
                fail("chance is told of", count, "texts")
            continue
        if not abs(told["chance"] - wanted) <= 1e-5 or any(hit["above_chance"] != (hit["score"] > told["chance"]) for hit in told["hits"]):
            fail("chance of", count, "texts:", told["chance"], wanted)
    done = ask("--no-keep", "--top", "1024", "--corpus", "c.txt", "the dog")
    marked = sum(line[9] == "?" for line in done.stdout.splitlines()[1:])
    if marked != sum(not hit["above_chance"] for hit in told["hits"]) or f"clformer: {marked} hits are no better" not in done.stderr:
        fail("marks:", marked, done.stderr)
    for card, names in (("---\nlanguage: en\n---\n", "en"), ("---\r\nlanguage: en\r\n---\r\n", "en"),
                        ("---\ntags:\n- x\nlanguage:\n- de\n  - zh-TW # more\nlicense: mit\n- fr\n---\n", "de, zh-TW"),
                        ("---\nlanguage: [ar, 'bg', \"sr-Latn\"]\n---\nlanguage: xx", "ar, bg, sr-Latn"),
                        ("---\nlanguage:\n---\n- xx\n", None), ("language: xx\n", None), ("", None), ("---\nlanguage: 7\n", None)):
        with open("model/README.md", "w", encoding="utf-8", newline="") as file:
            file.write(card)
        said = ask("--no-keep", "--top", "1024", "--corpus", "c.txt", "the dog").stderr
        if (f"(its model card names {names})" if names else "(it has no model card that lists") not in said:
            fail("card", card, said)
        info = subprocess.run([program, "info", "model", "--json"], capture_output=True, text=True, check=True).stdout
        if json.loads(info).get("languages") != (names.split(", ") if names else None):
            fail("info of card", card, info)
    os.remove("model/README.md")
    write(LINES)


def interrupted():
    """A search that is killed keeps the windows that it finished."""
    count = 3 * 4096
    with open("long.txt", "w", encoding="ascii") as file:
        file.writelines(f"the cat {i} sat on a mat\n" for i in range(count))
    with subprocess.Popen([program, "search", "model", "--corpus", "long.txt", "--index", "long.npy", "the dog"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as job:
        while job.poll() is None and not os.path.exists("long.npy"):
            time.sleep(0.002)
        job.kill()
    if os.path.exists("long.npy") and not os.path.exists("long.npy.json"):
        fail("interrupted: rows without a fingerprint")
    kept = 0
    if os.path.exists("long.npy.json"):
        with open("long.npy.json", encoding="utf-8") as file:
            kept = json.load(file)["rows"]
    hits, embedded, said = search("--index", "long.npy", corpus="long.txt")
    if embedded != count - kept or said or kept == 0:
        fail("interrupted:", kept, "rows were kept,", embedded, "embedded again;", said)
    wanted = search("--no-keep", corpus="long.txt")[0]
    if [hit["text"] for hit in hits] != [hit["text"] for hit in wanted]:
        fail("interrupted: hits", hits, wanted)
    if search("--index", "long.npy", corpus="long.txt")[1] != 0:
        fail("interrupted: the finished index is not whole")


without = {}  # hits of searches that keep nothing
sidecar, beside = "c.npy", "c.npy.json"
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
    if sorted(os.listdir()) != [sidecar, beside, "c.txt", "model", "other"]:
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

    # A change that makes other vectors makes all of them again.
    expect("another model", search(model="other"), len(LINES), model="other")
    expect("the first model", search(), len(LINES))
    if search("--max-tokens", "4")[1] != len(LINES):
        fail("other options: embeddings of another length were used")
    search()
    if sorted(os.listdir()) != [sidecar, beside, "c.txt", "model", "other"]:
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
        expect(name, search(), len(LINES), "the index is made again")
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
    def in_the_way(path):
        yield "a pipe", lambda: os.mkfifo(path)
        yield "a socket", lambda: socket.socket(socket.AF_UNIX).bind(path)
        yield "a folder", lambda: os.mkdir(path)
        yield "a link to a device", lambda: os.symlink("/dev/full", path)
        yield "a link to a file of others", lambda: os.symlink("theirs", path)

    with open("theirs", "w", encoding="ascii") as file:
        file.write("theirs")
    told = content(beside)
    os.remove(beside)
    for path in (sidecar, beside):
        for name, make in in_the_way(path):
            make()
            expect(f"{name} as {path}", search(), len(LINES), "the embeddings are not kept")
            if not os.path.lexists(path) or content("theirs") != b"theirs":
                fail(f"{name} as {path} was replaced")
            (os.rmdir if name == "a folder" else os.remove)(path)
    os.remove("theirs")
    with open(beside, "wb") as file:
        file.write(told)
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
        expect(name, search(), len(LINES), "not made by clformer" if name.startswith("a .json") else "was not made by search")
        if [os.path.exists(path) and content(path) for path in (sidecar, beside)] != before:
            fail(name, "another's file was replaced")
    os.remove(beside)

    # If nothing can be written, there are both files or none, and the search goes on.
    os.mkdir(beside)
    expect("a folder in the way", search(), len(LINES), "the embeddings are not kept")
    if os.path.exists(sidecar):
        fail("the embeddings were written without their fingerprint")
    os.rmdir(beside)
    if os.path.isfile("/proc/version"):  # in a folder where nobody can write
        expect("/proc", search(corpus="/proc/version"), 1, "the embeddings are not kept", corpus="/proc/version")
    search("--engine", "gemm=tiled")
    search("--index", sidecar, env={"CLF_ENGINE": "gemm=tiled"})
    if os.path.exists(sidecar):
        fail("embeddings of a forced engine are kept")
    with open("c.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in LINES)
    expect(".jsonl", search(corpus="c.jsonl"), len(LINES), corpus="c.jsonl")
    expect(".jsonl again", search(corpus="c.jsonl"), 0, corpus="c.jsonl")
    if sorted(os.listdir()) != ["c.jsonl", "c.jsonl.npy", "c.jsonl.npy.json", "c.txt", "model", "other", "retold"]:
        fail("left at the end", os.listdir())
    in_the_cache_folder()
    several_files()
    chance()
    interrupted()

finish()
