#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer convert: every byte of Q8_0 and Q4_0 blocks against the definition in float32, metadata that stays, directories
of each family that say the same as GGUF files, refusals that leave no file.
usage: test_convert.py PROGRAM DATA"""
import json
import math
import os
import shutil
import struct
import sys
import tempfile

from language_models import run
from model_files import change_json, read_gguf, read_safetensors, split_gguf, write_gguf, write_safetensors
from runs import data, fail, failures, used_device

source = os.path.join(data, "generation", "llama_blocks", "model.gguf")
F32, Q4_0, Q8_0 = 0, 2, 8


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def encode(kind, block):
    largest = max(block, key=abs)
    d = f32(abs(largest) / 127) if kind == Q8_0 else f32(largest / -8)
    inverse = f32(1 / d) if d else 0.0
    scaled = [f32(value * inverse) for value in block]
    if kind == Q8_0:
        return struct.pack("<e32b", d, *(int(math.copysign(math.floor(abs(value) + 0.5), value)) for value in scaled))
    nibbles = [max(0, min(15, int(f32(value + 8.5)))) for value in scaled]
    return struct.pack("<e16B", d, *(nibbles[i] | nibbles[i + 16] << 4 for i in range(16)))


def encoded(kind, tensor):
    sizes, _, content = tensor
    numbers = struct.unpack(f"<{len(content) // 4}f", content)[:math.prod(sizes)]
    return b"".join(encode(kind, numbers[i:i + 32]) for i in range(0, len(numbers), 32))


def check_blocks(folder):
    plain = os.path.join(folder, "f32.gguf")
    run("convert", source, plain, "--weights", "f32")
    values, wide = read_gguf(plain)
    before, given = read_gguf(source)
    if list(wide) != list(given) or any(values[key] != value for key, value in before.items()):
        fail("f32: other tensors or metadata")
    for name, kinds in (("q8_0", Q8_0), ("q4_0", Q4_0)):
        path = os.path.join(folder, name + ".gguf")
        done = run("convert", plain, path, "--weights", name, "--check", "the cat")
        if "logits differ by" not in done.stdout:
            fail(name, done.stdout)
        values, tensors = read_gguf(path)
        if values["general.file_type"] != struct.pack("<II", 4, {"q8_0": 7, "q4_0": 2}[name]):
            fail(name, "general.file_type", values["general.file_type"])
        for tensor, (sizes, found, content) in tensors.items():
            wanted, kind = wide[tensor][2], Q8_0 if tensor == "token_embd.weight" else kinds  # the table is the head too
            if len(sizes) > 1:
                wanted = encoded(kind, wide[tensor])
            if found != (kind if len(sizes) > 1 else F32) or content[:len(wanted)] != wanted or any(content[len(wanted):]):
                fail(name, tensor, "other bytes")
        again = os.path.join(folder, "again.gguf")
        run("convert", path, again, "--weights", name)
        with open(path, "rb") as one, open(again, "rb") as other:
            if one.read() != other.read():
                fail(name, "converted twice: another file")
    small = os.path.join(folder, "small.gguf")  # a table that has no more bits stays
    content = encoded(Q4_0, wide["token_embd.weight"])
    write_gguf(small, before, {**given, "token_embd.weight": (given["token_embd.weight"][0], Q4_0, content)})
    run("convert", small, again, "--weights", "q4_0")
    _, kind, found = read_gguf(again)[1]["token_embd.weight"]
    if kind != Q4_0 or found[:len(content)] != content:
        fail("a table of q4_0 is another", kind)
    with open(plain, "rb") as one:
        content = one.read()
    done = run("convert", plain, plain, "--weights", "q8_0", status=2)
    with open(plain, "rb") as one:
        if "would be replaced" not in done.stderr or one.read() != content:
            fail("onto itself", done.stderr)


def copy_of(folder, family, name=None):
    path = os.path.join(folder, name or family)
    shutil.copytree(os.path.join(data, "generation", family), path)
    for file in os.listdir(path):
        os.chmod(os.path.join(path, file), 0o644)
    return path


def gemma3_of_six(folder):
    """Six layers, of which the last sees the whole text, as GGUF has it; in two shards."""
    path = copy_of(folder, "gemma3", "gemma3_six")
    tensors = read_safetensors(os.path.join(path, "model.safetensors"))
    for name, tensor in list(tensors.items()):
        for source_layer, layer in ((0, 4), (2, 5)):
            if f"layers.{source_layer}." in name:
                tensors[name.replace(f"layers.{source_layer}.", f"layers.{layer}.")] = tensor
    os.remove(os.path.join(path, "model.safetensors"))
    names, index = sorted(tensors), {}
    for shard, part in (("one.safetensors", names[::2]), ("two.safetensors", names[1::2])):
        write_safetensors(os.path.join(path, shard), {name: tensors[name] for name in part})
        index.update({name: shard for name in part})
    with open(os.path.join(path, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {}, "weight_map": index}, file)
    change_json(os.path.join(path, "config.json"), lambda config: config.update(
        num_hidden_layers=6, layer_types=["sliding_attention"] * 5 + ["full_attention"]))
    return path


def sentencepiece(folder):
    """Llama with tokens as SentencePiece has them, merges by score, a bos before texts, more rows than tokens, two tokens
    that end texts."""
    path = copy_of(folder, "llama", "llama_spm")

    def change(content):
        model = content["model"]
        content["normalizer"] = {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"},
                                                                     {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
        content["pre_tokenizer"] = None
        content["decoder"] = {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                                                               {"type": "ByteFallback"}, {"type": "Fuse"},
                                                               {"type": "Strip", "content": " ", "start": 1, "stop": 0}]}
        content["post_processor"] = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                                              {"Sequence": {"id": "A", "type_id": 0}}],
                                     "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                                     "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}}
        model.update(byte_fallback=True, fuse_unk=True, vocab={token.replace("\u0120", "\u2581"): i for token, i in model["vocab"].items()},
                     merges=[[part.replace("\u0120", "\u2581") for part in merge] for merge in model["merges"]])
        del model["vocab"]["!"]  # a hole, and one behind the last
    change_json(os.path.join(path, "tokenizer.json"), change)
    change_json(os.path.join(path, "config.json"), lambda config: config.update(eos_token_id=[1, 30]))
    with open(os.path.join(path, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"bos_token": "<s>", "eos_token": "</s>", "chat_template": "{{ messages[0].content }}"}, file)
    return path


def check_directories(folder):
    """Each family of GGUF generates the same text after conversion. Logits, which are up to 10, differ by less than other rotation orders
    cause. GPUs read a GGUF file's weights in another form, so their sums differ too."""
    texts = {"mistral": "the cat", "qwen2_upper": "a"}  # their windows become the longest text
    most = 3e-5 if used_device()["type"] == "GPU" else 1e-5
    paths = [os.path.join(data, "generation", name)
             for name in ("llama_llama3", "llama_yarn", "llama_linear", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi3_partial",
                          "phi3_longrope", "gpt2", "qwen2_upper")]
    for path in paths + [gemma3_of_six(folder), sentencepiece(folder)]:
        name = os.path.basename(path)
        text, out = texts.get(name, "the cat sat, zebra"), os.path.join(folder, name + ".gguf")
        done = run("convert", path, out, "--weights", "f32", "--check", text)
        worst = float(done.stdout.split("differ by at most ")[1].split()[0]) if "differ by" in done.stdout else math.inf
        if not worst <= most or "token is the same" not in done.stdout:
            fail(name, done.stdout, done.stderr)
        if (name in texts) != ("texts of at most" in done.stderr):
            fail(name, "positions", done.stderr)
        if name in texts:
            continue
        commands = [("tokenize",)] + [("generate", "--max-tokens", "6")] * (name in ("gemma3_six", "llama_spm", "phi3_partial"))
        for command, *options in commands:
            both = [run(command, model, text, *options).stdout for model in (path, out)]
            if both[0] != both[1] or not both[0].strip():
                fail(name, command, both)
    blocks = os.path.join(folder, "blocks.gguf")
    done = run("convert", os.path.join(folder, "gemma3_six"), blocks, "--weights", "q8_0", "--check", "the cat")
    if "logits differ by" not in done.stdout or any(kind == Q8_0 and sizes[0] % 32 for sizes, kind, _ in read_gguf(blocks)[1].values()):
        fail("q8_0", done.stdout, done.stderr)
    values = read_gguf(os.path.join(folder, "llama_spm.gguf"))[0]
    for key, wanted in (("tokenizer.ggml.eot_token_id", struct.pack("<II", 4, 30)),
                        ("tokenizer.ggml.add_bos_token", struct.pack("<IB", 7, 1)),
                        ("tokenizer.chat_template", struct.pack("<IQ", 8, 25) + b"{{ messages[0].content }}")):
        if values.get(key) != wanted:
            fail(key, values.get(key))


