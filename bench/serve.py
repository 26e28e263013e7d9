#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures `clformer serve` beside `clformer embed` on the same short texts, in alternating rounds, and its latencies under load.

usage: serve.py PROGRAM MODEL [--rounds N] [--texts N] [--clients N] [--peer COMMAND ...] [--chat MODEL]

Texts have 6 to 26 words. Each is a request of its own, which asks for base64, on kept connections. Prints JSON lines: texts/s of both and
their ratio, and the latencies of a single client and of Poisson arrivals at half of the rate. The tail that these arrivals have at an
ideal server stands beside them. --peer, which may be repeated, adds the rate of another server with POST /v1/embeddings, in rounds that
alternate with ours; its command gets --port. --chat adds the tokens/s of 16 streams and the time to a first token beside 8 running
streams. The client is one thread with prepared requests, so that it uses little CPU time."""
import argparse
import json
import os
import random
import re
import selectors
import shlex
import signal
import socket
import statistics
import subprocess
import tempfile
import time

WORDS = "the of and to in a is that for it as was with be by on he his but at are this have from or an they which one had".split()


def texts_of(count, seed):
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(6, 26))) for _ in range(count)]


def request_of(path, body):
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    return head.encode() + content


def embedding_of(text):
    return request_of("/v1/embeddings", {"input": text, "encoding_format": "base64"})


class Server:
    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, "serve", *arguments, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        found = re.search(r":(\d+)\n", self.process.stdout.readline())
        if not found:
            raise SystemExit("the server does not start")
        self.port = int(found.group(1))

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def connect(self):
        own = socket.create_connection(("127.0.0.1", self.port))
        own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return own

    def held(self):
        """Resident kB, descriptors and threads of the server."""
        folder = f"/proc/{self.process.pid}"
        with open(f"{folder}/status", encoding="ascii") as file:
            resident = int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))
        return resident, len(os.listdir(f"{folder}/fd")), len(os.listdir(f"{folder}/task"))


class Peer(Server):
    """Runs another server, which is stopped while it is not measured."""

    def __init__(self, command):
        with socket.create_server(("127.0.0.1", 0)) as own:
            self.port = own.getsockname()[1]
        self.name = os.path.basename(next((word for word in shlex.split(command)[1:] if word.endswith(".py")), shlex.split(command)[0]))
        self.process = subprocess.Popen([*shlex.split(command), "--port", str(self.port)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        while True:
            try:
                drive(self, [embedding_of("the")], 1)
                break
            except (OSError, SystemExit) as error:
                if self.process.poll() is not None:
                    raise SystemExit(f"{command}: ended with status {self.process.returncode}") from error
                time.sleep(0.2)

    def measure(self, arguments, requests):
        """Returns texts/s."""
        self.process.send_signal(signal.SIGCONT)
        seconds = drive(self, requests, arguments.clients)[0]
        self.process.send_signal(signal.SIGSTOP)
        return len(requests) / seconds


def is_whole(answer):
    """Whether an answer with a length is complete. A status other than 200 ends the program."""
    head = answer.find(b"\r\n\r\n")
    if head < 0:
        return False
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise SystemExit(f"refused: {bytes(answer[:300])}")
    length = re.search(rb"(?i)content-length: (\d+)", answer[:head])
    return len(answer) >= head + 4 + int(length.group(1))


def drive(server, requests, clients, due=None):
    """Sends each request on the next free connection, not before its time in `due` if there is one. Returns the seconds of all requests and
    the latency of each, which begins when the request is due."""
    poll = selectors.DefaultSelector()
    free, latencies, sent, done = [], [], 0, 0
    for _ in range(clients):
        own = server.connect()
        own.setblocking(False)
        poll.register(own, selectors.EVENT_READ, {"answer": bytearray(), "start": 0.0})
        free.append(own)
    start = time.perf_counter()
    while done < len(requests):
        now = time.perf_counter() - start
        while free and sent < len(requests) and (due is None or due[sent] <= now):
            own = free.pop()
            state = poll.get_key(own).data
            state["answer"].clear()
            state["start"] = now if due is None else due[sent]
            own.sendall(requests[sent])
            sent += 1
        wait = None if due is None or sent == len(requests) or not free else max(0, due[sent] - (time.perf_counter() - start))
        for key, _ in poll.select(wait):
            state = key.data
            if not (piece := key.fileobj.recv(1 << 16)):
                raise SystemExit("a connection ended without its answer")
            state["answer"] += piece
            if is_whole(state["answer"]):
                latencies.append(time.perf_counter() - start - state["start"])
                free.append(key.fileobj)
                done += 1
    seconds = time.perf_counter() - start
    for key in list(poll.get_map().values()):
        key.fileobj.close()
    return seconds, latencies


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def embed_seconds(program, model, texts, folder):
    path = os.path.join(folder, "texts.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(texts) + "\n")
    start = time.perf_counter()
    subprocess.run([program, "embed", model, "--file", path, "-o", os.path.join(folder, "out.npy")], check=True, capture_output=True)
    return time.perf_counter() - start


def report(**facts):
    print(json.dumps({name: round(value, 4) if isinstance(value, float) else value for name, value in facts.items()}), flush=True)


def measure_rate(server, arguments, folder):
    """Measures embed and serve in alternating rounds. A run of embed with one text measures its start-up, which is subtracted."""
    texts = texts_of(arguments.texts, 1)
    requests = [embedding_of(text) for text in texts]
    drive(server, requests, arguments.clients)
    ratios, rates = [], []
    for _ in range(arguments.rounds):
        own = embed_seconds(arguments.program, arguments.model, texts, folder) - \
            embed_seconds(arguments.program, arguments.model, texts[:1], folder)
        seconds = drive(server, requests, arguments.clients)[0]
        ratios.append(own / seconds)
        rates.append(len(texts) / seconds)
        report(what="texts/s", embed=len(texts) / own, serve=rates[-1], ratio=ratios[-1], clients=arguments.clients)
    report(what="median ratio", ratio=statistics.median(ratios), least=min(ratios), most=max(ratios))
    return statistics.median(rates)


def measure_peer(server, arguments, command):
    peer = Peer(command)
    requests = [embedding_of(text) for text in texts_of(arguments.texts, 1)]
    peer.measure(arguments, requests)
    ratios = []
    for _ in range(arguments.rounds):
        own = len(requests) / drive(server, requests, arguments.clients)[0]
        rate = peer.measure(arguments, requests)
        ratios.append(own / rate)
        report(what="texts/s", peer=peer.name, serve=own, other=rate, ratio=ratios[-1], resident_kB=peer.held()[0])
    report(what="median ratio", peer=peer.name, ratio=statistics.median(ratios), least=min(ratios), most=max(ratios))
    peer.stop()


def ideal_latencies(alone, rate, due, texts):
    """Latencies of a server on processors that do nothing else. It takes all texts that wait into one pass: `alone` seconds for one text of
    mean length, and 1 / rate for each more."""
    words = [len(text.split()) for text in texts]
    per_word = len(words) / (rate * sum(words))
    latencies, now, first = [], 0.0, 0
    while first < len(due):
        now, end = max(now, due[first]), first
        while end < len(due) and due[end] <= now:
            end += 1
        now += alone - 1 / rate + per_word * sum(words[first:end])
        latencies += [now - at for at in due[first:end]]
        first = end
    return latencies


def measure_latency(server, rate, arguments):
    texts = texts_of(400, 2)
    alone = drive(server, [embedding_of(text) for text in texts], 1)[1]
    rng, due, at = random.Random(3), [], 0.0
    count = max(400, int(rate / 2 * 10))
    for _ in range(count):
        at += rng.expovariate(rate / 2)
        due.append(at)
    texts, alone = texts_of(count, 4), statistics.median(alone)
    loaded = drive(server, [embedding_of(text) for text in texts], arguments.clients, due)[1]
    ideal = quantile(ideal_latencies(alone, rate, due, texts), 0.99)
    median, late = quantile(loaded, 0.5), quantile(loaded, 0.99)
    report(what="latency", alone_ms=alone * 1e3, half_load_p50_ms=median * 1e3, half_load_p99_ms=late * 1e3, p99_by_alone=late / alone,
           ideal_p99_by_alone=ideal / alone)


def stream_of(tokens, prompt):
    return request_of("/v1/completions", {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "stream": True})


def read_streams(connections):
    """Reads all streams to their ends; returns the times of the first event and of the end of each."""
    poll, first, end = selectors.DefaultSelector(), {}, {}
    tails = {own: b"" for own in connections}
    for own in connections:
        poll.register(own, selectors.EVENT_READ)
    while len(end) < len(connections):
        for key, _ in poll.select():
            own, piece = key.fileobj, key.fileobj.recv(1 << 16)
            tails[own] = (tails[own] + piece)[-64:]
            first.setdefault(own, time.perf_counter()) if b"data:" in piece else None
            if b"[DONE]" in tails[own] or not piece:
                end[own] = time.perf_counter()
                poll.unregister(own)
    return first, end


def measure_chat(arguments):
    server, tokens = Server(arguments.program, arguments.chat), 64
    prompt = " ".join(WORDS)
    for _ in range(2):
        streams = [server.connect() for _ in range(16)]
        start = time.perf_counter()
        for own in streams:
            own.sendall(stream_of(tokens, prompt))
        end = max(read_streams(streams)[1].values())
    report(what="16 streams", tokens_per_s=16 * tokens / (end - start))
    running = [server.connect() for _ in range(8)]
    for own in running:
        own.sendall(stream_of(400, prompt))
    time.sleep(1)
    one = server.connect()
    start = time.perf_counter()
    one.sendall(stream_of(1, prompt))
    first = read_streams([one])[0]
    report(what="first token behind 8", ms=(first[one] - start) * 1e3)
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--chat")
    arguments = parser.parse_args()
    server = Server(arguments.program, arguments.model)
    with tempfile.TemporaryDirectory() as folder:
        rate = measure_rate(server, arguments, folder)
    measure_latency(server, rate, arguments)
    for command in arguments.peer:
        measure_peer(server, arguments, command)
    server.stop()
    if arguments.chat:
        measure_chat(arguments)


if __name__ == "__main__":
    main()
