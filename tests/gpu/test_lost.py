#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands on a GPU that is lost in the middle of their work: they open it again and print what they print on one that is not lost. After a
second loss in a row they end with status 1, a message, and what they had printed before.
usage: test_lost.py PROGRAM DATA SHIM SEQUENCES KILL_SHIM DEVICE LOSSES
SEQUENCES: the program of lost_sequences.c. KILL_SHIM: the library of tests/cli/kill_shim.c.
LOSSES: at how many calls of each command the device is lost, a run for each; 0: at every call."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from runs import worst
from shown import pocl_alone

program, data, shim, sequences, kill_shim, device, losses = sys.argv[1:]
data = os.path.abspath(data)
LOSSES = int(losses)
WINDOW = 4096  # texts that a command reads at once (CLI_WINDOW)
# Answers of drivers to calls on a lost device, although a wait may end well.
LOSSES_TOLD = {"CL_DEVICE_NOT_AVAILABLE": -2, "CL_INVALID_COMMAND_QUEUE": -36, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST": -14}
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def shown(lose, **more):
    """The variables of a program that sees the GPU and loses it."""
    environment = dict(os.environ, CLF_TEST_GPU=device, LD_PRELOAD=shim, OCL_ICD_VENDORS=vendors, CLF_NO_TUNED="1", CLF_TEST_GPU_LOSE=lose,
                       CLF_TEST_GPU_BUDGET_MS="100",  # and no launch may take more than twice that
                       CLF_TEST_GPU_CALLS=os.path.join(work, "calls"),
                       CLF_CACHE_DIR=os.environ.get("CLF_CACHE_DIR") or os.path.join(work, "cache"), **more)
    environment.pop("CLF_DEVICE", None)
    return environment


def run(arguments, lose="", stdin="", binary=program, **more):
    calls = os.path.join(work, "calls")
    if os.path.exists(calls):
        os.remove(calls)
    environment = shown(lose, **more)
    done = subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=False, input=stdin)
    count = 0
    if os.path.exists(calls):
        with open(calls, encoding="utf-8") as file:
            count = int(file.read())
    return done, count


def commands():
    """Arguments, standard input, and the file that is written."""
    families, heads = os.path.join(data, "families"), os.path.join(data, "classifiers")
    encoder, llama = os.path.join(families, "distilbert"), os.path.join(data, "generation", "llama")
    model, cross = ["--pooling", "mean", encoder], os.path.join(heads, "bert")
    texts, chat, out = os.path.join(work, "texts"), os.path.join(work, "chat"), os.path.join(work, "out.npy")
    os.mkdir(chat)
    for name in os.listdir(llama):
        os.symlink(os.path.join(llama, name), os.path.join(chat, name))
    with open(os.path.join(chat, "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{% for m in messages %}{{ m.content }} {% endfor %}")
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in ("red", "the cat sat", "a fox", "blue and green"))
    verified, words, picture = os.path.join(work, "verified.npy"), os.path.join(work, "words"), os.path.join(work, "picture.svg")
    with open(words, "w", encoding="utf-8") as file:
        file.write("cat\nfoxes\na\n")
    if run(["embed", *model, "--file", texts, "-o", verified])[0].returncode != 0:
        fail("no embeddings for verify")
    matrix = os.path.join(data, "npy", "f4_c.npy")
    greedy = ["--max-tokens", "6", "--temperature", "0"]
    return [
        (["embed", *model, "--file", texts, "--window", "2", "--batch-tokens", "8", "--format", "text"], "", ""),
        (["embed", *model, "--file", texts, "--window", "2", "-o", out], "", out),
        (["search", *model, "--corpus", texts, "--no-keep", "--rerank", cross, "--json", "cat"], "", ""),
        (["similarity", *model, "red", "blue"], "", ""),
        (["rerank", cross, "the cat", "--file", texts], "", ""),
        (["classify", os.path.join(heads, "camembert"), "the cat sat", "a man"], "", ""),
        (["generate", llama, "--prompt-file", texts, "--batch", "2", *greedy, "--json"], "", ""),
        (["generate", llama, "ab", "--max-tokens", "6", "--temperature", "0.8", "--top-k", "5", "--seed", "7"], "", ""),
        (["chat", chat, "--max-tokens", "3", "--temperature", "0"], "the cat\nsat\n", ""),
        (["translate", os.path.join(data, "translation", "marian"), "--file", texts, *greedy[:2]], "", ""),
        (["einsum", "...,...->...", matrix, matrix, "-o", out], "", out),
        (["op", "softmax", matrix, "-o", out], "", out),
        (["logits", llama, "ab", "cd", "-o", out], "", out),
        (["perplexity", llama, "--file", texts, "--window", "4"], "", ""),
        (["verify", verified, "--model", encoder], "", ""),
        (["attention", encoder, "the cat sat", "--layer", "1", "--json"], "", ""),
        (["attention", "g2p", "fox", "--kind", "cross", "--npy", out], "", out),
        (["pronounce", "--file", words, "--beam", "2", "--batch-words", "2"], "", ""),
        (["pronounce", "fox", "--attention", picture], "", picture),
    ]


