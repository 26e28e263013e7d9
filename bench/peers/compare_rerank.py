#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clformer rerank against a cross-encoder on ONNX Runtime, alternating: ratios that survive a noisy machine.

usage: compare_rerank.py [--program build/clformer] [--documents 100] [--tokens 200] [--size mini|large]
                         [--layers 6] [--rounds 5] [--threads 2] [-o result.json]

A BERT with random weights and a head of one class scores a question with documents, so that a pair has about --tokens tokens. It has the
size of ms-marco-MiniLM (6 layers of width 384), or with --size large that of bge-reranker-large (width 1,024; --layers 24 for all). The
peer does what sentence-transformers' CrossEncoder does, with less overhead: it tokenizes pairs with `tokenizers` and runs batches of 32 in
order of length on a fused graph. Our time is that of tokenizing and running as --stats reports them. Loading is excluded on both sides.
Scores are compared before anything is timed. Needs numpy, onnx, onnxruntime, safetensors, tokenizers, torch and transformers."""
import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
import torch
import transformers
from safetensors.numpy import load_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from compare_encoder import spread
from encoder_graph import encoder_graph
from sides import alternate, take_processors

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SIZES = {"mini": (384, 12, 1536), "large": (1024, 16, 4096)}  # width, heads, hidden features of a feed-forward
QUESTION = "how do the words of this question meet those of a document"


def make_words(count):
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = {"".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(count)}
    return sorted(words | set(QUESTION.split()))


def longest(options):
    """Tokens of the longest pair."""
    return options.tokens * 5 // 4


def make_model(directory, options, words):
    torch.manual_seed(1)
    vocabulary = {token: index for index, token in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    width, heads, hidden = SIZES[options.size]
    config = transformers.BertConfig(vocab_size=len(vocabulary), hidden_size=width, num_hidden_layers=options.layers,
                                     num_attention_heads=heads, intermediate_size=hidden, num_labels=1,
                                     max_position_embeddings=max(512, longest(options)))
    transformers.BertForSequenceClassification(config).eval().save_pretrained(directory)
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    tokenizer.save(os.path.join(directory, "tokenizer.json"))


class Peer:
    def __init__(self, directory, threads):
        with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        weights = {name.removeprefix("bert."): value for name, value in load_file(os.path.join(directory, "model.safetensors")).items()}
        self.tokenizer = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(encoder_graph(config, weights, masked=True, classifies=True), options,
                                                    providers=["CPUExecutionProvider"])

    def scores(self, documents):
        pairs = self.tokenizer.encode_batch([(QUESTION, document) for document in documents])
        places = sorted(range(len(pairs)), key=lambda place: -len(pairs[place].ids))
        out = np.empty(len(pairs), np.float32)
        for first in range(0, len(places), 32):
            chosen = places[first:first + 32]
            lengths = np.array([len(pairs[place].ids) for place in chosen], np.int32)
            ids, types = np.zeros((2, len(chosen), int(lengths.max())), np.int32)
            for row, place in enumerate(chosen):
                ids[row, :lengths[row]] = pairs[place].ids
                types[row, :lengths[row]] = pairs[place].type_ids
            out[chosen] = self.session.run(None, {"ids": ids, "types": types, "lengths": lengths})[0][:, 0]
        return out


def run_ours(options, directory, path, count):
    """Runs clformer rerank; returns logits in the order of the documents, and milliseconds."""
    command = [options.program, "rerank", directory, QUESTION, "--file", path, "--json", "--stats", "--top", str(count)]
    done = subprocess.run(command, env=options.environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    logits = np.full(count, np.nan, np.float32)
    for hit in json.loads(done.stdout)["hits"]:
        logits[hit["index"]] = hit["logit"]
    phases = {name: float(re.search(rf"^{name} +([\d.]+) ms", done.stderr, re.MULTILINE)[1]) for name in ("tokenize", "run")}
    return logits, sum(phases.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default=os.path.join(ROOT, "build", "clformer"))
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--size", choices=SIZES, default="mini")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    options.environment = take_processors(options.threads)
    words, rng = make_words(20000), random.Random(2)
    around = len(QUESTION.split()) + 3
    documents = [" ".join(rng.choices(words, k=max(1, rng.randint(options.tokens * 3 // 4, longest(options)) - around)))
                 for _ in range(options.documents)]
    with tempfile.TemporaryDirectory() as directory:
        make_model(directory, options, words)
        path = os.path.join(directory, "documents.txt")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(document + "\n" for document in documents)
        peer = Peer(directory, options.threads)
        theirs, (mine, _) = peer.scores(documents), run_ours(options, directory, path, len(documents))
        error = float(np.abs(theirs - mine).max())
        if not error < 1e-4:
            sys.exit(f"scores differ by {error:.3g}")

        def time_peer():
            start = time.perf_counter()
            peer.scores(documents)
            return (time.perf_counter() - start) * 1e3

        results = alternate(options.rounds, lambda: run_ours(options, directory, path, len(documents))[1], time_peer)
    times = {"ours": [own for own, _ in results], "peer": [other for _, other in results]}
    ratio = spread([other / own for own, other in zip(times["ours"], times["peer"])])
    print(f"{options.documents} documents of about {options.tokens} tokens: ours {statistics.median(times['ours']):.1f} ms, ONNX Runtime "
          f"{statistics.median(times['peer']):.1f} ms, {ratio['median']:.2f} x ({ratio['min']:.2f} to {ratio['max']:.2f}); "
          f"scores differ by {error:.2g}")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump({"documents": options.documents, "tokens": options.tokens, "ms": times, "ratio": ratio}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
