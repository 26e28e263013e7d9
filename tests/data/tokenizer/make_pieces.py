#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a sentencepiece.bpe.model as XLM-RoBERTa and CamemBERT are downloaded with, and what their tokenizers make of the 2,000 strings.

Usage: make_pieces.py                   (needs: Python 3.11, pip install tokenizers transformers protobuf)

Writes families/pieces/sentencepiece.bpe.model: the vocabulary and the normal forms of families/precompiled.json, and
families/xlm_roberta.crc and families/camembert.crc, as make_families.py does. The judge is the tokenizer that transformers' converters make
of the file, with the special tokens that the classes add."""
import base64
import json
import os
import struct
import zlib

from tokenizers import AddedToken
from transformers.convert_slow_tokenizer import CamembertConverter, XLMRobertaConverter, import_protobuf

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "families")
NORMAL, UNKNOWN, CONTROL = 1, 2, 3


class Slow:
    """The attributes that the converters ask of a tokenizer that reads the file itself."""
    vocab_file = os.path.join(OUT, "pieces", "sentencepiece.bpe.model")

    def __init__(self, begin, end):
        self.ids = {"<s>": begin, "</s>": end}

    def convert_tokens_to_ids(self, token):
        return self.ids[token]


def write_pieces():
    with open(os.path.join(OUT, "precompiled.json"), encoding="utf-8") as file:
        given = json.load(file)
    model = import_protobuf().ModelProto()
    rows = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    rows += [(token, score, NORMAL) for token, score in given["model"]["vocab"] if token[0] != "<" or len(token) == 1]
    for token, score, kind in rows:
        model.pieces.add(piece=token, score=score, type=kind)
    model.trainer_spec.model_type = 1
    model.trainer_spec.unk_id, model.trainer_spec.bos_id, model.trainer_spec.eos_id = 0, 1, 2
    model.normalizer_spec.precompiled_charsmap = base64.b64decode(given["normalizer"]["precompiled_charsmap"])
    model.normalizer_spec.add_dummy_prefix = model.normalizer_spec.remove_extra_whitespaces = \
        model.normalizer_spec.escape_whitespaces = True
    os.makedirs(os.path.dirname(Slow.vocab_file), exist_ok=True)
    with open(Slow.vocab_file, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))


def with_specials(tokenizer, *more):
    tokenizer.add_special_tokens(["<s>", "</s>", "<unk>", "<pad>", AddedToken("<mask>", lstrip=True), *more])
    return tokenizer


def sum_of(judge, text, pair):
    """As in make_families.py."""
    e = judge.encode(text, pair)
    data = b"".join(struct.pack("<iiiii", i, y, s, *o) for i, y, s, o in zip(e.ids, e.type_ids, e.special_tokens_mask, e.offsets))
    data += judge.decode(e.ids, skip_special_tokens=False).encode() + b"\xff" + judge.decode(e.ids, skip_special_tokens=True).encode()
    return zlib.crc32(data)


def main():
    write_pieces()
    judges = {"xlm_roberta": with_specials(XLMRobertaConverter(Slow(0, 2)).converted()),
              "camembert": with_specials(CamembertConverter(Slow(5, 6)).converted(), "<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED")}
    with open(os.path.join(OUT, "texts.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = [row if isinstance(row, str) else base64.b64decode(row["b"]).decode(errors="replace") for row in rows]
    for name, judge in judges.items():
        sums = ["%08x" % sum_of(judge, text, texts[(n + 1) % len(texts)] if n % 8 == 7 else None) for n, text in enumerate(texts)]
        with open(os.path.join(OUT, name + ".crc"), "w", encoding="utf-8", newline="\n") as file:
            file.write("".join(" ".join(sums[i:i + 10]) + "\n" for i in range(0, len(sums), 10)))
        print(name, judge.get_vocab_size())


if __name__ == "__main__":
    main()
