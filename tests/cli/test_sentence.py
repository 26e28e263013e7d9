#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sentence-transformers' modules, prompts, and truncation, quantisation (tests/data/sentence) against its own results, and modules that
are not known.
usage: test_sentence.py PROGRAM DATA"""
import json
import math
import os
import select
import shutil
import struct
import subprocess
import tempfile

from runs import assemble_sentence as assemble, clformer as run, data, fail, finish, folders, is_whole, program, used_device

sentence, encoder = os.path.join(data, "sentence"), os.path.join(data, "families", "distilbert")
BOUND = 1e-5  # of the vector's length
DEEP = 2e-5  # behind four layers with two norms a block, and two dense layers that cancel


def write_npy(path, rows):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1"))
        file.writelines(struct.pack(f"<{len(row)}f", *row) for row in rows)


def are_near(rows, wanted, kind):
    """Rows of the same sizes: bits are the same, a byte may be the next one where rounding moves a feature over a step."""
    apart = [abs(a - b) for row, want in zip(rows, wanted) for a, b in zip(row, want)]
    return [len(row) for row in rows] == [len(row) for row in wanted] and max(apart) <= (0 if "binary" in kind else 1) and \
        sum(apart) <= len(apart) // 20 + 1


def check_quantized(folder, directory, texts, case):
    kind, wanted, out = case["kind"], case["rows"], os.path.join(folder, "out.npy")
    options = ["--quantize", kind]
    if "ranges" in case:
        write_npy(os.path.join(folder, "ranges.npy"), case["ranges"])
        options += ["--ranges", os.path.join(folder, "ranges.npy")]
    done = run("embed", "--format", "text", *options, directory, *texts)
    if done.returncode != 0:
        return fail(directory, options, done.returncode, done.stderr)
    rows = [[int(value) for value in line.split()] for line in done.stdout.splitlines()]
    if not are_near(rows, wanted, kind):
        fail(directory, options, rows, wanted)
    done = run("embed", *options, "-o", out, directory, *texts)
    with open(out, "rb") as file:
        content = file.read()
    flat = [value for row in rows for value in row]
    if done.returncode != 0 or content[-len(flat):] != bytes(value % 256 for value in flat) or \
            (b"'|u1'" if kind[0] == "u" else b"'|i1'") not in content:
        fail(directory, options, done.returncode, done.stderr, content)


def check_streamed(folder):
    """Bits, and bytes of given ranges, are printed window by window; the windows change nothing but, on GPUs, the rounding of a feature:
    products of few rows and of many are different kernels there."""
    directory, texts, ranges = os.path.join(folder, "last"), os.path.join(folder, "many.txt"), os.path.join(folder, "given.npy")
    is_right = are_near if used_device()["type"] == "GPU" else lambda rows, wanted, kind: rows == wanted
    write_npy(ranges, [[-0.5] * 24, [0.5] * 24])
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines("the cat " * number + "sat\n" for number in range(7))
    for options in (["--quantize", "binary"], ["--quantize", "uint8", "--ranges", ranges], ["--quantize", "uint8"]):
        one, many = (run("embed", *options, *more, "--file", texts, directory) for more in ((), ("--window", "2")))
        if one.returncode != 0 or many.returncode != 0:
            fail("streamed", options, one.stderr, many.stderr)
            continue
        one, many = ([json.loads(line) for line in done.stdout.splitlines()] for done in (one, many))
        if any([row["index"] for row in rows] != list(range(7)) for rows in (one, many)) or \
                not is_right([row["embedding"] for row in many], [row["embedding"] for row in one], options[1]):
            fail("streamed", options, one, many)
    for options in (["--quantize", "ubinary"], ["--quantize", "int8", "--ranges", ranges]):
        command = [program, "embed", *options, "--format", "text", "--window", "1", directory, "-"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(b"the cat sat\n")
            process.stdin.flush()
            if not select.select([process.stdout], [], [], 60)[0]:
                fail("streamed: nothing before the end of the input", options)
            out, error = process.communicate(b"zebra\n")
        if process.returncode != 0 or len(out.splitlines()) != 2:
            fail("streamed from standard input", options, out, error)


def check_wide_range(folder):
    """A range whose width overflows gives no bytes."""
    directory, ranges = os.path.join(folder, "last"), os.path.join(folder, "wide.npy")
    write_npy(ranges, [[-3e38] * 24, [3e38] * 24])
    refused(("--quantize", "int8", "--ranges", ranges, directory), 1,
            "feature 1: expected a range whose width float32 holds, found -3e+38 to 3e+38")


def check_case(folder, name):
    directory = assemble(folder, name)
    with open(os.path.join(directory, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    for case in golden["quantized"] if is_whole else ():
        check_quantized(folder, directory, golden["texts"], case)
    for call in golden["calls"]:
        options = []
        for key, option in (("prompt_name", "--prompt-name"), ("prompt", "--prompt"), ("truncate_dim", "--dimensions")):
            if key in call:
                options += [option, str(call[key])]
        if call.get("normalize_embeddings"):
            options += ["--normalize", "yes"]
        done = run("embed", "--format", "text", *options, directory, *golden["texts"])
        if done.returncode != 0:
            fail(name, options, done.returncode, done.stderr)
            continue
        rows = [[float(value) for value in line.split()] for line in done.stdout.splitlines()]
        if [len(row) for row in rows] != [len(row) for row in call["embeddings"]]:
            fail(name, options, "other sizes", [len(row) for row in rows])
            continue
        for text, row, wanted in zip(golden["texts"], rows, call["embeddings"]):
            error = math.dist(row, wanted) / math.hypot(*wanted)
            if not error <= (DEEP if name == "embeddinggemma" else BOUND):
                fail(name, options, text, f"relative error {error:.3g}")


def check_search_prompts(folder):
    """A search puts the model's query prompt before queries and that of documents before the corpus."""
    directory, corpus = os.path.join(folder, "dense"), os.path.join(folder, "corpus.txt")
    with open(corpus, "w", encoding="utf-8") as file:
        file.write("zebra quick\n")
    vectors = [[float(value) for value in run("embed", "--format", "text", *options, directory, text).stdout.split()]
               for options, text in ((("--prompt-name", "query"), "the cat"), (("--prompt-name", "document"), "zebra quick"))]
    done = run("search", "--json", "--corpus", corpus, directory, "the cat")
    wanted = sum(a * b for a, b in zip(*vectors))
    if done.returncode != 0 or not abs(json.loads(done.stdout)["hits"][0]["score"] - wanted) <= BOUND:
        fail("search: prompts", done.stdout, done.stderr, wanted)


