#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests a server whose GPU is lost while it answers. It opens the GPU again, and every client gets the same answer as without the loss,
also if its prompt has a prefix that was cached before the loss. After a second loss in a row clients get 503, unless there is another GPU,
which takes over.
usage: test_serve_lost.py PROGRAM DATA SHIM DEVICE"""
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from runs import fail, finish, worst
from serving import EMBEDDER, WRITER, Server, events
from shown import pocl_alone

CLIENTS = 6
PROMPTS = ["the cat sat on the mat and ran away", "a", "it ran"] * 2


def stream(server, prompt):
    """The status and text of a stream; 503 and the error's code where it ends with one."""
    body = {"prompt": prompt, "max_tokens": 12, "temperature": 1, "seed": 7, "stream": True}
    status, _, content = server.ask("POST", "/v1/completions", body)
    if status != 200:
        return status, content["error"]["code"]
    chunks, ended = events(content)
    if ended:
        return status, "".join(chunk["choices"][0]["text"] for chunk in chunks)
    return 503, chunks[-1]["error"]["code"]


def ask_all(server, got):
    for prompt in PROMPTS:
        for some in (prompt, [prompt, *PROMPTS]):
            status, _, content = server.ask("POST", "/v1/completions", {"prompt": some, "max_tokens": 12, "temperature": 0})
            got.append((status, "|".join(choice["text"] for choice in content["choices"]) if status == 200 else content["error"]["code"]))
        got.append(stream(server, prompt))
        status, _, content = server.ask("POST", "/v1/embeddings", {"input": [prompt, *PROMPTS]})
        got.append((status, content["data"][0]["embedding"] if status == 200 else content["error"]["code"]))


def answers(lose, *arguments, clients=1):
    """Status of the server, calls on its queue, what clients got, and its log."""
    calls = os.path.join(work, "calls")
    server = Server(EMBEDDER, WRITER, *arguments, LD_PRELOAD=sys.argv[3], CLF_TEST_GPU=sys.argv[4], CLF_TEST_GPU_LOSE=lose,
                    CLF_TEST_GPU_CALLS=calls, CLF_NO_TUNED="1", OCL_ICD_VENDORS=vendors)
    got = [[] for _ in range(clients)]
    threads = [threading.Thread(target=ask_all, args=(server, own)) for own in got]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = [answer for own in got for answer in own]
    status = server.stop()
    with open(calls, encoding="utf-8") as file:
        return status, int(file.read()), got, server.log()


def is_same(a, b):
    if a[0] != b[0] or isinstance(a[1], str):
        return a == b
    return worst(abs(x - y) for x, y in zip(a[1], b[1], strict=True)) <= 2e-6


with tempfile.TemporaryDirectory() as work:
    vendors = pocl_alone(work)
    os.environ.pop("CLF_DEVICE", None)
    ended, count, want, _ = answers("")
    if ended != 0 or {status for status, _ in want} != {200}:
        fail(f"without a loss: {ended} {want}")
    for part in (0.6, 0.8, 0.95):
        ended, _, found, log = answers(str(int(count * part)))
        if ended != 0 or "device lost" not in log or not all(map(is_same, found, want)):
            fail(f"lost at {part} of {count} calls: {ended} {[a for a, b in zip(found, want) if not is_same(a, b)][:3]} {log[-800:]}")
    ended, _, found, log = answers(f"{int(count * 0.8)}-")
    odd = [a for a, b in zip(found, want) if not is_same(a, b) and a != (503, "device_lost")]
    if odd or found[-1] != (503, "device_lost"):
        fail(f"lost for good: {ended} {odd[:3]} {found[-1]} {log[-800:]}")
    two, want = ("--device", ",", "--parallel", "3"), want * CLIENTS # the default device twice
    ready = answers("", *two, clients=0)[1]
    count = answers("", *two, clients=CLIENTS)[1] - ready
    for part in (0.2, 0.5, 0.8):
        ended, _, found, log = answers(f"{ready + int(count * part)}!", *two, clients=CLIENTS)
        if ended != 0 or "other devices take over" not in log or not all(map(is_same, found, want)):
            fail(f"one of two lost at {part}: {ended} {[a for a, b in zip(found, want) if not is_same(a, b)][:3]} {log[-800:]}")
    ended, _, found, log = answers(f"{ready + int(count * 0.5)}-", *two, clients=CLIENTS)
    odd = [a for a, b in zip(found, want) if not is_same(a, b) and a != (503, "device_lost")]
    if ended != 0 or odd or (503, "device_lost") not in found:
        fail(f"both lost for good: {ended} {odd[:3]} {log[-800:]}")
finish()
