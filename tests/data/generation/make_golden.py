#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny random language models of the families, as transformers stores them, and what it computes with them in float64.

Usage: make_golden.py [NAME ...]    (needs torch, transformers, tokenizers, gguf; writes beside itself)

Each folder holds config.json, model.safetensors (float16), tokenizer.json and golden.json. llama has model.gguf too; llama_blocks has only
model.gguf, with all kinds of blocks. golden.json has texts with the logits after their last tokens, the tokens that follow greedily, and
the perplexity of a longer text in windows. Sizes are odd, so that nothing fits by chance; positions are tried beyond windows and beyond
what scaled rotations were trained for."""
import json
import math
import os
import sys

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HERE = os.path.dirname(os.path.abspath(__file__))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["Ġt", "Ġth", "Ġthe", "Ġc", "Ġca", "Ġcat", "Ġs", "Ġsa", "Ġsat"]
MERGES = [("Ġ", "t"), ("Ġt", "h"), ("Ġth", "e"), ("Ġ", "c"), ("Ġc", "a"), ("Ġca", "t"), ("Ġ", "s"), ("Ġs", "a"), ("Ġsa", "t")]
VOCABULARY = ["<s>", "</s>"] + list(LETTERS) + ["Ġ", ",", "!", "."] + WORDS
TEXTS = ["a", "the cat sat", "zebra quick", " the cat sat, the cat sat! the dog ran and ran and ran until the cat sat. the end"]
LONG = " the cat sat on the mat. a dog ran! the zebra, quick and quiet, sat. the cat saw the dog and the dog saw the cat"
TOKENS, WINDOW = 12, 16
SIZES = dict(vocab_size=len(VOCABULARY), hidden_size=24, intermediate_size=40, num_attention_heads=6, num_key_value_heads=2,
             num_hidden_layers=2, max_position_embeddings=96, pad_token_id=None, bos_token_id=0, eos_token_id=1)


def llama(**more):
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{**SIZES, "tie_word_embeddings": True, **more}))


def scaled(**parameters):
    return lambda: llama(rope_parameters={"rope_theta": 10000.0, **parameters})


def with_config(name, **more):
    """A family whose configuration takes Llama's sizes."""
    return lambda: getattr(transformers, name + "ForCausalLM")(
        getattr(transformers, name + ("TextConfig" if name == "Gemma3" else "Config"))(**{**SIZES, **more}))


def gpt2(**more):
    config = transformers.GPT2Config(vocab_size=len(VOCABULARY), n_embd=24, n_head=3, n_layer=2, n_positions=96, n_inner=None,
                                     bos_token_id=0, eos_token_id=1, **more)
    return transformers.GPT2LMHeadModel(config)


BLOCK_SIZES = {**SIZES, "hidden_size": 32, "intermediate_size": 256, "num_attention_heads": 4, "num_hidden_layers": 3}
FAMILIES = {
    "llama_blocks": lambda: llama(**BLOCK_SIZES),
    "llama": llama,
    "llama_untied": lambda: llama(tie_word_embeddings=False, head_dim=8),
    "llama_linear": scaled(rope_type="linear", factor=3.0),
    "llama_llama3": scaled(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
    "llama_yarn": scaled(rope_type="yarn", factor=4.0, original_max_position_embeddings=24),
    "llama_yarn_exact": lambda: llama(head_dim=8, rope_parameters={"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
                                                                   "truncate": False, "original_max_position_embeddings": 24}),
    "mistral": with_config("Mistral", sliding_window=7),
    "qwen2": with_config("Qwen2"),
    "qwen2_upper": with_config("Qwen2", use_sliding_window=True, sliding_window=5, max_window_layers=1, num_hidden_layers=4),
    "qwen3_types": with_config("Qwen3", head_dim=6, num_attention_heads=4, use_sliding_window=True, sliding_window=5, num_hidden_layers=4,
                               layer_types=[kind + "_attention" for kind in ("full", "full", "sliding", "full")]),
    "qwen3": with_config("Qwen3", head_dim=6, num_attention_heads=4),
    "gemma": with_config("Gemma", head_dim=6, num_attention_heads=4),
    "gemma2": with_config("Gemma2", head_dim=6, num_attention_heads=4, sliding_window=7, query_pre_attn_scalar=5, num_hidden_layers=3,
                          final_logit_softcapping=9.0, attn_logit_softcapping=3.0),
    "gemma3": with_config("Gemma3", head_dim=6, num_attention_heads=4, intermediate_size=24, sliding_window=7, query_pre_attn_scalar=5,
                          num_hidden_layers=4,
                          layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
                          attn_logit_softcapping=3.0),  # without effect
    "phi3": with_config("Phi3"),
    "phi3_partial": with_config("Phi3", hidden_size=48,
                                rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}),
    "phi3_longrope": with_config("Phi3", original_max_position_embeddings=64, rope_parameters={
        "rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.1, 1.3], "long_factor": [2.0, 3.0],
        "original_max_position_embeddings": 64}),
    "gpt2": gpt2,
    "gpt2_scaled": lambda: gpt2(scale_attn_weights=False, scale_attn_by_inverse_layer_idx=True),
}


def make_tokenizer():
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(VOCABULARY)}, MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("<s>", special=True), AddedToken("</s>", special=True)])
    return tokenizer


def randomise(model, generator):
    """Weights of some size everywhere, so that a part that is left out is seen."""
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        middle = 1.0 if ("norm" in name.lower() or "ln_" in name) and name.endswith("weight") else 0.0
        parameter.data = (middle + noise * (0.25 if parameter.dim() == 1 else 0.3)).half().float()


