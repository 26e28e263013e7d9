#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The perplexity of a real language model, SmolLM2-135M-Instruct in blocks of Q4_1 and Q8_0, on 2,041 tokens in one window, against float64
(tests/data/generation/make_perplexity.py). Logits behind 20 prompts differ by less than Q8_BOUND with keys and values as q8_0. Skipped
where the model, which ./quickstart chat fetches, is not there.
usage: test_perplexity.py PROGRAM DATA"""
import hashlib
import json
import os
import subprocess
import tempfile

from language_models import read_npy
from runs import data, fail, finish, program, skip, worst

BOUND = 0.002
Q8_BOUND = 0.9  # of logits up to 30; twice the largest difference that was seen
PROMPTS = """Once upon a time
The capital of France is
Water boils at a temperature of
The three primary colours are
In the beginning of the year
A recipe for bread begins with
The history of mathematics
My favourite animal is the
To open a bank account you need
The largest planet of the solar system is
Dear Sir or Madam,
def add(a, b):
The president said on Monday that
Photosynthesis is the process by which
When it rains in the mountains,
She opened the door and saw
The best way to learn a language is
In 1969, two men
Gravity is a force that
Give me a list of ten fruits:
"""
with open(os.path.join(data, "generation", "perplexity.json"), encoding="utf-8") as stream:
    known = json.load(stream)
model = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "clformer", "models", known["model"])
if not os.path.exists(model):
    skip(f"{model} is not there: ./quickstart chat fetches it")
if os.environ.get("CLF_TEST_SMALL"):
    skip("this device or build would take too long")
with open(model, "rb") as stream:
    if hashlib.sha256(stream.read()).hexdigest() != known["model_sha256"]:
        fail(f"{model} is another file")
text = b""
for name in known["texts"]:
    with open(os.path.join(data, name), "rb") as stream:
        text += stream.read()
text = text[:known["bytes"]]
if hashlib.sha256(text).hexdigest() != known["text_sha256"]:
    fail("the text is another: make_perplexity.py makes perplexity.json anew")
done = subprocess.run([program, "perplexity", model, "--file", "-", "--window", str(known["tokens"]), "--json"], input=text,
                      capture_output=True, check=False)
told = json.loads(done.stdout) if done.returncode == 0 else {"perplexity": 0, "tokens": 0}
print(told["perplexity"], "against", known["perplexity"])
if done.returncode or told["tokens"] != known["tokens"] - 1 or not abs(told["perplexity"] - known["perplexity"]) <= BOUND:
    fail(f"{told}, expected {known['perplexity']} of {known['tokens'] - 1} tokens: {done.stderr.decode()}")
with tempfile.TemporaryDirectory() as folder:
    prompts = os.path.join(folder, "prompts.txt")
    with open(prompts, "w", encoding="utf-8") as stream:
        stream.write(PROMPTS)
    rows = []
    for cache in ("f32", "q8_0"):
        path = os.path.join(folder, cache + ".npy")
        subprocess.run([program, "logits", model, "--file", prompts, "-o", path, "--cache", cache], check=True, capture_output=True)
        rows.append(read_npy(path))
error = worst(abs(a - b) for one, other in zip(*rows) for a, b in zip(one, other))
print("logits with --cache q8_0 differ by", error)
if len(rows[0]) != 20 or not 0 < error <= Q8_BOUND:
    fail(f"logits with --cache q8_0 differ by {error}")
finish()
