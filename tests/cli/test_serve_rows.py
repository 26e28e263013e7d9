#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer serve: embeddings, reranking, classification and tokens for clients of OpenAI, TEI, Cohere and Ollama, against what the commands
give for the same texts. test_serve_rows.py PROGRAM DATA"""
import base64
import json
import math
import os
import shutil
import struct
import tempfile
import threading

from model_files import read_safetensors, write_safetensors
from runs import clformer, fail, finish, worst
from serving import EMBEDDER, RERANKER, Server, expect_overtaking

TEXTS = ["A man is eating food.", "the cat sat", "it ran away and then it sat on the mat again", "x"]
CLOSE = 2e-6


def lines(*arguments):
    done = clformer(*arguments)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(a, b):
    return worst(abs(x - y) for row, other in zip(a, b, strict=True) for x, y in zip(row, other, strict=True))


def expect_rows(name, got, want):
    if got is None or not differences(got, want) <= CLOSE:
        fail(f"{name}: other vectors: {str(got)[:200]}, expected {str(want)[:200]}")


def rows_of(answer):
    return answer and [entry["embedding"] for entry in answer["data"]]


def test_openai(server, want, width):
    answer = server.post("/v1/embeddings", {"input": TEXTS, "model": "distilbert", "user": "u", "unknown": {"a": [1]}})
    expect_rows("texts", rows_of(answer), want)
    if answer and ([entry["index"] for entry in answer["data"]] != list(range(len(TEXTS))) or answer["model"] != "distilbert" or
                   answer["usage"]["prompt_tokens"] != answer["usage"]["total_tokens"] or answer["object"] != "list"):
        fail(f"embeddings: {str(answer)[-200:]}")
    expect_rows("one text", rows_of(server.post("/v1/embeddings", {"input": TEXTS[0], "dimensions": None})), want[:1])
    coded = rows_of(server.post("/v1/embeddings", {"input": TEXTS, "encoding_format": "base64"}))
    expect_rows("base64", coded and [struct.unpack(f"<{width}f", base64.b64decode(text, validate=True)) for text in coded], want)
    norm = [math.sqrt(sum(x * x for x in row[:3])) for row in want]
    expect_rows("dimensions", rows_of(server.post("/v1/embeddings", {"input": TEXTS, "dimensions": 3})),
                [[x / n for x in row[:3]] for row, n in zip(want, norm)])
    ids = lines("tokenize", EMBEDDER, *TEXTS)
    expect_rows("lists of ids", rows_of(server.post("/v1/embeddings", {"input": ids})), want)
    expect_rows("a list of ids", rows_of(server.post("/v1/embeddings", {"input": ids[1]})), want[1:2])
    for field, body in {"input": {}, "dimensions": {"input": "a", "dimensions": 0},
                        "encoding_format": {"input": "a", "encoding_format": "x"}, "model": {"input": "a", "model": "bert"}}.items():
        answer = server.post("/v1/embeddings", body, 400)
        if answer and (answer["error"]["param"] != field or field not in answer["error"]["message"]):
            fail(f"{body}: {answer}")
    for field, value in (("truncation_direction", "left"), ("truncate_prompt_tokens", 3), ("prompt_name", "query")):
        answer = server.post("/v1/embeddings", {"input": "a", field: value}, 400)
        if answer and answer["error"]["param"] != field:
            fail(f"{field}: {answer}")
    raw, unit = (rows_of(server.post("/v1/embeddings", {"input": TEXTS, "normalize": value})) for value in (False, True))
    expect_rows("normalize: false", raw, server.post("/embed", {"inputs": TEXTS, "normalize": False}))
    expect_rows("normalize: true", unit, server.post("/embed", {"inputs": TEXTS}))
    if any(abs(sum(x * x for x in row) - 1) < 0.1 for row in raw):
        fail("normalize: false gives vectors of norm 1")
    for value in (-1, width + 1, "64", 2.5, True, [3]):
        server.post("/v1/embeddings", {"input": "a", "dimensions": value}, 400)
    for value in ([], [[]], ["a", 5], ["a", None], [[1, "a"]], 5, {"a": 1}, [1, 2.5], [1, True], [1, -1], [1 << 40], [[1], [1 << 70]]):
        server.post("/v1/embeddings", {"input": value}, 400)
    for wrong in (10 ** 6, 10 ** 30):
        answer = server.post("/v1/embeddings", {"input": ["a", [wrong]]}, 400)
        if answer and not all(word in answer["error"]["message"] for word in ("vocabulary of", "entry 1", "tokenizer")):
            fail(f"an id outside: {answer}")
    for large in (b"1e400", b"1" + b"0" * 30):
        answer = server.post("/v1/embeddings", b'{"input": "a", "dimensions": ' + large + b"}", 400)
        if answer and answer["error"]["param"] != "dimensions":
            fail(f"a large number: {answer}")
    long = "the cat sat on the mat " * 400
    answer = server.post("/v1/embeddings", {"input": ["a", long]}, 400)
    if answer and (answer["error"]["code"] != "context_length_exceeded" or "entry 1" not in answer["error"]["message"]):
        fail(f"a long text: {answer}")
    expect_rows("a long text, cut", rows_of(server.post("/v1/embeddings", {"input": long, "truncate": True})),
                [lines("embed", EMBEDDER, long)[0]["embedding"]])


def test_tei(server, want):
    unit = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in want]
    expect_rows("/embed", server.post("/embed", {"inputs": TEXTS, "truncate": True}), unit)
    expect_rows("POST /", server.post("/", {"inputs": TEXTS[0]}), unit[:1])
    raw = server.post("/embed", {"inputs": TEXTS, "normalize": False})
    if raw:
        expect_rows("not normalised", [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in raw], unit)
        expect_rows("shortened, not normalised", server.post("/embed", {"inputs": TEXTS, "normalize": False, "dimensions": 3}),
                    [row[:3] for row in raw])
    norm = [math.sqrt(sum(x * x for x in row[:3])) for row in want]
    expect_rows("shortened", server.post("/embed", {"inputs": TEXTS, "dimensions": 3}),
                [[x / n for x in row[:3]] for row, n in zip(want, norm)])
    cosines = server.post("/similarity", {"inputs": {"source_sentence": TEXTS[0], "sentences": TEXTS[1:]}})
    expect_rows("/similarity", [cosines], [[sum(x * y for x, y in zip(unit[0], row)) for row in unit[1:]]])
    long = "the cat sat on the mat " * 400
    for parameters, status in (({"truncate": False}, 413), ({"truncate": True}, 200), ({"prompt_name": "none"}, 422)):
        server.post("/similarity", {"inputs": {"source_sentence": "a", "sentences": [long]}, "parameters": parameters}, status)
    for path, body in (("/embed", {}), ("/embed", {"inputs": "a", "prompt_name": "none"}), ("/embed", {"inputs": 1}),
                       ("/embed", {"inputs": "a", "truncation_direction": "up"}), ("/embed", {"inputs": "a", "normalize": 1}),
                       ("/embed", {"inputs": "a", "encoding_format": "base64"}),
                       ("/similarity", {"inputs": "a"}),
                       ("/similarity", {"inputs": {"source_sentence": "a", "sentences": ["b"]}, "parameters": "a"}),
                       ("/predict", {"inputs": [["a", "b", "c"]]}), ("/tokenize", {"inputs": [1]}),
                       ("/decode", {"ids": [1 << 40]}), ("/decode", {"ids": [-1]}), ("/rerank", {"query": 1, "texts": ["a"]}),
                       ("/rerank", {"query": "a", "texts": [1]})):
        answer = server.post(path, body, 422)
        if answer and (not isinstance(answer["error"], str) or answer["error_type"] != "validation"):
            fail(f"{path} {body}: {answer}")
    if (answer := server.post("/decode", {"ids": [[1], [2, 1 << 40]]}, 422)) and "entry 1: token id 1 " not in answer["error"]:
        fail(f"/decode: {answer}")
    expect_rows("ids that are cut", *(server.post("/embed", {"inputs": ids, "truncation_direction": "left"})
                                      for ids in ([5] * 100 + list(range(3, 40)), [5] * 3 + list(range(3, 40)))))
    if (answer := server.post("/embed", {"inputs": []}, 400)) and answer["error_type"] != "empty":
        fail(f"no inputs: {answer}")
    tokens = server.post("/tokenize", {"inputs": ["Aé cat", "x"]})
    ids = lines("tokenize", EMBEDDER, "Aé cat", "x")
    if tokens and ([[token["id"] for token in row] for row in tokens] != ids or not tokens[0][0]["special"] or
                   tokens[0][0]["start"] is not None):
        fail(f"/tokenize: {tokens}, expected ids {ids}")
    if tokens and any("Aé cat"[t["start"]:t["stop"]] != t["text"] for t in tokens[0] if not t["special"]):
        fail(f"/tokenize: offsets: {tokens[0]}")
    if [[t["id"] for t in row] for row in server.post("/tokenize", {"inputs": "x", "add_special_tokens": False})] != [ids[1][1:-1]]:
        fail("/tokenize without special tokens")
    tokens = server.post("/tokenize", {"inputs": ["é " * 1000, "a"]})
    if tokens and (len(tokens) != 2 or [t["start"] for t in tokens[0][1:-1]] != list(range(0, 2000, 2))):
        fail(f"/tokenize: offsets: {str(tokens)[:200]}")
    for long in ("a " * 131073, ["a " * 70000] * 2):
        answer = server.post("/tokenize", {"inputs": long}, 413)
        if answer and "131072 tokens" not in answer["error"]:
            fail(f"/tokenize of many tokens: {answer}")
    text = clformer("detokenize", EMBEDDER, "--skip-special", *map(str, ids[0])).stdout.strip()
    if server.post("/decode", {"ids": ids[0]}) != [text] or server.post("/decode", {"ids": ids}) [:1] != [text]:
        fail(f"/decode: expected {text!r}")


def test_scores(server):
    hits = lines("rerank", RERANKER, TEXTS[0], *TEXTS, "--json")[0]["hits"]
    order, scores = [hit["index"] for hit in hits], [hit["score"] for hit in hits]
    for path, name in (("/rerank", "texts"), ("/rerank", "documents"), ("/v1/rerank", "documents"), ("/v2/rerank", "documents")):
        answer = server.post(path, {"model": "bert", "query": TEXTS[0], name: TEXTS, "return_text": True, "return_documents": True})
        found = answer if name == "texts" else answer and answer["results"]
        if not found:
            continue
        key = "score" if name == "texts" else "relevance_score"
        if [hit["index"] for hit in found] != order or not worst(abs(hit[key] - s) for hit, s in zip(found, scores)) <= CLOSE:
            fail(f"{path} {name}: {found}, expected {hits}")
        texts = [hit["text"] if name == "texts" else hit["document"]["text"] for hit in found]
        if texts != [TEXTS[i] for i in order]:
            fail(f"{path} {name}: texts {texts}")
    top = server.post("/v1/rerank", {"query": "a", "documents": [{"text": "b"}, "c", "d"], "top_n": 2})
    if top and len(top["results"]) != 2:
        fail(f"top_n: {top}")
    query, longer = "the cat sat " * 500, ["it ran away " * count for count in (1, 300, 700, 2)]  # pairs that are cut on either side
    want = {hit["index"]: hit["score"] for hit in lines("rerank", RERANKER, query, *longer, "--json")[0]["hits"]}
    found = server.post("/rerank", {"query": query, "texts": longer, "truncate": True})
    if found and not worst(abs(hit["score"] - want[hit["index"]]) for hit in found) <= CLOSE:
        fail(f"a long query: {found}, expected {want}")
    tokens = server.post("/tokenize", {"model": "bert", "inputs": TEXTS[2], "add_special_tokens": False})[0]
    ask = {"query": TEXTS[0], "documents": [TEXTS[2]]}
    cut = server.post("/v2/rerank", {**ask, "max_tokens_per_doc": 3})
    want = server.post("/v2/rerank", {**ask, "documents": [TEXTS[2][:tokens[2]["stop"]]]})
    if cut["results"] != want["results"] or cut["results"] == server.post("/v2/rerank", {**ask, "max_tokens_per_doc": 999})["results"]:
        fail(f"max_tokens_per_doc: {cut}, expected {want}")
    for body in ({"query": "a", "documents": []}, {"query": "a", "documents": ["b"], "rank_fields": ["a"]},
                 {"query": "a", "documents": ["b"], "top_n": 0}, {"query": "a"}, {"documents": ["b"]}):
        answer = server.post("/v1/rerank", body, 400)
        if answer and "message" not in answer:
            fail(f"{body}: {answer}")
    one, pair = server.post("/predict", {"inputs": "a", "parameters": {}}), server.post("/predict", {"inputs": ["a", "b"]})
    rows = server.post("/predict", {"inputs": [["a"], ["a", "b"]]})
    if not rows or rows[0] != one or rows[1] != pair or set(one[0]) != {"score", "label"} or one == pair:
        fail(f"/predict: {one} {pair} {rows}")


def test_ollama(server, want):
    answer = server.post("/api/embed", {"model": "distilbert:latest", "input": TEXTS, "keep_alive": "5m", "options": {}})
    unit = [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in want]
    expect_rows("/api/embed", answer and answer["embeddings"], unit)
    if answer and not (isinstance(answer["total_duration"], int) and answer["prompt_eval_count"] > 0):
        fail(f"/api/embed: {answer}")
    answer = server.post("/api/embed", {"model": "none", "input": "a"}, 404)
    if answer and "not found" not in answer["error"]:
        fail(f"/api/embed: {answer}")
    names = [model["name"] for model in server.ask("GET", "/api/tags")[2]["models"]]
    if names != ["distilbert", "bert"] or "embedding" not in server.post("/api/show", {"model": names[0]})["capabilities"]:
        fail(f"/api/tags: {names}")
    if [model["id"] for model in server.ask("GET", "/v1/models")[2]["data"]] != names or \
            server.ask("GET", "/v1/models/bert")[2]["id"] != "bert":
        fail("/v1/models")
    if server.ask("GET", "/v1/models/none")[0] != 404 or server.ask("GET", "/info")[2]["model_id"] != names[0]:
        fail("/v1/models/none or /info")


def test_together(server, want):
    """Many clients at once get what one alone gets, also beside requests that are wrong."""
    wrong = []

    def client(seed):
        for i in range(12):
            index = (seed + i) % len(TEXTS)
            if (seed + i) % 5 == 0:
                server.post("/v1/embeddings", {"input": ["a", 5]}, 400)
            answer = rows_of(server.post("/v1/embeddings", {"input": [TEXTS[index]] * (1 + seed % 3)}))
            if not answer or not differences(answer, [want[index]] * len(answer)) <= CLOSE:
                wrong.append(TEXTS[index])

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        fail("wrong under load:", wrong)


def test_turns(server):
    """A short request is not held up by a long one of the same kind, nor by one of another kind."""
    texts = ["the cat sat on the mat " * 6] * 8000
    long = "/v1/embeddings", {"input": texts, "truncate": True, "dimensions": 1}
    expect_overtaking(server, long, ("/embed", {"inputs": "a"}), ("/embed", {"inputs": "a", "normalize": False}))
    long = "/v1/rerank", {"query": "a", "documents": texts, "top_n": 1}
    expect_overtaking(server, long, ("/rerank", {"query": "a", "texts": ["b"]}), ("/predict", {"inputs": "a"}))


def test_not_finite():
    """A model that computes NaN from one token: no route answers with it, or leaves it out. The client did not cancel anything."""
    with tempfile.TemporaryDirectory() as work:
        folders = []
        for source in (EMBEDDER, RERANKER):
            folders.append(shutil.copytree(source, os.path.join(work, os.path.basename(source))))
            path = os.path.join(folders[-1], "model.safetensors")
            tensors = read_safetensors(path)
            name = next(name for name in tensors if "word_embeddings" in name)
            kind, shape, content = tensors[name]
            begin, size = 2 * shape[1] * lines("tokenize", source, "cat")[0][1], 2 * shape[1]
            write_safetensors(path, {**tensors, name: (kind, shape, content[:begin] + b"\0\x7e" * shape[1] + content[begin + size:])})
        spoilt = Server(*folders)
        pair, texts = ["a", "the cat"], ["x", "the cat", "a"]
        ask = {"query": "x", "documents": texts}
        for path, body in (("/v1/embeddings", {"input": texts}), ("/v1/embeddings", {"input": texts, "encoding_format": "base64"}),
                           ("/embed", {"inputs": texts}), ("/embed", {"inputs": texts, "normalize": False, "dimensions": 2}),
                           ("/similarity", {"inputs": {"source_sentence": "a", "sentences": ["the cat"]}}),
                           ("/api/embed", {"model": "distilbert", "input": texts}), ("/predict", {"inputs": pair}),
                           ("/predict", {"inputs": [["a"], pair]}), ("/rerank", {"query": "x", "texts": texts}),
                           ("/rerank", {"query": "x", "texts": texts, "raw_scores": True}), ("/v1/rerank", ask),
                           ("/v2/rerank", {**ask, "top_n": 1})):
            answer = spoilt.post(path, body, 424 if "texts" in body or "inputs" in body else 500)
            message = answer and (answer["error"] if isinstance(answer["error"], str) else answer["error"]["message"])
            index = 0 if pair in body.values() else 1
            if message and not all(part in message for part in (f"text {index}:", "not finite", "nan")):
                fail(f"{path} {body}: {message!r}")
        if not spoilt.post("/v1/embeddings", {"input": "x"}):
            fail("other texts of a model with a spoilt token")
        if "clformer_cancelled_total 0\n" not in spoilt.ask("GET", "/metrics")[2].decode():
            fail("texts that failed count as cancelled")
        spoilt.stop()


server = Server(EMBEDDER, RERANKER)
vectors = [entry["embedding"] for entry in lines("embed", EMBEDDER, *TEXTS)]
test_openai(server, vectors, len(vectors[0]))
test_tei(server, vectors)
test_scores(server)
test_ollama(server, vectors)
test_together(server, vectors)
test_turns(server)
test_not_finite()
if (status := server.stop()) != 0:
    fail(f"the server ended with {status}: {server.log()[-500:]}")
if "eating" in server.log():
    fail("the log has a text of a request")
finish()
