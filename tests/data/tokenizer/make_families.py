#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the golden files of the tokenizer families, with Hugging Face's `tokenizers` package as trainer and judge.

Usage: make_families.py                 (needs: Python 3.11, pip install tokenizers) the checksums of the tokenizers that are there
       make_families.py --train         tokenizers and strings, too, from this project's own texts as they are now, which may be others than
                                        those of before: make_pieces.py and make_gguf.py, which take the strings, come after it
       make_families.py --show NAME N   prints what the judge makes of string N

Each family is a tokenizer.json trained on this project's own texts. Writes beside itself:
  families/NAME.json   the tokenizer
  families/NAME.crc    for each string 8 hexadecimal digits, ten to a line: the CRC-32 of what the judge makes of it (see sum_of())
  families/texts.jsonl the strings, one on each line: JSON text, or an object {"b": bytes in base64} where they are not UTF-8
"""
import base64
import glob
import json
import os
import random
import struct
import sys
import unicodedata
import zlib

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from golden_texts import SENTENCES, single_texts

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
OUT = os.path.join(HERE, "families")
COUNT = 2000
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def corpus():
    texts = list(SENTENCES) * 2
    for pattern in ("README.md", "LICENSE", "host/base/*.[ch]", "host/text/*.h", "include/clformer/*.h"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path, encoding="utf-8") as file:
                texts += file.read().splitlines()
    return texts


def specials(*names):
    return [AddedToken(name, special=True, normalized=False) for name in names]


def trained(tokenizer, trainer, added=()):
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.add_tokens(list(added))
    return tokenizer


def template(tokenizer, cls, sep):
    ids = [(name, tokenizer.token_to_id(name)) for name in (cls, sep)]
    return processors.TemplateProcessing(single="%s $A %s" % (cls, sep), pair="%s $A %s $B:1 %s:1" % (cls, sep, sep), special_tokens=ids)


def wordpiece():
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    trained(t, trainers.WordPieceTrainer(vocab_size=700, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=200),
            [AddedToken("New York"), AddedToken("##ing"), AddedToken("<x>", lstrip=True, normalized=False)])
    t.post_processor = template(t, "[CLS]", "[SEP]")
    return t


def byte_level(size, start, pre, alphabet=True, **model):
    t = Tokenizer(models.BPE(**model))
    t.pre_tokenizer = pre
    t.decoder = decoders.ByteLevel()
    return trained(t, trainers.BpeTrainer(vocab_size=size, special_tokens=start,
                                          initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if alphabet else []))


def gpt2():
    t = byte_level(800, ["<|endoftext|>"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    t.add_tokens([AddedToken("<word>", single_word=True), AddedToken(" two", rstrip=True)])
    return t


def roberta():
    t = byte_level(700, ["<s>", "<pad>", "</s>", "<unk>"], pre_tokenizers.ByteLevel(add_prefix_space=True), unk_token="<unk>")
    t.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return t


def llama3():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = byte_level(800, [], pre, ignore_merges=True)
    t.add_special_tokens(specials("<|begin_of_text|>", "<|end_of_text|>"))
    begin = ("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True, add_prefix_space=False), processors.TemplateProcessing(
        single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", special_tokens=[begin])])
    return t


def qwen2():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(QWEN2), "isolated"),
                                   pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = byte_level(700, [], pre)
    t.normalizer = normalizers.NFC()
    t.add_special_tokens(specials("<|im_start|>", "<|im_end|>"))
    t.post_processor = processors.ByteLevel(trim_offsets=False)
    return t


def smollm():
    pre = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t = byte_level(600, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], pre, alphabet=False)  # some bytes have no token
    return t


def byte_tokens():
    return ["<0x%02X>" % byte for byte in range(256)]


def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.pre_tokenizer = pre_tokenizers.Split("\u2581", "merged_with_next")  # for training alone
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    trained(t, trainers.BpeTrainer(vocab_size=900, special_tokens=["<unk>", "<s>", "</s>"] + byte_tokens(), limit_alphabet=120))
    full = json.loads(t.to_str())
    full["pre_tokenizer"] = None
    full["added_tokens"] = full["added_tokens"][:3]
    t = Tokenizer.from_str(json.dumps(full))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    return t


def unigram_vocabulary(size, start):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    trained(t, trainers.UnigramTrainer(vocab_size=size, special_tokens=start, unk_token="<unk>"))
    return [(token, score) for token, score in json.loads(t.to_str())["model"]["vocab"]]


def unigram():
    vocabulary = unigram_vocabulary(820, ["<s>", "<pad>", "</s>", "<unk>"])
    t = Tokenizer(models.Unigram(vocabulary, 3, False))
    t.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer, t.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    t.add_special_tokens(specials("<s>", "</s>", "<unk>") + [AddedToken("<mask>", lstrip=True)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>",
                                                     special_tokens=[("<s>", 0), ("</s>", 2)])
    return t


def unigram_bytes():
    vocabulary = unigram_vocabulary(840, ["<pad>", "</s>", "<unk>"]) + [(token, -20.0) for token in byte_tokens()]
    t = Tokenizer(models.Unigram(vocabulary, 2, True))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="first")])
    t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")])
    t.add_special_tokens(specials("</s>", "<extra_id_0>"))
    return t


def clip():
    t = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.BPEDecoder()
    trained(t, trainers.BpeTrainer(vocab_size=700, special_tokens=["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>"))
    t.post_processor = processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False,
                                                    add_prefix_space=False)
    return t


def edited():
    t = Tokenizer(models.WordPiece(unk_token="<unk>", continuing_subword_prefix="", max_input_chars_per_word=30))
    t.normalizer = normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(),
                                         normalizers.Lowercase(), normalizers.Strip(), normalizers.Prepend("_")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("contiguous"),
                                               pre_tokenizers.Digits()])
    trained(t, trainers.WordPieceTrainer(vocab_size=500, special_tokens=["<unk>"], continuing_subword_prefix="", limit_alphabet=100),
            [AddedToken("\u00c9t\u00e9"), AddedToken("<y>", normalized=False, lstrip=True, rstrip=True)])
    return t


def characters():
    """Byte-level as a normalizer, continuation prefix and fused unknown characters; NFD; cuts that merge."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, continuing_subword_prefix="@@"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Replace(Regex(r"[\p{M}\p{Cc}]"), "")])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "merged_with_previous"),
                                               pre_tokenizers.Punctuation("merged_with_next")])
    t.decoder = decoders.Sequence([decoders.Replace(Regex("^@@"), ""), decoders.Fuse()])
    trained(t, trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>"], continuing_subword_prefix="@@", limit_alphabet=80))
    return t


def cut_default():
    """The words of GGUF's pre-tokenizer "default"."""
    cuts = (r"[\p{P}\$\+<=>\^~\|]+", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)", r"\p{N}+",
            "[0-9][0-9][0-9]")
    return byte_level(600, ["<|endoftext|>"], pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(cut), "isolated") for cut in cuts] + [
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))