def refused(arguments, status, *expected):
    done = run("embed", *arguments, "a")
    if done.returncode != status or any(part not in done.stderr for part in expected) or done.stdout:
        fail(arguments, done.returncode, done.stderr)


def check_refusals(folder):
    directory = os.path.join(folder, "dense")
    refused(("--prompt-name", "title", directory), 2, 'no prompt "title"', "query", "passage")
    refused(("--prompt-name", "query", "--prompt", "x", directory), 2, "found both")
    refused(("--dimensions", "10", directory), 2, "dimensions 10, the model's embeddings have 9")
    refused(("--quantize", "int8", directory), 2, "--quantize: 1 embedding: expected two or more")
    refused(("--ranges", "x.npy", "--quantize", "binary", directory), 2, "--quantize int8 or uint8")
    refused(("--pooling", "cls", directory), 2, "2 poolings side by side")

    def changed(path, change, *expected):
        file = os.path.join(directory, path)
        with open(file, encoding="utf-8") as stream:
            before = stream.read()
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(before.replace(*change))
        if change[0] not in before:
            fail(path, change, "is not there")
        refused((directory,), 1, *expected)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(before)

    changed("modules.json", ("layer_norm.LayerNorm", "cnn.CNN"), 'modules.cnn.CNN"',
            "Transformer, Pooling, Dense, LayerNorm, Normalize or Dropout")
    changed("modules.json", ("sentence_transformers.base.modules.dense.Dense", "custom_st.Dense"), '"custom_st.Dense"')
    changed("modules.json", ("pooling.Pooling", "dropout.Dropout"), "expected one Transformer, then one Pooling")
    changed("modules.json", ("2_Dense", "../dense/2_Dense"), "not a plain directory name")
    changed("1_Pooling/config.json", ('"mean"', '"median"'), 'pooling_mode string "median"',
            "cls, max, mean, mean_sqrt_len_tokens, weightedmean or lasttoken")
    changed("2_Dense/config.json", ("activation.Tanh", "activation.Hardswish"),
            'activation_function "torch.nn.modules.activation.Hardswish"', "GELU, SiLU")
    changed("2_Dense/config.json", ("48", "47"), "in_features is 47: expected 48")
    changed("2_Dense/config.json", ('"out_features": 17', '"out_features": 18'), "linear.weight")
    changed("2_Dense/config.json", ('"bias": true', '"bias": false'), "linear.bias: unexpected tensor for a module with this 2_Dense/con")
    changed("2_Dense/config.json", ("torch.nn.modules.activation.Tanh", "my.module.Tanh"), '"my.module.Tanh": expected torch.nn')
    changed("2_Dense/config.json", ('"torch.nn.modules.activation.Tanh"', "null"), '"activation_function": expected string, found null')
    changed("modules.json", ('"name": "3"', '"name": "2"'), 'modules 2 and 3: expected names that differ, found string "2" twice')
    changed("4_LayerNorm/config.json", ("17", "16"), "dimension is 16: expected 17")
    changed("config_sentence_transformers.json", ('"default_prompt_name": "query"', '"default_prompt_name": "title"'),
            'default_prompt_name: expected the name of one of the prompts, found "title"')
    os.rename(os.path.join(directory, "1_Pooling"), os.path.join(folder, "taken"))
    refused((directory,), 1, "1_Pooling/config.json is missing: modules.json names a Pooling there")
    os.rename(os.path.join(folder, "taken"), os.path.join(directory, "1_Pooling"))
    changed("6_Normalize/config.json", ('"sentence_embedding"', '"token_embeddings"'), 'module_input_name "token_embeddings"')


