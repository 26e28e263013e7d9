#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No test in Python forgets a NaN: the one place where differences are held together (worst of tests/cli/runs.py) keeps it, and none
compares in a way that lets it through. usage: test_nan.py TESTS"""
import importlib.util
import math
import os
import re
import sys

tests = sys.argv[1]
sys.argv[1:] = ["program", "data"]  # which runs.py looks for
spec = importlib.util.spec_from_file_location("runs", os.path.join(tests, "cli", "runs.py"))
runs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runs)

for place in range(3):
    differences = [1e-9, 2e-9, 3e-9]
    if runs.worst(differences) != 3e-9:
        runs.fail("worst", differences)
    differences[place] = math.nan
    if runs.worst(iter(differences)) != math.inf:
        runs.fail("worst", differences)
if runs.worst([]) != math.inf:
    runs.fail("nothing was compared, and that is right")
# The largest of differences by max(), and "fails where a difference is above the bound", which a NaN is not.
FORGETS = re.compile(r"\bmax\(abs\([^()]* - |\bmax\(math\.dist\(|^ *(el)?if\b.*(\babs\([^<>=]*|\bmath\.dist\([^<>=]*|\berror) > ")
for folder in ("cli", "gpu", "faults"):
    for name in sorted(os.listdir(os.path.join(tests, folder))):
        if name.endswith(".py"):
            with open(os.path.join(tests, folder, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if FORGETS.search(line):
                        runs.fail(f"{folder}/{name}:{number} forgets a NaN: {line.strip()}")
runs.finish()
