#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every family on its tiny model (tests/data/families): embeddings and attention weights against transformers' in float64, and a model type
that is not known.
usage: test_families.py PROGRAM DATA"""
import json
import math
import os
import subprocess
import tempfile

from runs import data, fail, finish, program, worst

families = os.path.join(data, "families")
BOUND = 1e-5  # of the vector's length


def embed(directory, texts):
    return subprocess.run([program, "embed", "--pooling", "mean", "--normalize", "no", "--format", "text", directory, *texts],
                          capture_output=True, text=True, check=False)


def check(name):
    with open(os.path.join(families, name, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    done = embed(os.path.join(families, name), golden["texts"])
    if done.returncode != 0:
        return fail(f"{name}: status {done.returncode}: {done.stderr}")
    rows = [[float(value) for value in line.split()] for line in done.stdout.splitlines()]
    if [len(row) for row in rows] != [len(row) for row in golden["embeddings"]]:
        return fail(f"{name}: {[len(row) for row in rows]} numbers")
    for text, row, wanted in zip(golden["texts"], rows, golden["embeddings"]):
        error = math.dist(row, wanted) / math.hypot(*wanted)
        if not error <= BOUND:
            fail(f'{name}: "{text}": relative error {error:.3g}')


def check_attention(name):
    """Layer 1's weights of the last text: with windows and biases they take another way than the embeddings."""
    with open(os.path.join(families, name, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    done = subprocess.run([program, "attention", "--layer", "1", "--json", os.path.join(families, name), golden["texts"][-1]],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return fail(f"{name}: attention: status {done.returncode}: {done.stderr}")
    heads, wanted = json.loads(done.stdout)["weights"], golden["attention"]
    if [[len(row) for row in head] for head in heads] != [[len(row) for row in head] for head in wanted]:
        return fail(f"{name}: attention: other sizes")
    error = worst(abs(a - b) for x, y in zip(heads, wanted) for row, want in zip(x, y) for a, b in zip(row, want))
    if not error <= BOUND:
        fail(f"{name}: attention weights: error {error:.3g}")


names = sorted(entry for entry in os.listdir(families) if os.path.isdir(os.path.join(families, entry)))
if "distilbert" not in names:
    fail(f"families: {names}")
for name in names:
    check(name)
    check_attention(name)
tokenizers = {}  # one function of make_golden.py makes them all
for folder in (families, os.path.join(data, "classifiers")):
    for name in os.listdir(folder):
        if os.path.isdir(os.path.join(folder, name)):
            with open(os.path.join(folder, name, "tokenizer.json"), "rb") as file:
                tokenizers.setdefault(file.read(), []).append(name)
if len(tokenizers) != 1:
    fail(f"tokenizers of tiny models: expected one for all, found {list(tokenizers.values())}")
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "gpt7"}, file)
    done = embed(folder, ["a"])
    if done.returncode == 0 or 'model_type "gpt7": expected ' not in done.stderr or any(name not in done.stderr for name in names):
        fail(f"unknown family: status {done.returncode}: {done.stderr}")
finish()
