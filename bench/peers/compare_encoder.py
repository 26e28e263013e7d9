#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_encoder against ONNX Runtime or PyTorch, alternating in one process tree: ratios that survive a noisy machine.

usage: compare_encoder.py MODEL_DIR [--bench build/bench/bench_encoder] [--cases 1x16,1x128,8x128,32x128] [--file F]
                          [--torch DEVICE] [--rounds 7] [--threads 2] [-o result.json]

The peer is ONNX Runtime on the CPU, or with --torch cuda (or cpu) transformers' model in PyTorch on that device; ours runs on CLF_DEVICE.

In each round both sides run for about a second each, in alternating order. A round's ratio is the peer's median time divided by ours, so
above 1 means that ours is faster. Prints the median ratio over the rounds, its range, and both sides' medians. --file compares texts/s on a
real text; the peer takes batches of 32, in order of length and unsorted. Both sides are checked before they are timed."""
import argparse
import json
import os
import statistics
import time

from ort_minilm import Peer, random_rows, read_texts, sample, summary
from sides import Ours, alternate, take_processors

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def bench_encoder(options, *arguments):
    """A running bench_encoder."""
    return Ours([options.bench, options.model, *arguments, "--json", "--turns"], options.environment)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "all": values}


def compare_case(options, peer, batch, tokens):
    rows = random_rows(batch, tokens)
    with bench_encoder(options, "--batch", str(batch), "--tokens", str(tokens)) as ours:
        results = alternate(options.rounds, ours.turn, lambda: summary(sample(lambda: peer.run(rows), 1.0, 3)))
    ratio = spread([theirs["median_ms"] / mine["median_ms"] for mine, theirs in results])
    case = {"batch": batch, "tokens": tokens, "ratio": ratio, "engine": results[0][0].get("engine"), "device": results[0][0].get("device"),
            "ours_ms": spread([mine["median_ms"] for mine, _ in results]),
            "peer_ms": spread([theirs["median_ms"] for _, theirs in results])}
    print(f"{batch:>3} x {tokens:<4} ours {case['ours_ms']['median']:9.2f} ms   peer {case['peer_ms']['median']:9.2f} ms   "
          f"{ratio['median']:5.2f} x  ({ratio['min']:.2f} to {ratio['max']:.2f})", flush=True)
    return case


def compare_file(options, peer):
    texts = read_texts(options.file)

    def theirs(order):
        start = time.perf_counter()
        peer.embed(texts, 32, order)
        return len(texts) / (time.perf_counter() - start)

    cases = []
    for order in ("sorted", "unsorted"):
        with bench_encoder(options, "--file", options.file) as ours:
            results = alternate(min(options.rounds, 3), lambda: ours.turn()["texts_per_second"], lambda: theirs(order))
        ratio = spread([mine / other for mine, other in results])
        cases.append({"file": os.path.basename(options.file), "texts": len(texts), "peer_order": order, "ratio": ratio,
                      "ours_texts_per_second": spread([mine for mine, _ in results]),
                      "peer_texts_per_second": spread([other for _, other in results])})
        print(f"{len(texts)} texts  ours {cases[-1]['ours_texts_per_second']['median']:7.1f}/s   "
              f"peer, {order} {cases[-1]['peer_texts_per_second']['median']:7.1f}/s   {ratio['median']:5.2f} x  "
              f"({ratio['min']:.2f} to {ratio['max']:.2f})", flush=True)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model")
    parser.add_argument("--bench", default=os.path.join(ROOT, "build", "bench", "bench_encoder"))
    parser.add_argument("--cases", default="1x16,1x128,8x128,32x128")
    parser.add_argument("--file")
    parser.add_argument("--torch", metavar="DEVICE")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    if options.torch:
        import torch_encoder  # needs packages that ONNX Runtime's peer does not
        peer = torch_encoder.Peer(options.model, options.threads, options.torch)
    else:
        peer = Peer(options.model, options.threads)
    record = {"peer": f"torch, {options.torch}" if options.torch else "onnxruntime", "peer_max_error": peer.check(30),
              "threads": options.threads, "rounds": options.rounds, "cases": []}
    for case in filter(None, options.cases.split(",")):
        batch, tokens = map(int, case.split("x"))
        record["cases"].append(compare_case(options, peer, batch, tokens))
    if options.file:
        record["cases"] += compare_file(options, peer)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(record, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
