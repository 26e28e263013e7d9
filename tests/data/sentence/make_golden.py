#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny sentence-transformers directories with modules of every kind, and what sentence-transformers computes with them in float64.

Usage: make_golden.py     (needs torch, transformers, tokenizers, sentence-transformers; writes beside itself)

The encoder is the tiny DistilBERT of ../families, or a decoder that makes embeddings, which is then in the case's folder. Each case is a
folder with the other files (modules.json, the modules' folders, config_sentence_transformers.json) and golden.json. That has calls, their
embeddings, and the output of quantize_embeddings for these."""
import contextlib
import json
import os
import shutil
import sys
import tempfile

import torch
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as parts
from sentence_transformers.util import quantize_embeddings
from tokenizers import processors

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "generation"))
import make_golden as generation  # noqa: E402  pylint: disable=wrong-import-position

ENCODER = os.path.join(HERE, "..", "families", "distilbert")
WIDTH = 24
TEXTS = ["a", "the cat sat", "zebra quick", "on the mat the cat sat and sat", "dog, dog!"]
PROMPTS = {"query": "the dog: ", "passage": "a cat, "}
MODES = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")


def dense(inputs, outputs, **options):
    return parts.Dense(inputs, outputs, **options)


CASES = {
    "several": lambda: [parts.Pooling(WIDTH, MODES)],
    "weighted": lambda: [parts.Pooling(WIDTH, "weightedmean"), parts.Normalize()],
    "last": lambda: [parts.Pooling(WIDTH, "lasttoken"), parts.Normalize()],
    "dense": lambda: [parts.Pooling(WIDTH, ("cls", "mean")), dense(2 * WIDTH, 17),
                      dense(17, 17, activation_function=torch.nn.GELU(), use_residual=True), parts.LayerNorm(17),
                      dense(17, 9, bias=False, activation_function=torch.nn.Identity()), parts.Normalize()],
}


def decoder(name, **more):
    """A model without head of the sizes of ../generation, in halves as the file has them."""
    model = getattr(transformers, name + "Model")(getattr(transformers, name + "Config")(**{**generation.SIZES, **more}))
    generation.randomise(model, torch.Generator().manual_seed(len(name)))
    return model.half()


DECODERS = {
    "qwen3": lambda: decoder("Qwen3", head_dim=6, num_attention_heads=4),
    "embeddinggemma": lambda: decoder("Gemma3Text", head_dim=6, num_attention_heads=4, sliding_window=6, query_pre_attn_scalar=5,
                                      num_hidden_layers=4,
                                      layer_types=["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
                                      use_bidirectional_attention=True),
}
CASES["qwen3"] = lambda: [parts.Pooling(WIDTH, "lasttoken"), parts.Normalize()]
CASES["embeddinggemma"] = lambda: [parts.Pooling(WIDTH, "mean"), dense(WIDTH, 40, bias=False, activation_function=torch.nn.Identity()),
                                   dense(40, WIDTH, bias=False, activation_function=torch.nn.Identity()), parts.Normalize()]
FILES = ("config.json", "model.safetensors", "tokenizer.json")
QUANTIZED = ("dense", "last")
RANGES = torch.tensor([[-0.25], [0.5]])  # exact in every type
CALLS = [{}, {"prompt_name": "passage"}, {"prompt": "dog! "}, {"truncate_dim": 5, "normalize_embeddings": True}]


def randomise(module, generator):
    for name, parameter in module.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = ((1.0 if "norm.weight" in name else 0.0) + 0.3 * noise).half().float()


def write_encoder(name, folder):
    if name not in DECODERS:
        for file in FILES:
            shutil.copy(os.path.join(ENCODER, file), folder)
        return {"unk_token": "<unk>", "pad_token": "<pad>"}
    DECODERS[name]().save_pretrained(folder)
    tokenizer = generation.make_tokenizer()
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    return {"pad_token": "</s>"}


def make(name, build):
    directory = os.path.join(HERE, name)
    shutil.rmtree(directory, ignore_errors=True)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    added = build()
    for module in added:
        randomise(module, generator)
    with tempfile.TemporaryDirectory() as folder:
        tokens = write_encoder(name, folder)
        with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
            json.dump({"tokenizer_class": "PreTrainedTokenizerFast", **tokens}, file)
        encoder = parts.Transformer(folder, model_kwargs={"dtype": torch.float32, "attn_implementation": "eager"})
        model_files = {}
        for file in FILES if name in DECODERS else ():
            with open(os.path.join(folder, file), "rb") as source:
                model_files[file] = source.read()
    model = SentenceTransformer(modules=[encoder, *added], device="cpu", prompts=PROMPTS, default_prompt_name="query")
    if name not in DECODERS:
        model.half()  # exact, as randomise() makes them: modules that are stored in float16
    model.save(directory)
    calls = []
    together = 1 if name in DECODERS else len(TEXTS)  # a padded row whose window holds nothing else would be NaN
    with generation.Double() if name in DECODERS else contextlib.nullcontext():
        if name in DECODERS:  # made anew, so that no angle was rounded to float32
            double = transformers.AutoModel.from_config(encoder.auto_model.config, attn_implementation="eager")
            double.load_state_dict(encoder.auto_model.state_dict())
            encoder.auto_model = double
        model = model.double().eval()
        for call in CALLS:
            rows = model.encode(TEXTS, batch_size=together, convert_to_tensor=True, **call)
            assert rows.dtype == torch.float64, rows.dtype
            calls.append({**call, "embeddings": [[round(value, 10) for value in row] for row in rows.tolist()]})
        rows = model.encode(TEXTS, batch_size=together, convert_to_tensor=True)
    rows = rows.to(torch.float32).numpy()
    ranges = RANGES.repeat(1, rows.shape[1]).numpy()
    quantized = [{"kind": kind, "rows": quantize_embeddings(rows, kind).tolist()} for kind in ("int8", "uint8", "binary", "ubinary")]
    quantized.append({"kind": "uint8", "ranges": ranges.tolist(), "rows": quantize_embeddings(rows, "uint8", ranges=ranges).tolist()})
    keep = {"modules.json", "config_sentence_transformers.json"}
    for entry in os.listdir(directory):
        path = os.path.join(directory, entry)
        if os.path.isdir(path):
            continue
        if entry not in keep:
            os.remove(path)
    for entry in os.listdir(directory):
        path = os.path.join(directory, entry)
        if os.path.isdir(path) and not os.listdir(path):
            os.rmdir(path)
    for file, content in model_files.items():
        with open(os.path.join(directory, file), "wb") as target:
            target.write(content)
    with open(os.path.join(directory, "golden.json"), "w", encoding="utf-8") as file:
        json.dump({"texts": TEXTS, "calls": calls, "quantized": quantized if name in QUANTIZED else []}, file)
        file.write("\n")


# Files beside those of the case "weighted", whose keys change what comes out: names and keys of every age.
BERT, BOTH = "sentence_bert_config.json", "tokenizer_config.json"
NAMED = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "pad_token": "<pad>"}
LONG = ["a", "The cat sat on the mat, and the Dog sat, and the cat sat quick zebra sat on."]
SETTINGS = [
    {},
    {BERT: {"config_args": {"activation": "relu"}, "processing_kwargs": {"text": {"max_length": 8}}}},
    {BERT: {"config_kwargs": {"activation": "silu"}, "config_args": {"activation": "relu"}}},
    {BERT: {"do_lower_case": True, "max_seq_length": 9}},
    {BERT: {"tokenizer_args": {"model_max_length": 7}, "max_seq_length": 20}},
    {"sentence_roberta_config.json": {"max_seq_length": 8}},
    {BERT: {}, "sentence_xlnet_config.json": {"max_seq_length": 8}},
    {BERT: {"max_seq_length": 6}, "sentence_roberta_config.json": {"max_seq_length": 9}},
    {BOTH: {**NAMED, "max_len": 8}},
    {BOTH: {**NAMED, "max_len": 8, "model_max_length": 11}},
    {BOTH: {**NAMED, "truncation_side": "left", "max_len": 8}},
    {"special_tokens_map.json": {"additional_special_tokens": ["cat"]}},
    {"config_sentence_transformers.json": {"prompts": {"q": "zebra "}, "default_prompt_name": "q"}, "1_Pooling/config.json":
     {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True, "word_embedding_dimension": 7, "include_prompt": False}},
    {"2_Normalize/config.json": {"module_input_name": "sentence_embedding"}},
]


def make_settings():
    cases = []
    for files in SETTINGS:
        with tempfile.TemporaryDirectory() as folder:
            directory = os.path.join(folder, "model")
            shutil.copytree(os.path.join(HERE, "weighted"), directory)
            write_encoder("weighted", directory)
            for file, content in {BOTH: NAMED, **files}.items():
                with open(os.path.join(directory, file), "w", encoding="utf-8") as target:
                    json.dump(content, target)
            model = SentenceTransformer(directory, device="cpu").double().eval()
            rows = model.encode(LONG, convert_to_tensor=True, batch_size=1)
            cases.append({"files": {BOTH: NAMED, **files}, "embeddings": [[round(value, 8) for value in row] for row in rows.tolist()]})
    with open(os.path.join(HERE, "settings.json"), "w", encoding="utf-8") as file:
        json.dump({"texts": LONG, "cases": cases}, file)
        file.write("\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or [*CASES, "settings"]:
        if name == "settings":
            make_settings()
        else:
            make(name, CASES[name])
