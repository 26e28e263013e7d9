#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny random encoders that are legal and unusual, in the forms in which they are downloaded, and what sentence-transformers computes with
them in float64.

Usage: make_golden.py [CASE ...]     (needs torch, transformers, tokenizers, sentence-transformers; writes beside itself)

Each case is a folder with a whole model directory and golden.json: texts, and calls of encode() with the options of `clformer embed` that
ask for the same."""
import importlib.util
import json
import os
import shutil
import sys
import tempfile

import torch
import transformers
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules as parts
from tokenizers import AddedToken, Tokenizer, normalizers, processors

HERE = os.path.dirname(os.path.abspath(__file__))


def load(folder):
    """The script of this name in another folder, as a module."""
    spec = importlib.util.spec_from_file_location(folder, os.path.join(HERE, "..", folder, "make_golden.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generation, families = load("generation"), load("families")
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
TEXTS = ["", "a", "the cat sat", "<pad> zebra <pad>quick<pad>", "on the mat the cat sat and sat and sat until the dog ran", "DOG, Dog!"]
LONG = "on the mat the cat sat and sat and sat until the dog ran " * 4
OTHER = ["  two  spaces\tand a line\nend ", "\u00e9t\u00e9 \u4f60\u597d \U0001f600", "don't stop 12345 ... <mask> [MASK]</s> now",
         "x" * 40 + "\u3000\uff21\ufb01\u2460\u0000", "static clf_status read_all(const json_t *root, const char *name)"]
SIZES = dict(vocab_size=len(families.VOCABULARY), hidden_size=12, intermediate_size=20, num_attention_heads=3, num_hidden_layers=2,
             bos_token_id=0, eos_token_id=2)


def mpnet_padding():
    """config.json's padding is not the one that counts: MPNet's positions begin after id 1."""
    return transformers.MPNetModel(transformers.MPNetConfig(**SIZES, pad_token_id=3, max_position_embeddings=39)), \
        [parts.Pooling(12, "mean")]


def roberta_padding():
    """Padding tokens in texts have a position of their own."""
    config = transformers.RobertaConfig(**SIZES, pad_token_id=1, type_vocab_size=1, max_position_embeddings=21)
    return transformers.RobertaModel(config), [parts.Pooling(12, ("cls", "lasttoken"))]


def roberta_prompt():
    """Prompts that are not pooled, every pooling, a residual that changes the width."""
    config = transformers.RobertaConfig(**SIZES, pad_token_id=1, type_vocab_size=1, max_position_embeddings=41)
    modes = ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
    return transformers.RobertaModel(config), [parts.Pooling(12, modes, include_prompt=False), parts.Dense(72, 7, use_residual=True),
                                               parts.Normalize()]


def bert_older():
    """Texts are lowercased before the tokenizer, which gives types that the network is not given; names as TensorFlow's
    checkpoints had them."""
    config = transformers.BertConfig(**SIZES, pad_token_id=1, type_vocab_size=3, max_position_embeddings=31, hidden_act="gelu_new")
    return transformers.BertModel(config), [parts.Pooling(12, "mean")]


def modernbert_biases():
    """Every bias, windows of one token to each side, global layers at a distance of two."""
    config = transformers.ModernBertConfig(**{**SIZES, "num_hidden_layers": 3}, pad_token_id=1, max_position_embeddings=51,
                                           local_attention=3, global_attn_every_n_layers=2, norm_bias=True, attention_bias=True,
                                           mlp_bias=True, hidden_activation="silu", norm_eps=1e-3)
    return transformers.ModernBertModel(config), [parts.Pooling(12, "cls"), parts.LayerNorm(12)]


def nomic_authors():
    """config.json with the keys of Nomic BERT's authors."""
    config = transformers.NomicBertConfig(**SIZES, pad_token_id=1, max_position_embeddings=51,
                                          rope_parameters={"rope_type": "default", "rope_theta": 500.0})
    return transformers.NomicBertModel(config), [parts.Pooling(12, "max")]


