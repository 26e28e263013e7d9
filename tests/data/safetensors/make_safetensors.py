#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden .safetensors files beside this script with the safetensors package itself.

Element i of a tensor is i % 2 for booleans, i for unsigned types, i - 3 for the others (exact in every type).
Usage: python3 make_safetensors.py  (safetensors 0.8, torch 2.x)
"""
import json
import pathlib

import torch
from safetensors.torch import save_file

here = pathlib.Path(__file__).parent
types = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U64": torch.uint64, "U32": torch.uint32, "U16": torch.uint16, "U8": torch.uint8, "BOOL": torch.bool,
    "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "C64": torch.complex64,
}


def numbers(name, *shape):
    i = torch.arange(int(torch.tensor(shape).prod()) if shape else 1).reshape(shape)
    values = i % 2 if name == "BOOL" else i if name.startswith("U") else i - 3
    return values.to(types[name])


save_file({f"tensor.{name}": numbers(name, 2, 3) for name in types}, here / "types.safetensors", {"format": "pt"})
save_file({"scalar": numbers("F32"), "empty": numbers("F32", 0, 4), "also.empty": numbers("I64", 3, 0), "row": numbers("F32", 5),
           "\u00fcber \"quoted\" \u4e2d": numbers("U8", 3)}, here / "shapes.safetensors")
save_file({}, here / "nothing.safetensors")

shards = here / "sharded"
shards.mkdir(exist_ok=True)
places = {"a.weight": ("F32", (2, 2), 1), "b.weight": ("F16", (3,), 2), "c.weight": ("F32", (1, 4), 1)}
for number in (1, 2):
    save_file({k: numbers(t, *s) for k, (t, s, n) in places.items() if n == number},
              shards / f"model-{number:05d}-of-00002.safetensors", {"format": "pt"})
index = {"metadata": {"total_size": 38}, "weight_map": {k: f"model-{n:05d}-of-00002.safetensors" for k, (_, _, n) in places.items()}}
(shards / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
