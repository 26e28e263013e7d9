#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny random encoder-decoders with tokenizers, as transformers stores them, and what it computes with them in float64.

Usage: make_golden.py [NAME ...]    (needs torch, transformers, tokenizers, sentencepiece; writes beside itself)

Each folder holds config.json, generation_config.json, model.safetensors (float16), tokenizer.json and golden.json. That has sources with
the logits of the first token of their text, and the tokens of greedy decoding. Some folders have beams.json, the results of beam searches.
Sources go beyond the buckets of distances."""
import contextlib
import json
import math
import os
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "generation"))
from make_golden import LETTERS, MERGES, WORDS, Double, randomise  # noqa: E402  pylint: disable=wrong-import-position

TEXTS = ["a", "the cat sat", "zebra  quick!",
         "the cat sat, the cat sat! the dog ran and ran until the cat sat. the end of the tale, at last"]
TOKENS = 10
PIECES = ["▁", ",", "!", ".", "▁the", "▁cat", "▁sat", "at", "an", "▁dog", "▁a", "nd"]
CORPUS = ["a dog and a cat sat at the end of the day", "the tale of the zebra that ran quickly!", "until the last cat ran, the dogs sat",
          "vexed judges kept working, flying high by fog"] * 3
SPECIAL = ["<pad>", "</s>", "<unk>"]


def unigram():
    scores = [(token, 0.0) for token in SPECIAL] + [(letter, -6.0 - i / 8) for i, letter in enumerate(LETTERS)]
    scores += [(piece, -2.0 - i / 4) for i, piece in enumerate(PIECES)]
    tokenizer = Tokenizer(models.Unigram(scores, 2, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing("$A </s>", "$A </s> $B </s>", [("</s>", 1)])
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    return tokenizer


class Pieces:
    """Marian's files as they are downloaded: a model of SentencePiece for each side and the ids of both."""

    def __init__(self):
        import io  # pylint: disable=import-outside-toplevel
        import tempfile  # pylint: disable=import-outside-toplevel
        import sentencepiece  # pylint: disable=import-outside-toplevel
        self.models, self.ids = {}, {token: i for i, token in enumerate(SPECIAL)}
        for side, texts, size in (("source", TEXTS + CORPUS, 48), ("target", CORPUS, 44)):
            model = io.BytesIO()
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # the model tells the name of the file of rules
                with open("rules.tsv", "w", encoding="ascii") as rules:  # a small table of normal forms: z is s, ck is k
                    rules.write("7A\t73\n63 6B\t6B\n")
                sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(texts), model_writer=model, vocab_size=size,
                                                         model_type="unigram", hard_vocab_limit=False, normalization_rule_tsv="rules.tsv",
                                                         minloglevel=2)
            self.models[side] = model.getvalue()
            pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
            for i in range(3, pieces.get_piece_size()):
                self.ids.setdefault(pieces.id_to_piece(i), len(self.ids))
        self.source = sentencepiece.SentencePieceProcessor(model_proto=self.models["source"])
        self.ids[">>fra<<"] = len(self.ids)

    def get_vocab_size(self):
        return len(self.ids)

    def encode(self, text):
        ids = [self.ids.get(piece, 2) for piece in self.source.encode(text, out_type=str)] + [1]
        return type("Encoding", (), {"ids": ids})

    def decode(self, ids):
        tokens = {i: token for token, i in self.ids.items()}
        return "".join(tokens[i] for i in ids if i > 2).replace("▁", " ").removeprefix(" ")

    def save(self, path):
        with open(os.path.join(os.path.dirname(path), "source.spm"), "wb") as file:
            file.write(self.models["source"])
        with open(os.path.join(os.path.dirname(path), "vocab.json"), "w", encoding="utf-8") as file:
            json.dump(self.ids, file, ensure_ascii=False, indent=0)
            file.write("\n")


def byte_level():
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = special + list(LETTERS) + ["Ġ", ",", "!", "."] + WORDS
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(vocabulary)}, MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in special])
    return tokenizer


def t5(**more):
    """Heads that do not share the width evenly, decoder layers of a number of their own, few buckets, rows that no token has."""
    config = transformers.T5Config(d_model=24, d_kv=6, num_heads=5, d_ff=40, num_layers=2, num_decoder_layers=3, dropout_rate=0.0,
                                   vocab_size=unigram().get_vocab_size() + 3, relative_attention_num_buckets=8,
                                   relative_attention_max_distance=20, decoder_start_token_id=0, **more)
    return transformers.T5ForConditionalGeneration(config)


SIZES = dict(d_model=24, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=3, encoder_ffn_dim=40,
             decoder_ffn_dim=40, max_position_embeddings=80, dropout=0.0)


def bart():
    config = transformers.BartConfig(**SIZES, vocab_size=byte_level().get_vocab_size(), pad_token_id=1, bos_token_id=0, eos_token_id=2,
                                     decoder_start_token_id=2, forced_bos_token_id=0, activation_function="gelu")
    return transformers.BartForConditionalGeneration(config)