# Compiled by sentencepiece 0.2.3 from sixteen rules: ligatures, full width, composition, digits in circles, two to one, controls
# to nothing, spaces.
CHARSMAP = (
    "AAQAAAAYAAAHDQAAAAAAgAEAAIDMJAIAiAkAAMw8AgASAACAgQUAABUAAIAHAACAgCACAAMAAIC9HQAAjTEAAAkxAACgTQAAoA0AAAUAAICAQQAAgBwCAIANAAAYAACAgT"
    "kAAIw0AgAPAACAkawCAKEdAAANAACArX0AALZAAwCcTQAArNgCAO/0AgC+fAIAnh0AACUAAIAkAAAAJwAAACYAAAApAAAAKAAAACsAAAAqAAAALQAAACwAAAAvAAAALgAA"
    "ALwoAgC9ZAIAMwAAADIAAAA1AAAANAAAADcAAAA2AAAAOQAAADgAAAA7AAAAOgAAAD0AAAA8AAAAPwAAAD4AAABBAAAAQAAAAEMAAABCAAAARQAAAEQAAABHAAAARgAAAE"
    "kAAABIAAAASwAAAEoAAABNAAAATAAAAE8AAABOAAAAUQAAAFAAAABTAAAAUgAAAFUAAABUAAAAVwAAAFYAAABZAAAAWAAAAFsAAABaAAAAXQAAAFwAAABfAAAAXgAAAGEA"
    "AABgAAAAYwAAAGWkAgBlAAAAZAAAAGcAAABhvAIAaQAAAGgAAABrAAAAagAAAG0AAABsAAAAbwAAAG4AAABxAAAAcAAAAHMAAAByAAAAdQAAAHQAAAB3AAAAdgAAAHkAAA"
    "B4AAAAewAAAHoAAAB9AAAAfAAAAH8AAAB+AAAAgQAAAIAAAACDAAAAggAAAIUAAACEAAAAhwAAAIYAAACJAAAAiAAAAIsAAACKAAAAjQAAAIwAAACPAAAAjgAAAJEAAACQ"
    "AAAAkwAAAJIAAACVAAAAlAAAAJcAAACWAAAAmQAAAJgAAACbAAAAmgAAAJ0AAACcAAAAnwAAAJ4AAAChAAAAoAAAAKMAAACiAAAApQAAAKQAAACnAAAApgAAAKkAAACoAA"
    "AAqwAAAKoAAACtAAAArAAAAK8AAACuAAAAsQAAALAAAACzAAAAsgAAALUAAAC0AAAAtwAAALYAAAC5AAAAuAAAALsAAAC6AAAAvQAAALwAAAC/AAAAvgAAAMEAAADAAAAA"
    "wwAAAMIAAADC0AEAxAAAAMcAAADGAAAAyQAAAMgAAADLAAAAygAAAM0AAADMAAAAzwAAAM4AAADRAAAA0AAAANMAAADSAAAA1QAAANQAAADXAAAA1gAAANkAAADYAAAA2w"
    "AAANoAAADdAAAA3AAAAN8AAADeAAAA4QAAAOAAAADjAAAA4gAAAOK8AQDjxAEA5wAAAOYAAADpAAAA75QBAOsAAADqAAAA7QAAAOwAAADvAAAA7gAAAPEAAADwAAAA8wAA"
    "APIAAAD1AAAA9AAAAPcAAAD2AAAA+QAAAPgAAAD7AAAA+gAAAP0AAAD8AAAA/wAAAP4AAAAAIAAiADEAMeKBhDIAQQBmaQDDpADDqQDjgqLjg5Hjg7zjg4gA44KsAA==")