def made_by(path, version):
    """transformers 4 follows add_eos_token, transformers 5 what tokenizer.json itself adds."""
    name = os.path.join(path, "config.json")
    with open(name, encoding="utf-8") as file:
        config = json.load(file)
    with open(name, "w", encoding="utf-8") as file:
        json.dump(dict(config, transformers_version=version), file)


def check_class(folder):
    """A directory of transformers 5 is written with the parts that its tokenizer's class builds."""
    path, out = copy_of(folder, "qwen2", "class"), os.path.join(folder, "class.gguf")
    with open(os.path.join(path, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"tokenizer_class": "Qwen2Tokenizer"}, file)
    run("convert", path, out, "--weights", "f32")
    if read_gguf(out)[0]["tokenizer.ggml.pre"][-5:] != b"qwen2":
        fail("class", read_gguf(out)[0]["tokenizer.ggml.pre"])
    both = [run("tokenize", model, "the cat\r\n\r\nsat, it's 123").stdout for model in (path, out)]
    if both[0] != both[1]:
        fail("class", both)


def check_told(folder):
    """Facts from the other files of a directory: tokens around texts, tokens that no text has and a penalty of repetitions."""
    path, out = copy_of(folder, "llama", "told"), os.path.join(folder, "told.gguf")
    made_by(path, "4.57.3")
    for name, content in (("generation_config", {"eos_token_id": 1, "repetition_penalty": 1.5, "suppress_tokens": [23, 33],
                                                 "do_sample": True, "temperature": 0.5, "top_k": 20, "top_p": 0.75, "min_p": 0.25}),
                          ("tokenizer_config", {"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>",
                                                "add_eos_token": True})):
        with open(os.path.join(path, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
    run("convert", path, out, "--weights", "f32")
    values = read_gguf(out)[0]
    adds = [values["tokenizer.ggml.add_" + name + "_token"][-1] for name in ("bos", "eos")]
    if adds != [1, 1] or values["general.sampling.penalty_repeat"] != struct.pack("<If", 6, 1.5) or \
            values["general.sampling.penalty_last_n"] != struct.pack("<Ii", 5, -1):
        fail("told", values)
    sampling = {name: values.get("general.sampling." + name) for name in ("temp", "top_k", "top_p", "min_p")}
    if sampling != {"temp": struct.pack("<If", 6, 0.5), "top_k": struct.pack("<Ii", 5, 20), "top_p": struct.pack("<If", 6, 0.75),
                    "min_p": struct.pack("<If", 6, 0.25)}:
        fail("sampling settings", sampling)
    if struct.unpack("<2i", values["tokenizer.ggml.suppress_tokens"][-8:]) != (23, 33):
        fail("told", values)
    for command in (("tokenize",), ("generate", "--max-tokens", "12"), ("generate", "--max-tokens", "12", "--repeat-penalty", "1")):
        both = [run(command[0], model, "the cat sat", *command[1:]).stdout for model in (path, out)]
        if both[0] != both[1]:
            fail("told", command, both)


def check_absent(folder):
    """A token that the configuration names and the vocabulary lacks: texts that hold it are refused by the file too, and by its copy."""
    path, out = copy_of(folder, "llama", "absent"), os.path.join(folder, "absent.gguf")
    with open(os.path.join(path, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump({"pad_token": "<zz>", "additional_special_tokens": ["<\u00e9>", "c"]}, file)
    if "vocabulary lacks: 2 (" not in run("convert", path, out, "--weights", "f32").stderr:
        fail("absent: not told")
    again = os.path.join(folder, "absent_again.gguf")
    run("convert", out, again)
    for model in (path, out, again):
        for text, status in (("the cat", 0), ("the <zz> cat", 1), ("the cat<\u00e9>", 1), ("<z", 0)):
            done = run("tokenize", model, text, status=status)
            if status and "names as a token: the vocabulary has none" not in done.stderr:
                fail("absent:", model, text, done.stderr)
    values, tensors = read_gguf(out)
    listed = struct.pack("<IIQQ", 9, 8, 1, 2) + b"<\xff"
    write_gguf(out, {**values, "clformer.absent_tokens": listed}, tensors)
    if "clformer.absent_tokens[0]: expected UTF-8" not in run("tokenize", out, "the", status=1).stderr:
        fail("absent: not UTF-8")


def check_ends(folder):
    """More ends than keys, where their texts say it; ends that the text says alone are told."""
    path, out, ids = copy_of(folder, "llama", "ends"), os.path.join(folder, "ends.gguf"), []
    texts = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<EOT>")

    def change(content):
        vocab, merged = content["model"]["vocab"], "".join(str(merge) for merge in content["model"]["merges"])
        free = [token for token in vocab if len(token) == 1 and token not in merged][:len(texts)]
        for old, new in zip(free, texts):
            ids.append(vocab.pop(old))
            vocab[new] = ids[-1]
            content["added_tokens"].append({"id": ids[-1], "content": new, "single_word": False, "lstrip": False, "rstrip": False,
                                            "normalized": False, "special": True})

    change_json(os.path.join(path, "tokenizer.json"), change)
    for ends, told in (([1, *ids], ""), ([1, *ids[:3]], "texts also end at <EOT>: "), ([1], "texts also end at ")):
        with open(os.path.join(path, "generation_config.json"), "w", encoding="utf-8") as file:
            json.dump({"eos_token_id": ends}, file)
        done = run("convert", path, out)
        if told not in done.stderr or ("also end" in done.stderr) != bool(told):
            fail("ends:", ends, done.stderr)
        found = json.loads(run("info", "--json", out).stdout)["end_tokens"]
        if sorted(found) != sorted(("</s>", *texts)):
            fail("ends:", ends, found)


def check_refused_directories(folder):
    out = os.path.join(folder, "unwritten.gguf")
    no_tokenizer, unigram, cuts, rows, short = (copy_of(folder, "llama", name) for name in ("none", "unigram", "cuts", "rows", "short"))
    os.remove(os.path.join(no_tokenizer, "tokenizer.json"))
    change_json(os.path.join(unigram, "tokenizer.json"), lambda content: content.update(
        model={"type": "Unigram", "unk_id": 0, "vocab": [["a", 0.0], ["b", -1.0]], "byte_fallback": True}))
    change_json(os.path.join(cuts, "tokenizer.json"), lambda content: content.update(pre_tokenizer={"type": "Whitespace"}))
    change_json(os.path.join(rows, "tokenizer.json"), lambda content: content["model"]["vocab"].update(more=41))
    tensors = read_safetensors(os.path.join(short, "model.safetensors"))
    del tensors["model.layers.1.self_attn.k_proj.weight"]
    write_safetensors(os.path.join(short, "model.safetensors"), tensors)
    bert = os.path.join(folder, "bert")
    os.mkdir(bert)
    with open(os.path.join(bert, "config.json"), "w", encoding="utf-8") as file:
        json.dump({"model_type": "bert"}, file)
    embeds = copy_of(folder, "qwen3", "embeds")
    with open(os.path.join(embeds, "modules.json"), "w", encoding="utf-8") as file:
        file.write("[]")
    own = os.path.join(data, "generation")
    windows, least, split = os.path.join(folder, "windows"), copy_of(folder, "llama", "least"), copy_of(folder, "llama", "split")
    limits = copy_of(folder, "llama_yarn", "limits")
    change_json(os.path.join(limits, "config.json"), lambda config: config["rope_parameters"].update(beta_fast=8.0))
    shutil.copytree(os.path.join(folder, "gemma3_six"), windows)
    change_json(os.path.join(windows, "config.json"), lambda config: config.update(rope_parameters={
        "full_attention": {"rope_type": "default", "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}}))
    for path, name, content in ((least, "generation_config", {"eos_token_id": 1, "min_new_tokens": 4}),
                                (split, "tokenizer_config", {"split_special_tokens": True})):
        with open(os.path.join(path, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
    for path, expected in ((windows, "a scaling of the rotary positions of layers with windows"), (limits, "a beta_fast other than 32"),
                           (least, "rules about allowed tokens"), (split, "split_special_tokens"),
                           (bert, 'model_type "bert" cannot be written as GGUF: expected llama, mistral, qwen2'),
                           (no_tokenizer, "tokenizer.json"), (unigram, "model Unigram"), (cuts, "gpt-2, llama-bpe"), (rows, "42 tokens"),
                           (embeds, "modules.json"), (short, "layers.1.self_attn.k_proj.weight"),
                           (os.path.join(own, "gemma3"), "layer_types"),
                           (os.path.join(own, "gpt2_scaled"), "scale_attn"), (os.path.join(own, "llama_yarn_exact"), "truncate")):
        done = run("convert", path, out, status=1)
        if expected not in done.stderr or os.path.exists(out):
            fail(path, done.stderr)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def check_parts(folder):
    """A model in several files is the model: its text, its size, its conversion; no part of it is written over."""
    values, tensors = read_gguf(source)
    parts = split_gguf(os.path.join(folder, "split"), values, tensors, 3)
    text = [run("generate", path, "the cat", "--max-tokens", "8", "--json").stdout for path in (source, parts[0])]
    if text[0] != text[1] or '"tokens":[' not in text[0]:
        fail("parts:", text)
    size = json.loads(run("info", "--json", parts[0]).stdout)["file_bytes"]
    if size != sum(os.path.getsize(path) for path in parts):
        fail("parts:", size)
    outs = [os.path.join(folder, name) for name in ("of_whole.gguf", "of_parts.gguf")]
    for path, out in zip((source, parts[0]), outs):
        run("convert", path, out)
    whole, joined = (read_gguf(out) for out in outs)
    if whole[0] != joined[0] or whole[1] != {name: joined[1][name] for name in whole[1]}:
        fail("parts: another conversion")
    for part in parts:
        before = read_file(part)
        done = run("convert", parts[0], part, status=2)
        if "would be replaced" not in done.stderr or read_file(part) != before:
            fail("parts:", part, done.stderr)
    for args in (["generate", parts[1], "a"], ["info", parts[2]], ["tokenize", parts[1], "a"], ["convert", parts[2], outs[0]]):
        if f"(open the first part, {parts[0]})" not in run(*args, status=1).stderr:
            fail("parts:", args)
    os.rename(parts[1], parts[1] + ".part")  # as an unfinished download is called
    for args in (["generate", parts[0], "a"], ["info", parts[0]], ["tokenize", parts[0], "a"], ["convert", parts[0], outs[0]]):
        if f"{parts[1]}: no such file: part 2 of 3" not in run(*args, status=1).stderr:
            fail("parts:", args)


def check_trace(folder):
    """One trace and one report tell of both models."""
    trace = os.path.join(folder, "trace.json")
    told = run("convert", source, os.path.join(folder, "traced.gguf"), "--check", "the cat", "--trace", trace, "--stats").stderr
    with open(trace, encoding="utf-8") as file:
        phases = [event.get("name") for event in json.load(file)["traceEvents"]]
    if phases.count("load model") != 2 or told.count("\ntotal ") != 1:
        fail(f"convert --check: {phases.count('load model')} models in the trace, {told}")


def check_refusals(folder):
    out, broken = os.path.join(folder, "out.gguf"), os.path.join(folder, "broken.gguf")
    with open(source, "rb") as file:
        raw = file.read()
    with open(broken, "wb") as file:
        file.write(raw[:-100])
    infinite = os.path.join(folder, "infinite.gguf")
    run("convert", source, infinite, "--weights", "f32")
    with open(infinite, "r+b") as file:
        file.seek(-32, os.SEEK_END)
        file.write(b"\x00\x00\x80\x7f" * 8)
    for args, status, expected in (((broken, out), 1, "cut short"), ((os.path.dirname(source), out), 1, "config.json"),
                                   ((source, out, "--weights", "q4_k"), 2, "expected one of f32, f16, q4_0, q8_0, q4_k_m, q5_k_m, q6_k"),
                                   ((source, out, "--weights", "int3"), 2, "int3"), ((source,), 2, "usage"),
                                   ((source, ""), 2, "file to write"), ((source, out, "--check", ""), 2, "--check: expected a text"),
                                   *(((source, out, *options), 2, f"convert: {options[0]} needs --check") for options in (
                                       ("--trace", out), ("--stats",), ("--device", "0"), ("--precision", "medium"), ("--no-tuned",),
                                       ("--engine", "gemm=tiled"))),
                                   ((os.path.join(folder, "none"), out), 1, "No such file"), ((source, "/dev/full"), 1, "No space")):
        done = run("convert", *args, status=status)
        if expected not in done.stderr or os.path.exists(out):
            fail(args, done.stderr)
    hub = copy_of(folder, "llama", "whole")
    weights, link = os.path.join(hub, "model.safetensors"), os.path.join(folder, "link.gguf")
    os.symlink(source, link)
    for args in ((hub, weights), (source, link, "--check", "a")):  # the weights would be lost; a file would be compared with itself
        before = read_file(args[1])
        done = run("convert", *args, status=2)
        if "would be replaced" not in done.stderr or read_file(args[1]) != before:
            fail(args, done.stderr)
    last = list(read_gguf(infinite)[1].items())[-1]
    done = run("convert", infinite, out, status=1 if len(last[1][0]) > 1 else 0)
    if len(last[1][0]) > 1 and (last[0] not in done.stderr or os.path.exists(out)):
        fail("infinite", done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    check_blocks(temporary)
    check_parts(temporary)
    check_ends(temporary)
    check_absent(temporary)
    check_trace(temporary)
    check_refusals(temporary)
    check_directories(temporary)
    check_class(temporary)
    check_told(temporary)
    check_refused_directories(temporary)
sys.exit(1 if failures else 0)
