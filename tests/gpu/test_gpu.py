#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests clformer on PoCL behind a shim that shows it as a GPU. Checked are the host's choices, that it keeps within that GPU's limits, and
the results. So is the number of kernels of a pass, by our own products and by CLBlast with the parameters that it takes for that device.
usage: test_gpu.py PROGRAM DATA SHIM CACHED_ATTENTION_TEST DEVICE [TEST...]

With tests behind the device, these programs run there, and it does only that and what is about launch graphs.

Two of the devices, which have the most and the least local memory for an item, do the whole list; one of no vendor has the smallest
work-groups. The others, whose kernels are the same and compile anew for every name, do what tells them apart; with CLF_GPU_ALL=1 in the
environment they do all of it, too."""
import collections
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from shown import pocl_alone

program, data, shim, cached_attention, device, *tests = sys.argv[1:]
BOUND = 1e-5  # relative error of an embedding, as in test_families.py
OURS = 46     # launches of a MiniLM pass: 7 a layer, embedding and its norm, pooling, normalisation
# Per device: its shown name, work-group size and local memory; the most launches of a pass of 32 texts of 128 tokens by CLBlast 1.5.3. It
# transposes each weight anew where the device shares the host's memory. CLBlast's parameters for the device follow: MWG, NWG, KWG and WGD,
# which are tiles of its large and its direct kernel, and XGEMM_MIN_INDIRECT_SIZE. Last are the work-groups for one query with 12 heads
# and 1,024 keys.
DEVICES = {
    "nvidia_turing": ("NVIDIA GeForce RTX 2080 Ti", 1024, 48 << 10, 88, (128, 128, 16, 32, 1024), 48),
    "nvidia_hopper": ("NVIDIA H100 80GB HBM3", 1024, 48 << 10, 70, (64, 64, 32, 32, 1472), 48),
    "nvidia_one_unit": ("NVIDIA GPU of one unit", 1024, 48 << 10, None, None, None),
    "amd_rdna2": ("gfx1030", 256, 64 << 10, 94, (128, 64, 16, 32, 448), 96),
    "amd_gcn": ("gfx906:sramecc+:xnack-", 256, 64 << 10, 94, (64, 64, 32, 16, 320), 96),
    "intel_gen12": ("Intel(R) Iris(R) Xe Graphics", 512, 64 << 10, 118, (64, 64, 32, 8, 128), 96),
    "intel_arc": ("Intel(R) Arc(TM) A770 Graphics", 1024, 64 << 10, 94, (64, 64, 32, 8, 128), 96),
    "arm_small": ("Mali-G52 r1p0", 384, 32 << 10, 118, (64, 32, 32, 32, 128), 12),
    "small_groups": ("GPU with work-groups of 64", 64, 32 << 10, None, None, 12),  # CLBlast's kernels do not fit
}
NAME, GROUP, LOCAL, CLBLAST, PARAMETERS, PARTS = DEVICES[device]
IS_WHOLE = device in ("nvidia_turing", "arm_small") or os.environ.get("CLF_GPU_ALL") == "1"
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


Launch = collections.namedtuple("Launch", "kernel items group local_bytes")


class Run:
    """One run of the program, and what the shim wrote down."""

    def __init__(self, arguments, engines="", idle=False, check=True, tuned_cache="", binary=program, graph="", launch_ms="", small="",
                 log_level=""):
        log = os.path.join(work, "log")
        if os.path.exists(log):
            os.remove(log)
        environment = dict(os.environ, CLF_TEST_GPU=device, CLF_TEST_GPU_LOG=log, LD_PRELOAD=shim, OCL_ICD_VENDORS=vendors,
                           CLF_CACHE_DIR=tuned_cache, CLF_ENGINE=engines, CLF_NO_TUNED="0" if tuned_cache else "1",
                           XDG_CONFIG_HOME=os.path.join(work, "config"), CLF_GRAPH=graph, CLF_LAUNCH_MS=launch_ms,
                           **({"CLF_LOG": log_level} if log_level else {}),
                           CLF_TEST_GPU_SMALL=small, CLF_TEST_SMALL="1",  # the latter for test programs
                           **({"CLF_TEST_GPU_IDLE": "1"} if idle else {}))
        environment.pop("CLF_DEVICE", None)
        self.done = subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=False,
                                   stdin=subprocess.DEVNULL)
        self.name = f"{(arguments or [binary])[0]} {engines}"
        if check and self.done.returncode != 0:
            fail(f"{self.name}: status {self.done.returncode}: {self.done.stderr[-400:]}")
        lines = []
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                lines = file.read().splitlines()
        self.launches = [Launch(word[1], [int(n) for n in word[2:5]], [int(n) for n in word[5:8]], int(word[8])) for word in
                         (line.split() for line in lines if line.startswith("launch "))]
        self.programs = [line for line in lines if line.startswith("program ")]
        self.clblast = [line for line in lines if line.startswith("clblast ")]
        for line in lines:
            if line.startswith("refused "):
                fail(f"{self.name}: beyond the device's limits: {line}")
        for one in self.launches:
            if math.prod(one.group) > GROUP or one.local_bytes > LOCAL or any(n % m for n, m in zip(one.items, one.group) if m):
                fail(f"{self.name}: {one}")

    def kernels(self):
        return collections.Counter(one.kernel for one in self.launches)

    def count_of_pass(self):
        """Launches of the first pass over texts, the check of its result apart."""
        names = [one.kernel for one in self.launches]
        if "embedding_group" not in names or "row_check" not in names:
            fail(f"{self.name}: no pass over texts: {self.kernels()}")
            return -1
        return names.index("row_check") - names.index("embedding_group")


def check_devices():
    """Shown as it is described, and chosen."""
    [found] = json.loads(Run(["devices", "--json"]).done.stdout)["devices"]
    shown = (found["name"], found["type"], found["max_work_group_size"], found["local_memory_bytes"], found["usable"], found["default"])
    if shown != (NAME, "GPU", GROUP, LOCAL, True, True):
        fail(f"devices: {shown}")
    budget = 100 if found["unified_memory"] else 500
    if found["launch_ms"] != budget or f"; launches of up to {budget} ms" not in Run(["devices"]).done.stdout:
        fail(f"devices: launches of up to {found['launch_ms']} ms, expected {budget}")
    told = [Run(["devices", *option], launch_ms="12.5").done.stdout for option in ([], ["--all"], ["--json"])]
    if "; launches of up to 12.5 ms" not in told[0] or "at most 12.5 ms by estimate" not in told[1] or \
            json.loads(told[2])["devices"][0]["launch_ms"] != 12.5:
        fail(f"devices with CLF_LAUNCH_MS=12.5: {told}")
    refused = Run(["devices"], launch_ms="soon", check=False).done
    if refused.returncode != 2 or "CLF_LAUNCH_MS: expected milliseconds" not in refused.stderr:
        fail(f"devices with CLF_LAUNCH_MS=soon: status {refused.returncode}: {refused.stderr}")
    probes = [line.split(None, 1)[1] for line in Run(["devices", "--all"]).done.stdout.splitlines() if line.startswith("   probes ")]
    said = [line.split(":")[0] for line in probes]  # PoCL has no sub-groups, whatever the shim shows
    families = (("rows", (64, 128, 256)), ("groups", (16, 32, 64, 128, 256)))
    sums = [f"sub-group sums of {name}, {size} items no" for name, sizes in families for size in sizes if size <= GROUP]
    if said != (sums if found["subgroups"] else []) + ["native_exp2 yes"]:
        fail(f"devices --all: {probes}")


def check_selftest():
    """Every operation on every engine of a GPU, against double precision."""
    run = Run(["selftest"])
    rows = [line.split() for line in run.done.stdout.splitlines()]
    passed = {(row[0], row[1]) for row in rows if len(row) > 2 and row[2] == "pass"}
    for op, engine in (("gemm", "tiled"), ("gemm", "clblast"), ("gemm", "gemv"), ("masked_softmax", "group"), ("layer_norm", "group"),
                       ("attention", "group"), ("cached_attention", "group"), ("embedding", "group"), ("top_k", "group")):
        if (op, engine) not in passed and (CLBLAST or engine != "clblast"):
            fail(f"selftest: {op} did not run on {engine}")
    for kernel in ("gemm_tiled", "gemm_gemv_dot", "softmax_group", "attention_group", "cached_attention_group", "top_k_group"):
        if not run.kernels()[kernel]:
            fail(f"selftest: {kernel} was never launched: {sorted(run.kernels())}")


def check_small_groups():
    """Products with quantised weights take smaller work-groups where the device has no larger ones."""
    run = Run(["selftest", "--filter", "feed_forward"])
    sizes = {one.group[0] for one in run.launches if one.kernel == "gemm_blocks"}
    if sizes != {GROUP}:
        fail(f"selftest of feed_forward: work-groups of gemm_blocks {sizes}, expected {GROUP}")


def check_embedding(name, engines="", small=""):
    model = os.path.join(data, "families", name)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        golden = json.load(file)
    run = Run(["embed", "--pooling", "mean", "--normalize", "no", "--format", "text", model, *golden["texts"]], engines, small=small)
    rows = [[float(value) for value in line.split()] for line in run.done.stdout.splitlines()]
    if [len(row) for row in rows] != [len(row) for row in golden["embeddings"]]:
        fail(f"{name} {engines}: {[len(row) for row in rows]} numbers")
        return run
    for row, wanted in zip(rows, golden["embeddings"]):
        error = math.dist(row, wanted) / math.hypot(*wanted)
        if not error <= BOUND:
            fail(f"{name} {engines}: relative error {error:.3g}")
    return run


def check_small_kernels():
    """An engine is left out if the driver allows its kernel fewer work-items than it has, and another one takes its place."""
    for op in ("attention", "layer_norm"):
        run = check_embedding("distilbert", small=f"{op}_group")
        told = f"left out from now on: {op}=group: kernel {op}_group: needs work-groups of "
        if run.kernels()[f"{op}_group"] or told not in run.done.stderr:
            fail(f"small {op}_group: {run.done.stderr}, {dict(run.kernels())}")


def check_pieces():
    """Work in pieces has the bits of the whole: a pass over texts, a product, a transposition, the tokens of a text."""
    model, out = os.path.join(data, "families", "modernbert"), os.path.join(work, "out.npy")
    matrix = write_matrix("pieces.npy", 200, 200, [math.sin(i) for i in range(200 * 200)])
    for arguments in (["embed", "--pooling", "mean", "--format", "text", model, "a red fox " * 9, "blue"],
                      ["einsum", "ij,jk->ki", matrix, matrix, "-o", out], ["einsum", "ij->ji", matrix, "-o", out],
                      ["generate", os.path.join(data, "generation", "llama"), "ab", "--max-tokens", "3", "--json", "--temperature", "0"]):
        whole, results = None, []
        for launch_ms in ("0", "0.000001"):
            if os.path.exists(out):
                os.remove(out)
            run = Run(arguments, launch_ms=launch_ms, tuned_cache=os.path.join(work, "pieces"))
            result = run.done.stdout if arguments[0] == "embed" else [json.loads(line).get("tokens") for line in
                                                                      run.done.stdout.splitlines()] if arguments[0] == "generate" else b""
            if os.path.exists(out):
                with open(out, "rb") as file:
                    result = file.read()
            results.append(result)
            if whole and len(run.launches) <= len(whole.launches):
                fail(f"{arguments[:2]}: {len(run.launches)} launches in pieces, {len(whole.launches)} without")
            whole = whole or run
        if not results[0] or results[0] != results[1]:
            fail(f"{arguments[:2]}: other results in pieces: {results[0][:80]} {results[1][:80]}")


def check_forced():
    """An engine and its tile that are forced are what runs, and nothing else; a tile that the device cannot hold is refused."""
    for item in (4, 8):
        run = check_embedding("distilbert", f"gemm=tiled:item_m={item}:item_n={item}")
        tiles = {word for line in run.programs for word in line.split() if word.startswith(("-DITEM_M=", "-DITEM_N="))}
        if tiles != {f"-DITEM_M={item}", f"-DITEM_N={item}"} or not run.kernels()["gemm_tiled"] or run.kernels()["gemm_gemv_dot"]:
            fail(f"forced tile {item}: built {sorted(tiles)}, launched {run.kernels()}")
    if not CLBLAST:
        run = Run(["embed", os.path.join(data, "families", "distilbert"), "red"], "gemm=clblast", check=False)
        if run.done.returncode != 1 or "clblast" not in run.done.stderr or run.clblast:
            fail(f"forced clblast: status {run.done.returncode}: {run.done.stderr}")
        return
    run = check_embedding("distilbert", "gemm=clblast")
    if not run.clblast or run.kernels()["gemm_tiled"] or run.kernels()["gemm_gemv_dot"]:
        fail(f"forced clblast: {run.kernels()}")


def write_matrix(name, rows, columns, values):
    path = os.path.join(work, name)
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".ljust(117).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + struct.pack(f"<{rows * columns}f", *values))
    return path


def check_einsum():
    """A transposition and a product large enough for the kernels that serve such ones: of integers, and so exact."""
    size, out = 300, os.path.join(work, "out.npy")
    values = [(i * 7919 % 13) - 6 for i in range(size * size)]
    columns = [values[j::size] for j in range(size)]
    matrix = write_matrix("matrix.npy", size, size, values)
    transposed = [value for column in columns for value in column]
    product = [sum(map(int.__mul__, values[i * size:(i + 1) * size], column)) for i in range(size) for column in columns]
    for equation, operands, wanted in (("ij->ji", [matrix], transposed), ("ij,jk->ik", [matrix, matrix], product)):
        run = Run(["einsum", equation, *operands, "-o", out])
        if run.done.returncode == 0:
            with open(out, "rb") as file:
                got = struct.unpack(f"<{size * size}f", file.read()[-4 * size * size:])
            if list(got) != wanted:
                fail(f"einsum {equation}: wrong values")


def check_generation(name="llama", graph=""):
    model = os.path.join(data, "generation", name)
    with open(os.path.join(model, "golden.json"), encoding="utf-8") as file:
        text = json.load(file)["texts"][1]
    if not os.path.exists(os.path.join(model, "config.json")):
        model = os.path.join(model, "model.gguf")
    run = Run(["generate", model, text["text"], "--max-tokens", str(len(text["tokens"])), "--json"], graph=graph)
    told = [json.loads(line).get("tokens") for line in run.done.stdout.splitlines()]
    if told != [text["tokens"]]:
        fail(f"generate {name} CLF_GRAPH={graph}: {told}, expected {text['tokens']}")
    if not run.kernels()["cached_attention_group"]:
        fail(f"generate: {run.kernels()}")
    return run


def check_graphs():
    """A step of a language model is one launch if all of its work-groups run at the same time. Otherwise, or with CLF_GRAPH=0, its kernels
    are launched one by one. The tokens are the same."""
    whole = device == "nvidia_one_unit"
    for name in ("llama", "llama_blocks"):
        for graph in ("0", "1"):
            kernels = check_generation(name, graph).kernels()
            steps, ran = kernels["group_graph"], kernels["cached_attention_group"]
            print(f"{device}: {name} CLF_GRAPH={graph}: {dict(kernels)}")
            if graph == "0" and steps:
                fail(f"CLF_GRAPH=0: {steps} graphs")
            if graph == "1" and (not steps or (whole and steps < 5) or (not whole and (steps > 2 or ran < 20))):
                fail(f"CLF_GRAPH=1: {steps} graphs, {ran} launches of attention")


def check_batch_graphs():
    """Steps of several sequences are graphs, whose norms of queries and keys have rows for each head."""
    prompts = os.path.join(work, "prompts")
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines(f"{'ab' * (1 + i)}\n" for i in range(5))
    run = Run(["generate", os.path.join(data, "generation", "qwen3"), "--prompt-file", prompts, "--max-tokens", "8", "--json"], graph="1")
    kernels = run.kernels()
    if len(run.done.stdout.splitlines()) != 5 or kernels["group_graph"] < 5:
        fail(f"5 sequences of qwen3: {run.done.stdout}, {dict(kernels)}")


def check_programs():
    """Tests of graphs and of engines, as the GPU runs them."""
    for test in tests:
        run = Run([], binary=test, check=False, graph="1")
        if run.done.returncode != 0:
            fail(f"{test}: {run.done.stdout[-600:]}")


def sentence_model(left_out):
    """The model in CLF_MODEL_DIR; None where there is none, which is said."""
    model = os.environ.get("CLF_MODEL_DIR", "")
    if os.path.exists(os.path.join(model, "config.json")):
        return model
    print(f"no model in CLF_MODEL_DIR: {left_out}")
    return None


def check_launches():
    """Both ways to multiply give the same; launches of a pass of 4,096 tokens, counted without running them."""
    model = sentence_model("launches of a pass are not counted")
    if not model:
        return
    rows = []
    both = IS_WHOLE and CLBLAST
    for engines in ("gemm=tiled", "gemm=clblast") if both else ():  # products large enough for CLBlast's kernel of large products
        run = Run(["embed", "--format", "text", model, *(f"{word} " * 100 for word in ("red", "green", "blue"))], engines)
        rows.append([[float(value) for value in line.split()] for line in run.done.stdout.splitlines()])
    if both and (len(rows[0]) != 3 or len(rows[1]) != 3 or not all(math.dist(a, b) <= BOUND for a, b in zip(*rows))):
        fail("embeddings through our products and through CLBlast differ")
    texts = os.path.join(work, "texts")
    with open(texts, "w", encoding="utf-8") as file:
        file.writelines(" ".join(["word"] * 126) + "\n" for _ in range(32))
    half = ["--weights", "f16"]  # no engine is forced on them: CLBlast would convert each in every pass
    for engines, options, most in (("gemm=tiled", [], OURS), ("gemm=clblast", [], CLBLAST), ("", half, OURS)):
        if most is None:
            continue
        run = Run(["embed", model, "--file", texts, *options], engines, idle=True, check=False, launch_ms="0")  # results are not finite
        count, title = run.count_of_pass(), " ".join([engines, *options])
        print(f"{device}: {title}: {count} launches a pass; {dict(run.kernels())}")
        if engines == "gemm=clblast":
            value = dict(word.split("=") for line in run.clblast for word in line.split()[1:])
            taken = tuple(int(value.get(name, 0)) for name in ("MWG", "NWG", "KWG", "WGD", "XGEMM_MIN_INDIRECT_SIZE"))
            if taken != PARAMETERS:
                fail(f"CLBlast's parameters {taken}, expected {PARAMETERS}: {sorted(set(run.clblast))}")
        if count > most or (most == OURS and count != most):
            fail(f"{title}: {count} launches a pass, expected {most}")


def check_cached_attention():
    """A long cache is cut into parts, as many as give the device its work-groups. Nothing is computed: the test of the op ends at
    its first case."""
    run = Run([], "cached_attention=group", idle=True, check=False, binary=cached_attention, launch_ms="0")
    groups = [math.prod(n // m for n, m in zip(one.items, one.group)) for one in run.launches if one.kernel == "cached_attention_group"]
    if groups[:1] != [PARTS]:
        fail(f"cached attention: {groups} work-groups, expected {PARTS}: {run.done.stdout[-300:]}")


def check_first_use():
    """A model's large products are measured once on both engines, shown, used from then on, and not at all where measured
    choices are refused."""
    model = sentence_model("nothing is measured at first use")
    if not model:
        return
    if os.path.exists(os.path.join(work, "config")):
        fail("first use: CLF_NO_TUNED=1 left a file")
    cache = os.path.join(work, "cache")  # so that the second run builds nothing
    runs = [Run(["embed", "--format", "text", model, "red " * 100], tuned_cache=cache) for _ in range(2)]
    [found] = json.loads(Run(["devices", "--json"], tuned_cache=cache).done.stdout)["devices"]
    measured = dict(word.rsplit(" ", 1) for word in found["first_use"].split(", ") if word)
    weights = {product.split(" x ", 1)[1] for product in measured}
    print(f"{device}: first use: {found['first_use']}")
    if weights != {"384 x 1152", "384 x 384", "384 x 1536", "1536 x 384"} or len(measured) != 2 * len(weights) or \
            not set(measured.values()) <= {"tiled", "clblast"} or found["tuned"]:
        fail(f"devices: first use \"{found['first_use']}\", tuned {found['tuned']}")
    if len(runs[1].launches) >= len(runs[0].launches) or not runs[0].clblast:
        fail(f"first use: {[len(run.launches) for run in runs]} launches in the first and the second run")
    if set(measured.values()) == {"tiled"} and (runs[1].clblast or not runs[1].kernels()["gemm_tiled"]):
        fail(f"first use chose tiled, and there ran {runs[1].kernels()}")
    rows = [[float(value) for value in run.done.stdout.split()] for run in runs]
    if len(rows[0]) != 384 or len(rows[1]) != 384 or not math.dist(*rows) <= BOUND:
        fail("first use: another embedding")


def check_first_use_tiles():
    """The engines timed at first use are those that serve: few rows with the small results of an item, many with the large ones. Nothing
    is computed here."""
    model = sentence_model("nothing is measured at first use")
    if not model:
        return
    run = Run(["embed", model, "red"], idle=True, check=False, tuned_cache=os.path.join(work, "idle"))
    tiles = [{word for word in line.split() if word.startswith("-DITEM_M=")} for line in run.programs]
    timed = {"ITEM_M=4": {"-DITEM_M=4"} in tiles, "ITEM_M=8": {"-DITEM_M=8"} in tiles}
    if timed != {"ITEM_M=4": True, "ITEM_M=8": True}:
        fail(f"first use: timed tiles {timed}")


def check_stated():
    """Every launch of several work-groups says how much work it is, so that it can be split. Probes and measurements of rates
    are small, and launch graphs are not used where they would be too long."""
    generation = os.path.join(data, "generation")
    for arguments, engines in ((["embed", "--pooling", "mean", os.path.join(data, "families", "distilbert"), "red"], ""),
                               (["embed", "--pooling", "mean", os.path.join(data, "families", "distilbert"), "red"], "gemm=packed"),
                               (["generate", os.path.join(generation, "llama"), "ab", "--max-tokens", "3"], ""),
                               (["generate", os.path.join(generation, "llama_blocks", "model.gguf"), "ab", "--max-tokens", "3"], ""),
                               (["translate", os.path.join(data, "translation", "t5"), "red", "--max-tokens", "3"], ""),
                               (["selftest"], "")):
        run = Run(arguments, engines, log_level="debug")
        silent = {line.split("kernel ", 1)[1].split()[0] for line in run.done.stderr.splitlines() if " states no work" in line}
        silent = {name for name in silent if name != "group_graph" and not name.startswith(("probe_", "rate_"))}
        if silent or "kernel " not in run.done.stderr:
            fail(f"{run.name}: launches that state no work: {silent}")


with tempfile.TemporaryDirectory() as work:
    vendors = pocl_alone(work)
    check_devices()
    if tests:
        check_graphs()
        check_batch_graphs()
        check_programs()
        sys.exit(1 if failures else 0)
    check_forced()
    if IS_WHOLE or GROUP < 256:
        check_einsum()
    check_launches()
    check_cached_attention()
    if device == "nvidia_turing":
        check_first_use()
    if device in ("nvidia_hopper", "intel_arc"):
        check_first_use_tiles()
    if device == "nvidia_hopper":
        check_graphs()
    if device in ("intel_gen12", "arm_small"):
        check_pieces()
    if device == "intel_gen12":
        check_stated()
    if device == "arm_small":
        check_small_kernels()
    if device == "small_groups":
        check_small_groups()
    if IS_WHOLE:
        check_selftest()
        check_embedding("distilbert")
        check_embedding("modernbert")
        check_generation()
sys.exit(1 if failures else 0)
