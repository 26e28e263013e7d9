#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Large products, long attention, bench and tune on slow integrated GPUs, which the shim shows: no launch takes more than twice the budget
there, by the shim's own count of its work. Nothing is computed except by tune, so that sizes may be large.
usage: test_budget.py PROGRAM DATA SHIM DEVICE"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from shown import pocl_alone

program, data, shim, device = sys.argv[1:]
BUDGET_MS = 100
PROMPT, TEXT = 32768, 8192  # tokens
# Rows and columns of the matrices, and q, k and v of attention [batch, tokens, columns], as large as one allocation allows.
SIZES = {"intel_gen9": (8192, (16, 8192, 128)), "amd_vega8": (8192, (32, 8192, 128)), "arm_small": (3072, (16, 4096, 64))}
GEN9 = 1.104e11  # multiply-adds of intel_gen9 in a second, by the shim's count
failures = []


def fail(text):
    failures.append(text)
    print("FAIL:", text)


def write_npy(name, descr, item_bytes, shape, fill):
    """A .npy file of `fill` bytes; None: of zeros, which take no space on disk."""
    path, count = os.path.join(work, name), item_bytes
    for size in shape:
        count *= size
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
        if fill is None:
            file.truncate(10 + len(header) + count)
        else:
            file.write(fill * count)
    return path


def write_zeros(name, *shape):
    return write_npy(name, "<f4", 4, shape, None)


def write_bytes(name, *shape):
    """Ones of 8 bits."""
    return write_npy(name, "|u1", 1, shape, b"\1")


def log_lines():
    """The lines that the shim wrote in the last run."""
    log = os.path.join(work, "log")
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8") as file:
        return file.read().splitlines()


def run(arguments, keys, launch_ms="", lose="", background="", idle="1", shim_ms=BUDGET_MS):
    """Exit status, standard error, and kernel and milliseconds of each launch that the shim let through and refused. Standard output goes
    to the file "output"."""
    log = os.path.join(work, "log")
    if os.path.exists(log):
        os.remove(log)
    environment = dict(os.environ, CLF_TEST_GPU=device, CLF_TEST_GPU_LOG=log, LD_PRELOAD=shim, OCL_ICD_VENDORS=vendors, CLF_NO_TUNED="1",
                       CLF_CACHE_DIR="", CLF_TEST_GPU_KEYS=str(keys), CLF_TEST_GPU_BUDGET_MS=str(shim_ms),
                       XDG_CONFIG_HOME=work, **({"CLF_TEST_GPU_IDLE": idle} if idle else {}),
                       CLF_LAUNCH_MS=launch_ms, CLF_BACKGROUND=background, **({"CLF_TEST_GPU_LOSE": lose} if lose else {}))
    environment.pop("CLF_DEVICE", None)
    with open(os.path.join(work, "output"), "w", encoding="utf-8") as output:
        done = subprocess.run([program, *arguments], env=environment, stdout=output, stderr=subprocess.PIPE, text=True, check=False,
                              stdin=subprocess.DEVNULL)
    launches = {"launch": [], "refused": []}
    for word in map(str.split, log_lines()):
        if word[0] in launches:
            launches[word[0]].append((word[1], float(word[9]) if len(word) > 9 else 0.0))
    unknown = {name for name, ms in launches["launch"] + launches["refused"] if ms < 0 and name[0].islower()}  # CLBlast's have capitals
    if unknown:
        fail(f"{arguments[:2]}: the shim cannot judge {unknown} (works of shim_work.c)")
    return done.returncode, done.stderr, launches["launch"], launches["refused"]


def longest_without(words):
    """Milliseconds of launches between two calls of these names (finish, flush) at most."""
    waiting, longest = 0.0, 0.0
    for line in log_lines():
        if line in words:
            waiting = 0.0
        elif line.startswith("launch"):
            waiting += max(0.0, float(line.rsplit(" ", 1)[1]))
        longest = max(longest, waiting)
    return longest


def check(arguments, kernel, keys=0):
    """With its budget the command keeps below the shim's, and flushes the queue between pieces. Without one it would not, which shows that
    the shim counts."""
    status, error, launches, refused = run(arguments, keys)
    timed = [ms for name, ms in launches if name.startswith(kernel)]
    if longest_without(("finish", "flush")) > 2 * BUDGET_MS:
        fail(f"{arguments[:2]}: {longest_without(('finish', 'flush')):.0f} ms of launches without a flush")
    print(f"{device}: {arguments[:2]}: {len(timed)} launches of {kernel}, {max(timed, default=0):.1f} ms the longest")
    if status != 0 or refused or len(timed) < 2 or sum(timed) < 2 * BUDGET_MS:
        fail(f"{arguments[:2]}: status {status}, {len(timed)} launches of {kernel} in {sum(timed):.0f} ms, refused {refused[:3]}: {error}")
    status, error, launches, refused = run(arguments, keys, "0")
    if status != 1 or not refused or "CL_OUT_OF_RESOURCES" not in error:
        fail(f"{arguments[:2]} without a budget: status {status}, refused {refused[:3]}: {error}")


