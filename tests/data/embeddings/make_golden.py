#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden sentence embeddings of all-MiniLM-L6-v2: texts, token ids and float64 results, for tests/model.

usage: make_golden.py MODEL_DIR        writes texts.jsonl, ids.json, golden.npy and attention.npy beside this file

texts.jsonl  300 JSON strings of 2 to more than 512 tokens, put together from sentences.txt (works published before 1930, and one
             plain sentence in Thai) with numbers, dates, code, emoji and odd spacing; the same for every run
ids.json     their ids by the `tokenizers` package, [CLS] and [SEP] included, cut to 512 tokens
golden.npy   float32 [300,384]: BERT's forward pass in float64, mean over tokens, L2-normalised, rounded once at the end
attention.npy float32 [6,12,9,9]: each layer's attention weights [head, query, key] of ATTENTION_IDS, from the same pass

Needs numpy, scipy, safetensors and tokenizers. Each text is computed alone, so nothing here can depend on batching or padding."""
import json
import math
import os
import random
import sys

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf
from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
COUNT, MAX_TOKENS = 300, 512
ATTENTION_IDS = [101, 1037, 2158, 2003, 5983, 2833, 1012, 2182, 102]  # "a man is eating food. here"

FIXED = [
    "", "a", "The", "unaffable", "!", "42", "3.14159", "naïve café", "ÅNGSTRÖM", "don't", "🙂", "👩‍👩‍👧‍👦 family", "ß", "ﬁ ligature",
    "zero\u200bwidth", "tab\tand\nnewline", "   spaces   everywhere   ", "ALL CAPS SHOUTING", "http://example.org/a?b=c&d=%20#e",
    "me@example.org", "C++ & C#", "for (int i = 0; i < n; i++) sum += x[i];", "SELECT name FROM users WHERE id = 7;",
    "{\"key\": [1, 2, 3], \"flag\": true}", "2026-11-21T03:14:15Z", "$1,234.56 or €99,-", "1/2 + 1/3 = 5/6", "x² + y² = r²", "...",
    "— “quoted” —", "[MASK] is a token", "a" * 150, "Donaudampfschifffahrtsgesellschaft", "supercalifragilisticexpialidocious", "null",
    "\u0000", "日本語", "中文字符", "한국어", "русский текст", "ελληνικά", "עברית", "العربية", "हिन्दी",
    "A man is eating food.", "Someone is having a meal.", "The girl carries a baby.", "A woman holds her infant.",
    "Stock prices fell sharply today.", "The market lost value this morning.",
]


def make_texts(tokenizer):
    """FIXED, then random strings whose lengths are spread evenly over the logarithm of 1 to 600 tokens, some at the limit exactly."""
    rng = random.Random(20)
    with open(os.path.join(HERE, "sentences.txt"), encoding="utf-8") as file:
        sentences = file.read().splitlines()
    words = [word for sentence in sentences for word in sentence.split()]
    english = sentences[:20]

    def piece():
        kind = rng.random()
        if kind < 0.45:
            return rng.choice(english)
        if kind < 0.65:
            return rng.choice(sentences)
        if kind < 0.80:
            return " ".join(rng.choice(words) for _ in range(rng.randint(1, 8)))
        if kind < 0.90:
            return str(rng.randint(0, 10 ** rng.randint(1, 9))) + rng.choice(["", "%", " km", " °C", "th"])
        if kind < 0.95:
            return "%04d-%02d-%02d" % (rng.randint(1600, 2100), rng.randint(1, 12), rng.randint(1, 28))
        return rng.choice(FIXED[:30])

    def tokens(text):
        return len(tokenizer.encode(text).ids)

    texts = list(FIXED)
    while len(texts) < COUNT:
        step = len(texts) - len(FIXED)
        target = MAX_TOKENS + step % 3 - 1 if step % 25 == 0 else round(math.exp(rng.uniform(math.log(3), math.log(600))))
        text = piece()
        while tokens(text) < target:
            text += rng.choice([" ", " ", " ", "\n", "  ", ", "]) + piece()
        while tokens(text) > target and len(text) > 1:  # cut to the wanted length, a word or a character at a time
            cut = text.rfind(" ")
            shorter = text[:cut] if cut > 0 else text[:-1]
            text = shorter if tokens(shorter) >= target or cut <= 0 else text[:-1]
        texts.append(text)
    return texts


def layer_norm(x, weights, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-12) * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    return x @ weights[name + ".weight"].T + weights[name + ".bias"]


def embed(weights, ids, layers=6, heads=12, attention=None):
    """BERT (Devlin et al. 2018), post-norm, exact GELU; mean over all tokens, then x / |x|. attention: a list that gets each layer's
    weights [heads, length, length]."""
    x = (weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][: len(ids)]
         + weights["embeddings.token_type_embeddings.weight"][0])
    x = layer_norm(x, weights, "embeddings.LayerNorm")
    length, width = x.shape
    for index in range(layers):
        base = f"encoder.layer.{index}."
        q, k, v = (linear(x, weights, base + "attention.self." + part).reshape(length, heads, width // heads).transpose(1, 0, 2)
                   for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(width // heads)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        if attention is not None:
            attention.append(scores)
        context = scores @ v
        context = context.transpose(1, 0, 2).reshape(length, width)
        x = layer_norm(x + linear(context, weights, base + "attention.output.dense"), weights, base + "attention.output.LayerNorm")
        hidden = linear(x, weights, base + "intermediate.dense")
        hidden = 0.5 * hidden * (1 + erf(hidden / np.sqrt(2)))
        x = layer_norm(x + linear(hidden, weights, base + "output.dense"), weights, base + "output.LayerNorm")
    mean = x.mean(0)
    return mean / np.sqrt((mean ** 2).sum())


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = sys.argv[1]
    weights = {name: tensor.astype(np.float64) for name, tensor in load_file(os.path.join(model, "model.safetensors")).items()
               if tensor.dtype.kind == "f"}
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = make_texts(tokenizer)
    tokenizer.enable_truncation(MAX_TOKENS)
    ids = [tokenizer.encode(text).ids for text in texts]
    golden = np.stack([embed(weights, np.array(row)) for row in ids]).astype(np.float32)

    with open(os.path.join(HERE, "texts.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    with open(os.path.join(HERE, "ids.json"), "w", encoding="utf-8") as file:
        file.write("[" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in ids) + "]\n")
    np.save(os.path.join(HERE, "golden.npy"), golden)
    attention = []
    embed(weights, np.array(ATTENTION_IDS), attention=attention)
    np.save(os.path.join(HERE, "attention.npy"), np.stack(attention).astype(np.float32))
    lengths = [len(row) for row in ids]
    print(f"{len(texts)} texts, {min(lengths)} to {max(lengths)} tokens, {sum(lengths)} together, {lengths.count(MAX_TOKENS)} at the limit")


if __name__ == "__main__":
    main()