def precompiled():
    vocabulary = unigram_vocabulary(840, ["<pad>", "</s>", "<unk>"])
    t = Tokenizer(models.Unigram(vocabulary, 2, False))
    t.normalizer = normalizers.Precompiled(base64.b64decode(CHARSMAP))
    t.pre_tokenizer, t.decoder = pre_tokenizers.Metaspace(prepend_scheme="always", split=True), decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
    return t


FAMILIES = (wordpiece, gpt2, roberta, llama3, qwen2, smollm, llama2, unigram, unigram_bytes, clip, edited, characters, cut_default,
            precompiled)


def is_settled(text):
    """No character that came after Unicode 14 (Python 3.11's): what regular expressions take it for depends on the version
    of their library."""
    return all(unicodedata.category(char) != "Cn" or ord(char) & 0xFFFE == 0xFFFE for char in text.decode(errors="replace"))


def texts():
    """Difficult strings, with the families' special tokens in some of them."""
    rng = random.Random(7)
    chosen = [text * times for text, times in single_texts(["a", "##a"]) if times <= 50 and is_settled(text)]
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<s>", "</s>", "<unk>", "<mask>", "<pad>", "<word>", " two", "New York",
             "<x>", "<y>", "<0x41>", "<0xE2>", "<extra_id_0>", "<|begin_of_text|>", "\u2581", "\u2581\u2581", "\u0120", "``", "##ing",
             "@@", "</w>"]
    words = ["hello", " ", "  ", "\t", "\n\n", "12345", "don't", "I'LL", "\u00e9t\u00e9", "\u4f60\u597d", "\U0001f600", "x" * 40, ".",
             "...", "\u00bd\u00b2\u2163", "\u0661", "\r\n", "\u3000", "\u00a0", "\u180e", "\x1c", "\u0085", "e\u0301", "a_b", "'s",
             "'\u017f"]
    spaced = [(" " * n + word + " " * k).encode() for n in (0, 1, 2, 5, 40) for k in (0, 1, 3)
              for word in ("", "a", "1", "\n", ".", "\u00e9")]
    mixed = ["".join(rng.choice(names + words * 2) for _ in range(rng.randrange(1, 10))).encode() for _ in range(400)]
    code = [line.encode() for line in TEXTS if line.strip()]
    rest = COUNT - len(spaced) - len(mixed) - 200
    return spaced + mixed + rng.sample(code, 200) + rng.sample(chosen, rest)


