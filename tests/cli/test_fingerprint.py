#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fingerprint beside a file of embeddings says how it was made: embed writes it, search refuses a corpus of another, verify computes the
canaries again.
usage: test_fingerprint.py PROGRAM DATA"""
import json
import math
import os
import shutil
import socket
import subprocess
import tempfile

from runs import clformer as run, data, expect, fail, finish, make_wide_model, program, skip_without_device, worst


def change(path, **changes):
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    content.update(changes)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file)


with tempfile.TemporaryDirectory() as work:
    model, other, corpus, beside = (os.path.join(work, name) for name in ("model", "other", "c.npy", "c.npy.json"))
    shutil.copytree(os.path.join(data, "families", "distilbert"), model)
    shutil.copytree(model, other)
    with open(os.path.join(other, "model.safetensors"), "r+b") as file:  # other weights of the same shapes
        file.seek(-4000, os.SEEK_END)
        values = file.read()
        file.seek(-4000, os.SEEK_END)
        file.write(b"".join(values[i:i + 4] for i in range(3996, -1, -4)))

    done = run("embed", model, "-o", corpus, "one", "two", "three four")
    skip_without_device(done)
    expect("embed", done, 0)
    with open(beside, encoding="utf-8") as file:
        told = json.load(file)
    if told["rows"] != 3 or told["pooling"] != "mean" or len(told["canaries"]) != 3 or told["version"] not in run("--version").stdout:
        fail(f"fingerprint: {told}")
    if any(len(canary["vector"]) != told["dimensions"] for canary in told["canaries"]):
        fail("canaries of other lengths")
    if sorted(os.listdir(work)) != ["c.npy", "c.npy.json", "model", "other"]:
        fail(f"left: {os.listdir(work)}")

    # A model's file that changes after the model was opened did not make the vectors, also if only the index names it. Files that the model
    # does not name do not matter.
    indexed = os.path.join(work, "indexed")
    shutil.copytree(model, indexed)
    os.rename(os.path.join(indexed, "model.safetensors"), os.path.join(indexed, "weights_a.safetensors"))
    with open(os.path.join(indexed, "weights_a.safetensors"), "rb") as file:
        names = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    with open(os.path.join(indexed, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"weight_map": {name: "weights_a.safetensors" for name in names if name != "__metadata__"}}, file)
    os.mkdir(os.path.join(indexed, "checkpoint-500"))
    shutil.copy(os.path.join(model, "config.json"), os.path.join(indexed, "checkpoint-500"))
    late = os.path.join(work, "late.npy")

    def embed_while(changes):
        slow = dict(os.environ, CLF_LOG="info", CLF_CACHE_DIR="")  # what is compiled takes its time
        with subprocess.Popen([program, "embed", indexed, "one", "two", "-o", late], stderr=subprocess.PIPE, text=True, env=slow) as job:
            while "clformer: device " not in job.stderr.readline():  # the model's files have been noted before
                pass
            os.utime(os.path.join(indexed, changes))
            return job, job.communicate()[1]

    for changes, refused in (("config.json", True), ("weights_a.safetensors", True), ("checkpoint-500/config.json", False)):
        for _ in range(5):  # on a busy machine the change may come too late, behind the hash
            job, messages = embed_while(changes)
            written = [name for name in (late, late + ".json") if os.path.exists(name)]
            for name in written:
                os.remove(name)
            if job.returncode == refused:
                break
        if job.returncode != refused or ("changed since it was opened" in messages) != refused or len(written) != (0 if refused else 2):
            fail(f"{changes} changes: status {job.returncode}: {messages}, {written}")
    shutil.rmtree(indexed)

    expect("one file for two", run("embed", model, "-o", corpus, "--trace", os.path.join(work, ".", "c.npy"), "one"), 2,
           "are the same file: expected two files")
    expect("a number that a fingerprint could not tell", run("embed", model, "--max-tokens", str(2**64 - 1), "one"), 2,
           "--max-tokens: expected a whole number of at least 1")
    expect("search", run("search", model, "--corpus", corpus, "two"), 0)
    expect("no query and no corpus", run("search", model, "--corpus", os.path.join(work, "nowhere.txt"), "-f", os.devnull), 1,
           "nowhere.txt: No such file")
    expect("no query", run("search", model, "--corpus", corpus, "-f", os.devnull), 0)
    expect("one of a kind", run("embed", model, "--stats", "one"), 0, "(1 text, ", " 1 batch, ")
    single = os.path.join(work, "single.txt")
    with open(single, "w", encoding="ascii") as file:
        file.write("one\n")
    expect("too few texts", run("search", model, "--corpus", corpus, "--texts", single, "two"), 2, "1 text: expected 3 embeddings")
    os.remove(single)
    if run("search", model, "--corpus", corpus, "two").stderr:
        fail("search says something of a corpus that is its own")
    expect("search by another model", run("search", other, "--corpus", corpus, "two"), 2, "c.npy: its embeddings cannot be compared",
           "model was")
    expect("search by another pooling", run("search", model, "--pooling", "cls", "--corpus", corpus, "two"), 2,
           'pooling was "mean" and is "cls" now')
    expect("search by other dimensions", run("search", model, "--dimensions", "8", "--corpus", corpus, "two"), 2, "[n, 8]")
    expect("search by another prompt", run("search", model, "--prompt", "q: ", "--corpus", corpus, "two"), 2,
           'prompt was "" and is "q: " now')
    expect("the queries' prompt alone", run("search", model, "--prompt", "q: ", "--corpus-prompt", "", "--corpus", corpus, "two"), 0)
    prompted = os.path.join(work, "p.npy")
    expect("embed with a prompt", run("embed", model, "--prompt", "p: ", "-o", prompted, "one", "two"), 0)
    expect("search without it", run("search", model, "--corpus", prompted, "two"), 2, 'prompt was "p: " and is "" now')
    expect("search with it", run("search", model, "--corpus-prompt", "p: ", "--corpus", prompted, "two"), 0)
    expect("verify with a prompt", run("verify", prompted, "--model", model), 0, "cosine 1.0000")

    # A prompt is told whole, whatever its length and bytes.
    for name, prompt, same_beginning, quoted in (("a long", "pass age " * 40 + "one: ", "pass age " * 40 + "two: ",
                                                  'age one: " and is "...'),
                                                 ("one with characters of two bytes",
                                                  "\u00e4" * 127 + "a\u00e4 ", "\u00e4" * 127 + "a\u00f6 ", "\u00e4a\u00e4 "),
                                                 ("one that is not UTF-8", "q\udcff ", "q\udcfe ", "prompt was")):
        expect(f"embed with {name} prompt", run("embed", model, "--prompt", prompt, "-o", prompted, "one", "two"), 0)
        expect(f"verify {name} prompt", run("verify", prompted, "--model", model), 0, "cosine 1.0000")
        if run("verify", prompted, "--model", model).stdout.count("prompt"):
            fail(f"verify tells of another prompt than {name}")
        expect(f"search with {name} prompt", run("search", model, "--corpus-prompt", prompt, "--corpus", prompted, "two"), 0)
        expect(f"search with another than {name} prompt",
               run("search", model, "--corpus-prompt", same_beginning, "--corpus", prompted, "two"), 2, quoted)
    with open(prompted + ".json", encoding="utf-8") as file:
        bytes_told = json.load(file)
    if bytes_told["prompt"] != "q\ufffd " or bytes_told["prompt_hex"] != "71ff20":
        fail(f"a prompt that is not UTF-8: {bytes_told['prompt']!r}")
    for digits in ("7", "7x", "00", "7100"):
        change(prompted + ".json", prompt_hex=digits)
        expect(f"prompt_hex {digits}", run("verify", prompted, "--model", model), 1, "prompt_hex: expected two digits")
    expect("verify", run("verify", corpus, "--model", model), 0, "cosine 1.0000")
    expect("verify by another model", run("verify", corpus, "--model", other), 1, "model: ", "the smallest cosine is")
    halves = os.path.join(work, "halves.npy")
    expect("embed with rounded weights", run("embed", model, "--weights", "f16", "-o", halves, "one", "two"), 0)
    with open(halves + ".json", encoding="utf-8") as file:
        rounded = json.load(file)
    if told["weights"] != "stored" or rounded["weights"] != "f16":
        fail(f"weights: {told['weights']}, {rounded['weights']}")
    expect("search where only rounding differs", run("search", model, "--corpus", halves, "two"), 0)
    del told["weights"]  # as an earlier version wrote it
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(told, file)
    expect("verify an earlier version's", run("verify", corpus, "--model", model), 0, "cosine 1.0000")
    wide, made = os.path.join(work, "wide"), os.path.join(work, "wide.npy")
    make_wide_model(wide, 40)
    expect("embed by a wide model", run("embed", wide, "-o", made, "one"), 0)
    expect("verify by a narrower model", run("verify", made, "--model", model), 1,
           f"{made} was not made by this model: embed: dimensions 40")
    expect("verify without a model", run("verify", corpus), 2, "--model")

    # its own pooling, not the model's
    expect("embed cls", run("embed", model, "--pooling", "cls", "--normalize", "yes", "-o", os.path.join(work, "d.npy"), "one"), 0)
    expect("verify cls", run("verify", os.path.join(work, "d.npy"), "--model", model), 0, "cosine 1.0000")

    # Quantised files have their own, with what their bytes mean, also in the place of one that was not.
    quantised = os.path.join(work, "d.npy")
    for kind in ("int8", "uint8", "binary", "ubinary"):
        expect(f"embed {kind}", run("embed", model, "--quantize", kind, "-o", quantised, "one", "two", "three four"), 0)
        with open(quantised + ".json", encoding="utf-8") as file:
            of_bytes = json.load(file)
        if (of_bytes["quantization"], of_bytes["rows"], of_bytes["pooling"], "ranges" in of_bytes) != \
                (kind, 3, "mean", kind.endswith("int8")):
            fail(f"fingerprint of {kind}: {of_bytes['quantization']}, {of_bytes['rows']}, {list(of_bytes)}")
        done = run("verify", quantised, "--model", model)
        expect(f"verify {kind}", done, 0, "cosine 1.0000")
        if "now" in done.stdout:
            fail(f"verify {kind}: {done.stdout}")
        if kind == "int8":
            rows = [json.loads(line)["embedding"] for line in run("embed", model, "one", "two", "three four").stdout.splitlines()]
            wanted = [*map(min, zip(*rows)), *map(max, zip(*rows))]
            if not worst(abs(a - b) for a, b in zip(of_bytes["ranges"][0] + of_bytes["ranges"][1], wanted)) <= 1e-6:
                fail("the ranges of int8 are not those of the texts")
    change(quantised + ".json", quantization="int7")
    expect("a quantization that nobody knows", run("verify", quantised, "--model", model), 1,
           'd.npy.json: quantization: expected no, int8, uint8, binary or ubinary, found "int7"')
    if told.get("quantization") != "no":
        fail("a file that is not quantised does not say so")
    del told["quantization"]  # as an earlier version wrote it
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(told, file)
    expect("search in an earlier version's", run("search", model, "--corpus", corpus, "two"), 0)

    # The same bytes under a header that gives them another meaning.
    with open(corpus, "rb") as file:
        whole = file.read()
    for before, after in ((b"'<f4'", b"'>f4'"), (b"'<f4'", b"'<i4'"), (b"False", b"True ")):
        with open(corpus, "wb") as file:
            file.write(whole.replace(before, after, 1))
        expect(f"{after} in the header", run("verify", corpus, "--model", model), 1, "expected rows of float32 in C order")
    with open(corpus, "wb") as file:
        file.write(whole)

    # A file that was changed, or made by something else, under an old fingerprint.
    with open(corpus, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    expect("search in a changed file", run("search", model, "--corpus", corpus, "two"), 1, "describes other numbers")
    expect("verify of a changed file", run("verify", corpus, "--model", model), 1, "describes other numbers")
    expect("embed again", run("embed", model, "-o", corpus, "one", "two"), 0)
    change(beside, rows=3)
    expect("another number of rows", run("search", model, "--corpus", corpus, "two"), 1, "describes 3 rows")
    expect("embed again", run("embed", model, "-o", corpus, "one", "two"), 0)
    with open(beside, encoding="utf-8") as file:
        canaries = json.load(file)["canaries"]
    # The least cosine counts, whichever canary has it: the first is turned until its cosine is 0.985. Rounding does not change the
    # first two digits of that.
    vector = canaries[0]["vector"]
    across = [0.0] * len(vector)
    across[0], across[1] = -vector[1], vector[0]  # at a right angle to it
    scale = math.hypot(*vector) / math.hypot(*across) * math.sqrt(1 - 0.985**2)
    turned = [0.985 * a + scale * b for a, b in zip(vector, across)]
    change(beside, canaries=[{"text": canaries[0]["text"], "vector": turned}, *canaries[1:]])
    expect("one canary turned", run("verify", corpus, "--model", model), 1, "the smallest cosine is 0.98")
    for number in (1e39, "1", None):  # what float32 does not hold would make a cosine of NaN, which is below nothing
        spoiled = {"text": canaries[0]["text"], "vector": [number] * len(canaries[0]["vector"])}
        change(beside, canaries=[spoiled, *canaries[1:]])
        expect(f"a canary of {number!r}", run("verify", corpus, "--model", model), 1,
               "c.npy.json: canary 1: number 1: expected one that float32 holds")
    change(beside, canaries=[])
    expect("no canaries", run("verify", corpus, "--model", model), 1, "c.npy.json")
    change(beside, schema="else")
    expect("another schema", run("search", model, "--corpus", corpus, "two"), 1, "c.npy.json", '"else"')
    os.remove(beside)
    expect("no fingerprint", run("search", model, "--corpus", corpus, "two"), 0, "c.npy.json is missing")
    expect("verify without fingerprint", run("verify", corpus, "--model", model), 1, "has no fingerprint")

    # Through links the fingerprint goes beside the file itself, where it is found by every name; links beside links are found, too.
    folders_of = {name: os.path.join(work, name) for name in ("real", "links")}
    for path in folders_of.values():
        os.mkdir(path)
    target, link = os.path.join(folders_of["real"], "t.npy"), os.path.join(folders_of["links"], "l.npy")
    os.symlink(os.path.join("..", "real", "t.npy"), link)
    expect("embed through a link to nothing", run("embed", model, "-o", link, "one", "two"), 0)
    expect("embed through a link", run("embed", model, "-o", link, "one", "two"), 0)
    if sorted(os.listdir(folders_of["real"])) != ["t.npy", "t.npy.json"] or os.listdir(folders_of["links"]) != ["l.npy"]:
        fail("embed through a link left", {path: os.listdir(path) for path in folders_of.values()})
    for name in (target, link):
        expect(f"verify {name}", run("verify", name, "--model", model), 0)
        if ".npy.json is missing" in run("search", model, "--corpus", name, "two").stderr:
            fail("search finds no fingerprint of", name)
    os.rename(target + ".json", link + ".json")
    expect("verify by a fingerprint beside the link", run("verify", link, "--model", model), 0)
    expect("einsum through the link", run("einsum", "ij->ji", corpus, "-o", link), 0)

    # Another dense layer behind the network is another model.
    dense = os.path.join(work, "dense")
    shutil.copytree(model, dense)
    shutil.copytree(os.path.join(data, "sentence", "dense"), dense, dirs_exist_ok=True)
    behind = os.path.join(work, "e.npy")
    expect("embed by the queries' prompt", run("embed", dense, "-o", behind, "one", "two"), 0)
    expect("search in what queries would be", run("search", dense, "--corpus", behind, "two"), 2, "prompt was")
    expect("embed with dense layers", run("embed", dense, "--prompt-name", "document", "-o", behind, "one", "two"), 0)
    expect("search with the same", run("search", dense, "--corpus", behind, "two"), 0)
    with open(os.path.join(dense, "5_Dense", "model.safetensors"), "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(b"\0\0\0\0")
    expect("search with another dense layer", run("search", dense, "--corpus", behind, "two"), 2, "model was")

    # Another array in the place of embeddings takes their fingerprint away, and nothing else of that name.
    cube, unused = (os.path.join(work, name) for name in ("cube.npy", "unused.npy"))
    language, texts = os.path.join(data, "generation", "llama"), ["one", "two"]
    for name, *arguments in (("logits", "logits", language, "a", "-o"), ("einsum", "einsum", "ij->ji", behind, "-o"),
                             ("op", "op", "softmax", behind, "-o"), ("op's weights", "op", "attention", cube, "-o", unused, "--weights"),
                             ("attention", "attention", model, "one", "--npy")):
        expect("embed for " + name, run("embed", model, "-o", corpus, *texts), 0)
        if name == "op's weights":
            expect("an array of rank 3", run("attention", model, "one", "--npy", cube), 0)
        expect(f"{name} over embeddings", run(*arguments, corpus), 0)
        if os.path.exists(beside):
            fail(name, "left the fingerprint of what was there")
            os.remove(beside)
    with open(beside, "w", encoding="ascii") as file:
        file.write('{"schema": "mine"}')
    expect("einsum beside another's file", run("einsum", "ij->ji", behind, "-o", corpus), 0)
    if not os.path.exists(beside):
        fail("einsum removed a file that is no fingerprint")
    os.remove(beside)
    expect("embed again", run("embed", model, "-o", corpus, *texts), 0)
    os.remove(beside)

    # Whole or not at all, both: where the fingerprint cannot be written, the old embeddings stay.
    with open(corpus, "rb") as file:
        old = file.read()
    # Nor is anything written through a link, or over what another program keeps there; no pipe is waited for. Told before the work.
    theirs = os.path.join(work, "theirs")
    shard_options = ("--file", single, "--shard", "1/1", "-o", os.path.join(work, "shards"))
    with open(single, "w", encoding="ascii") as file:
        file.write("one\ntwo\n")
    expect("a shard", run("embed", model, *shard_options), 0)
    for name, make, part in (("another's JSON", lambda: shutil.copy(theirs, beside), "not made by clformer"),
                             ("another's text", lambda: shutil.copy(single, beside), "not made by clformer"),
                             ("a link", lambda: os.symlink(theirs, beside), "c.npy.json: a link"),
                             ("a link to nothing", lambda: os.symlink("nowhere", beside), "c.npy.json: a link"),
                             ("a link to a device", lambda: os.symlink("/dev/full", beside), "c.npy.json: a link"),
                             ("a pipe", lambda: os.mkfifo(beside), "c.npy.json: not a regular file"),
                             ("a socket", lambda: socket.socket(socket.AF_UNIX).bind(beside), "c.npy.json: not a regular file")):
        with open(theirs, "w", encoding="ascii") as file:
            file.write('{"mine": 1}')
        make()
        for command in (("embed", "no-model", "-o", corpus, "five"), ("embed", "no-model", "--quantize", "int8", "-o", corpus, "five"),
                        ("gather", os.path.join(work, "shards"), "-o", corpus)):
            expect(f"{command[0]} beside {name}", run(*command), 1, part)
        with open(corpus, "rb") as file, open(theirs, "rb") as other_file:
            if file.read() != old or other_file.read() != b'{"mine": 1}' or os.path.lexists(os.path.join(work, "nowhere")):
                fail(f"embed beside {name} replaced a file")
        os.remove(beside)
    os.remove(single)

    os.mkdir(beside)
    expect("a folder in the way", run("embed", "no-model", "-o", corpus, "five"), 1, "c.npy.json: is a directory")  # before the work
    with open(corpus, "rb") as file:
        if file.read() != old:
            fail("the embeddings were replaced without their fingerprint")
    done = subprocess.run([program, "embed", model, "--format", "npy", "-o", "-", "one"], capture_output=True, check=False, cwd=work)
    if done.returncode != 0 or not done.stdout.startswith(b"\x93NUMPY") or os.path.exists(os.path.join(work, "-.json")):
        fail("embed to standard output")

finish()
