#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bart/, marian/, marian_separate/ and huggingface.safetensors: BartForConditionalGeneration and MarianMTModel with random float32
weights, as save_pretrained writes them, and what they compute in float64.

Each directory d has d.source and d.target (i32 [N,S] and [N,T]), and d.memory, d.features ([N,L,C]) and d.logits ([N,T,V]) in float64. The
padding mask `padding` (u8 [N,S], 0 = padded) applies to the sources and a causal mask to the targets. bart_scaled has bart's weights with
scale_embedding true. marian_separate has a vocabulary for each side, the others share one. Needs PyPI's torch,
transformers and safetensors."""
import os

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import BartConfig, BartForConditionalGeneration, MarianConfig, MarianMTModel

LENGTHS, TARGETS = [5, 7, 1], 4
HERE = os.path.dirname(os.path.abspath(__file__))

torch.manual_seed(21)
padding = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.uint8)
for row, length in enumerate(LENGTHS):
    padding[row, :length] = 1
tensors = {'padding': padding}


def randomise(model):
    """Values of order 1 behind every layer; biases and norms that matter. Sinusoidal positions are no parameters that train: they stay."""
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        bound = 0.5 if parameter.dim() == 1 else (6 / sum(parameter.shape)) ** 0.5
        nn.init.uniform_(parameter, -bound, bound)
        if 'norm' in name and name.endswith('weight'):
            parameter.data += 1.0
    model.final_logits_bias.uniform_(-0.5, 0.5)


def add_golden(case, model, source, target):
    model = model.double().eval()
    with torch.no_grad():
        out = model(input_ids=source, attention_mask=padding.long(), decoder_input_ids=target, output_hidden_states=True, use_cache=False)
    tensors.update({f'{case}.source': source.int(), f'{case}.target': target.int(),
                    f'{case}.memory': out.encoder_last_hidden_state.contiguous(),
                    f'{case}.features': out.decoder_hidden_states[-1].contiguous(), f'{case}.logits': out.logits.contiguous()})


def make(case, kind, config, target_vocabulary):
    model = kind(config)
    randomise(model)
    directory = os.path.join(HERE, case)
    model.save_pretrained(directory)
    os.remove(os.path.join(directory, 'generation_config.json'))
    source = torch.randint(config.vocab_size, padding.shape)
    target = torch.randint(target_vocabulary, (len(LENGTHS), TARGETS))
    add_golden(case, kind.from_pretrained(directory, attn_implementation='eager'), source, target)
    return source, target


sizes = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24,
             decoder_ffn_dim=24, max_position_embeddings=9, pad_token_id=1, bos_token_id=0, eos_token_id=2)
source, target = make('bart', BartForConditionalGeneration,
                      BartConfig(**sizes, vocab_size=40, activation_function='gelu', scale_embedding=False), 40)
add_golden('bart_scaled', BartForConditionalGeneration.from_pretrained(os.path.join(HERE, 'bart'), attn_implementation='eager',
                                                                      scale_embedding=True), source, target)
marian = dict(sizes, activation_function='swish', scale_embedding=True, decoder_start_token_id=1)
make('marian', MarianMTModel, MarianConfig(**marian, vocab_size=40), 40)
make('marian_separate', MarianMTModel,
     MarianConfig(**marian, vocab_size=23, decoder_vocab_size=31, share_encoder_decoder_embeddings=False), 31)
for name, tensor in tensors.items():
    if tensor.is_floating_point():  # the last digits depend on the order in which a machine adds
        tensors[name] = tensor.round(decimals=9)
save_file(tensors, os.path.join(HERE, 'huggingface.safetensors'))
