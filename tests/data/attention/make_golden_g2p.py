#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden attention weights of the built-in encoder-decoder for tests/cli/test_attention.py, in float64 with PyTorch: writes golden_g2p.json
beside this file. Queries and keys are caught where each attention of host/model/g2p/model.py receives its inputs."""
import json
import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..", "host", "model", "g2p")
sys.path.insert(0, ROOT)
import decode  # noqa: E402
from lexicon import BOS, EOS  # noqa: E402
from model import causal_mask  # noqa: E402

WORD, HEADS = "photograph", (0, 3)


def catch(module, sink):
    """The weights of every call of a MultiHeadAttention, [heads, queries, keys]."""
    def before(attention, inputs):
        query, key, _, mask = inputs
        q, k = attention.split(attention.query(query)), attention.split(attention.key(key))
        scores = q @ k.transpose(-2, -1) / math.sqrt(attention.d_k)
        sink.append((scores if mask is None else scores + mask).softmax(-1)[0])

    module.register_forward_pre_hook(before)


@torch.no_grad()
def main():
    model, config = decode.load_model(os.path.join(ROOT, "model.safetensors"), torch.float64)
    ids, _, _ = decode.greedy(model, config, [WORD], torch.float64)[0]
    target = torch.tensor([BOS] + [i for i in ids if i != EOS])[:, None]
    parts = {("self", 3): model.encoder.layers[3].self_attn, ("decoder", 0): model.decoder.layers[0].self_attn,
             ("cross", 1): model.decoder.layers[1].src_attn}
    caught = {}
    for key, module in parts.items():
        caught[key] = []
        catch(module, caught[key])
    memory = model.encode(decode.source_batch([WORD], config), None)
    model.decode(memory, None, target, causal_mask(len(target)).double())
    phonemes = [config["target_tokens"][i] for i in target[1:, 0].tolist()]
    letters = list(WORD) + ["</s>"]
    labels = {"self": (letters, letters), "decoder": (["<s>"] + phonemes, ["<s>"] + phonemes), "cross": (phonemes + ["</s>"], letters)}
    golden = [{"word": WORD, "kind": kind, "layer": layer, "heads": HEADS, "queries": labels[kind][0], "keys": labels[kind][1],
               "weights": [[[round(v, 9) for v in row] for row in caught[kind, layer][0][h].tolist()] for h in HEADS]}
              for kind, layer in parts]
    with open(os.path.join(HERE, "golden_g2p.json"), "w", encoding="ascii") as file:
        file.write("[" + ",\n".join(json.dumps(entry) for entry in golden) + "]\n")


if __name__ == "__main__":
    main()
