#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what a person at a terminal sees: progress, its end, interruptions, lines cut to the width.
usage: test_terminal.py PROGRAM DATA"""
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from model_files import write_gguf
from runs import data, fail, finish, program, skip_without_device

model = os.environ.get("CLF_MODEL_DIR") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                                                          "clformer", "models", "all-MiniLM-L6-v2")


def next_bytes(lead, child):
    """The bytes that the terminal got since the last call: b"" if there are none yet, None once the child has ended and everything was
    read. The caller keeps the other end open: a terminal that all writers have closed may lose what nobody has read yet."""
    ended = child.poll() is not None
    if select.select([lead], [], [], 0.2)[0]:
        return os.read(lead, 65536)
    return None if ended else b""


def on_terminal(*args, columns=80, interrupt_at=None, stdout=None, env=None, limit=300):
    """Runs it with a terminal as standard error, and as standard output unless `stdout` is a file. Returns status and the bytes
    the terminal got."""
    lead, follow = pty.openpty()
    fcntl.ioctl(follow, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=stdout or follow, stderr=follow,
                             env={**os.environ, **(env or {})})
    got, end = b"", time.monotonic() + limit
    while time.monotonic() < end:
        chunk = next_bytes(lead, child)
        if chunk is None:
            break
        got += chunk
        if interrupt_at and re.search(interrupt_at, got):
            interrupt_at = None
            child.send_signal(signal.SIGINT)
    else:
        child.kill()
        fail(args, "no end within", limit, "s")
    os.close(follow)
    os.close(lead)
    return child.wait(), got.replace(b"\r\n", b"\n")


def screen(got):
    """The lines a terminal shows in the end: carriage returns and "clear to the end of the line" done."""
    lines = []
    for line in got.decode("utf-8", "replace").split("\n"):
        shown = ""
        for part in re.split("\r", line):
            at = part.rfind("\x1b[K")
            if at >= 0:
                shown, part = "", part[at + 3:]
            shown = part + shown[len(part):]
        lines.append(shown)
    return lines


def many_words(folder, count):
    path = os.path.join(folder, "words.txt")
    letters = "aeioubdfgklmnprst"
    with open(path, "w", encoding="ascii") as file:
        for i in range(count):
            file.write("".join(letters[(i // 17 ** k + k) % 17] for k in range(6)) + "\n")
    return path


def help_fits():
    """Help is in lines of the terminal's width, of 80 columns where there is none; a name that is wide stands above its text."""
    def wide(text, columns):
        """Lines that a break would have made shorter: quotations are one word."""
        return [line for line in text.split("\n") if len(line) > columns and
                len(re.sub(r'"[^"]*"', "quoted", line).removesuffix("\\").split()) > 1]

    for args in (["--help"], ["embed", "--help"], ["search", "--help"], ["op", "--list"], ["op", "mha", "--help"]):
        piped = subprocess.run([program, *args], capture_output=True, text=True, check=False).stdout
        if wide(piped.partition("\nexamples:\n")[0], 80):
            fail(args, "in a pipe: lines of more than 80 columns", wide(piped, 80))
        if any(re.match(r"  (-.,|   ) --\S+ \S+ \S", line[:33]) for line in piped.split("\n")):
            fail(args, "in a pipe: a text that begins too early")
        for columns in (20, 40, 60, 84, 160):
            status, got = on_terminal(*args, columns=columns)
            told = got.decode()
            if status or told.replace(" \\\n", "\n").split() != piped.split():
                fail(args, "on a terminal: status", status, "and other words")
            if wide(told, columns):
                fail(args, "on a terminal of", columns, "columns: ", wide(told, columns))
    piped, told = (on_terminal("embed", "--help", columns=columns)[1].count(b"\n") for columns in (60, 160))
    if piped <= told:
        fail("embed --help has as many lines on narrow terminals:", piped, told)


