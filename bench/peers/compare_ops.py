#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Einsum, masked softmax, norms and multi-head attention against PyTorch, alternating workload by workload.

usage: compare_ops.py [--bench build/bench/bench_op] [--filter TEXT] [--all] [--rounds 5] [--threads 2] [--torch cpu]

Each round runs bench_op on one workload of its list, on the engine that the library chooses; bench_op verifies it against float64. Then it
runs the same work in torch, as a user of torch writes it: torch.einsum, masked_fill and softmax, layer_norm of a sum. A round's ratio is
torch's median time divided by ours of the same round. Prints the median ratio over rounds, the least and the most. --all: the whole list,
not the quick one. --torch cuda: torch on a GPU, in float32 without TF32; each time ends with a wait for the GPU after a chain of calls.
Ours runs on CLF_DEVICE."""
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
OPS = ('einsum', 'masked_softmax', 'layer_norm', 'rms_norm', 'multi_head_attention')
SAMPLES = 9


def run(command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def measure_ours(options, workload):
    lines = run([options.bench, '--json', '--engine', 'default', '--rounds', '3', '--filter', workload] + options.list, options.environment)
    records = [json.loads(line) for line in lines.splitlines()]
    return next(record for record in records if record['workload'] == workload)


def uniform(*shape):
    return torch.rand(*shape) * 2 - 1


def einsum(work):
    operands = [uniform(*map(int, shape.split('x'))) for shape in work['shapes'].split(',')]
    return lambda: torch.einsum(work['equation'], *operands).contiguous()


def softmax(work):
    batch, keys = work['batch'], work['keys']
    axis = work.get('axis', 2)
    x = uniform(*((batch, work['queries'], keys) if axis == 2 else (batch, keys, work['queries']))) * 8
    if work['mask'] == 'none':
        return lambda: torch.softmax(x, axis)
    lengths = torch.tensor([keys - keys * b // (2 * batch) for b in range(batch)])
    masked = (torch.arange(keys) >= lengths[:, None]).unsqueeze(3 - axis)
    return lambda: x.masked_fill(masked, -torch.inf).softmax(axis)


def norm(work):
    columns = work['columns']
    x, residual, gamma, beta = uniform(work['rows'], columns), uniform(work['rows'], columns), uniform(columns), uniform(columns)
    def apply():
        s = x + residual if work['residual'] else x
        if work['op'] == 'rms_norm':
            return torch.nn.functional.rms_norm(s, (columns,), gamma, work['eps'])
        return torch.nn.functional.layer_norm(s, (columns,), gamma, beta, work['eps'])
    return apply


def multi_head_attention(work):
    """torch's own layer. It takes one mask of floats for each head and batch row, which its attention adds to the scores."""
    length, batch, heads = work['length'], work['batch'], work['heads']
    layer, x = torch.nn.MultiheadAttention(work['width'], heads), uniform(length, batch, work['width'])
    if work['mask'] == 'none':
        return lambda: layer(x, x, x, need_weights=False)
    keep = (torch.rand(length, length, batch) < 0.75) | torch.eye(length, dtype=torch.bool).unsqueeze(2)
    masked = (~keep).permute(2, 0, 1).repeat_interleave(heads, dim=0)
    added = torch.zeros(masked.shape).masked_fill_(masked, -torch.inf)
    return lambda: layer(x, x, x, attn_mask=added, need_weights=False)


def measure_torch(call, chain, device):
    """Median time of `chain` calls in ms."""
    wait = torch.cuda.synchronize if device.type == 'cuda' else lambda: None
    times = []
    with torch.inference_mode():
        call()
        wait()
        for _ in range(SAMPLES):
            start = time.perf_counter()
            for _ in range(chain):
                call()
            wait()
            times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--bench', default=os.path.join(ROOT, 'build', 'bench', 'bench_op'))
    parser.add_argument('--filter', default='')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--torch', metavar='DEVICE', type=torch.device, default='cpu')
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    options.list = [] if options.all else ['--quick']
    torch.set_num_threads(options.threads)
    torch.set_float32_matmul_precision('highest')
    names = run([options.bench, '--list'] + options.list, options.environment).splitlines()
    print(f"{'workload':<64} {'ours':>10} {'torch':>10}   torch / ours")
    for name in (n for n in names if n.split('/')[0] in OPS and options.filter in n):
        call, rounds = None, []
        for _ in range(options.rounds):
            record = measure_ours(options, name)
            work = record['work']
            with options.torch:  # for the operands only: as the default device it would slow down every call
                call = call or {'einsum': einsum, 'softmax': softmax, 'layer_norm': norm, 'rms_norm': norm,
                                'multi_head_attention': multi_head_attention}[work['op']](work)
            rounds.append((record['median_ms'], measure_torch(call, work['chain'], options.torch)))
        ratios = [theirs / ours for ours, theirs in rounds]
        ours, theirs = (statistics.median(column) for column in zip(*rounds))
        print(f"{name:<64} {ours:7.3f} ms {theirs:7.3f} ms   {statistics.median(ratios):5.2f} x  ({min(ratios):.2f} to {max(ratios):.2f})",
              flush=True)


if __name__ == '__main__':
    main()
