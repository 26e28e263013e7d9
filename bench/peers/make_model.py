#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a language model of a well-known shape with random weights, to measure the sizes that people run without their weights.

usage: make_model.py SHAPE OUT.gguf --tokenizer FROM.gguf [--type q4_k_m] [--ggml libggml-base.so] [--seed 1]

SHAPE is a name in the table SHAPES. Weights are normal with deviation 0.02, so that activations are as large as in a trained model.
llama.cpp's own quantiser makes the blocks (ggml_quantize_chunk of --ggml, or of the Python package llama-cpp-python). Each tensor has the
type that llama.cpp gives it in a file of --type. 16.8 million weights are quantised for each type, and all tensors take their blocks from
these. The number of blocks is a prime, so that rows of one tensor differ. The tokenizer is that of FROM.gguf, padded with unused tokens to
the vocabulary of the shape. The file is written as OUT.gguf.part and renamed at the end."""
import argparse
import ctypes
import importlib.util
import os
import sys
import typing

import gguf
import numpy

SUPER_BLOCK = 256  # weights; every type's block divides it
POOL_BLOCKS = 65537
DEVIATION = 0.02


class Shape(typing.NamedTuple):
    architecture: str
    layers: int
    width: int
    hidden: int
    heads: int
    key_heads: int
    head_width: int
    vocabulary: int
    positions: int
    rope_base: float
    is_tied: bool


SHAPES = {
    'llama-1b': Shape('llama', 16, 2048, 8192, 32, 8, 64, 128256, 131072, 500000.0, True),  # Llama 3.2 1B
    'llama-8b': Shape('llama', 32, 4096, 14336, 32, 8, 128, 128256, 131072, 500000.0, False),  # Llama 3.1 8B
    'qwen3-0.6b': Shape('qwen3', 28, 1024, 3072, 16, 8, 128, 151936, 40960, 1000000.0, True),
}

Q = gguf.GGMLQuantizationType
# By --type: the type of most weights, of the "more important" ones and of the output, and the number that the file states.
FILE_TYPES = {
    'q4_k_m': (Q.Q4_K, Q.Q6_K, Q.Q6_K, gguf.LlamaFileType.MOSTLY_Q4_K_M),
    'q5_k_m': (Q.Q5_K, Q.Q6_K, Q.Q6_K, gguf.LlamaFileType.MOSTLY_Q5_K_M),
    'q6_k': (Q.Q6_K, Q.Q6_K, Q.Q6_K, gguf.LlamaFileType.MOSTLY_Q6_K),
    'q8_0': (Q.Q8_0, Q.Q8_0, Q.Q8_0, gguf.LlamaFileType.MOSTLY_Q8_0),
    'q4_0': (Q.Q4_0, Q.Q4_0, Q.Q6_K, gguf.LlamaFileType.MOSTLY_Q4_0),
}


def takes_more_bits(layer, layers):
    """Whether llama.cpp gives the values and the second feed-forward matrix of a layer the better type."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def tensors(shape, kinds):
    """Yields (name, rows, columns, type) of each tensor; a vector has 0 columns."""
    most, better, output, _ = kinds
    yield 'token_embd.weight', shape.vocabulary, shape.width, output if shape.is_tied else most
    yield 'output_norm.weight', shape.width, 0, Q.F32
    if not shape.is_tied:
        yield 'output.weight', shape.vocabulary, shape.width, output
    for layer in range(shape.layers):
        chosen = better if takes_more_bits(layer, shape.layers) else most
        block = f'blk.{layer}.'
        queries, keys = shape.heads * shape.head_width, shape.key_heads * shape.head_width
        yield block + 'attn_norm.weight', shape.width, 0, Q.F32
        yield block + 'attn_q.weight', queries, shape.width, most
        yield block + 'attn_k.weight', keys, shape.width, most
        yield block + 'attn_v.weight', keys, shape.width, chosen
        yield block + 'attn_output.weight', shape.width, queries, most
        if shape.architecture == 'qwen3':
            yield block + 'attn_q_norm.weight', shape.head_width, 0, Q.F32
            yield block + 'attn_k_norm.weight', shape.head_width, 0, Q.F32
        yield block + 'ffn_norm.weight', shape.width, 0, Q.F32
        yield block + 'ffn_gate.weight', shape.hidden, shape.width, most
        yield block + 'ffn_up.weight', shape.hidden, shape.width, most
        yield block + 'ffn_down.weight', shape.width, shape.hidden, chosen


