#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the golden files of the tokenizer tests with Hugging Face's `tokenizers` package as the judge.

Usage: make_golden.py MODEL_DIR        (needs: pip install tokenizers; MODEL_DIR holds all-MiniLM-L6-v2's tokenizer.json and vocab.txt)

Writes beside itself:
  vocab.txt       a copy of the model's
  golden_*.jsonl  first line: {"tokenizer": tokenizer.json without its vocabulary}; then one text per line:
                  t text, or b its bytes in base64 when they are not UTF-8; n times it is repeated (1); p or q the pair likewise;
                  m max_tokens (none); s special tokens are added (true);
                  i ids, [id, count] for a run; y type ids likewise when they are not all 0; c whether something was cut off (false)
  sweep.txt       for each block of 256 code points the CRC-32 of what becomes of them (see sweep())
"""
import base64
import hashlib
import itertools
import json
import os
import random
import shutil
import struct
import sys
import zlib

from tokenizers import Tokenizer, __version__, normalizers, pre_tokenizers

from golden_texts import SENTENCES, mixed_text, damaged, single_texts, variant_texts

HERE = os.path.dirname(os.path.abspath(__file__))
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def runs(values):
    out = []
    for value, group in itertools.groupby(values):
        count = len(list(group))
        out += [value] * count if count < 4 else [[value, count]]
    return out


def put_text(record, names, text):
    try:
        record[names[0]] = text.decode()
    except UnicodeDecodeError:
        record[names[1]] = base64.b64encode(text).decode()


def record_of(judge, text, times=1, pair=None, limit=0, specials=True):
    record = {}
    put_text(record, "tb", text)
    if times != 1:
        record["n"] = times
    if pair is not None:
        put_text(record, "pq", pair)
    judge.no_truncation()
    full = (text * times).decode(errors="replace")
    other = None if pair is None else pair.decode(errors="replace")
    uncut = judge.encode(full, other, add_special_tokens=specials)
    encoding = uncut
    if limit:
        record["m"] = limit
        judge.enable_truncation(limit)
        encoding = judge.encode(full, other, add_special_tokens=specials)
    if not specials:
        record["s"] = False
    record["i"] = runs(encoding.ids)
    if any(encoding.type_ids):
        record["y"] = runs(encoding.type_ids)
    if len(encoding.ids) < len(uncut.ids):
        record["c"] = True
    return record


def pair_records(judge, seed, count, smallest):
    """Pairs, cut texts and cut pairs; limits never smaller than the special tokens."""
    rng = random.Random(seed)

    def text():
        kind = rng.random()
        if kind < 0.08:
            return b""
        value = rng.choice(SENTENCES).encode() if kind < 0.5 else mixed_text(rng)
        return damaged(rng, value) if kind > 0.95 else value

    for i in range(count):
        specials = rng.random() < 0.85
        limit = rng.choice((smallest, smallest + 1, smallest + 2, smallest + 3, 8, 11, 16, 17, 30, 64, 128))
        yield record_of(judge, text(), 1, text(), 0, specials)
        yield record_of(judge, text(), 1, None, limit, specials)
        yield record_of(judge, text(), 1, text(), limit, specials)


def write_golden(name, tokenizer, vocab, texts, pairs, smallest=3):
    full = json.loads(json.dumps(tokenizer))
    full["model"]["vocab"] = vocab
    judge = Tokenizer.from_str(json.dumps(full))
    records = [record_of(judge, text, times) for text, times in texts]
    records += pair_records(judge, name, pairs, smallest)
    with open(os.path.join(HERE, "golden_%s.jsonl" % name), "w", encoding="ascii", newline="\n") as out:
        out.write(json.dumps({"tokenizer": tokenizer}, separators=(",", ":")) + "\n")
        for record in records:
            out.write(json.dumps(record, separators=(",", ":")) + "\n")
    print("golden_%s.jsonl: %d records" % (name, len(records)))


def sweep(judge):
    """CRC-32 over the code points of each block of 256, surrogates left out. For each code point these bytes follow, each text as UTF-8 and
    ended by 0xff. First comes its normal form under the model's settings, then under cleaning alone, ideograph spacing alone, and
    lower-casing alone. Then comes the accent-free form of x U+302E . U+1D165 U+1B44 with the code point in place of the dot, which shows
    its decomposition and its combining class. Then come the words of a.b, each ended by 0xfe. Last are the ids of a.b and of the code point
    alone, 32 bits little-endian, without special tokens."""
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)

    def bert(**flags):
        return normalizers.BertNormalizer(**{**off, **flags}).normalize_str

    forms = [judge.normalizer.normalize_str, bert(clean_text=True), bert(handle_chinese_chars=True), bert(lowercase=True)]
    strip = bert(strip_accents=True)
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    for start in range(0, 0x110000, 256):
        codes = [code for code in range(start, start + 256) if not 0xD800 <= code < 0xE000]
        encodings = judge.encode_batch([t for code in codes for t in ("a" + chr(code) + "b", chr(code))], add_special_tokens=False)
        crc = 0
        for i, code in enumerate(codes):
            char = chr(code)
            parts = [form(char) for form in forms] + [strip("x\u302e" + char + "\U0001d165\u1b44")]
            data = b"".join(part.encode() + b"\xff" for part in parts)
            data += b"".join(word.encode() + b"\xfe" for word, _ in words("a" + char + "b"))
            for encoding in encodings[2 * i:2 * i + 2]:
                data += struct.pack("<%di" % len(encoding.ids), *encoding.ids)
            crc = zlib.crc32(data, crc)
        yield crc


def write_sweep(judge):
    sums = ["%08x" % value for value in sweep(judge)]
    with open(os.path.join(HERE, "sweep.txt"), "w", encoding="ascii", newline="\n") as out:
        for i in range(0, len(sums), 16):
            out.write(" ".join(sums[i:i + 16]) + "\n")


def main():
    source = sys.argv[1]
    with open(os.path.join(source, "vocab.txt"), "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != VOCABULARY_SHA256:
            sys.exit("%s: not the vocabulary of all-MiniLM-L6-v2" % source)
    shutil.copyfile(os.path.join(source, "vocab.txt"), os.path.join(HERE, "vocab.txt"))
    with open(os.path.join(source, "tokenizer.json"), encoding="utf-8") as file:
        base = json.load(file)
    base["truncation"] = base["padding"] = None
    vocab = base["model"].pop("vocab")
    tokens = sorted(vocab, key=vocab.get)
    print("tokenizers", __version__)

    write_golden("uncased", base, vocab, single_texts(tokens), 100)

    def variant(name, flags=(), added=(), pairs=10, smallest=3, model=(), every=1, texts=(), **parts):
        tokenizer = json.loads(json.dumps(base))
        tokenizer["normalizer"].update(flags)
        tokenizer["model"].update(model)
        tokenizer["added_tokens"] += added
        tokenizer.update(parts)
        chosen = variant_texts(tokens, name, [token["content"] for token in added])[::every]
        write_golden(name, tokenizer, vocab, chosen + [(text.encode(), 1) for text in texts], pairs, smallest)

    variant("cased", flags=dict(lowercase=False))
    variant("cased_stripped", flags=dict(lowercase=False, strip_accents=True))
    variant("accented", every=2, flags=dict(strip_accents=False))
    variant("unspaced", every=2, flags=dict(handle_chinese_chars=False, clean_text=False))
    variant("verbatim", every=2, normalizer=None)

    def added_token(content, number, **flags):
        return {**dict(id=vocab.get(content, len(vocab) + number), content=content, special=False, single_word=False, lstrip=False,
                       rstrip=False, normalized=True), **flags}

    variant("added", pairs=30, added=[
        added_token("<x>", 0, normalized=False, lstrip=True), added_token("Foo Bar", 1, rstrip=True),
        added_token("zz", 2, single_word=True), added_token("zzy", 3, normalized=False, single_word=True, lstrip=True, rstrip=True),
        added_token(" q", 4), added_token("##ing", 5),
        added_token("hello", 6, normalized=False), added_token("\u00e9\u0130", 5), added_token("[Z]", 6, special=True, normalized=True),
        added_token("<x>y", 7, normalized=False), added_token("abc", 8, normalized=False, single_word=True),
        added_token("bcd", 8, normalized=False), added_token("[L]", 9, lstrip=True), added_token("Ww", 10),
        added_token("wW", 11, special=True)],
        texts=["xabcd abcd abc bcd", "Foo Bar  [L] Foo Bar\t\t[L]", "ww WW Ww", "azzy zzy  zzy", "<x>y <x>", " <x> <x>", "q q qq",
               "[l][z] [Z]"])
    variant("bert", every=3, pairs=25, post_processor=dict(type="BertProcessing", sep=["[SEP]", 102], cls=["[CLS]", 101]),
            model=dict(max_input_chars_per_word=5))
    variant("roberta", every=3, pairs=25, smallest=4,
            post_processor=dict(type="RobertaProcessing", sep=["[SEP]", 102], cls=["[CLS]", 101], trim_offsets=True,
                                add_prefix_space=False))
    variant("plain", every=3, pairs=25, smallest=1, post_processor=None, model=dict(continuing_subword_prefix=""))

    base["model"]["vocab"] = vocab
    write_sweep(Tokenizer.from_str(json.dumps(base)))


main()
