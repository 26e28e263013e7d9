#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes blocks.gguf: random blocks of every weight type with the numbers that the gguf package reads from them, and numbers with the blocks
that it writes. usage: make_blocks.py (needs numpy and gguf)"""
import pathlib

import gguf
import numpy

ROWS, COLUMNS = 2, 512
HALVES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2],
          "Q6_K": [208]}  # where scales lie

random = numpy.random.default_rng(20)
writer = gguf.GGUFWriter(pathlib.Path(__file__).parent / "blocks.gguf", "clformer-test")
writer.add_array("test.integers", [-1, 0, 7])
writer.add_array("test.strings", ["", "a", "ä€"])
writer.add_float64("test.float64", 0.1)
writer.add_float32("test.float32", 0.1)
writer.add_int8("test.int8", -5)
writer.add_uint64("test.uint64", 2**63)
writer.add_bool("test.bool", True)
writer.add_string("test.string", "two\nlines")
for name, scales in HALVES.items():
    kind = gguf.GGMLQuantizationType[name]
    weights, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (ROWS, COLUMNS // weights, size), dtype=numpy.uint8)
    for at in scales:  # random bits would make infinities
        half = random.normal(0, 0.05, blocks.shape[:2]).astype(numpy.float16)
        blocks[:, :, at:at + 2] = half[..., None].view(numpy.uint8)
    blocks = blocks.reshape(ROWS, -1)
    writer.add_tensor(name.lower(), blocks, raw_dtype=kind)
    writer.add_tensor(name.lower() + ".numbers", gguf.quants.dequantize(blocks, kind).astype(numpy.float32))
numbers = random.normal(0, 1, (ROWS, COLUMNS)).astype(numpy.float32)
numbers[0, :32] = 0
numbers[1, 32:64] *= 1e-6
writer.add_tensor("numbers", numbers)
writer.add_tensor("f16", numbers.astype(numpy.float16))
for name in ("BF16", "Q8_0", "Q4_0"):
    kind = gguf.GGMLQuantizationType[name]
    writer.add_tensor("numbers." + name.lower(), gguf.quants.quantize(numbers, kind), raw_dtype=kind)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