class Weights:
    """Makes random blocks of each type, and tensors from them."""

    def __init__(self, path, seed):
        self.random = numpy.random.default_rng(seed)
        self.library = ctypes.CDLL(path)
        self.library.ggml_quantize_chunk.restype = ctypes.c_size_t
        self.values = self.random.standard_normal(POOL_BLOCKS * SUPER_BLOCK, dtype=numpy.float32) * numpy.float32(DEVIATION)
        self.pools = {}

    def pool(self, kind):
        """uint8 [POOL_BLOCKS, bytes of 256 weights]."""
        if kind not in self.pools:
            count, size = gguf.GGML_QUANT_SIZES[kind]
            blocks = numpy.zeros((POOL_BLOCKS, SUPER_BLOCK // count * size), numpy.uint8)
            written = self.library.ggml_quantize_chunk(
                ctypes.c_int(int(kind)), self.values.ctypes.data_as(ctypes.c_void_p), blocks.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_int64(0), ctypes.c_int64(POOL_BLOCKS), ctypes.c_int64(SUPER_BLOCK), None)
            if written != blocks.nbytes:
                sys.exit(f'ggml_quantize_chunk wrote {written} bytes of {kind.name}, expected {blocks.nbytes}')
            self.pools[kind] = blocks
        return self.pools[kind]

    def tensor(self, rows, columns, kind):
        if not columns:
            return (1 + self.random.standard_normal(rows, dtype=numpy.float32) * numpy.float32(0.1)).astype(numpy.float32)
        pool, count = self.pool(kind), rows * columns // SUPER_BLOCK
        start = int(self.random.integers(POOL_BLOCKS))
        repeated = [pool[start:]] + [pool] * (count // POOL_BLOCKS + 1)
        return numpy.concatenate(repeated)[:count].reshape(rows, -1)


def copy_tokenizer(writer, path, vocabulary):
    fields = {name: field for name, field in gguf.GGUFReader(path).fields.items() if name.startswith('tokenizer.')}
    if 'tokenizer.ggml.tokens' not in fields:
        sys.exit(f'{path}: no tokenizer')
    missing = vocabulary - len(fields['tokenizer.ggml.tokens'].data)
    if missing < 0:
        sys.exit(f'{path}: {vocabulary - missing} tokens, more than the {vocabulary} of the shape')
    fill = {'tokenizer.ggml.tokens': [f'<|unused_{i}|>' for i in range(missing)],
            'tokenizer.ggml.token_type': [int(gguf.TokenType.UNUSED)] * missing, 'tokenizer.ggml.scores': [0.0] * missing}
    for name, field in fields.items():
        value, kind = field.contents(), field.types[0]
        if kind == gguf.GGUFValueType.ARRAY:
            writer.add_key_value(name, list(value) + fill.get(name, []), kind, sub_type=field.types[-1])
        else:
            writer.add_key_value(name, value, kind)


def find_ggml(path):
    if path:
        return path
    found = importlib.util.find_spec('llama_cpp')
    if not found:
        sys.exit('no --ggml libggml-base.so, and llama-cpp-python is not installed')
    return os.path.join(os.path.dirname(found.origin), 'lib', 'libggml-base.so')


def write(options, path):
    shape, kinds = SHAPES[options.shape], FILE_TYPES[options.type]
    writer = gguf.GGUFWriter(path, shape.architecture)
    writer.add_name(f'{options.shape}, random weights')
    writer.add_file_type(kinds[3])
    writer.add_block_count(shape.layers)
    writer.add_context_length(shape.positions)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.hidden)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_heads)
    writer.add_key_length(shape.head_width)
    writer.add_value_length(shape.head_width)
    writer.add_rope_dimension_count(shape.head_width)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(shape.vocabulary)
    copy_tokenizer(writer, options.tokenizer, shape.vocabulary)
    for name, rows, columns, kind in tensors(shape, kinds):
        if columns:
            count, size = gguf.GGML_QUANT_SIZES[kind]
            width = columns // count * size
            writer.add_tensor_info(name, (rows, width), numpy.dtype(numpy.uint8), rows * width, raw_dtype=kind)
        else:
            writer.add_tensor_info(name, (rows,), numpy.dtype(numpy.float32), rows * 4)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    weights = Weights(find_ggml(options.ggml), options.seed)
    for _, rows, columns, kind in tensors(shape, kinds):
        writer.write_tensor_data(weights.tensor(rows, columns, kind))
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('shape', choices=sorted(SHAPES))
    parser.add_argument('output')
    parser.add_argument('--tokenizer', required=True, help='GGUF file whose tokenizer is taken')
    parser.add_argument('--type', choices=sorted(FILE_TYPES), default='q4_k_m')
    parser.add_argument('--ggml', help="llama.cpp's libggml-base.so")
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    unfinished = options.output + '.part'
    try:
        write(options, unfinished)
        os.replace(unfinished, options.output)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


if __name__ == '__main__':
    main()