def trained_tokenizer(name):
    """One of those that ../tokenizer trained on this project's own texts."""
    return Tokenizer.from_file(os.path.join(HERE, "..", "tokenizer", "families", name + ".json"))


def cls_and_sep():
    """Byte-level BPE with ModernBERT's special tokens behind the vocabulary."""
    tokenizer = trained_tokenizer("smollm")
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in ("[CLS]", "[SEP]", "[PAD]")] +
                                 [AddedToken("[MASK]", lstrip=True)])
    ids = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ids)
    return tokenizer


def sized(tokenizer, **more):
    return {**SIZES, "vocab_size": tokenizer.get_vocab_size(), **more}


def xlm_roberta_unigram():
    """A Unigram tokenizer with its normalizers, of multilingual models."""
    tokenizer = trained_tokenizer("unigram")
    config = transformers.XLMRobertaConfig(**sized(tokenizer), pad_token_id=1, type_vocab_size=1, max_position_embeddings=131)
    return transformers.XLMRobertaModel(config), [parts.Pooling(12, "mean"), parts.Normalize()], tokenizer


def roberta_bytes():
    """Byte-level BPE with RobertaProcessing."""
    tokenizer = trained_tokenizer("roberta")
    config = transformers.RobertaConfig(**sized(tokenizer), pad_token_id=1, type_vocab_size=1, max_position_embeddings=131)
    return transformers.RobertaModel(config), [parts.Pooling(12, "cls")], tokenizer


def modernbert_bytes():
    """Byte-level BPE, some bytes of which have no token."""
    tokenizer = cls_and_sep()
    ids = {key: tokenizer.token_to_id(name)
           for key, name in (("pad_token_id", "[PAD]"), ("bos_token_id", "[CLS]"), ("eos_token_id", "[SEP]"),
                             ("cls_token_id", "[CLS]"), ("sep_token_id", "[SEP]"))}
    config = transformers.ModernBertConfig(**sized(tokenizer, **ids), max_position_embeddings=140, local_attention=16,
                                           global_attn_every_n_layers=2)
    return transformers.ModernBertModel(config), [parts.Pooling(12, "mean")], tokenizer


CASES = {case.__name__: case for case in (mpnet_padding, roberta_padding, roberta_prompt, bert_older, modernbert_biases, nomic_authors,
                                          xlm_roberta_unigram, roberta_bytes, modernbert_bytes)}
PROMPTS = {"query": "the dog: ", "passage": "a cat, "}
OPTIONS = {"prompt_name": "--prompt-name", "prompt": "--prompt", "truncate_dim": "--dimensions", "normalize_embeddings": "--normalize"}
CALLS = [{}, {"prompt_name": "query"}, {"prompt": "dog! ", "truncate_dim": 5, "normalize_embeddings": True}]
NO_LIMIT = 1000000000000000019884624838656  # transformers' int(1e30)


def write_json(directory, name, value):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.write("\n")


def small_tokenizer():
    tokenizer = families.make_tokenizer()
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def save(name, model, added, tokenizer, directory):
    """As sentence-transformers saves it, the weights in halves."""
    with tempfile.TemporaryDirectory() as folder:
        model.half().save_pretrained(folder)
        is_older = name == "bert_older"
        if is_older:
            tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
            tokenizer.post_processor = processors.TemplateProcessing("<s>:1 $A:1 </s>:2", special_tokens=[("<s>", 0), ("</s>", 2)])
        tokenizer.save(os.path.join(folder, "tokenizer.json"), pretty=False)
        special = SPECIAL if tokenizer.token_to_id("<s>") is not None else ("[CLS]", "[PAD]", "[SEP]")
        roles = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), special))
        inputs = ["input_ids", "attention_mask"] + ["token_type_ids"] * (getattr(model.config, "type_vocab_size", 1) > 1 and not is_older)
        limit = getattr(model.config, "max_position_embeddings", 0) - 4
        settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": limit, "model_input_names": inputs, **roles}
        write_json(folder, "tokenizer_config.json", settings)
        encoder = parts.Transformer(folder, model_kwargs=READ, do_lower_case=is_older)
        shutil.rmtree(directory, ignore_errors=True)
        SentenceTransformer(modules=[encoder, *added], device="cpu", prompts=PROMPTS).save(directory)
        for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
            shutil.copy(os.path.join(folder, name), directory)