def check_similarity(folder):
    """similarity_fn_name: dot products are what the model was trained for; what is not supported is refused."""
    directory, corpus = os.path.join(folder, "several"), os.path.join(folder, "corpus.txt")
    path, texts = os.path.join(directory, "config_sentence_transformers.json"), ["zebra quick", "the cat sat"]
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    with open(corpus, "w", encoding="utf-8") as file:
        file.writelines(text + "\n" for text in texts)
    for name in ("dot", "cosine", None):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**config, "similarity_fn_name": name}, file)
        a, b = ([float(value) for value in line.split()]
                for line in run("embed", "--format", "text", directory, *texts).stdout.splitlines())
        matrix = run("similarity", "--json", directory, *texts)
        found = run("search", "--no-keep", "--json", "--prompt", "", "--corpus", corpus, directory, texts[0])
        plain = [[float(value) for value in line.split()]
                 for line in run("embed", "--format", "text", "--prompt", "", directory, *texts).stdout.splitlines()]

        def compare(x, y):
            return sum(p * q for p, q in zip(x, y)) / (
                1 if name == "dot" else math.hypot(*x) * math.hypot(*y))  # pylint: disable=cell-var-from-loop
        bound = BOUND * (math.hypot(*a) * math.hypot(*b) if name == "dot" else 1)
        if matrix.returncode != 0 or not abs(json.loads(matrix.stdout)[0][1] - compare(a, b)) <= bound:
            fail("similarity", name, matrix.stdout, matrix.stderr, compare(a, b))
        scores = {hit["index"]: hit["score"] for hit in json.loads(found.stdout)["hits"]}
        if not all(abs(scores[i] - compare(plain[0], plain[i])) <= 4 * bound for i in range(2)):
            fail("search", name, scores, plain)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**config, "similarity_fn_name": "euclidean"}, file)
    for arguments in (("similarity", directory, "a", "b"), ("search", "--corpus", corpus, directory, "a")):
        done = run(*arguments)
        if done.returncode != 1 or 'similarity_fn_name "euclidean": expected "cosine" or "dot"' not in done.stderr:
            fail(arguments, done.returncode, done.stderr)


