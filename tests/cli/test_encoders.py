#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Embeddings of legal and unusual models (tests/data/encoders) against sentence-transformers' in float64.
usage: test_encoders.py PROGRAM DATA"""
import json
import math
import os
import shutil
import tempfile

from model_files import read_safetensors, write_safetensors
from runs import clformer as run, data, fail, finish, folders, is_whole, model, write_spoiled

encoders = os.path.join(data, "encoders")
BOUND = 1e-5


def check(folder, name):
    directory = os.path.join(encoders, name)
    with open(os.path.join(directory, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    texts = os.path.join(folder, name + ".jsonl")
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in golden["texts"])
    for call in golden["calls"]:
        done = run("embed", "--format", "text", *call["options"], "--file", texts, directory)
        if done.returncode != 0:
            fail(name, call["options"], done.returncode, done.stderr)
            continue
        rows = [[float(value) for value in line.split()] for line in done.stdout.splitlines()]
        if [len(row) for row in rows] != [len(row) for row in call["rows"]]:
            fail(name, call["options"], "other sizes", [len(row) for row in rows])
            continue
        for text, row, wanted in zip(golden["texts"], rows, call["rows"]):
            error = math.dist(row, wanted) / math.hypot(*wanted)
            if not error <= BOUND:
                fail(name, call["options"], text, f"relative error {error:.3g}")


def check_refusals(folder):
    """A key that would change numbers and is not computed is refused by its name."""
    for name, file, change, *expected in (
            ("bert_older", "config.json", {"is_decoder": True}, "is_decoder is true: expected false"),
            ("nomic_authors", "config.json", {"causal": True}, "causal is true: expected false"),
            ("nomic_authors", "config.json", {"rotary_scaling_factor": 2}, "rotary_scaling_factor: expected null, found integer 2"),
            ("mpnet_padding", "config.json", {"relative_attention_num_buckets": 16}, "relative_attention_num_buckets", "integer 16"),
            ("roberta_prompt", "sentence_bert_config.json", {"transformer_task": "fill-mask"}, 'transformer_task "fill-mask"',
             "feature-extraction")):
        copy = os.path.join(folder, "refused")
        shutil.copytree(os.path.join(encoders, name), copy)
        path = os.path.join(copy, file)
        with open(path, encoding="utf-8") as stream:
            config = json.load(stream)
        with open(path, "w", encoding="utf-8") as stream:
            json.dump({**config, **change}, stream)
        done = run("embed", copy, "a")
        if done.returncode != 1 or done.stdout or any(part not in done.stderr for part in expected):
            fail(name, change, done.returncode, done.stderr)
        shutil.rmtree(copy)


def check_unread(folder):
    """info lists the keys of config.json that nothing reads; of these models it is none but the one that is added."""
    for name in names:
        copy = os.path.join(folder, "unread")
        shutil.copytree(os.path.join(encoders, name), copy)
        with open(os.path.join(copy, "config.json"), encoding="utf-8") as stream:
            config = json.load(stream)
        with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as stream:
            json.dump({**config, "logit_scale": 3, "hidden_dropout_prob": 0.25, "embedding_size": None}, stream)
        done = run("info", "--json", copy)
        if done.returncode != 0 or json.loads(done.stdout).get("unread_keys") != ["logit_scale"]:
            fail("info", name, done.returncode, done.stderr, done.stdout)
        shutil.rmtree(copy)


def check_other_networks(folder):
    """A tensor inside the layers that no part of the network takes is refused by name; heads of other tasks and buffers are passed over."""
    copy = os.path.join(folder, "other")
    shutil.copytree(os.path.join(encoders, "bert_older"), copy, copy_function=shutil.copyfile)
    path = os.path.join(copy, "model.safetensors")
    tensors, vector = read_safetensors(path), ("F32", [2], bytes(8))
    for name, is_taken in (("bert.encoder.layer.0.attention.self.q_norm.weight", False), ("bert.encoder.layer.99.output.dense.bias", False),
                           ("bert.embeddings.LayerNorm.scale", False), ("cls.predictions.bias", True), ("qa_outputs.bias", True)):
        write_safetensors(path, {**tensors, name: vector})
        done = run("embed", copy, "a")
        if done.returncode != (0 if is_taken else 1) or (not is_taken and f"{name}: unexpected tensor for" not in done.stderr):
            fail(name, done.returncode, done.stderr)
    twice = {name.removeprefix("bert."): value for name, value in tensors.items() if name.startswith("bert.embeddings.LayerNorm")}
    for is_same in (True, False):
        write_safetensors(path, {**tensors, **{name: (kind, shape, raw if is_same else bytes(len(raw)))
                                               for name, (kind, shape, raw) in twice.items()}})
        done = run("embed", copy, "a")
        if not twice or done.returncode != (0 if is_same else 1) or (not is_same and "the file has this weight twice" not in done.stderr):
            fail("a weight that is there twice", is_same, done.returncode, done.stderr)


def check_zero(folder):
    """A model whose last layer gives zeros: no such embedding leaves, and the text is named."""
    copy, source, width = os.path.join(folder, "zero"), os.path.join(model, "model.safetensors"), 24
    shutil.copytree(model, copy)
    for part in ("weight", "bias"):
        path = os.path.join(folder, part + ".safetensors")
        write_spoiled(source, f"transformer.layer.1.output_layer_norm.{part}", 0, path, width, b"\0")
        source = path
    shutil.move(source, os.path.join(copy, "model.safetensors"))
    for options in ((), ("--normalize", "yes"), ("-o", os.path.join(folder, "zero.json"))):
        done = run("embed", *options, copy, "a", env={**os.environ, "CLF_LOG": "error"})
        if done.returncode != 1 or "text 1: embed: the result is all zero" not in done.stderr or \
                "computed again by the portable" not in done.stderr or done.stdout:
            fail("an embedding of zeros", options, done.returncode, done.stdout, done.stderr)
    if os.path.exists(os.path.join(folder, "zero.json")):
        fail("an embedding of zeros left a file")


names = folders(encoders)
if "mpnet_padding" not in names:
    fail("cases:", names)
with tempfile.TemporaryDirectory() as temporary:
    for case in names:
        check(temporary, case)
    if is_whole:
        check_refusals(temporary)
        check_unread(temporary)
        check_zero(temporary)
        check_other_networks(temporary)
finish()
