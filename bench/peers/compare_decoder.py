#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_decoder against the same model in PyTorch, alternating in one process tree: ratios that survive a noisy machine.

usage: compare_decoder.py WORDS [--bench build/bench/bench_decoder] [--model host/model/g2p] [--rounds 3] [--threads 2] [--batch 512]
                          [--words 10000] [-o result.json]

There are two peers, both batched, in order of length, without gradients, in float32. `whole` runs the decoder over the whole prefix at each
step (as the annotated implementation does) and stops when every word of the batch has ended. `cached` keeps keys and values of earlier
tokens and of the memory, as a careful PyTorch user would write it. Both sides' phonemes are compared before anything is timed. A round's
ratio is our words/s divided by the peer's."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch

from sides import take_processors

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'host', 'model', 'g2p'))
import decode  # noqa: E402
from lexicon import BOS, EOS, PAD  # noqa: E402
from model import padding_mask  # noqa: E402


class Cache:
    """Greedy decoding of one batch with keys and values kept: one new token per word and step."""

    def __init__(self, model, memory, src_mask):
        self.model, self.src_mask = model, src_mask
        self.source = [(layer.src_attn.split(layer.src_attn.key(memory)), layer.src_attn.split(layer.src_attn.value(memory)))
                       for layer in model.decoder.layers]
        self.past = [None] * len(self.source)

    @staticmethod
    def mix(attention, q, k, v, mask):
        x = torch.nn.functional.scaled_dot_product_attention(attention.split(attention.query(q)), k, v, attn_mask=mask)
        return attention.output(x.permute(2, 0, 1, 3).reshape(q.shape))

    def step(self, tokens, position):
        embed = self.model.tgt_embed
        x = embed.linear(tokens)[None] * embed.scale + embed.positions[position].float()
        for i, layer in enumerate(self.model.decoder.layers):
            z = layer.norm_self_attn(x)
            k, v = layer.self_attn.split(layer.self_attn.key(z)), layer.self_attn.split(layer.self_attn.value(z))
            if self.past[i] is not None:
                k, v = torch.cat([self.past[i][0], k], 2), torch.cat([self.past[i][1], v], 2)
            self.past[i] = (k, v)
            x = x + self.mix(layer.self_attn, z, k, v, None)
            x = x + self.mix(layer.src_attn, layer.norm_src_attn(x), *self.source[i], self.src_mask)
            x = x + layer.feed_forward(layer.norm_ff(x))
        return self.model.generator(self.model.decoder.norm(x))[0]


def greedy_cached(model, config, words):
    src = decode.source_batch(words, config)
    src_mask = decode.typed(padding_mask(src, PAD), torch.float32)
    cache = Cache(model, model.encode(src, src_mask), src_mask)
    tokens, open_, rows = torch.full((len(words),), BOS), torch.ones(len(words), dtype=torch.bool), []
    for position in range(config['max_target_length'] - 1):
        tokens = torch.where(open_, cache.step(tokens, position).argmax(-1), torch.tensor(PAD))
        rows.append(tokens)
        open_ &= tokens != EOS
        if not open_.any():
            break
    return torch.stack(rows, 1).tolist()


def greedy_whole(model, config, words):
    return [ids for ids, *_ in decode.greedy(model, config, words)]


@torch.no_grad()
def run_peer(function, model, config, words, batch):
    ordered, result = sorted(words, key=len), {}
    start = time.perf_counter()
    for first in range(0, len(ordered), batch):
        part = ordered[first:first + batch]
        for word, ids in zip(part, function(model, config, part)):
            result[word] = ' '.join(decode.spell(ids, config))
    return len(words) / (time.perf_counter() - start), result


def run_ours(options, words_file, output=None):
    command = [options.bench, '--file', words_file, '--json']
    command += ['--output', output] if output else []
    done = subprocess.run(command, env=options.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def compare(name, ours, theirs):
    different = [word for word in ours if ours[word] != theirs[word]]
    if len(different) > len(ours) / 1000:  # two phonemes may be equally probable within rounding
        sys.exit(f'wrong: {len(different)} of {len(ours)} words differ from peer {name}, for example {different[:3]}')
    return len(different)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('words_file')
    parser.add_argument('--bench', default=os.path.join(ROOT, 'build', 'bench', 'bench_decoder'))
    parser.add_argument('--model', default=os.path.join(ROOT, 'host', 'model', 'g2p'))
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--threads', type=int, default=2)
    parser.add_argument('--batch', type=int, default=512)
    parser.add_argument('--words', type=int, default=10000)
    parser.add_argument('-o', '--output')
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    torch.set_num_threads(options.threads)
    model, config = decode.load_model(os.path.join(options.model, 'model.safetensors'))
    with open(options.words_file, encoding='utf-8') as file:
        words = list(dict.fromkeys(line.strip() for line in file if line.strip()))[:options.words]
    record = {'words': len(words), 'threads': options.threads, 'batch': options.batch, 'rounds': options.rounds, 'torch': torch.__version__}
    peers = {'whole': greedy_whole, 'cached': greedy_cached}
    with tempfile.TemporaryDirectory() as work:
        words_file, output = os.path.join(work, 'words.txt'), os.path.join(work, 'ours.tsv')
        with open(words_file, 'w', encoding='utf-8') as file:
            file.write('\n'.join(words) + '\n')
        run_ours(options, words_file, output)
        with open(output, encoding='utf-8') as file:
            phonemes = dict(line.rstrip('\n').split('\t') for line in file)
        sample = words[:1000]
        for name, function in peers.items():
            _, theirs = run_peer(function, model, config, sample, options.batch)
            record[f'{name}_differs'] = compare(name, {word: phonemes[word] for word in sample}, theirs)
        for name, function in peers.items():
            rows = []
            for index in range(options.rounds):
                if index % 2:
                    theirs, mine = run_peer(function, model, config, words, options.batch)[0], \
                        run_ours(options, words_file)['words_per_second']
                else:
                    mine, theirs = run_ours(options, words_file)['words_per_second'], \
                        run_peer(function, model, config, words, options.batch)[0]
                rows.append((mine, theirs))
            ratios = [mine / theirs for mine, theirs in rows]
            record[name] = {'ratio': statistics.median(ratios), 'ratios': ratios, 'ours_words_per_second': [mine for mine, _ in rows],
                            'peer_words_per_second': [theirs for _, theirs in rows]}
            print(f'{name:<7} ours {statistics.median(m for m, _ in rows):8.1f} words/s   '
                  f'peer {statistics.median(t for _, t in rows):8.1f} words/s   '
                  f'{record[name]["ratio"]:5.2f} x  ({min(ratios):.2f} to {max(ratios):.2f})', flush=True)
    if options.output:
        with open(options.output, 'w', encoding='utf-8') as file:
            json.dump(record, file, indent=1)
            file.write('\n')


if __name__ == '__main__':
    main()
