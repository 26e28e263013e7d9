#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer op against float64 results (tests/data/op/golden.json), in every encoding of NumPy files, and every refusal.
usage: test_op.py PROGRAM DATA"""
import ast
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from runs import data, fail, failures, program, skip_without_device

folder = tempfile.TemporaryDirectory()
work = folder.name

# Weights err by (4 |s| + keys/16 + 16) 2^-24 to first order, |s| < 64 here; values are of the order of 1.
BOUND = (4 * 64 + 16 + 1) * 2.0**-24
HALF_BOUND = 2.0**-11 + BOUND


# --- files -----------------------------------------------------------------------------------------------------------------------------

CODES = {"f2": "e", "f4": "f", "f8": "d", "b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I", "u8": "Q"}
STANDARD = {"f": "f4", "b": "b1", "i": "i8", "u": "u1"}
SPECIAL = {None: math.nan, "inf": math.inf, "-inf": -math.inf}


def values_of(tensor):
    return [SPECIAL[v] if v is None or isinstance(v, str) else v for v in tensor["values"]]


def in_fortran_order(values, shape):
    """C-order values, rearranged so that the first axis runs fastest."""
    out = []
    for index in range(len(values)):
        at, rest, stride = 0, index, len(values)
        for size in shape:
            stride //= size
            at += rest % size * stride
            rest //= size
        out.append(values[at])
    return out


def write_npy(path, tensor, dtype, order="<", fortran=False, version=1):
    values = values_of(tensor)
    if fortran:
        values = in_fortran_order(values, tensor["shape"])
    shape = "(" + "".join(f"{n}, " for n in tensor["shape"]) + ")"
    header = f"{{'descr': '{order}{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    size = 2 if version == 1 else 4
    header += " " * (-(len(header) + 9 + size) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header.encode("latin1"))
        file.write(struct.pack(f"{'<' if order == '|' else order}{len(values)}{CODES[dtype]}", *values))


def read_npy(path):
    with open(path, "rb") as file:
        content = file.read()
    assert content[:8] == b"\x93NUMPY\x01\x00", path
    end = 10 + struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:end].decode("latin1"))
    assert not header["fortran_order"] and header["descr"] in ("<f4", "<f2"), header
    code = CODES[header["descr"][1:]]
    count = math.prod(header["shape"])
    assert len(content) == end + count * struct.calcsize(code), path
    return header["descr"][1:], list(header["shape"]), list(struct.unpack(f"<{count}{code}", content[end:]))


def write_safetensors(path, tensors):
    header, blob = {}, b""
    for name, tensor in tensors.items():
        begin = len(blob)
        blob += struct.pack(f"<{len(tensor['values'])}f", *values_of(tensor))
        header[name] = {"dtype": "F32", "shape": tensor["shape"], "data_offsets": [begin, len(blob)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + blob)


# --- runs ------------------------------------------------------------------------------------------------------------------------------


def run(*arguments):
    done = subprocess.run([program, "op", *map(str, arguments)], capture_output=True, text=True, cwd=work, check=False)
    done.stderr = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("MESA:"))  # a driver's own remarks
    return done


def compare(name, path, want, bound, dtype):
    found_dtype, shape, values = read_npy(os.path.join(work, path))
    if found_dtype != dtype or shape != want["shape"]:
        fail(f"{name}: {path} is {found_dtype} {shape}, expected {dtype} {want['shape']}")
        return
    for i, (got, right) in enumerate(zip(values, values_of(want))):
        exact = math.isnan(right) or right == 0 and name.split()[0] in ("softmax", "masked_softmax")
        good = math.isnan(got) if math.isnan(right) else got == 0 if exact else abs(got - right) <= bound * max(1, abs(right))
        if not good:
            fail(f"{name}: {path} element {i} is {got!r}, expected {right!r}")
            return


def option_arguments(options):
    out = []
    for key, value in options.items():
        out.append(key)
        if value is not True:
            out.append(f"{value}.npy" if value in tensors else value)
    return out


def run_case(case):
    arguments = [case["op"], *(f"{f}.npy" for f in case["files"]), *option_arguments(case["options"]), "-o", "out.npy"]
    if case["params"]:
        write_safetensors(os.path.join(work, "params.safetensors"), {name: tensors[t] for name, t in case["params"].items()})
        arguments += ["--params", "params.safetensors"]
    if case["weights"]:
        arguments += ["--weights", "weights.npy"]
    for name in ("out.npy", "weights.npy"):
        if os.path.exists(os.path.join(work, name)):
            os.remove(os.path.join(work, name))
    done = run(*arguments)
    if done.returncode != 0 or "clformer: " in done.stderr:  # drivers may write warnings of their own
        fail(f"{case['name']}: status {done.returncode}: {done.stderr}")
        return
    is_half = case["options"].get("--dtype") == "f16"
    compare(case["name"], "out.npy", case["result"], HALF_BOUND if is_half else BOUND, "f2" if is_half else "f4")
    if case["weights"]:
        compare(case["name"] + " weights", "weights.npy", case["weights"], BOUND, "f4")


def same_bytes(a, b):
    with open(os.path.join(work, a), "rb") as first, open(os.path.join(work, b), "rb") as second:
        return first.read() == second.read()


def check_encodings():
    """Whatever type, byte order, memory order and version a file has, the result is the same."""
    run("softmax", "x.npy", "--mask", "m.npy", "-o", "want.npy")
    for order, dtype, fortran, version in (("<", "f8", False, 1), (">", "f4", False, 2), ("<", "f4", True, 1), (">", "f8", True, 3)):
        for mask_order, mask_dtype in (("|", "b1"), ("|", "u1"), (">", "i8"), ("<", "f4")):
            write_npy(os.path.join(work, "other.npy"), tensors["x"], dtype, order, fortran, version)
            write_npy(os.path.join(work, "other_mask.npy"), tensors["m"], mask_dtype, mask_order, fortran, version)
            done = run("softmax", "other.npy", "--mask", "other_mask.npy", "-o", "out.npy")
            if done.returncode or not same_bytes("out.npy", "want.npy"):
                fail(f"encoding {order}{dtype} {fortran} {version}, mask {mask_order}{mask_dtype}: {done.stderr}")
    run("masked_softmax", "x.npy", "--lengths", "lengths.npy", "-o", "want.npy")
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        write_npy(os.path.join(work, "other.npy"), tensors["lengths"], dtype, ">", True, 2)
        done = run("masked_softmax", "x.npy", "--lengths", "other.npy", "-o", "out.npy")
        if done.returncode or not same_bytes("out.npy", "want.npy"):
            fail(f"lengths {dtype}: {done.stderr}")
    small = {"shape": [2], "values": [2**40, -(2**40)]}
    write_npy(os.path.join(work, "huge.npy"), small, "i8")
    run("masked_softmax", "x.npy", "--lengths", "huge.npy", "-o", "out.npy")
    if any(sum(read_npy(os.path.join(work, "out.npy"))[2][i * 15 : i * 15 + 15]) > 3.1 - 3 * i for i in (0, 1)):
        fail("lengths beyond int32 wrap around")


def check_float_masks():
    """0 masks and any other flag keeps, as in other types; also where all is masked."""
    for flags in ([0.0, 2.0, 0.5, 0.0, 1.0], [0.0] * 5):
        write_npy(os.path.join(work, "other_mask.npy"), {"shape": [1, 1, 5], "values": flags}, "f8")
        write_npy(os.path.join(work, "bool_mask.npy"), {"shape": [1, 1, 5], "values": [f != 0 for f in flags]}, "b1")
        run("softmax", "x.npy", "--mask", "bool_mask.npy", "-o", "want.npy")
        done = run("softmax", "x.npy", "--mask", "other_mask.npy", "-o", "out.npy")
        if done.returncode or not same_bytes("out.npy", "want.npy"):
            fail(f"float mask {flags}: {done.stderr}")


def check_offsets():
    """A causal offset beyond every shape keeps all keys, or none, and does not wrap around."""
    for far, near in ((2**63 - 1, 100), (-2**63, -100)):
        run("softmax", "x.npy", "--causal", "--causal-offset", near, "-o", "want.npy")
        done = run("softmax", "x.npy", "--causal", "--causal-offset", far, "-o", "out.npy")
        if done.returncode or not same_bytes("out.npy", "want.npy"):
            fail(f"--causal-offset {far}: {done.stderr} or other numbers than at {near}")
    for number in ("1e39", "-1e39"):
        done = run("softmax", "x.npy", "--scale", number)
        if done.returncode != 2 or not done.stderr.startswith("E_OPTION: --scale: expected a number from -3.4e38 to 3.4e38"):
            fail(f"--scale beyond float32: status {done.returncode}: {done.stderr}")


def check_empty():
    write_npy(os.path.join(work, "empty.npy"), {"shape": [0, 5], "values": []}, "f4")
    for arguments in (["softmax"], ["layer_norm"], ["activation", "--kind", "relu"]):
        done = run(*arguments, "empty.npy", "-o", "out.npy")
        if done.returncode or read_npy(os.path.join(work, "out.npy"))[1] != [0, 5]:
            fail(f"{arguments[0]} of an empty array: {done.stderr}")


def check_inputs_unchanged(before):
    for name, content in before.items():
        with open(os.path.join(work, name), "rb") as file:
            if file.read() != content:
                fail(f"{name} was changed")


AT_WORK = ("E_FILE", "E_FORMAT", "E_DTYPE", "E_LIMIT", "E_NOT_FOUND")  # what files and devices refuse; the command line's own faults give 2


def check_refusals():
    with open(os.path.join(work, "broken.npy"), "wb") as file:
        file.write(b"\x93NUMPY\x01\x00\x10\x00not a dictionary")
    with open(os.path.join(work, "complex.npy"), "wb") as file:
        header = b"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(8))
    additive = {"shape": [1, 3, 5], "values": [0.0, "-inf", 0.0] * 5}
    write_npy(os.path.join(work, "additive.npy"), additive, "f4")
    write_npy(os.path.join(work, "rank64.npy"), {"shape": [1] * 64, "values": [0.0]}, "f4")
    write_npy(os.path.join(work, "float_lengths.npy"), {"shape": [2], "values": [2.0, 1.0]}, "f4")
    write_npy(os.path.join(work, "long_lengths.npy"), {"shape": [3], "values": [2, 1, 1]}, "i4")
    write_npy(os.path.join(work, "one_length.npy"), {"shape": [1], "values": [2]}, "i4")
    write_npy(os.path.join(work, "column_lengths.npy"), {"shape": [2, 1], "values": [2, 1]}, "i4")
    good = {f"W_{part}.weight": tensors[f"p_{part.lower()}"] for part in "QKVO"}
    write_safetensors(os.path.join(work, "good.safetensors"), good)
    write_safetensors(os.path.join(work, "part.safetensors"), {n: t for n, t in good.items() if n != "W_V.weight"})
    write_safetensors(os.path.join(work, "more.safetensors"), {**good, "W_Q.biass": tensors["pb_q"]})
    write_safetensors(os.path.join(work, "shape.safetensors"), {**good, "W_K.weight": tensors["q"]})
    mha = ["mha", "xq.npy", "xk.npy", "xv.npy"]
    for code, *arguments in (
        ("E_OPTION",),
        ("E_OPTION", "nosuchop"),
        ("E_OPTION", "--output", "layer_norm", "softmax", "x.npy"),
        ("E_OPTION", "x.npy", "softmax"),
        ("E_OPTION", "softmax"),
        ("E_OPTION", "softmax", "x.npy", "m.npy"),
        ("E_OPTION", "softmax", "x.npy", "--axis", "one"),
        ("E_OPTION", "softmax", "x.npy", "--bogus", "1"),
        ("E_OPTION", "softmax", "x.npy", "--policy", "minus"),
        ("E_OPTION", "softmax", "x.npy", "--causal-offset", "1"),
        ("E_OPTION", "softmax", "x.npy", "--mask"),
        ("E_OPTION", "activation", "x.npy"),
        ("E_OPTION", "activation", "x.npy", "--kind", "sine"),
        ("E_OPTION", "positional_encoding", "--length", "3"),
        ("E_OPTION", "positional_encoding", "--length", "0", "--dim", "4"),
        ("E_OPTION", "attention", "q.npy", "k.npy", "v.npy", "--score", "cosine"),
        ("E_OPTION", "attention", "q.npy", "k.npy", "v.npy", "--scale", "0"),
        ("E_OPTION", *mha, "--heads", "2"),
        ("E_OPTION", *mha, "--params", "good.safetensors"),
        ("E_FILE", "softmax", "nosuch.npy"),
        ("E_FILE", "softmax", "x.npy", "--mask", "nosuch.npy"),
        ("E_FILE", *mha, "--heads", "2", "--params", "nosuch.safetensors"),
        ("E_FORMAT", "softmax", "broken.npy"),
        ("E_FORMAT", *mha, "--heads", "2", "--params", "x.npy"),
        ("E_FORMAT", *mha, "--heads", "2", "--params", "part.safetensors"),
        ("E_FORMAT", *mha, "--heads", "2", "--params", "more.safetensors"),
        ("E_DTYPE", "softmax", "complex.npy"),
        ("E_LIMIT", "softmax", "rank64.npy"),
        ("E_DTYPE", "softmax", "x.npy", "--mask", "additive.npy"),
        ("E_DTYPE", "masked_softmax", "x.npy", "--lengths", "float_lengths.npy"),
        ("E_AXIS", "softmax", "x.npy", "--axis", "3"),
        ("E_AXIS", "softmax", "x.npy", "--axis", "-4"),
        ("E_AXIS", "softmax", "gamma.npy", "--causal"),
        ("E_AXIS", "layer_norm", "x.npy", "--axes", "40"),
        ("E_SHAPE", "softmax", "x.npy", "--mask", "padding.npy"),
        ("E_SHAPE", "softmax", "x.npy", "--bias", "gamma.npy"),
        ("E_SHAPE", "softmax", "nijh.npy", "--lengths", "lengths.npy"),
        ("E_SHAPE", "masked_softmax", "x.npy", "--lengths", "long_lengths.npy"),
        ("E_SHAPE", "masked_softmax", "x.npy", "--lengths", "one_length.npy"),
        ("E_SHAPE", "attention", "q.npy", "k.npy", "v.npy", "--lengths", "one_length.npy"),
        ("E_SHAPE", "attention", "q.npy", "k.npy", "v.npy", "--lengths", "column_lengths.npy"),
        ("E_SHAPE", "layer_norm", "x.npy", "gamma2.npy"),
        ("E_SHAPE", "layer_norm", "x.npy", "gamma.npy", "gamma2.npy"),
        ("E_SHAPE", "layer_norm", "x.npy", "--residual", "gamma.npy"),
        ("E_AXIS", "layer_norm", "x.npy", "--axes", "4"),
        ("E_VALUE", "layer_norm", "x.npy", "--eps", "-1"),
        ("E_AXIS", "rms_norm", "x.npy", "--axes", "4"),
        ("E_SHAPE", "attention", "gamma.npy", "k.npy", "v.npy"),
        ("E_SHAPE", "attention", "q.npy", "wide.npy", "v.npy"),
        ("E_SHAPE", "attention", "q.npy", "q.npy", "v.npy"),
        ("E_SHAPE", "attention", "q.npy", "k.npy", "v.npy", "--mask", "look.npy"),
        ("E_VALUE", "attention", "q.npy", "wide.npy", "v.npy", "--score", "additive"),
        ("E_VALUE", "attention", "q.npy", "wide.npy", "v.npy", "--score", "bilinear"),
        ("E_SHAPE", "attention", "q.npy", "wide.npy", "v.npy", "--score", "bilinear", "--m", "wq.npy"),
        ("E_VALUE", *mha, "--heads", "4", "--params", "good.safetensors"),
        ("E_SHAPE", *mha, "--heads", "2", "--params", "shape.safetensors"),
        ("E_SHAPE", *mha, "--heads", "2", "--params", "good.safetensors", "--mask", "mask_lnd.npy"),
        ("E_SHAPE", *mha, "--heads", "2", "--params", "good.safetensors", "--mask", "padding.npy"),
        ("E_SHAPE", *mha, "--heads", "2", "--params", "good.safetensors", "--padding-mask", "look.npy"),
        ("E_NOT_FOUND", "softmax", "x.npy", "--device", "nosuchdevice"),
    ):
        out = tempfile.mkdtemp(dir=work)
        extra = ["-o", f"{out}/out.npy"] if arguments else []
        if arguments and arguments[0] in ("attention", "mha"):
            extra += ["--weights", f"{out}/weights.npy"]
        done = run(*arguments, *extra)
        title = f"op {' '.join(arguments)}"
        want = 1 if code in AT_WORK else 2
        if done.returncode != want:
            fail(f"{title}: status {done.returncode}, expected {want}")
        if not done.stderr.startswith(code) or done.stderr.count("\n") != 1 or done.stdout:
            fail(f"{title}: expected one line {code}..., found {done.stderr!r}")
        if os.listdir(out):
            fail(f"{title}: left {os.listdir(out)}")
    if os.path.exists(os.path.join(work, "layer_norm")):
        fail("an option before the op's name was taken for an option of the op")
    told = [run(asked) for asked in ("--help", "-h")]
    if any(done.returncode for done in told) or told[0].stdout != told[1].stdout or "usage: clformer op" not in told[1].stdout:
        fail(f"op -h: {told[1]}")
    os.symlink("never.npy", os.path.join(work, "leads.npy"))
    for other in ("never.npy", "./never.npy", "leads.npy", os.path.join(work, "never.npy")):
        done = run("attention", "q.npy", "k.npy", "v.npy", "-o", "never.npy", "--weights", other)
        if done.returncode != 2 or not done.stderr.startswith("E_OPTION") or os.path.exists(os.path.join(work, "never.npy")):
            fail(f"one file for two results, never.npy and {other}: status {done.returncode}, {done.stderr!r}")
    done = run("attention", "q.npy", "k.npy", "v.npy", "-o", "/dev/null", "--weights", "/dev/null")
    if done.returncode != 0:
        fail(f"two results for nobody: {done.stderr!r}")
    kept = tempfile.mkdtemp(dir=work)
    for outputs in ((f"{kept}/old.npy", "/dev/full"), ("/dev/full", f"{kept}/old.npy"), (None, f"{kept}/old.npy")):
        with open(f"{kept}/old.npy", "wb") as file:
            file.write(b"old")
        arguments = ["attention", "q.npy", "k.npy", "v.npy", "--weights", outputs[1], *(["-o", outputs[0]] if outputs[0] else [])]
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program, "op", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, cwd=work, check=False)
        with open(f"{kept}/old.npy", "rb") as file:
            content = file.read()
        if done.returncode != 1 or "E_FILE" not in done.stderr or content != b"old" or len(os.listdir(kept)) != 1:
            fail(f"a full disk for one of {outputs}: status {done.returncode}, {done.stderr!r}, {os.listdir(kept)} of {len(content)} bytes")
    for shape in ([3], [1, 3]):
        write_npy(os.path.join(work, "wv3.npy"), {"shape": shape, "values": [0.0] * 3}, "f4")
        done = run("attention", "q.npy", "wide.npy", "v.npy", "--score", "additive", "--wq", "wq.npy", "--wk", "wk.npy", "--wv", "wv3.npy")
        if done.returncode != 2 or f"w_v is {str(shape).replace(' ', '')}, expected [" not in done.stderr:
            fail(f"--wv of shape {shape}: status {done.returncode}, {done.stderr!r}")
    for arguments in (["softmax", "x.npy"], [*mha, "--heads", "2", "--params", "good.safetensors", "--weights", "never.npy"]):
        done = run(*arguments, "-o", "/no/such/directory/out.npy")
        if done.returncode != 1 or not done.stderr.startswith("E_FILE") or os.path.exists(os.path.join(work, "never.npy")):
            fail(f"{arguments[0]} into no directory: status {done.returncode}, {done.stderr!r}")


def check_help():
    mistyped = subprocess.run([program, "op", "sofmax"], capture_output=True, text=True, check=False)
    if mistyped.returncode != 2 or "did you mean softmax" not in mistyped.stderr:
        fail(f"sofmax: {mistyped.stderr}")
    listed = run("--list").stdout
    for op in sorted({case["op"] for case in cases}):
        own = subprocess.run([program, "op", op, "--help"], capture_output=True, text=True, check=False)
        if f"{op} " not in listed or own.returncode != 0 or "--dtype" not in own.stdout or "--device" not in own.stdout:
            fail(f"{op}: --list or --help lacks it")
    for option in {key for case in cases for key in case["options"]} - {"--dtype"}:
        if option not in listed:
            fail(f"--list lacks {option}")
    printed = run("positional_encoding", "--length", "1", "--dim", "4")
    if printed.stdout != "[[0, 1, 0, 1]]\n":
        fail(f"without -o: {printed.stdout!r}")


with open(os.path.join(data, "op", "golden.json"), encoding="ascii") as golden:
    loaded = json.load(golden)
tensors, cases = loaded["tensors"], loaded["cases"]
originals = {}
for key, item in tensors.items():
    target = os.path.join(work, key + ".npy")
    write_npy(target, item, STANDARD[item["kind"]])
    with open(target, "rb") as written:
        originals[key + ".npy"] = written.read()

first = run("softmax", "x.npy")
skip_without_device(first)
for one in cases:
    run_case(one)
check_encodings()
check_float_masks()
check_offsets()
check_empty()
check_refusals()
check_help()
check_inputs_unchanged(originals)
print(f"{len(cases)} cases,", f"{len(failures)} failures" if failures else "all passed")
sys.exit(1 if failures else 0)
