#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""\
Golden attention weights of all-MiniLM-L6-v2 for tests/cli/test_attention.py: softmax(q k^T / sqrt(d)) of two heads of layer 3, in float64.

usage: make_golden.py MODEL_DIR        writes golden.json beside this file; needs what ../embeddings/make_golden.py needs"""
import json
import os
import sys

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf, softmax
from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "embeddings"))
from make_golden import layer_norm, linear  # noqa: E402

TEXT, LAYER, HEADS, HEAD_COUNT = "The cat sat on the mat", 3, (0, 11), 12


def weights_of_layer(weights, ids):
    """Layers below LAYER, then its projections of queries and keys."""
    x = (weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][: len(ids)]
         + weights["embeddings.token_type_embeddings.weight"][0])
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    for index in range(LAYER + 1):
        base = f"encoder.layer.{index}."
        q, k, v = (linear(x, weights, base + "attention.self." + part).reshape(len(ids), HEAD_COUNT, -1).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        p = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), axis=-1)
        context = (p @ v).transpose(1, 0, 2).reshape(x.shape)
        x = layer_norm(x + linear(context, weights, base + "attention.output.dense"), weights, base + "attention.output.LayerNorm")
        hidden = linear(x, weights, base + "intermediate.dense")
        x = layer_norm(x + linear(hidden * (1 + erf(hidden / np.sqrt(2))) / 2, weights, base + "output.dense"), weights,
                       base + "output.LayerNorm")
    return p


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    weights = {name: tensor.astype(np.float64) for name, tensor in load_file(os.path.join(sys.argv[1], "model.safetensors")).items()
               if tensor.dtype.kind == "f"}
    tokenizer = Tokenizer.from_file(os.path.join(sys.argv[1], "tokenizer.json"))
    tokenizer.no_padding()
    encoding = tokenizer.encode(TEXT)
    p = weights_of_layer(weights, np.array(encoding.ids))[list(HEADS)]
    golden = {"text": TEXT, "layer": LAYER, "heads": HEADS, "tokens": encoding.tokens, "weights": np.round(p, 10).tolist()}
    with open(os.path.join(HERE, "golden.json"), "w", encoding="ascii") as file:
        file.write(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
