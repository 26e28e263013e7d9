#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Python server of MiniLM on ONNX Runtime with dynamic batching, as a peer for bench/serve.py: POST /v1/embeddings with one text, as
base64. Requests that came during a pass share the next one.

usage: serve_ort.py MODEL_DIR --port N [--threads 2] [--most 64]

One asyncio loop reads requests and writes answers without a web framework, which would be slower. A thread tokenizes and runs the passes,
sorted by length and padded. The graph is checked against the float64 reference first.
Needs numpy, onnx, onnxruntime, tokenizers and safetensors from PyPI."""
import argparse
import asyncio
import base64
import json

from ort_minilm import Peer


async def read_request(reader):
    """The body of the next request; None: the client has left."""
    size = 0
    line = await reader.readline()
    if not line:
        return None
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return await reader.readexactly(size)


def answer_of(row):
    content = json.dumps({"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": base64.b64encode(row).decode()}]})
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(content), content.encode())


class Server:
    def __init__(self, peer, most):
        self.peer, self.most, self.waiting = peer, most, asyncio.Queue()

    async def serve(self, reader, writer):
        while (body := await read_request(reader)) is not None:
            done = asyncio.get_running_loop().create_future()
            self.waiting.put_nowait((json.loads(body)["input"], done))
            writer.write(answer_of(await done))
            await writer.drain()
        writer.close()

    async def work(self):
        while True:
            batch = [await self.waiting.get()]
            while len(batch) < self.most and not self.waiting.empty():
                batch.append(self.waiting.get_nowait())
            rows = await asyncio.to_thread(self.peer.embed, [text for text, _ in batch], len(batch))
            for row, (_, done) in zip(rows[0], batch):
                done.set_result(row.tobytes())


async def run(options):
    peer = Peer(options.model, options.threads)
    peer.check(30)
    server = Server(peer, options.most)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", options.port)
    print(f"listening on http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    await server.work()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("model")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, default=64)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
