# SPDX-License-Identifier: MIT
"""What the tests of generated texts share: runs of the program that must end with a status, and logits from a NumPy file."""
import ast
import struct
import subprocess

from runs import fail, program

CLOSE = 1e-3  # where two logits differ by less, either token may follow


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
