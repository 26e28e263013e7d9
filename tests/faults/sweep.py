#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs commands again and again, each time with one call failed by shim.c, and says where that does not end cleanly.

usage: sweep.py PROGRAM EXAMPLE SHIM [--runs N [--seed S] | --every-call] [--part I/N | --minutes M] [--case NAME] [--class NAME]
                                      [--only CASE/START/CLASS/N] [--jobs N] [--keep]

A run ends cleanly in two ways. It fails with a message that names the call or the file and exit status 1, outputs are as they were before,
and nothing is left over (objects of OpenCL, blocks, mappings, temporary files). Or it ends with status 0 and the same results as without a
fault. If a command keeps something to go on with, the same command once more, without a fault, must then end with the results of one
undisturbed run. Each case runs warm (its kernels are in the cache) and cold (an empty cache).

Without --runs each way by which a call is reached fails at its first, second and last time. --runs N takes about N of these, spread evenly,
or with --seed S by chance, others for each S. --every-call takes every call. --part I/N takes each N-th of these, or of any others, from
the I-th. --minutes M takes such a part where all would last longer than about M minutes: today's, and on each of the days that follow the
next one."""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

CLASSES = ("opencl", "memory", "eio", "enospc", "eintr", "short")
OBJECTS = ("contexts", "queues", "buffers", "programs", "kernels", "events", "mappings", "blocks")
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POCL = "/etc/OpenCL/vendors/pocl.icd"
TWO_DEVICES = {"OCL_ICD_VENDORS": POCL, "POCL_DEVICES": "pthread pthread"}  # and no others that a machine has
EVERY_DRIVER = ("devices", "example")  # the others see that of their device alone: each start loads every driver that it sees
OLD = b"what was here before\n"
OLD_FINGERPRINT = b'{"schema": "clformer-embeddings", "what was here": "before"}\n'
OLD_TUNED = b'{"schema": "clformer-tuned", "schema_version": 1, "devices": []}\n'
# After these nobody knows whether the device still uses what it was given: it must not be freed, so that leaving it is right.
LEAVES_IN_USE = ("clFinish", "clWaitForEvents")

# given: files of the run's own folder at the start, {name: file of the inputs}. keeps: files that a failed run may leave to go on
# with; with these, or where the outputs are optional (given themselves), the command runs again and is judged by what is there then.
# stdin: its text.
Case = collections.namedtuple("Case", "name arguments outputs same_results given keeps environment stdin", defaults=({}, (), {}, ""))
Run = collections.namedtuple("Run", "status stdout stderr outputs struck reports strangers seconds again")


# --- inputs -----------------------------------------------------------------------------------------------------------------------------


def write_model(folder):
    """A BERT encoder of one layer with random weights and a vocabulary of words."""
    width, hidden, positions = 256, 1024, 64  # so large that the device still reads weights when the host is done
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + c for c in letters),
             *"the a man is eating food someone having meal cat sat on mat".split()]
    words = list(dict.fromkeys(words))
    shapes = {"embeddings.word_embeddings.weight": [len(words), width], "embeddings.position_embeddings.weight": [positions, width],
              "embeddings.token_type_embeddings.weight": [2, width],
              "embeddings.LayerNorm.weight": [width], "embeddings.LayerNorm.bias": [width]}
    layer = "encoder.layer.0."
    for name, rows, columns in (("attention.self.query", width, width), ("attention.self.key", width, width),
                                ("attention.self.value", width, width), ("attention.output.dense", width, width),
                                ("intermediate.dense", hidden, width), ("output.dense", width, hidden)):
        shapes[f"{layer}{name}.weight"], shapes[f"{layer}{name}.bias"] = [rows, columns], [rows]
    for name in ("attention.output.LayerNorm", "output.LayerNorm"):
        shapes[f"{layer}{name}.weight"], shapes[f"{layer}{name}.bias"] = [width], [width]
    rng, header, data = random.Random(5), {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = struct.pack(f"<{count}f", *(rng.uniform(-0.3, 0.3) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(os.path.join(folder, "1_Pooling"))
    files = {"model.safetensors": struct.pack("<Q", len(text)) + text + data, "vocab.txt": "\n".join(words).encode() + b"\n",
             "config.json": json.dumps({"model_type": "bert", "hidden_size": width, "intermediate_size": hidden,
                                        "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": len(words),
                                        "max_position_embeddings": positions}).encode(),
             "modules.json": json.dumps([{"path": "", "type": "sentence_transformers.models.Transformer"},
                                         {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]).encode(),
             "1_Pooling/config.json": json.dumps({"pooling_mode_mean_tokens": True}).encode(),
             "config_sentence_transformers.json": json.dumps({"similarity_fn_name": "dot"}).encode()}
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def write_npy(path, rows, columns, seed):
    rng = random.Random(seed)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{rows * columns}f", *(rng.uniform(-1, 1) for _ in range(rows * columns))))


def write_inputs(folder):
    write_model(os.path.join(folder, "model"))
    shutil.copytree(os.path.join(TESTS, "data", "generation", "llama"), os.path.join(folder, "llama"))
    with open(os.path.join(folder, "llama", "chat_template.jinja"), "w", encoding="utf-8") as file:
        file.write("{% for m in messages %}{{ m.content }} {% endfor %}")
    with open(os.path.join(folder, "llama", "generation_config.json"), "w", encoding="utf-8") as file:
        json.dump({"suppress_tokens": [23, 33], "eos_token_id": [11]}, file)
    write_npy(os.path.join(folder, "a.npy"), 5, 7, 1)
    write_npy(os.path.join(folder, "b.npy"), 7, 3, 2)
    with open(os.path.join(folder, "texts.txt"), "w", encoding="utf-8") as file:
        file.write("a man is eating food\nsomeone is having a meal\nthe cat sat on the mat\n")
    with open(os.path.join(folder, "older.txt"), "w", encoding="utf-8") as file:
        file.write("the cat sat on the mat\nsomeone is eating\na man is eating food\n")


def prepare(folder, arguments, environment):
    """Files that other commands leave: embeddings that a search kept of an older corpus, all shards, a part file that ends in a torn
    record, a result of bench."""
    model, texts = os.path.join(folder, "model"), os.path.join(folder, "texts.txt")

    def run(*words):
        done = subprocess.run([arguments.program, *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{words[0]} fails without a fault: {done.stderr[-500:]}")

    run("search", model, "--corpus", os.path.join(folder, "older.txt"), "--index", os.path.join(folder, "older.npy"), "food")
    run("bench", "--suite", "ops", "--filter", "f32/96x128-lengths", "--quick", "--rounds", "1", "--seconds", "0.001", "-o",
        os.path.join(folder, "result.json"))
    run("embed", model, "--file", texts, "-o", os.path.join(folder, "corpus.npy"))
    for shard in ("1/2", "2/2"):
        run("embed", model, "--file", texts, "--window", "1", "--shard", shard, "-o", os.path.join(folder, "shards"))
    run("embed", model, "--file", texts, "--window", "1", "--shard", "1/1", "-o", os.path.join(folder, "one"))
    with open(os.path.join(folder, "one", "shard-00001-of-00001.done"), "rb") as file:
        whole = file.read()
    with open(os.path.join(folder, "torn.part"), "wb") as file:
        file.write(whole[:whole.rindex(b"clf-done") - 20])


def cases(inputs, program, example):
    """Arguments stand relative to a run's own folder, where its outputs go. same_results: two runs without a fault write the same bytes."""
    model, texts = os.path.join(inputs, "model"), os.path.join(inputs, "texts.txt")
    heads = os.path.join(TESTS, "data", "classifiers")
    npy = [os.path.join(inputs, name) for name in ("a.npy", "b.npy")]
    result = os.path.join(inputs, "result.json")
    return [
        Case("einsum", [program, "einsum", "ij,jk->ik", *npy, "-o", "out.npy"], ["out.npy"], True),
        Case("op", [program, "op", "softmax", npy[0], "-o", "out.npy"], ["out.npy"], True),
        Case("embed", [program, "embed", model, "--file", texts, "-o", "out.npy"], ["out.npy", "out.npy.json"], True),
        Case("embed-text", [program, "embed", model, "the cat", "a meal"], [], True),
        Case("embed-resume", [program, "embed", model, "--file", texts, "--window", "1", "--resume", "-o", "out.npy"],
             ["out.npy", "out.npy.json"], True, {"out.npy.part": "torn.part"}, ["out.npy.part"]),
        Case("embed-shard", [program, "embed", model, "--file", texts, "--window", "1", "--shard", "1/2", "-o", "."],
             ["shard-00001-of-00002.done"], True, {}, ["shard-00001-of-00002.part", "manifest.json"]),
        Case("embed-all", [program, "embed", model, "--file", texts, "--window", "1", "--device", "all"], [], True,
             environment=TWO_DEVICES),
        Case("gather", [program, "gather", os.path.join(inputs, "shards"), "-o", "out.npy"], ["out.npy", "out.npy.json"], True),
        Case("search", [program, "search", model, "--corpus", texts, "--no-keep", "--top", "2", "food"], [], True),
        Case("search-keep", [program, "search", model, "--corpus", "texts.txt", "--index", "kept.npy", "--top", "2", "food"],
             ["kept.npy", "kept.npy.json"], True,
             {"texts.txt": "texts.txt", "kept.npy": "older.npy", "kept.npy.json": "older.npy.json"}),
        Case("rerank", [program, "rerank", os.path.join(heads, "bert"), "the cat", "a cat", "a man"], [], True),
        Case("classify", [program, "classify", os.path.join(heads, "camembert"), "the cat sat", "a man"], [], True),
        Case("attention", [program, "attention", model, "the cat sat", "-o", "out.svg", "--npy", "out.npy"], ["out.svg", "out.npy"], True),
        Case("pronounce", [program, "pronounce", "hi"], [], True),
        Case("generate", [program, "generate", os.path.join(inputs, "llama", "model.gguf"), " the cat", "--max-tokens", "3", "--json"],
             [], True),
        Case("logits", [program, "logits", os.path.join(inputs, "llama"), " the cat", "-o", "out.npy"], ["out.npy"], True),
        Case("perplexity", [program, "perplexity", os.path.join(inputs, "llama"), "--file", texts, "--window", "16"], [], True),
        Case("chat", [program, "chat", os.path.join(inputs, "llama"), "--max-tokens", "3"], [], True, stdin="the cat\nsat\n"),
        Case("translate", [program, "translate", os.path.join(TESTS, "data", "translation", "marian"), "the cat", "--max-tokens", "3"],
             [], True),
        Case("convert", [program, "convert", os.path.join(inputs, "llama", "model.gguf"), "out.gguf", "--weights", "f16"],
             ["out.gguf"], True),
        Case("info", [program, "info", os.path.join(inputs, "llama")], [], True,
             environment={"POCL_MEMORY_LIMIT": "2"}),  # which PoCL otherwise tells by what is free
        Case("verify", [program, "verify", os.path.join(inputs, "corpus.npy"), "--model", model], [], True),
        Case("tokenize", [program, "tokenize", model, "the cat", "a meal", "--json"], [], True),
        Case("detokenize", [program, "detokenize", os.path.join(inputs, "llama"), "5", "6", "7"], [], True),
        Case("devices", [program, "devices", "--all"], [], True, environment={"POCL_MEMORY_LIMIT": "2"}),
        Case("report", [program, "report", result, "-o", "out.html"], ["out.html"], True),
        Case("compare", [program, "compare", result, result], [], True),
        Case("similarity", [program, "similarity", model, "the cat", "a man"], [], True),
        Case("selftest", [program, "selftest"], [], True),
        Case("bench", [program, "bench", "--suite", "ops", "--filter", "f32/96x128-lengths", "--quick", "--rounds", "1",
                       "--seconds", "0.001", "-o", "out.json"], ["out.json"], False),
        Case("tune", [program, "tune", "--model", model, "--minutes", "0.0001", "--limit", "20"],
             ["config/clformer/tuned.json"], False),
        Case("example", [example, model, "the cat", "a man"], [], True),
    ]


