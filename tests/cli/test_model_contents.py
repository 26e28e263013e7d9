#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Contents of the files of language models: keys that nothing reads, tensors that no network takes, tied tables, tokens that end texts,
settings of sampling, a part for texts among others, the memory plan.
usage: test_model_contents.py PROGRAM DATA"""
import json
import os
import shutil
import struct
import tempfile

from language_models import BOUND, check_logits, families, read_npy, run
from model_files import change_json, gguf_text, gguf_texts, read_gguf, read_safetensors, write_gguf, write_safetensors
from runs import fail, finish, worst


def check_unread_keys(folder):
    """Keys that nothing reads are listed by info, of directories and of files; those of the tiny models are all read, or known."""
    passed_over = {"gemma3": ["attn_logit_softcapping"]}  # by transformers too
    for name in ("llama", "gemma", "gemma3", "phi3", "qwen3", "gpt2"):
        keys = json.loads(run("info", "--json", os.path.join(families, name)).stdout)["unread_keys"]
        if keys != passed_over.get(name, []):
            fail(f"info: {name}: {keys}")
    changed, file = os.path.join(folder, "keys"), os.path.join(folder, "keys.gguf")
    shutil.copytree(os.path.join(families, "llama"), changed, copy_function=shutil.copyfile)
    change_json(os.path.join(changed, "config.json"),
                lambda config: config.update(logit_scale=0.5, residual_multiplier=2))
    values, tensors = read_gguf(os.path.join(families, "qwen2", "model.gguf"))
    write_gguf(file, {**values, "qwen2.attention.sliding_window_pattern": struct.pack("<II", 4, 2), "qwen2.more": gguf_text("x"),
                      "tokenizer.ggml.more": gguf_text("x"), "more": gguf_text("x"), "general.more": gguf_text("x")}, tensors)
    for path, wanted in ((changed, ["logit_scale", "residual_multiplier"]),
                         (file, ["more", "qwen2.attention.sliding_window_pattern", "qwen2.more", "tokenizer.ggml.more"])):
        keys = json.loads(run("info", "--json", path).stdout)["unread_keys"]
        if keys != wanted:
            fail(f"info: {path}: {keys}")
    write_gguf(file, {**values, "qwen2.attention.causal": struct.pack("<IB", 7, 0)}, tensors)
    done = run("generate", file, "a", status=1)
    if "qwen2.attention.causal is 0" not in done.stderr:
        fail(f"attention.causal: {done.stderr}")


def check_token_texts(folder):
    """A token that ends a turn by its text ends a text; a file that does not say how it cuts texts is told once."""
    values, tensors = read_gguf(os.path.join(families, "llama", "model.gguf"))
    file, plain = os.path.join(folder, "ends.gguf"), {**values, "tokenizer.ggml.merges": gguf_texts([])}
    raw, at, texts = values["tokenizer.ggml.tokens"], 16, []
    while at < len(raw):
        length = struct.unpack_from("<Q", raw, at)[0]
        texts.append(raw[at + 8:at + 8 + length].decode())
        at += 8 + length
    write_gguf(file, plain, tensors)
    prompt = json.loads(run("tokenize", file, "a").stdout)
    before = json.loads(run("generate", file, "a", "--max-tokens", "9", "--json").stdout)["tokens"]
    token = next((one for one in before if one not in prompt), None)
    if len(before) != 9 or token is None:
        fail(f"ends: {before}, prompt {prompt}")
        return
    endless = {key: value for key, value in plain.items() if key != "tokenizer.ggml.eos_token_id"}
    write_gguf(file, endless, tensors)
    done = run("generate", file, "a", "--max-tokens", "9", "--json")
    note = f"clformer: {file}: tokenizer.ggml.eos_token_id is missing: texts end at 1 token that is known by its text ("
    if json.loads(done.stdout)["tokens"] != before or note not in done.stderr:
        fail(f"no eos token: {done}")
    for text in ("<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"):
        renamed = [text if i == token else one for i, one in enumerate(texts)]
        write_gguf(file, {**plain, "tokenizer.ggml.tokens": gguf_texts(renamed)}, tensors)
        found = json.loads(run("generate", file, "a", "--max-tokens", "9", "--json").stdout)
        if found["tokens"] != before[:before.index(token)] or found["finish"] != "stop":
            fail(f"ends: {text}: {found}, expected {before} up to {token}")
        if json.loads(run("info", "--json", file).stdout)["end_tokens"] != ["</s>", text]:
            fail(f"ends: info does not list {text}")
    note = "tokenizer.ggml.pre is missing: texts are split as"
    write_gguf(file, {key: value for key, value in values.items() if key != "tokenizer.ggml.pre"}, tensors)
    for args in (["tokenize", file, "a", "b"], ["generate", file, "a", "--max-tokens", "1"], ["info", file]):
        if run(*args).stderr.count(note) != 1 or note in run(args[0], os.path.join(families, "llama", "model.gguf"), *args[2:]).stderr:
            fail(f"{args[0]}: not told once that texts are cut as by default")


def check_sampling(folder):
    """A GGUF file's penalty of repetitions looks at its last tokens: the ids are llama.cpp's. Its other sampling settings are ignored; info
    lists them, and a note names them unless a temperature is given."""
    values, tensors = read_gguf(os.path.join(families, "mistral", "model.gguf"))
    file, prefix = os.path.join(folder, "sampling.gguf"), "general.sampling."
    plain = [33, 36, 23, 15, 34, 24, 30, 30, 30, 36, 32, 24]
    for window, wanted in ((2, plain[:7] + [36]), (None, plain[:7] + [20, 40, 26]), (64, plain[:7] + [20, 40, 26]),
                           (-1, plain[:7] + [20, 40, 26]), (0, plain)):
        keys = {prefix + "penalty_repeat": struct.pack("<If", 6, 1.5)}
        if window is not None:
            keys[prefix + "penalty_last_n"] = struct.pack("<Ii", 5, window)
        write_gguf(file, {**values, **keys}, tensors)
        done = run("generate", file, "a b", "--max-tokens", "12", "--json")
        if json.loads(done.stdout)["tokens"] != wanted or done.stderr:
            fail(f"a penalty of the last {window} tokens: {done.stdout}, expected {wanted} {done.stderr}")
    keys = {prefix + "temp": struct.pack("<If", 6, 0.6), prefix + "top_k": struct.pack("<Ii", 5, 20),
            prefix + "mirostat": struct.pack("<Ii", 5, 0), prefix + "sequence": gguf_text("kpt")}
    write_gguf(file, {**values, **keys}, tensors)
    note = f"clformer: {file}: its sampling settings are ignored: general.sampling.sequence \"kpt\", general.sampling.temp 0.6, " \
        "general.sampling.top_k 20 (the most probable tokens are taken unless a temperature is given)\n"
    for options, told in (((), note), (("--temperature", "0.5"), "")):
        done = run("generate", file, "a b", "--max-tokens", "2", *options)
        if done.stderr != told:
            fail(f"sampling settings {options}: {done.stderr!r}, expected {told!r}")
    listed = json.loads(run("info", "--json", file).stdout)["generation_ignored"]
    if listed != [prefix + name for name in ("sequence", "temp", "top_k")]:
        fail(f"info: sampling settings: {listed}")


def check_other_networks(folder):
    """Tensors that no part of the network takes are refused by name, in both forms and in a conversion; known ones are passed over."""
    source, changed = os.path.join(families, "llama"), os.path.join(folder, "changed")
    weights, file = os.path.join(changed, "model.safetensors"), os.path.join(folder, "changed.gguf")
    shutil.copytree(source, changed, copy_function=shutil.copyfile)
    tensors, vector = read_safetensors(weights), ("F16", [4], bytes(8))
    table = tensors["model.embed_tokens.weight"]
    wanted = run("generate", source, "the cat", "--max-tokens", "4").stdout
    for name, is_taken in (("model.layers.0.self_attn.q_norm.weight", False), ("model.layers.2.mlp.up_proj.weight", False),
                           ("model.norm.bias", False), ("model.more", False), ("model.layers.0.self_attn.rotary_emb.inv_freq", True),
                           ("lm_head.weight", True)):
        write_safetensors(weights, {**tensors, name: table if "head" in name else vector})
        done = run("generate", changed, "the cat", "--max-tokens", "4", status=0 if is_taken else 1)
        message = f"{name}: a network of model_type" if "bias" in name else f"{name}: unexpected tensor for model_type"
        if done.stdout != (wanted if is_taken else "") or (not is_taken and message not in done.stderr):
            fail(f"{name}: {done.stdout} {done.stderr}")
        done = run("convert", changed, os.path.join(folder, "unwritten.gguf"), "--weights", "f32", status=0 if is_taken else 1)
        if not is_taken and name.removeprefix("model.") not in done.stderr:
            fail(f"convert: {name}: {done.stderr}")
    values, tensors = read_gguf(os.path.join(source, "model.gguf"))
    for name in ("blk.0.attn_q_norm.weight", "blk.1.post_attention_norm.weight", "blk.0.attn_sinks.weight", "output_norm.bias",
                 "blk.2.ffn_up.weight"):
        write_gguf(file, values, {**tensors, name: ((4,), 0, bytes(16))})
        done = run("generate", file, "the cat", status=1)
        if f"{name}: unexpected tensor for" not in done.stderr:
            fail(f"{name}: {done.stderr}")
    ones, factor = ((2,), 0, struct.pack("<2f", 1, 1)), struct.pack("<If", 6, 2)
    for names, more, message in ((["rope_factors_long"], {}, "rope_factors_long.weight: expected rope_factors_short.weight beside it"),
                                 (["rope_factors_short", "rope_freqs"], {}, "rope_factors_short.weight: expected neither"),
                                 (["rope_factors_short"], {"llama.rope.scaling.factor": factor},
                                  "rope_factors_short.weight: expected neither"),
                                 (["rope_factors_short", "rope_factors_long"], {"llama.rope.scaling.type": gguf_text("longrope")}, None)):
        write_gguf(file, {**values, **more}, {**tensors, **{f"{name}.weight": ones for name in names}})
        done = run("generate", file, "the cat", "--max-tokens", "1", status=1 if message else 0)
        if message and message not in done.stderr:
            fail(f"{names}: {done.stderr}")


def check_biases(folder):
    """A bias that the configuration promises is stored, and no other is; both are refused by name, in a conversion too."""
    for name, key, present, absent in (
            ("llama", "attention_bias", None, "model.layers.0.self_attn.q_proj.bias"), ("llama", "mlp_bias", None, "mlp.gate_proj.bias"),
            ("qwen3", "attention_bias", None, "self_attn.q_proj.bias"), ("gemma", "attention_bias", None, "self_attn.q_proj.bias"),
            ("qwen2", None, "model.layers.1.self_attn.k_proj.bias", "model.layers.1.self_attn.o_proj.bias"),
            ("gpt2", None, "transformer.h.0.ln_1.bias", "lm_head.bias"), ("mistral", None, None, "model.layers.0.mlp.up_proj.bias")):
        changed, file = os.path.join(folder, f"biases_{name}_{key}"), os.path.join(folder, "unwritten.gguf")
        weights, config = os.path.join(changed, "model.safetensors"), os.path.join(changed, "config.json")
        shutil.copytree(os.path.join(families, name), changed, copy_function=shutil.copyfile)
        tensors = read_safetensors(weights)
        faults = [] if key else [({**tensors, absent: ("F32", [4], bytes(16))}, {}, f"{absent}: a network of model_type")]
        faults += [({one: value for one, value in tensors.items() if one != present}, {}, f"no tensor {present}")] if present else []
        faults += [(tensors, {key: True}, f"{absent}, and config.json's {key} is true")] if key else []
        if key and absent.startswith("model"):
            faults += [({**tensors, absent: ("F32", [4], bytes(16))}, {key: False}, f"{absent}, and config.json's {key} is false")]
        for contents, keys, message in faults:
            write_safetensors(weights, contents)
            change_json(config, lambda content: content.update(keys))
            for args in (["generate", changed, "a"], ["convert", changed, file, "--weights", "f32"]):
                if message not in run(*args, status=1).stderr:
                    fail(f"biases: {name}: {args[0]}: no message {message}")


def turned(tensor):
    """A table with its rows in the opposite order."""
    dtype, (rows, columns), content = tensor
    size = len(content) // rows
    return dtype, [rows, columns], b"".join(content[i * size:(i + 1) * size] for i in reversed(range(rows)))


def check_tied(folder):
    """A head that is stored counts where its bits are not those of the table, whatever tie_word_embeddings says; convert writes it."""
    for name, table in (("llama", "model.embed_tokens.weight"), ("gpt2", "transformer.wte.weight"),
                        ("gemma2", "model.embed_tokens.weight")):
        source, copy = os.path.join(families, name), os.path.join(folder, "tied_" + name)
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        weights, output, file = (os.path.join(copy, part) for part in ("model.safetensors", "out.npy", "out.gguf"))
        tensors = read_safetensors(weights)

        def logits(model, more, tied=True, without=()):
            write_safetensors(weights, {key: value for key, value in {**tensors, **more}.items() if key not in without})
            change_json(os.path.join(copy, "config.json"), lambda config: config.update(tie_word_embeddings=tied))
            run("logits", model, "the cat sat", "-o", output)
            return read_npy(output)

        head, plain = {"lm_head.weight": turned(tensors[table])}, logits(copy, {})
        untied = logits(copy, head, tied=False)
        if plain == untied or logits(copy, head) != untied:
            fail(f"{name}: a stored head that differs is not the generator's")
        run("convert", copy, file, "--weights", "f32")
        run("logits", file, "the cat sat", "-o", output)
        error = worst(abs(a - b) for a, b in zip(read_npy(output)[0], untied[0])) / max(map(abs, untied[0]))
        if "output.weight" not in read_gguf(file)[1] or not error <= BOUND:
            fail(f"{name}: convert: the head is another one, by {error:.3g}")
        if logits(copy, {"lm_head.weight": tensors[table]}) != plain:
            fail(f"{name}: a copy of the table is not the table")
        run("convert", copy, file, "--weights", "f32")
        if "output.weight" in read_gguf(file)[1]:
            fail(f"{name}: convert: a copy of the table is written")
        if name != "gpt2" and logits(copy, {"lm_head.weight": tensors[table]}, without=(table,)) != plain:
            fail(f"{name}: a head alone is not the table")


def check_plan():
    """The memory plan of a file of all kinds of blocks."""
    done = run("info", "--json", os.path.join(families, "llama_blocks", "model.gguf"))
    info = json.loads(done.stdout)
    kinds = set(info["quantised"])
    if not {"q8_0", "q4_0", "q4_1", "q6_k"} <= {kind.lower() for kind in kinds} or set(info["quantised"].values()) - {"bundles", "blocks"}:
        fail(f"info: quantised {info['quantised']}")
    heads = json.loads(run("info", "--json", os.path.join(families, "llama")).stdout)
    if heads["token_bytes"] != 2 * 2 * 2 * 4 * 4 or heads["context_fits"] != 96 or not 0 < info["weight_bytes"] <= info["file_bytes"]:
        fail(f"info: plan {heads} {info}")
    halves = json.loads(run("info", "--json", os.path.join(families, "llama"), "--cache", "f16", "--weights", "f16").stdout)
    if 2 * halves["token_bytes"] != heads["token_bytes"] or (heads["weights"], halves["weights"]) != ("stored", "f16"):
        fail(f"info: plan of halves {halves}")


def check_told():
    """A file's description of itself, and the plan of a model that no device has room for."""
    wanted = {"name": "tiny qwen2", "file_type": "f16", "chat_template": "yes", "end_tokens": ["</s>"]}
    told = json.loads(run("info", "--json", os.path.join(families, "qwen2", "model.gguf")).stdout)
    hub = json.loads(run("info", "--json", os.path.join(families, "qwen2")).stdout)
    if {key: told.get(key) for key in wanted} != wanted or hub["chat_template"] != "no" or hub["end_tokens"] != ["</s>"] or \
            "does_not_fit" in told:
        fail(f"info: {told} {hub}")
    values, tensors = read_gguf(os.path.join(families, "qwen2", "model.gguf"))
    rows = 2 ** 31 - 1
    tensors["output.weight"] = tensors.pop("output.weight")  # the last, whose numbers are a hole in the file
    tensors["output.weight"] = ((24, rows), 0, b"")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "huge.gguf")
        write_gguf(path, values, tensors)
        os.truncate(path, os.path.getsize(path) + 24 * 4 * rows)
        told = json.loads(run("info", "--json", path).stdout)
        if told["weight_bytes"] <= told["memory_bytes"] or told["family"] != "qwen2" or told["context_fits"] != 0 or \
                "model: the weights take" not in told["does_not_fit"]:
            fail(f"info: huge: {told}")
        if "does_not_fit " not in run("info", path).stdout:
            fail("info: huge, as text")
        done = run("generate", path, "a", status=1)
        if told["does_not_fit"] not in done.stderr:
            fail(f"generate: huge: {done.stderr}")