# Hints that a queue in the background asks for: low priority (4) and throttling (4), where the shown driver has them.
HINTS = {"intel_gen9": "queue priority=4 throttle=4", "amd_vega8": "queue", "arm_small": "queue priority=4"}


def check_background(arguments, kernel):
    """In the background, by the option and by the variable: half of the budget, each piece has ended before the next, and a queue with the
    hints that the driver has. Otherwise nothing is asked of the queue."""
    for background, option in (("1", []), ("", ["--background"]), ("0", ["--background"]), ("", []), ("0", [])):
        is_asked = background == "1" or bool(option)
        status, error, launches, refused = run([*arguments, *option], 0, background=background)
        timed = [ms for name, ms in launches if name.startswith(kernel)]
        queues = {line for line in log_lines() if line.startswith("queue")}
        longest = longest_without(("finish",))  # between two waits of the host
        print(f"{device}: background {background or option}: {len(timed)} launches, {max(timed, default=0):.1f} ms the longest, "
              f"{longest:.1f} ms between waits, {queues}")
        most = BUDGET_MS if is_asked else 2 * BUDGET_MS
        if status != 0 or refused or len(timed) < 4 or max(timed) > most or (longest > most) == is_asked:
            fail(f"background {background or option}: status {status}, launches up to {max(timed, default=0):.0f} ms, {longest:.0f} ms "
                 f"between waits, refused {refused[:3]}: {error}")
        if queues != {HINTS[device] if is_asked else "queue"}:
            fail(f"background {background or option}: {queues}")


def check_pieces(title, arguments, kernels, launch_ms, keys=0, idle="1", shim_ms=BUDGET_MS):
    """With this budget no launch of these kernels takes longer, and several launches of each do together: twice as long."""
    status, error, launches, refused = run(arguments, keys, str(launch_ms), idle=idle, shim_ms=shim_ms)
    for kernel in kernels:
        timed = [ms for name, ms in launches if name == kernel]
        print(f"{device}: {title}: {len(timed)} launches of {kernel}, {max(timed, default=0):.2f} ms the longest of {sum(timed):.2f}")
        if len(timed) < 2 or max(timed) > launch_ms or sum(timed) <= 2 * launch_ms:
            fail(f"{title}: {len(timed)} launches of {kernel}, {max(timed, default=0):.2f} ms the longest of {sum(timed):.2f}")
    if status not in (0, 1) or refused:
        fail(f"{title}: status {status}, refused {refused[:3]}: {error}")


def check_memory():
    """Kernels whose time goes into memory, with budgets of a millisecond and less: this device copies 6 GiB in a second."""
    square, long_rows, gamma = write_zeros("square.npy", 2048, 4096), write_zeros("rows.npy", 64, 131072), write_zeros("gamma.npy", 4096)
    q, k, v = (write_zeros(f"{name}.npy", 2, 1024, size) for name, size in (("q", 64), ("k", 64), ("v", 32)))
    w, wv, mask = write_zeros("w.npy", 16, 64), write_zeros("wv.npy", 16), write_bytes("mask.npy", 2, 1024, 1024)
    cube = write_zeros("cube.npy", 128, 256, 256)
    to = ["-o", out]
    for title, launch_ms, arguments, kernels in (
            ("softmax", 1, ["op", "softmax", square], ["softmax_group"]),
            ("long rows", 1, ["op", "softmax", long_rows], ["softmax_group"]),
            ("softmax", 1, ["op", "softmax", square, "--engine", "softmax=generic"], ["softmax_generic"]),
            ("layer norm", 1, ["op", "layer_norm", square, gamma, gamma], ["layer_norm_group"]),
            ("RMS norm", 1, ["op", "rms_norm", square, gamma], ["rms_norm_group"]),
            ("activation", 1, ["op", "activation", square, "--kind", "gelu"], ["activation_vector"]),
            ("product of elements", 1, ["einsum", "ij,ij->ij", square, square], ["einsum_map"]),
            ("transpose", 1, ["einsum", "ij->ji", square], ["permute_group"]),
            ("sum in lanes", 0.1, ["einsum", "ijk,ijk,ijk->ij", cube, cube, cube], ["einsum_sum"]),
            ("sum of three", 0.1, ["einsum", "ijk,ijk,ijk->jk", cube, cube, cube], ["einsum_sum"]),
            ("additive", 0.1, ["op", "attention", q, k, v, "--score", "additive", "--wq", w, "--wk", w, "--wv", wv, "--mask", mask],
             ["attention_scores_additive", "attention_context", "attention_keep"]),
            ("distance", 1, ["op", "attention", q, k, v, "--score", "distance"], ["attention_scores_distance"])):
        check_pieces(title, [*arguments, *to], kernels, launch_ms)
    check_pieces("attention", ["op", "attention", q, k, v, "--engine", "attention=generic", *to], ["attention_generic"], 1, keys=1024)


