#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer convert: every byte of Q8_0 and Q4_0 blocks against the definition in float32, metadata that stays, refusals that leave no file.
usage: test_convert.py PROGRAM DATA"""
import math
import os
import struct
import subprocess
import sys
import tempfile

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
source = os.path.join(data, "generation", "llama_blocks", "model.gguf")
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
F32, Q4_0, Q8_0 = 0, 2, 8
failures = []


def fail(*parts):
    failures.append(parts)
    print("FAIL:", *parts)


def run(*args, status=0):
    done = subprocess.run([program, *args], capture_output=True, text=True, check=False)
    if done.returncode != status:
        fail(args, done.returncode, done.stderr)
    return done


def read_gguf(path):
    """Metadata as raw bytes by key, and tensors as (sizes, type, data to the next one's beginning)."""
    with open(path, "rb") as file:
        raw = file.read()
    count, keys = struct.unpack_from("<QQ", raw, 8)
    at = 24

    def text(place):
        length = struct.unpack_from("<Q", raw, place)[0]
        return raw[place + 8:place + 8 + length], place + 8 + length

    values, tensors = {}, []
    for _ in range(keys):
        key, at = text(at)
        begin, kind = at, struct.unpack_from("<I", raw, at)[0]
        at, elements = at + 4, 1
        if kind == 9:
            kind, elements = struct.unpack_from("<IQ", raw, at)
            at += 12
        for _ in range(elements):
            at = text(at)[1] if kind == 8 else at + SIZES[kind]
        values[key.decode()] = raw[begin:at]
    for _ in range(count):
        name, at = text(at)
        rank = struct.unpack_from("<I", raw, at)[0]
        sizes = struct.unpack_from(f"<{rank}Q", raw, at + 4)
        kind, offset = struct.unpack_from("<IQ", raw, at + 4 + 8 * rank)
        at += 16 + 8 * rank
        tensors.append((name.decode(), sizes, kind, offset))
    begin = (at + 31) // 32 * 32
    ends = [offset for *_, offset in tensors[1:]] + [len(raw) - begin]
    return values, {name: (sizes, kind, raw[begin + offset:begin + end]) for (name, sizes, kind, offset), end in zip(tensors, ends)}


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def encode(kind, block):
    largest = max(block, key=abs)
    d = f32(abs(largest) / 127) if kind == Q8_0 else f32(largest / -8)
    inverse = f32(1 / d) if d else 0.0
    scaled = [f32(value * inverse) for value in block]
    if kind == Q8_0:
        return struct.pack("<e32b", d, *(int(math.copysign(math.floor(abs(value) + 0.5), value)) for value in scaled))
    nibbles = [max(0, min(15, int(f32(value + 8.5)))) for value in scaled]
    return struct.pack("<e16B", d, *(nibbles[i] | nibbles[i + 16] << 4 for i in range(16)))


def check_blocks(folder):
    plain = os.path.join(folder, "f32.gguf")
    run("convert", source, plain, "--weights", "f32")
    values, wide = read_gguf(plain)
    before, given = read_gguf(source)
    if list(wide) != list(given) or any(values[key] != value for key, value in before.items()):
        fail("f32: other tensors or metadata")
    for name, kind in (("q8_0", Q8_0), ("q4_0", Q4_0)):
        path = os.path.join(folder, name + ".gguf")
        done = run("convert", plain, path, "--weights", name, "--check", "the cat")
        if "logits differ by" not in done.stdout:
            fail(name, done.stdout)
        values, tensors = read_gguf(path)
        if values["general.file_type"] != struct.pack("<II", 4, {"q8_0": 7, "q4_0": 2}[name]):
            fail(name, "general.file_type", values["general.file_type"])
        for tensor, (sizes, found, content) in tensors.items():
            wanted = wide[tensor][2]
            if len(sizes) > 1:
                numbers = struct.unpack(f"<{len(wanted) // 4}f", wanted)[:math.prod(sizes)]
                wanted = b"".join(encode(kind, numbers[i:i + 32]) for i in range(0, len(numbers), 32))
            if found != (kind if len(sizes) > 1 else F32) or content[:len(wanted)] != wanted or any(content[len(wanted):]):
                fail(name, tensor, "other bytes")
        again = os.path.join(folder, "again.gguf")
        run("convert", path, again, "--weights", name)
        with open(path, "rb") as one, open(again, "rb") as other:
            if one.read() != other.read():
                fail(name, "converted twice: another file")
    done = run("convert", plain, plain, "--weights", "q8_0")  # onto itself
    if read_gguf(plain)[1] != read_gguf(os.path.join(folder, "q8_0.gguf"))[1]:
        fail("onto itself", done.stderr)


def check_refusals(folder):
    out, broken = os.path.join(folder, "out.gguf"), os.path.join(folder, "broken.gguf")
    with open(source, "rb") as file:
        raw = file.read()
    with open(broken, "wb") as file:
        file.write(raw[:-100])
    infinite = os.path.join(folder, "infinite.gguf")
    run("convert", source, infinite, "--weights", "f32")
    with open(infinite, "r+b") as file:
        file.seek(-32, os.SEEK_END)
        file.write(b"\x00\x00\x80\x7f" * 8)
    for args, status, expected in (((broken, out), 1, "cut short"), ((os.path.dirname(source), out), 1, "is a directory"),
                                   ((source, out, "--weights", "q4_k"), 1, "expected f32, f16, q8_0 or q4_0"),
                                   ((source, out, "--weights", "int3"), 2, "int3"), ((source,), 2, "usage"), ((source, ""), 2, "file to write"),
                                   ((source, out, "--check", ""), 2, "text behind --check"),
                                   ((os.path.join(folder, "none"), out), 1, "No such file"), ((source, "/dev/full"), 1, "No space")):
        done = run("convert", *args, status=status)
        if expected not in done.stderr or os.path.exists(out):
            fail(args, done.stderr)
    last = list(read_gguf(infinite)[1].items())[-1]
    done = run("convert", infinite, out, status=1 if len(last[1][0]) > 1 else 0)
    if len(last[1][0]) > 1 and (last[0] not in done.stderr or os.path.exists(out)):
        fail("infinite", done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    check_blocks(temporary)
    check_refusals(temporary)
sys.exit(1 if failures else 0)
