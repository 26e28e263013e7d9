#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_generate against llama.cpp (Python package llama-cpp-python), alternating: ratios that survive a noisy machine.

usage: compare_generate.py MODEL.gguf [--bench build/bench/bench_generate] [--prompt-tokens 128] [--tokens 64]
                           [--batch 1] [--precision highest] [--cache f32] [--rounds 3] [--threads 2] [--processor-time]
                           [-o result.json]

Both continue the same token ids greedily through their own interfaces; the peer uses llama_decode with passes of up to 512 tokens. It keeps
keys and values as f16; ours are f32 unless --cache says otherwise. Logits after the prompt are compared before anything is timed, and the
difference is printed. llama.cpp rounds activations to int8 if weights are quantised, so only a gross difference (more than 3, of logits up
to about 30) is an error.
--processor-time: one thread each, and the CPU time of each process instead of the wall clock, because a busy machine changes it less. It
does not show how threads share the work and the memory's bandwidth."""
import argparse
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time

import llama_cpp
import numpy

from sides import Ours, alternate, take_processors

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
GROSS = 3.0


def prompt_ids(count, vocabulary):
    """The same pseudo-random ids as bench_generate makes."""
    state, ids = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        ids.append((state >> 8) % vocabulary)
    return ids


class Peer:
    def __init__(self, options):
        self.batch, self.tokens = options.batch, options.tokens
        self.clock = time.process_time if options.processor_time else time.perf_counter
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(options.model.encode(), llama_cpp.llama_model_default_params())
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx = (options.prompt_tokens + options.tokens + 256) * options.batch
        parameters.n_batch, parameters.n_ubatch, parameters.n_seq_max = max(2048, options.prompt_tokens), 512, options.batch
        parameters.n_threads = parameters.n_threads_batch = options.threads
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)
        if not self.model or not self.context:
            sys.exit(f'{options.model}: llama.cpp cannot load it')
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.ids = prompt_ids(options.prompt_tokens, self.vocabulary)

    def give(self, tokens, position, sequences):
        """Decodes tokens[i] at `position` of sequences[i]; with one sequence, all tokens in it from `position` on. Returns the logits after
        the last token of each sequence."""
        batch = llama_cpp.llama_batch_init(len(tokens), 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.n_seq_id[i] = token, 1
            batch.pos[i] = position if len(sequences) > 1 else position + i
            batch.seq_id[i][0] = sequences[i] if len(sequences) > 1 else sequences[0]
            batch.logits[i] = len(sequences) > 1 or i == len(tokens) - 1
        status = llama_cpp.llama_decode(self.context, batch)
        llama_cpp.llama_batch_free(batch)
        if status:
            sys.exit(f'llama_decode: status {status}')
        rows = [i for i in range(len(tokens)) if len(sequences) > 1 or i == len(tokens) - 1]
        return [numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, i), (self.vocabulary,)) for i in rows]

    def run(self):
        """Decodes prompts and continuations; returns the tokens per second of each."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        sequences, following = list(range(self.batch)), []
        start = self.clock()
        for sequence in sequences:
            following.append(int(self.give(self.ids, 0, [sequence])[0].argmax()))
        middle = self.clock()
        for step in range(self.tokens):
            rows = self.give(following, len(self.ids) + step, sequences)
            following = [int(row.argmax()) for row in rows]
        end = self.clock()
        return self.batch * len(self.ids) / (middle - start), self.batch * self.tokens / (end - middle)

    def logits(self):
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        return self.give(self.ids, 0, [0])[0].copy()


def bench_generate(options, logits):
    """A running bench_generate, which has written the logits after the prompt to that file."""
    command = [options.bench, options.model, '--prompt-tokens', str(options.prompt_tokens), '--tokens', str(options.tokens), '--batch',
               str(options.batch), '--precision', options.precision, '--cache', options.cache, '--rounds', '1', '--logits', logits,
               '--json', '--turns'] + (['--processor-time'] if options.processor_time else [])
    return Ours(command, options.environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('model')
    parser.add_argument('--bench', default=os.path.join(ROOT, 'build', 'bench', 'bench_generate'))
    parser.add_argument('--prompt-tokens', type=int, default=128)
    parser.add_argument('--tokens', type=int, default=64)
    parser.add_argument('--batch', type=int, default=1)
    parser.add_argument('--precision', choices=('highest', 'high', 'medium'), default='highest')
    parser.add_argument('--cache', choices=('f32', 'f16', 'q8_0'), default='f32')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--processor-time', action='store_true')
    parser.add_argument('-o', '--output')
    options = parser.parse_args()
    if options.processor_time:
        options.threads = 1
    options.environment = take_processors(options.threads)
    silent = llama_cpp.llama_log_callback(lambda *_: None)
    llama_cpp.llama_log_set(silent, ctypes.c_void_p(0))
    peer = Peer(options)
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, 'logits')
        bench = bench_generate(options, path)
        error = float(numpy.abs(numpy.fromfile(path, numpy.float32) - peer.logits()).max())
    if not error <= GROSS:
        sys.exit(f'wrong: logits differ by {error}')
    peer.run()
    rows = []
    for ours, theirs in alternate(options.rounds, bench.turn, peer.run):
        rows.append({'prefill': [ours['prefill_tokens_per_s'], theirs[0]], 'decode': [ours['decode_tokens_per_s'], theirs[1]],
                     'share_of_limit': ours['share_of_limit']})
    record = {'model': os.path.basename(options.model), 'prompt_tokens': options.prompt_tokens, 'tokens': options.tokens,
              'batch': options.batch, 'precision': options.precision, 'cache': options.cache, 'threads': options.threads,
              'processor_time': options.processor_time,
              'peer': f'llama-cpp-python {llama_cpp.__version__}', 'logits_differ_by': error, 'rounds': rows}
    for what in ('prefill', 'decode'):
        ratios = [row[what][0] / row[what][1] for row in rows]
        record[f'{what}_ratio'] = statistics.median(ratios)
        print(f'{what:<8} ours {statistics.median(row[what][0] for row in rows):8.1f} tokens/s   '
              f'llama.cpp {statistics.median(row[what][1] for row in rows):8.1f}   '
              f'{record[f"{what}_ratio"]:5.2f} x  ({min(ratios):.2f} to {max(ratios):.2f})', flush=True)
    print(f'logits differ by {error:.2g} at most; '
          f'decode reaches {statistics.median(row["share_of_limit"] for row in rows):.2f} of the limit by bandwidth')
    if options.output:
        with open(options.output, 'w', encoding='utf-8') as file:
            json.dump(record, file, indent=1)
            file.write('\n')


if __name__ == '__main__':
    main()
