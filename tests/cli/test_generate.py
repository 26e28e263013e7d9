#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every family of language models on its tiny model (tests/data/generation): logits, greedy text and perplexity against transformers' in
float64; a batch against single prompts; samplers, stop texts, refusals.
usage: test_generate.py PROGRAM DATA"""
import json
import os
import subprocess
import tempfile

from language_models import CLOSE, check_logits, families, run
from runs import data, fail, finish, folders, is_whole, program

# Families whose steps of one token are tested where numbers alone are: blocks, windows, soft caps, norms of heads, learned positions. The
# others differ from these in scales of rotations, names and bias.
STEPS = ("llama_blocks", "mistral", "gemma2", "gemma3", "qwen3", "gpt2")


def wanted_lines(golden, end):
    """The output of generate --json: a token that ends texts is not printed."""
    lines = []
    for text in golden["texts"]:
        tokens = text["tokens"]
        lines.append((tokens[:tokens.index(end)], "stop") if end in tokens else (tokens, "length"))
    return lines


def check_texts(name, model, golden, prompts, is_single_too):
    """All prompts as one batch; then each alone, where that is asked for."""
    count = len(golden["texts"][0]["tokens"])
    done = run("generate", model, "--prompt-file", prompts, "--max-tokens", str(count), "--json")
    lines, wanted = [json.loads(line) for line in done.stdout.splitlines()], wanted_lines(golden, 1)
    if len(lines) != len(wanted):
        fail(f"{name}: {len(lines)} lines")
    for text, line, (tokens, finish) in zip(golden["texts"], lines, wanted):
        if text["distance"] >= CLOSE and (line["tokens"] != tokens or line["finish"] != finish):
            fail(f'{name}: "{text["text"]}": {line}, expected {tokens}, {finish}')
    for text, line in zip(golden["texts"], lines) if is_single_too else ():
        single = json.loads(run("generate", model, text["text"], "--max-tokens", str(count), "--json").stdout)
        if single != line:
            fail(f'{name}: "{text["text"]}" alone: {single}, in a batch {line}')


def check_perplexity(name, model, golden, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(golden["long"])
    told = json.loads(run("perplexity", model, "--file", path, "--window", str(golden["window"]), "--json").stdout)["perplexity"]
    if not abs(told / golden["perplexity"] - 1) <= 1e-5:
        fail(f"{name}: perplexity {told}, expected {golden['perplexity']}")
    if not is_whole:
        return
    with open(path, "rb") as file:
        piped = subprocess.run([program, "perplexity", model, "--file", "-", "--window", str(golden["window"]), "--json"], stdin=file,
                               capture_output=True, check=False).stdout
    if json.loads(piped)["perplexity"] != told:
        fail(f"{name}: perplexity of standard input: {piped}")
    window = json.loads(run("perplexity", model, "--file", path, "--json").stdout)["window"]  # at most the model's positions
    if not 1 < window <= 512:
        fail(f"{name}: a window of {window}")
    for content, words in ((b"\xff", "a text of 0 tokens: expected two or more"), (b"a", "a text of 1 token: expected two or more")):
        with open(path, "wb") as file:
            file.write(content)
        refused = run("perplexity", model, "--file", path, status=1).stderr
        if not refused.startswith(f"clformer: {path}: ") or words not in refused:
            fail(f"{name}: perplexity of {content}: {refused}")
    empty = run("perplexity", model, "--file", "/dev/null", status=1)
    if "/dev/null: expected a text, found an empty file" not in empty.stderr:
        fail(f"{name}: perplexity of nothing: {empty.stderr}")


def check_foreign(name, model, golden, prompts, output):
    """The family's file of another writer (make_gguf.py)."""
    known = golden
    if name == "mistral":  # its converter leaves out the window: a text within it
        known = {"texts": [text for text in golden["texts"] if len(text["ids"]) <= 7]}
        prompts += ".short"
        with open(prompts, "w", encoding="utf-8") as file:
            file.writelines(text["text"] + "\n" for text in known["texts"])
    check_logits(name + " as GGUF", model, known, prompts, output)