def marian(create_tokenizer=unigram):
    config = transformers.MarianConfig(**SIZES, vocab_size=create_tokenizer().get_vocab_size(), pad_token_id=0, eos_token_id=1,
                                       decoder_start_token_id=0, activation_function="swish", scale_embedding=True)
    return transformers.MarianMTModel(config)


# The function that makes a model; its tokenizer; the tokens that texts begin with; the token that no text has.
class TwoVocabularies(Pieces):
    """Marian whose texts have tokens of their own: target.spm and target_vocab.json, which alone `decode` knows."""

    def __init__(self):
        import sentencepiece  # pylint: disable=import-outside-toplevel
        super().__init__()
        target = sentencepiece.SentencePieceProcessor(model_proto=self.models["target"])
        self.target_ids = {"<unk>": 0, "</s>": 1, "<pad>": 2}
        for i in range(3, target.get_piece_size()):
            self.target_ids[target.id_to_piece(i)] = len(self.target_ids)

    def decode(self, ids):
        tokens = {i: token for token, i in self.target_ids.items()}
        return "".join(tokens[i] for i in ids if i > 2).replace("▁", " ").removeprefix(" ")

    def save(self, path):
        super().save(path)
        folder = os.path.dirname(path)
        with open(os.path.join(folder, "target.spm"), "wb") as file:
            file.write(self.models["target"])
        for name, value in (("target_vocab.json", self.target_ids), ("tokenizer_config.json", {"separate_vocabs": True})):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False, indent=0)
                file.write("\n")


def marian_apart():
    """Two vocabularies, and a decoder with heads, layers and a feed-forward width of its own."""
    pieces = TwoVocabularies()
    config = transformers.MarianConfig(**{**SIZES, "decoder_layers": 1, "decoder_attention_heads": 2, "decoder_ffn_dim": 24},
                                       vocab_size=pieces.get_vocab_size(), decoder_vocab_size=len(pieces.target_ids), eos_token_id=1,
                                       share_encoder_decoder_embeddings=False, pad_token_id=2,
                                       decoder_start_token_id=2, activation_function="swish", scale_embedding=True)
    return transformers.MarianMTModel(config)


FAMILIES = {
    "t5": (t5, unigram, [0], None),
    "t5_gated": (lambda: t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False), unigram, [0], None),
    "bart": (bart, byte_level, [2, 0], None),
    "marian": (marian, unigram, [0], 0),
    "marian_pieces": (lambda: marian(Pieces), Pieces, [0], 0),
    "marian_apart": (marian_apart, TwoVocabularies, [2], 2),
    "marian_positions": (marian, unigram, [0], 0),
    "bart_rules": (bart, byte_level, [2, 0], None),
}
# Keys of generation_config.json beside the tokens to begin and to end with.
RULES = {"bart_rules": {"suppress_tokens": [9, 17], "begin_suppress_tokens": [20, 38], "forced_eos_token_id": 2, "min_length": 6,
                        "no_repeat_ngram_size": 2}}


def logits(model, source, target, banned):
    with torch.no_grad():
        row = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target]), use_cache=False).logits[0, -1]
    if banned is not None:
        row[banned] = -math.inf
    return row


def go_on(model, source, start, banned):
    """The tokens that follow, whether they end texts or not, and the least distance of the two largest logits."""
    made, least = [], math.inf
    while len(made) < TOKENS:
        row = logits(model, source, start + made, banned)
        two = row.topk(2).values
        least = min(least, (two[0] - two[1]).item())
        made.append(row.argmax().item())
    return made, least


def go_on_by_rules(model, name, source, start):
    """The same where generation_config.json has rules; those of transformers' own loop."""
    settings = transformers.GenerationConfig(**{**settings_of(name, start, None), "pad_token_id": 1, "do_sample": False, "num_beams": 1})
    made = model.generate(input_ids=torch.tensor([source]), generation_config=settings, max_new_tokens=TOKENS + len(start) - 1,
                          use_cache=False, output_scores=True, return_dict_in_generate=True)
    least = min((lambda two: (two[0] - two[1]).item())(scores[0].topk(2).values) for scores in made.scores)
    return made.sequences[0].tolist()[len(start):], least


# Beam searches: what generation_config.json says beside the rest.
BEAMS = [{"num_beams": 2}, {"num_beams": 3, "length_penalty": 2.0, "early_stopping": True}, {"num_beams": 4, "length_penalty": -1.0},
         {"num_beams": 3, "length_penalty": 0.7, "early_stopping": "never"},
         {"num_beams": 5, "length_penalty": 0.0, "eos_token_id": [1, 2, 17, 9]}, {"num_beams": 3, "repetition_penalty": 1.4},
         {"num_beams": 3, "min_new_tokens": 5, "bad_words_ids": [[1], [2], [20], [29]], "renormalize_logits": True}]


