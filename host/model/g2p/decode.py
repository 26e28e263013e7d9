# SPDX-License-Identifier: MIT
"""Greedy and beam decoding (uncached: the whole prefix anew at each step), error rates, reading and writing the model."""

import json
import os

import torch
from safetensors import safe_open
from safetensors.torch import save_file

from lexicon import BOS, EOS, PAD
from model import EncoderDecoder, causal_mask, padding_mask


def save_model(path, state, config):
    """float16 tensors under the model's own names; the configuration as JSON text in the metadata."""
    tensors = {name: tensor.detach().to(torch.float16).contiguous() for name, tensor in state.items()}
    save_file(tensors, path, metadata={'format': 'pt', 'config': json.dumps(config)})
    os.chmod(path, 0o644)


def load_model(path, dtype=torch.float32):
    """The stored (float16-rounded) weights in `dtype`, and the configuration."""
    with safe_open(path, framework='pt') as file:
        config = json.loads(file.metadata()['config'])
        state = {name: file.get_tensor(name).to(dtype) for name in file.keys()}
    model = EncoderDecoder(config).to(dtype)
    model.load_state_dict(state)
    return model.eval(), config


def source_batch(words, config):
    """Letters and the end token, padded at the right: [S, B]."""
    index = {token: i for i, token in enumerate(config['source_tokens'])}
    batch = torch.full((max(map(len, words)) + 1, len(words)), PAD)
    for column, word in enumerate(words):
        batch[:len(word) + 1, column] = torch.tensor([index[letter] for letter in word] + [EOS])
    return batch


def typed(mask, dtype):
    return None if mask is None else mask.to(dtype)


@torch.no_grad()
def next_log_probabilities(model, memory, src_mask, prefix):
    dtype = memory.dtype
    features = model.decode(memory, src_mask, prefix, typed(causal_mask(prefix.shape[0]), dtype))[-1]
    return model.generator(features).log_softmax(-1)


@torch.no_grad()
def greedy(model, config, words, dtype=torch.float32):
    """Per word: (target ids without <s>, with </s> if it was reached; log-probability of each; gap to the second)."""
    src = source_batch(words, config)
    src_mask = typed(padding_mask(src, PAD), dtype)
    memory = model.encode(src, src_mask)
    prefix = torch.full((1, len(words)), BOS)
    results = [([], [], []) for _ in words]
    open_ = torch.ones(len(words), dtype=torch.bool)
    for _ in range(config['max_target_length'] - 1):
        log_p = next_log_probabilities(model, memory, src_mask, prefix)
        values, tokens = log_p.topk(2, -1)
        for i in open_.nonzero()[:, 0].tolist():
            results[i][0].append(int(tokens[i, 0]))
            results[i][1].append(float(values[i, 0]))
            results[i][2].append(float(values[i, 0] - values[i, 1]))
        prefix = torch.cat([prefix, torch.where(open_, tokens[:, 0], torch.tensor(PAD))[None]])
        open_ &= tokens[:, 0] != EOS
        if not open_.any():
            break
    return results


@torch.no_grad()
def beam(model, config, word, width, dtype=torch.float32):
    """Finished hypotheses [(score, target ids with </s>)], best first; score = sum of log-probabilities, no length term.

    Each step extends every open hypothesis by every token and keeps the best `width` of all; those that end leave the
    beam for the finished ones.  It stops when no open hypothesis can beat the worst of `width` finished ones.
    """
    src = source_batch([word], config)
    memory = model.encode(src, None)
    live, finished = [(0.0, [])], []
    for _ in range(config['max_target_length'] - 1):
        prefix = torch.tensor([[BOS] + ids for _, ids in live]).t()
        log_p = next_log_probabilities(model, memory.expand(-1, len(live), -1), None, prefix)
        scores = log_p + torch.tensor([score for score, _ in live], dtype=dtype)[:, None]
        best, flat = scores.flatten().topk(width)
        extended = [(float(score), live[int(i) // log_p.shape[1]][1] + [int(i) % log_p.shape[1]])
                    for score, i in zip(best, flat)]
        finished += [h for h in extended if h[1][-1] == EOS]
        live = [h for h in extended if h[1][-1] != EOS]
        finished = sorted(finished, key=lambda h: -h[0])[:width]
        if not live or len(finished) == width and live[0][0] <= finished[-1][0]:
            break
    return finished


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def spell(ids, config):
    return tuple(config['target_tokens'][i] for i in ids if i > EOS)


def error_rates(predictions, words):
    """(PER, WER) against the closest listed pronunciation of each word: edits / phonemes, wrong words / words."""
    edits = length = wrong = 0
    for word, predicted in predictions.items():
        distance, size = min((edit_distance(predicted, reference), len(reference)) for reference in words[word])
        edits, length, wrong = edits + distance, length + size, wrong + (distance > 0)
    return edits / length, wrong / len(predictions)


def evaluate(model, config, words, subset, each=map, batch=256):
    """Greedy predictions for the words of `subset` ({word: phonemes}) and their error rates; `each` may be a pool's map."""
    ordered = sorted(subset, key=len)
    parts = [ordered[start:start + batch] for start in range(0, len(ordered), batch)]
    predictions = {}
    for part, results in zip(parts, each(lambda part: greedy(model, config, part), parts)):
        predictions.update((word, spell(ids, config)) for word, (ids, _, _) in zip(part, results))
    return predictions, error_rates(predictions, words)


def stress_free(predictions, words):
    """The same without the stress digits."""
    def bare(phones):
        return tuple(phone.rstrip('01') for phone in phones)

    return error_rates({w: bare(p) for w, p in predictions.items()},
                       {w: [bare(v) for v in words[w]] for w in predictions})
