#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands on a GPU that is lost in the middle of their work: they open it again and print what they print on one that is not lost. After a
second loss in a row they end with status 1, a message, and what they had printed before.
usage: test_lost.py PROGRAM DATA SHIM SEQUENCES DEVICE LOSSES
SEQUENCES: the program of lost_sequences.c.
LOSSES: at how many calls of each command the device is lost, a run for each; 0: at every call."""
import os
import subprocess
import sys
import tempfile

from shown import pocl_alone

program, data, shim, sequences, device, losses = sys.argv[1:]
data = os.path.abspath(data)
LOSSES = int(losses)
# Answers of drivers to calls on a lost device, although a wait may end well.
LOSSES_TOLD = {"CL_DEVICE_NOT_AVAILABLE": -2, "CL_INVALID_COMMAND_QUEUE": -36, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST": -14}
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def run(arguments, lose="", stdin="", binary=program, **more):
    calls = os.path.join(work, "calls")
    if os.path.exists(calls):
        os.remove(calls)
    environment = dict(os.environ, CLF_TEST_GPU=device, LD_PRELOAD=shim, OCL_ICD_VENDORS=vendors, CLF_NO_TUNED="1", CLF_TEST_GPU_LOSE=lose,
                       CLF_TEST_GPU_BUDGET_MS="100",  # and no launch may take more than twice that
                       CLF_TEST_GPU_CALLS=calls, CLF_CACHE_DIR=os.environ.get("CLF_CACHE_DIR") or os.path.join(work, "cache"), **more)
    environment.pop("CLF_DEVICE", None)
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
    check_sequences()
sys.exit(1 if failures else 0)
