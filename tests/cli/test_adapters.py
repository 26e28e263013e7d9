#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests LoRA adapters (tests/data/adapters). A model with an adapter computes what the model of the merged weights computes, is converted
to the same file, and info names the adapter. Embeddings are compared with those of transformers in float64. Fingerprints follow the
adapter.
usage: test_adapters.py PROGRAM DATA"""
import json
import os
import shutil
import tempfile

from language_models import run
from model_files import change_json, read_safetensors, write_safetensors
from runs import data, fail, finish, folders, worst

adapters = os.path.join(data, "adapters")
TEXTS = ["the cat sat", "zebra quick"]
COMMANDS = {"families": ["embed"], "classifiers": ["classify", "--json"], "generation": ["generate", "--max-tokens", "6", "--json"],
            "translation": ["translate", "--max-tokens", "6", "--json"]}


def merge(folder, case, base):
    """The base model with the golden weights, and the adapter's directory with the base model's path from the root."""
    merged, adapter = os.path.join(folder, case + "_merged"), os.path.join(folder, case)
    for source, target in ((base, merged), (os.path.join(adapters, case), adapter)):
        shutil.copytree(source, target, copy_function=shutil.copyfile)
    tensors = read_safetensors(os.path.join(base, "model.safetensors"))
    changed = read_safetensors(os.path.join(adapter, "merged.safetensors"))
    write_safetensors(os.path.join(merged, "model.safetensors"), {**tensors, **changed})
    os.remove(os.path.join(adapter, "merged.safetensors"))
    change_json(os.path.join(adapter, "adapter_config.json"), lambda config: config.update(base_model_name_or_path=base))
    return adapter, merged


def check(folder, case):
    with open(os.path.join(adapters, case, "adapter_config.json"), encoding="utf-8") as file:
        name = json.load(file)["base_model_name_or_path"]
    base = os.path.normpath(os.path.join(adapters, case, name))
    kind = os.path.basename(os.path.dirname(base))
    adapter, merged = merge(folder, case, base)
    command, *options = COMMANDS[kind]
    for text in TEXTS:
        got, wanted, plain = (run(command, model, text, *options).stdout for model in (adapter, merged, base))
        if got != wanted:
            fail(f"{case}: {command}: {got}, merged {wanted}")
        if kind != "generation" and kind != "translation" and got == plain:
            fail(f"{case}: {command}: as without the adapter")
    info = json.loads(run("info", "--json", adapter).stdout)
    if info["adapter"]["model"] != base or not info["adapter"]["merged"] > 0 or info["unknown"]:
        fail(f"{case}: info: {info['adapter']}, unknown {info['unknown']}")
    if kind == "generation" and case != "gemma3":  # its order of layers has no form in GGUF
        files = [os.path.join(folder, case + suffix) for suffix in (".gguf", "_merged.gguf")]
        for model, path in zip((adapter, merged), files):
            run("convert", model, path, "--weights", "f16")
        with open(files[0], "rb") as one, open(files[1], "rb") as other:
            if one.read() != other.read():
                fail(f"{case}: convert: another file than that of the merged model")


def check_beside(folder):
    model = os.path.join(folder, "beside")
    shutil.copytree(os.path.join(adapters, "bert_beside"), model, copy_function=shutil.copyfile)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        texts = json.load(file)["texts"]
    for text in texts:
        got = json.loads(run("embed", model, text["text"]).stdout)["embedding"]
        error = worst(abs(a - b) for a, b in zip(got, text["embedding"])) / max(map(abs, text["embedding"]))
        if len(got) != len(text["embedding"]) or not error <= 1e-5:
            fail(f"beside: {text['text']}: differs by {error:.3g} of the largest")


def fingerprint(folder, model):
    """The hash of the model's files that lies beside vectors."""
    output = os.path.join(folder, "vectors.npy")
    run("embed", model, "the cat", "-o", output)
    with open(output + ".json", encoding="utf-8") as file:
        return json.load(file)["model"]


def check_fingerprints(folder):
    """Another adapter, other settings of it and another base model are other models."""
    adapter, _ = merge(folder, "distilbert", os.path.join(data, "families", "distilbert"))
    base = os.path.join(folder, "base")
    shutil.copytree(os.path.join(data, "families", "distilbert"), base, copy_function=shutil.copyfile)
    config, seen = os.path.join(adapter, "adapter_config.json"), []
    change_json(config, lambda values: values.update(base_model_name_or_path=base))
    seen.append(fingerprint(folder, adapter))
    change_json(config, lambda values: values.update(lora_alpha=7))
    seen.append(fingerprint(folder, adapter))
    shutil.copyfile(os.path.join(folder, "distilbert_merged", "model.safetensors"), os.path.join(base, "model.safetensors"))
    seen.append(fingerprint(folder, adapter))
    if len(set(seen)) != len(seen):
        fail(f"fingerprints: {seen}")


with tempfile.TemporaryDirectory() as temporary:
    for one in folders(adapters):
        if one != "bert_beside":
            check(temporary, one)
    check_beside(temporary)
with tempfile.TemporaryDirectory() as temporary:
    check_fingerprints(temporary)
finish()