def check_search():
    """A search for many queries. It computes: scores that were never written would be no numbers."""
    model, corpus, queries = os.path.join(data, "families", "distilbert"), os.path.join(work, "corpus.npy"), os.path.join(work, "queries")
    with open(queries, "w", encoding="utf-8") as file:
        file.writelines(f"the fox {i:x}\n" for i in range(64))
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        width = json.load(file)["dim"]
    write_zeros("corpus.npy", 65536, width)
    check_pieces("search", ["search", "--pooling", "mean", model, "--corpus", corpus, "--file", queries, "--top", "10"], ["top_k_group"], 1,
                 idle="", shim_ms=1e6)


def check_lost(arguments, kernel):
    """A device that stays lost ends the command, whose message names the last launch and what makes launches shorter."""
    for lose in ("1-", "40-"):
        status, error, launches, _ = run(arguments, 0, lose=lose)
        has_launched = any(name.startswith(kernel) for name, _ in launches)
        last = f"the last launch was {kernel}, " + r"[\d.]+ ms by estimate \(CLF_LAUNCH_MS below 100 makes launches shorter\)"
        if status != 1 or "CL_OUT_OF_RESOURCES" not in error or (has_launched and not re.search(last, error)):
            fail(f"{arguments[:2]}, device lost from call {lose}: status {status}: {error}")
    if not has_launched:
        fail(f"{arguments[:2]}: the device was lost before {kernel} each time")


def write_model(name, config, tokenizer, dtype, shapes):
    """A model of zeros, which take no space on disk."""
    folder, header, end = os.path.join(work, name), {}, 0
    os.mkdir(folder)
    for key, shape in shapes.items():
        count = {"F16": 2, "F32": 4}[dtype]
        for size in shape:
            count *= size
        header[key] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + count]}
        end += count
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    for path in tokenizer:
        shutil.copy(path, folder)
    return folder


def write_language_model():
    """A layer of Llama 3's 8 B shape; the other 31 would do the same launches again."""
    width, hidden, keys = 4096, 14336, 1024
    source = os.path.join(data, "generation", "llama")
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config.update(hidden_size=width, intermediate_size=hidden, num_attention_heads=32, num_key_value_heads=8, head_dim=128,
                  num_hidden_layers=1, max_position_embeddings=PROMPT + 8, tie_word_embeddings=True)
    layer = "model.layers.0."
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], width), "model.norm.weight": (width,),
              layer + "input_layernorm.weight": (width,), layer + "post_attention_layernorm.weight": (width,),
              layer + "self_attn.q_proj.weight": (width, width), layer + "self_attn.k_proj.weight": (keys, width),
              layer + "self_attn.v_proj.weight": (keys, width), layer + "self_attn.o_proj.weight": (width, width),
              layer + "mlp.gate_proj.weight": (hidden, width), layer + "mlp.up_proj.weight": (hidden, width),
              layer + "mlp.down_proj.weight": (width, hidden)}
    return write_model("language", config, [os.path.join(source, "tokenizer.json")], "F16", shapes)