def progress(folder, unit, *args):
    """The command is interrupted while its line is shown."""
    out = os.path.join(folder, "out.txt")
    with open(out, "wb") as file:
        status, got = on_terminal(*args, "--file", many_words(folder, 200000), stdout=file, interrupt_at=rb"% .* left")
    if status != -signal.SIGINT:
        fail(args, "interrupted: status", status)
    if not re.search(rb"\[#*\.*\] \d+ %%  \d+/~\d+ %s, [\d.]+/s, (\d+ h )?(\d+ min )?(\d+ s )?left" % unit.encode(), got):
        fail(args, "no share and time left in", got[-300:])
    lines = [line for line in screen(got) if line]
    if len(lines) > 1 or (lines and not re.fullmatch(rf"clformer: interrupted; \d+ {unit} were printed", lines[0])):
        fail(args, "after the interruption the terminal shows", lines)
    if any(len(part) > 79 + len("\x1b[K") for part in re.split("[\r\n]", got.decode())):
        fail("a line wider than the terminal")
    with open(out, encoding="ascii") as file:
        whole = file.read()
    if whole and not whole.endswith("\n"):
        fail("half a line was printed")
    if lines and whole.count("\n") != int(re.search(r"\d+", lines[0]).group()):
        fail("said", lines[0], "printed", whole.count("\n"))


def nothing_for_short_work():
    for args in (("pronounce", "hello"), ("op", "--list")):
        on_terminal(*args)  # kernels are in the cache now
        start = time.monotonic()
        status, got = on_terminal(*args)
        seconds = time.monotonic() - start
        has_bar = b"\x1b" in got or b"\r" in got.replace(b"\r\n", b"\n")
        if has_bar and seconds >= 1:
            print(args, f"took {seconds:.1f} s: not short on this machine now")
        if status or has_bar and seconds < 1:
            fail(args, "status", status, "terminal got", got[:200])


def compiling(folder):
    status, got = on_terminal("pronounce", "hello", env={"CLF_CACHE_DIR": os.path.join(folder, "cache"),
                                                         "POCL_CACHE_DIR": os.path.join(folder, "pocl")})
    if status or not any(line.startswith("hello\tHH") for line in screen(got)):  # drivers may print, too
        fail("first start: status", status, screen(got))
    if b"left" not in got and b"/s" in got:
        fail("a rate while kernels compile", got)
    return b"compiling kernels for this device, once (" in got


def bench(folder):
    result = os.path.join(folder, "r.json")
    status, got = on_terminal("bench", "--suite", "ops", "--filter", "softmax", "--quick", "-o", result, columns=160,
                              interrupt_at=rb"(verifying|measuring) \d+ of \d+, about .* left: \S.*softmax")
    text = got.decode()
    if status != 130 or not re.search(r"^\d+ workloads; ", text):
        fail("bench: status", status, text[:200])
    if not re.search(r"(verifying|measuring) \d+ of \d+, about .* left: \S*softmax", text):
        fail("bench: no name or estimate in", text[:400])
    wanted = "the result file holds what was measured" if os.path.exists(result) else "nothing was measured, and no result file was written"
    if f"clformer: bench: interrupted; {wanted}" not in screen(got):
        fail("bench interrupted:", screen(got)[-3:])
    if os.path.exists(result):
        with open(result, encoding="utf-8") as file:
            if json.load(file)["complete"] is not False:
                fail("bench: an interrupted file that is complete")


def embeddings(folder):
    corpus, out = os.path.join(folder, "corpus.txt"), os.path.join(folder, "never.npy")
    long = "a sentence about the weather in spring that goes on and on until it is wider than any terminal " * 2
    with open(corpus, "wb") as file:
        file.write(long.encode() + b"\n" + "天気".encode() * 30 + b"\nshort\nescape \x1b[31m and \xe2\x80\xae turned\n")
    for columns in (40, 100):
        status, got = on_terminal("search", model, "--corpus", corpus, "--top", "4", "weather", columns=columns)
        lines = screen(got)
        wide = [line for line in lines if len(line) + sum(c > "\u2e80" for c in line) > columns]
        if status or len([line for line in lines if line]) != 5 or wide or not any(line.endswith("\u2026") for line in lines):
            fail("search in", columns, "columns: status", status, lines)
        if b"\x1b[31m" in got or "\u202e" in got.decode():
            fail("search prints escape or direction characters")
    status, got = on_terminal("search", model, "--corpus", corpus, "--top", "4", "--full", "weather", columns=40)
    if status or long.strip() not in got.decode():
        fail("search --full cuts lines", status)
    status, got = on_terminal("similarity", model, "one text", long, columns=60)
    lines = screen(got)
    if status or not lines[0].endswith("  one text") or not lines[1].endswith("\u2026") or len(lines[1]) > 60:
        fail("similarity's rows have no names:", status, lines)
    many = os.path.join(folder, "many.txt")
    with open(many, "w", encoding="ascii") as file:
        file.writelines(f"line {i} " + "word " * 200 + "\n" for i in range(20000))
    status, got = on_terminal("embed", model, "--file", many, "-o", out, interrupt_at=rb"left")
    if status != -signal.SIGINT or [line for line in screen(got) if line] != [f"clformer: interrupted; nothing was written to {out}"]:
        fail("embed interrupted: status", status, screen(got))
    if any("never" in name for name in os.listdir(folder)):
        fail("embed interrupted left", os.listdir(folder))