def check_text_part():
    """Gemma 3 as it comes with a part for pictures: text_config, which lacks usual values, and names with a prefix of their own."""
    source = os.path.join(families, "gemma3")
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(source, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    with open(os.path.join(source, "model.safetensors"), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, body = json.loads(file.read(size)), file.read()
    outer = {"model_type": "gemma3", "vision_config": {"hidden_size": 8}, "eos_token_id": config.pop("eos_token_id")}
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(source, "tokenizer.json"), os.path.join(folder, "tokenizer.json"))
        prompts, output = (os.path.join(folder, name) for name in ("p.jsonl", "o.npy"))
        with open(prompts, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text["text"]) + "\n" for text in golden["texts"])
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**outer, "text_config": config}, file)
        for prefix in ("language_model.model.", "model.language_model."):
            renamed = json.dumps({key.replace("model.", prefix, 1): value for key, value in header.items()}).encode()
            with open(os.path.join(folder, "model.safetensors"), "wb") as file:
                file.write(len(renamed).to_bytes(8, "little") + renamed + body)
            check_logits(f"gemma3 {prefix}", folder, golden, prompts, output)
        del config["num_attention_heads"]  # 8, which the weights are not made for
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**outer, "text_config": config}, file)
        done = run("logits", folder, "a", "-o", output, status=1)
        if "q_proj.weight: expected [48,24], found [24,24]" not in done.stderr:
            fail(f"text_config: {done.stderr}")


with tempfile.TemporaryDirectory() as temporary:
    check_unread_keys(temporary)
    check_biases(temporary)
    check_token_texts(temporary)
    check_sampling(temporary)
    check_other_networks(temporary)
    check_tied(temporary)
check_plan()
check_told()
check_text_part()
finish()
