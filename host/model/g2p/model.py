# SPDX-License-Identifier: MIT
"""Encoder-decoder Transformer of the annotated labml.ai implementation, with its parameter names.

Pre-norm layers, one final layer norm per stack, embeddings times sqrt(d_model) plus sinusoidal positions, a linear
generator (Vaswani et al. 2017; Xiong et al. 2020 for the position of the norms).  Sequences come first: [S, B, d].
"""

import math

import torch
from torch import nn

LAYER_NORM_EPS = 1e-5


def positional_encoding(d_model, length, dtype=torch.float32):
    """PE[p, 2i] = sin(p * 10000^(-2i/d)), PE[p, 2i+1] = cos(same); [length, d_model], computed in float64."""
    angle = torch.arange(length, dtype=torch.float64)[:, None] * torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.zeros(length, d_model, dtype=torch.float64)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle[:, :d_model // 2])
    return table.to(dtype)


class Dropout(nn.Module):
    """Dropout whose masks are random slices of one pool of Bernoulli draws.

    Drawing a mask for each activation costs as much as the whole forward pass on a CPU; a slice costs nothing.
    `refresh` draws the pool anew (once per epoch does); `generator` chooses the slices.
    """

    pools = {}
    POOL = 1 << 24

    def __init__(self, p):
        super().__init__()
        self.p = p
        self.generator = None

    @classmethod
    def refresh(cls, p):
        keep = torch.rand(cls.POOL) >= p
        cls.pools = {dtype: keep.to(dtype) / (1.0 - p) for dtype in (torch.float32, torch.bfloat16)}

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        start = int(torch.randint(self.POOL - x.numel(), (), generator=self.generator))
        return x * self.pools[x.dtype][start:start + x.numel()].view(x.shape)


class Embedding(nn.Module):
    def __init__(self, d_model, n_vocab, max_len, dropout):
        super().__init__()
        self.linear = nn.Embedding(n_vocab, d_model)
        self.scale = math.sqrt(d_model)
        self.dropout = Dropout(dropout)
        self.register_buffer('positions', positional_encoding(d_model, max_len, torch.float64)[:, None],
                             persistent=False)

    def forward(self, tokens):
        weight = self.linear.weight
        return self.dropout(self.linear(tokens) * self.scale + self.positions[:tokens.shape[0]].to(weight.dtype))


class Projection(nn.Module):
    """A linear map named `linear`, as the query, key and value projections of the document are."""

    def __init__(self, d_model):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model)

    def forward(self, x):
        return self.linear(x)


class MultiHeadAttention(nn.Module):
    """softmax(q k^T / sqrt(d_k) + mask) v per head; mask is 0 or -inf, [B, 1, Sq or 1, Sk] or None."""

    def __init__(self, heads, d_model, dropout):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        self.query, self.key, self.value = Projection(d_model), Projection(d_model), Projection(d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = Dropout(dropout)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.d_k).permute(1, 2, 0, 3)  # [B, h, S, d_k]

    def forward(self, query, key, value, mask):
        q, k, v = self.split(self.query(query)), self.split(self.key(key)), self.split(self.value(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores + mask.to(scores.dtype)
        context = self.dropout(scores.softmax(-1)) @ v
        return self.output(context.permute(2, 0, 1, 3).reshape(query.shape))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout):
        super().__init__()
        self.layer1, self.layer2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x):
        return self.layer2(self.dropout(torch.relu(self.layer1(x))))


class TransformerLayer(nn.Module):
    def __init__(self, config, dropout, with_source):
        super().__init__()
        d_model, heads = config['d_model'], config['heads']
        self.self_attn = MultiHeadAttention(heads, d_model, dropout)
        self.norm_self_attn = nn.LayerNorm(d_model, LAYER_NORM_EPS)
        if with_source:
            self.src_attn = MultiHeadAttention(heads, d_model, dropout)
            self.norm_src_attn = nn.LayerNorm(d_model, LAYER_NORM_EPS)
        self.feed_forward = FeedForward(d_model, config['d_ff'], dropout)
        self.norm_ff = nn.LayerNorm(d_model, LAYER_NORM_EPS)
        self.dropout = Dropout(dropout)

    def forward(self, x, mask, src=None, src_mask=None):
        z = self.norm_self_attn(x)
        x = x + self.dropout(self.self_attn(z, z, z, mask))
        if src is not None:
            x = x + self.dropout(self.src_attn(self.norm_src_attn(x), src, src, src_mask))
        return x + self.dropout(self.feed_forward(self.norm_ff(x)))


class Stack(nn.Module):
    def __init__(self, config, n_layers, dropout, with_source):
        super().__init__()
        self.layers = nn.ModuleList(TransformerLayer(config, dropout, with_source) for _ in range(n_layers))
        self.norm = nn.LayerNorm(config['d_model'], LAYER_NORM_EPS)

    def forward(self, x, mask, src=None, src_mask=None):
        for layer in self.layers:
            x = layer(x, mask, src, src_mask)
        return self.norm(x)


class Generator(nn.Module):
    def __init__(self, n_vocab, d_model):
        super().__init__()
        self.projection = nn.Linear(d_model, n_vocab)

    def forward(self, x):
        return self.projection(x)


class EncoderDecoder(nn.Module):
    def __init__(self, config, dropout=0.0):
        super().__init__()
        d_model, n_source, n_target = config['d_model'], len(config['source_tokens']), len(config['target_tokens'])
        self.encoder = Stack(config, config['encoder_layers'], dropout, with_source=False)
        self.decoder = Stack(config, config['decoder_layers'], dropout, with_source=True)
        self.src_embed = Embedding(d_model, n_source, config['max_source_length'], dropout)
        self.tgt_embed = Embedding(d_model, n_target, config['max_target_length'], dropout)
        self.generator = Generator(n_target, d_model)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def encode(self, src, src_mask):
        return self.encoder(self.src_embed(src), src_mask)

    def decode(self, memory, src_mask, tgt, tgt_mask):
        return self.decoder(self.tgt_embed(tgt), tgt_mask, memory, src_mask)

    def forward(self, src, tgt, src_mask, tgt_mask):
        """Decoder features [T, B, d]; the generator turns them into logits."""
        return self.decode(self.encode(src, src_mask), src_mask, tgt, tgt_mask)


def padding_mask(tokens, pad):
    """[S, B] tokens -> additive [B, 1, 1, S], or None where nothing is padded."""
    blocked = (tokens == pad).t()[:, None, None, :]
    return torch.zeros(blocked.shape).masked_fill(blocked, -math.inf) if bool(blocked.any()) else None


def causal_mask(length):
    return torch.full((1, 1, length, length), -math.inf).triu(1)