def encode(judge, strings, n):
    text = strings[n].decode(errors="replace")
    return judge.encode(text, strings[(n + 1) % COUNT].decode(errors="replace")) if n % 8 == 7 else judge.encode(text)


def sum_of(judge, strings, n):
    """The CRC-32 of an encoding. Its bytes are, for each token, five 32-bit little-endian numbers: id, type id, 1 if the post-processor
    added it, start and end in characters. Then follow the text that the ids decode to, 0xff, and the same text without special tokens. Each
    eighth string is encoded as a pair
    with the next one."""
    e = encode(judge, strings, n)
    data = b"".join(struct.pack("<iiiii", i, y, s, *o) for i, y, s, o in zip(e.ids, e.type_ids, e.special_tokens_mask, e.offsets))
    data += judge.decode(e.ids, skip_special_tokens=False).encode() + b"\xff" + judge.decode(e.ids, skip_special_tokens=True).encode()
    return zlib.crc32(data)


def write(path, text):
    with open(os.path.join(OUT, path), "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def line_of(text):
    try:
        return json.dumps(text.decode(), ensure_ascii=False).replace("\x7f", "\\u007f").replace("\u2028", "\\u2028").replace(
            "\u2029", "\\u2029")
    except UnicodeDecodeError:
        return json.dumps({"b": base64.b64encode(text).decode()})


def train():
    os.makedirs(OUT, exist_ok=True)
    write("texts.jsonl", "".join(line_of(text) + "\n" for text in texts()))
    for family in FAMILIES:
        write(family.__name__ + ".json", json.dumps(json.loads(family().to_str()), ensure_ascii=True, separators=(",", ":")) + "\n")


def read_strings():
    with open(os.path.join(OUT, "texts.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    strings = [row.encode() if isinstance(row, str) else base64.b64decode(row["b"]) for row in rows]
    assert len(strings) == COUNT
    return strings


def main():
    strings = read_strings()
    for family in FAMILIES:
        judge = Tokenizer.from_file(os.path.join(OUT, family.__name__ + ".json"))
        sums = ["%08x" % sum_of(judge, strings, n) for n in range(COUNT)]
        write(family.__name__ + ".crc", "".join(" ".join(sums[i:i + 10]) + "\n" for i in range(0, COUNT, 10)))
        print(family.__name__, judge.get_vocab_size())


def show(name, n):
    judge = Tokenizer.from_file(os.path.join(OUT, name + ".json"))
    strings = read_strings()
    e = encode(judge, strings, n)
    print(ascii(strings[n].decode(errors="replace")))
    for row in zip(e.ids, e.type_ids, e.special_tokens_mask, e.offsets, map(ascii, e.tokens)):
        print(*row)
    print(ascii(judge.decode(e.ids, skip_special_tokens=False)), ascii(judge.decode(e.ids)))


TEXTS = corpus()
if len(sys.argv) == 4 and sys.argv[1] == "--show":
    show(sys.argv[2], int(sys.argv[3]))
else:
    if sys.argv[1:] == ["--train"]:
        train()
    main()
