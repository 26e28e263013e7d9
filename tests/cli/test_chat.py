#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversations: templates and the control tokens in them, what a conversation keeps of what was said, questions that are refused.
usage: test_chat.py PROGRAM DATA"""
import json
import os
import shutil
import subprocess
import tempfile

from language_models import families, run
from runs import fail, finish, program


def chat(folder, questions, *options):
    return subprocess.run([program, "chat", folder, *options], input=questions.encode(), capture_output=True, check=False)


def check_memory_of_chat(folder):
    """The conversation is kept as far as the positions reach, whatever --max-tokens says. Standard error says once where it is not. A
    question that is refused is told, and the conversation goes on as if it had not been."""
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
    if long.returncode or long.stderr.count(b"\n") != 1 or b"96 positions: its oldest messages are dropped" not in long.stderr:
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
    """The variables of a template, and control tokens: those of the template count, those that are typed are text unless --special is
    given. The tiny vocabulary has no signs, so that "</s>" as text is an s."""
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
                 "extra_special_tokens": {"boi_token": "boi"}}
        both = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"
        end = "<|endoftext|>"
        for template, config, question, options, prompt in (
                (equal(bos_token="<s>", eos_token="</s>", unk_token="<u>", sep_token=" cat", cls_token="c", mask_token="m",
                       image_token=" the", audio_token="a", boi_token="boi"), every, "t", (), "sat"),
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
        if b'line 1: the conversation: "c" in a message: the tokenizer reads this text as a control token ' \
                b'(clformer chat --special ' not in refused.stderr:
            fail(f"chat with a control token that is plain text: {refused}")


check_chat()
check_chat_prompts()
finish()
