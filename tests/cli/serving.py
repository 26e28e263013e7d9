# SPDX-License-Identifier: MIT
"""A running server and requests to it, for the tests of `clformer serve`: Python's standard library alone."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

from runs import data, fail, program, skip_without_device

EMBEDDER = os.path.join(data, "families", "distilbert")
RERANKER = os.path.join(data, "classifiers", "bert")
WRITER = os.path.join(data, "generation", "llama")


class Server:
    """The program with these arguments on a port that the system chooses; the standard error is in .log(). prefix: a command that starts
    the program; descriptors: files that it gets; executable: another build of the program."""

    def __init__(self, *arguments, prefix=(), descriptors=(), executable=program, **variables):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([*prefix, executable, "serve", *arguments, "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env={**os.environ, **variables}, pass_fds=descriptors)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"clformer serve: listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not found:
            self.process.wait()
            skip_without_device(subprocess.CompletedProcess([], self.process.returncode, line, self.log()))
            raise SystemExit(f"the server does not start: {line!r} {self.log()}")
        self.port = int(found.group(1))

    def log(self):
        return os.pread(self.errors.fileno(), os.fstat(self.errors.fileno()).st_size, 0).decode()

    def stop(self, number=signal.SIGTERM):
        """Its exit status."""
        self.process.send_signal(number)
        try:
            return self.process.wait(timeout=60)
        finally:
            self.process.stdout.close()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def ask(self, method, path, body=None, connection=None, **headers):
        """Status, headers and content of an answer; JSON where it is."""
        own = connection or self.connect()
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        own.request(method, path, content, headers if content is not None else {**headers, "Content-Type": "text/plain"})
        answer = own.getresponse()
        text = answer.read()
        if not connection:
            own.close()
        if (answer.headers["Content-Type"] or "").startswith("application/json") and text:
            text = json.loads(text)
        return answer.status, answer.headers, text

    def post(self, path, body, status=200, **headers):
        """The content of an answer with this status; None, and a failure, for another one."""
        found, _, content = self.ask("POST", path, body, **headers)
        if found != status:
            fail(f"{path} {json.dumps(body)[:200] if not isinstance(body, bytes) else body[:200]}: {found}, expected {status}: {content}")
            return None
        return content

    def begin(self, sent):
        """A connection over which these bytes were sent."""
        own = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        own.sendall(sent)
        return own

    def end(self, own, sent=b"", half=False):
        """All that comes back when these bytes are sent too, to the end of the connection."""
        with own:
            try:
                own.sendall(sent)
                if half:
                    own.shutdown(socket.SHUT_WR)
                answer = b""
                while piece := own.recv(1 << 16):
                    answer += piece
            except ConnectionError as error:
                fail(f"{sent[:80]}: {error}")
                return b""
            return answer

    def raw(self, sent, half=False):
        """All that comes back for these bytes, to the end of the connection."""
        return self.end(self.begin(b""), sent, half)


def samples(server, begin):
    """The values of the metrics whose names begin so."""
    lines = server.ask("GET", "/metrics")[2].decode().splitlines()
    return [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(begin)]


def overtakes(server, long, shorts):
    """Whether passes for the long request follow the answers to the short ones, which are sent while it runs."""
    passes = "clformer_pass_seconds_count"
    ended = threading.Event()

    def run():
        server.post(*long)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    while samples(server, "clformer_requests_running ") == [0] and not ended.is_set():
        time.sleep(0.001)
    for short in shorts:
        server.post(*short)
    before = samples(server, passes)
    thread.join()
    return samples(server, passes)[0] > before[0] + 1 # a pass is counted after its answers


def expect_overtaking(server, long, *shorts):
    """Short requests, pairs of a path and a body, do not wait for the end of a long one that was begun before them."""
    if not any(overtakes(server, long, shorts) for _ in range(5)):  # the long one may be over when a short one comes
        fail(f"short requests wait for a long one to {long[0]}: {[path for path, _ in shorts]}")


def events(content):
    """The objects of a stream of events, and whether it ends with [DONE]."""
    lines = [line[6:] for line in content.decode().split("\n\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"], bool(lines) and lines[-1] == "[DONE]"