def rows_of(directory, *arguments):
    done = run("embed", "--format", "text", *arguments, directory, "the cat sat", "zebra")
    return [[float(value) for value in line.split()] for line in done.stdout.splitlines()]


def check_bench(directory):
    """bench compares embeddings of any width with its reference's."""
    done = run("bench", "--model", directory, "--quick", "--rounds", "1", "--seconds", "0.001", "--filter", "texts-16")
    if done.returncode != 0 or "verified" not in done.stdout:
        fail("bench", directory, done.stdout, done.stderr)


def check_settings(folder):
    """config_sentence_transformers.json: truncate_dim is followed, another kind of model is refused, keys that nothing reads are told."""
    directory = os.path.join(folder, "last")
    path, whole = os.path.join(directory, "config_sentence_transformers.json"), rows_of(directory)
    with open(path, encoding="utf-8") as file:
        config = json.load(file)

    def write(**change):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**config, **change}, file)

    def near(rows, wanted):
        return [len(row) for row in rows] == [len(row) for row in wanted] and \
            all(math.dist(a, b) <= BOUND * math.hypot(*b) for a, b in zip(rows, wanted))
    write(truncate_dim=5)
    cut, six = ([row[:count] for row in whole] for count in (5, 6))
    shared = [[value / math.hypot(*row) for value in row] for row in six]
    if not near(rows_of(directory), cut) or \
            not near(rows_of(directory, "--normalize", "yes"), [[v / math.hypot(*row) for v in row] for row in cut]):
        fail("truncate_dim 5", rows_of(directory), cut)
    if not near(rows_of(directory, "--dimensions", "6"), shared):
        fail("truncate_dim 5 and --dimensions 6", rows_of(directory, "--dimensions", "6"), shared)
    matrix = json.loads(run("similarity", "--json", directory, "the cat sat", "zebra").stdout)
    if not abs(matrix[0][1] - sum(a * b for a, b in zip(*cut)) / math.prod(math.hypot(*row) for row in cut)) <= BOUND or \
            not abs(matrix[0][0] - 1) <= BOUND:
        fail("similarity: truncate_dim 5", matrix)
    if json.loads(run("info", "--json", directory).stdout)["embedding_width"] != 5:
        fail("info: truncate_dim 5")
    check_bench(directory)
    write(truncate_dim=500)
    if not near(rows_of(directory), whole):
        fail("truncate_dim 500", rows_of(directory))
    write(model_type=None)
    refused((directory,), 1, 'model_type is null: expected "SentenceTransformer" or "CrossEncoder"')
    write(model_type="SparseEncoder")
    refused((directory,), 1, 'model_type "SparseEncoder": expected "SentenceTransformer" or "CrossEncoder"')
    write(truncate_dim="5")
    refused((directory,), 1, "truncate_dim", 'string "5"')
    write(model_type="CrossEncoder")  # which sentence-transformers would give a pooling of its own
    refused((directory,), 1, 'model_type "CrossEncoder" and modules.json lists a Pooling')
    write(query_length=32, requirements={"transformers": ">=4"}, keep_in_fp32_modules=["x"], similarity_fn_name="euclidean")
    if json.loads(run("info", "--json", directory).stdout)["unread_settings"] != ["query_length"]:
        fail("info: unread_settings", run("info", "--json", directory))
    write()
    if json.loads(run("info", "--json", directory).stdout)["unread_settings"]:
        fail("info: unread_settings of a file that sentence-transformers wrote")


