#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer serve: texts of a language model, whole and as streams, for clients of OpenAI and Ollama, against what `clformer generate`
writes. test_serve_texts.py PROGRAM DATA"""
import json
import os
import re
import socket
import tempfile
import threading
import time

from runs import clformer, data, fail, finish
from serving import EMBEDDER, RERANKER, WRITER, Server, events, expect_overtaking, samples

PROMPTS = ["a", "b c", "the cat", "it ran"]
TEMPLATE = "{% for m in messages %}{{ m.role }} {{ m.content }} {{ m.reasoning_content }}{{ m.thinking }}" \
    "{{ m.reasoning }}{{ m.name }}{% endfor %}{% if add_generation_prompt %}a{% endif %}"


def written(prompt, tokens, *arguments):
    done = clformer("generate", WRITER, prompt, "--max-tokens", str(tokens), "--json", *arguments)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)["text"]


def complete(server, prompt, tokens=12, **more):
    answer = server.post("/v1/completions", {"prompt": prompt, "max_tokens": tokens, "temperature": 0, **more})
    return answer and answer["choices"][0]["text"]


def streamed(server, path, body):
    found, headers, content = server.ask("POST", path, {**body, "stream": True})
    if found != 200 or headers["Content-Type"] != "text/event-stream" or headers["Content-Length"]:
        fail(f"{path}: {found} {headers.items()}")
        return [], ""
    chunks, ended = events(content)
    if not ended or len({chunk["id"] for chunk in chunks}) != 1:
        fail(f"{path}: {content[-300:]}")
    pieces = [choice.get("text") or choice.get("delta", {}).get("content") or "" for chunk in chunks for choice in chunk["choices"]]
    return chunks, "".join(pieces)


def test_completions(server):
    for prompt in PROMPTS:
        want = written(prompt, 12)
        whole = complete(server, prompt)
        pieces = streamed(server, "/v1/completions", {"prompt": prompt, "max_tokens": 12, "temperature": 0})[1]
        if whole != want or pieces != want:
            fail(f"{prompt}: {whole!r} and {pieces!r}, expected {want!r}")
    answer = server.post("/v1/completions", {"prompt": PROMPTS, "max_tokens": 12, "temperature": 0})
    if answer and [choice["text"] for choice in answer["choices"]] != [written(prompt, 12) for prompt in PROMPTS]:
        fail(f"several prompts: {answer}")
    if answer and (answer["object"] != "text_completion" or answer["usage"]["total_tokens"] !=
                   answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"] or
                   answer["choices"][0]["finish_reason"] != "length"):
        fail(f"an answer: {answer}")
    ids = json.loads(clformer("tokenize", WRITER, PROMPTS[0]).stdout)
    if complete(server, ids) != written(PROMPTS[0], 12):
        fail("token ids")
    text = written("a", 12)
    stop = text[4:6]
    want = text[:text.index(stop)]
    for stops in (stop, ["none of this", stop]):
        chunks, got = streamed(server, "/v1/completions", {"prompt": "a", "max_tokens": 12, "temperature": 0, "stop": stops,
                                                           "stream_options": {"include_usage": True}})
        if got != want or complete(server, "a", stop=stops) != want:
            fail(f"stop {stops!r}: {got!r}, expected {want!r}")
        if [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"]] != ["stop"]:
            fail(f"stop: {chunks}")
        if chunks and (chunks[-1]["choices"] or not chunks[-1]["usage"] or any(chunk["usage"] for chunk in chunks[:-1])):
            fail(f"usage of a stream: {chunks[-2:]}")
    same = {complete(server, "a", temperature=1, seed=7) for _ in range(3)}
    if len(same) != 1 or len({complete(server, "a", temperature=2, seed=seed) for seed in range(8)}) < 2:
        fail(f"seeds: {same}")


def test_refusals(server):
    for field, value in (("n", 2), ("best_of", 2), ("logprobs", 1), ("logprobs", 0), ("logit_bias", {"1": 1}),
                         ("tools", [{}]), ("tool_choice", "required"), ("tool_choice", {"type": "function"}),
                         ("response_format", {"type": "json_object"}), ("presence_penalty", 1), ("frequency_penalty", 0.5), ("suffix", "a"),
                         ("echo", True), ("guided_regex", "a+"), ("structured_outputs", {"regex": "a"}),
                         ("repeat_penalty", 1.1), ("n_predict", 5), ("n_probs", 1), ("dry_multiplier", 0.8), ("xtc_probability", 0.5),
                         ("dynatemp_range", 0.5), ("mirostat_mode", 2), ("allowed_token_ids", [1]), ("truncate_prompt_tokens", 3),
                         ("no_repeat_ngram_size", 3), ("include_stop_str_in_output", True), ("skip_special_tokens", False),
                         ("add_generation_prompt", False), ("continue_final_message", True),
                         ("max_tokens", 0), ("max_tokens", "5"), ("temperature", 3), ("temperature", True), ("top_p", 1.5),
                         ("stop", [1]), ("stream", 1), ("seed", 1.5), ("stream_options", 1)):
        answer = server.post("/v1/completions", {"prompt": "a", field: value}, 400)
        if answer and field not in answer["error"]["message"]:
            fail(f"{field}: {answer}")
    for field, value in (("n", 1), ("logprobs", None), ("logit_bias", {}), ("tools", []), ("tool_choice", "auto"), ("tool_choice", "none"),
                         ("response_format", {"type": "text"}),
                         ("skip_special_tokens", True), ("repeat_penalty", 1), ("n_predict", None),
                         ("presence_penalty", 0), ("user", "a"), ("store", False), ("metadata", {}), ("unknown", 1)):
        server.post("/v1/completions", {"prompt": "a", "max_tokens": 1, field: value})
    for messages in ([], None, "a", [{"role": "user"}], [{"role": "king", "content": "a"}], [{"content": "a"}], [5],
                     [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}],
                     [{"role": "assistant", "content": "a", "tool_calls": [{"id": "a"}]}],
                     [{"role": "assistant", "content": "a", "thinking": True}], [{"role": "user\0", "content": "a"}],
                     [{"role": "user", "content": [{"type": "text\0", "text": "a"}]}]):
        server.post("/v1/chat/completions", {"messages": messages, "stream": True}, 400)
    for prompt in (["a", ""], ["a", "a " * 200], [[1], [5000]]):
        answer = server.post("/v1/completions", {"prompt": prompt}, 400)
        if answer and not answer["error"]["message"].startswith("prompt: entry 1: "):
            fail(f"{str(prompt)[:40]}: {answer}")
    for prompt in ("a " * 200, [], [5000], {"a": 1}):
        answer = server.post("/v1/completions", {"prompt": prompt, "stream": prompt == "a " * 200}, 400)
        if prompt == "a " * 200 and answer and answer["error"]["code"] != "context_length_exceeded":
            fail(f"a long prompt: {answer}")
    for text in ("a " * 200000, "a" * 400000):  # is not read to its end
        messages = [{"role": "user", "content": text}]
        for path, body in (("/v1/completions", {"prompt": text}), ("/v1/chat/completions", {"messages": messages})):
            answer = server.post(path, body, 400)
            found = answer and re.search(r": expected at most \d+ tokens .*, found at least (\d+)$", answer["error"]["message"])
            if answer and not (found and int(found.group(1)) < 10000):
                fail(f"{path}, a very long prompt: {answer}")


def test_chat(server):
    parts = [{"type": "text", "text": "c"}, {"type": "text", "text": "d"}]
    messages = [{"role": "developer", "content": "b"}, {"role": "user", "content": parts, "tool_calls": []}]
    want = written("system b user cd a", 9, "--no-special-tokens")
    body = {"messages": messages, "max_completion_tokens": 9, "max_tokens": 3, "temperature": 0}
    answer = server.post("/v1/chat/completions", body)
    if answer and (answer["choices"][0]["message"] != {"role": "assistant", "content": want, "refusal": None} or
                   answer["object"] != "chat.completion"):
        fail(f"a chat: {answer}, expected {want!r}")
    chunks, got = streamed(server, "/v1/chat/completions", body)
    if got != want or chunks[0]["choices"][0]["delta"].get("role") != "assistant" or "usage" in chunks[-1]:
        fail(f"a chat's stream: {chunks}, expected {want!r}")
    for more, seen in (({"reasoning_content": "e"}, "ee"), ({"thinking": "e"}, "ee"), ({"reasoning": "e"}, "eee"),
                       ({"thinking": "e", "reasoning_content": None}, "ee"), ({"thinking": "c", "reasoning_content": "e"}, "ec"),
                       ({"name": "d"}, "d"), ({"name": None, "reasoning": "e"}, "eee")):
        answer = server.post("/v1/chat/completions", {**body, "messages": [{"role": "user", "content": "b", **more}]})
        reasoned = written(f"user b {seen}a", 9, "--no-special-tokens")
        if answer and answer["choices"][0]["message"]["content"] != reasoned:
            fail(f"{more}: {answer}, expected {reasoned!r}")
    name, options = "llama", {"num_predict": 9, "temperature": 0}
    talk = messages[:1] + [{"role": "user", "content": "cd"}]
    answer = server.post("/api/chat", {"model": name, "messages": talk, "stream": False, "options": options})
    if answer and (answer["message"]["content"] != want or answer["done_reason"] != "length" or answer["eval_count"] != 9 or
                   not answer["done"]):
        fail(f"/api/chat: {answer}")
    _, headers, content = server.ask("POST", "/api/generate", {"model": name, "prompt": "the cat", "raw": True, "options": options})
    lines = [json.loads(line) for line in content.splitlines()]
    if headers["Content-Type"] != "application/x-ndjson" or "".join(line["response"] for line in lines) != written("the cat", 9) or \
            [line["done"] for line in lines] != [False] * (len(lines) - 1) + [True]:
        fail(f"/api/generate: {lines}")
    server.post("/api/generate", {"model": "none", "prompt": "a"}, 404)
    for path, body, key, empty in (("/api/generate", {}, "response", ""), ("/api/generate", {"prompt": ""}, "response", ""),
                                   ("/api/chat", {"messages": []}, "message", {"role": "assistant", "content": ""})):
        answer = server.post(path, {"model": name, "keep_alive": -1, **body})  # clients load a model so
        if answer and (answer["done"], answer["done_reason"], answer[key]) != (True, "load", empty):
            fail(f"{path} {body}: {answer}")
    server.post("/api/chat", {"model": "none", "messages": []}, 404)
    penalised = {**options, "num_predict": 12, "repeat_penalty": 3.0}
    texts = [server.post("/api/generate", {"model": name, "prompt": "the cat", "raw": True, "stream": False, "options": more})["response"]
             for more in ({**options, "num_predict": 12}, {**penalised, "repeat_last_n": 0}, penalised, {**penalised, "repeat_last_n": -1})]
    if texts[0] != texts[1] or texts[2] != texts[3] or texts[0] == texts[2]:
        fail(f"repeat_last_n: {texts}")
    answer = server.post("/api/generate", {"model": name, "prompt": "a", "options": {**penalised, "repeat_last_n": 64}}, 400)
    if answer and "repeat_last_n: expected -1" not in answer["error"]:
        fail(f"repeat_last_n: {answer}")
    server.post("/api/generate", {"model": name, "prompt": "a", "format": "json"}, 400)


def test_together(server):
    """Texts do not depend on what else runs, nor on the device that has room for them."""
    want, wrong = {prompt: written(prompt, 40) for prompt in PROMPTS}, []

    def client(prompt):
        for _ in range(4):
            if streamed(server, "/v1/completions", {"prompt": prompt, "max_tokens": 40, "temperature": 0})[1] != want[prompt]:
                wrong.append(prompt)
            server.post("/v1/embeddings", {"input": prompt})

    threads = [threading.Thread(target=client, args=(prompt,)) for prompt in PROMPTS * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        fail("other texts beside other requests:", wrong)


def test_turns(server):
    """A short text gets a place before the last prompt of a request that was begun before it."""
    ask = {"max_tokens": 60, "temperature": 0}
    expect_overtaking(server, ("/v1/completions", {**ask, "prompt": ["a"] * 128}), ("/v1/completions", {"prompt": "a", "max_tokens": 1}),
                      ("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1}))
    want, found = written("a", 60), server.post("/v1/completions", {**ask, "prompt": ["a"] * 40})
    if found and [choice["text"] for choice in found["choices"]] != [want] * 40:
        fail(f"more prompts than places: {found}, expected {want!r}")


def test_prefixes(server):
    """Prompts that begin as a text before them get the same texts, with the keys and values of that one."""
    prompt = "the cat sat on the mat and ran away"
    before = sum(samples(server, "clformer_prefix_tokens_total "))
    for text in (prompt, prompt, prompt + written(prompt, 12) + " and the dog", prompt[:-4] + "off"):
        if complete(server, text) != written(text, 12):
            fail(f"{text!r} behind a text that begins alike: other tokens")
    if sum(samples(server, "clformer_prefix_tokens_total ")) <= before:
        fail("no prompt used the keys and values of another")


def test_context(server):
    """Texts together have room for 80 tokens: each is right, and one that never fits is refused."""
    test_together(server)
    answer = server.post("/v1/completions", {"prompt": "a " * 90}, 400)
    if answer and answer["error"]["code"] != "context_length_exceeded":
        fail(f"--context: {answer}")
    if samples(server, "clformer_prefix_tokens_total ") != [0]:
        fail("--prefix-bytes 0: something was kept")


def test_leaving(server):
    """A client that leaves frees its place."""
    over = 'clformer_requests_total{route="POST /v1/completions"'
    for streams in (True, False):
        body = json.dumps({"prompt": "a", "max_tokens": 90, "temperature": 0, "stream": streams}).encode()
        before, cancelled, deadline = sum(samples(server, over)), samples(server, "clformer_cancelled_total "), time.monotonic() + 60
        left = 0
        while left < 8 or streams and samples(server, "clformer_cancelled_total ") == cancelled and time.monotonic() < deadline:
            own = socket.create_connection(("127.0.0.1", server.port))
            own.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            own.close()
            left += 1
        while sum(samples(server, over)) < before + left and time.monotonic() < deadline:
            time.sleep(0.01)
        while samples(server, "clformer_requests_running ") != [0] and time.monotonic() < deadline:
            time.sleep(0.01)
        held = samples(server, "clformer_requests_running ") + samples(server, "clformer_queue_depth ")
        if sum(samples(server, over)) != before + left or held != [0, 0]:
            fail("requests run on after their clients have left")
        if streams and samples(server, "clformer_cancelled_total ") <= cancelled:
            fail("streams whose clients have left do not count as cancelled")
        if sum(samples(server, over + ',status="5')) > 0:
            fail("clients that leave count as failures of the server")
        if complete(server, "a") != written("a", 12):
            fail("a text after clients have left")


def programs(cache):
    return sorted(name for _, _, names in os.walk(cache) for name in names)


def load_all_sizes(server):
    """Requests of many sizes: one and many texts, short and long ones, pairs; one to eight prompts; all ways to choose tokens."""
    for count in (1, 2, 3, 5, 8, 13, 30, 70, 130):
        server.post("/embed", {"inputs": ["cat"] * count, "normalize": count % 2 == 0})
        server.post("/embed", {"inputs": "a " * count, "truncate": True})
        server.post("/rerank", {"query": "a", "texts": ["b " * (count % 7 + 1)] * count})
        server.post("/predict", {"inputs": [["a", "b"]] * count})
    for options in ({"temperature": 0}, {"temperature": 1}, {"top_p": 0.5}, {"top_k": 1}, {"top_k": 40}, {"top_k": 2000}):
        server.post("/api/generate", {"model": "llama", "prompt": "a", "stream": False, "options": {"num_predict": 3, **options}})
    for count in range(1, 9):
        for name in ("llama", "bart"):
            prompts = ["a " * (1 + 5 * i % 17) for i in range(count)]
            server.post("/v1/completions", {"model": name, "prompt": prompts, "max_tokens": 4, "temperature": count % 2, "top_p": 0.9})
    for words in (10, 17, 25, 45):
        server.post("/v1/completions", {"model": "llama", "prompt": "a " * words, "max_tokens": 2})


def test_ready_means_built(folder, directory):
    """No request waits for a compiler: after the start, requests of all kinds and sizes add no program to an empty cache. Without CLF_GRAPH
    these models have too few launches for graphs."""
    cache = os.path.join(directory, "cache")
    server = Server(folder, EMBEDDER, RERANKER, os.path.join(data, "translation", "bart"), "--parallel", "8", CLF_CACHE_DIR=cache,
                    CLF_GRAPH="1")
    before = programs(cache)
    load_all_sizes(server)
    added = sorted(set(programs(cache)) - set(before))
    if server.stop() != 0 or added:
        fail(f"programs that were built after the start, beside {len(before)}: {added}")


def test_files(folder):
    """Errors name control tokens that a message cannot hold, and the log names sampling settings that are ignored."""
    for name, content in (("tokenizer_config", {"unk_token": "c"}), ("generation_config", {"do_sample": True, "temperature": 0.6})):
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file)
    server = Server(folder)
    answer = server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "the cat"}]}, 400)
    message = answer["error"]["message"] if answer else ""
    if "control token (leave it out, or send the whole prompt to /v1/completions, " not in message or "--special" in message:
        fail(f"a control token in a message: {answer}")
    server.post("/v1/completions", {"prompt": "user the cat", "max_tokens": 1})
    server.stop()
    if server.log().count(f"{folder}: its sampling settings are ignored: do_sample, temperature 0.6 (") != 1:
        fail(f"sampling settings are not in the log: {server.log()}")


with tempfile.TemporaryDirectory() as directory:
    folder = os.path.join(directory, "llama")
    os.mkdir(folder)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        os.symlink(os.path.join(WRITER, file), os.path.join(folder, file))
    with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as template:
        template.write(TEMPLATE)
    main = Server(folder, EMBEDDER)
    test_completions(main)
    test_refusals(main)
    test_chat(main)
    test_together(main)
    test_turns(main)
    test_prefixes(main)
    test_leaving(main)
    if main.stop() != 0:
        fail("the server's end:", main.log()[-500:])
    little = Server(folder, EMBEDDER, "--context", "80", "--prefix-bytes", "0")
    test_context(little)
    little.stop()
    bare = Server(WRITER)  # without a template its page asks as it does with one
    answer = bare.post("/api/generate", {"model": "llama", "prompt": "a", "stream": False, "options": {"num_predict": 2, "temperature": 0}})
    if not answer["response"] or b'post("/api/generate"' not in bare.ask("GET", "/")[2]:
        fail("the page of a model without a chat template", answer)
    bare.stop()
    short = Server(os.path.join(data, "translation", "bart"))
    if not short.post("/v1/completions", {"prompt": "a b"}) or short.stop() != 0:
        fail("an encoder-decoder:", short.log()[-500:])
    two = Server(folder, EMBEDDER, "--device", ",") # the default device twice
    test_together(two)
    test_turns(two)
    if samples(two, "clformer_devices ") != [2] or two.stop() != 0:
        fail("two devices:", two.log()[-500:])
    if not os.environ.get("CLF_TEST_SMALL") and not os.environ.get("CLF_TEST_NUMBERS"):  # it compiles all kernels
        test_ready_means_built(folder, directory)
    test_files(folder)
finish()
