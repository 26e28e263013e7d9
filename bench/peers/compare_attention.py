#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Causal attention against PyTorch and oneDNN, alternating in one process tree.

usage: compare_attention.py [--bench build/bench/onednn_attention] [--heads 8] [--length 2048] [--size 64] [--rounds 5] [--threads 2]

Each round runs the C program, which measures ours and oneDNN's primitives and compares their results. Then it runs torch's
scaled_dot_product_attention(is_causal=True), or, before PyTorch 2, its products and softmax. A round's ratio is the peer's median time
divided by ours of the same round. oneDNN computes every score (`whole`), or omits most scores that the mask excludes (`blocks`). The last
two lines show the ratio to the better of PyTorch and `whole`, and to the best of all three."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import torch

from sides import take_processors

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def run_ours(options):
    command = [options.bench, '--heads', str(options.heads), '--length', str(options.length), '--size', str(options.size)]
    done = subprocess.run(command, env=options.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def attention_of_torch(length, size):
    """PyTorch's fused call, or before PyTorch 2 its products and softmax."""
    fused = getattr(torch.nn.functional, 'scaled_dot_product_attention', None)
    if fused:
        return lambda q, k, v: fused(q, k, v, is_causal=True)
    mask = torch.full((length, length), float('-inf')).triu(1)
    return lambda q, k, v: torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / size ** 0.5 + mask, -1).matmul(v)


def check_torch(attention, operands):
    """Checks the first head of causal attention against the formula in float64."""
    q, k, v = (x[0, 0].double() for x in operands)
    scores = (q @ k.T / q.shape[1] ** 0.5).masked_fill(torch.ones(len(q), len(k), dtype=torch.bool).triu(1), float('-inf'))
    error = (torch.softmax(scores, -1) @ v - attention(*operands)[0, 0]).abs().max().item()
    if not error <= 1e-5:
        sys.exit(f"PyTorch's numbers differ by {error:g}")


def run_torch(attention, operands):
    times = []
    for _ in range(9):
        start = time.perf_counter()
        attention(*operands)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--bench', default=os.path.join(ROOT, 'build', 'bench', 'onednn_attention'))
    for name, standard in (('heads', 8), ('length', 2048), ('size', 64), ('rounds', 5), ('threads', 2)):
        parser.add_argument(f'--{name}', type=int, default=standard)
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    torch.set_num_threads(options.threads)
    operands = [torch.rand(1, options.heads, options.length, options.size) * 2 - 1 for _ in range(3)]
    attention = attention_of_torch(options.length, options.size)
    check_torch(attention, operands)
    rounds = []
    for _ in range(options.rounds):
        record = run_ours(options)
        record['torch_ms'] = run_torch(attention, operands)
        rounds.append(record)
        time.sleep(0.1)
    peers = ('torch_ms', 'onednn_whole_ms', 'onednn_blocks_ms')
    print(f"PyTorch {torch.__version__}; ours {statistics.median(r['ours_ms'] for r in rounds):.2f} ms")
    for peer in peers:
        ratios = [r[peer] / r['ours_ms'] for r in rounds]
        print(f"{peer[:-3]:<14} {statistics.median(r[peer] for r in rounds):8.2f} ms   {statistics.median(ratios):5.2f} x  "
              f"({min(ratios):.2f} to {max(ratios):.2f})")
    for name, among in (('better of both', peers[:2]), ('and of blocks', peers)):
        best = [min(r[peer] for peer in among) / r['ours_ms'] for r in rounds]
        print(f"{name:<14} {'':8}      {statistics.median(best):5.2f} x  ({min(best):.2f} to {max(best):.2f})")


if __name__ == '__main__':
    main()