# --- one run ----------------------------------------------------------------------------------------------------------------------------


class Sweep:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.inputs = os.path.join(folder, "inputs")
        os.mkdir(self.inputs)
        write_inputs(self.inputs)
        for name in ("cold", "prepare"):
            os.mkdir(os.path.join(folder, name), 0o700)
        self.cases = [c for c in cases(self.inputs, arguments.program, arguments.example) if arguments.case in (None, c.name)]
        prepare(self.inputs, arguments, self.environment(self.inputs, os.path.join(folder, "prepare")))
        self.lock, self.next_folder, self.done, self.total = threading.Lock(), 0, 0, 0

    def cache_of(self, case, start):
        return os.path.join(self.folder, "cold" if start == "cold" else "warm-" + case.name)

    def environment(self, place, cache, case=None):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("CLF_") or k == "CLF_DEVICE"}
        if "CLF_DEVICE" not in kept:
            kept["CLF_DEVICE"] = "Portable Computing Language"
            if os.path.exists(POCL) and not (case and case.name in EVERY_DRIVER):
                kept["OCL_ICD_VENDORS"] = POCL
        # Kernels are compiled in the program: several processes at once would make their calls in another order each time.
        kept.update(XDG_CONFIG_HOME=os.path.join(place, "config"), CLF_CACHE_DIR=cache, LC_ALL="C.UTF-8", POCL_AFFINITY="1",
                    CLF_COMPILER="")
        kept.update(case.environment if case else {})
        return kept

    def run(self, case, start, fault=None, trace=None, timeout=120, stacks=False, keep_cache=None):
        """Runs a case in a folder of its own with a copy of the cache: nothing that one run breaks meets the next. keep_cache: where the
        cache goes then."""
        with self.lock:
            self.next_folder += 1
            place = os.path.join(self.folder, f"run{self.next_folder}")
        cache = os.path.join(place, "cache")
        os.makedirs(os.path.join(place, "config", "clformer"), 0o700)
        shutil.copytree(self.cache_of(case, start), cache)
        os.chmod(cache, 0o700)
        # Fingerprints replace what clformer made alone.
        old = {name: OLD_FINGERPRINT if name.endswith(".npy.json") else OLD for name in case.outputs}
        if case.name == "tune":
            old[case.outputs[0]] = OLD_TUNED
        if case.name == "embed-shard":  # what is there is done
            old[case.outputs[0]] = None
        for name, path in case.given.items():
            with open(os.path.join(self.inputs, path), "rb") as file:
                old[name] = file.read()
        for name, content in old.items():
            if content is not None:
                with open(os.path.join(place, name), "wb") as file:
                    file.write(content)
        environment = self.environment(place, cache, case)
        undisturbed = dict(environment)
        if case.name == "example":
            environment["CLF_FAULT_LIBRARY"] = "1"
        environment.update(LD_PRELOAD=self.arguments.shim, CLF_FAULT_REPORT=os.path.join(place, "report"))
        if fault:
            environment["CLF_FAULT"] = f"{fault[0]}:{fault[1]}"
        if trace:
            environment["CLF_FAULT_TRACE"] = trace
        if stacks:
            environment["CLF_FAULT_STACKS"] = "1"
        began = time.monotonic()
        try:
            done = subprocess.run(case.arguments, cwd=place, env=environment, capture_output=True, timeout=timeout, check=False,
                                  input=case.stdin.encode())
            status, stdout, stderr = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            status, stdout, stderr = None, error.stdout or b"", (error.stderr or b"").decode(errors="replace")
        seconds = time.monotonic() - began
        outputs, strangers, reports, struck = {}, [], [], None
        for root, _, names in os.walk(place):
            for name in names:
                path = os.path.relpath(os.path.join(root, name), place)
                if path in case.outputs:
                    with open(os.path.join(place, path), "rb") as file:
                        outputs[path] = file.read()
                    if outputs[path] == old[path]:
                        outputs[path] = OLD
                elif case.given.get(path) and path not in case.keeps:
                    with open(os.path.join(place, path), "rb") as file:
                        if file.read() != old[path]:
                            strangers.append(path)
                elif path.startswith("cache/"):
                    if not re.search(r"(\.bin|/(probe|matrix-rates)-[0-9a-f]+)$", path):
                        strangers.append(path)
                elif path != "report" and not (path in case.keeps and (status != 0 or path == "manifest.json")):
                    strangers.append(path)
        if os.path.exists(os.path.join(place, "report")):
            with open(os.path.join(place, "report"), encoding="utf-8") as file:
                reports = [json.loads(line) for line in file if line.endswith("}\n")]  # one that is killed leaves half a line
        struck = next(({**r["struck"], "is_child": r["is_child"]} for r in reports if "struck" in r), None)
        reports = [r for r in reports if "calls" in r]
        again = self.run_again(case, place, undisturbed) if fault and goes_on(case) else None
        if keep_cache:
            shutil.copytree(cache, keep_cache)
        if not self.arguments.keep:
            shutil.rmtree(place, ignore_errors=True)
        return Run(status, stdout, stderr, outputs, struck, reports, sorted(strangers), seconds, again)

    @staticmethod
    def run_again(case, place, environment):
        """The same command in what a run left: status, standard output, outputs."""
        done = subprocess.run(case.arguments, cwd=place, env=environment, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        outputs = {}
        for name in case.outputs:
            if os.path.exists(os.path.join(place, name)):
                with open(os.path.join(place, name), "rb") as file:
                    outputs[name] = file.read()
        return done.returncode, done.stdout, outputs

    # --- what a run is held against ---

    def learn(self, case):
        """Results without a fault, and how often and by which ways each class of calls is reached, for both starts."""
        known = {}
        self.run(case, "cold", timeout=600)  # what drivers compile once
        for start in ("cold", "warm"):
            trace = os.path.join(self.folder, f"trace-{case.name}-{start}")
            run = self.run(case, start, trace=trace, timeout=600, keep_cache=self.cache_of(case, "warm") if start == "cold" else None)
            if run.status != 0 or not run.reports:
                raise SystemExit(f"{case.name} fails without a fault: status {run.status}: {run.stderr[-500:]}")
            again = run if self.arguments.runs else self.run(case, start, timeout=600)
            if case.same_results and (told(case, again.stdout), again.outputs) != (told(case, run.stdout), run.outputs):
                sys.exit(f"{case.name}: two runs without a fault differ")
            ways = {name: collections.defaultdict(list) for name in CLASSES}
            counts = collections.Counter()
            with open(trace, encoding="ascii") as file:
                for line in file:
                    name, way = line.split()
                    counts[name] += 1
                    ways[name][way].append(counts[name])
            known[start] = (run._replace(seconds=again.seconds), ways, counts)  # the first was slowed down by being traced
        return known

    def judge(self, case, start, fault, known):
        """None, or what is wrong with the run that this fault gives."""
        run = self.run(case, start, fault)
        struck, wrong = run.struck, []
        if run.status is None:
            wrong.append("hangs")
        elif run.status < 0:
            wrong.append(f"crashes by signal {-run.status}")
        elif run.status == 0:
            is_line = case.name == "devices" and is_named(struck, fault[0], run.stdout.decode())  # of what does not answer, or is not known
            wrong += [] if is_line else self.differences(case, run, known)
        elif run.status != 1:
            wrong.append(f"exit status {run.status}")
        if run.status == 1:
            is_told = "standard output" in run.stderr and run.outputs == known.outputs  # all was done, but what was printed may be lost
            if not is_told and not goes_on(case) and (len(run.outputs) != len(case.outputs) or
                                                      not all(self.is_untouched(case, content) for content in run.outputs.values())):
                wrong.append("the old output is gone")
            if not is_named(struck, fault[0], run.stderr + run.stdout.decode(errors="replace")):
                wrong.append("the message does not name it")
        if run.again and run.again != (0, known.stdout, known.outputs):
            wrong.append(f"once more: exit status {run.again[0]} and other results")
        if run.strangers:
            wrong.append("leaves " + ", ".join(re.sub(r"\.[A-Za-z0-9]{6}$", ".*", name) for name in run.strangers))
        if run.status is not None and run.status >= 0:
            mains = [r for r in run.reports if not r["is_child"]]
            if not mains:
                wrong.append("no report")
            for report in run.reports:
                left = {name: report[name] for name in OBJECTS if report[name] > self.baseline(known, report["is_child"])[name]}
                if left and not (struck and struck["call"] in LEAVES_IN_USE):
                    wrong.append("left over: " + ", ".join(f"{count} {name}" for name, count in left.items()))
                if report["untracked"]:
                    wrong.append("more blocks than the shim can track")
        return (wrong, run) if wrong else None

    @staticmethod
    def is_untouched(case, content):
        """Measurements are kept as they come, a whole file each time, so that a later failure leaves the newest of these files."""
        return content == OLD or not case.same_results and is_json(content)

    @staticmethod
    def baseline(known, is_child):
        rows = [r for r in known.reports if is_child or not r["is_child"]]  # a child that is killed when all is done reports nothing
        return {name: max((r[name] for r in rows), default=0) for name in OBJECTS}

    @staticmethod
    def differences(case, run, known):
        if set(run.outputs) != set(known.outputs):
            return ["exit status 0 without its output"]
        if case.name == "search-keep":  # what is kept is no result: the next search tells whether it is right
            return [] if run.stdout == known.stdout else ["exit status 0 and another text on standard output"]
        if case.same_results:
            if told(case, run.stdout) != told(case, known.stdout):
                return ["exit status 0 and another text on standard output"]
            if run.outputs != known.outputs:
                return ["exit status 0 and another output"]
            return []
        return [f"exit status 0 and {name} is no JSON" for name, content in run.outputs.items() if not is_json(content)]


def told(case, text):
    """The messages of a command without those that depend on the way: a weight file that cannot be shared with the device is copied. Rates
    are measured again where they could not be kept."""
    if case.name == "devices":
        return re.sub(rb"[0-9.e+-]+ TFLOP/s, [0-9.e+-]+ times", b"", text)
    return re.sub(rb"(?m)^(device|mapped)_bytes .*$", b"", text) if case.name == "info" else text


def goes_on(case):
    return bool(case.keeps) or case.name == "search-keep"


def is_json(content):
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def is_named(struck, name, text):
    """A failed OpenCL call is told by its name; memory as such; files by name, or what the system says of them."""
    if not text.strip():
        return False
    if struck is None or struck["is_child"]:  # what a process for a device told went with it
        return True
    if name == "opencl":
        return struck["call"] in text
    if name == "memory":
        return "memory" in text
    names = ["standard output", "Input/output error", "No space left", "Interrupted", struck["call"], os.path.basename(struck["what"])]
    return any(part and part in text for part in names)


# --- the whole sweep ---------------------------------------------------------------------------------------------------------------------


def wanted(known, arguments):
    """Numbers of the calls to fail, for each class."""
    ways, counts = known[1], known[2]
    for name in CLASSES:
        if arguments.fault_class not in (None, name):
            continue
        if arguments.every_call:
            yield name, list(range(1, counts[name] + 1))
        else:
            yield name, sorted({n for numbers in ways[name].values() for n in (*numbers[:2], numbers[-1])})


def spread(plan, known, runs, seed):
    """About that many: as many of each list, or all where it has fewer, spread evenly over it or by chance; fewer of cases
    that take long."""
    seconds = {(case.name, start): known[case.name][start][0].seconds for case, start, *_ in plan}
    typical = sorted(seconds.values())[len(seconds) // 2]

    def count_of(share, case, start, numbers):
        return min(len(numbers), max(1, int(share * min(1, typical / seconds[case.name, start]))))

    share, most = 1, max(len(numbers) for *_, numbers in plan)
    while share < most and sum(count_of(share, case, start, numbers) for case, start, _, numbers in plan) < runs:
        share += 1
    plan = [entry for entry in plan if entry[3]]
    if len(plan) > runs:  # one of each list is too many
        chosen = ([(2 * i + 1) * len(plan) // (2 * runs) for i in range(runs)] if seed is None else
                  sorted(random.Random(seed).sample(range(len(plan)), runs)))
        plan = [plan[i] for i in chosen]
    for case, start, name, numbers in plan:
        count = count_of(share, case, start, numbers)
        if seed is not None:
            yield case, start, name, random.Random(f"{seed} {case.name} {start} {name}").sample(numbers, count)
        else:  # from the middle of equal parts: neither always the first call nor always the last
            yield case, start, name, [numbers[(2 * i + 1) * len(numbers) // (2 * count)] for i in range(count)]


def symbol(stack):
    """The functions of a stack, innermost first."""
    names = []
    for file, offset in stack[:10]:
        done = subprocess.run(["addr2line", "-fse", file, hex(offset)], capture_output=True, text=True, check=False)
        lines = done.stdout.split("\n")
        names.append(f"{lines[0]} ({lines[1]})" if len(lines) > 1 else hex(offset))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("example")
    parser.add_argument("shim")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--seed", type=int, help="with --runs: another sample for each number")
    parser.add_argument("--every-call", action="store_true")
    parser.add_argument("--part", default="1/1", help="I/N: each N-th run, from the I-th")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--case")
    parser.add_argument("--class", dest="fault_class", choices=CLASSES)
    parser.add_argument("--only", help="CASE/START/CLASS/N: this one run, with what it printed and the stacks")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true", help="keep the folder of every run")
    arguments = parser.parse_args()
    for name in ("program", "example", "shim"):
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    only = arguments.only.split("/") if arguments.only else None
    if only:
        arguments.case, arguments.fault_class = only[0], only[2]
    folder = tempfile.mkdtemp(prefix="clf-faults.")
    try:
        return sweep(arguments, only, folder)
    finally:
        if arguments.keep:
            print("kept:", folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def minutes_of(jobs, known, arguments):
    """Seconds of undisturbed runs; most that fail end earlier."""
    return sum(known[case.name][start][0].seconds for case, start, _ in jobs) / arguments.jobs / 60


def sweep(arguments, only, folder):
    work = Sweep(arguments, folder)
    if not work.cases:
        sys.exit(f"no case {arguments.case}")
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        known = dict(zip((c.name for c in work.cases), pool.map(work.learn, work.cases)))
        if only:
            return show_one(work, known, only)
        plan = [(case, start, name, numbers) for case in work.cases for start in ("cold", "warm")
                for name, numbers in wanted(known[case.name][start], arguments)]
        if arguments.runs:
            plan = list(spread(plan, known, arguments.runs, arguments.seed))
        jobs = [(case, start, (name, n)) for case, start, name, numbers in plan for n in numbers]
        part, parts = map(int, arguments.part.split("/"))
        if arguments.minutes:
            parts = max(1, math.ceil(minutes_of(jobs, known, arguments) / arguments.minutes))
            part = int(time.time() / 86400) % parts + 1
            print(f"part {part} of {parts}: all would last about {minutes_of(jobs, known, arguments):.0f} minutes; "
                  "tomorrow the next one's turn comes")
        jobs = jobs[part - 1::parts]
        for case in work.cases:
            for start, (_, _, counts) in known[case.name].items():
                print(f"{case.name:12} {start}:", ", ".join(f"{counts[name]} {name}" for name in CLASSES if counts[name]))
        print(f"{len(jobs)} runs, up to about {math.ceil(minutes_of(jobs, known, arguments))} minutes", flush=True)
        findings = collections.defaultdict(list)
        futures = {pool.submit(work.judge, case, start, fault, known[case.name][start][0]): (case, start, fault)
                   for case, start, fault in jobs}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            case, start, (name, n) = futures[future]
            found = future.result()
            if found:
                wrong, run = found
                call = run.struck["call"] if run.struck else "(not reached)"
                findings[(case.name, name, call, "; ".join(wrong))].append((f"{case.name}/{start}/{name}/{n}", run))
                print(f"not clean: --only {case.name}/{start}/{name}/{n}: {call}: {'; '.join(wrong)}", flush=True)
            if number % 500 == 0:
                print(f"[{number}/{len(jobs)}]", flush=True)
    for (case, name, call, wrong), examples in sorted(findings.items()):
        where, run = examples[0]
        lines = run.stderr.strip().split("\n")
        print(f"FAIL: {case}: {call} ({name}): {wrong}; {len(examples)} times, first --only {where}\n      {lines[-1][:200]}")
        if run.struck:
            print("      " + " < ".join(s.split(" ")[0] for s in symbol(run.struck["stack"])))
    print(f"{len(jobs)} runs, {sum(len(v) for v in findings.values())} not clean" if findings else f"{len(jobs)} runs, all clean")
    return 1 if findings else 0


def show_one(work, known, only):
    case, start, name, n = work.cases[0], only[1], only[2], int(only[3])
    run = work.run(case, start, (name, n), stacks=True)
    print("status", run.status, "\n" + run.stdout.decode(errors="replace")[-2000:] + run.stderr[-2000:])
    if run.struck:
        print("failed:", run.struck["call"], run.struck["what"], *symbol(run.struck["stack"]), sep="\n  ")
    for report in run.reports:
        print({k: v for k, v in report.items() if k != "stacks"})
        for stack in report["stacks"]:
            print("left over, allocated by:", *symbol(stack), sep="\n  ")
    found = work.judge(case, start, (name, n), known[case.name][start][0])
    print(found[0] if found else "clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
