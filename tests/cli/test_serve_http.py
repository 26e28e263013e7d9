#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer serve: HTTP as proper and as hostile clients speak it, keys, origins, limits, a full queue, the start and the end.
test_serve_http.py PROGRAM DATA"""
import ctypes
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from runs import expect, fail, finish, program, run
from serving import EMBEDDER, RERANKER, WRITER, Server, events

BODY = b'{"input": "the cat", "dimensions": 2}'
HEAD = b"POST /v1/embeddings HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CLOSE = b"Connection: close\r\n"


def length(size):
    return b"Content-Length: %d\r\n" % size


def expect_answer(name, answer, status, *parts):
    if not answer.startswith(b"HTTP/1.1 %d " % status) or not all(part in answer for part in parts):
        fail(f"{name}: expected {status} and {parts}, found {answer[:400]}")


def expect_refusal(name, answer, status):
    """One answer alone, with the server's own error."""
    expect_answer(name, answer, status, b'"error"')
    if answer.count(b"HTTP/1.1 ") != 1 or b"<html" in answer or (status == 400 and not re.search(b'"bad_http"|"validation"', answer)):
        fail(f"{name}: several answers, or HTML, or another error: {answer[:600]}")


def is_library_newer(server):
    """Whether the server's libmicrohttpd is 1.0 or later, which reads some malformed messages by other rules than 0.9.75."""
    with open(f"/proc/{server.process.pid}/maps", encoding="utf-8") as file:
        found = re.search(r"/\S*libmicrohttpd\S*", file.read())
    if not found:
        return False
    version = ctypes.CDLL(found.group()).MHD_get_version
    version.restype = ctypes.c_char_p
    return not version().startswith(b"0.")


