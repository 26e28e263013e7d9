#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of one process over many requests of mixed lengths: `clformer serve` gets embeddings, then rerankings, then generations.

usage: memory.py PROGRAM [--embed MODEL] [--rerank MODEL] [--chat MODEL] [--embeddings N] [--rerankings N] [--generations N]
                 [OPTIONS OF serve]

Prints JSON lines: the memory of the device and the resident memory in MB after the first hundred requests of each kind and after the last.
Beside them stands the plan that the server made when it loaded the models. Ends with status 1 if the device's memory exceeds its plan, or
if one of the two grew after the first hundred: the device's at all, the resident one by more than two hundredths."""
import argparse
import random
import re
import sys
import time
import urllib.request

from serve import Server, WORDS, drive, embedding_of, report, request_of, texts_of

FIRST, CLIENTS = 100, 16
GROWTH = {"device": 1.0, "resident": 1.02}


def embeddings(count):
    """Requests for embeddings. Texts have a few words, every tenth has 100 to 250."""
    rng = random.Random(1)
    short = texts_of(count, 2)
    return [embedding_of(" ".join(rng.choices(WORDS, k=rng.randint(100, 250))) if i % 10 == 9 else short[i]) for i in range(count)]


def rerankings(count):
    rng = random.Random(3)
    texts = texts_of(2000, 4)
    return [request_of("/v1/rerank", {"query": texts[i % 2000], "documents": rng.choices(texts, k=rng.randint(1, 6))})
            for i in range(count)]


def generations(count):
    """Requests for completions: prompts of 4 to 120 words, up to 24 new tokens each."""
    rng = random.Random(5)
    return [request_of("/v1/completions", {"prompt": " ".join(rng.choices(WORDS, k=rng.choice((4, 12, 40, 120)))), "temperature": 0,
                                           "max_tokens": rng.randint(1, 24)}) for i in range(count)]


def memory(server):
    """Waits until the models are loaded; returns the server's memory in MB by kind."""
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
            text = answer.read().decode()
        if re.search(r"^clformer_ready 1$", text, re.M):
            break
        time.sleep(0.2)
    return {name: float(re.search(rf"^clformer_{name}_memory_bytes (\S+)$", text, re.M).group(1)) / 1e6
            for name in ("device", "planned", "resident")}


def run(server, options, kinds, counts):
    """Sends the requests of each kind; returns whether memory grew or exceeded its plan."""
    has_grown = False
    report(what="loaded", **memory(server))
    for kind, make in kinds.items():
        if not getattr(options, kind):
            continue
        requests = make(getattr(options, counts[kind]))
        drive(server, requests[:FIRST], CLIENTS)
        before = memory(server)
        drive(server, requests[FIRST:], CLIENTS)
        after = memory(server)
        report(what=counts[kind], requests=FIRST, **before)
        report(what=counts[kind], requests=len(requests), **after)
        grown = [name for name, most in GROWTH.items() if after[name] > most * before[name]]
        if after["device"] > after["planned"] or grown:
            has_grown = True
            report(what=counts[kind], grown=grown, exceeds_plan=after["device"] > after["planned"])
    return has_grown


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    kinds = {"embed": embeddings, "rerank": rerankings, "chat": generations}
    counts = {"embed": "embeddings", "rerank": "rerankings", "chat": "generations"}
    for kind, count in zip(kinds, (20000, 2000, 500)):
        parser.add_argument(f"--{kind}")
        parser.add_argument(f"--{counts[kind]}", type=int, default=count)
    options, more = parser.parse_known_args()
    models = [f"{kind}={getattr(options, kind)}" for kind in kinds if getattr(options, kind)]
    if not models:
        parser.error("no model")
    server = Server(options.program, *models, *more)
    try:
        has_grown = run(server, options, kinds, counts)
    finally:
        server.stop()
    sys.exit(1 if has_grown else 0)


if __name__ == "__main__":
    main()