def talkative(folder, name="talkative"):
    """The tiny language model with room for answers of minutes."""
    path, source = os.path.join(folder, name), os.path.join(data, "generation", "llama")
    os.mkdir(path)
    for entry in ("model.safetensors", "tokenizer.json"):
        os.symlink(os.path.join(os.path.abspath(source), entry), os.path.join(path, entry))
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump({**config, "max_position_embeddings": 200000, "eos_token_id": None}, file)
    with open(os.path.join(path, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{% for message in messages %}{{ message.content }}{{ '!' if message.role == 'user' else '.' }}{% endfor %}")
    return path


def at_prompt(command, steps, limit=120, env=None, echo=False):
    """Runs it with a terminal as its standard streams; each step waits for a pattern behind what was seen so far, then types or interrupts.
    Returns status and what the terminal got."""
    lead, follow = pty.openpty()
    attributes = termios.tcgetattr(follow)
    if not echo:
        attributes[3] &= ~termios.ECHO
    termios.tcsetattr(follow, termios.TCSANOW, attributes)
    child = subprocess.Popen([program, *command], stdin=follow, stdout=follow, stderr=follow, env={**os.environ, **(env or {})})
    got, seen, waiting, end = b"", 0, list(steps), time.monotonic() + limit
    while time.monotonic() < end:
        chunk = next_bytes(lead, child)
        if chunk is None:
            break
        got += chunk
        if waiting and re.search(waiting[0][0], got[seen:]):
            seen, action = len(got), waiting.pop(0)[1]
            if isinstance(action, bytes):
                os.write(lead, action)
            else:
                child.send_signal(action)
    else:
        child.kill()
        fail(command, "no end within", limit, "s, waiting for", waiting[:1], got[-200:])
    os.close(follow)
    os.close(lead)
    if waiting:
        fail(command, "ended before", waiting)
    return child.wait(), got.replace(b"\r\n", b"\n")


def first_words_stay(folder):
    """Kernels that are compiled while an answer is printed leave its first words on the screen."""
    path, compiling_seen = talkative(folder, "unhurried"), False

    def cold(name):
        return {f"{cache}_CACHE_DIR": os.path.join(folder, f"{cache}-{name}") for cache in ("CLF", "POCL")}

    limit = ["--max-tokens", "24"]
    for name, command, typed in (("generate", ["generate", path, " cat", *limit], None), ("chat", ["chat", path, *limit], b" cat\n")):
        piped = subprocess.run([program, *command], input=typed, capture_output=True, check=False).stdout.decode().rstrip("\n")
        if typed:
            status, got = at_prompt(command, [(rb"> $", typed), (rb"\n> $", b"\x04")], limit=300, env=cold(name), echo=True)
            shown, wanted = screen(got.replace(b"^D\b\b", b"")), [">  cat", piped, "> ", ""]
        else:
            status, got = on_terminal(*command, env=cold(name))
            shown, wanted = screen(got), [piped, ""]
        compiling_seen = compiling_seen or b"compiling kernels" in got
        if status or shown != wanted:
            fail(name, "with cold kernels: status", status, "the screen shows", shown, "expected", wanted)
    if not compiling_seen:
        print("kernels of a language model compile in less than a second here")


def interrupted_texts(folder):
    """Ctrl-C ends an answer of chat and leaves the conversation; at its prompt, and within a text of generate, it ends the program. The
    terminal's next line begins at its left side."""
    path, many = talkative(folder), ["--max-tokens", "100000"]
    status, got = at_prompt(["chat", path, *many], [(rb"^> $", b" cat\n"), (rb"[a-z]{3}", signal.SIGINT), (rb"\n> $", b" sat\n"),
                                                    (rb"[a-z]{3}", signal.SIGINT), (rb"\n> $", signal.SIGINT)])
    lines = got.decode().split("\n")
    if status != -signal.SIGINT or len(lines) != 4 or lines[3] or any(len(line) < 5 or line[:2] != "> " for line in lines[:2]) or \
            lines[2] != "> ":
        fail("chat interrupted: status", status, [line[:60] for line in lines])
    status, got = at_prompt(["chat", path, "--max-tokens", "5"], [(rb"^> $", b" cat\n"), (rb"\n> $", b"\x04")])
    if status or not got.endswith(b"\n> \n"):
        fail("chat ended: status", status, got)
    status, got = at_prompt(["generate", path, " cat", *many], [(rb"[a-z]{3}", signal.SIGINT)])
    if status != -signal.SIGINT or not got.endswith(b"\n") or got.count(b"\n") != 1:
        fail("generate interrupted: status", status, got[-60:])
    prompts = os.path.join(folder, "talkative.txt")
    with open(prompts, "w", encoding="ascii") as file:
        file.write(" cat\n" * 200)
    status, got = at_prompt(["generate", path, "--prompt-file", prompts, *many, "--json"], [(rb" tokens", signal.SIGINT)])
    lines = [json.loads(line[line.index("{"):]) for line in got.decode().split("\n") if "{" in line]
    begun = [line for line in lines if line["finish"] == "interrupted"]
    if status != -signal.SIGINT or not begun or not all(line["tokens"] for line in lines):
        fail("generate --json interrupted: status", status, len(lines), len(begun), got[-200:])
    if f"{len(lines) - len(begun)} texts were printed, and the beginnings of {len(begun)} more".encode() not in got:
        fail("generate --json interrupted:", len(lines), len(begun), "lines, said", got[-200:])
    os.remove(prompts)


def interrupted_work(folder):
    """Long work shows its share and the time left; where Ctrl-C ends it, the line is gone and what is kept is said."""
    left = rb"\[#*\.*\] \d+ %  \dDIGITS/~\d+ UNIT, [\d.]+/s, (\d+ h )?(\d+ min )?(\d+ s )?left"
    decoder, encoder = os.path.join(data, "generation", "llama"), os.path.join(data, "families", "distilbert")
    scorer, translator = os.path.join(data, "classifiers", "bert"), os.path.join(data, "translation", "t5")
    many, large, out = (os.path.join(folder, name) for name in ("cats.txt", "large.gguf", "kept.out"))
    with open(many, "w", encoding="ascii") as file:
        file.writelines(f"the cat {i} sat on a mat\n" for i in range(100000))
    write_gguf(large, {}, {"a": ((1 << 20, 1 << 12), 0, b"")})
    os.truncate(large, os.path.getsize(large) + (1 << 34))  # sparse
    printed_texts = r"(\d+) texts? w\w+ printed(?:, and the beginnings of (\d+) more)?"
    for args, unit, told, stdout in (
            (["perplexity", decoder, "--window", "64", "--file", many], b"tokens",
             "nothing was printed: perplexity needs the whole text", None),
            (["logits", decoder, "--file", many, "-o", out], b"texts", f"nothing was written to {out}", None),
            (["convert", large, out, "--weights", "q4_0"], b"million weights", f"nothing was written to {out}", None),
            (["generate", decoder, "--prompt-file", many, "--max-tokens", "4"], b"tokens", printed_texts, "lines"),
            (["translate", translator, "--file", many, "--json"], b"tokens", printed_texts, "lines"),
            (["rerank", scorer, "a cat", "--file", many], b"texts", "nothing was printed: the order needs the scores of all texts", None),
            (["search", encoder, "--no-keep", "--corpus", many, "a cat"], b"texts", "no hits were printed, and no embeddings were kept",
             None),
            (["search", encoder, "--corpus", many, "--index", os.path.join(folder, "kept"), "a cat"], b"texts",
             r"no hits were printed; \d+ new embeddings are kept: the same search continues", None)):
        before, printed = sorted(os.listdir(folder)), os.path.join(folder, "printed.txt")
        digits = b"{5,}" if "--index" in args else b"+"  # the first 4,096 texts are kept by then
        with open(printed, "wb") as file:
            status, got = on_terminal(*args, columns=200, stdout=file if stdout else None,
                                      interrupt_at=left.replace(b"DIGITS", digits).replace(b"UNIT", unit))
        lines = [line for line in screen(got) if line]
        match = re.fullmatch("clformer: interrupted; " + told, lines[0]) if len(lines) == 1 else None
        if status != -signal.SIGINT or not match:
            fail(args, "interrupted: status", status, lines[-4:], got[-200:])
        with open(printed, "rb") as file:
            count = file.read().count(b"\n")
        if stdout and match and count - sum(int(number) for number in match.groups("0")) not in (0, 1):  # one may have begun since
            fail(args, "said", lines, "printed", count)
        os.remove(printed)
        shutil.rmtree(os.path.join(folder, "kept"), ignore_errors=True)
        if sorted(os.listdir(folder)) != before:
            fail(args, "left", sorted(set(os.listdir(folder)) - set(before)))
    os.remove(large)


def selftest_compiles(folder):
    """Its line while kernels compile is gone after Ctrl-C, and lines of the log do not stand behind it."""
    caches = {"CLF_CACHE_DIR": os.path.join(folder, "cache-of-selftest"), "POCL_CACHE_DIR": os.path.join(folder, "pocl-of-selftest"),
              "CLF_LOG": "debug"}
    status, got = on_terminal("selftest", env=caches, interrupt_at=rb"compiling kernels for this device, once \(program \d+\)(?s:.*\n){4}")
    lines = screen(got)[1:]
    odd = [line for line in lines if line and not re.match("  |clformer: ", line) or "compiling" in line]
    if status != -signal.SIGINT or odd or b"compiling" not in got or not any(line.startswith("clformer: ") for line in lines):
        fail("selftest interrupted while kernels compile: status", status, odd, got[-300:])


def foreign_text(folder):
    """Names and texts of models that would drive a terminal don't, in whatever command; a pipe gets their bytes."""
    driving, shown = "\x1b]0;t\x07\x9b31m\u202eq\x7f\t\u00e4", " ]0;t  31m q \t\u00e4"
    decoder, labels = os.path.join(folder, "decoder"), os.path.join(folder, "labels")
    shutil.copytree(os.path.join(data, "generation", "llama"), decoder)
    shutil.copytree(os.path.join(data, "classifiers", "bert"), labels)
    path = os.path.join(decoder, "tokenizer.json")
    with open(path, encoding="utf-8") as file:
        tokenizer = json.load(file)
    tokenizer["added_tokens"].append({"id": len(tokenizer["model"]["vocab"]), "content": driving, "special": False, "normalized": False,
                                      "single_word": False, "lstrip": False, "rstrip": False})
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tokenizer, file)
    path = os.path.join(labels, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    count = len(config.get("id2label", {0: 0, 1: 1}))
    config["id2label"] = {str(i): f"{driving}{i}" for i in range(count)}
    config["label2id"] = {f"{driving}{i}": i for i in range(count)}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file)
    for args in (("detokenize", decoder, str(len(tokenizer["model"]["vocab"]))), ("classify", labels, "the cat"), ("info", labels)):
        status, got = on_terminal(*args)
        text = got.decode().replace("\r\x1b[K", "")
        has_text = shown in text or shown.replace("\t", " ") in text
        if status or not has_text or not set(text) & {chr(i) for i in range(32) if i not in (9, 10)} <= {"\r"}:
            fail(args, "on a terminal: status", status, got[-300:])
        piped = subprocess.run([program, *args], capture_output=True, check=False).stdout
        if args[0] == "detokenize" and piped != f"{driving}\n".encode():
            fail(args, "a pipe got other bytes")
    for args in (("embed", os.path.join(folder, driving), "x"), ("embed", "--" + driving), (driving,)):
        status, got = on_terminal(*args)
        if not status or b"\x1b" in got or b"\xc2\x9b" in got or "\u202e".encode() in got:
            fail(args[0], "with a name that drives a terminal: status", status, got)


first = subprocess.run([program, "pronounce", "hello"], capture_output=True, text=True, check=False)
skip_without_device(first)
with tempfile.TemporaryDirectory() as directory:
    help_fits()
    foreign_text(directory)
    progress(directory, "words", "pronounce")
    progress(directory, "texts", "classify", os.path.join(data, "classifiers", "bert"))
    nothing_for_short_work()
    if not compiling(directory):
        print("kernels compile in less than a second here")
    bench(directory)
    first_words_stay(directory)
    interrupted_texts(directory)
    interrupted_work(directory)
    selftest_compiles(directory)
    if os.path.isdir(model):
        embeddings(directory)
finish()
