#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every family of encoder-decoders on its tiny model (tests/data/translation): token ids, logits of the first token and greedy texts
against transformers' in float64, as a batch and alone; refusals.
usage: test_translate.py PROGRAM DATA"""
import json
import os
import shutil
import struct
import tempfile

from language_models import CLOSE, read_npy, run
from model_files import change_json, read_safetensors, write_safetensors
from runs import data, fail, finish, folders, is_whole, worst

families = os.path.join(data, "translation")
BOUND = 1e-5  # of the largest logit


def lines_of(*args):
    return [json.loads(line) for line in run(*args).stdout.splitlines()]


def check_ids_and_plan(name, model, sources, wanted):
    ids = lines_of("tokenize", model, "--file", sources)
    if ids != wanted:
        fail(f"{name}: tokens {ids}")
    info = json.loads(run("info", "--json", model).stdout)
    if not 4096 < info["scratch_bytes"] < info["memory_bytes"] or not info["token_bytes"] > 0 or "context_fits" in info:
        fail(f"{name}: the memory plan: {info}")


def check(name, folder):
    model = os.path.join(families, name)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    texts, end = golden["texts"], golden["end"]
    sources, output = (os.path.join(folder, name + suffix) for suffix in (".jsonl", ".npy"))
    with open(sources, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text["text"]) + "\n" for text in texts)
    if is_whole:
        check_ids_and_plan(name, model, sources, [text["ids"] for text in texts])
    run("logits", model, "--file", sources, "-o", output)
    rows = read_npy(output)
    if len(rows) != len(texts):
        fail(f"{name}: {len(rows)} rows of logits")
    for text, row in zip(texts, rows):
        error = worst(abs(a - b) for a, b in zip(row, text["logits"])) / max(map(abs, text["logits"]))
        if len(row) != len(text["logits"]) or not error <= BOUND:
            fail(f'{name}: "{text["text"]}": logits differ by {error:.3g} of the largest')
    count = str(max(len(text["tokens"]) for text in texts))
    batch = lines_of("translate", model, "--file", sources, "--max-tokens", count, "--json")
    few, alone = batch, batch[-1:]
    if is_whole:
        few = lines_of("generate", model, "--prompt-file", sources, "--max-tokens", count, "--json", "--batch", "2")
        alone = lines_of("translate", model, texts[-1]["text"], "--max-tokens", count, "--json")
    if len(batch) != len(texts) or few != batch or alone != batch[-1:]:
        fail(f"{name}: batch {batch}, two at a time {few}, alone {alone}")
    for text, line in zip(texts, batch):
        tokens, finish = text["tokens"], "length"
        if end in tokens:
            tokens, finish = tokens[:tokens.index(end)], "stop"
        if text["distance"] < CLOSE:
            fail(f"{name}: the golden tokens are too close: make them anew with another seed")
        if line["tokens"] != tokens or line["finish"] != finish:
            fail(f'{name}: "{text["text"]}": {line}, expected {tokens}, {finish}')
        if end not in text["tokens"] and line["text"] != text["decoded"]:
            fail(f'{name}: "{text["text"]}": "{line["text"]}", expected "{text["decoded"]}"')


def check_beams(name, folder):
    """Beam searches as generation_config.json asks for them; --beams 1 is greedy, and a batch does not matter."""
    model, copy = os.path.join(families, name), os.path.join(folder, "beams")
    with open(os.path.join(model, "beams.json"), encoding="utf-8") as file:
        rows = json.load(file)[:None if is_whole else 2]
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        texts = json.load(file)["texts"]
    shutil.copytree(model, copy)
    sources, seen = os.path.join(folder, "beams.jsonl"), set()
    with open(sources, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text["text"]) + "\n" for text in texts)
    for i, row in enumerate(rows):
        settings = row["settings"]
        asked = ["--beams", str(settings["num_beams"])] if i == 1 else []
        with open(os.path.join(copy, "generation_config.json"), "w", encoding="utf-8") as file:
            json.dump({**settings, "num_beams": 1} if asked else settings, file)
        lines = lines_of("translate", copy, "--file", sources, "--max-tokens", "10", "--json", *asked,
                         *(["--batch", "3"] if i == 2 else []))
        if [line["tokens"] for line in lines] != row["tokens"]:
            fail(f"{name}: {settings}: {lines}, expected {row['tokens']}")
        seen.add(json.dumps(row["tokens"]))
    if len(seen) < 2:
        fail(f"{name}: the settings change nothing: {seen}")
    if is_whole:
        check_beams_aside(name, copy, settings, sources, texts)
    shutil.rmtree(copy)


def check_beams_aside(name, copy, settings, sources, texts):
    """Keys that are ignored, one beam, and a single text."""
    with open(os.path.join(copy, "generation_config.json"), "w", encoding="utf-8") as file:
        json.dump({**settings, "do_sample": True, "temperature": 0.7, "top_k": None, "transformers_version": "4"}, file)
    told = json.loads(run("info", "--json", copy).stdout)["generation_ignored"]
    if told != ["do_sample", "temperature"]:
        fail(f"{name}: ignored {told}")
    greedy = lines_of("translate", copy, "--file", sources, "--max-tokens", "10", "--json", "--beams", "1")
    if greedy != lines_of("generate", copy, "--prompt-file", sources, "--max-tokens", "10", "--json"):
        fail(f"{name}: greedy {greedy}")
    text = run("translate", copy, texts[1]["text"], "--max-tokens", "10").stdout
    if text != lines_of("translate", copy, texts[1]["text"], "--max-tokens", "10", "--json")[0]["text"] + "\n":
        fail(f"{name}: {text!r}")


def check_rules(folder):
    """Rules of greedy texts, and those that say nothing."""
    copy = os.path.join(folder, "rules")
    shutil.copytree(os.path.join(families, "t5"), copy)

    def tokens(rules, *options, config=()):
        for name, change in (("generation_config.json", rules), ("config.json", config)):
            path = os.path.join(copy, name)
            with open(os.path.join(families, "t5", name), encoding="utf-8") as file:
                values = json.load(file)
            with open(path, "w", encoding="utf-8") as file:
                json.dump({**values, **dict(change)}, file)
        return lines_of("translate", copy, "the cat sat", "--max-tokens", "8", "--json", *options)[0]["tokens"]
    plain = tokens({})
    penalised = tokens({}, "--repeat-penalty", "1.6")
    if penalised == plain or tokens({"repetition_penalty": 1.6}) != penalised or tokens({"repetition_penalty": 1.6},
                                                                                       "--repeat-penalty", "1") != plain:
        fail("repetition_penalty", plain, penalised)
    same = {"sequence_bias": None, "encoder_repetition_penalty": 1.0, "encoder_no_repeat_ngram_size": 0, "num_beam_groups": 1,
            "guidance_scale": 1, "penalty_alpha": 0.0, "token_healing": False, "repetition_penalty": 1.0, "bad_words_ids": [[1]]}
    if tokens(same) != plain or tokens({}, config={"forced_bos_token_id": 7, "repetition_penalty": 1.6}) != plain:
        fail("rules that say nothing")
    start = tokens({"decoder_start_token_id": 7})
    if start == plain or tokens({"decoder_start_token_id": None, "bos_token_id": 7}) != start:
        fail("a start in generation_config.json comes before config.json's")
    if tokens({"decoder_start_token_id": None}, config={"bos_token_id": 7}) != plain:
        fail("config.json's decoder_start_token_id comes before its bos_token_id")
    ends = {"eos_token_id": [1, plain[0]]}
    least = tokens({**ends, "min_new_tokens": 3, "min_length": 8})
    if tokens(ends) or len(least) < 3 or plain[0] in least[:3] or tokens({**ends, "min_new_tokens": 0, "min_length": 8}):
        fail("min_new_tokens", least)
    if tokens({**ends, "bad_words_ids": [[plain[0]]]}) or plain[0] in tokens({**ends, "suppress_tokens": [plain[0]]}):
        fail("ends among bad_words_ids")
    shutil.rmtree(copy)


def check_refusals(folder):
    t5 = os.path.join(families, "t5")
    done = run("translate", os.path.join(data, "generation", "llama"), "a", status=1)
    if "no encoder" not in done.stderr:
        fail(f"llama: {done.stderr}")
    for command in (["embed", t5, "a"], ["perplexity", t5, "--file", __file__]):
        run(*command, status=1)
    for args in ([], ["a", "--file", "x"], ["a", "--max-tokens", "0"], ["a", "--beams", "65"], ["a", "--beams", "2", "--temperature", "1"],
                 *(["a", "--beams", "2", *chance] for chance in (("--top-k", "3"), ("--top-p", ".5"), ("--min-p", ".1"), ("--seed", "1")))):
        run("translate", t5, *args, status=2)
    broken = {"bad_words_ids": [[[3, 4]], [["a"]], [[44]], 5], "decoder_start_token_id": [44, "a"], "forced_bos_token_id": [1.5],
              "eos_token_id": [-1], "suppress_tokens": [44, ["a"]], "begin_suppress_tokens": [[99]], "forced_eos_token_id": [44],
              "min_length": [-1, "a"], "no_repeat_ngram_size": [1.5], "num_beams": [-1, 65], "length_penalty": ["a", 1e9],
              "early_stopping": ["always", 1], "min_new_tokens": ["a"], "repetition_penalty": [0, "a"], "sequence_bias": [[[[5], 9.0]]],
              "encoder_repetition_penalty": [1.5], "encoder_no_repeat_ngram_size": [3], "num_beam_groups": [2], "guidance_scale": [1.5],
              "exponential_decay_length_penalty": [[2, 1.5]], "penalty_alpha": [0.6], "dola_layers": ["low"], "constraints": [[1]],
              "force_words_ids": [[[5]]], "watermarking_config": [{}], "stop_strings": ["a"], "token_healing": [True]}
    copy = os.path.join(folder, "copy")
    shutil.copytree(t5, copy)
    for key, values in broken.items():
        for value in values:
            with open(os.path.join(copy, "generation_config.json"), "w", encoding="utf-8") as file:
                json.dump({"decoder_start_token_id": 0, key: value}, file)
            done = run("translate", copy, "a", status=1)
            if key not in done.stderr:
                fail(f"{key} {value}: {done.stderr}")
    with open(os.path.join(t5, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    os.remove(os.path.join(copy, "generation_config.json"))
    for change, named in (({"decoder_start_token_id": None}, "decoder_start_token_id"),
                          ({"feed_forward_proj": "gated-x"}, "feed_forward_proj"),
                          ({"d_kv": 7}, "SelfAttention"), ({"relative_attention_num_buckets": 6}, "buckets"),
                          ({"relative_attention_max_distance": 8}, "buckets")):
        with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**config, **change}, file)
        done = run("translate", copy, "a", status=1)
        if named not in done.stderr:
            fail(f"{change}: {done.stderr}")
    # transformers 5 writes what neither scales nor has a head of its own; before, the one went with the other.
    told = []
    before = {key: value for key, value in config.items() if key != "scale_decoder_outputs"}
    for changed in ({**config, "scale_decoder_outputs": False}, {**before, "tie_word_embeddings": False}):
        with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
            json.dump(changed, file)
        run("logits", copy, "a", "-o", os.path.join(folder, "scaled.npy"))
        told.append(read_npy(os.path.join(folder, "scaled.npy")))
    if told[0] != told[1]:
        fail(f"an unscaled T5: {told}")


def check_without_encoder(folder):
    """Rules that only encoder-decoders follow: refused, or listed as ignored."""
    copy = os.path.join(folder, "without_encoder")
    shutil.copytree(os.path.join(data, "generation", "mistral"), copy)

    def put(rules):
        with open(os.path.join(copy, "generation_config.json"), "w", encoding="utf-8") as file:
            json.dump({"eos_token_id": 1, **rules}, file)

    put({"forced_bos_token_id": 7})
    done = run("generate", copy, "a", status=1)
    if "generation_config.json: forced_bos_token_id: expected null" not in done.stderr:
        fail(f"forced_bos_token_id without an encoder: {done.stderr}")
    search = {"length_penalty": 2.0, "early_stopping": True, "renormalize_logits": True}
    for beams, ignored in ((4, ["num_beams", *search]), (1, [])):
        put({"num_beams": beams, **search, "repetition_penalty": 1.1})
        told = json.loads(run("info", "--json", copy).stdout)["generation_ignored"]
        if told != ignored:
            fail(f"{beams} beams without an encoder: ignored {told}")
    shutil.rmtree(copy)


def check_tables(name, prefix, folder):
    """Tables of tokens that are stored each for itself: copies are one table, and what differs is used where it is stored.
    tie_word_embeddings decides about those alone that are missing."""
    copy, output = os.path.join(folder, "tables_" + name), os.path.join(folder, "tables.npy")
    shutil.copytree(os.path.join(families, name), copy, copy_function=shutil.copyfile)
    weights = os.path.join(copy, "model.safetensors")
    tensors = read_safetensors(weights)
    head, shared, encoder, decoder = "lm_head.weight", *(f"{prefix}{part}.weight" for part in ("shared", "encoder.embed_tokens",
                                                                                             "decoder.embed_tokens"))
    table = tensors[shared]
    numbers = [value / 4 for value in struct.unpack(f"<{len(table[2]) // 2}e", table[2])]
    other = (table[0], table[1], struct.pack(f"<{len(numbers)}e", *reversed(numbers)))

    def logits(more, tied=True, without=()):
        write_safetensors(weights, {key: value for key, value in {**tensors, **more}.items() if key not in without})
        change_json(os.path.join(copy, "config.json"), lambda config: config.update(tie_word_embeddings=tied, scale_decoder_outputs=True))
        run("logits", copy, "the cat sat", "-o", output)
        return read_npy(output)

    plain = logits({})
    for more in ({head: table}, {encoder: table, decoder: table}, {encoder: table, decoder: table, head: table}):
        if logits(more) != plain:
            fail(f"{name}: copies {list(more)} are another model")
    if logits({head: table}, without=(shared,)) != plain and name == "t5":
        fail(f"{name}: a head alone is not the table")
    for more in ({head: other}, {encoder: other}, {decoder: other}, {encoder: other, decoder: other}, {decoder: other, head: other}):
        whole = {encoder: table, decoder: table, head: table, **more}
        wanted = logits(whole, tied=False)
        if wanted == plain or logits(more) != wanted or logits(whole) != wanted:
            fail(f"{name}: {list(more)} that differ are not used")


def check_languages():
    """A language counts at the start of a text, also of one behind a special token; what has its form there and is none is <unk>:
    MarianTokenizer's ids."""
    for text, ids in ((">>fra<< the cat", [47, 5, 4, 3, 9, 6, 1]), ("the cat >>fra<< sat", [5, 4, 3, 9, 6, 3, 2, 14, 33, 2, 10, 1]),
                      (">>deu<< the cat", [2, 5, 4, 3, 9, 6, 1]), (" >>fra<< a", [3, 2, 14, 33, 2, 15, 1]), (">>fra<<", [47, 1]),
                      (">><< a", [2, 15, 1]), (">> a << b", [2, 3, 18, 1]), (">>a", [3, 2, 34, 1]),
                      ("the</s>>>fra<< cat", [5, 4, 1, 47, 3, 9, 6, 1]), (">>fra<<>>fra<< a", [47, 3, 2, 14, 33, 2, 15, 1]),
                      ("<unk>>>xx<< the", [2, 2, 5, 4, 1])):
        got = lines_of("tokenize", os.path.join(families, "marian_pieces"), text)
        if got != [ids]:
            fail(f'"{text}": {got}, expected {ids}')


