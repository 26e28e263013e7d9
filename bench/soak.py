#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sends `clformer serve` a mixed load for a given time and compares each answer with what the request got when it was alone.

usage: soak.py PROGRAM --embed MODEL --rerank MODEL --chat MODEL [--minutes N] [--clients N] [OPTIONS OF serve]

The load is embeddings, rerankings, tokens, texts, streams of chats and bad requests, and every fiftieth client leaves before its answer.
Prints a JSON line a minute: answers so far, the server's resident memory in kB, its descriptors and its threads. Ends with status 1 if a
request was lost, answered twice or answered otherwise, or if the server counted other requests than were sent. Time during which this
process was stopped does not count."""
import argparse
import collections
import json
import random
import re
import selectors
import sys
import time
import urllib.request

from memory import memory
from serve import Server, WORDS, report, request_of, texts_of

DIFFERENCE = 2e-6
STOPPED = 3  # a step of so many seconds means that this process was stopped, because select waits for at most one


def requests_of_all_kinds():
    """A list of (kind, request)."""
    rng = random.Random(1)
    texts = texts_of(400, 2)
    prompts = [" ".join(rng.choices(WORDS, k=rng.choice((4, 12, 40, 120)))) for _ in range(120)]
    chats = [{"model": "chat", "messages": [{"role": "user", "content": text}], "max_tokens": rng.randint(1, 24), "temperature": 0,
              "stream": i % 2 == 0} for i, text in enumerate(prompts[:60])]
    completions = [{"model": "chat", "prompt": text, "max_tokens": rng.randint(1, 24), "temperature": 0.8 * (i % 2), "top_p": 0.9,
                    "seed": i, "stream": i % 3 == 0} for i, text in enumerate(prompts[60:])]
    bad = ({"input": []}, {"input": "the", "dimensions": -1}, {"input": [-1]}, {"input": 3}, {"input": "the", "model": "chat"})
    lists = (
        ("embedding", "/v1/embeddings", [{"input": text, "model": "embed"} for text in texts]),
        ("embeddings", "/embed", [{"inputs": rng.choices(texts, k=rng.randint(2, 8))} for _ in range(60)]),
        ("reranking", "/v1/rerank", [{"model": "rerank", "query": text, "documents": rng.choices(texts, k=rng.randint(1, 6))}
                                     for text in texts[:100]]),
        ("tokens", "/tokenize", [{"inputs": text} for text in texts[:100]]),
        ("chat", "/v1/chat/completions", chats),
        ("text", "/v1/completions", completions),
        ("bad", "/v1/embeddings", bad),
    )
    return [(kind, request_of(path, body)) for kind, path, bodies in lists for body in bodies]


def take_answer(content):
    """(status, body, length) of the first answer in `content`, or None if it is incomplete."""
    head = content.find(b"\r\n\r\n") + 4
    if head < 4:
        return None
    status, body = int(content[9:12]), b""
    length = re.search(rb"(?i)content-length: (\d+)", content[:head])
    if length:
        end = head + int(length.group(1))
        return (status, bytes(content[head:end]), end) if len(content) >= end else None
    while (line := content.find(b"\r\n", head)) >= 0:
        size = int(content[head:line], 16)
        head = line + 2 + size + 2
        if head > len(content):
            return None
        if size == 0:
            return status, body, head
        body += content[line + 2:line + 2 + size]
    return None


def plain(status, body):
    """An answer as (exact, numbers, identity), without its time. The pieces of a stream are joined."""
    if not body.startswith(b"data:"):
        answer = json.loads(body)
        own = (answer.pop("id", None), answer.pop("created", None)) if isinstance(answer, dict) else (None, None)
        numbers = []
        exact = without_numbers(answer, numbers)
        return (status, json.dumps(exact)), numbers, own[0]
    events = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]
    chunks = [json.loads(event) for event in events[:-1]]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    text = "".join(choice.get("text") or choice.get("delta", {}).get("content") or "" for choice in choices)
    ends = [choice["finish_reason"] for choice in choices if choice["finish_reason"]]
    return (status, text, ends, events[-1]), [], chunks[0]["id"]


def without_numbers(value, out):
    if isinstance(value, float):
        out.append(value)
        return None
    if isinstance(value, list):
        return [without_numbers(entry, out) for entry in value]
    if isinstance(value, dict):
        return {name: without_numbers(entry, out) for name, entry in value.items()}
    return value


def is_same(one, other):
    return one[0] == other[0] and len(one[1]) == len(other[1]) and all(abs(a - b) <= DIFFERENCE for a, b in zip(one[1], other[1]))


def ask_alone(server, request):
    own = server.connect()
    own.sendall(request)
    content = b""
    while not (answer := take_answer(content)):
        if not (piece := own.recv(1 << 16)):
            raise SystemExit(f"no answer to {request[:300]}")
        content += piece
    own.close()
    return plain(*answer[:2])


def counted(server):
    """The number of requests that the server counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics") as answer:
        text = answer.read().decode()
    samples = re.findall(r'^clformer_requests_total\{route="POST /(?:v1|embed|tokenize)[^}]*\} (\S+)$', text, re.M)
    return sum(float(value) for value in samples)


