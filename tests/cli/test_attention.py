#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer attention on the real model and on the built-in encoder-decoder: weights against float64 (tests/data/attention),
files, pictures, refusals.
usage: test_attention.py PROGRAM DATA"""
import base64
import itertools
import json
import math
import os
import re
import struct
import subprocess
import tempfile
import zlib
from xml.etree import ElementTree

from runs import data, fail, finish, program, skip, skip_without_device, worst

cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/root"), ".cache")
model = os.environ.get("CLF_MODEL_DIR") or os.path.join(cache, "clformer", "models", "all-MiniLM-L6-v2")
folder = tempfile.TemporaryDirectory()
work = folder.name


def run(*arguments, **environment):
    return subprocess.run([program, "attention", *map(str, arguments)], capture_output=True, text=True, cwd=work, check=False,
                          env={**os.environ, **environment})


def good(title, done):
    if done.returncode != 0:
        fail(f"{title}: status {done.returncode}: {done.stderr}")
    return done.returncode == 0


def read_png(name):
    with open(os.path.join(work, name), "rb") as file:
        return decode_png(file.read())


def decode_png(content):
    """Width, height and rows of grey bytes (the mean of red, green, blue)."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, width, height = 8, b"", 0, 0
    while at < len(content):
        size, kind = struct.unpack(">I4s", content[at : at + 8])
        body = content[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert (depth, colour) == (8, 2), (depth, colour)
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
    for r in range(height):
        kind, line = raw[r * (3 * width + 1)], bytearray(raw[r * (3 * width + 1) + 1 : (r + 1) * (3 * width + 1)])
        if kind:
            for i, value in enumerate(line):
                left, up, corner = line[i - 3] if i > 2 else 0, before[i], before[i - 3] if i > 2 else 0
                guess = left + up - corner
                paeth = min((left, up, corner), key=lambda v, g=guess: abs(g - v))
                line[i] = (value + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append([sum(line[3 * i : 3 * i + 3]) // 3 for i in range(width)])
    return width, height, rows


def check_picture(name, least_side):
    width, height, rows = read_png(name)
    if min(width, height) < least_side:
        fail(f"{name}: {width} x {height}")
    edge = rows[0] + rows[-1] + [row[0] for row in rows] + [row[-1] for row in rows]
    if any(value != 255 for value in edge):
        fail(f"{name}: something touches the edge")
    margin = [value for row in rows for value in row[8 : width // 8]]
    if sum(value < 120 for value in margin) < 200:
        fail(f"{name}: no labels on the left")
    if len({value for row in rows for value in row}) < 20:
        fail(f"{name}: hardly any colours")


def worst_difference(found, want):
    """Largest difference of [heads][queries][keys], infinite where the shapes differ."""
    shapes = [[[len(row) for row in head] for head in weights] for weights in (found, want)]
    if shapes[0] != shapes[1]:
        return math.inf
    return worst(abs(a - b) for x, y in zip(found, want) for p, q in zip(x, y) for a, b in zip(p, q))


def svg_texts(name):
    """The texts of an SVG, as one finds them by searching."""
    return [element.text for element in ElementTree.parse(os.path.join(work, name)).getroot().iter() if element.tag.endswith("}text")]


def write_npy(name, shape, values):
    header = str({"descr": "<f4", "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    with open(os.path.join(work, name), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values))


# Files of weights need no model and no device. Two batches of two heads [1,2]: 0.25 and 1, 0.04 and 0.16, 0.25 and below 0, 0.5 and 0.
nothing = {"OCL_ICD_VENDORS": os.path.join(work, "no-drivers")}
os.mkdir(nothing["OCL_ICD_VENDORS"])
write_npy("w4.npy", (2, 2, 1, 2), [0.25, 1, 0.04, 0.16, 0.25, -1, 0.5, 0])
write_npy("nan4.npy", (2, 2, 1, 2), [0.25, 1, 0.04, 0.16, 0.25, 1, float("nan"), 0])
write_npy("inf2.npy", (1, 2), [0.25, float("inf")])
write_npy("w3.npy", (2, 1, 2), [0.25, 1, 0.04, 0.16])
write_npy("w2.npy", (1, 2), [0.25, 1])
write_npy("w1.npy", (2,), [0.25, 1])
write_npy("empty.npy", (3, 0, 2), [])


def cells(name):
    """The greys of the elements [1,2] of every panel, from left to right and from above: each is a block of 64 x 64 pixels."""
    found, is_inside = [], False
    for row in read_png(name)[2]:
        runs = [(value, len(list(run))) for value, run in itertools.groupby(row)]
        blocks = [value for value, length in runs if 60 <= length <= 64 and value != 255]
        found += [] if is_inside else blocks
        is_inside = bool(blocks)
    return found


def colour(share):
    stops = [(255, 250, 246), (178, 205, 232), (88, 145, 202), (28, 84, 160), (6, 34, 86)] if share < 0 else \
        [(255, 250, 246), (252, 187, 161), (240, 90, 66), (178, 24, 30), (92, 0, 14)]
    at = abs(share) * 4
    i = min(int(at), 3)
    return sum(round(a + (at - i) * (b - a)) for a, b in zip(stops[i], stops[i + 1])) // 3


write_npy("signed.npy", (2, 1, 2), [-0.25, 1, 0.04, -0.16])
for file, scale, shares in (
    ("w3.npy", "shared", (0.25, 1, 0.04, 0.16)), ("w3.npy", "sqrt", (0.5, 1, 0.2, 0.4)), ("w3.npy", "head", (0.25, 1, 0.25, 1)),
    ("signed.npy", "shared", (-0.25, 1, 0.04, -0.16)), ("signed.npy", "sqrt", (-0.5, 1, 0.2, -0.4)),
    ("signed.npy", "head", (-0.25, 1, 0.25, -1)),
):
    if good(f"{file} --scale {scale}", run("--weights", file, "-o", "w3.png", "--scale", scale, **nothing)):
        found, wanted = cells("w3.png"), [colour(share) for share in shares]
        if len(found) != 4 or not all(abs(a - b) <= 1 for a, b in zip(found, wanted)):
            fail(f"{file} --scale {scale}: colours {found}, expected {wanted}")
done = run("--weights", "w4.npy", "-o", "w4.svg", "--scale", "head", **nothing)
if good("a batch", done):
    texts = svg_texts("w4.svg")
    wanted = {"w4.npy: attention weights", "batch 0, head 1, max \u00b10.16", "batch 1, head 0, max \u00b11", "queries", "keys", "0", "1",
              "100 %", "-100 %"}
    if not wanted <= set(texts):
        fail(f"texts of an SVG: {wanted - set(texts)} are missing from {texts}")
    if done.stderr:
        fail(f"values below 0 are drawn, and yet: {done.stderr!r}")
# Nobody knows what the matrices of a file of rank 3 are, unless an option says so.
for wanted, *options in (
    (["matrix 0", "matrix 1"],), (["batch 1"], "--batch", 1), (["batch 0", "batch 1"], "--batch", "all"),
    (["head 1", "head 0"], "--head", "1,0"), (["head 0", "head 1"], "--head", "all"),
):
    if good(f"names {options}", run("--weights", "w3.npy", "-o", "w3.svg", *options, **nothing)):
        names = [text for text in svg_texts("w3.svg") if re.fullmatch(r"(matrix|batch|head) \d", text)]
        if names != wanted:
            fail(f"{options}: names {names}, expected {wanted}")
# Titles and labels: one list where there are as many queries as keys, else two.
write_npy("square.npy", (2, 2), [0.25, -1, 0.5, 0])
for name, lines in (("one", "un\ndeux\n"), ("three", "q\nk\nk'\n"), ("four", "a\nb\nc\nd\n")):
    with open(os.path.join(work, f"{name}.txt"), "w", encoding="ascii") as file:
        file.write(lines)
for file, labels, wanted, missing in (
    ("square.npy", "one", ["un", "deux", "un", "deux", "-1.0"], "0"), ("square.npy", "four", ["a", "b", "c", "d"], "0"),
    ("w2.npy", "three", ["q", "k", "k'"], "0"),
):
    options = ["--labels", f"{labels}.txt", "--title", "Heads & <tails>"]
    if good(f"--labels {labels}", run("--weights", file, "-o", "l.svg", *options, **nothing)):
        texts = svg_texts("l.svg")
        if not all(texts.count(text) >= wanted.count(text) for text in wanted) or missing in texts or "Heads & <tails>" not in texts or \
                any("attention weights" in text for text in texts):
            fail(f"--labels {labels} --title: {texts}")
if good("no title", run("--weights", "w2.npy", "-o", "l.svg", "--title", "", **nothing)) and \
        any("attention" in text for text in svg_texts("l.svg")):
    fail(f"no title: {svg_texts('l.svg')}")
if good("one of a batch", run("--weights", "w4.npy", "--batch", 1, "--head", "1,0", "-o", "w4.svg", **nothing)):
    names = [text for text in svg_texts("w4.svg") if "head" in text]
    if names != ["batch 1, head 1", "batch 1, head 0"]:
        fail(f"one of a batch: {names}")
good("one head without a NaN", run("--weights", "nan4.npy", "--batch", 1, "--head", 0, "-o", "w4.svg", **nothing))
good("one matrix", run("--weights", "w2.npy", "-o", "w2.png", **nothing))
for status, expected, *arguments in (
    (1, "rank 1", "w1.npy", "-o", "never.png"),
    (1, "nan4.npy: weight [1,1,0,0] is nan: expected finite numbers", "nan4.npy", "-o", "never.png"),
    (1, "nan4.npy: weight [1,1,0,0] is nan", "nan4.npy", "-o", "never.svg", "--batch", 1, "--head", 1),
    (1, "inf2.npy: weight [0,1] is inf", "inf2.npy", "-o", "never.png"),
    (1, "found an empty one", "empty.npy", "-o", "never.png"),
    (1, "no such", "none.npy", "-o", "never.png"),
    (2, "0 to 1", "w3.npy", "-o", "never.png", "--head", 2),
    (2, "--batch", "w2.npy", "-o", "never.png", "--batch", 0),
    (2, "one axis beside queries and keys", "w3.npy", "-o", "never.png", "--batch", 0, "--head", 0),
    (1, "3 lines: expected 4 (2 queries, then 2 keys), or one list for both", "square.npy", "-o", "never.png", "--labels", "three.txt"),
    (1, "2 lines: expected 3 (1 query, then 2 keys)", "w2.npy", "-o", "never.png", "--labels", "one.txt"),
    (1, "4 lines: expected 3", "w2.npy", "-o", "never.png", "--labels", "four.txt"),
    (1, "no such", "w2.npy", "-o", "never.png", "--labels", "none.txt"),
    (2, "0 to 1", "w4.npy", "-o", "never.png", "--batch", 2),
    (2, "needs a picture to write", "w3.npy"),
    (2, "which need a model", "w3.npy", "-o", "never.png", "--layer", 0),
    (2, "--weights: --trace needs a model", "w3.npy", "-o", "never.png", "--trace", "never.json"),
    (2, "--weights: --stats needs a model", "w3.npy", "-o", "never.png", "--stats"),
    (2, "--weights: --device needs a model", "w3.npy", "-o", "never.png", "--device", "0"),
    (2, "unexpected argument", "w3.npy", "g2p", "cat", "-o", "never.png"),
    (2, "sqrt|head|shared", "w3.npy", "-o", "never.png", "--scale", "log"),
):
    done = run("--weights", *arguments, **nothing)
    if done.returncode != status or expected.lower() not in done.stderr.lower() or done.stderr.count("\n") != 1:
        fail(f"--weights {arguments}: status {done.returncode}, {done.stderr!r}")
if os.path.exists(os.path.join(work, "never.png")):
    fail("a refused --weights left a file")

# The built-in encoder-decoder: both sides, and between them; from its directory too. The bound is that of embeddings: 5e-6 holds on every
# implementation.
first = run("g2p", "cat", "--json")
skip_without_device(first)
with open(os.path.join(data, "attention", "golden_g2p.json"), encoding="ascii") as golden_file:
    for entry in json.load(golden_file):
        options = ["--kind", entry["kind"], "--layer", entry["layer"], "--head", ",".join(map(str, entry["heads"])), "--json"]
        title = f"{entry['word']} {entry['kind']}"
        done = run("g2p", entry["word"], *options, "-o", "g2p.png")
        if not good(title, done):
            continue
        printed = json.loads(done.stdout)
        if printed.get("queries", printed.get("tokens")) != entry["queries"] or printed.get("keys", printed.get("tokens")) != entry["keys"]:
            fail(f"{title}: labels {done.stdout[:300]}")
        off = worst_difference(printed["weights"], entry["weights"])
        if not off <= 5e-6:
            fail(f"{title}: weights off by {off}")
        if entry["kind"] == "cross":
            check_picture("g2p.png", 260)
        if run(os.path.join(data, "..", "..", "host", "model", "g2p"), entry["word"], *options).stdout != done.stdout:
            fail(f"{title}: the directory gives another result than the built-in model")
for expected, *arguments in (
    ("layers 0 to 1", "cat", "--kind", "cross", "--layer", 2),
    ("layers 0 to 3", "cat", "--layer", 4),
    ("letters", "c4t"),
    ("0 to 3", "cat", "--head", 4),
    ("--labels needs --weights", "cat", "--labels", "one.txt"),
):
    done = run("g2p", *arguments, "-o", "never.png")
    if done.returncode != 2 or expected not in done.stderr or os.path.exists(os.path.join(work, "never.png")):
        fail(f"g2p {arguments}: status {done.returncode}, {done.stderr!r}")
for outputs in (["-o", "/dev/full", "--format", "png"], ["--json"]):  # one output that fails takes the other with it
    with open("/dev/full", "wb") as full:
        done = subprocess.run([program, "attention", "g2p", "cat", "--npy", "never.npy", *outputs], stdout=full, stderr=subprocess.PIPE,
                              text=True, cwd=work, check=False)
    if done.returncode != 1 or "No space left" not in done.stderr or any(name.startswith("never.npy") for name in os.listdir(work)):
        fail(f"--npy beside a full disk, {outputs}: status {done.returncode}, {done.stderr!r}, {os.listdir(work)}")
for typed, status, expected in (("cat\n", 0, ""), ("cat", 0, ""), ("", 2, "no text"), ("cat\ndog\n", 2, "several texts"),
                                ("ca\0t\n", 2, "NUL")):
    done = subprocess.run([program, "attention", "g2p", "-", "--json"], input=typed, capture_output=True, text=True, check=False)
    if done.returncode != status or expected not in done.stderr or (status == 0 and json.loads(done.stdout)["tokens"][:3] != list("cat")):
        fail(f"standard input {typed!r}: status {done.returncode}, {done.stderr!r}, {done.stdout[:100]!r}")
done = subprocess.run([program, "pronounce", "photograph", "--attention", "word.svg"], capture_output=True, text=True, cwd=work,
                      check=False)
if good("pronounce --attention", done) and not done.stdout.startswith("photograph\tF "):
    fail(f"pronounce --attention: {done.stdout!r}")
if not {"g2p: cross-attention weights, layer 1 (of 0 to 1)", "\u201cphotograph\u201d", "queries", "</s>"} <= \
        set(svg_texts("word.svg")):
    fail(f"pronounce --attention: texts {svg_texts('word.svg')}")
done = subprocess.run([program, "pronounce", "one", "two", "--attention", "never.svg"], capture_output=True, text=True, cwd=work,
                      check=False)
if done.returncode != 2 or "one word" not in done.stderr:
    fail(f"pronounce --attention of two words: {done.returncode}, {done.stderr!r}")

# The rest needs the real encoder.
if not os.path.isdir(model):
    skip(f"no model in {model}")
with open(os.path.join(data, "attention", "golden.json"), encoding="ascii") as golden_file:
    golden = json.load(golden_file)
text, layer = golden["text"], golden["layer"]

# The weights, by every way out.
done = run(model, text, "--layer", layer, "--head", ",".join(map(str, golden["heads"])), "--json", "--npy", "w.npy", "-o", "w.png")
if good("all outputs", done):
    printed = json.loads(done.stdout)
    if printed["tokens"] != golden["tokens"] or printed["heads"] != golden["heads"] or printed["layer"] != layer:
        fail(f"tokens, heads or layer: {done.stdout[:300]}")
    error = worst_difference(printed["weights"], golden["weights"])
    if not error <= 5e-6:
        fail(f"weights: off by {error}")
    with open(os.path.join(work, "w.npy"), "rb") as npy_file:
        npy = npy_file.read()
    flat = [value for head in printed["weights"] for row in head for value in row]
    same = struct.pack(f"<{len(flat)}f", *flat) == npy[-4 * len(flat) :]
    if b"'shape': (2, 8, 8)" not in npy or not same:
        fail("the .npy file differs from the JSON")
    check_picture("w.png", 300)

# README's picture is what the program draws today: the same texts in the same order, the same size, the same colours.
readme = os.path.join(data, "..", "..", "host", "cli", "heatmap.svg")
command = [model, "The cat sat on the mat because it was tired.", "--layer", 3, "--head", "0,1,8,11", "--scale", "head", "--title",
           "all-MiniLM-L6-v2: attention weights, layer 3"]
if good("README's picture", run(*command, "-o", "readme.svg")):
    def matrices(path):
        images = [element for element in ElementTree.parse(os.path.join(work, path)).getroot().iter() if element.tag.endswith("}image")]
        hrefs = [value for image in images for key, value in image.items() if key.endswith("href")]
        return [decode_png(base64.b64decode(href.split(",", 1)[1])) for href in hrefs]

    def size(path):
        root = ElementTree.parse(os.path.join(work, path)).getroot()
        return [float(root.get(side).rstrip("ptx")) for side in ("width", "height")]

    drawn, kept = matrices("readme.svg"), matrices(readme)
    if [image[:2] for image in drawn] != [image[:2] for image in kept] or len(drawn) != 4 or \
            svg_texts("readme.svg") != svg_texts(readme) or \
            not worst(abs(a - b) for a, b in zip(size("readme.svg"), size(readme))) <= 30 or \
            not worst(abs(a - b) for one, other in zip(drawn, kept) for x, y in zip(one[2], other[2]) for a, b in zip(x, y)) <= 2:
        fail("host/cli/heatmap.svg is not what the program draws: clformer attention", *(f"'{word}'" for word in command), "-o", readme)

# Heads: all by default, ranges, the given order. Twice the same bytes.
everything = json.loads(run(model, text, "--layer", layer, "--json").stdout)
some = json.loads(run(model, text, "--layer", layer, "--json", "--head", "11,2-4").stdout)
if everything["heads"] != list(range(12)) or some["heads"] != [11, 2, 3, 4]:
    fail(f"heads {everything['heads']}, {some['heads']}")
if some["weights"] != [everything["weights"][h] for h in some["heads"]]:
    fail("chosen heads differ from those among all")
if not all(abs(sum(row) - 1) <= 1e-5 for head in everything["weights"] for row in head):
    fail("rows do not sum to 1")

# Pictures: many tokens, long ones, characters that fonts lack; without any font; SVG.
words = "It was a bright cold day in April and the clocks were striking thirteen, so internationalization 日本語 " \
    "waited for nobody at all that year."
if good("40 tokens", run(model, words, "--layer", 2, "--head", 4, "-o", "long.png")):
    check_picture("long.png", 600)
done = run(model, words, "--head", "0-2", "--layer", 1, "-o", "w.svg")
if good("svg", done):
    texts = svg_texts("w.svg")
    title = f"{os.path.basename(os.path.realpath(model))}: attention weights, layer 1 (of 0 to 5)"
    if not {title, "head 2", "[CLS]", "##ization", "\u65e5"} <= set(texts) or \
            not any(text.startswith("\u201cIt was a bright cold day") for text in texts):
        fail(f"svg: texts {texts}")
    if done.stderr:
        fail(f"svg: the machine's fonts are nothing to it, but {done.stderr!r}")
if good("markup in a text", run(model, 'a<b>&"c', "--head", 0, "-o", "markup.svg")) and \
        '\u201ca<b>&"c\u201d' not in svg_texts("markup.svg"):
    fail(f"markup in a text: {svg_texts('markup.svg')}")
done = run(model, "go \ue123\ue123 and \ue124", "--head", 0, "-o", "private.png") # private characters, which no font draws
if good("no font for some", done) and (done.stderr.count("(U+E123)") != 1 or "(U+E124)" not in done.stderr or
                                       done.stderr.count("fonts-noto-core") != 1):
    fail(f"no font for some characters: {done.stderr!r}")
with open(os.path.join(work, "fonts.conf"), "w", encoding="ascii") as fonts:
    fonts.write('<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig></fontconfig>\n')
done = run(model, text, "--head", "0-1", "-o", "plain.png", FONTCONFIG_FILE=os.path.join(work, "fonts.conf"))
if good("no fonts", done):
    if "no font" not in done.stderr:
        fail("no word about the missing font")
    check_picture("plain.png", 300)
done = run(model, "word " * 400, "--head", 0, "-o", "cut.png")
if good("a text that is too long", done) and "longer than 256 tokens" not in done.stderr:
    fail(f"no word about the cut: {done.stderr}")

for expected, *arguments in (
    ("usage", model),
    ("usage", model, text, "another"),
    ("no output was asked for", model, text),
    (".png or .svg", model, text, "-o", "w.gif"),
    ("layers 0 to 5", model, text, "--layer", 6, "-o", "never.png"),
    ("layers 0 to 5", model, text, "--layer", -1, "-o", "never.png"),
    ("0 to 11", model, text, "--head", 12, "-o", "never.png"),
    ("0 to 11", model, text, "--head", "3-1", "-o", "never.png"),
    ("0 to 11", model, text, "--head", "1,,2", "-o", "never.png"),
    ("0 to 11", model, text, "--head", "x", "-o", "never.png"),
    ("/no/such", "/no/such", text, "-o", "never.png"),
    ("/no/such", model, text, "-o", "/no/such/never.png"),
):
    done = run(*arguments)
    if done.returncode not in (1, 2) or expected not in done.stderr or done.stderr.count("\n") != 1:
        fail(f"{arguments}: status {done.returncode}, {done.stderr!r}")
if any(name.startswith("never") for name in os.listdir(work)):
    fail("a refused run left a file")

finish()