def check_files(folder):
    """Files and keys of every age beside the network: what sentence-transformers makes of each (tests/data/sentence/settings.json)."""
    with open(os.path.join(sentence, "settings.json"), encoding="utf-8") as file:
        golden = json.load(file)
    for number, case in enumerate(golden["cases"]):
        directory = os.path.join(folder, f"files{number}")
        shutil.copytree(os.path.join(folder, "weighted"), directory)
        for name, content in case["files"].items():
            os.makedirs(os.path.dirname(os.path.join(directory, name)), exist_ok=True)
            with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                json.dump(content, file)
        done = run("embed", "--format", "text", directory, *golden["texts"])
        rows = [[float(value) for value in line.split()] for line in done.stdout.splitlines()]
        if [len(row) for row in rows] != [len(row) for row in case["embeddings"]] or \
                not all(math.dist(a, b) <= BOUND * math.hypot(*b) for a, b in zip(rows, case["embeddings"])):
            fail("files", case["files"], done.stderr, rows, case["embeddings"])


def check_without_pooling(folder):
    """A Transformer alone makes no embedding, unless a pooling is asked for."""
    directory = os.path.join(folder, "last")
    with open(os.path.join(directory, "modules.json"), encoding="utf-8") as file:
        modules = json.load(file)
    with open(os.path.join(directory, "modules.json"), "w", encoding="utf-8") as file:
        json.dump(modules[:1], file)
    refused((directory,), 1, "a Transformer without a Pooling")
    info, given = run("info", "--json", directory), run("embed", "--pooling", "cls", directory, "a")
    if info.returncode != 0 or json.loads(info.stdout)["pooling"] != [] or given.returncode != 0 or \
            len(json.loads(given.stdout)["embedding"]) != 24:
        fail("without Pooling", info.stdout, info.stderr, given.stdout, given.stderr)


def check_both_ways(folder):
    """A decoder whose tokens see later ones where config.json says so; it continues no text then."""
    directory = os.path.join(folder, "both_ways")
    shutil.copytree(os.path.join(folder, "qwen3"), directory)
    path = os.path.join(directory, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    rows = {}
    for is_causal in (None, True, False):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**config, "is_causal": is_causal}, file)
        done = run("embed", "--pooling", "cls", directory, "the cat sat")
        rows[is_causal] = json.loads(done.stdout)["embedding"] if done.returncode == 0 else done.stderr
    if rows[None] != rows[True] or rows[False] == rows[True] or len(rows[False]) != len(rows[True]):
        fail("is_causal", rows)
    os.remove(os.path.join(directory, "modules.json"))
    done = run("generate", directory, "the cat sat")
    if done.returncode != 1 or "attention to later tokens" not in done.stderr:
        fail("is_causal", done.stdout, done.stderr)


names = folders(sentence)
if "dense" not in names:
    fail("cases:", names)
with tempfile.TemporaryDirectory() as folder:
    for name in names:
        check_case(folder, name)
    if is_whole:
        check_search_prompts(folder)
        check_bench(os.path.join(folder, "dense"))
        check_refusals(folder)
        check_streamed(folder)
        check_wide_range(folder)
        check_files(folder)
        check_settings(folder)
        check_without_pooling(folder)
        check_similarity(folder)
    check_both_ways(folder)
# A cosine is one: rounding takes no similarity of unit vectors beyond 1, that of a text and itself included.
done = run("similarity", "--json", encoder, *(f"{word} sat {count}" for word in ("cat", "dog", "zebra") for count in range(20)))
if done.returncode != 0 or not all(-1 <= value <= 1 for row in json.loads(done.stdout) for value in row):
    fail("similarity: status", done.returncode, "or cosines beyond 1:", done.stderr)
finish()
