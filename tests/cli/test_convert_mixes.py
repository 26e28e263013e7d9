#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests clformer convert to q4_k_m, q5_k_m and q6_k: the type of each tensor by llama.cpp's rules, and the size of the error against the
weights before. `info` and `generate` read the file, and other tensors stay as they are.
usage: test_convert_mixes.py PROGRAM DATA"""
import json
import os
import random
import struct
import sys
import tempfile

from language_models import run
from model_files import read_gguf, write_gguf
from runs import data, fail, failures

F32, Q4_0, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K = 0, 2, 6, 7, 8, 12, 13, 14
NUMBERS = {"q4_k_m": 15, "q5_k_m": 17, "q6_k": 18}
MOST = {"q4_k_m": Q4_K, "q5_k_m": Q5_K, "q6_k": Q6_K}
SHORT = {Q4_K: Q5_0, Q5_K: Q5_1, Q6_K: Q8_0}  # of rows that are no whole blocks of 256
# Relative error in quadratic mean of normal weights: a uniform grid of 2^bits steps over about +-2.5 deviations, and a margin.
ERRORS = {Q4_K: 0.09, Q5_0: 0.05, Q5_K: 0.045, Q5_1: 0.045, Q6_K: 0.022, Q8_0: 0.01}
LAYERS, WIDTH, HIDDEN = 16, 256, 320  # the rows of ffn_down are no whole blocks of 256


def matrices(has_head, vocabulary):
    """name: (rows, columns)"""
    shapes = {"token_embd.weight": (vocabulary, WIDTH)}
    if has_head:
        shapes["output.weight"] = (vocabulary, WIDTH)
    for layer in range(LAYERS):
        for name, rows, columns in (("attn_q", WIDTH, WIDTH), ("attn_k", 128, WIDTH), ("attn_v", 128, WIDTH), ("attn_output", WIDTH, WIDTH),
                                    ("ffn_gate", HIDDEN, WIDTH), ("ffn_up", HIDDEN, WIDTH), ("ffn_down", WIDTH, HIDDEN)):
            shapes[f"blk.{layer}.{name}.weight"] = (rows, columns)
    return shapes


def write_model(path, has_head):
    """A llama of random weights: rows of a matrix are those of a few that follow each other in turns."""
    values, given = read_gguf(os.path.join(data, "generation", "llama_blocks", "model.gguf"))
    vocabulary = given["token_embd.weight"][0][1]
    for key, value in (("block_count", LAYERS), ("embedding_length", WIDTH), ("feed_forward_length", HIDDEN), ("rope.dimension_count", 64)):
        values["llama." + key] = struct.pack("<II", 4, value)
    draw = random.Random(5)
    ones = struct.pack(f"<{WIDTH}f", *[1.0] * WIDTH)
    tensors = {"output_norm.weight": ((WIDTH,), F32, ones)}
    for layer in range(LAYERS):
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = ((WIDTH,), F32, ones)
    for name, (rows, columns) in matrices(has_head, vocabulary).items():
        few = struct.pack(f"<{7 * columns}f", *(draw.gauss(0, 0.05) for _ in range(7 * columns)))
        tensors[name] = ((columns, rows), F32, (few * (rows // 7 + 1))[:4 * rows * columns])
    write_gguf(path, values, tensors)
    return tensors


def wanted_type(kind, name, columns, has_head):
    layer = int(name.split(".")[1]) if name.startswith("blk.") else None
    wanted = MOST[kind]
    if name == "output.weight" or (name == "token_embd.weight" and not has_head):
        wanted = Q6_K
    elif layer is not None and name.split(".")[2] in ("attn_v", "ffn_down"):  # of 16 layers: 0 1, 14 15, and every third between
        wanted = Q6_K if layer in (0, 1, 4, 7, 10, 13, 14, 15) else wanted
    return SHORT[wanted] if columns % 256 else wanted


def check_kind(folder, kind, plain, before, has_head):
    path, back = os.path.join(folder, kind + ".gguf"), os.path.join(folder, "back.gguf")
    told = run("convert", plain, path, "--weights", kind, "--check", "the cat").stdout
    if "logits differ by" not in told:
        fail(kind, told)
    values, tensors = read_gguf(path)
    if values["general.file_type"] != struct.pack("<II", 4, NUMBERS[kind]):
        fail(kind, "general.file_type", values["general.file_type"])
    run("convert", path, back, "--weights", "f32")
    after = read_gguf(back)[1]
    for name, (sizes, found, _) in tensors.items():
        wanted = wanted_type(kind, name, sizes[0], has_head) if len(sizes) > 1 else F32
        if found != wanted:
            fail(kind, name, "is", found, "expected", wanted)
        if len(sizes) < 2:
            continue
        one, other = (struct.unpack_from(f"<{7 * sizes[0]}f", tensor[name][2]) for tensor in (before, after))
        error = (sum((a - b) ** 2 for a, b in zip(one, other)) / sum(a * a for a in one)) ** 0.5
        if not error < ERRORS[wanted]:
            fail(kind, name, "relative error", error)
    info = json.loads(run("info", "--json", path).stdout)
    if info.get("file_type") != kind:
        fail(kind, info.get("file_type"))
    if '"tokens":[' not in run("generate", path, "the cat", "--max-tokens", "4", "--json").stdout:
        fail(kind, "generate")
    return path


def check_smaller(folder, plain, before):
    """Tensors that would grow by a type that is not of most matrices stay."""
    path, out, again = (os.path.join(folder, name) for name in ("small.gguf", "out.gguf", "again.gguf"))
    run("convert", plain, path, "--weights", "q4_0")
    run("convert", path, out, "--weights", "q4_k_m")
    small, mixed = read_gguf(path)[1], read_gguf(out)[1]
    for name in ("blk.0.attn_v.weight", "blk.5.ffn_down.weight"):  # would be q6_k and q5_0
        if small[name] != mixed[name] or mixed[name][1] != Q4_0:
            fail("stays:", name, mixed[name][1])
    if mixed["blk.0.attn_q.weight"][1] != Q4_K:
        fail("q4_0 as q4_k", mixed["blk.0.attn_q.weight"][1])
    run("convert", out, again, "--weights", "q4_k_m")
    if read_gguf(again)[1] != mixed:
        fail("converted twice: another file")
    tensors = dict(before)
    sizes, kind, content = tensors["blk.3.attn_k.weight"]
    tensors["blk.3.attn_k.weight"] = (sizes, kind, struct.pack("<f", 1e5) + content[4:])
    write_gguf(path, read_gguf(plain)[0], tensors)
    os.remove(out)
    done = run("convert", path, out, "--weights", "q4_k_m", status=1)
    if "blk.3.attn_k.weight" not in done.stderr or "a half can hold" not in done.stderr or os.path.exists(out):
        fail("a weight too large for halves", done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    model = os.path.join(temporary, "plain.gguf")
    for head in (False, True):
        weights = write_model(model, head)
        for mix in NUMBERS if head else ("q4_k_m",):
            check_kind(temporary, mix, model, weights, head)
    check_smaller(temporary, model, weights)
sys.exit(1 if failures else 0)
