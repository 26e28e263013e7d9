#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes host/text/unicode_ranges.c: the character classes of the `tokenizers` package, asked for code point by code point.

Usage: make_unicode_ranges.py OUTPUT        (needs: pip install tokenizers)

The package mixes Unicode versions: its general categories are those of Unicode 8, its decompositions and combining classes those of
Unicode 9, its word characters those of Unicode 16. No installed Unicode library agrees with all of them, so the classes are tables.
"""
import json
import sys

from tokenizers import Tokenizer, __version__, normalizers, pre_tokenizers

SCALARS = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def bert(**flags):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**off, **flags}).normalize_str


def split_class(code, splitter=pre_tokenizers.BertPreTokenizer()):
    """How the pre-tokenizer treats a character between two letters: "space", "punctuation" or "letter"."""
    words = [word for word, _ in splitter.pre_tokenize_str("a" + chr(code) + "b")]
    return {("a", "b"): "space", ("a", chr(code), "b"): "punctuation", ("a" + chr(code) + "b",): "letter"}[tuple(words)]


def word_characters():
    """Characters that keep a single-word token beside them from matching."""
    added = dict(id=1, content="<q>", single_word=True, lstrip=False, rstrip=False, normalized=False, special=False)
    tokenizer = Tokenizer.from_str(json.dumps(dict(
        version="1.0", truncation=None, padding=None, added_tokens=[added], normalizer=None,
        pre_tokenizer=dict(type="BertPreTokenizer"), post_processor=None, decoder=None,
        model=dict(type="WordPiece", unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100,
                   vocab={"[UNK]": 0}))))
    return [code for code in SCALARS if 1 not in tokenizer.encode(chr(code) + "<q>").ids]


# One well-known mark for each combining class.
KNOWN = {1: 0x334, 7: 0x93C, 8: 0x3099, 9: 0x94D, 10: 0x5B0, 84: 0xC55, 91: 0xC56, 103: 0xE38, 107: 0xE48, 118: 0xEB8, 122: 0xEC8,
         129: 0xF71, 130: 0xF72, 132: 0xF74, 202: 0x321, 214: 0x1DCE, 216: 0x31B, 220: 0x316, 222: 0x59A, 224: 0x302E, 226: 0x1D16D,
         228: 0x5AE, 230: 0x300, 232: 0x315, 233: 0x35C, 234: 0x35D, 240: 0x345}


def combining_class(code, nfd=normalizers.NFD().normalize_str):
    """The canonical combining class, read off the order in which NFD puts the character and marks of known class."""
    char = chr(code)
    if nfd(char) != char:
        return 0  # decomposes: never met after decomposition

    def swaps(mark):
        return nfd(char + chr(mark)) != char + chr(mark)

    if not swaps(KNOWN[1]) and nfd(chr(KNOWN[240]) + char) == chr(KNOWN[240]) + char:
        return 0
    order = sorted(KNOWN)
    below = [c for c in order if swaps(KNOWN[c])]
    return order[order.index(below[-1]) + 1] if below else 1


def accent_characters(strip=normalizers.StripAccents().normalize_str):
    """Characters that the StripAccents normalizer removes: all marks."""
    return [code for code in SCALARS if strip(chr(code)) == ""]


def numeric_characters(digits=pre_tokenizers.Digits(individual_digits=True)):
    """Characters that the Digits pre-tokenizer sets apart."""
    return [code for code in SCALARS if len(digits.pre_tokenize_str("a" + chr(code) + "b")) == 3]


def compatibility_characters(nfkd=normalizers.NFKD().normalize_str, nfd=normalizers.NFD().normalize_str):
    """Characters that NFKD decomposes and NFD does not, or not as far."""
    return [code for code in SCALARS if nfkd(chr(code)) != nfd(chr(code))]


def ranges(rows):
    """(code, value) pairs in order -> [first, last, value] without the rows whose value is false."""
    found = []
    for code, value in rows:
        if not value:
            continue
        if found and found[-1][1] == code - 1 and found[-1][2] == value:
            found[-1][1] = code
        else:
            found.append([code, code, value])
    return found


def table(out, kind, name, rows):
    out.write("\nconst %s clfi_%s_ranges[] = {\n" % (kind, name))
    line = "   "
    for row in rows:
        entry = " {%s}," % ", ".join(row)
        if len(line) + len(entry) > 138:
            out.write(line + "\n")
            line = "   "
        line += entry
    out.write(line + "\n};\nconst size_t clfi_%s_range_count = COUNT(clfi_%s_ranges);\n" % (name, name))


def main():
    clean, strip = bert(clean_text=True), bert(strip_accents=True)

    def properties(code):
        mark = strip(chr(code)) == ""
        bits = [("C", clean(chr(code)) == ""), ("S", split_class(code) == "space"), ("P", split_class(code) == "punctuation"),
                ("M", mark)]
        combining = combining_class(code)
        flags = " | ".join(name for name, there in bits if there)
        # Marks are dropped after ordering: only whether they end a run of combining characters matters.
        return (flags or "0", min(combining, 1) if mark else combining) if flags or combining else None

    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* SPDX-License-Identifier: MIT */\n"
                  "/* Character properties of the tokenizers package %s. Generated by tests/data/tokenizer/make_unicode_ranges.py:\n"
                  " * do not edit. */\n"
                  '#include "text/unicode_ranges.h"\n\n'
                  "enum { C = CLFI_CHAR_CONTROL, S = CLFI_CHAR_WHITESPACE, P = CLFI_CHAR_PUNCTUATION, M = CLFI_CHAR_MARK };\n"
                  % __version__)
        table(out, "clf_property_range", "property",
              (("0x%x" % first, "0x%x" % last, value[0], "%d" % value[1])
               for first, last, value in ranges((code, properties(code)) for code in SCALARS)))
        table(out, "clf_combining_range", "combining",
              (("0x%x" % first, "0x%x" % last, "%d" % value)
               for first, last, value in ranges((code, combining_class(code)) for code in SCALARS)))
        for name, codes in (("word", word_characters()), ("accent", accent_characters()), ("numeric", numeric_characters()),
                            ("compatibility", compatibility_characters())):
            table(out, "clf_code_range", name,
                  (("0x%x" % first, "0x%x" % last) for first, last, _ in ranges((code, True) for code in codes)))


main()
