# SPDX-License-Identifier: MIT
"""Helpers that the tests of generated texts share: runs of the program that must end with a status, and logits from a NumPy file."""
import ast
import os
import struct
import subprocess

from runs import data, fail, program, worst

CLOSE = 1e-3  # where two logits differ by less, either token may follow
BOUND = 2e-4  # of logits up to about 20
families = os.path.join(data, "generation")


def run(*args, status=0):
    done = subprocess.run([program, *args], capture_output=True, text=True, check=False)
    if done.returncode != status:
        fail(f"{args}: status {done.returncode}, expected {status}: {done.stderr}")
    return done


def read_npy(path):
    """Its rows of float32."""
    with open(path, "rb") as file:
        raw = file.read()
    size = struct.unpack("<H", raw[8:10])[0]
    rows, columns = ast.literal_eval(raw[10:10 + size].decode())["shape"]
    values = struct.unpack(f"<{rows * columns}f", raw[10 + size:])
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def check_logits(name, model, golden, prompts, output, *options, bound=BOUND):
    run("logits", model, "--file", prompts, "-o", output, *options)
    rows = read_npy(output)
    if len(rows) != len(golden["texts"]):
        fail(f"{name}: {len(rows)} rows of logits")
    for text, row in zip(golden["texts"], rows):
        error = worst(abs(a - b) for a, b in zip(row, text["logits"]))
        if len(row) != len(text["logits"]) or not error <= bound:
            fail(f'{name}: "{text["text"]}": logits differ by {error:.3g}')