def check(name, folder):
    """Logits and greedy text of every family in both forms. Where numbers alone are tested, one form of each and texts of some. The rest
    where it differs: f16, untied heads that end texts, soft caps and windows."""
    model = os.path.join(families, name)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    prompts, output, long = (os.path.join(folder, name + end) for end in (".jsonl", ".npy", ".txt"))
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text["text"]) + "\n" for text in golden["texts"])
    gguf = os.path.join(model, "model.gguf")
    main = model if os.path.exists(os.path.join(model, "config.json")) else gguf
    check_logits(name, main, golden, prompts, output)
    if is_whole or name in STEPS:
        check_texts(name, main, golden, prompts, is_whole and name in ("llama_untied", "gemma2"))
    if is_whole and main != gguf and os.path.exists(gguf):
        check_foreign(name, gguf, golden, prompts, output)
    if name == "llama":
        for form in (model, os.path.join(model, "model.gguf")) if is_whole else ():
            ids = [json.loads(line) for line in run("tokenize", form, "--file", prompts).stdout.splitlines()]
            if ids != [text["ids"] for text in golden["texts"]]:
                fail(f"{form}: tokens {ids}")
        check_logits("llama, keys and values as f16", model, golden, prompts, output, "--cache", "f16", bound=2e-2)
    if name in ("llama", "gemma3"):
        check_perplexity(name, model, golden, long)


def check_texts_told(folder):
    """A text that is refused is told by its number from 1, or by its line in a file, whatever window it is in."""
    source, path = os.path.join(families, "llama"), os.path.join(folder, "refused.txt")
    positions, output = 96, os.path.join(folder, "refused.npy")
    for number, bad, words in ((1, "", "no tokens"), (3, "", "no tokens"), (2, " the cat" * positions, " tokens, the model has ")):
        lines = [bad if i == number else " the cat" for i in range(1, 4)]
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
        of_file = f"{path}: line {number}: "
        for done, where in ((run("generate", source, "--prompt-file", path, "--max-tokens", "1", status=1), of_file),
                            (run("logits", source, "--file", path, "-o", output, status=1), of_file),
                            (run("logits", source, *lines, "-o", output, status=2), f"clformer: text {number}: ")):
            if where not in done.stderr or words not in done.stderr or "[" in done.stderr:
                fail(f"{bad[:9]!r} as {number}: {done.stderr}")


