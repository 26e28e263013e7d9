#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The programs of README.md and include/README.md, under AddressSanitizer. README's get models whose embeddings are wider or narrower
than their token vectors: each prints the cosine of the golden embeddings and writes only to memory that it allocated. The program that
streams an answer prints what clformer generate makes of the template's text. usage: test_examples.py PROGRAM DATA"""
import glob
import json
import math
import os
import shutil
import sys
import tempfile

from runs import assemble_sentence, data, fail, finish, program, run, skip

here = os.path.dirname(os.path.abspath(__file__))
asan = os.environ["CLF_TEST_ASAN"]  # "libasan.so" where the compiler brings another one
drivers = os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors")
# ASan's shadow memory does not fit every layout of random addresses.
fixed = ["setarch", "-R"] if shutil.which("setarch") and run("setarch", "-R", "true").returncode == 0 else []
pocl = tempfile.TemporaryDirectory()  # alone: other drivers load libraries in ways that AddressSanitizer refuses
for icd in glob.glob(os.path.join(drivers, "pocl*.icd")):
    shutil.copy(icd, pocl.name)
sanitized = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:use_sigaltstack=0", "LD_LIBRARY_PATH": os.path.dirname(program),
             "OCL_ICD_VENDORS": pocl.name, "CLF_DEVICE": "0"}
programs = [("example.c", [os.environ["CLF_TEST_EXAMPLE"]], sanitized)]
if os.path.isabs(asan):
    # Python's own allocator would hide where its blocks end.
    programs.append(("example.py", [sys.executable, os.path.join(here, "example.py")],
                     {**sanitized, "LD_PRELOAD": os.path.realpath(asan), "PYTHONMALLOC": "malloc"}))
else:
    print("left out: example.py, since the compiler has no libasan.so")


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / (math.hypot(*a) * math.hypot(*b))


def golden(name):
    """Two texts and the cosine of their embeddings as sentence-transformers makes them, without a prompt."""
    with open(os.path.join(data, "sentence", name, "golden.json"), encoding="utf-8") as file:
        case = json.load(file)
    rows = next(call["embeddings"] for call in case["calls"] if set(call) == {"embeddings"})
    return case["texts"][1], case["texts"][3], cosine(rows[1], rows[3]), len(rows[0])


if not os.listdir(pocl.name):
    skip(f"no PoCL in {drivers}")
with tempfile.TemporaryDirectory() as folder:
    widths = set()
    for case in ("several", "dense", "last"):
        first, second, wanted, width = golden(case)
        directory = assemble_sentence(folder, case)
        widths.add(width)
        for name, command, environment in programs:
            done = run(*fixed, *command, directory, first, second, env=environment)
            if done.returncode != 0 or not abs(float(done.stdout) - wanted) <= 1e-4:
                fail(f"{name} with {case}: status {done.returncode}, {done.stdout!r}, expected {wanted:.4f}: {done.stderr[:2000]}")
    if len(widths) != 3:
        fail("the cases have embeddings of", widths, "features: expected three different widths")
    # A tiny model, whose vocabulary is letters, with a template that writes the question and no more.
    directory = os.path.join(folder, "chat")
    shutil.copytree(os.path.join(data, "generation", "llama"), directory)
    with open(os.path.join(directory, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{{ messages[0]['content'] }}")
    told = run(program, "generate", directory, "the cat", "--max-tokens", "64", env={**sanitized, "LD_LIBRARY_PATH": ""})
    done = run(*fixed, os.environ["CLF_TEST_EXAMPLE_CHAT"], directory, "the cat", env=sanitized)
    if done.returncode != 0 or told.returncode != 0 or not done.stdout.strip() or done.stdout != told.stdout:
        fail(f"example_chat.c: status {done.returncode}, {done.stdout!r}, clformer generate: {told.stdout!r}: {done.stderr[:2000]}")
finish()
