#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Memory of clformer and llama.cpp while they embed the same texts with the same weights. llama.cpp reads an encoder of BERT's kind from a
GGUF file alone, and clformer from its directory. So this writes the directory's float32 weights into a GGUF file for llama.cpp.

usage: compare_memory.py PROGRAM [MODEL_DIR] [--texts N] [--words N]

Without MODEL_DIR, the model has the shape of bge-m3 (XLM-RoBERTa large, 568 million weights) and random weights. The words of its
vocabulary are those of the tests, padded with unused ones.

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
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "data", "families", "xlm-roberta")
BGE_M3 = {"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "vocab_size": 250002, "hidden_size": 1024,
          "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "max_position_embeddings": 8194,
          "type_vocab_size": 1, "hidden_act": "gelu", "layer_norm_eps": 1e-5, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
DEVIATION = 0.02
LAYER = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
         "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up",
         "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm"}
EMBEDDINGS = {"word_embeddings": "token_embd", "position_embeddings": "position_embd", "token_type_embeddings": "token_types",
              "LayerNorm": "token_embd_norm"}


def shapes(config):
    """Yields (name, shape) of each tensor of an encoder of BERT's kind."""
    width, hidden = config["hidden_size"], config["intermediate_size"]
    for name, rows in (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size")):
        yield f"embeddings.{name}_embeddings.weight", (config[rows], width)
    yield "embeddings.LayerNorm.weight", (width,)
    yield "embeddings.LayerNorm.bias", (width,)
    for layer in range(config["num_hidden_layers"]):
        for name in LAYER:
            rows, columns = hidden if name == "intermediate.dense" else width, hidden if name == "output.dense" else width
            yield f"encoder.layer.{layer}.{name}.weight", (rows,) if name.endswith("LayerNorm") else (rows, columns)
            yield f"encoder.layer.{layer}.{name}.bias", (rows,)


def make_model(directory, config):
    """Writes a model directory as users download it."""
    from safetensors.numpy import save_file
    rng = numpy.random.default_rng(1)
    tensors = {name: rng.standard_normal(shape, numpy.float32) * numpy.float32(DEVIATION) + numpy.float32(name.endswith("LayerNorm.weight"))
               for name, shape in shapes(config)}
    with open(os.path.join(DATA, "tokenizer.json"), encoding="utf-8") as file:
        tokenizer = json.load(file)
    words = tokenizer["model"]["vocab"]
    words.update({f"[unused{i}]": i for i in range(len(words), config["vocab_size"])})
    for name, content in (("config.json", config), ("tokenizer.json", tokenizer)):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    save_file(tensors, os.path.join(directory, "model.safetensors"))


def name_in_gguf(name):
    """The name of a tensor in llama.cpp's files; None: it has none there."""
    name = name.removeprefix("bert.")
    layer = re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)", name)
    other = re.fullmatch(r"embeddings\.(\w+)\.(weight|bias)", name)
    if layer and layer[2] in LAYER:
        return f"blk.{layer[1]}.{LAYER[layer[2]]}.{layer[3]}"
    return f"{EMBEDDINGS[other[1]]}.{other[2]}" if other and other[1] in EMBEDDINGS else None


def read_words(directory):
    """The words of the vocabulary by their ids."""
    path = os.path.join(directory, "vocab.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]
    with open(os.path.join(directory, "tokenizer.json"), encoding="utf-8") as file:
        vocabulary = json.load(file)["model"]["vocab"]
    return sorted(vocabulary, key=vocabulary.get)


def write_tokens(writer, words):
    """Words begin with a mark in llama.cpp's files, and their other parts lose theirs."""
    tokens, types = [], []
    for token in words:
        is_control = token[0] + token[-1] in ("[]", "<>") and len(token) > 2
        tokens.append(token if is_control else token[2:] if token.startswith("##") else "\u2581" + token)
        types.append(gguf.TokenType.CONTROL if is_control else gguf.TokenType.NORMAL)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    for add, names in ((writer.add_bos_token_id, ("[CLS]", "<s>")), (writer.add_sep_token_id, ("[SEP]", "</s>")),
                       (writer.add_eos_token_id, ("[SEP]", "</s>")), (writer.add_unk_token_id, ("[UNK]", "<unk>")),
                       (writer.add_pad_token_id, ("[PAD]", "<pad>"))):
        add(next(tokens.index(name) for name in names if name in tokens))


def write_gguf(directory, path):
    from safetensors.numpy import load_file
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    first_position = config["pad_token_id"] + 1 if config["model_type"] == "xlm-roberta" else 0
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_context_length(config["max_position_embeddings"] - first_position)
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_token_type_count(config["type_vocab_size"])
    write_tokens(writer, read_words(directory))
    for name, tensor in load_file(os.path.join(directory, "model.safetensors")).items():
        if name.endswith("position_embeddings.weight"):
            tensor = tensor[first_position:]
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
    parser.add_argument("model", nargs="?")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--words", type=int, default=24)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        texts, model, ours, theirs = (os.path.join(work, name) for name in ("texts", "model.gguf", "ours.npy", "theirs.npy"))
        rng = numpy.random.default_rng(1)
        with open(texts, "w", encoding="ascii") as file:
            file.writelines(" ".join(rng.choice(WORDS, options.words)) + "\n" for _ in range(options.texts))
        directory = options.model or work
        if not options.model:
            make_model(directory, BGE_M3)
        write_gguf(directory, model)
        clformer_side(options.program, directory, texts, ours)  # compiles kernels, which takes memory once
        own = clformer_side(options.program, directory, texts, ours)
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
