#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures bench_encoder, ONNX Runtime's fused graph and OpenVINO (float32) alternately on relatives of BERT.

usage: compare_families.py [xlm-roberta] [mpnet] [roberta] [--bench build/bench/bench_encoder] [--cases 1x128,32x128] [--rounds 5]
                           [--runs 3] [--threads 2] [--size base|large] [--layers N] [--turns] [-o result.json]

The networks have base size (12 layers of width 768) or large size (24 of 1,024: bge-m3 is an XLM-R of that size) and random weights.
`transformers` makes them here with a small vocabulary, which changes no side's time. bench_encoder is verified against float64 before it is
timed; the peers' mean of the last hidden states is compared with PyTorch's. In each round each side runs for about a second and at least
--runs times, in alternating order, after one run that is not counted (none with --runs 1). A ratio is the peer's median time divided by
ours. With --turns a round waits for a line of standard input, so that another program decides when, and prints its times.
Needs numpy, onnx, onnxruntime, openvino, safetensors, torch and transformers."""
import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import openvino
import torch
import transformers
from safetensors.numpy import load_file

from compare_encoder import bench_encoder, spread
from encoder_graph import encoder_graph, relative_bias
from ort_minilm import sample, summary
from sides import take_processors

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "data", "families")
KINDS = {"xlm-roberta": (transformers.XLMRobertaConfig, transformers.XLMRobertaModel),
         "roberta": (transformers.RobertaConfig, transformers.RobertaModel),
         "mpnet": (transformers.MPNetConfig, transformers.MPNetModel)}
SIZES = {"base": (12, 768, 12, 3072), "large": (24, 1024, 16, 4096)}  # layers, width, heads, hidden features of a feed-forward
VOCABULARY = 4000


def make_model(kind, options, directory):
    """Writes a model directory as users download it; returns the PyTorch model."""
    torch.manual_seed(1)
    make_config, make = KINDS[kind]
    layers, width, heads, hidden = SIZES[options.size]
    positions = max(514, 2 + max(int(case.split("x")[1]) for case in options.cases.split(",")))
    config = make_config(vocab_size=VOCABULARY, num_hidden_layers=options.layers or layers, hidden_size=width, num_attention_heads=heads,
                         intermediate_size=hidden, max_position_embeddings=positions, type_vocab_size=1, layer_norm_eps=1e-5)
    model = make(config, add_pooling_layer=False).eval()
    for name, parameter in model.named_parameters():  # initial biases are 0
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.02)
    model.save_pretrained(directory)
    shutil.copy(os.path.join(DATA, kind, "tokenizer.json"), directory)
    return model


class Peer:
    """Makes the network's inputs for ONNX Runtime and OpenVINO."""

    def __init__(self, directory):
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = load_file(os.path.join(directory, "model.safetensors"))

    def inputs(self, ids):
        batch, tokens = ids.shape
        feed = {"ids": ids.astype(np.int32), "pool": np.full((batch, 1, tokens), 1 / tokens, np.float32)}
        table = self.weights.get("encoder.relative_attention_bias.weight")
        if table is not None:
            feed["bias"] = relative_bias(table, tokens).astype(np.float32)
        return feed


class Runtime(Peer):
    def __init__(self, directory, threads):
        super().__init__(directory)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(encoder_graph(self.config, self.weights, normalised=False), options,
                                                    providers=["CPUExecutionProvider"])

    def prepare(self, ids):
        feed = self.inputs(ids)
        return lambda: self.session.run(None, feed)[0]


class Vino(Peer):
    def __init__(self, directory, threads):
        super().__init__(directory)
        core = openvino.Core()
        model = core.read_model(encoder_graph(self.config, self.weights, normalised=False, fused=False))
        self.model = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
                                                       "PERFORMANCE_HINT": "LATENCY"})

    def prepare(self, ids):
        request, feed = self.model.create_infer_request(), self.inputs(ids)
        return lambda: request.infer(feed)[0]


def compare(options, kind, directory, sides, model):
    cases = []
    for case in options.cases.split(","):
        batch, tokens = map(int, case.split("x"))
        ids = np.random.default_rng(1).integers(5, VOCABULARY, (batch, tokens))
        with torch.no_grad():
            want = model(input_ids=torch.tensor(ids),
                         attention_mask=torch.ones(batch, tokens, dtype=torch.int64)).last_hidden_state.mean(1).numpy()
        runs = {name: side.prepare(ids) for name, side in sides.items()}
        for name, run in runs.items():
            error = float(np.abs(run() - want).max() / np.abs(want).max())
            if not error < 1e-4:
                sys.exit(f"{kind}: {name} differs from PyTorch by {error:.3g}")
        with bench_encoder(options, "--batch", str(batch), "--tokens", str(tokens), "--runs", str(options.runs)) as ours:
            jobs = {"ours": lambda: ours.turn()["median_ms"]}
            for name, run in runs.items():
                jobs[name] = lambda run=run: summary(sample(run, 1.0, options.runs, int(options.runs > 1)))["median_ms"]
            times = {name: [] for name in jobs}
            for index in range(options.rounds):
                if options.turns:
                    print(f"{kind} {case}: ready", flush=True)
                    sys.stdin.readline()
                for name in (list(jobs) if index % 2 == 0 else list(reversed(jobs))):
                    times[name].append(jobs[name]())
                    time.sleep(0.1)  # threads of one side stop spinning
                if options.turns:
                    print(f"{kind} {case}: " + ", ".join(f"{name} {all_times[-1]:.2f} ms" for name, all_times in times.items()), flush=True)
        ratios = {name: spread([theirs / mine for mine, theirs in zip(times["ours"], times[name])]) for name in sides}
        cases.append({"family": kind, "batch": batch, "tokens": tokens, "ratios": ratios, "ms": times})
        print(f"{kind} {batch:>3} x {tokens:<4} ours {statistics.median(times['ours']):9.2f} ms" + "".join(
            f"   {name} {statistics.median(times[name]):9.2f} ms {r['median']:5.2f} x ({r['min']:.2f} to {r['max']:.2f})"
            for name, r in ratios.items()), flush=True)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kinds", nargs="*", default=["xlm-roberta", "mpnet"])
    parser.add_argument("--bench",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bench", "bench_encoder"))
    parser.add_argument("--cases", default="1x128,32x128")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--turns", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--layers", type=int, default=0)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    if set(options.kinds) - set(KINDS):
        parser.error(f"expected some of {', '.join(KINDS)}")
    torch.set_num_threads(options.threads)
    cases = []
    for kind in options.kinds:
        with tempfile.TemporaryDirectory() as directory:
            options.model = directory
            model = make_model(kind, options, directory)
            sides = {"ONNX Runtime": Runtime(directory, options.threads), "OpenVINO": Vino(directory, options.threads)}
            cases += compare(options, kind, directory, sides, model)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"threads": options.threads, "rounds": options.rounds, "cases": cases}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