class Soak:
    def __init__(self, server, clients):
        self.server = server
        self.requests = requests_of_all_kinds()
        self.alone = [ask_alone(server, request) for _, request in self.requests]
        self.rng = random.Random(7)
        self.poll = selectors.DefaultSelector()
        self.sent, self.left = len(self.requests), 0
        self.answers, self.faults, self.identities = collections.Counter(), collections.Counter(), set()
        for _ in range(clients):
            self.begin(self.open())

    def open(self):
        own = self.server.connect()
        self.poll.register(own, selectors.EVENT_READ, {})
        return own

    def close(self, own):
        self.poll.unregister(own)
        own.close()

    def begin(self, own):
        index = self.rng.randrange(len(self.requests))
        own.sendall(self.requests[index][1])
        self.sent += 1
        state = self.poll.get_key(own).data
        state.update(index=index, content=bytearray(), leaves=time.monotonic() + self.rng.random() if self.rng.random() < 0.02 else None)

    def note(self, fault, index, found):
        self.faults[fault] += 1
        if self.faults[fault] <= 20:
            report(what=fault, request=self.requests[index][1].decode()[-400:], alone=str(self.alone[index])[:800], found=str(found)[:800])

    def read(self, own, state):
        """Reads what has arrived; returns whether the request is done."""
        if not (piece := own.recv(1 << 16)):
            self.note("lost", state["index"], bytes(state["content"]))
            self.close(own)
            self.begin(self.open())
            return False
        state["content"] += piece
        answer = take_answer(state["content"])
        if not answer:
            return False
        index = state["index"]
        found = plain(*answer[:2])
        self.answers[self.requests[index][0]] += 1
        if len(state["content"]) > answer[2]:
            self.note("twice", index, bytes(state["content"][answer[2]:]))
        if not is_same(found, self.alone[index]):
            self.note("other", index, found)
        if found[2] and found[2] in self.identities:
            self.note("same identity", index, found[2])
        self.identities.add(found[2])
        return True

    def step(self, goes_on):
        """Waits for events for at most a second and handles them. goes_on: answered requests are followed by new ones."""
        for key, _ in self.poll.select(1):
            if self.read(key.fileobj, key.data):
                if goes_on:
                    self.begin(key.fileobj)
                else:
                    self.close(key.fileobj)
        now = time.monotonic()
        for key in list(self.poll.get_map().values()):
            if key.data["leaves"] and key.data["leaves"] < now and goes_on:
                self.close(key.fileobj)
                self.left += 1
                self.begin(self.open())

    def tell(self, minutes):
        resident, files, threads = self.server.held()
        report(what="held", minutes=minutes, sent=self.sent, left=self.left, faults=sum(self.faults.values()), resident_kB=resident,
               files=files, threads=threads, **self.answers)

    def run(self, minutes):
        """Runs the load; returns whether all went well."""
        last, seconds, told = time.monotonic(), 0.0, 0
        self.tell(0)
        while seconds < 60 * minutes:
            self.step(True)
            now = time.monotonic()
            if now - last < STOPPED:
                seconds += now - last
            last = now
            if seconds >= 60 * (told + 1):
                told += 1
                self.tell(told)
        while self.poll.get_map():
            self.step(False)
        self.tell(minutes)
        time.sleep(5)
        report(what="counted by the server", requests=counted(self.server), sent=self.sent)
        # A request whose client left early may or may not be counted.
        return not self.faults and self.sent - self.left <= counted(self.server) <= self.sent


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    for kind in ("embed", "rerank", "chat"):
        parser.add_argument(f"--{kind}", required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--clients", type=int, default=24)
    options, more = parser.parse_known_args()
    server = Server(options.program, *(f"{kind}={getattr(options, kind)}" for kind in ("embed", "rerank", "chat")), *more)
    try:
        report(what="loaded", **memory(server))
        is_well = Soak(server, options.clients).run(options.minutes)
        report(what="end", **memory(server))
    finally:
        server.stop()
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
