# SPDX-License-Identifier: MIT
"""Golden data of the stored model, computed in float64 from its float16 weights, for tests of other implementations.

golden.json        greedy results of held-out words, n-best lists of a beam search, bookkeeping for golden.safetensors
golden.safetensors per word `w`: `w.memory` [S, d], `w.features` [T, d], `w.logits` [T, V], float32 (rounded from float64);
                   the decoder is fed <s> and the greedy phonemes, so row t predicts greedy token t
"""

import json
import os

import torch
from safetensors.torch import save_file

import decode
import lexicon
from lexicon import BOS, EOS
from model import causal_mask

GREEDY_WORDS, BEAM_WORDS, BEAM_WIDTH = 200, 24, 4
# Below this gap of log-probabilities between two choices, rounding alone can decide between them.
MARGIN = 1e-3


def choose(words):
    """Held-out words spread evenly over the alphabet, and the longest one."""
    test = sorted(w for w in words if lexicon.split_of(w) == 'test')
    chosen = test[::len(test) // GREEDY_WORDS][:GREEDY_WORDS - 1]
    longest = max(test, key=len)
    return chosen + [longest] * (longest not in chosen)


def greedy_entries(model, config, words):
    entries = []
    for word in words:
        ids, log_p, gaps = decode.greedy(model, config, [word], torch.float64)[0]
        if min(gaps) < MARGIN:
            continue
        entries.append({'word': word, 'source_ids': decode.source_batch([word], config)[:, 0].tolist(),
                        'target_ids': ids, 'phonemes': ' '.join(decode.spell(ids, config)),
                        'log_probabilities': [round(p, 9) for p in log_p], 'log_probability': round(sum(log_p), 9),
                        'smallest_gap': round(min(gaps), 6)})
    return entries


def beam_entries(model, config, words):
    entries = []
    for word in words:
        hypotheses = decode.beam(model, config, word, BEAM_WIDTH, torch.float64)
        entries.append({'word': word, 'hypotheses': [
            {'score': round(score, 9), 'phonemes': ' '.join(decode.spell(ids, config))} for score, ids in hypotheses]})
    return entries


@torch.no_grad()
def intermediate(model, config, entries):
    tensors = {}
    for entry in entries:
        word = entry['word']
        target = torch.tensor([BOS] + [i for i in entry['target_ids'] if i != EOS])[:, None]
        memory = model.encode(decode.source_batch([word], config), None)
        features = model.decode(memory, None, target, causal_mask(len(target)).double())
        for name, tensor in [('memory', memory), ('features', features), ('logits', model.generator(features))]:
            tensors[f'{word}.{name}'] = tensor[:, 0].float().contiguous()
    return tensors


def write(directory, path, words):
    model, config = decode.load_model(path, torch.float64)
    entries = greedy_entries(model, config, choose(words))
    short, long_ = min(entries, key=lambda e: len(e['word'])), max(entries, key=lambda e: len(e['word']))
    with_tensors = [short, next(e for e in entries if len(e['word']) == 8), long_]
    os.makedirs(directory, exist_ok=True)
    tensors = os.path.join(directory, 'golden.safetensors')
    save_file(intermediate(model, config, with_tensors), tensors)
    os.chmod(tensors, 0o644)
    beams = beam_entries(model, config, [e['word'] for e in entries[::len(entries) // BEAM_WORDS]])
    with open(os.path.join(directory, 'golden.json'), 'w') as file:
        file.write('{"tensor_words": %s,\n"greedy": [\n%s],\n"beam_width": %d,\n"beam": [\n%s]}\n' % (
            json.dumps([e['word'] for e in with_tensors]), ',\n'.join(map(json.dumps, entries)),
            BEAM_WIDTH, ',\n'.join(map(json.dumps, beams))))