def check_long(folder):
    """T5 reads texts of any length; those beyond n_positions, or else model_max_length, are told, and translated all the same."""
    copy = os.path.join(folder, "long")
    shutil.copytree(os.path.join(families, "t5"), copy, copy_function=shutil.copyfile)
    text = "the cat sat, the cat sat! the dog ran"
    length = len(lines_of("tokenize", copy, text)[0])
    done = run("translate", copy, text, "-n", "3")
    for positions, is_told in ((length, False), (length - 1, True)):
        change_json(os.path.join(copy, "config.json"), lambda config, most=positions: config.update(n_positions=most))
        long = run("translate", copy, text, "-n", "3")
        if long.stdout != done.stdout or (f"1 text was longer than {positions} tokens" in long.stderr) != is_told:
            fail(f"{length} tokens with n_positions {positions}: {long.stdout} {long.stderr}")
        logits = run("logits", copy, text, "-o", os.path.join(folder, "long.npy"))
        if (f"1 text was longer than {positions} tokens" in logits.stderr) != is_told:
            fail(f"logits of {length} tokens with n_positions {positions}: {logits.stderr}")
    change_json(os.path.join(copy, "config.json"), lambda config: config.pop("n_positions"))
    with open(os.path.join(copy, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_max_length": length - 2}, file)
    long = run("translate", copy, text, "-n", "3")
    if long.stdout != done.stdout or f"1 text was longer than {length - 2} tokens" not in long.stderr:
        fail(f"{length} tokens with model_max_length {length - 2}: {long.stdout} {long.stderr}")


def check_clean_up(folder):
    """clean_up_tokenization_spaces takes spaces out of texts that are decoded, but of BPE (transformers 5)."""
    key, replaced = "clean_up_tokenization_spaces", ((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't"))
    for name, forced in (("t5", None), ("marian", None), ("bart", False), ("bart", True)):
        copy = os.path.join(folder, "clean")
        shutil.copytree(os.path.join(families, name), copy, copy_function=shutil.copyfile)
        path = os.path.join(copy, "tokenizer_config.json")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write("{}")
        source = "the cat , the dog ! a , b ."
        ids = run("tokenize", copy, source).stdout.strip("[]\n").split(", ")
        texts = []
        for is_on in (False, True):
            change_json(path, lambda config, on=is_on: config.update({key: on, **({} if forced is None else {
                key + "_for_bpe_even_though_it_will_corrupt_output": forced})}))
            texts.append((run("detokenize", copy, *ids).stdout, run("translate", copy, source, "-n", "20").stdout))
        wanted = texts[0]
        for old, new in replaced if forced is not False else ():
            wanted = tuple(text.replace(old, new) for text in wanted)
        if texts[1] != wanted or (forced is not False and texts[0][0] == texts[1][0]):
            fail(f"{name}: {key}: {texts}, expected {wanted}")
        change_json(path, lambda config: config.update({key: "yes"}))
        if f'"{key}": expected true or false' not in run("translate", copy, source, status=1).stderr:
            fail(f"{name}: {key} that is a text")
        shutil.rmtree(copy)


with tempfile.TemporaryDirectory() as temporary:
    names = folders(families)
    if not {"t5", "bart", "marian"} <= set(names):
        fail(f"families: {names}")
    for entry in names:
        check(entry, temporary)
    for entry in ("t5", "marian", "bart_rules") if is_whole else ("bart_rules",):
        check_beams(entry, temporary)
    if is_whole:
        check_languages()
        for entry, prefix in (("t5", ""), ("bart", "model."), ("marian", "model.")):
            check_tables(entry, prefix, temporary)
        check_rules(temporary)
        check_long(temporary)
        check_clean_up(temporary)
        check_refusals(temporary)
        check_without_encoder(temporary)
finish()