class Double:
    """transformers computes norms and angles in float32 whatever the model's type: in here that name means float64."""

    def __enter__(self):
        self.kept = torch.float32, torch.float, torch.Tensor.float
        torch.float32 = torch.float = torch.float64
        torch.Tensor.float = torch.Tensor.double
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *_):
        torch.float32, torch.float, torch.Tensor.float = self.kept
        torch.set_default_dtype(torch.float32)


def logits(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


def go_on(model, ids):
    """The tokens that follow, whether they end texts or not, and the least distance of the two largest logits."""
    made, least = [], math.inf
    while len(made) < TOKENS:
        row = logits(model, ids + made)[-1]
        two = row.topk(2).values
        least = min(least, (two[0] - two[1]).item())
        made.append(row.argmax().item())
    return made, least


def perplexity(model, ids):
    total, count = 0.0, 0
    for first in range(0, len(ids), WINDOW):
        window = ids[first:first + WINDOW]
        rows = logits(model, window).log_softmax(-1)
        total -= sum(rows[i, window[i + 1]].item() for i in range(len(window) - 1))
        count += len(window) - 1
    return math.exp(total / count)


def make(name):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    model = FAMILIES[name]()
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    randomise(model, generator)
    tokenizer = make_tokenizer()
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    weights = {key: value.double() for key, value in model.state_dict().items()}
    if name == "llama_blocks":
        os.remove(os.path.join(folder, "tokenizer.json"))
        write_gguf(folder, weights, BLOCK_SIZES, True)
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    else:
        model.half().save_pretrained(folder)
        os.chmod(os.path.join(folder, "model.safetensors"), 0o644)
    if name == "qwen2_upper":
        write_older(folder)
    if name == "llama":
        write_gguf(folder, weights, SIZES)
    with Double():
        model = FAMILIES[name]().double().eval()
        model.config._attn_implementation = "eager"
        model.load_state_dict(weights)
        write_golden(name, folder, model, tokenizer)


def write_older(folder):
    """config.json as hub files have it: layers with windows by a number, no list of them."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    config["torch_dtype"] = config.pop("dtype")
    del config["layer_types"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=2)
        file.write("\n")


def write_golden(name, folder, model, tokenizer):
    golden = {"texts": [], "perplexity": round(perplexity(model, tokenizer.encode(LONG).ids), 9), "long": LONG, "window": WINDOW}
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        tokens, least = go_on(model, ids)
        print(f"{name}: {len(ids)} tokens, then {tokens}, least distance {least:.3g}")
        golden["texts"].append({"text": text, "ids": ids, "logits": [round(v, 7) for v in logits(model, ids)[-1].tolist()],
                                "tokens": tokens, "distance": round(least, 9)})
    with open(os.path.join(folder, "golden.json"), "w", encoding="utf-8") as file:
        json.dump(golden, file, indent=None, separators=(",", ":"))
        file.write("\n")
    os.path.exists(os.path.join(folder, "generation_config.json")) and os.remove(os.path.join(folder, "generation_config.json"))


def as_blocks(name, weight, layer):
    """A matrix in a type of its own, and the numbers that its blocks stand for; K-quants are drawn, since the package cannot make them."""
    import gguf  # pylint: disable=import-outside-toplevel
    import numpy  # pylint: disable=import-outside-toplevel
    types = {"token_embd": "Q8_0", "attn_q": "Q5_0", "attn_k": "Q8_0", "attn_v": "Q5_1", "attn_output": "Q4_1", "ffn_gate": "Q4_1",
             "ffn_up": "Q4_0", "ffn_down": ("Q4_K", "Q6_K", "Q5_K")[layer]}
    kind = gguf.GGMLQuantizationType[types[name]]
    if name != "ffn_down":
        data = gguf.quantize(weight.numpy(), kind)
    else:
        rng = numpy.random.default_rng(layer)
        data = rng.integers(0, 256, (weight.shape[0], weight.shape[1] // 256 * gguf.GGML_QUANT_SIZES[kind][1]), dtype=numpy.uint8)
        scales = numpy.full((weight.shape[0], 1), 0.0003, dtype=numpy.float16).view(numpy.uint8)
        if kind.name == "Q6_K":
            data[:, 208:210] = scales
        else:
            data[:, 0:2] = data[:, 2:4] = scales
    return kind, data, torch.from_numpy(gguf.dequantize(data, kind).reshape(weight.shape).copy())


def write_gguf(folder, weights, config, has_blocks=False):
    """The same model as llama.cpp's converter stores it: queries and keys of a head in pairs that turn together."""
    import gguf  # pylint: disable=import-outside-toplevel
    import gguf_file  # pylint: disable=import-outside-toplevel
    writer = gguf.GGUFWriter(os.path.join(folder, "model.gguf"), "llama")
    gguf_file.add_sizes(writer, {**config, "rms_norm_eps": 1e-6})
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    gguf_file.add_tokenizer(writer, VOCABULARY, MERGES)
    writer.add_add_bos_token(False)
    for key, weight in weights.items():
        if key == "lm_head.weight":
            continue
        name, heads = gguf_file.stored_name(key, "llama", config["num_hidden_layers"]), gguf_file.turned_heads(key, "llama", config)
        if heads:
            weight = gguf_file.turn(weight, heads)
        if has_blocks and weight.dim() == 2:
            kind, data, known = as_blocks(name.split(".")[-2], weight.float(), int(name.split(".")[1]) if name.startswith("blk.") else 0)
            writer.add_tensor(name, data, raw_dtype=kind)
            weights[key] = (gguf_file.turn_back(known, heads) if heads else known).double()
            continue
        writer.add_tensor(name, (weight.float() if weight.dim() == 1 else weight.half()).numpy())
    gguf_file.finish(writer)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or FAMILIES:
        make(wanted)