def check_text_files():
    """Texts as people have them: byte order marks, other encodings, bytes that are not UTF-8, Python's JSON, prompts that are refused."""
    model = os.path.join(families, "gpt2")
    with tempfile.TemporaryDirectory() as directory:

        def tokens(content, name="f.txt", status=0):
            path = os.path.join(directory, name)
            with open(path, "wb") as file:
                file.write(content)
            return path, run("tokenize", model, "--file", path, status=status)

        plain = tokens(b"the cat\nsat\n")[1]
        rows = b'{"text": "the cat", "x": NaN, "y": [-Infinity, 1e999], "z": "\\ud800"}\n{"text": "no", "text": "sat"}\n'
        for content, name in ((b"\xef\xbb\xbfthe cat\nsat\n", "f.txt"), (rows, "f.jsonl"), (b"\xef\xbb\xbf" + rows, "f.jsonl")):
            same = tokens(content, name)[1]
            if (same.stdout, same.stderr) != (plain.stdout, ""):
                fail(f"{content}: {same}, expected {plain.stdout}")
        for row in (b'"the \\ud800cat"', b'{"text": "\\udc00"}', b'"\\ud83d\\ud83d\\ude00"'):
            path, refused = tokens(b'"\\ud83d\\ude00 \xef\xbf\xbd"\n' + row + b"\n", "half.jsonl", status=1)
            if f"clformer: {path}: line 2: half of a surrogate pair" not in refused.stderr:
                fail(f"{row}: {refused}")
        if tokens(b"\xef\xbb\xbf")[1].stdout:
            fail("a mark alone is a text")
        for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
            for name in ("f.txt", "f.jsonl"):
                path, refused = tokens('"the cat"\n'.encode(encoding), name, status=1)
                wanted = f"clformer: {path}: {encoding[:6].upper()}"
                if not refused.stderr.startswith(wanted) or "iconv -f UTF-" not in refused.stderr or refused.stdout:
                    fail(f"{encoding}: {refused}")
        broken = b"the\n\xff cat \x93\nsat\n\xe9\n"
        path, told = tokens(broken)
        if f"clformer: {path}: line 2 and 1 more are not UTF-8" not in told.stderr or told.stderr.count("\n") != 1:
            fail(f"ill-formed lines: {told.stderr}")
        if told.stdout != tokens(broken.decode("utf-8", "replace").encode())[1].stdout:
            fail(f"ill-formed lines: {told.stdout}")
        run("perplexity", model, "--file", tokens(b"\xef\xbb\xbfthe cat sat")[0])
        if run("perplexity", model, "--file", tokens(b"\xef\xbb\xbfthe cat sat")[0]).stdout != \
                run("perplexity", model, "--file", tokens(b"the cat sat")[0]).stdout:
            fail("perplexity of a text with a byte order mark")

        prompts = tokens(b"the cat\n\nsat\n" + b" the" * 4000 + b"\n\nthe\n")[0]
        long = f"clformer: {prompts}: line"
        good = tokens(b"the cat\nsat\nthe\n", "good.txt")[0]
        for batch in ("1", "2", "16"):
            options = ("--max-tokens", "4", "--batch", batch)
            wanted = run("generate", model, "--prompt-file", good, *options, "--json").stdout.splitlines()
            done = run("generate", model, "--prompt-file", prompts, *options, "--json", status=1)
            lines = done.stdout.splitlines()
            if [line for i, line in enumerate(lines) if i in (0, 2, 5)] != wanted or len(lines) != 6 or \
                    any(json.loads(lines[i]) != {"tokens": [], "text": "", "finish": "refused"} for i in (1, 3, 4)):
                fail(f"prompts that are refused: {done}, expected {wanted}")
            said = done.stderr.splitlines()
            if [line[:len(long) + 2] for line in said] != [f"{long} {i}" for i in (2, 4, 5)] or "positions" not in said[1] or \
                    "no tokens" not in said[0]:
                fail(f"prompts that are refused: {said}")
        text = run("generate", model, "--prompt-file", prompts, "--max-tokens", "4", status=1).stdout
        if text.splitlines()[1] != "" or run("generate", model, "", status=2).stdout:
            fail(f"prompts that are refused: {text!r}")
        nothing = run("generate", model, "--prompt-file", tokens(b"\n\n\n")[0], status=1)
        if nothing.stdout != "\n\n\n" or nothing.stderr.count("no tokens") != 3:
            fail(f"prompts that are all refused: {nothing}")


