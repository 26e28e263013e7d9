#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes classes.jsonl: what transformers 5's classes of tokenizers make of the families' tokenizer.json.

Usage: make_classes.py         (needs: Python 3.11, pip install transformers==5.24.0 tokenizers)

The first line has the texts and a pair. Each of the others is one directory: the family whose tokenizer.json it has, the parts of it that
are replaced, tokenizer_config.json and config.json. Then come the class that was taken, the ids of each text and of the pair, and the texts
that the ids are decoded to. It is "error" where transformers itself fails. A text in which a class would give a token an id behind the
vocabulary, for which no model has a row, has null.
"""
import json
import os
import tempfile

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["Hello world", "  two  spaces and\ttab\nline ", "\ufb01ne \u2460\u2461 \uff21\uff42\uff43 \u00c5 \u00e9 e\u0301 na\u00efve",
         "it's 1234 we'RE don't", "New York <mask> and</s> <s> [CLS] x", "\u65e5\u672c\u8a9e \u4e2d\u6587 \u00df \u0130", " lead", "",
         "a\u2581b \u2581 <unk> <|endoftext|> <|im_start|>hi<|im_end|>", "emoji \U0001f600 \u200b zero", "foo  bar\r\n\r\nbaz   ",
         "A\u00a0B"]
PAIR = ["Hello world", "two x"]
LOWER, WHITESPACE = {"type": "Lowercase"}, {"type": "Whitespace"}


def family(name):
    with open(os.path.join(HERE, "families", name + ".json"), encoding="utf-8") as file:
        return json.load(file)


def charsmap():
    normalizer = family("precompiled")["normalizer"]
    return next(part for part in normalizer.get("normalizers", [normalizer]) if part["type"] == "Precompiled")


def listed(name, kept=None):
    tokens = {str(t["id"]): {k: v for k, v in t.items() if k != "id"} for t in family(name)["added_tokens"]}
    return {"added_tokens_decoder": {i: t for i, t in tokens.items() if kept is None or t["content"] in kept}}


def cases():
    table = {"normalizer": {"type": "Sequence", "normalizers": [LOWER, charsmap()]}}
    bare, lower = {"normalizer": None, "pre_tokenizer": WHITESPACE, "post_processor": None}, {"normalizer": LOWER}
    for name in ("BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "ElectraTokenizer", "MobileBertTokenizer"):
        for config in ({}, {"do_lower_case": False}, {"strip_accents": False}, {"do_lower_case": False, "strip_accents": True},
                       {"tokenize_chinese_chars": False}):
            yield "wordpiece", name, "bert", config, bare
    ends = {"bos_token": "[CLS]", "cls_token": "[CLS]", "eos_token": "[SEP]", "sep_token": "[SEP]", "pad_token": "[PAD]"}
    yield "wordpiece", "MPNetTokenizer", "mpnet", dict(ends, mask_token="[MASK]"), lower
    for config in ({}, {"add_prefix_space": True}, {"trim_offsets": False}):
        yield "roberta", "RobertaTokenizer", "roberta", config, lower
        yield "roberta", "BartTokenizerFast", "bart", config, lower
    for config in ({}, {"add_prefix_space": False}, {"add_prefix_space": None}):
        yield "unigram", "XLMRobertaTokenizer", "xlm-roberta", config, {}
        yield "unigram", "XLMRobertaTokenizerFast", "xlm-roberta", config, bare
        yield "unigram", "XLMRobertaTokenizer", "xlm-roberta", config, table
        yield "unigram", "CamembertTokenizer", "camembert", config, {"normalizer": charsmap()}
    yield "unigram", "XLMRobertaTokenizer", "bert", {}, {}
    yield "unigram", "T5Tokenizer", "t5", {"unk_token": "</s>"}, {}
    yield "unigram", "LlamaTokenizer", "llama", {}, {}
    yield "wordpiece", "XLMRobertaTokenizer", "xlm-roberta", {}, {}
    for config in ({}, {"legacy": True}, {"legacy": None}, {"add_prefix_space": False}, {"add_prefix_space": None},
                   {"add_bos_token": True, "add_eos_token": True}, {"add_bos_token": False}):
        yield "llama2", "LlamaTokenizer", "llama", config, {}
        yield "llama2", "LlamaTokenizerFast", "llama", config, dict(lower, post_processor=None)
        yield "llama2", "CodeLlamaTokenizer", "llama", config, {}
        yield "llama3", "LlamaTokenizerFast", "llama", config, {}
        yield "llama2", "LlamaTokenizer", "phi3", config, {}
        yield "llama2", "LlamaTokenizer", "mistral", config, {}
        yield "llama2", "GemmaTokenizer", "gemma2", dict({"bos_token": "<s>", "eos_token": "</s>"}, **config), {}
        yield "qwen2", "Qwen2Tokenizer", "qwen3", config, lower
        yield "gpt2", "Qwen2TokenizerFast", "qwen2", config, {}
        yield "gpt2", "PreTrainedTokenizerFast", "qwen2", config, {}
        yield "wordpiece", "PreTrainedTokenizerFast", "bert", dict({"do_lower_case": False}, **config), {}
        if None not in config.values():
            yield "gpt2", "GPT2Tokenizer", "gpt2", config, dict(lower, pre_tokenizer=WHITESPACE)
            yield "gpt2", "GPTNeoXTokenizer", "llama", config, {}
            yield "gpt2", "CohereTokenizer", "llama", config, {}
    yield "qwen2", "Qwen3_5Tokenizer", "qwen3", {}, {}
    yield "gpt2", "BertTokenizer", "modernbert", {}, {}
    yield "qwen2", "Qwen2Tokenizer", "qwen3", listed("qwen2"), {"added_tokens": []}
    yield "wordpiece", "BertTokenizer", "bert", listed("wordpiece", ("[UNK]", "[CLS]", "[SEP]")), {}
    yield "llama2", "LlamaTokenizer", "llama", listed("llama2"), {}
    yield "wordpiece", None, "bert", {"do_lower_case": False}, bare
    yield "llama2", None, "llama", {"add_bos_token": True}, {}
    yield "gpt2", None, "qwen3", {}, {}
    yield "qwen2", None, "gpt2", {}, {}


def judge(name, edit, config, model):
    tokenizer = family(name)
    tokenizer.update(edit)
    rows = max([len(tokenizer["model"]["vocab"])] + [t["id"] + 1 for t in tokenizer["added_tokens"]] +
               [int(i) + 1 for i in config.get("added_tokens_decoder", {})])
    with tempfile.TemporaryDirectory() as folder:
        for file, content in (("tokenizer.json", tokenizer), ("tokenizer_config.json", config), ("config.json", model)):
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                json.dump(content, out)
        try:
            t = AutoTokenizer.from_pretrained(folder)
        except Exception:
            return {"error": True}
        ids = [t(text)["input_ids"] for text in TEXTS]
        return {"class": type(t).__name__, "ids": [i if max(i + [0]) < rows else None for i in ids], "pair": t(*PAIR)["input_ids"],
                "decoded": [t._tokenizer.decode(i, skip_special_tokens=False) for i in ids]}


def main():
    with open(os.path.join(HERE, "classes.jsonl"), "w", encoding="utf-8") as out:
        out.write(json.dumps({"texts": TEXTS, "pair": PAIR}) + "\n")
        for name, class_name, model_type, config, edit in cases():
            if class_name:
                config = dict(config, tokenizer_class=class_name)
            model = {"model_type": model_type, "transformers_version": "5.24.0"}
            row = {"tokenizer": name, "edit": edit, "config": config, "model": model}
            row.update(judge(name, edit, config, model))
            out.write(json.dumps(row, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