def check_prompt():
    """A prompt as long as the model's positions allow: every pass of it keeps the budget, the last ones with all keys. 32 heads of 128
    multiply each query by half of the keys on average, twice: 4.4e12 multiply-adds, 39.8 s there. Since nothing is
    computed, the command may find that its result is no number."""
    seconds = 32 * 128 * 2 * PROMPT * PROMPT / 2 / GEN9
    prompt = os.path.join(work, "prompt")
    with open(prompt, "w", encoding="utf-8") as file:
        file.write("ab" * (PROMPT // 2) + "\n")
    model = write_language_model()
    status, error, launches, refused = run(["generate", model, "--prompt-file", prompt, "--max-tokens", "1", "--no-special-tokens"], 0)
    timed = [ms for name, ms in launches if name.startswith("cached_attention_group")]
    print(f"{device}: a prompt: {len(launches)} launches, {len(timed)} of attention, {sum(timed) / 1e3:.1f} s in all, "
          f"{max(timed, default=0):.1f} ms the longest, status {status}: {error[-200:]}")
    if refused or status not in (0, 1) or not 0.95 < sum(timed) / 1e3 / seconds < 1.3:
        fail(f"a prompt: status {status}, attention {sum(timed):.0f} ms, refused {refused[:3]}: {error[-400:]}")


def write_encoder():
    """A layer of the shape of ModernBERT large."""
    width, hidden = 1024, 2624
    source = os.path.join(data, "families", "modernbert")
    with open(os.path.join(source, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config.update(hidden_size=width, intermediate_size=hidden, num_attention_heads=16, num_hidden_layers=1, layer_types=["full_attention"],
                  max_position_embeddings=TEXT)
    shapes = {"embeddings.tok_embeddings.weight": (config["vocab_size"], width), "embeddings.norm.weight": (width,),
              "layers.0.attn.Wqkv.weight": (3 * width, width), "layers.0.attn.Wo.weight": (width, width),
              "layers.0.mlp_norm.weight": (width,), "layers.0.mlp.Wi.weight": (2 * hidden, width),
              "layers.0.mlp.Wo.weight": (width, hidden), "final_norm.weight": (width,)}
    return write_model("encoder", config, [os.path.join(source, "tokenizer.json")], "F32", shapes)


def check_text():
    """A text as long as an encoder takes, in one pass: 16 heads of 64 multiply each query by all keys, twice.
    The result may be all zero here."""
    seconds = 16 * 64 * 2 * TEXT * TEXT / GEN9
    texts = os.path.join(work, "texts")
    with open(texts, "w", encoding="utf-8") as file:
        file.write("a " * TEXT + "\n")
    arguments = ["embed", "--pooling", "mean", write_encoder(), "--file", texts, "--batch-tokens", str(TEXT)]
    status, error, launches, refused = run(arguments, TEXT)
    timed = [ms for name, ms in launches if name.startswith("attention_group")]
    print(f"{device}: a text: {len(launches)} launches, {len(timed)} of attention, {max(timed, default=0):.1f} ms the longest")
    check_pieces("a text", arguments, ["embedding_group", "layer_norm_group", "pooling_columns", "rotary"], 0.6, TEXT, shim_ms=1e6)
    if refused or status not in (0, 1) or not 0.95 < sum(timed) / 1e3 / seconds < 1.3:
        fail(f"a text: status {status}, attention {sum(timed):.0f} ms, refused {refused[:3]}: {error[-400:]}")


def output():
    with open(os.path.join(work, "output"), encoding="utf-8") as file:
        return file.read()


def check_bench():
    """A row that takes longer than the budget runs in pieces. Nothing is computed, so that it is wrong, and not refused."""
    arguments = ["bench", "--suite", "ops", "--filter", "attention/f32/b1-h8-l2048-d64-none", "--rounds", "1", "--seconds", "0.01"]
    for launch_ms, reason in (("", "wrong result"), ("0", "CL_OUT_OF_RESOURCES")):
        status, error, launches, refused = run(arguments, 2048, launch_ms)
        timed = [ms for name, ms in launches if name == "attention_group"]
        rows = [line for line in output().splitlines() if " group " in line]
        print(f"{device}: bench, CLF_LAUNCH_MS={launch_ms}: {len(timed)} launches, {max(timed, default=0):.1f} ms the longest, {rows}")
        is_split = len(timed) > 1 and not refused
        if status != 1 or len(rows) != 1 or reason not in rows[0] or is_split != (launch_ms == ""):
            fail(f"bench, CLF_LAUNCH_MS={launch_ms}: status {status}, refused {refused[:3]}: {rows}: {error}")


def check_tune():
    """Each candidate keeps the budget, and the choice is kept."""
    model = os.path.join(data, "families", "distilbert")
    status, error, launches, refused = run(["tune", "--model", model, "--minutes", "0.01"], 0, idle="")
    products = {name for name, _ in launches if name.startswith(("gemm_", "Xgemm"))}
    longest = max((ms for _, ms in launches), default=0)
    print(f"{device}: tune: {len(launches)} launches of {len(products)} products, {longest:.1f} ms the longest")
    if status != 0 or refused or len(products) < 3 or not os.path.exists(os.path.join(work, "clformer", "tuned.json")):
        fail(f"tune: status {status}, products {products}, refused {refused[:3]}: {output()[-400:]}{error[-400:]}")


with tempfile.TemporaryDirectory() as work:
    vendors = pocl_alone(work)
    size, shape = SIZES[device]
    matrix, tokens, out = write_zeros("matrix.npy", size, size), write_zeros("tokens.npy", *shape), os.path.join(work, "out.npy")
    check(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=tiled"], "gemm_tiled")
    check(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=clblast"], "Xgemm")
    check_lost(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=tiled"], "gemm_tiled")
    check_background(["einsum", "ij,jk->ik", matrix, matrix, "-o", out, "--engine", "gemm=tiled"], "gemm_tiled")
    check(["op", "attention", tokens, tokens, tokens, "-o", out, "--engine", "attention=group"], "attention_group", shape[1])
    if device == "intel_gen9":
        check_prompt()
        check_text()
    if device == "arm_small":
        check_memory()
        check_search()
        check_bench()
        check_tune()
sys.exit(1 if failures else 0)