def check_options():
    """Tests that do not depend on the family."""
    model, prompts = os.path.join(families, "llama"), [" the cat", "a", "zebra quick, the dog", "cat", " the"]
    greedy = json.loads(run("generate", model, prompts[0], "--max-tokens", "9", "--json").stdout)
    text = run("generate", model, prompts[0], "--max-tokens", "9").stdout
    if text != greedy["text"] + "\n" or len(greedy["tokens"]) != 9 or greedy["finish"] != "length":
        fail(f"options: {text!r}, {greedy}")
    stop = greedy["text"][3:5]
    cut = json.loads(run("generate", model, prompts[0], "--max-tokens", "9", "--json", "--stop", stop).stdout)
    if cut["finish"] != "stop" or cut["text"] != greedy["text"][:greedy["text"].index(stop)]:
        fail(f"options: stop {stop!r}: {cut}, of {greedy}")
    chance = ["--temperature", "1.5", "--top-k", "30", "--top-p", "0.95", "--min-p", "0.001", "--repeat-penalty", "1.1",
              "--max-tokens", "12", "--json"]
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "prompts.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(prompt + "\n" for prompt in prompts))
        for seed in ("1", "2"):
            batch = run("generate", model, "--prompt-file", path, "--seed", seed, "--batch", "3", *chance).stdout.splitlines()
            single = [run("generate", model, prompt, "--seed", seed, *chance).stdout.strip() for prompt in prompts]
            if len(batch) != len(prompts) or batch != single:
                fail(f"options: seed {seed}: batch {batch}, single {single}")
            seen.add(batch[0])
    if len(seen) < 2:
        fail(f"options: two seeds, one text: {seen}")
    first = json.loads(run("generate", model, prompts[0], "--temperature", "0.7", "--top-k", "1", "--max-tokens", "9", "--json").stdout)
    if first != greedy:
        fail(f"options: top-k 1: {first}, expected {greedy}")
    for one in (["--top-p", "0"], ["--top-p", "1e-30"], ["--min-p", "1"], ["--top-k", "1", "--top-p", "0"]):
        found = json.loads(run("generate", model, prompts[0], "--temperature", "5", *one, "--max-tokens", "9", "--json").stdout)
        if found != greedy:
            fail(f"options: {one}: {found}, expected {greedy}")
    for name, values in (("--top-p", ("1.5", "-0.1", "nan", "inf")), ("--min-p", ("1.5", "-0.1", "nan")), ("--top-k", ("-1", "x")),
                         ("--temperature", ("-1", "nan", "inf")), ("--repeat-penalty", ("-1", "nan", "inf"))):
        for value in values:
            if name not in run("generate", model, "a", name, value, status=2).stderr:
                fail(f"options: {name} {value}: no message")
    for args in ([], ["a", "--prompt-file", "x"], ["a", "--max-tokens", "0"], [""],
                 ["the " * 97], ["a", "--stop", ""]):
        run("generate", model, *args, status=2)
    for command in (["logits", model, "a"], ["perplexity", model], ["perplexity", model, "--file", __file__, "--window", "1"]):
        run(*command, status=2)
    done = run("generate", model, "once", "upon", "a", "time", status=2)
    if "one prompt (in quotation marks)" not in done.stderr or "found 5 arguments; usage: clformer generate" not in done.stderr:
        fail(f"options: a prompt without quotation marks: {done.stderr}")
    done = run("generate", os.path.join(data, "families", "distilbert"), "a", status=1)
    if "does not generate" not in done.stderr:
        fail(f"options: distilbert: {done.stderr}")
    done = run("embed", model, "a", status=1)
    if "no encoder" not in done.stderr:
        fail(f"options: embed: {done.stderr}")


def check_graph():
    """A step's kernels as one launch, on CPUs that can, and one by one: the same text, and where --stats tells of a launch graph it is in
    the first alone. Blocks of all kinds and soft caps, so that most kernels of steps are parts of one."""
    for name in ("llama_blocks", "gemma2"):
        folder = os.path.join(families, name)
        model = os.path.join(folder, "model.gguf") if name == "llama_blocks" else folder
        done = []
        for use in ("1", "0"):
            os.environ["CLF_GRAPH"] = use
            done.append(run("generate", model, "the cat", "--max-tokens", "9", "--temperature", "1", "--stats"))
            del os.environ["CLF_GRAPH"]
        if done[0].stdout != done[1].stdout or not done[0].stdout.strip():
            fail(f"{name}: as a graph {done[0].stdout!r}, one by one {done[1].stdout!r}")
        if "kernel          launch_graph " in done[1].stderr:
            fail(f"{name}: a launch graph although CLF_GRAPH is 0: {done[1].stderr}")
        print(f"{name}: steps as one launch {'ran' if 'kernel          launch_graph ' in done[0].stderr else 'did not run on this device'}")


with tempfile.TemporaryDirectory() as temporary:
    names = folders(families)
    if not {"llama", *STEPS} <= set(names):
        fail(f"families: {names}")
    for entry in names:
        check(entry, temporary)
    if is_whole:
        check_texts_told(temporary)
if is_whole:
    check_options()
    check_text_files()
    check_graph()  # model.decode_batch and runtime.launch_graph test graphs on every device
finish()
