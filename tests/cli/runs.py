# SPDX-License-Identifier: MIT
"""Helpers that tests of the program share: the list of failures, runs of it, also such that are ended at a call and not at a time, texts,
and a model whose vectors weigh something."""
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

program, data = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
model = os.path.join(data, "families", "distilbert")
failures = []
is_whole = not os.environ.get("CLF_TEST_NUMBERS")  # else the numbers alone, which a device decides; another device runs the rest


def fail(*parts):
    failures.append(parts)
    print("FAIL:", *parts, flush=True)


def finish():
    print("all passed" if not failures else f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


def worst(differences):
    """The largest of the differences; infinite where one of them is no number, and where there is none: max() forgets a NaN that
    is not first."""
    return max((math.inf if math.isnan(difference) else difference for difference in differences), default=math.inf)


def skip(why):
    print("skipped:", why)
    sys.exit(1 if failures else 77)


def skip_without_device(done):
    """Ends the test where this first run found no device, unless one was asked for: as device_setup() of tests/support/device.c."""
    if done.returncode != 0 and "no usable OpenCL device" in done.stderr and "CLF_DEVICE" not in os.environ:
        skip(done.stderr.strip())


def folders(path):
    """Names of the folders in it, in order."""
    return sorted(entry for entry in os.listdir(path) if os.path.isdir(os.path.join(path, entry)))


def read(path):
    """Its bytes; none where it is not there."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_lines(path, count, seed):
    rng = random.Random(seed)
    words = "the cat sat on a mat and then it ran away".split()
    with open(path, "w", encoding="ascii") as file:
        file.writelines(" ".join(rng.choices(words, k=rng.choice((1, 3, 9, 20)))) + "\n" for _ in range(count))


def write_spoiled(source, tensor, first, path, count=1, fill=b"\xff"):
    """The file of weights with rows of a tensor that are not numbers, or that are filled with another byte."""
    content = bytearray(read(source))
    start = 8 + struct.unpack("<Q", content[:8])[0]
    table = json.loads(content[8:start])[tensor]
    at, end = (start + offset for offset in table["data_offsets"])
    row = (end - at) // table["shape"][0]
    content[at + first * row:at + (first + count) * row] = fill * (count * row)  # 0xff: not a number in every type of floating point
    with open(path, "wb") as file:
        file.write(content)


def make_spoiled_model(path, texts):
    """The tiny model, not a number at the last position of the longest of these texts."""
    os.mkdir(path)
    for name in os.listdir(model):
        if name != "model.safetensors":
            os.symlink(os.path.join(model, name), os.path.join(path, name))
    tokens = subprocess.run([program, "tokenize", model, *texts], capture_output=True, check=True).stdout.splitlines()
    last = max(len(json.loads(line)) for line in tokens) - 1
    write_spoiled(os.path.join(model, "model.safetensors"), "embeddings.position_embeddings.weight", last,
                  os.path.join(path, "model.safetensors"))


def make_broken_vendors(path, way="aborts"):
    """A folder of this machine's drivers and one that aborts or hangs while it is loaded; None where there is no folder of drivers."""
    source, broken = os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"), os.environ.get(f"CLF_TEST_DRIVER_{way.upper()}", "")
    if not os.path.isdir(source) or not os.path.exists(broken):
        return None
    shutil.copytree(source, path)
    with open(os.path.join(path, f"{way}.icd"), "w", encoding="utf-8") as file:
        file.write(broken + "\n")
    return os.path.abspath(path)


def make_wide_model(path, width):
    """The tiny model with a dense layer behind it."""
    os.makedirs(os.path.join(path, "2_Dense"))
    for name in os.listdir(model):
        os.symlink(os.path.join(model, name), os.path.join(path, name))
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        narrow = json.load(file)["dim"]
    with open(os.path.join(data, "sentence", "dense", "modules.json"), encoding="utf-8") as file:
        modules = [module for module in json.load(file) if module["path"] in ("", "1_Pooling", "2_Dense")]
    config = {"in_features": narrow, "out_features": width, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"}
    pooling = {"word_embedding_dimension": narrow, "pooling_mode_mean_tokens": True}
    os.mkdir(os.path.join(path, "1_Pooling"))
    for name, content in (("modules.json", modules), ("1_Pooling/config.json", pooling), ("2_Dense/config.json", config)):
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    rng = random.Random(1)
    header = json.dumps({"linear.weight": {"dtype": "F32", "shape": [width, narrow], "data_offsets": [0, 4 * width * narrow]}}).encode()
    with open(os.path.join(path, "2_Dense", "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.write(struct.pack(f"<{width * narrow}f", *(rng.uniform(-1, 1) for _ in range(width * narrow))))


def assemble_sentence(folder, name):
    """The files of a case of tests/data/sentence and the encoder's in one directory of the folder."""
    directory = os.path.join(folder, name)
    shutil.copytree(os.path.join(data, "sentence", name), directory)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not os.path.exists(os.path.join(directory, file)):  # an encoder of the case's own
            shutil.copy(os.path.join(model, file), directory)
    return directory


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def clformer(*arguments, **more):
    return run(program, *arguments, **more)


def used_device():
    """What `devices` tells of the device that the commands use: the first that CLF_DEVICE may mean, else the default."""
    wanted = os.environ.get("CLF_DEVICE", "").lower()
    for device in json.loads(clformer("devices", "--json").stdout)["devices"]:
        words = [device[key].lower() for key in ("type", "name", "platform")]
        if str(device["index"]) == wanted or wanted and any(wanted in word for word in words) or not wanted and device["default"]:
            return device
    return None


def expect(name, done, status, *parts):
    if done.returncode != status:
        fail(f"{name}: status {done.returncode}, expected {status}: {done.stderr[-600:]}")
    for part in parts:
        if part not in done.stderr + done.stdout:
            fail(f'{name}: "{part}" is not in {done.stdout[-600:]}{done.stderr[-600:]}')


def ending(call, **more):
    """The variables for a process that dies at its call "name:number" as by kill -9 (kill_shim.c)."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return {"LD_PRELOAD": os.environ["CLF_TEST_KILL_SHIM"], "ASAN_OPTIONS": sanitizer, "CLF_TEST_KILL": call,
            **{f"CLF_TEST_KILL_{name.upper()}": str(value) for name, value in more.items()}}


def run_ending(call, *command, **more):
    return run(*command, env={**os.environ, **ending(call, **more)})