def write_beams(folder, model, settings, sources, start):
    """beams.json: what transformers' own beam search finds, up to the token that ends it."""
    rows = []
    model.generation_config = transformers.GenerationConfig()
    for more in BEAMS:
        own = {**settings, **more}
        ends = own["eos_token_id"] if isinstance(own["eos_token_id"], list) else [own["eos_token_id"]]
        config = transformers.GenerationConfig(**{**own, "pad_token_id": ends[0], "do_sample": False})
        texts = []
        for source in sources:
            made = model.generate(input_ids=torch.tensor([source]), generation_config=config, max_new_tokens=TOKENS + len(start) - 1,
                                  use_cache=False)
            made = made[0].tolist()[len(start):]
            texts.append(made[:next((i for i, token in enumerate(made) if token in ends), len(made))])
        rows.append({"settings": own, "tokens": texts})
    with open(os.path.join(folder, "beams.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=None, separators=(",", ":"))
        file.write("\n")


def save(model, folder, has_own_head):
    """save_pretrained, and the head where it is not the embedding: transformers 5 ties it whatever the configuration says."""
    model.half().save_pretrained(folder)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    if has_own_head:
        save_file({key: value.contiguous().clone() for key, value in model.state_dict().items() if "embed_tokens" not in key},
                  os.path.join(folder, "model.safetensors"), {"format": "pt"})
        config["tie_word_embeddings"] = False
        config.pop("scale_decoder_outputs", None)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1, sort_keys=True)
        file.write("\n")
    os.chmod(os.path.join(folder, "model.safetensors"), 0o644)


def store_positions(folder):
    """A table of the encoder's positions that is no sinusoids, as a file may have it; transformers takes what is stored."""
    path, table = os.path.join(folder, "model.safetensors"), torch.randn(80, 24, generator=torch.Generator().manual_seed(11)).half()
    save_file({**load_file(path), "model.encoder.embed_positions.weight": table}, path, {"format": "pt"})
    return table


def settings_of(name, start, banned):
    settings = {"decoder_start_token_id": start[0], "eos_token_id": 2 if len(start) > 1 else 1}
    if len(start) > 1:
        settings["forced_bos_token_id"] = start[1]
    if banned is not None:
        settings["bad_words_ids"] = [[banned]]
    return {**settings, **RULES.get(name, {})}


def write_generation_config(folder, settings):
    with open(os.path.join(folder, "generation_config.json"), "w", encoding="utf-8") as file:
        json.dump(settings, file)
        file.write("\n")


def make(name):
    folder = os.path.join(HERE, name)
    os.makedirs(folder, exist_ok=True)
    create, create_tokenizer, start, banned = FAMILIES[name]
    model, has_own_head = create(), name == "t5_gated"
    if has_own_head:
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    randomise(model, torch.Generator().manual_seed(sum(map(ord, name))))
    if hasattr(model, "final_logits_bias"):
        model.final_logits_bias = torch.linspace(-1, 1, model.final_logits_bias.shape[1]).reshape(1, -1).half().float()
    if name.startswith("marian"):  # its sinusoids are no weights
        for side in (model.model.encoder, model.model.decoder):
            side.embed_positions.weight.data = side.embed_positions.create_weight().data
    tokenizer = create_tokenizer()
    tokenizer.save(os.path.join(folder, "tokenizer.json"))
    save(model, folder, has_own_head)
    table = store_positions(folder) if name == "marian_positions" else None
    write_generation_config(folder, settings_of(name, start, banned))
    golden = []
    with Double():
        weights = {key: value.double() for key, value in model.state_dict().items()}
        double = create().double().eval()
        if has_own_head:
            double.lm_head.weight = torch.nn.Parameter(double.lm_head.weight.detach().clone())
        double.load_state_dict(weights)
        if name.startswith("marian"):
            for side in (double.model.encoder, double.model.decoder):
                side.embed_positions.weight.data = side.embed_positions.create_weight().data.double()
        if table is not None:
            double.model.encoder.embed_positions.weight.data = table.double()
        for text in TEXTS:
            ids = tokenizer.encode(text).ids
            tokens, least = go_on_by_rules(double, name, ids, start) if name in RULES else go_on(double, ids, start, banned)
            first = logits(double, ids, start, None).tolist()
            print(f"{name}: {len(ids)} tokens, then {tokens}, least distance {least:.3g}, largest logit {max(map(abs, first)):.3g}")
            golden.append({"text": text, "ids": ids, "logits": [round(value, 8) for value in first], "tokens": tokens,
                           "distance": round(least, 9), "decoded": tokenizer.decode(tokens)})
        if name in ("t5", "marian", "bart_rules"):
            write_beams(folder, double, settings_of(name, start, banned), [text["ids"] for text in golden], start)
    with open(os.path.join(folder, "golden.json"), "w", encoding="utf-8") as file:
        json.dump({"texts": golden, "end": 2 if len(start) > 1 else 1}, file, indent=None, separators=(",", ":"))
        file.write("\n")


for wanted in sys.argv[1:] or FAMILIES:
    make(wanted)
