#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tiny models of each family as GGUF files, by the gguf package: tensors under the names that its map gives theirs, keys by its writer,
weights turned as llama.cpp's converter turns them.

Usage: make_gguf.py [NAME ...]    (needs gguf, numpy; writes NAME/model.gguf beside the model that make_golden.py made)

The keys are those that the converter writes for the family and no more, so that what it leaves to its readers is tried: sizes of heads,
bases of rotations, gemma's scale of the scores. Matrices are f16, vectors f32."""
import json
import os
import sys

import gguf
import gguf_file
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ARCHITECTURES = {"mistral": "llama", "llama_linear": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "gemma": "gemma", "gemma2": "gemma2",
                 "gemma3": "gemma3", "phi3": "phi3", "phi3_longrope": "phi3", "gpt2": "gpt2"}
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def read_weights(folder):
    """float16, exact in float32."""
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, body = json.loads(file.read(size)), file.read()
    header.pop("__metadata__", None)
    return {name: numpy.frombuffer(body[row["data_offsets"][0]:row["data_offsets"][1]], numpy.float16).reshape(row["shape"])
            for name, row in header.items()}


def change(name, weight, architecture, config, layer):
    """As the converter of this architecture changes it; then its type."""
    last, heads = name.split(".")[-2], gguf_file.turned_heads(name, architecture, config)
    if heads:
        weight = gguf_file.turn(weight, heads)
    if architecture == "gpt2" and layer and weight.ndim == 2:
        weight = weight.T
    if weight.ndim == 1:
        weight = weight.astype(numpy.float32)
    if architecture.startswith("gemma") and "norm" in last:
        weight = weight + numpy.float32(1)
    scalar = config.get("query_pre_attn_scalar")
    if scalar and last in ("q_norm", "q_proj", "k_proj", "v_proj"):
        weight = weight.astype(numpy.float32)  # of one type, as products of one input are
    if scalar and last == ("q_norm" if architecture == "gemma3" else "q_proj"):  # readers divide by the root of a head's size
        weight = weight * numpy.float32((config["head_dim"] / scalar) ** 0.5)
    return numpy.ascontiguousarray(weight)


def add_tensors(writer, folder, architecture, config, layers):
    for name, weight in read_weights(folder).items():
        stored = gguf_file.stored_name(name, architecture, layers)
        writer.add_tensor(stored, change(name, weight, architecture, config, stored.startswith("blk.")))


def add_keys(writer, architecture, config):
    if architecture == "gpt2":
        writer.add_block_count(config["n_layer"])
        writer.add_context_length(config["n_positions"])
        writer.add_embedding_length(config["n_embd"])
        writer.add_feed_forward_length(4 * config["n_embd"])
        writer.add_head_count(config["n_head"])
        writer.add_layer_norm_eps(config["layer_norm_epsilon"])
        return
    rope = config["rope_parameters"]
    head = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    gguf_file.add_sizes(writer, config)
    if architecture in ("llama", "qwen2", "qwen3", "phi3"):
        writer.add_rope_freq_base(rope["rope_theta"])
    if architecture in ("llama", "phi3"):
        writer.add_rope_dimension_count(head)
        writer.add_vocab_size(config["vocab_size"])
    if architecture.startswith("gemma") or architecture == "qwen3":
        writer.add_key_length(head)
        writer.add_value_length(head)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if architecture in ("gemma2", "gemma3"):
        writer.add_sliding_window(config["sliding_window"])
    if architecture == "gemma3":
        writer.add_rope_freq_base(rope["full_attention"]["rope_theta"])
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config["layer_types"]])
    if architecture == "phi3":
        writer.add_sliding_window(config.get("sliding_window") or 0)
        writer.add_rope_scaling_orig_ctx_len(config["original_max_position_embeddings"])
    add_scaling(writer, config, rope)


def add_scaling(writer, config, rope):
    if rope.get("rope_type") == "linear":
        writer.add_rope_scaling_factor(rope["factor"])  # as older converters wrote it: no type
    if rope.get("rope_type") == "longrope":
        trained = config["original_max_position_embeddings"]
        scale = config["max_position_embeddings"] / trained
        writer.add_rope_scaling_attn_factors(float(numpy.sqrt(1 + numpy.log(scale) / numpy.log(trained))))
        for kind, factors in ((gguf.MODEL_TENSOR.ROPE_FACTORS_SHORT, "short_factor"), (gguf.MODEL_TENSOR.ROPE_FACTORS_LONG, "long_factor")):
            writer.add_tensor(gguf.TENSOR_NAMES[kind] + ".weight", numpy.array(rope[factors], numpy.float32))


def make(name):
    folder, architecture = os.path.join(HERE, name), ARCHITECTURES[name]
    config = read_json(folder, "config.json")
    writer = gguf.GGUFWriter(os.path.join(folder, "model.gguf"), architecture)
    writer.add_name(f"tiny {name}")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    add_keys(writer, architecture, config)
    tokenizer = read_json(folder, "tokenizer.json")["model"]
    gguf_file.add_tokenizer(writer, sorted(tokenizer["vocab"], key=tokenizer["vocab"].get), tokenizer["merges"])
    if name == "qwen2":
        writer.add_chat_template(TEMPLATE)
    add_tensors(writer, folder, architecture, config, config.get("num_hidden_layers", config.get("n_layer")))
    gguf_file.finish(writer)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ARCHITECTURES:
        make(wanted)