READ = {"dtype": torch.float32, "attn_implementation": "eager"}


def exact(model):
    """In float64, the network made anew so that no angle was rounded to float32."""
    network = model[0].auto_model
    with generation.Double():
        model[0].auto_model = type(network)._from_config(network.config, attn_implementation="eager")
        model[0].auto_model.load_state_dict(network.state_dict())
        return model.double().eval()


def use_older_names(directory):
    """A checkpoint of BertForPreTraining from TensorFlow: a prefix, gamma and beta, position ids."""
    path = os.path.join(directory, "model.safetensors")
    tensors = {"bert." + key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
               for key, value in load_file(path).items()}
    save_file({**tensors, "bert.embeddings.position_ids": torch.arange(31)[None], "cls.seq_relationship.bias": torch.zeros(2)}, path)


AUTHORS_KEYS = {"hidden_size": "n_embd", "intermediate_size": "n_inner", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
                "max_position_embeddings": "n_positions", "layer_norm_eps": "layer_norm_epsilon"}


def use_authors_keys(directory):
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    for key, other in AUTHORS_KEYS.items():
        config[other] = config.pop(key)
    base = config.pop("rope_parameters")["rope_theta"]
    for key in ("hidden_act", "head_dim"):
        config.pop(key, None)
    config.update(activation_function="swiglu", rotary_emb_base=base, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
                  rotary_emb_scale_base=None, rotary_scaling_factor=None, prenorm=False, causal=False, qkv_proj_bias=False,
                  mlp_fc1_bias=False, mlp_fc2_bias=False)
    write_json(directory, "config.json", config)


def use_transformers_keys(directory):
    """The other way round: transformers does not know the authors' keys."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    if "n_embd" in config:
        config.update({key: config.pop(other) for key, other in AUTHORS_KEYS.items()})
        config["rope_parameters"] = {"rope_type": "default", "rope_theta": config.pop("rotary_emb_base")}
        write_json(directory, "config.json", config)


def make(name, case):
    directory = os.path.join(HERE, name)
    generator = torch.Generator().manual_seed(sum(map(ord, name)))
    model, added, *own = case()
    for module in (model, *added):
        families.randomise(module, generator)
    save(name, model, added, own[0] if own else small_tokenizer(), directory)
    double, calls, texts = exact(SentenceTransformer(directory, device="cpu", model_kwargs=READ)), [], \
        TEXTS + (OTHER if own else []) + [LONG]
    for call in CALLS:
        with generation.Double():
            rows = double.encode(texts, batch_size=1, convert_to_tensor=True, **call)
        assert rows.dtype == torch.float64 and torch.isfinite(rows).all()
        options = [part for key, value in call.items() for part in (OPTIONS[key], "yes" if value is True else str(value))]
        calls.append({"options": options, "rows": [[float(f"{value:.9g}") for value in row] for row in rows.tolist()]})
    for entry in ("README.md", ".gitattributes"):
        if os.path.exists(os.path.join(directory, entry)):
            os.remove(os.path.join(directory, entry))
    with open(os.path.join(directory, "tokenizer_config.json"), encoding="utf-8") as file:
        settings = json.load(file)
    if name == "mpnet_padding":  # the encoder's positions are the limit then
        assert settings.pop("model_max_length") == 35
        write_json(directory, "sentence_bert_config.json", {"max_seq_length": 35, "do_lower_case": False})
        write_json(directory, "tokenizer_config.json", {**settings, "model_max_length": NO_LIMIT})
    if name == "bert_older":
        use_older_names(directory)
    if name == "nomic_authors":
        use_authors_keys(directory)
    write_json(directory, "golden.json", {"texts": texts, "calls": calls})


if __name__ == "__main__":
    for case_name in sys.argv[1:] or CASES:
        make(case_name, CASES[case_name])
