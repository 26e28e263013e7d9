#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests a server under load in which one call of OpenCL, memory or files fails once, in a run for each call. The server goes on, or ends
with a message and status 1. While it goes on, every client gets a whole answer. usage: serve.py PROGRAM DATA SHIM RUNS

RUNS calls are failed, spread evenly over all calls of four classes; those of the start, of the work and of the end among them."""
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from runs import fail, finish, program, skip_without_device
from serving import EMBEDDER, RERANKER, WRITER

CLASSES = ("opencl", "memory", "eio", "eintr")
CLIENTS = 3
ASKS = (("/v1/embeddings", {"input": ["the cat", "sat"]}), ("/rerank", {"query": "a", "texts": ["b", "c"]}),
        ("/v1/completions", {"prompt": "the cat", "max_tokens": 8, "temperature": 0}),
        ("/v1/completions", {"prompt": "a", "max_tokens": 8, "stream": True}))
ENDS = {200, 424, 429, 500, 503}


def client(port, got):
    for path, body in ASKS:
        try:
            own = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            own.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = own.getresponse()
            got.append(answer.status if answer.read() else "nothing")
            own.close()
        except (http.client.HTTPException, OSError) as error:
            got.append(repr(error))


def serve(fault, folder):
    """Exit status (None: it hangs), what clients got, the log, and how many calls of each class there were."""
    report = os.path.join(folder, "report")
    if os.path.exists(report):
        os.remove(report)
    environment = {**os.environ, "LD_PRELOAD": sys.argv[3], "CLF_FAULT_REPORT": report, **({"CLF_FAULT": fault} if fault else {})}
    got = []
    with tempfile.TemporaryFile() as errors:
        server = subprocess.Popen([program, "serve", EMBEDDER, RERANKER, WRITER, "--port", "0"], stdout=subprocess.PIPE, stderr=errors,
                                  env=environment, text=True)
        found = re.search(r":(\d+)$", server.stdout.readline().strip())
        if found:
            threads = [threading.Thread(target=client, args=(int(found.group(1)), got)) for _ in range(CLIENTS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            server.send_signal(signal.SIGTERM)
        try:
            status = server.wait(timeout=60)
        except subprocess.TimeoutExpired:
            server.kill()
            status = server.wait() and None
        server.stdout.close()
        errors.seek(0)
        log = errors.read().decode(errors="replace")
    calls = {}
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            calls = ([row["calls"] for row in map(json.loads, file) if "calls" in row and not row["is_child"]] or [{}])[-1]
    return status, got, log, calls


def judge(fault, folder):
    status, got, log, _ = serve(fault, folder)
    odd = [one for one in got if one not in ENDS]
    if status not in (0, 1) or (status == 0 and (odd or len(got) != CLIENTS * len(ASKS))) or (status == 1 and "clformer: " not in log):
        fail(f"{fault}: status {status}, clients got {odd or len(got)}: {log[-300:]}")


with tempfile.TemporaryDirectory() as work:
    ended, answers, told, counts = serve("", work)
    skip_without_device(subprocess.CompletedProcess([], ended, "", told))
    if ended != 0 or set(answers) != {200}:
        raise SystemExit(f"without a fault: {ended} {answers} {told}")
    runs = int(sys.argv[4]) // len(CLASSES)
    for name in CLASSES:
        for i in range(min(runs, counts[name])):
            judge(f"{name}:{(2 * i + 1) * counts[name] // (2 * min(runs, counts[name]))}", work)
finish()
