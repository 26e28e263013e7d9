#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of clformer and llama.cpp while they embed the same texts with the same weights. llama.cpp reads an encoder of BERT's kind from a
GGUF file alone, and clformer from its directory. So this writes the directory's float32 weights into a GGUF file for llama.cpp.

usage: compare_memory.py PROGRAM MODEL_DIR [--texts N] [--words N]

Prints a JSON line for each: its resident memory at the peak in MB, for llama.cpp also what Python took before the model was loaded, and the
least cosine between the embeddings of both. Ends with status 1 if a cosine is below 0.999. Needs numpy, safetensors, gguf and
llama-cpp-python."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import gguf
import numpy

WORDS = "the of and to in a is that for it as was with be by on he his but at are this have from or an they which one had".split()
CONTEXT = 512
LAYER = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
         "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up",
         "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}
EMBEDDINGS = {"word_embeddings": "token_embd", "position_embeddings": "position_embd", "token_type_embeddings": "token_types",
              "LayerNorm": "token_embd_norm"}


def name_in_gguf(name):
    """The name of a tensor in llama.cpp's files; None: it has none there."""
    name = name.removeprefix("bert.")
    layer = re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)", name)
    other = re.fullmatch(r"embeddings\.(\w+)\.(weight|bias)", name)
    if layer and layer[2] in LAYER:
        return f"blk.{layer[1]}.{LAYER[layer[2]]}.{layer[3]}"
    return f"{EMBEDDINGS[other[1]]}.{other[2]}" if other and other[1] in EMBEDDINGS else None


def write_tokens(writer, directory):
    """Words begin with a mark in llama.cpp's files, and their other parts lose theirs."""
    tokens, types = [], []
    with open(os.path.join(directory, "vocab.txt"), encoding="utf-8") as file:
        for token in file.read().split("\n")[:-1]:
            is_control = token.startswith("[") and token.endswith("]") and len(token) > 2
            tokens.append(token if is_control else token[2:] if token.startswith("##") else "\u2581" + token)
            types.append(gguf.TokenType.CONTROL if is_control else gguf.TokenType.NORMAL)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    for add, token in ((writer.add_bos_token_id, "[CLS]"), (writer.add_sep_token_id, "[SEP]"),
                       (writer.add_eos_token_id, "[SEP]"), (writer.add_unk_token_id, "[UNK]"), (writer.add_pad_token_id, "[PAD]")):
        add(tokens.index(token))
    return len(tokens)


def write_gguf(directory, path):
    from safetensors.numpy import load_file
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(config["type_vocab_size"])
    write_tokens(writer, directory)
    for name, tensor in load_file(os.path.join(directory, "model.safetensors")).items():
        if name_in_gguf(name):
            writer.add_tensor(name_in_gguf(name), tensor.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def peak_mb(process="self"):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+)", file.read())[1]) / 1e3


def llama_side(model, texts, out):
    """Runs in a process of its own."""
    import llama_cpp
    before = peak_mb()
    embedder = llama_cpp.Llama(model, embedding=True, n_ctx=CONTEXT, n_batch=CONTEXT, n_threads=2, verbose=False)
    with open(texts, encoding="ascii") as file:
        rows = [embedder.embed(line.rstrip("\n"), normalize=True) for line in file]
    numpy.save(out, numpy.array(rows, numpy.float32))
    print(json.dumps({"peak_mb": peak_mb(), "before_mb": before}))


def clformer_side(program, model, texts, out):
    """Resident memory at the peak in MB. No --stats, which keeps a record of each launch."""
    process, peak = subprocess.Popen([program, "embed", model, "--file", texts, "-o", out, "--normalize", "yes"]), 0.0
    while process.poll() is None:  # wait4() would count the memory of this process, which was forked
        try:
            peak = max(peak, peak_mb(process.pid))
        except (OSError, TypeError):  # it has ended
            pass
        time.sleep(0.005)
    if process.returncode != 0:
        sys.exit(f"{program} embed: status {process.returncode}")
    return peak


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--words", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        texts, model, ours, theirs = (os.path.join(work, name) for name in ("texts", "model.gguf", "ours.npy", "theirs.npy"))
        rng = numpy.random.default_rng(1)
        with open(texts, "w", encoding="ascii") as file:
            file.writelines(" ".join(rng.choice(WORDS, options.words)) + "\n" for _ in range(options.texts))
        write_gguf(options.model, model)
        clformer_side(options.program, options.model, texts, ours)  # compiles kernels, which takes memory once
        own = clformer_side(options.program, options.model, texts, ours)
        done = subprocess.run([sys.executable, __file__, "--llama", model, texts, theirs], check=True, capture_output=True, text=True)
        cosine = float((numpy.load(ours) * numpy.load(theirs)).sum(axis=1).min())
        print(json.dumps({"program": "clformer", "peak_mb": own, "file_mb": os.path.getsize(model) / 1e6}))
        print(json.dumps({"program": "llama.cpp", **json.loads(done.stdout), "least_cosine": cosine}))
    sys.exit(0 if cosine >= 0.999 else f"the least cosine is {cosine}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--llama"]:
        llama_side(*sys.argv[2:])
    else:
        main()
