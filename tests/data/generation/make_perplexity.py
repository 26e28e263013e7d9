#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The perplexity of a real model on 2,048 tokens, in float64: perplexity.json beside this file.

usage: make_perplexity.py MODEL.gguf PROGRAM    (SmolLM2-135M-Instruct.Q4_1.gguf, build/clformer for the token ids; needs gguf, numpy)

The text is the beginning of TEXTS, one behind the other. Its tokens are one window: all but the first are predicted. Weights are the
numbers that the file's blocks stand for (d * q + m, exact in float32 there). Everything after that is float64: Llama's layers with RMS
norms, rotary pairs (2i, 2i + 1) as the file's rows have them, grouped-query attention, SwiGLU, and a tied head."""
import hashlib
import json
import os
import subprocess
import sys

import gguf
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ("embeddings/sentences.txt", "tokenizer/LICENSE.vocab.txt")
TOKENS = 2048


def read_text():
    text = b""
    for name in TEXTS:
        with open(os.path.join(HERE, "..", name), "rb") as file:
            text += file.read()
    return text


def tokenize(program, model, text):
    return json.loads(subprocess.run([program, "tokenize", model, text], capture_output=True, check=True, text=True).stdout)


def cut(program, model, text):
    """The longest beginning that ends with a line and has at most TOKENS tokens, and its ids."""
    lines, low, high = text.decode().splitlines(keepends=True), 0, None
    high = len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if len(tokenize(program, model, "".join(lines[:middle]))) <= TOKENS:
            low = middle
        else:
            high = middle - 1
    text = "".join(lines[:low])
    return text.encode(), tokenize(program, model, text)


class Model:
    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.values = {key: field.contents() for key, field in reader.fields.items() if key.startswith("llama.")}
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}

    def weight(self, name):
        tensor = self.tensors[name + ".weight"]
        return gguf.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float64).reshape(tuple(reversed(tensor.shape.tolist())))

    def norm(self, x, name):
        eps = float(self.values["llama.attention.layer_norm_rms_epsilon"])
        return x / numpy.sqrt((x * x).mean(-1, keepdims=True) + eps) * self.weight(name)

    def turn(self, x):
        """x [tokens, heads, size]."""
        size = x.shape[2]
        angles = numpy.arange(len(x))[:, None] * float(self.values["llama.rope.freq_base"]) ** (-numpy.arange(0, size, 2) / size)
        cos, sin = numpy.cos(angles)[:, None], numpy.sin(angles)[:, None]
        even, odd, out = x[..., 0::2], x[..., 1::2], numpy.empty_like(x)
        out[..., 0::2], out[..., 1::2] = even * cos - odd * sin, even * sin + odd * cos
        return out

    def attention(self, x, layer):
        heads, key_heads = int(self.values["llama.attention.head_count"]), int(self.values["llama.attention.head_count_kv"])
        q, k, v = ((x @ self.weight(f"blk.{layer}.attn_{part}").T).reshape(len(x), count, -1)
                   for part, count in (("q", heads), ("k", key_heads), ("v", key_heads)))
        q, k = self.turn(q), self.turn(k)
        later, out = numpy.triu(numpy.ones((len(x), len(x)), bool), 1), numpy.empty_like(q)
        for head in range(heads):
            shared = head * key_heads // heads
            scores = q[:, head] @ k[:, shared].T / numpy.sqrt(q.shape[2])
            scores[later] = -numpy.inf
            scores = numpy.exp(scores - scores.max(-1, keepdims=True))
            out[:, head] = scores / scores.sum(-1, keepdims=True) @ v[:, shared]
        return out.reshape(len(x), -1) @ self.weight(f"blk.{layer}.attn_output").T

    def logits(self, ids):
        table = self.weight("token_embd")
        x = table[ids]
        for layer in range(int(self.values["llama.block_count"])):
            x = x + self.attention(self.norm(x, f"blk.{layer}.attn_norm"), layer)
            y = self.norm(x, f"blk.{layer}.ffn_norm")
            gate = y @ self.weight(f"blk.{layer}.ffn_gate").T
            x = x + (gate / (1 + numpy.exp(-gate)) * (y @ self.weight(f"blk.{layer}.ffn_up").T)) @ self.weight(f"blk.{layer}.ffn_down").T
        return self.norm(x, "output_norm") @ table.T


def main(model, program):
    text, ids = cut(program, model, read_text())
    rows = Model(model).logits(ids)[:-1]
    largest = rows.max(-1)
    surprises = largest + numpy.log(numpy.exp(rows - largest[:, None]).sum(-1)) - rows[numpy.arange(len(rows)), ids[1:]]
    with open(model, "rb") as file:
        known = hashlib.sha256(file.read()).hexdigest()
    told = {"model": os.path.basename(model), "model_sha256": known, "texts": TEXTS, "bytes": len(text),
            "text_sha256": hashlib.sha256(text).hexdigest(), "tokens": len(ids), "perplexity": float(numpy.exp(surprises.mean()))}
    with open(os.path.join(HERE, "perplexity.json"), "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1)
        file.write("\n")
    print(told)


if __name__ == "__main__":
    main(*sys.argv[1:])
