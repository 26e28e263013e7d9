#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""golden.safetensors: torch.nn.Transformer in float64 with random float32 weights, for tests of the name map and the forward pass.

Each case c (pre_relu, pre_gelu, post_relu, post_gelu) has c.<name of the state dict>, and c.source, c.target, c.memory, c.features
([N,L,C]). The padding mask `padding` (u8 [N,S], 0 = padded) applies to the sources and a causal mask to the targets. Needs
PyPI's torch and safetensors."""
import os

import torch
from safetensors.torch import save_file
from torch import nn

C, HEADS, HIDDEN, ENCODERS, DECODERS = 16, 2, 24, 1, 2
LENGTHS, TARGETS = [5, 7, 1], 4

torch.backends.mha.set_fastpath_enabled(False)  # it drops padded rows
torch.manual_seed(20)
padding = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.uint8)
for row, length in enumerate(LENGTHS):
    padding[row, :length] = 1
tensors = {'padding': padding}
for norm in ('pre', 'post'):
    for activation in ('relu', 'gelu'):
        model = nn.Transformer(C, HEADS, ENCODERS, DECODERS, HIDDEN, 0.0, activation, batch_first=True, norm_first=norm == 'pre')
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:  # biases and norms that matter
                nn.init.uniform_(parameter, -0.5, 0.5)
                parameter.data += 1.0 if 'norm' in name and name.endswith('weight') else 0.0
        case = f'{norm}_{activation}.'
        tensors.update({case + name: parameter.detach().clone() for name, parameter in model.named_parameters()})
        model = model.double().eval()
        source = torch.randn(len(LENGTHS), max(LENGTHS), C)
        target = torch.randn(len(LENGTHS), TARGETS, C)
        with torch.no_grad():
            memory = model.encoder(source.double(), src_key_padding_mask=padding == 0)
            causal = torch.ones(TARGETS, TARGETS, dtype=torch.bool).triu(1)
            features = model.decoder(target.double(), memory, tgt_mask=causal, memory_key_padding_mask=padding == 0)
        tensors.update({case + 'source': source, case + 'target': target, case + 'memory': memory.float().contiguous(),
                        case + 'features': features.float().contiguous()})
save_file(tensors, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'golden.safetensors'))
