#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ONNX Runtime's fastest MiniLM, as a peer for bench_encoder: a fused graph from the same weights, checked, then timed.

usage: ort_minilm.py MODEL_DIR --batch B --tokens T [--threads 2] [--seconds 1] [--json]
       ort_minilm.py MODEL_DIR --file F [--order sorted|unsorted] [--batch 32] [--threads 2] [--json]

The first form times B sequences of T tokens without padding. The second embeds a file (one text per line, or .jsonl) the way
sentence-transformers does: batches of B texts in order of length (or as they come), padded to the longest of the batch, tokenizing included.
Before anything is timed the graph is checked against tests/data/embeddings/golden.npy, a float64 forward pass.

The graph uses ONNX Runtime's own fused operators (com.microsoft EmbedLayerNormalization, Attention, SkipLayerNormalization, BiasGelu).
Needs numpy, onnx, onnxruntime, tokenizers and safetensors from PyPI."""
import argparse
import json
import os
import sys
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "data", "embeddings")
FUSED = "com.microsoft"


def build_graph(directory, masked):
    """BERT encoder, mean pooling and L2 normalisation. Inputs ids [B,T] int32 and pool [B,1,T] (1/length at valid tokens, 0 at padding);
    masked: also lengths [B] int32, keys from there on are ignored. Output embeddings [B,C]."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    weights = load_file(os.path.join(directory, "model.safetensors"))
    epsilon = config["layer_norm_eps"]
    nodes, initializers = [], []

    def constant(name, array):
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype=np.float32), name))
        return name

    def weight(name):
        return constant(name, weights[name])

    def node(kind, inputs, output, domain="", **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    nodes.append(helper.make_node(
        "EmbedLayerNormalization",
        ["ids", "types", weight("embeddings.word_embeddings.weight"), weight("embeddings.position_embeddings.weight"),
         weight("embeddings.token_type_embeddings.weight"), weight("embeddings.LayerNorm.weight"), weight("embeddings.LayerNorm.bias")],
        ["x", "unused_mask_index"], domain=FUSED, epsilon=epsilon))
    x = "x"
    for index in range(config["num_hidden_layers"]):
        base = f"encoder.layer.{index}."
        attention = base + "attention.self."
        qkv = np.concatenate([weights[attention + part + ".weight"].T for part in ("query", "key", "value")], axis=1)
        bias = np.concatenate([weights[attention + part + ".bias"] for part in ("query", "key", "value")])
        inputs = [x, constant(base + "qkv", qkv), constant(base + "qkv_bias", bias)] + (["lengths"] if masked else [])
        context = node("Attention", inputs, base + "context", FUSED, num_heads=config["num_attention_heads"])

        def dense(value, name):
            return node("MatMul", [value, constant(name + ".transposed", weights[name + ".weight"].T)], name + ".out")

        def add_norm(value, skip, dense_name, norm):
            return node("SkipLayerNormalization",
                        [value, skip, weight(norm + ".weight"), weight(norm + ".bias"), weight(dense_name + ".bias")],
                        norm + ".out", FUSED, epsilon=epsilon)

        name = base + "attention.output."
        x = add_norm(dense(context, name + "dense"), x, name + "dense", name + "LayerNorm")
        name = base + "intermediate.dense"
        hidden = node("BiasGelu", [dense(x, name), weight(name + ".bias")], base + "hidden", FUSED)
        name = base + "output."
        x = add_norm(dense(hidden, name + "dense"), x, name + "dense", name + "LayerNorm")
    initializers.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"))
    pooled = node("Squeeze", [node("MatMul", ["pool", x], "pooled"), "axis"], "squeezed")
    node("LpNormalization", [pooled], "embeddings", axis=-1, p=2)

    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT32, ["B", "T"]),
              helper.make_tensor_value_info("types", TensorProto.INT32, ["B", "T"]),
              helper.make_tensor_value_info("pool", TensorProto.FLOAT, ["B", 1, "T"])]
    if masked:
        inputs.append(helper.make_tensor_value_info("lengths", TensorProto.INT32, ["B"]))
    outputs = [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["B", config["hidden_size"]])]
    graph = helper.make_graph(nodes, "encoder", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)])
    model.ir_version = 8
    return model.SerializeToString()


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
        """Largest difference from the float64 golden embeddings; exits when it is not rounding."""
        with open(os.path.join(DATA, "ids.json"), encoding="utf-8") as file:
            rows = json.load(file)
        golden = np.load(os.path.join(DATA, "golden.npy"))
        chosen = np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int)
        error = 0.0
        for first in range(0, len(chosen), 10):
            part = chosen[first:first + 10]
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


def sample(function, seconds, at_least=10):
    """Milliseconds of repeated calls, two warm-up calls dropped."""
    function()
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