def test_messages(server):
    is_newer = is_library_newer(server)
    whole = HEAD + length(len(BODY)) + b"\r\n" + BODY
    expect_answer("a request", server.raw(HEAD + CLOSE + length(len(BODY)) + b"\r\n" + BODY), 200, b'"embedding":[')
    expect_answer("a half-closed client", server.raw(whole, half=True), 200, b'"embedding":[')
    expect_answer("HTTP 1.0", server.raw(b"GET /health HTTP/1.0\r\n\r\n"), 200, b'"ok"')
    old = b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    many = server.raw(2 * old + b"GET /health HTTP/1.0\r\n\r\n")
    if many.count(b"HTTP/1.1 200 ") != 3 or many.lower().count(b"connection: keep-alive") != 2 or many.count(b"Connection: close") != 1:
        fail(f"HTTP 1.0, keep-alive: {many}")
    chunked = HEAD + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n"
    pieces = b"8\r\n" + BODY[:8] + b"\r\n%x\r\n" % (len(BODY) - 8) + BODY[8:] + b"\r\n0\r\nTrailer: a\r\n\r\n"
    expect_answer("chunks", server.raw(chunked + pieces), 200, b'"embedding":[')
    extended = server.raw(chunked + b"8;x=1" + pieces[1:])
    if not is_newer or extended.startswith(b"HTTP/1.1 200 "):
        expect_answer("chunks with an extension", extended, 200, b'"embedding":[')
    else: # libmicrohttpd 1.0.1 takes them for malformed
        expect_refusal("chunks with an extension", extended, 400)
    many = server.raw(3 * whole + b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    if many.count(b"HTTP/1.1 200 ") != 4 or not many.endswith(b'{"status":"ok"}'):
        fail(f"pipelined requests: {many[:400]}")
    own = server.begin(HEAD + CLOSE + b"Expect: 100-continue\r\n" + length(len(BODY)) + b"\r\n")
    expect_answer("100-continue", own.recv(1000), 100)
    expect_answer("100-continue, the body", server.end(own, BODY), 200, b'"embedding":[')
    refused = server.raw(b"POST /none HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n" + length(9) + b"\r\n")
    expect_answer("100-continue, refused", refused, 404)
    for target, allowed in ((b"/v1/embeddings", b"Allow: POST, OPTIONS"), (b"/none", b"Allow: GET, POST, OPTIONS")):
        asked = server.raw(b"OPTIONS %s HTTP/1.1\r\nHost: a\r\n" % target + CLOSE + length(len(BODY)) + b"\r\n" + BODY)
        expect_answer("OPTIONS with a body", asked, 204, allowed)
    for name, status, head in (("two lengths", 400, length(5) + length(6)),
                               ("a length and a coding", 400, length(5) + b"Transfer-Encoding: chunked\r\n"),
                               ("a bad length", 400, b"Content-Length: 5a\r\n"), ("a signed length", 400, b"Content-Length: +5\r\n"),
                               ("an unknown coding", 400 if is_newer else 501, b"Transfer-Encoding: gzip\r\n"),
                               ("a name with a space", 400, b"Content-Length : 5\r\n"),
                               ("a length in two lines", 400, b"Content-Length:\r\n 5\r\n"),
                               ("a coding in two lines", 400, b"Transfer-Encoding:\r\n\tchunked\r\n"),
                               ("two hosts", 400, length(5) + b"Host: b\r\n"),
                               ("the end of a line in a value", 400, length(5) + b"X: a\rb\r\n"),
                               ("no length", 400, b"Content-Length:\r\n"), ("a negative length", 400, b"Content-Length: -1\r\n"),
                               ("a list of lengths", 400, b"Content-Length: 5, 5\r\n"),
                               ("a huge length", 400, b"Content-Length: 99999999999999999999\r\n"),
                               ("a NUL in a length", 400, b"Content-Length: 5\x000\r\n"),
                               ("a NUL in a coding", 400, b"Transfer-Encoding: chunked\0x\r\n"),
                               ("a NUL in a value", 400, b"X: a\0b\r\n" + length(5)),
                               ("a NUL in the last value", 400, length(5) + b"X: a\0b\r\n"),
                               ("a NUL before a name", 400, b"\0X: a\r\n" + length(5)),
                               ("a NUL in a name", 400, length(5) + b"Content\0-Length: 4\r\n"),
                               ("no name", 400, length(5) + b": x\r\n"), ("no name first", 400, b": x\r\n" + length(5)),
                               ("any header in two lines", 400, length(5) + b"X: a\r\n b\r\n"),
                               ("no colon", 400, length(5) + b"X\r\n"),
                               ("other expectations", 417, length(5) + b"Expect: much\r\n")):
        expect_refusal(name, server.raw(HEAD + head + b"\r\nhello"), status)
    tab = server.raw(HEAD + CLOSE + b"Content-Length: 5\t\r\n\r\nhello") # to newer libraries white space
    expect_answer("a tab behind a length", tab, 400, b'"bad_http"' if not is_newer else b'"message":"the request\'s body: line 1, ')
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for name, status, body in (("no chunk size", 400, b"zz\r\n"), ("a signed chunk size", 400, b"-1\r\n"),
                               ("a chunk size with 0x", 400, b"0x5\r\n"), ("a NUL in a chunk size", 400, b"5\0\r\nhello\r\n"),
                               ("a huge chunk size", 413, b"fffffffffffffffff\r\n"), ("a chunk without its end", 400, b"2\r\nhello\r\n"),
                               ("a long chunk extension", 413 if is_newer else 400, b"5;" + b"a" * 200000),
                               ("a long trailer", 431, b"0\r\nX: " + b"a" * 200000),
                               ("a trailer without a colon", 400, b"0\r\nX\r\n\r\n")):
        expect_refusal(name, server.raw(chunked + body), status)
    for name, status, head in (("no host", 400, b"GET /health HTTP/1.1\r\n\r\n"), ("HTTP/2", 400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                               ("HTTP/0.9", 400, b"GET /health HTTP/0.9\r\n\r\n"), ("no version", 400, b"GET /health\r\n\r\n"),
                               ("two spaces", 400, b"GET  /health HTTP/1.1\r\nHost: a\r\n\r\n"),
                               ("a target of 200 kB", 414, b"GET /" + b"a" * 200000),
                               ("a header of 200 kB", 431, HEAD + b"X: " + b"a" * 200000)):
        expect_refusal(name, server.raw(head), status)
    if (answer := server.raw(b"GET /health\0 HTTP/1.1\r\nHost: a\r\n\r\n")) or not is_newer: # newer ones close the connection
        expect_refusal("a NUL in a target", answer, 400)
    for name, head in (("no space behind a colon", b"Host:a\r\n"), ("spaces", b"Host: \t a\r\n"),
                       ("an empty value", b"Accept:\r\nHost: a\r\n")):
        expect_answer(name, server.raw(b"GET /health?a=%41&b HTTP/1.1\r\n" + head + CLOSE + b"\r\n"), 200, b'"ok"')
    for name, lines in (("a line that ends with LF", b"GET /health HTTP/1.1\r\nHost: a\n" + CLOSE + b"\r\n"),
                        ("LF alone", b"GET /health HTTP/1.1\nHost: a\nConnection: close\n\n")):
        if is_newer:
            expect_answer(name, server.raw(lines), 400, b'"error"')
        else:
            expect_answer(name, server.raw(lines), 200, b'"ok"')
    sized = HEAD + length(len(BODY))
    begun = [(part, server.begin(part)) for part in 8 * [b"", HEAD, sized, sized + CLOSE + b"\r\n{"]]
    for head in (HEAD + b"Content-Length: -1\r\n\r\n", HEAD + b"X\r\n\r\n", HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"PRI * HTTP/2.0\r\n\r\n", b"GET /health\r\n\r\n"):
        for _ in range(8):
            server.raw(head)
    whole = sized + CLOSE + b"\r\n" + BODY
    kept = [server.connect() for _ in range(8)]
    for connection in kept: # these have sent nothing since their last request
        server.ask("POST", "/v1/embeddings", BODY, connection)
    for _ in range(8):
        expect_refusal("HTTP/2 beside idle connections", server.raw(b"PRI * HTTP/2.0\r\n\r\n"), 400)
    for connection in kept:
        server.ask("POST", "/v1/embeddings", BODY, connection)
        connection.close()
    begun += [(part, server.begin(part)) for part in 8 * [b"POST /v1/embeddings HTT"]]
    for _ in range(8):
        server.raw(b"PRI * HTTP/2.0\r\n\r\n")
    for part, own in begun: # malformed requests of others do not end these
        expect_answer("a request in two parts", server.end(own, whole[len(part):]), 200, b'"embedding":[')
    for target in (b"http://a:80/health?b", b"HTTP://a/%68ealth", b"/%68ealth"):
        expect_answer(target, server.raw(b"GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" % target), 200, b'"ok"')
    cookies = b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\nCookie: %s\r\n\r\n" % (b"a" * 3000)
    expect_answer("3 kB of cookies", server.raw(cookies), 200)
    expect_answer("long headers", server.raw(b"GET /health HTTP/1.1\r\nHost: a\r\nCookie: %s\r\n\r\n" % (b"a" * 30000)), 431, b'"error"')
    expect_answer("a long target", server.raw(b"GET /%s HTTP/1.1\r\nHost: a\r\n\r\n" % (b"a" * 9000)), 414, b'"error"')
    server.raw(b"\x16\x03\x01 no HTTP\r\n\r\n")


def test_bodies(server):
    long = BODY[:-1] + b" " * (1000000 - len(BODY)) + b"}"
    expect_answer("a body of 1 MB", server.raw(HEAD + CLOSE + length(1000000) + b"\r\n" + long), 200)
    expect_answer("a large body, told", server.raw(HEAD + length(200 << 20) + b"\r\n"), 413, b'"error"')
    expect_answer("a large body, sent", server.raw(HEAD + length(30 << 20) + b"\r\n" + bytes(30 << 20)), 413, b'"error"')
    chunks = 20 * (b"100000\r\n" + bytes(1 << 20) + b"\r\n")
    expect_answer("a large body in chunks", server.raw(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunks), 413, b'"error"')
    for text in (b"", b"[1]", b'"a"', b'{"input": NaN}', b'{"input": "a",}', b'{"input": "a"} x', b'{"input": "\xff"}',
                 b'{"input": "a\x01"}', b'{"input": "a" /* */}', b'{"input": "a", "dimensions": 1e400}', b'{"input": ' + b"[" * 100000,
                 b'{"input": "a", "input": "b"}'):
        server.post("/v1/embeddings", text, 400)
    if (answer := server.post("/v1/embeddings", b"", 400)) and "found nothing" not in answer["error"]["message"]:
        fail(f"no body: {answer}")
    if not server.post("/v1/embeddings", b'{"input": "a", "x": ' + b"[" * 9 + b"]" * 9 + b"}"):
        fail("nine levels in a field that nobody knows")
    server.post("/v1/embeddings", b'{"input": "a\\u0000b"}')
    server.post("/v1/embeddings", b"\xef\xbb\xbf" + BODY)
    server.post("/v1/embeddings", b"\xef\xbb\xbf", 400)
    for kind, status in (("application/json; charset=utf-8", 200), ("text/plain", 415), ("application/x-www-form-urlencoded", 415)):
        if server.ask("POST", "/v1/embeddings", BODY, Content_Type=kind)[0] != status:
            fail(f"{kind}: expected {status}")
    if server.ask("POST", "/v1/embeddings", BODY, Content_Encoding="gzip")[0] != 415:
        fail("a compressed body is taken")


def test_routes(server):
    for method, path, status in (("GET", "/v1/embeddings", 405), ("POST", "/health", 405), ("DELETE", "/v1/models", 405),
                                 ("GET", "/none", 404), ("GET", "/health?a=b", 200),
                                 ("HEAD", "/health", 200), ("GET", "/ping", 200), ("GET", "/", 200),
                                 ("OPTIONS", "/v1/embeddings", 204), ("GET", "/../etc/passwd", 404)):
        found, headers, _ = server.ask(method, path)
        if found != status or (status == 405 and not headers["Allow"]) or headers["Access-Control-Allow-Origin"]:
            fail(f"{method} {path}: {found} {headers.items()}, expected {status}")
    connection = server.connect()
    for _ in range(3): # a refusal leaves the connection as it is
        if server.ask("POST", "/none", {"a": 1}, connection)[0] != 404 or server.ask("POST", "/v1/embeddings", BODY, connection)[0] != 200:
            fail("requests of one connection")
    connection.close()
    if server.ask("POST", "/v1/embeddings", BODY, Origin="http://evil.example")[0] != 403:
        fail("a page of another site is answered")
    for host, status in ((f"127.0.0.1:{server.port}", 200), (f"localhost:{server.port}", 200), (f"evil.example:{server.port}", 403)):
        if server.ask("POST", "/v1/embeddings", BODY, Origin=f"http://{host}", Host=host)[0] != status: # else DNS rebinding
            fail(f"a page of http://{host}: expected {status}")
    if server.ask("POST", "/v1/embeddings", BODY, Origin="https://models.example", Host="models.example")[0] != 200:
        fail("a page behind a proxy with TLS is not answered")
    status, headers, page = server.ask("GET", "/")
    paths = {path.decode() for path in re.findall(rb'(?:post|fetch)\("(/[^"]*)"', page)}
    if not paths or any(server.ask("OPTIONS", path)[1]["Allow"] in (None, "GET, POST, OPTIONS") for path in paths):
        fail(f"the page asks for {paths}")
    if status != 200 or not headers["Content-Type"].startswith("text/html") or re.search(rb"(src|href)=.https?:", page):
        fail("the page takes something from the network")


def test_metrics(server):
    text = server.ask("GET", "/metrics")[2].decode()
    samples = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            samples[name] = float(value)
    for name in {re.sub(r"_bucket\{.*", "", name) for name in samples if "_bucket" in name}:
        kinds = {re.sub(r',?le="[^"]*"', "", key) for key in samples if key.startswith(name + "_bucket")}
        for kind in kinds:
            buckets = [value for key, value in samples.items() if re.sub(r',?le="[^"]*"', "", key) == kind]
            count = samples[kind.replace("_bucket", "_count").replace("{}", "")]
            if buckets != sorted(buckets) or buckets[-1] != count:
                fail(f"{kind}: {buckets}, count {count}")
        if f"# TYPE {name} histogram" not in text:
            fail(f"{name} has no type")
    if samples.get('clformer_requests_total{route="POST /v1/embeddings",status="200"}', 0) < 5:
        fail("requests are not counted")
    if "passwd" in text or 'route="unknown"' not in text:
        fail("unknown paths have other labels than one")


def test_leaving(server):
    """Clients that reset, hang up and wait for nothing."""
    for _ in range(20):
        own = socket.create_connection(("127.0.0.1", server.port))
        own.sendall(HEAD + length(len(BODY)) + b"\r\n" + BODY)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        own.close()
    halves = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    for own in halves:
        own.sendall(HEAD + length(100) + b"\r\n{")
    server.post("/v1/embeddings", BODY)
    held, deadline = len(os.listdir(f"/proc/{server.process.pid}/fd")), time.monotonic() + 60
    for own in halves:
        own.close()
    while len(os.listdir(f"/proc/{server.process.pid}/fd")) > held - len(halves) and time.monotonic() < deadline:
        server.post("/v1/embeddings", BODY)
    if time.monotonic() >= deadline:
        fail("connections of half requests stay when their clients have left")
    server.post("/v1/embeddings", BODY)


def test_key():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "key")
        with open(path, "w", encoding="ascii") as file:
            file.write("sesame\n")
        server = Server(EMBEDDER, "--api-key-file", path, "--cors", "https://example.org", "--log", "json")
        for headers, status in (({}, 401), ({"Authorization": "Bearer sesam"}, 401), ({"Authorization": "Bearer sesamesesame"}, 401),
                                ({"Authorization": "Basic sesame"}, 401), ({"Authorization": "Bearer sesame"}, 200)):
            found, answered, content = server.ask("POST", "/v1/embeddings", BODY, Origin="https://example.org", **headers)
            if found != status or (status == 401) != (answered["WWW-Authenticate"] == "Bearer"):
                fail(f"{headers}: {found} {content}")
            if answered["Access-Control-Allow-Origin"] != "https://example.org":
                fail(f"--cors: {answered.items()}")
        names = "authorization,content-type,x-stainless-os,x-stainless-lang" # of a page with OpenAI's client
        for asked, allowed in ((names, names), (None, "authorization, content-type"), ("a: b", "authorization, content-type")):
            found, answered, _ = server.ask("OPTIONS", "/v1/embeddings", Origin="https://example.org", Access_Control_Request_Method="POST",
                                            **({"Access_Control_Request_Headers": asked} if asked else {}))
            if found != 204 or answered["Access-Control-Allow-Headers"] != allowed or answered["Access-Control-Allow-Credentials"]:
                fail(f"--cors, {asked}: {found} {answered.items()}")
        if server.ask("GET", "/health")[0] != 200 or server.ask("GET", "/v1/models")[0] != 401 or server.ask("GET", "/none")[0] != 401 or \
                server.ask("GET", "/")[0] != 401:
            fail("the key and the other routes")
        server.stop()
        if "sesame" in server.log() or not all(json.loads(line) for line in server.log().splitlines()):
            fail("the log:", server.log())
        with open(path, "w", encoding="ascii") as file:
            file.write("\n")
        expect("an empty key", run(program, "serve", EMBEDDER, "--api-key-file", path), 2, "empty")
        expect("no key file", run(program, "serve", EMBEDDER, "--api-key-file", path + "x"), 1, "No such file")


def test_command_line(server):
    expect("no model", run(program, "serve"), 2, "expected a model")
    for origin in ("", "https://example.org/", "example.org"):
        expect("an origin", run(program, "serve", EMBEDDER, "--cors", origin), 2, "--cors: expected * or an origin")
    expect("all beside a name", run(program, "serve", EMBEDDER, "--device", "all,0"), 2, "--device: expected all alone")
    expect("a wrong port", run(program, "serve", EMBEDDER, "--port", "70000"), 2, "--port")
    expect("an unknown option", run(program, "serve", EMBEDDER, "--prot", "1"), 2, "did you mean")
    expect("a name twice", run(program, "serve", EMBEDDER, EMBEDDER + "/", "--port", "0"), 2, "distilbert", "NAME=")
    expect("a model that is missing", run(program, "serve", "/nowhere/model", "--port", "0"), 1, "/nowhere/model")
    expect("a port that is taken", run(program, "serve", EMBEDDER, "--port", str(server.port)), 1, str(server.port), "in use")


def test_full_queue():
    """More requests than may wait: some are told so, the others are answered right."""
    server = Server("a=" + EMBEDDER, WRITER, "--max-queue", "2", "--parallel", "1")
    found = []

    def client():
        for _ in range(3):
            status, headers, _ = server.ask("POST", "/v1/completions", {"prompt": "a", "max_tokens": 80, "temperature": 0})
            found.append(status)
            if status == 429 and int(headers["Retry-After"]) < 1:
                fail("429 without Retry-After")

    threads = [threading.Thread(target=client) for _ in range(40)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        server.post("/v1/embeddings", BODY) # the queue of another model is not full
    for thread in threads:
        thread.join()
    if set(found) != {200, 429}:
        fail("statuses with a full queue:", sorted(found))
    server.stop()


def value_of(server, name):
    return float(re.search(rb"^%s (\S+)$" % name.encode(), server.ask("GET", "/metrics")[2], re.M).group(1))


def test_memory():
    """The bodies of all requests have a limit, and so have the JSON values of one. Slow large bodies do not keep out small ones."""
    size, count = 190000, 48
    server = Server(EMBEDDER, "--max-body", "200000")
    body = BODY[:-1] + b" " * (size - len(BODY)) + b"}"
    head = HEAD + CLOSE + length(size) + b"\r\n"
    begun = [server.begin(head + body[:-1]) for _ in range(count)]
    deadline = time.monotonic() + 60
    while (refused := value_of(server, "clformer_queue_refused_total")) == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if not refused:
        fail("all bodies are kept")
    server.post("/v1/embeddings", BODY)
    padding = "a" * (size - 100)
    answer = server.post("/embed", {"inputs": "a", "x": padding}, 429)
    if answer and answer["error_type"] != "overloaded":
        fail(f"429 for TEI's clients: {answer}")
    answer = server.post("/api/embed", {"model": "distilbert", "input": "a", "x": padding}, 429)
    if answer and set(answer) != {"error"}:
        fail(f"429 for Ollama's clients: {answer}")
    answers = [server.end(own, body[-1:]) for own in begun]
    if {answer[:13] for answer in answers} != {b"HTTP/1.1 200 ", b"HTTP/1.1 429 "} or \
            not all(b"\r\nRetry-After: " in answer for answer in answers if answer.startswith(b"HTTP/1.1 429")):
        fail(f"statuses: {sorted(answer[:13] for answer in answers)}")
    server.post("/v1/embeddings", body) # the memory is free again
    for values in (b"{}", b"[]", b'""'):
        many = b'{"input": "a", "x": [' + values + (b"," + values) * 60000 + b"]}"
        answer = server.post("/v1/embeddings", many, 413)
        if answer and "JSON values" not in answer["error"]["message"]:
            fail(f"many values: {answer}")
    ids = json.dumps({"input": [[1, 2, 3, 4] * 8] * 1000}).encode()
    if len(server.post("/v1/embeddings", ids)["data"]) != 1000:
        fail("a body of many token ids")
    server.stop()


def test_end():
    """Requests under way are answered; then the port is free at once."""
    server = Server(WRITER)
    idle = server.connect()
    server.ask("GET", "/health", connection=idle)
    answers = []

    def ask():
        try:
            answers.append(server.ask("POST", "/v1/completions", {"prompt": "a", "max_tokens": 90, "temperature": 0, "stream": True}))
        except (http.client.HTTPException, OSError) as error:
            answers.append((0, None, repr(error).encode()))

    thread = threading.Thread(target=ask)
    thread.start()
    while server.ask("GET", "/metrics")[2].count(b"clformer_requests_running 1\n") == 0 and thread.is_alive():
        time.sleep(0.001)
    status = server.stop()
    thread.join()
    if status != 0 or answers[0][0] != 200 or not answers[0][2].endswith(b"data: [DONE]\n\n"):
        fail(f"the end: {status} {answers[0][2][-200:]} {server.log()[-800:]}")
    again = subprocess.Popen([program, "serve", WRITER, "--port", str(server.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True)
    if "listening" not in again.stdout.readline():
        fail("the port is not free after the end")
    again.send_signal(signal.SIGHUP)
    again.send_signal(signal.SIGINT)
    if again.wait(timeout=60) != 0:
        fail(f"SIGINT: {again.returncode}")
    again.stdout.close()


def test_loading():
    """While models load, /health is 503; SIGTERM ends the server then too."""
    for _ in range(20): # again if the models were loaded, or another process took the port, before the question came
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen([program, "serve", EMBEDDER, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        status = None
        while not status and process.poll() is None:
            try:
                own = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                own.request("GET", "/health")
                status = own.getresponse().status
            except (http.client.HTTPException, OSError):
                pass
            own.close()
        process.send_signal(signal.SIGTERM)
        ended = process.wait(timeout=60)
        if status == 503:
            break
    if status != 503 or ended != 0:
        fail(f"a server that loads: {status}, exit {ended}")


def hold_answer(server):
    """A connection with an answer that is too large for the system's buffers, so that its request is under way until it is read."""
    own = socket.socket()
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    own.settimeout(60)
    own.connect(("127.0.0.1", server.port))
    body = json.dumps({"inputs": "a " * 130000}).encode()
    own.sendall(b"POST /tokenize HTTP/1.1\r\nHost: a\r\n" + CLOSE + length(len(body)) + b"\r\n" + body)
    expect_answer("a large answer", own.recv(100, socket.MSG_WAITALL), 200)
    return own


def end_under_way(server):
    """Sends SIGTERM while requests are under way, and waits until the server has begun to end."""
    server.process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + 60
    while "shutting down" not in server.log() and time.monotonic() < deadline:
        time.sleep(0.001)


def test_draining():
    """While the server ends, new requests are refused and those under way are answered. A second signal ends it at once."""
    server = Server(EMBEDDER)
    own, idle, other = hold_answer(server), server.connect(), server.connect()
    for connection in (idle, other):
        server.ask("GET", "/health", connection=connection)
    end_under_way(server)
    status, headers, answer = server.ask("GET", "/health", connection=idle)
    if status != 503 or headers["Connection"] != "close" or answer["error_type"] != "unhealthy":
        fail(f"/health while the server ends: {status} {answer}")
    status, headers, answer = server.ask("POST", "/v1/embeddings", BODY, other)
    if status != 503 or headers["Retry-After"] != "1" or answer["error"]["code"] != "not_ready":
        fail(f"a request while the server ends: {status} {answer}")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            server.begin(b"").close()
        except ConnectionError:
            break
    else:
        fail("the server that ends accepts connections")
    rest = server.end(own)
    if not rest.endswith(b"]]") or rest.count(b'"id"') < 129990 or server.process.wait(timeout=60) != 0:
        fail(f"an answer while the server ends: {len(rest)} bytes, {rest[-100:]}, {server.process.returncode}")
    server.process.stdout.close()
    server = Server(EMBEDDER)
    own = hold_answer(server)
    end_under_way(server)
    if server.stop() != 128 + signal.SIGTERM:
        fail(f"a second SIGTERM: {server.process.returncode}")
    own.close()


def pause(server):
    """Stops the process for longer than its limit of one second, so that a request is late on a fast machine too."""
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(1.2)
    server.process.send_signal(signal.SIGCONT)


def test_timeout():
    """Requests end when their time is up, with 504, or with an error in a stream that has begun."""
    server = Server(WRITER, "--timeout", "1", "--parallel", "1")
    for part in (HEAD, HEAD + length(100) + b"\r\n{"):
        if server.raw(part):
            fail(f"half a request gets an answer: {part}")
    own, deadline = server.begin(HEAD + length(1 << 20) + b"\r\n"), time.monotonic() + 60
    try: # a client that goes on sending has no more time than others
        while time.monotonic() < deadline:
            own.sendall(b" " * 1000)
            time.sleep(0.1)
        fail("a body may come for longer than --timeout")
    except ConnectionError:
        own.close()
    answers = []
    body = {"prompt": ["a"] * 128, "max_tokens": 90, "temperature": 0}
    thread = threading.Thread(target=lambda: answers.append(server.ask("POST", "/v1/completions", body)))
    thread.start()
    while value_of(server, "clformer_requests_running") == 0 and thread.is_alive():
        time.sleep(0.001)
    pause(server)
    thread.join()
    status, _, answer = answers[0]
    if status != 504 or answer["error"]["code"] != "timeout" or "--timeout" not in answer["error"]["message"]:
        fail(f"a late request: {status} {str(answer)[:300]}")
    body = json.dumps({"prompt": "a", "max_tokens": 90, "temperature": 0, "stream": True}).encode()
    found, is_done, deadline = [], True, time.monotonic() + 120
    while (is_done or not found) and time.monotonic() < deadline: # again if the text was complete before the process stopped
        own, content = server.begin(b"POST /v1/completions HTTP/1.0\r\n" + length(len(body)) + b"\r\n" + body), b""
        while b"data: " not in content and (piece := own.recv(1)):
            content += piece
        pause(server)
        content += server.end(own)
        found, is_done = events(content.partition(b"\r\n\r\n")[2])
    if is_done or not found or found[-1].get("error", {}).get("code") != "timeout" or b"\r\nTransfer-Encoding:" in content:
        fail(f"a late stream: {content[-300:]}")
    deadline = time.monotonic() + 60
    while value_of(server, "clformer_requests_running") and time.monotonic() < deadline:
        time.sleep(0.01)
    if value_of(server, "clformer_requests_running") or value_of(server, "clformer_cancelled_total") < 2:
        fail("late requests run on")
    server.stop()


def seconds_until_closed(own):
    """How long the server keeps a connection over which nothing more is sent."""
    begin = time.monotonic()
    if own.recv(100):
        fail("an idle connection gets an answer")
    own.close()
    return time.monotonic() - begin


def test_idle():
    """Connections without a request are closed after a time, which is one second in this build of the program; those in use are not."""
    server = Server(WRITER, "--parallel", "1", executable=os.environ["CLF_TEST_IMPATIENT"])
    own = server.begin(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
    while not own.recv(1000).endswith(b'{"status":"ok"}'):
        pass
    for name, connection in (("a new", server.begin(b"")), ("a used", own)):
        seconds = seconds_until_closed(connection)
        if seconds > 10:
            fail(f"{name} connection without a request stays open for {seconds:.1f} s")
    if (seconds := seconds_until_closed(server.begin(b""))) < 0.9:
        fail(f"a new connection is closed after {seconds:.1f} s")
    kept = server.connect()
    for _ in range(8):
        time.sleep(0.25)
        server.ask("GET", "/health", connection=kept)
    status, _, answer = server.ask("POST", "/v1/completions", {"prompt": ["a"] * 128, "max_tokens": 90, "temperature": 0}, kept)
    if status != 200 or len(answer["choices"]) != 128:
        fail(f"a connection in use is closed: {status} {str(answer)[:200]}")
    server.stop()


PASS_SOCKET = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
os.execv(sys.argv[2], sys.argv[2:])"""


def test_systemd():
    """The server listens on the socket that it was started with, and tells the service manager when it is ready and when it ends."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as passed, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        passed.bind(("127.0.0.1", 0))
        passed.listen()
        manager.bind(os.path.join(folder, "notify"))
        manager.settimeout(60)
        server = Server(EMBEDDER, prefix=(sys.executable, "-c", PASS_SOCKET, str(passed.fileno())), descriptors=(passed.fileno(),),
                        NOTIFY_SOCKET=os.path.join(folder, "notify"))
        if server.port != passed.getsockname()[1] or manager.recv(100) != b"READY=1":
            fail(f"a socket of systemd: port {server.port}")
        server.post("/v1/embeddings", BODY)
        if server.stop() != 0 or manager.recv(100) != b"STOPPING=1":
            fail("the end under systemd")
        socket.create_connection(passed.getsockname()).close() # the manager still has the socket


main = Server(EMBEDDER, RERANKER)
test_messages(main)
test_bodies(main)
test_routes(main)
test_metrics(main)
test_leaving(main)
test_command_line(main)
if main.stop() != 0:
    fail("the server's end:", main.log()[-500:])
test_key()
test_full_queue()
test_memory()
test_end()
test_loading()
test_draining()
test_timeout()
test_idle()
test_systemd()
finish()
