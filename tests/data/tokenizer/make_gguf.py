#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes gguf.crc: what llama.cpp and Hugging Face's `tokenizers` make of the strings of families/texts.jsonl with GGUF's tokenizers.

Usage: make_gguf.py                        (needs gguf, llama-cpp-python and tokenizers; writes beside itself)
       make_gguf.py --check PROGRAM SEED   compares `PROGRAM tokenize` and `detokenize` on 2,000 strings from that seed

Each kind is the vocabulary of one of the families, written as a GGUF file. llama.cpp gives the ids. `tokenizers` with the same vocabulary
decodes them and must give the same ids, except for strings with bytes that have no token: `tokenizers` drops such bytes before it merges,
llama.cpp afterwards. A line of gguf.crc is a kind and, for each hundred
strings, the CRC-32 of their ids (32 bits little-endian) and decoded text, each behind the other."""
import base64
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata
import zlib

import gguf
from llama_cpp import Llama
from tokenizers import Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = os.path.join(HERE, "families")
KINDS = {"smollm": ("smollm", "smollm"), "gpt-2": ("gpt2", "gpt-2"), "llama-bpe": ("llama3", "llama-bpe"), "qwen2": ("qwen2", "qwen2"),
         "default": ("cut_default", "default"), "llama": ("llama2", None), "llama-without-space": ("llama2", None)}
COUNT, BLOCK = 2000, 100
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
SPACES = (" |  |\t|\n|\r\n|\n\n\n|\u00a0|\u1680|\u2003|\u200a|\u200b|\u2028|\u202f|\u3000|\ufeff|\x0b|\x0c|\x1c|\x1f|\x85|\u180e|"
          "      ").split("|")
PARTS = ("hello the 12345 don't I'LL we've 3.14 1,000,000 a_b x=y+z(); foo@baz.com \u00e9t\u00e9 \u4f60\u597d\u4e16\u754c "
         "\u0645\u0631\u062d \u0391\u03a3 \u00bd\u00b2\u2163 \u0661\u0662 's 'S '\u017f 'Re CamelCase ...!!! $100 #tag ~|^` <|endoftext|> "
         "<|im_start|> <s> </s> <unk> <0x41> <|endof \u2581 \u2581\u2581 \u0120 e\u0301 \u0301 "
         "\u1e9b\u0323 \u0958 \uac01 \u1100\u1161\u11a8 \u0130 "
         "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f44d\U0001f3fd \U0001f1e9\U0001f1ea \u2764\ufe0f").split()


def write_kind(kind, path):
    """The kind's GGUF file, and the same tokenizer for `tokenizers`."""
    family, pre = KINDS[kind]
    with open(os.path.join(FAMILIES, family + ".json"), encoding="utf-8") as file:
        whole = json.load(file)
    whole["post_processor"] = None
    whole["added_tokens"] = [token for token in whole["added_tokens"] if token["special"]]
    if pre:
        whole["normalizer"] = None
    elif kind == "llama-without-space":
        whole["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
        whole["decoder"]["decoders"].pop()  # nothing to strip
    vocabulary = {**whole["model"]["vocab"], **{token["content"]: token["id"] for token in whole["added_tokens"]}}
    merges = [merge.split(" ", 1) if isinstance(merge, str) else merge for merge in whole["model"]["merges"]]
    tokens = [f"[PAD{i}]" for i in range(max(vocabulary.values()) + 1)]
    for token, i in vocabulary.items():
        tokens[i] = token
    special = {token["content"] for token in whole["added_tokens"]}
    writer = gguf.GGUFWriter(path, "llama")
    for add, value in ((writer.add_context_length, 512), (writer.add_embedding_length, 8), (writer.add_block_count, 1),
                       (writer.add_head_count, 1), (writer.add_feed_forward_length, 8), (writer.add_layer_norm_rms_eps, 1e-5),
                       (writer.add_rope_dimension_count, 8)):
        add(value)
    writer.add_tokenizer_model("gpt2" if pre else "llama")
    writer.add_tokenizer_pre(pre or "default")
    writer.add_token_list([token.encode() for token in tokens])
    types = [CONTROL if token in special else NORMAL for token in tokens]
    if pre:
        writer.add_token_merges([" ".join(merge) for merge in merges])
        writer.add_bos_token_id(0)
        writer.add_eos_token_id(0)
    else:  # the earlier a merge, the higher its score
        rank = {}
        for i, merge in enumerate(merges):
            rank.setdefault("".join(merge), i)
        types = [UNKNOWN if token == "<unk>" else BYTE if token.startswith("<0x") else kind_of for token, kind_of in zip(tokens, types)]
        rest = [0.0 if kind_of != NORMAL else -1e4 for kind_of in types]
        writer.add_token_scores([-float(rank[token]) if token in rank else score for token, score in zip(tokens, rest)])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_unk_token_id(0)
        writer.add_add_space_prefix(kind == "llama")
    writer.add_token_types(types)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Tokenizer.from_str(json.dumps(whole)), {char for token in tokens for char in token}


def golden_strings():
    with open(os.path.join(FAMILIES, "texts.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [row if isinstance(row, str) else base64.b64decode(row["b"]).decode(errors="replace") for row in rows]


def random_character(rng):
    """A character of any plane, assigned in Python's Unicode or never to be."""
    while True:
        low, high = rng.choice(((0, 0x250), (0, 0x3000), (0, 0xd800), (0xe000, 0x20000), (0x20000, 0x110000)))
        code = rng.randrange(low, high)
        if not 0xd800 <= code < 0xe000 and (unicodedata.category(chr(code)) != "Cn" or code & 0xFFFE == 0xFFFE):
            return chr(code)


def random_strings(seed):
    rng = random.Random(seed)

    def part():
        kind = rng.random()
        if kind < 0.03:
            return rng.choice("a\u00e9\u4f60\U0001f600\u0301 1.") * rng.choice((30, 101, 400))
        if kind < 0.35:
            return rng.choice(SPACES)
        return rng.choice(PARTS) if kind < 0.7 else "".join(random_character(rng) for _ in range(rng.choice((1, 1, 2, 6))))
    return ["".join(part() for _ in range(rng.choice((0, 1, 2, 3, 5, 8, 13)))) for _ in range(COUNT)]


def judge(kind, path, strings):
    """Ids and decoded text of each string."""
    tokenizer, letters = write_kind(kind, path)
    llama, rows = Llama(path, vocab_only=True, verbose=False), []
    alphabet = gpt2_letters()
    for text in strings:
        ids = llama.tokenize(text.encode(), add_bos=False, special=True)
        own = tokenizer.encode(text).ids
        drops = KINDS[kind][1] and any(alphabet[byte] not in letters for byte in text.encode())
        assert ids == own or drops, (kind, text, ids, own)
        rows.append((ids, tokenizer.decode(ids, skip_special_tokens=False)))
    return rows


def gpt2_letters():
    """The letter that stands for each byte."""
    plain = [*range(0x21, 0x7f), *range(0xa1, 0xad), *range(0xae, 0x100)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(others)) for byte in range(256)]


def run(program, command, path, lines, name):
    with open(name, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([program, command, "--json", "--file", name, path], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def check(program, seed, folder):
    wrong, strings = 0, random_strings(seed)
    for kind in KINDS:
        path = os.path.join(folder, kind + ".gguf")
        wanted = judge(kind, path, strings)
        ids = [row["ids"] for row in run(program, "tokenize", path, strings, os.path.join(folder, "texts.jsonl"))]
        texts = run(program, "detokenize", path, [row[0] for row in wanted], os.path.join(folder, "ids"))
        differ = [n for n, row in enumerate(zip(ids, texts)) if row != wanted[n]]
        print(f"{kind}: {len(differ)} of {COUNT} differ" + (f", the first: {ascii(strings[differ[0]])}" if differ else ""))
        wrong += len(differ) + (len(ids) != COUNT) + (len(texts) != COUNT)
    sys.exit(1 if wrong else 0)


def make(folder):
    strings = golden_strings()
    with open(os.path.join(HERE, "gguf.crc"), "w", encoding="ascii") as file:
        for kind in KINDS:
            rows = judge(kind, os.path.join(folder, kind + ".gguf"), strings)
            data = [struct.pack(f"<{len(ids)}i", *ids) + text.encode() for ids, text in rows]
            sums = [zlib.crc32(b"".join(data[i:i + BLOCK])) for i in range(0, COUNT, BLOCK)]
            file.write(kind + "".join(f" {value:08x}" for value in sums) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        if len(sys.argv) == 4 and sys.argv[1] == "--check":
            check(os.path.abspath(sys.argv[2]), int(sys.argv[3]), temporary)
        make(temporary)
