#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""classify and rerank on tiny models with heads (tests/data/classifiers): logits against transformers' in float64, labels,
scores and orders.
usage: test_classify.py PROGRAM DATA"""
import json
import math
import os
import shutil
import tempfile

from runs import clformer as run, data, fail, finish, is_whole, worst, write_spoiled

models = os.path.join(data, "classifiers")
BOUND = 1e-5  # of the logits' length


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def check_classify(name, directory, folder, golden, config):
    """The scores are those of transformers' pipeline for config.json's problem_type."""
    texts, problem = os.path.join(folder, name + ".jsonl"), config.get("problem_type")
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text) + "\n" for text in golden["texts"])
    done = run("classify", "--json", "--file", texts, directory)
    if done.returncode != 0:
        return fail(name, done.returncode, done.stderr)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if len(lines) != len(golden["logits"]):
        return fail(name, f"{len(lines)} lines")
    labels = config.get("id2label") or {str(i): f"LABEL_{i}" for i in range(2)}
    for text, line, logits, scores in zip(golden["texts"], lines, golden["logits"], golden["scores"][problem or "null"]):
        error = math.dist(line["logits"], logits) / math.hypot(*logits)
        best = max(range(len(logits)), key=scores.__getitem__)
        if not error <= BOUND or not abs(line["score"] - scores[best]) <= BOUND * max(1, abs(scores[best])) or \
                line["label"] != labels[str(best)]:
            fail(name, problem, text, f"relative error {error:.3g}", line, scores)


def check_problems(name, folder, golden, config):
    """Each problem_type in turn."""
    copy = os.path.join(folder, name + "_problems")
    shutil.copytree(os.path.join(models, name), copy)
    for problem in golden["scores"]:
        changed = {**config, "problem_type": None if problem == "null" else problem}
        with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
            json.dump(changed, file)
        check_classify(name, copy, folder, golden, changed)


def check_cross_encoder(name, golden):
    """rerank's scores are those of sentence-transformers' CrossEncoder."""
    for (query, text), wanted in zip(golden["texts"][-3:], golden["cross_encoder"]):
        done = run("rerank", "--json", os.path.join(models, name), query, text)
        if done.returncode != 0 or not abs(json.loads(done.stdout)["hits"][0]["score"] - wanted) <= BOUND:
            fail(name, "CrossEncoder", query, text, wanted, done.stdout, done.stderr)


def write_json(folder, name, content):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(content, file)


def check_cross_encoder_settings(folder):
    """The default prompt of a cross-encoder goes before the query, and what it makes of logits is Identity or Sigmoid."""
    copy, texts = os.path.join(folder, "settings"), ("the cat sat", "zebra")
    shutil.copytree(os.path.join(models, "bert"), copy)
    write_json(copy, "modules.json",
               [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}])
    with open(os.path.join(copy, "config.json"), encoding="utf-8") as file:
        config = json.load(file)

    def hits(query, **settings):
        write_json(copy, "config_sentence_transformers.json", settings)
        return run("rerank", "--json", copy, query, *texts)
    plain, asked = hits("dog"), hits("a cat, dog")
    prompts = {"prompts": {"query": "a cat, "}, "default_prompt_name": "query"}
    given, other = hits("dog", model_type="CrossEncoder", activation_fn="torch.nn.modules.linear.Identity", **prompts), \
        hits("dog", **prompts)
    found = [json.loads(done.stdout)["hits"] if done.returncode == 0 else done.stderr for done in (plain, asked, given, other)]
    if found[2] != found[1] or found[0] == found[1] or found[3] != found[0]:
        fail("the prompt of a cross-encoder", found)
    if json.loads(run("info", "--json", copy).stdout)["unread_settings"]:
        fail("info: settings of a cross-encoder")
    refused = [hits("dog", model_type="CrossEncoder", activation_fn="torch.nn.modules.activation.Tanh")]
    hits("dog")
    for change in ({"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Tanh"}},
                   {"sbert_ce_default_activation_function": "torch.nn.modules.activation.Tanh"}, {"sentence_transformers": {"activation_fn":
                    "torch.nn.modules.activation.Sigmoid"}, "sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}):
        write_json(copy, "config.json", {**config, **change})
        refused.append(run("rerank", "--json", copy, "dog", *texts))
    if json.loads(refused.pop().stdout)["hits"] != found[0]:
        fail("activation functions that rerank tells")
    for done in refused:
        if done.returncode != 1 or 'modules.activation.Tanh": expected torch.nn\'s Identity or Sigmoid' not in done.stderr:
            fail("another activation function", done.returncode, done.stdout, done.stderr)
    write_json(copy, "config.json", config)
    os.remove(os.path.join(copy, "modules.json"))  # sentence-transformers does not look into the other file then
    done = hits("dog", model_type="CrossEncoder", activation_fn="torch.nn.modules.activation.Tanh", similarity_fn_name="cosine", **prompts)
    if done.returncode != 0 or json.loads(done.stdout)["hits"] != found[0]:
        fail("settings without modules.json", done.stdout, done.stderr)
    if set(json.loads(run("info", "--json", copy).stdout)["unread_settings"]) != \
            {"model_type", "activation_fn", "prompts", "default_prompt_name"}:
        fail("info: settings without modules.json", run("info", "--json", copy))


def check_printed(folder):
    """A label is foreign text too: it cannot drive the terminal, and both texts of a pair are shown."""
    copy, pairs = os.path.join(folder, "printed"), os.path.join(folder, "pairs.jsonl")
    shutil.copytree(os.path.join(models, "bert"), copy)
    with open(os.path.join(copy, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    label = "a\x1b[31mred\nline"
    with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
        json.dump({**config, "id2label": {"0": 7}}, file)
    done = run("classify", copy, "the cat")
    if done.returncode != 0 or done.stdout.split()[1:2] != ["7"]:
        fail(f"a label that is a number: {done.stdout}{done.stderr}")
    with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
        json.dump({**config, "id2label": {"0": label}}, file)
    with open(pairs, "w", encoding="utf-8") as file:
        file.write(json.dumps(["the cat", "sat\x1b on"]) + "\n" + json.dumps("alone") + "\n")
    done = run("classify", "--file", pairs, copy)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != 2 or "\x1b" in done.stdout or not all("a [31mred line" in line for line in lines):
        return fail("a label with control characters", done.stdout, done.stderr)
    if not lines[0].endswith("the cat  |  sat  on") or not lines[1].endswith("  alone"):
        fail("the texts of a pair", lines)
    done = run("classify", "--json", "--file", pairs, copy)
    if done.returncode != 0 or json.loads(done.stdout.splitlines()[0])["label"] != label:
        fail("a label in JSON", done.stdout, done.stderr)


def check_rerank(name, golden):
    """The pairs of one query are scored alike, whatever else is in the batch."""
    query = golden["texts"][-3][0]
    documents = [text for text in golden["texts"] if isinstance(text, str)] + [golden["texts"][-3][1]]
    done = run("rerank", "--json", os.path.join(models, name), query, *documents)
    if done.returncode != 0:
        return fail(name, "rerank", done.returncode, done.stderr)
    found = json.loads(done.stdout)
    logits = [hit["logit"] for hit in found["hits"]]
    if found["query"] != query or len(logits) != len(documents) or logits != sorted(logits, reverse=True):
        return fail(name, "rerank: order", found)
    for hit in found["hits"]:
        if hit["text"] != documents[hit["index"]] or not abs(hit["score"] - sigmoid(hit["logit"])) <= 1e-6:
            fail(name, "rerank", hit)
    last = next(hit for hit in found["hits"] if hit["index"] == len(documents) - 1)
    if not abs(last["logit"] - golden["logits"][-3][0]) <= BOUND * max(1, abs(golden["logits"][-3][0])):
        fail(name, "rerank", last, golden["logits"][-3])
    if not is_whole:
        return
    done = run("rerank", "--top", "2", os.path.join(models, name), query, *documents)
    rows = done.stdout.splitlines()
    if done.returncode != 0 or len(rows) != 2 or not rows[0].endswith(found["hits"][0]["text"]):
        fail(name, "rerank --top 2", done.stdout, done.stderr)


def check_search(folder):
    """search --rerank gives the same logits as rerank."""
    embedder, reranker = os.path.join(data, "families", "roberta"), os.path.join(models, "bert")
    documents = ["a", "the cat sat", "zebra quick", "dog, dog!", "on the mat", "quick quick"]
    corpus = os.path.join(folder, "corpus.txt")
    with open(corpus, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in documents)
    wanted = json.loads(run("rerank", "--json", "--top", "3", reranker, "the cat", *documents).stdout)
    done = run("search", "--json", "--top", "3", "--corpus", corpus, "--rerank", reranker, embedder, "the cat")
    if done.returncode != 0:
        return fail("search --rerank", done.returncode, done.stderr)
    found = json.loads(done.stdout)
    if [hit["index"] for hit in found["hits"]] != [hit["index"] for hit in wanted["hits"]]:
        fail("search --rerank: order", found, wanted)
    for hit, want in zip(found["hits"], wanted["hits"]):
        if not worst((abs(hit["logit"] - want["logit"]), abs(hit["score"] - want["score"]))) <= BOUND:
            fail("search --rerank", hit, want)
    check_search_refusals(folder, embedder, reranker, corpus)


def check_search_refusals(folder, embedder, reranker, corpus):
    """A model that cannot rerank is refused before a text is embedded. A corrupt score is reported by the text's place in the corpus."""
    empty = os.path.join(folder, "empty.txt")  # is not read
    with open(empty, "wb"):
        pass
    for other, labels in ((os.path.join(models, "roberta"), 3), (embedder, 0)):
        for more in ([], ["--device", ","]):
            done = run("search", "--corpus", empty, "--rerank", other, embedder, "the cat", *more)
            if done.returncode != 1 or f"{labels} labels: expected 1" not in done.stderr.splitlines()[-1]:
                fail("search --rerank with another head", more, done.returncode, done.stderr)
    done = run("search", "--corpus", empty + ".npy", "--rerank", reranker, embedder, "the cat")
    if done.returncode != 2 or "has no texts: expected --texts F" not in done.stderr:
        fail("search --rerank without texts", done.returncode, done.stderr)
    done = run("search", "--corpus", empty, "--texts", corpus, embedder, "the cat")
    if done.returncode != 2 or "expected a .npy corpus" not in done.stderr:
        fail("search --texts of a corpus of texts", done.returncode, done.stderr)
    spoiled, mixed = os.path.join(folder, "spoiled"), os.path.join(folder, "mixed.txt")
    shutil.copytree(reranker, spoiled)
    write_spoiled(os.path.join(reranker, "model.safetensors"), "bert.embeddings.position_embeddings.weight", 28,
                  os.path.join(spoiled, "model.safetensors"))
    with open(corpus, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(mixed, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in [*lines[:4], "the cat sat " * 9, *lines[4:]])
    for more in ([], ["--device", ","]):
        done = run("search", "--no-keep", "--corpus", mixed, "--rerank", spoiled, embedder, "the cat", *more)
        if done.returncode != 1 or "--rerank: " not in done.stderr or "mixed.txt: text 5: " not in done.stderr or done.stdout:
            fail("search --rerank: a score that is not finite", more, done.returncode, done.stderr)


def check_info_of_tokenizer(folder):
    """The chain in full, and the files that nothing reads."""
    copy = os.path.join(folder, "known")
    shutil.copytree(os.path.join(data, "sentence", "dense"), copy)
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(os.path.join(data, "families", "roberta", name), copy)
    for name in ("model-00001-of-00002.safetensors", "target_vocab.json", "adapter_model.safetensors", "model-1-of-2.safetensors.bak"):
        with open(os.path.join(copy, name), "wb"):
            pass
    os.mkdir(os.path.join(copy, "onnx"))
    with open(os.path.join(copy, "tokenizer.json"), encoding="utf-8") as file:
        told = json.load(file)
    done = run("info", "--json", copy)
    if done.returncode != 0:
        return fail("info of another directory", done.returncode, done.stderr)
    info = json.loads(done.stdout)
    wanted = {"normalizer": ["BertNormalizer"], "pre_tokenizer": ["BertPreTokenizer"], "token_model": "WordPiece", "decoder": ["WordPiece"],
              "post_processor": ["<s>:0 $A:0 </s>:0", "<s>:0 $A:0 </s>:0 $B:1 </s>:1"],
              "files_harmless": ["onnx"], "unknown": ["adapter_model.safetensors", "golden.json", "model-1-of-2.safetensors.bak"]}
    wrong = {key: info.get(key) for key in wanted if info.get(key) != wanted[key]}
    if wrong:
        fail("info: tokenizer, unknown", wrong)
    for key, part, known in (("normalizer", {"type": "Sequence", "normalizers": [{"type": "Rot13"}]},
                              ("BertNormalizer", "NFKC", "Precompiled")),
                             ("pre_tokenizer", {"type": "Rot13"}, ("BertPreTokenizer", "ByteLevel", "Metaspace")),
                             ("post_processor", {"type": "Rot13"}, ("TemplateProcessing", "BertProcessing", "RobertaProcessing"))):
        with open(os.path.join(copy, "tokenizer.json"), "w", encoding="utf-8") as file:
            json.dump({**told, key: part}, file)
        done = run("info", copy)
        names = done.stderr.partition('type "Rot13"; known are ')[2]
        if done.returncode != 1 or key not in done.stderr or any(name not in names for name in known):
            fail("info: an unknown", key, done.returncode, done.stderr)


def check_info():
    done = run("info", "--json", os.path.join(models, "camembert"))
    if done.returncode != 0:
        return fail("info", done.returncode, done.stderr)
    info = json.loads(done.stdout)
    wanted = {"family": "camembert", "layers": 1, "width": 24, "heads": 3, "labels": ["weather", "sport", "the rest"],
              "problem": "multi_label", "pooling": ["mean"], "prompts": {}, "normalizer": ["BertNormalizer"],
              "pre_tokenizer": ["BertPreTokenizer"], "token_model": "WordPiece", "unknown": ["golden.json"]}
    wrong = {key: info.get(key) for key in wanted if info.get(key) != wanted[key]}
    if wrong or "classify" not in info["tasks"] or "rerank" in info["tasks"] or set(info["tensors"]) != {"F16"} or \
            info["parameters"] < 1000:
        fail("info", wrong, info)
    if not 4096 < info["weight_bytes"] <= info["file_bytes"] or not 4096 < info["scratch_bytes"] < info["memory_bytes"] or \
            "context_fits" in info:
        fail("info: the memory plan", info)
    done = run("info", os.path.join(models, "bert"))
    if done.returncode != 0 or not any(line.split() == ["family", "bert"] for line in done.stdout.splitlines()) or \
            "rerank" not in done.stdout:
        fail("info", done.stdout, done.stderr)
    if run("info").returncode != 2:
        fail("info without a model")


def check_refusals():
    bert, three = os.path.join(models, "bert"), os.path.join(models, "roberta")
    for expected, status, arguments in (
            ("3 labels: expected 1", 1, ("rerank", three, "a", "b")),
            ("no classification head", 1, ("classify", os.path.join(data, "families", "roberta"), "a")),
            ("no classification head", 1, ("rerank", os.path.join(data, "families", "roberta"), "a", "b")),
            ("and a query", 2, ("rerank", bert)),
            ("no texts", 2, ("rerank", bert, "a")),
            ("max_tokens 1000", 2, ("classify", "--max-tokens", "1000", bert, "a"))):
        done = run(*arguments)
        if done.returncode != status or expected not in done.stderr or done.stdout:
            fail(arguments, done.returncode, done.stdout, done.stderr)


def check_directory(folder, name, change, expected):
    """A directory whose config.json is changed is refused for it."""
    copy = os.path.join(folder, "changed")
    os.makedirs(copy, exist_ok=True)
    for file in ("model.safetensors", "tokenizer.json"):
        with open(os.path.join(models, name, file), "rb") as source, open(os.path.join(copy, file), "wb") as target:
            target.write(source.read())
    with open(os.path.join(models, name, "config.json"), encoding="utf-8") as file:
        config = {**json.load(file), **change}
    with open(os.path.join(copy, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    done = run("classify", copy, "a")
    if done.returncode != 1 or expected not in done.stderr:
        fail(change, done.returncode, done.stderr)


def check_bad_pairs(folder):
    path = os.path.join(folder, "bad.jsonl")
    for text in ('["a"]', '["a", 3]', '["a", "b", "c"]'):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        done = run("classify", "--file", path, os.path.join(models, "bert"))
        if done.returncode != 1 or "line 1: expected an array of two strings" not in done.stderr:
            fail(text, done.returncode, done.stderr)


names = sorted(os.listdir(models))
if len(names) < 8:
    fail("models:", names)
with tempfile.TemporaryDirectory() as folder:
    for name in names:
        with open(os.path.join(models, name, "golden.json"), encoding="utf-8") as file:
            golden = json.load(file)
        with open(os.path.join(models, name, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        check_classify(name, os.path.join(models, name), folder, golden, config)
        if is_whole and name in ("bert", "roberta"):  # of one label and of three
            check_problems(name, folder, golden, config)
        if len(golden["logits"][0]) == 1:
            check_rerank(name, golden)
            if is_whole:
                check_cross_encoder(name, golden)
    if is_whole:
        check_printed(folder)
        check_cross_encoder_settings(folder)
        check_bad_pairs(folder)
        check_search(folder)
        check_info_of_tokenizer(folder)
        check_directory(folder, "roberta", {"problem_type": "clustering"}, 'problem_type "clustering": expected single_label')
        check_directory(folder, "roberta", {"id2label": {"0": "a", "2": "b"}}, "id2label")
        check_directory(folder, "roberta", {"id2label": {"0": "a", "1": "b"}}, "classifier.out_proj.weight")
        check_directory(folder, "modernbert", {"classifier_pooling": "max"}, 'classifier_pooling "max": expected "cls" or "mean"')
        check_refusals()
        check_info()
finish()
