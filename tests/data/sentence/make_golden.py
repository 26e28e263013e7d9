#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny sentence-transformers directories with modules of every kind, and what sentence-transformers computes with them in float64.

Usage: make_golden.py     (needs torch, transformers, tokenizers, sentence-transformers; writes beside itself)

The encoder is the tiny DistilBERT of ../families; each case is a folder of what stands beside it (modules.json, the modules' folders,
config_sentence_transformers.json) and a golden.json of calls and their embeddings, and what quantize_embeddings
makes of those."""
import json
import os
import shutil
import sys
import tempfile

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as parts
from sentence_transformers.util import quantize_embeddings

HERE = os.path.dirname(os.path.abspath(__file__))
ENCODER = os.path.join(HERE, "..", "families", "distilbert")
WIDTH = 24
TEXTS = ["a", "the cat sat", "zebra quick", "on the mat the cat sat and sat", "dog, dog!"]
PROMPTS = {"query": "the dog: ", "passage": "a cat, "}
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def dense(inputs, outputs, **options):
    return parts.Dense(inputs, outputs, **options)


CASES = {
    "several": lambda: [parts.Pooling(WIDTH, MODES)],
    "weighted": lambda: [parts.Pooling(WIDTH, "weightedmean"), parts.Normalize()],
    "last": lambda: [parts.Pooling(WIDTH, "lasttoken"), parts.Normalize()],
    "dense": lambda: [parts.Pooling(WIDTH, ("cls", "mean")), dense(2 * WIDTH, 17), dense(17, 17, activation_function=torch.nn.GELU(), use_residual=True),
                      parts.LayerNorm(17), dense(17, 9, bias=False, activation_function=torch.nn.Identity()), parts.Normalize()],
}
QUANTIZED = ("dense", "last")
RANGES = torch.tensor([[-0.25], [0.5]])  # exact in every type
CALLS = [{}, {"prompt_name": "passage"}, {"prompt": "dog! "}, {"truncate_dim": 5, "normalize_embeddings": True}]


def randomise(module, generator):
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = ((1.0 if "norm.weight" in name else 0.0) + 0.3 * noise).half().float()


def make(name, build):
    directory = os.path.join(HERE, name)
    shutil.rmtree(directory, ignore_errors=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    added = build()
    for module in added:
        randomise(module, generator)
    with tempfile.TemporaryDirectory() as folder:
        for file in ("config.json", "model.safetensors", "tokenizer.json"):
            shutil.copy(os.path.join(ENCODER, file), folder)
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "pad_token": "<pad>"}, file)
        encoder = parts.Transformer(folder)
    model = SentenceTransformer(modules=[encoder, *added], device="cpu", prompts=PROMPTS, default_prompt_name="query")
    model.save(directory)
    model = model.double().eval()
    calls = []
    for call in CALLS:
        rows = model.encode(TEXTS, batch_size=len(TEXTS), convert_to_tensor=True, **call)
        assert rows.dtype == torch.float64, rows.dtype
        calls.append({**call, "embeddings": [[round(value, 10) for value in row] for row in rows.tolist()]})
    rows = model.encode(TEXTS, batch_size=len(TEXTS), convert_to_tensor=True).float().numpy()
    ranges = RANGES.repeat(1, rows.shape[1]).numpy()
    quantized = [{"kind": kind, "rows": quantize_embeddings(rows, kind).tolist()} for kind in ("int8", "uint8", "binary", "ubinary")]
    quantized.append({"kind": "uint8", "ranges": ranges.tolist(), "rows": quantize_embeddings(rows, "uint8", ranges=ranges).tolist()})
    keep = {"modules.json", "config_sentence_transformers.json"}
    for entry in os.listdir(directory):
        path = os.path.join(directory, entry)
        if os.path.isdir(path):
            continue
        if entry not in keep:
            os.remove(path)
    for entry in os.listdir(directory):
        path = os.path.join(directory, entry)
        if os.path.isdir(path) and not os.listdir(path):
            os.rmdir(path)
    with open(os.path.join(directory, "golden.json"), "w", encoding="utf-8") as file:
        json.dump({"texts": TEXTS, "calls": calls, "quantized": quantized if name in QUANTIZED else []}, file)
        file.write("\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or CASES:
        make(name, CASES[name])