def result(done, path):
    """The output of a run, which is a file or standard output; the file is removed."""
    if not path or not os.path.exists(path):
        return done.stdout
    with open(path, "rb") as file:
        content = file.read()
    for name in (path, path + ".json", path + ".part"):
        if os.path.exists(name):
            os.remove(name)
    return content


def places(count):
    """Calls to lose the device at: spread over all, the first and the last among them."""
    if LOSSES == 0 or LOSSES >= count:
        return range(1, count + 1)
    return sorted({1 + i * (count - 1) // (LOSSES - 1) for i in range(LOSSES)})


def check(arguments, stdin, path):
    title = " ".join(arguments[:1] + arguments[-2:])
    done, count = run(arguments, stdin=stdin)
    if done.returncode != 0 or count == 0:
        return fail(f"{title}: status {done.returncode}, {count} calls: {done.stderr}")
    done, count = run(arguments, stdin=stdin)  # nothing is compiled now
    wanted = result(done, path)
    told = 0
    for call in places(count):
        done, _ = run(arguments, str(call), stdin)
        told += "device lost: " in done.stderr
        if done.returncode != 0 or result(done, path) != wanted:
            fail(f"{title}: lost at call {call} of {count}: status {done.returncode}: {done.stdout} {done.stderr}")
    if not told:
        fail(f"{title}: no loss was told")
    for name, code in LOSSES_TOLD.items():
        done, _ = run(arguments, str(count // 2), stdin, CLF_TEST_GPU_LOSS=str(code))
        if done.returncode != 0 or result(done, path) != wanted or f"{name} ({code})" not in done.stderr:
            fail(f"{title}: {name} from call {count // 2} of {count}: status {done.returncode}: {done.stdout} {done.stderr}")
    done, _ = run(arguments, f"{count // 2 + 1}-", stdin)
    if done.returncode != 1 or "device lost: " not in done.stderr or "CL_OUT_OF_RESOURCES" not in done.stderr.splitlines()[-1]:
        fail(f"{title}: lost for good: status {done.returncode}: {done.stderr}")
    print(f"{title}: {count} calls, {told} losses told")


def check_kept():
    """Windows that were done before a second loss are printed, and a run with --resume goes on from those that were kept."""
    texts, out = os.path.join(work, "texts"), os.path.join(work, "kept.npy")
    arguments = ["embed", "--pooling", "mean", os.path.join(data, "families", "distilbert"), "--file", texts, "--window", "1"]
    whole, count = run([*arguments, "--format", "text"])
    done, _ = run([*arguments, "--format", "text"], f"{count * 3 // 4}-")
    lines = done.stdout.splitlines()
    if done.returncode != 1 or not lines or len(lines) == 4 or lines != whole.stdout.splitlines()[:len(lines)]:
        fail(f"windows before a second loss: {len(lines)} of 4: {done.stderr}")
    done, count = run([*arguments, "-o", out])
    wanted = result(done, out)
    done, _ = run([*arguments, "-o", out], f"{count * 3 // 4}-")
    if done.returncode != 1 or not os.path.exists(out + ".part"):
        fail(f"windows kept: status {done.returncode}: {done.stderr}")
    done, rest = run([*arguments, "-o", out, "--resume"])
    if done.returncode != 0 or rest >= count or result(done, out) != wanted:
        fail(f"--resume after a loss: status {done.returncode}, {rest} calls of {count}: {done.stderr}")


def warm_calls(arguments):
    """The number of calls of a command that compiles nothing, because it ran before."""
    run(arguments)
    return run(arguments)[1]


def is_beginning(part, whole):
    """Whether a line of JSON is an unfinished text."""
    if not part.startswith("{"):
        return False
    part, whole = json.loads(part), json.loads(whole)
    return part["finish"] == "interrupted" and part["tokens"] == whole["tokens"][:len(part["tokens"])]


def check_printed(arguments, least, most):
    """The device is lost for good at three quarters of all calls. Each line belongs to its text: `least` to `most` texts are whole, and
    others begin as without a loss."""
    lines = run(arguments)[0].stdout.splitlines()
    done, _ = run(arguments, f"{warm_calls(arguments) * 3 // 4}-")
    printed = done.stdout.splitlines()
    same = sum(a == b for a, b in zip(printed, lines))
    is_begun = all(a == b or b.startswith(a) or is_beginning(a, b) for a, b in zip(printed, lines))
    if done.returncode != 1 or not least <= same <= most or not is_begun or len(printed) > len(lines):
        fail(f"{arguments[:2]}, lost for good: status {done.returncode}, {same} of {len(lines)} texts: {printed} {done.stderr}")
    print(f"{arguments[0]}: {same} of {len(lines)} texts are kept, {len(printed) - same} more lines")


def check_outputs_kept():
    """Each command prints what it had done before a second loss in a row. rerank prints an order, which needs all scores."""
    heads, llama = os.path.join(data, "classifiers"), os.path.join(data, "generation", "llama")
    many, prompts = os.path.join(work, "many"), os.path.join(work, "prompts")
    with open(many, "w", encoding="utf-8") as file:  # three windows
        file.writelines("cat sat\n" if i % 2 else "a fox\n" for i in range(3 * WINDOW))
    check_printed(["classify", os.path.join(heads, "camembert"), "--file", many], WINDOW, 2 * WINDOW)
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(f"{text}\n" for text in ("ab cd ef", "a", "b", "c", "ab", "cd", "ac", "bd"))
    for more in ([], ["--json"]):
        greedy = ["--max-tokens", "12", "--temperature", "0"]
        check_printed(["generate", llama, "--prompt-file", prompts, "--batch", "2", *greedy, *more], 1, 7)
        for beams in ("1", "2"):
            check_printed(["translate", os.path.join(data, "translation", "marian"), "--file", prompts, "--max-tokens", "6", "--batch", "2",
                           "--beams", beams, *more], 1, 7)
    arguments = ["rerank", os.path.join(heads, "bert"), "the cat", "--file", prompts]
    done, _ = run(arguments, f"{warm_calls(arguments) * 3 // 4}-")
    if done.returncode != 1 or done.stdout:
        fail(f"rerank, lost for good: status {done.returncode}: {done.stdout} {done.stderr}")


def check_later_text_kept():
    """A text that was finished before the first one of its batch is kept too."""
    prompts = os.path.join(work, "two prompts")
    with open(prompts, "w", encoding="utf-8") as file:
        file.write("ab\nthe cat sat on the mat and the cat ran\n")  # the second prompt leaves fewer positions
    arguments = ["generate", os.path.join(data, "generation", "llama"), "--prompt-file", prompts, "--max-tokens", "1000", "--temperature",
                 "0", "--json"]
    whole, _ = run(arguments)
    lengths = [len(json.loads(line)["tokens"]) for line in whole.stdout.splitlines()]
    if len(lengths) != 2 or lengths[1] >= lengths[0]:
        return fail(f"the second text is not the first to end: {lengths}: {whole.stderr}")
    done, _ = run(arguments, f"{warm_calls(arguments) * 9 // 10}-")
    first, second = map(json.loads, (done.stdout.splitlines() + ["{}", "{}"])[:2])
    if done.returncode != 1 or first.get("finish") != "interrupted" or second != json.loads(whole.stdout.splitlines()[1]):
        fail(f"a later text: status {done.returncode}: {done.stdout} {done.stderr}")


def check_index_kept():
    """Windows that were embedded before a second loss are in the index, even if it was not yet time to write them: the first writing takes
    a second, because the process is stopped in it."""
    corpus, place = os.path.join(work, "corpus"), os.path.join(work, "index")
    model, calls = ["--pooling", "mean", os.path.join(data, "families", "distilbert")], []
    arguments = ["search", *model, "--corpus", corpus, "--index", place, "cat"]
    for windows in (2, 3):
        with open(corpus, "w", encoding="utf-8") as file:
            file.writelines(f"{i:x}\n" for i in range(windows * WINDOW))
        calls.append(warm_calls(["embed", *model, "--file", corpus, "-o", os.path.join(work, "windows.npy")]))
    os.mkdir(place)
    whole = run(arguments)[0].stdout
    shutil.rmtree(place)
    os.mkdir(place)
    # In the third window. Before it search also embeds the query, which takes as many calls as a window.
    lose = f"{calls[1] + (calls[1] - calls[0]) // 2}-"
    environment = shown(lose, CLF_TEST_KILL="fdatasync:1", CLF_TEST_KILL_SIGNAL=str(int(signal.SIGSTOP)))
    environment["LD_PRELOAD"] = f"{kill_shim}:{shim}"
    with subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as slow:
        os.waitid(os.P_PID, slow.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        time.sleep(1)
        slow.send_signal(signal.SIGCONT)
        printed, error = slow.communicate()
    if slow.returncode != 1 or printed or f"{2 * WINDOW} new embeddings are kept" not in error:
        fail(f"an index, lost for good: status {slow.returncode}: {printed} {error}")
    done, _ = run([*arguments, "--stats"])
    texts = re.search(r"\((\d+) texts", done.stderr)
    if done.returncode != 0 or done.stdout != whole or not texts or int(texts[1]) != WINDOW + 1:
        fail(f"the same search continues: status {done.returncode}, {texts and texts[1]} texts: {done.stderr}")
    print(f"an index: {calls} calls for two and three windows, {texts and texts[1]} texts in the second run")


def is_same(found, wanted):
    """Whether results are the same. Logits of rerank may differ by rounding: its windows are smaller with two devices, and a GPU multiplies
    fewer rows by other kernels."""
    if not found.startswith('{"query"') or "logit" not in wanted:
        return found == wanted
    found, wanted = (json.loads(text)["hits"] for text in (found, wanted))
    return [hit["index"] for hit in found] == [hit["index"] for hit in wanted] and \
        worst(abs(a["logit"] - b["logit"]) for a, b in zip(found, wanted, strict=True)) <= 2e-6


def check_pool():
    """One of two devices is lost once, or for good: the results are those of one device."""
    texts = os.path.join(work, "pooled")
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines(f"the fox {i:x}\n" for i in range(200))
    encoder = ["--pooling", "mean", os.path.join(data, "families", "distilbert")]
    cross = os.path.join(data, "classifiers", "bert")
    two = {"POCL_DEVICES": "pthread basic", "CLF_TEST_GPU_LOSE_ON": "basic"}
    for arguments in (["embed", *encoder, "--file", texts, "--window", "2", "--format", "text"],
                      ["search", *encoder, "--corpus", texts, "--no-keep", "--json", "fox"],
                      ["rerank", cross, "the fox", "--file", texts, "--json"]):
        wanted, _ = run(arguments)
        for alone in ("0,0", "1,1"):  # compiles
            run([*arguments, "--device", alone], POCL_DEVICES=two["POCL_DEVICES"])
        opened = warm_calls(["embed", *encoder, "red"] if arguments[0] != "rerank" else ["rerank", cross, "red", "blue"])
        for lose, told in ((f"{opened + 3}-", "another device takes its texts"), (f"{opened + 3}", "it was opened again"),
                           ("1-", "it is left out")):
            done, _ = run([*arguments, "--device", "all"], lose, **two)
            print(f"{arguments[0]} on two devices, one of them lost at {lose}: {done.stderr.strip()[-200:]}")
            if done.returncode != 0 or not is_same(done.stdout, wanted.stdout) or told not in done.stderr:
                fail(f"{arguments[0]} on two devices, one of them lost at {lose}: status {done.returncode}: {done.stderr}")


def check_sequences():
    """A session of the library: after a loss its sequences are empty and can be used."""
    model, told = [os.path.join(data, "generation", "llama")], 0
    for _ in range(2):  # nothing is compiled in the second run
        done, count = run(model, binary=sequences)
    if done.returncode != 0 or count == 0:
        return fail(f"sequences: status {done.returncode}, {count} calls: {done.stderr}")
    for call in places(count):
        done, _ = run(model, str(call), binary=sequences)
        told += "device lost: " in done.stderr
        if done.returncode not in (0, 77):
            fail(f"sequences: lost at call {call} of {count}: status {done.returncode}: {done.stderr}")
    if not told:
        fail("sequences: no loss was told")
    print(f"sequences: {count} calls, {told} losses told")


with tempfile.TemporaryDirectory() as work:
    vendors = pocl_alone(work)
    for command in commands():
        check(*command)
    check_kept()
    check_outputs_kept()
    check_later_text_kept()
    check_index_kept()
    check_pool()
    check_sequences()
sys.exit(1 if failures else 0)
