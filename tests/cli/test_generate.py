#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every family of language models on its tiny model (tests/data/generation): logits, greedy text and perplexity against transformers' in
float64; a batch against single prompts; samplers, stop texts, refusals.
usage: test_generate.py PROGRAM DATA"""
import json
import os
import shutil
import struct
import subprocess
import tempfile

from language_models import CLOSE, read_npy, run
from model_files import change_json, gguf_text, gguf_texts, read_gguf, read_safetensors, write_gguf, write_safetensors
from runs import data, fail, finish, folders, program, worst

families = os.path.join(data, "generation")
BOUND = 2e-4  # of logits up to about 20


def wanted_lines(golden, end):
    """What generate --json prints: a token that ends texts is not told."""
    lines = []
    for text in golden["texts"]:
        tokens = text["tokens"]
        lines.append((tokens[:tokens.index(end)], "stop") if end in tokens else (tokens, "length"))
    return lines


def check_logits(name, model, golden, prompts, output, *options, bound=BOUND):
    run("logits", model, "--file", prompts, "-o", output, *options)
    rows = read_npy(output)
    if len(rows) != len(golden["texts"]):
        fail(f"{name}: {len(rows)} rows of logits")
    for text, row in zip(golden["texts"], rows):
        error = worst(abs(a - b) for a, b in zip(row, text["logits"]))
        if len(row) != len(text["logits"]) or not error <= bound:
            fail(f'{name}: "{text["text"]}": logits differ by {error:.3g}')


def check_texts(name, model, golden, prompts, is_single_too):
    """All prompts as one batch; then each alone."""
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
    if "/dev/null: holds no text" not in empty.stderr:
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
    """Logits and greedy text of every family, in both forms; the rest where it differs: f16, untied heads that end texts, soft caps and
    windows."""
    model = os.path.join(families, name)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    prompts, output, long = (os.path.join(folder, name + end) for end in (".jsonl", ".npy", ".txt"))
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(text["text"]) + "\n" for text in golden["texts"])
    gguf = os.path.join(model, "model.gguf")
    main = model if os.path.exists(os.path.join(model, "config.json")) else gguf
    check_logits(name, main, golden, prompts, output)
    check_texts(name, main, golden, prompts, name in ("llama_untied", "gemma2"))
    if main != gguf and os.path.exists(gguf):
        check_foreign(name, gguf, golden, prompts, output)
    if name == "llama":
        for form in (model, os.path.join(model, "model.gguf")):
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


def check_text_part():
    """Gemma 3 as it comes with a part for pictures: text_config, which lacks usual values, and names with a prefix of their own."""
    source = os.path.join(families, "gemma3")
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(source, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    with open(os.path.join(source, "model.safetensors"), "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header, body = json.loads(file.read(size)), file.read()
    outer = {"model_type": "gemma3", "vision_config": {"hidden_size": 8}, "eos_token_id": config.pop("eos_token_id")}
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(source, "tokenizer.json"), os.path.join(folder, "tokenizer.json"))
        prompts, output = (os.path.join(folder, name) for name in ("p.jsonl", "o.npy"))
        with open(prompts, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text["text"]) + "\n" for text in golden["texts"])
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**outer, "text_config": config}, file)
        for prefix in ("language_model.model.", "model.language_model."):
            renamed = json.dumps({key.replace("model.", prefix, 1): value for key, value in header.items()}).encode()
            with open(os.path.join(folder, "model.safetensors"), "wb") as file:
                file.write(len(renamed).to_bytes(8, "little") + renamed + body)
            check_logits(f"gemma3 {prefix}", folder, golden, prompts, output)
        del config["num_attention_heads"]  # 8, which the weights are not made for
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
            json.dump({**outer, "text_config": config}, file)
        done = run("logits", folder, "a", "-o", output, status=1)
        if "q_proj.weight: expected [48,24], found [24,24]" not in done.stderr:
            fail(f"text_config: {done.stderr}")


def chat(folder, questions, *options):
    return subprocess.run([program, "chat", folder, *options], input=questions.encode(), capture_output=True, check=False)


def check_memory_of_chat(folder):
    """What was said stays where the positions reach, whatever --max-tokens says; else it is told once that it does not. A question that is
    refused is told, and the conversation goes on as if it had not been."""
    plain = chat(folder, "abc\nabc\nabc\n", "--max-tokens", "5")
    for options in ((), ("--max-tokens", "100")):
        first, second, *_ = chat(folder, "abc\nabc\nabc\n", *options).stdout.splitlines()
        if first == second:
            fail(f"chat {options}: the second answer is the first: {first}")
    if plain.returncode or plain.stderr or len(plain.stdout.splitlines()) != 3:
        fail(f"chat: {plain}")
    returns = chat(folder, "abc\r\n\r\nabc\r\nabc", "--max-tokens", "5")
    if returns.stdout != plain.stdout:
        fail(f"chat of lines that end in CRLF: {returns}, expected {plain.stdout}")
    long = chat(folder, (" the cat" * 10 + "\n") * 8, "--max-tokens", "5")
    if long.returncode or long.stderr.count(b"\n") != 1 or b"96 positions: what was said first is forgotten" not in long.stderr:
        fail(f"chat: {long}")
    refused = chat(folder, "abc\nabc\n" + "x" * 97 + "\nabc\n", "--max-tokens", "5")
    if refused.returncode != 1 or refused.stdout != plain.stdout or \
            refused.stderr != b"clformer: standard input: line 3: the conversation: 98 tokens, the model has 96 positions\n":
        fail(f"chat with a question too long: {refused}, expected {plain.stdout}")
    with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{{ messages[-1].content if messages[-1].content != 'nothing' }}")
    nothing = chat(folder, "abc\nnothing\nabc\n", "--max-tokens", "5")
    if nothing.returncode != 1 or len(nothing.stdout.splitlines()) != 2 or b"line 2: the conversation: no tokens" not in nothing.stderr:
        fail(f"chat with nothing to answer: {nothing}")


def check_chat():
    """Two questions; the tiny model's files have no template of their own."""
    source = os.path.join(families, "llama")
    done = run("chat", source, status=1)
    if "no chat template" not in done.stderr:
        fail(f"chat: {done.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "model")
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        for value, found in ((7, "integer 7"), ([{"name": "tool_use", "template": "a"}], "array"), ({"default": "a"}, "object")):
            with open(os.path.join(copy, "tokenizer_config.json"), "w", encoding="utf-8") as file:
                json.dump({"chat_template": value}, file)
            done = run("chat", copy, status=1)
            if "tokenizer_config.json: chat_template: expected" not in done.stderr or found not in done.stderr:
                fail(f"chat_template {value}: {done.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        for entry in ("config.json", "model.safetensors", "tokenizer.json"):
            os.symlink(os.path.join(source, entry), os.path.join(folder, entry))
        with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as file:
            file.write("{% for message in messages %}{{ message.content }}{{ '!' if message.role == 'user' else '.' }}{% endfor %}")
        options = ["--max-tokens", "6"]
        told = subprocess.run([program, "chat", folder, "--system", " the", *options], input=" cat\n\n sat\n", capture_output=True,
                              text=True, check=False)
        first = run("generate", source, " the. cat!", *options).stdout
        second = run("generate", source, f" the. cat!{first[:-1]}. sat!", *options).stdout
        if told.returncode != 0 or told.stdout != first + second:
            fail(f"chat: {told.returncode} {told.stdout!r}, expected {first + second!r}: {told.stderr}")
        check_memory_of_chat(folder)


def check_chat_prompts():
    """What a template sees, and control tokens: those of the template count, those that are typed are text unless --special is given. The
    tiny vocabulary has no signs, so that "</s>" as text is an s."""
    source = os.path.join(families, "llama")
    with tempfile.TemporaryDirectory() as folder:

        def ask(template, question, config, *options, status=0):
            with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as file:
                file.write(template)
            with open(os.path.join(folder, "tokenizer_config.json"), "w", encoding="utf-8") as file:
                json.dump(config, file)
            done = chat(folder, question + "\n", "--max-tokens", "6", *options)
            if done.returncode != status:
                fail(f"chat {template}: {done}")
            return done

        def continued(prompt):
            return run("generate", source, prompt, "--no-special-tokens", "--max-tokens", "6").stdout.encode()

        for entry in ("config.json", "model.safetensors", "tokenizer.json"):
            os.symlink(os.path.join(source, entry), os.path.join(folder, entry))
        def equal(**wanted):
            """A template that prints a word if its variables are these, and no others with such a name."""
            names = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "image_token",
                     "audio_token", "boi_token", "add_bos_token", "not_a_name"]
            same = " and ".join(f"{name} == {wanted[name]!r}" if name in wanted else f"{name} is undefined" for name in names)
            rest = "tools is none and documents is none and tools is defined and documents is defined and add_generation_prompt is true"
            return "{{ 'sat' if " + same + " and " + rest + " else 'the' }}"

        named = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
        every = {**named, "unk_token": "<u>", "pad_token": None, "sep_token": " cat", "cls_token": "c", "mask_token": "m",
                 "image_token": " the", "audio_token": {"__type": "AddedToken", "content": "a"}, "add_bos_token": False, "not_a_name": "x",
                 "extra_special_tokens": {"boi_token": "sat"}}
        both = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
        end = "<|endoftext|>"
        for template, config, question, options, prompt in (
                (equal(bos_token="<s>", eos_token="</s>", unk_token="<u>", sep_token=" cat", cls_token="c", mask_token="m",
                       image_token=" the", audio_token="a", boi_token="sat"), every, "t", (), "sat"),
                (equal(unk_token=end, bos_token=end), {"tokenizer_class": "GPT2Tokenizer", "eos_token": None}, "t", (), "sat"),
                (equal(unk_token=end, eos_token=end, pad_token="<p>"), {"tokenizer_class": "Qwen2TokenizerFast", "pad_token": "<p>"}, "t",
                 (), "sat"),
                (equal(), {"tokenizer_class": "PreTrainedTokenizerFast"}, "t", (), "sat"),
                (both, named, "the</s>cat<s>", (), "<s>thescats</s>"),
                (both, named, "the</s>cat<s>", ("--special",), "<s>the</s>cat<s></s>"),
                (both, named, "the<s\U000f0000>cat\U000f0001", (), "<s>thescat</s>"),
                (both, named, "cat", ("--system", "</s>the"), "<s>sthe</s>cat</s>"),
                (both, named, "cat", ("--system", "</s>the", "--special"), "<s></s>the</s>cat</s>"),
                ("{{ messages[0].content.split('s')|join('t') }}{{ eos_token }}", named, "a</s>b<s>c", (), "atbtc</s>"),
                ("<s>{{ messages[0].content }} sat{{ ' the' }}", {**named, "chat_control_tokens": []}, "a</s>b", (), "<s>asb sat the")):
            told = ask(template, question, config, *options)
            if told.stdout != continued(prompt) or told.stderr:
                fail(f"chat {template} {config} {question!r} {options}: {told}, expected {continued(prompt)}")
        refused = ask(both, "the cat", {**named, "unk_token": "c"}, status=1)
        if b'line 1: the conversation: "c" in a message: the tokenizer makes this control token of plain text too' not in refused.stderr:
            fail(f"chat with a control token that is plain text: {refused}")


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
            if f"clformer: {path}: line 2: half a surrogate pair" not in refused.stderr:
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


def check_unread_keys(folder):
    """Keys that nothing reads are listed by info, of directories and of files; those of the tiny models are all read, or known."""
    passed_over = {"gemma3": ["attn_logit_softcapping"]}  # by transformers too
    for name in ("llama", "gemma", "gemma3", "phi3", "qwen3", "gpt2"):
        keys = json.loads(run("info", "--json", os.path.join(families, name)).stdout)["unread_keys"]
        if keys != passed_over.get(name, []):
            fail(f"info: {name}: {keys}")
    changed, file = os.path.join(folder, "keys"), os.path.join(folder, "keys.gguf")
    shutil.copytree(os.path.join(families, "llama"), changed, copy_function=shutil.copyfile)
    change_json(os.path.join(changed, "config.json"),
                lambda config: config.update(logit_scale=0.5, residual_multiplier=2, attention_bias=True))
    values, tensors = read_gguf(os.path.join(families, "qwen2", "model.gguf"))
    write_gguf(file, {**values, "qwen2.attention.sliding_window_pattern": struct.pack("<II", 4, 2), "qwen2.more": gguf_text("x")}, tensors)
    for path, wanted in ((changed, ["logit_scale", "residual_multiplier"]),
                         (file, ["qwen2.attention.sliding_window_pattern", "qwen2.more"])):
        keys = json.loads(run("info", "--json", path).stdout)["unread_keys"]
        if keys != wanted:
            fail(f"info: {path}: {keys}")
    write_gguf(file, {**values, "qwen2.attention.causal": struct.pack("<IB", 7, 0)}, tensors)
    done = run("generate", file, "a", status=1)
    if "qwen2.attention.causal is 0" not in done.stderr:
        fail(f"attention.causal: {done.stderr}")


def check_token_texts(folder):
    """A token that ends a turn by its text ends a text; a file that does not say how it cuts texts is told once."""
    values, tensors = read_gguf(os.path.join(families, "llama", "model.gguf"))
    file, plain = os.path.join(folder, "ends.gguf"), {**values, "tokenizer.ggml.merges": gguf_texts([])}
    raw, at, texts = values["tokenizer.ggml.tokens"], 16, []
    while at < len(raw):
        length = struct.unpack_from("<Q", raw, at)[0]
        texts.append(raw[at + 8:at + 8 + length].decode())
        at += 8 + length
    write_gguf(file, plain, tensors)
    prompt = json.loads(run("tokenize", file, "a").stdout)
    before = json.loads(run("generate", file, "a", "--max-tokens", "9", "--json").stdout)["tokens"]
    token = next((one for one in before if one not in prompt), None)
    if len(before) != 9 or token is None:
        fail(f"ends: {before}, prompt {prompt}")
        return
    for text in ("<|im_end|>", "<|end|>", "<end_of_turn>", "<|endoftext|>"):
        renamed = [text if i == token else one for i, one in enumerate(texts)]
        write_gguf(file, {**plain, "tokenizer.ggml.tokens": gguf_texts(renamed)}, tensors)
        found = json.loads(run("generate", file, "a", "--max-tokens", "9", "--json").stdout)
        if found["tokens"] != before[:before.index(token)] or found["finish"] != "stop":
            fail(f"ends: {text}: {found}, expected {before} up to {token}")
        if json.loads(run("info", "--json", file).stdout)["end_tokens"] != ["</s>", text]:
            fail(f"ends: info does not list {text}")
    note = "no tokenizer.ggml.pre: texts are cut as"
    write_gguf(file, {key: value for key, value in values.items() if key != "tokenizer.ggml.pre"}, tensors)
    for args in (["tokenize", file, "a", "b"], ["generate", file, "a", "--max-tokens", "1"], ["info", file]):
        if run(*args).stderr.count(note) != 1 or note in run(args[0], os.path.join(families, "llama", "model.gguf"), *args[2:]).stderr:
            fail(f"{args[0]}: not told once that texts are cut as by default")


def check_other_networks(folder):
    """Tensors that no part of the network takes are refused by name, in both forms and in a conversion; known ones are passed over."""
    source, changed = os.path.join(families, "llama"), os.path.join(folder, "changed")
    weights, file = os.path.join(changed, "model.safetensors"), os.path.join(folder, "changed.gguf")
    shutil.copytree(source, changed, copy_function=shutil.copyfile)
    tensors, vector = read_safetensors(weights), ("F16", [4], bytes(8))
    table = tensors["model.embed_tokens.weight"]
    wanted = run("generate", source, "the cat", "--max-tokens", "4").stdout
    for name, is_taken in (("model.layers.0.self_attn.q_norm.weight", False), ("model.layers.2.mlp.up_proj.weight", False),
                           ("model.norm.bias", False), ("model.more", False), ("model.layers.0.self_attn.rotary_emb.inv_freq", True),
                           ("lm_head.weight", True)):
        write_safetensors(weights, {**tensors, name: table if "head" in name else vector})
        done = run("generate", changed, "the cat", "--max-tokens", "4", status=0 if is_taken else 1)
        if done.stdout != (wanted if is_taken else "") or (not is_taken and f'{name}: a network of model_type "llama"' not in done.stderr):
            fail(f"{name}: {done.stdout} {done.stderr}")
        done = run("convert", changed, os.path.join(folder, "unwritten.gguf"), "--weights", "f32", status=0 if is_taken else 1)
        if not is_taken and name.removeprefix("model.") not in done.stderr:
            fail(f"convert: {name}: {done.stderr}")
    values, tensors = read_gguf(os.path.join(source, "model.gguf"))
    for name in ("blk.0.attn_q_norm.weight", "blk.1.post_attention_norm.weight", "blk.0.attn_sinks.weight", "output_norm.bias",
                 "blk.2.ffn_up.weight"):
        write_gguf(file, values, {**tensors, name: ((4,), 0, bytes(16))})
        done = run("generate", file, "the cat", status=1)
        if f"{name}: a network" not in done.stderr:
            fail(f"{name}: {done.stderr}")


def turned(tensor):
    """A table with its rows in the opposite order."""
    dtype, (rows, columns), content = tensor
    size = len(content) // rows
    return dtype, [rows, columns], b"".join(content[i * size:(i + 1) * size] for i in reversed(range(rows)))


def check_tied(folder):
    """A head that is stored counts where its bits are not those of the table, whatever tie_word_embeddings says; convert writes it."""
    for name, table in (("llama", "model.embed_tokens.weight"), ("gpt2", "transformer.wte.weight"),
                        ("gemma2", "model.embed_tokens.weight")):
        source, copy = os.path.join(families, name), os.path.join(folder, "tied_" + name)
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        weights, output, file = (os.path.join(copy, part) for part in ("model.safetensors", "out.npy", "out.gguf"))
        tensors = read_safetensors(weights)

        def logits(model, more, tied=True, without=()):
            write_safetensors(weights, {key: value for key, value in {**tensors, **more}.items() if key not in without})
            change_json(os.path.join(copy, "config.json"), lambda config: config.update(tie_word_embeddings=tied))
            run("logits", model, "the cat sat", "-o", output)
            return read_npy(output)

        head, plain = {"lm_head.weight": turned(tensors[table])}, logits(copy, {})
        untied = logits(copy, head, tied=False)
        if plain == untied or logits(copy, head) != untied:
            fail(f"{name}: a stored head that differs is not the generator's")
        run("convert", copy, file, "--weights", "f32")
        run("logits", file, "the cat sat", "-o", output)
        error = worst(abs(a - b) for a, b in zip(read_npy(output)[0], untied[0])) / max(map(abs, untied[0]))
        if "output.weight" not in read_gguf(file)[1] or not error <= BOUND:
            fail(f"{name}: convert: the head is another one, by {error:.3g}")
        if logits(copy, {"lm_head.weight": tensors[table]}) != plain:
            fail(f"{name}: a copy of the table is not the table")
        run("convert", copy, file, "--weights", "f32")
        if "output.weight" in read_gguf(file)[1]:
            fail(f"{name}: convert: a copy of the table is written")
        if name != "gpt2" and logits(copy, {"lm_head.weight": tensors[table]}, without=(table,)) != plain:
            fail(f"{name}: a head alone is not the table")


def check_options():
    """What does not depend on the family."""
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


def check_plan():
    """The memory plan of a file of all kinds of blocks."""
    done = run("info", "--json", os.path.join(families, "llama_blocks", "model.gguf"))
    info = json.loads(done.stdout)
    kinds = set(info["quantised"])
    if not {"q8_0", "q4_0", "q4_1", "q6_k"} <= {kind.lower() for kind in kinds} or set(info["quantised"].values()) - {"bundles", "blocks"}:
        fail(f"info: quantised {info['quantised']}")
    heads = json.loads(run("info", "--json", os.path.join(families, "llama")).stdout)
    if heads["token_bytes"] != 2 * 2 * 2 * 4 * 4 or heads["context_fits"] != 96 or not 0 < info["weight_bytes"] <= info["file_bytes"]:
        fail(f"info: plan {heads} {info}")
    halves = json.loads(run("info", "--json", os.path.join(families, "llama"), "--cache", "f16", "--weights", "f16").stdout)
    if 2 * halves["token_bytes"] != heads["token_bytes"] or (heads["weights"], halves["weights"]) != ("stored", "f16"):
        fail(f"info: plan of halves {halves}")


def check_told():
    """What a file says of itself, and the plan of a model that no device has room for."""
    wanted = {"name": "tiny qwen2", "file_type": "f16", "chat_template": "yes", "end_tokens": ["</s>"]}
    told = json.loads(run("info", "--json", os.path.join(families, "qwen2", "model.gguf")).stdout)
    hub = json.loads(run("info", "--json", os.path.join(families, "qwen2")).stdout)
    if {key: told.get(key) for key in wanted} != wanted or hub["chat_template"] != "no" or hub["end_tokens"] != ["</s>"] or \
            "does_not_fit" in told:
        fail(f"info: {told} {hub}")
    values, tensors = read_gguf(os.path.join(families, "qwen2", "model.gguf"))
    rows = 2 ** 31 - 1
    tensors["output.weight"] = tensors.pop("output.weight")  # the last, whose numbers are a hole in the file
    tensors["output.weight"] = ((24, rows), 0, b"")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "huge.gguf")
        write_gguf(path, values, tensors)
        os.truncate(path, os.path.getsize(path) + 24 * 4 * rows)
        told = json.loads(run("info", "--json", path).stdout)
        if told["weight_bytes"] <= told["memory_bytes"] or told["family"] != "qwen2" or told["context_fits"] != 0 or \
                "model: the weights take" not in told["does_not_fit"]:
            fail(f"info: huge: {told}")
        if "does_not_fit " not in run("info", path).stdout:
            fail("info: huge, as text")
        done = run("generate", path, "a", status=1)
        if told["does_not_fit"] not in done.stderr:
            fail(f"generate: huge: {done.stderr}")


is_whole = not os.environ.get("CLF_TEST_NUMBERS")  # else what depends on the device alone, where another runs the rest
with tempfile.TemporaryDirectory() as temporary:
    names = folders(families)
    if "llama" not in names:
        fail(f"families: {names}")
    for entry in names:
        check(entry, temporary)
    if is_whole:
        check_texts_told(temporary)
        check_unread_keys(temporary)
        check_token_texts(temporary)
        check_other_networks(temporary)
        check_tied(temporary)
if is_whole:
    check_plan()
    check_told()
    check_options()
    check_text_part()
    check_chat()
    check_chat_prompts()
    check_text_files()
check_graph()
finish()
