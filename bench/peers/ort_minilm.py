#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX Runtime's fastest MiniLM, as a peer for bench_encoder: a fused graph from the same weights, checked, then timed.

usage: ort_minilm.py MODEL_DIR --batch B --tokens T [--threads 2] [--seconds 1] [--json]
       ort_minilm.py MODEL_DIR --file F [--order sorted|unsorted] [--batch 32] [--threads 2] [--json]

The first form times B sequences of T tokens without padding. The second embeds a file (one text per line, or .jsonl) as
sentence-transformers does, tokenizing included: in batches of B texts in order of length (or unsorted), padded to the longest text of the
batch. Before anything is timed, the graph is checked against tests/data/embeddings/golden.npy, a float64 forward pass.

The graph uses ONNX Runtime's own fused operators (encoder_graph.py).
Needs numpy, onnx, onnxruntime, tokenizers and safetensors from PyPI."""
import argparse
import json
import os
import sys
import time

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from encoder_graph import encoder_graph

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "data", "embeddings")


def build_graph(directory, masked):
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    return encoder_graph(config, load_file(os.path.join(directory, "model.safetensors")), masked)


class Peer:
    """One model on ONNX Runtime's CPU provider with a fixed number of threads."""

    def __init__(self, directory, threads=2):
        self.directory, self.threads, self.sessions = directory, threads, {}
        self.tokenizer = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
        self.tokenizer.no_padding()
        with open(os.path.join(directory, "sentence_bert_config.json"), encoding="utf-8") as file:
            self.tokenizer.enable_truncation(json.load(file)["max_seq_length"])

    def session(self, masked):
        if masked not in self.sessions:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = self.threads
            options.inter_op_num_threads = 1
            self.sessions[masked] = onnxruntime.InferenceSession(build_graph(self.directory, masked), options,
                                                                 providers=["CPUExecutionProvider"])
        return self.sessions[masked]

    def run(self, rows):
        """Embeddings of id lists of any lengths, as one padded batch; a batch of equal lengths needs no mask and gets none."""
        lengths = np.array([len(row) for row in rows], dtype=np.int32)
        longest = int(lengths.max())
        ids = np.zeros((len(rows), longest), dtype=np.int32)
        pool = np.zeros((len(rows), 1, longest), dtype=np.float32)
        for index, row in enumerate(rows):
            ids[index, :len(row)] = row
            pool[index, 0, :len(row)] = 1 / len(row)
        feed = {"ids": ids, "types": np.zeros_like(ids), "pool": pool}
        masked = bool((lengths != longest).any())
        if masked:
            feed["lengths"] = lengths
        return self.session(masked).run(None, feed)[0]

    def embed(self, texts, batch, order="sorted"):
        """Embeddings of texts and the time spent on tokenizing them, in seconds."""
        start = time.perf_counter()
        rows = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        tokenized = time.perf_counter() - start
        places = range(len(rows))
        if order == "sorted":  # sentence-transformers: longest first
            places = sorted(places, key=lambda place: -len(rows[place]))
        out = np.empty((len(rows), 384), dtype=np.float32)
        for first in range(0, len(rows), batch):
            chosen = list(places[first:first + batch])
            out[chosen] = self.run([rows[place] for place in chosen])
        return out, tokenized

    def check(self, count=300):
        """Largest difference from the float64 golden embeddings, in padded batches, and with one text of each batch alone, which needs no
        mask. Exits if the difference is larger than rounding."""
        with open(os.path.join(DATA, "ids.json"), encoding="utf-8") as file:
            rows = json.load(file)
        golden = np.load(os.path.join(DATA, "golden.npy"))
        chosen = np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)
        error = 0.0
        for first in range(0, len(chosen), 10):
            for part in chosen[first:first + 10], chosen[first:first + 1]:
                error = max(error, float(np.abs(self.run([rows[place] for place in part]) - golden[part]).max()))
        if not error <= 2e-6:
            sys.exit(f"the peer's embeddings are wrong: {error:.3g} from the float64 reference")
        return error


def random_rows(batch, tokens, seed=1):
    """Ids of ordinary words between [CLS] and [SEP]."""
    rng = np.random.default_rng(seed)
    return [[101] + rng.integers(1000, 30000, max(tokens - 2, 0)).tolist() + [102] for _ in range(batch)]


def read_texts(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    lines = lines[:-1] if lines and not lines[-1] else lines
    if not path.endswith(".jsonl"):
        return lines
    values = [json.loads(line) for line in lines if line.strip()]
    return [value if isinstance(value, str) else value["text"] for value in values]


def sample(function, seconds, at_least=10, warm_up=2):
    """Milliseconds of repeated calls, without the warm-up calls."""
    for _ in range(warm_up):
        function()
    samples, stop = [], time.perf_counter() + seconds
    while time.perf_counter() < stop or len(samples) < at_least:
        start = time.perf_counter()
        function()
        samples.append((time.perf_counter() - start) * 1e3)
    return samples


def summary(samples):
    p10, median, p90 = np.percentile(samples, [10, 50, 90])
    return {"median_ms": median, "p10_ms": p10, "p90_ms": p90, "samples_ms": samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--file")
    parser.add_argument("--order", choices=["sorted", "unsorted"], default="sorted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if (options.tokens is None) == (options.file is None):
        parser.error("give either --tokens or --file")
    peer = Peer(options.model, options.threads)
    result = {"peer": "onnxruntime " + onnxruntime.__version__, "onnx": onnx.__version__, "threads": options.threads,
              "batch": options.batch, "max_error": peer.check(30)}
    if options.file:
        texts = read_texts(options.file)
        peer.embed(texts[:options.batch], options.batch, options.order)
        start = time.perf_counter()
        _, tokenized = peer.embed(texts, options.batch, options.order)
        seconds = time.perf_counter() - start
        result.update({"order": options.order, "texts": len(texts), "seconds": seconds, "tokenize_seconds": tokenized,
                       "texts_per_second": len(texts) / seconds})
    else:
        rows = random_rows(options.batch, options.tokens)
        result.update({"tokens": options.tokens}, **summary(sample(lambda: peer.run(rows), options.seconds)))
        result["texts_per_second"] = options.batch / result["median_ms"] * 1e3
    if options.json:
        print(json.dumps(result))
        return
    for key, value in result.items():
        if key != "samples_ms":
            print(f"{key:>18}  {value:.4g}" if isinstance(value, float) else f"{key:>18}  {value}")


if __name__ == "__main__":
    main()
