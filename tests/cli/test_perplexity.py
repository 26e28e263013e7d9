#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The perplexity of a real language model, SmolLM2-135M-Instruct in blocks of Q4_1 and Q8_0, on 2,041 tokens in one window, against float64
(tests/data/generation/make_perplexity.py). Skipped where the model, which ./quickstart chat fetches, is not there.
usage: test_perplexity.py PROGRAM DATA"""
import hashlib
import json
import os
import subprocess

from runs import data, fail, finish, program, skip

BOUND = 0.002
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
finish()
