#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""\
The program against sentence-transformers and transformers themselves, on every tiny model of the folders beside this one and on new texts.

Usage: compare.py PROGRAM [--seed N] [CASE ...]     (needs torch, transformers, tokenizers, sentence-transformers; writes nothing)

A case is a model's folder, such as families/mpnet; the texts are drawn from the seed. Both sides open the same directory (but for the keys
of Nomic BERT's authors): the program runs `embed`, `rerank` and `classify` on the device that CLF_DEVICE names, the others compute in
float64. Embeddings are compared by the directory's own modules, with prompts, fewer dimensions and normalisation, and by every pooling. So
are bytes and bits with ranges and without, CrossEncoder's scores and their order, logits, and the pipeline's scores by each problem_type. A
line for
each tells the worst relative error, of a vector's length or of the largest logit, or how many bytes differ from those of the exact
embedding. An error above 1e-5 is a failure, and so is a byte that no embedding so near can have: exit status 1."""
import argparse
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

import numpy
import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.sentence_transformer import modules as parts
from sentence_transformers.util import quantize_embeddings
from tokenizers import Tokenizer

sys.dont_write_bytecode = True
import make_golden as models  # noqa: E402  pylint: disable=wrong-import-position

DATA = os.path.join(models.HERE, "..")
BOUND = 1e-5
DEEP = {"sentence/embeddinggemma": 2e-5}  # behind four layers with two norms a block, and two dense layers that cancel
WORDS = ["the", "cat", "sat", "on", "mat", "dog", "zebra", "quick", "and", "ran", "Dog", ",", "!", ".", "...", "don't", "12345",
         "\u00e9t\u00e9", "\u4f60\u597d", "\U0001f600", "<mask>", "<pad>", "</s>", "[MASK]", "\uff21\ufb01", "  two  ", "\ttab",
         "static clf_status read(int *x);"]
POOLINGS = {"cls": "cls", "max": "max", "mean": "mean", "mean_sqrt_len": "mean_sqrt_len_tokens", "weighted_mean": "weightedmean",
            "last": "lasttoken"}
CALLS = [{}, {"prompt_name": "passage"}, {"prompt": "dog, ", "normalize_embeddings": True},
         {"prompt": "", "truncate_dim": 5, "normalize_embeddings": True}]
PADDED = 3  # texts of one batch, so that they are padded


class Comparison:
    """The comparisons of one model, and the faults that they found."""
    failures = 0

    def __init__(self, program, case, folder, rng):
        self.program, self.case, self.folder, self.rng = program, case, folder, rng
        self.directory, self.bound = os.path.join(folder, "model"), DEEP.get(case, BOUND)

    def tell(self, what, error, unit="relative error"):
        is_wrong = not error <= self.bound  # also of a NaN
        Comparison.failures += is_wrong
        print(f"{self.case + ': ' + what:80} {unit} {error:.2e}{'  FAILED' if is_wrong else ''}", flush=True)

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def write_texts(self, texts):
        path = os.path.join(self.folder, "texts.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(text) + "\n" for text in texts)
        return path

    def rows(self, texts, *options):
        out = self.run("embed", "--format", "text", *options, "--file", self.write_texts(texts), self.directory)
        return numpy.array([[float(value) for value in line.split()] for line in out.splitlines()])

    def draw(self, count, most_words):
        """Texts that the network's positions hold with all special tokens, where nothing else cuts them."""
        tokenizer, texts = Tokenizer.from_file(os.path.join(self.directory, "tokenizer.json")), []
        while len(texts) < count:
            text = " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, most_words)))
            if most_words > 8 or len(tokenizer.encode(text).ids) < 17:
                texts.append(text)
        return texts


def worst(rows, wanted):
    """The largest distance of two rows, relative to the second one's length; infinite where there is none."""
    if rows.shape != wanted.shape or not rows.size or not numpy.isfinite(rows).all():
        return math.inf
    return float((numpy.linalg.norm(rows - wanted, axis=1) / numpy.linalg.norm(wanted, axis=1)).max())


def encode(model, texts, together, **call):
    with models.generation.Double():
        rows = model.encode(texts, batch_size=together, convert_to_tensor=True, **call)
    assert rows.dtype == torch.float64
    return rows.numpy()


def options_of(call):
    return [part for key, value in call.items() for part in (models.OPTIONS[key], "yes" if value is True else str(value))]


def compare_quantized(compared, texts, wanted):
    """A byte is right if some embedding within the bound has it, and of the texts' own ranges some within the bound."""
    reach = BOUND * numpy.linalg.norm(wanted, axis=1, keepdims=True)
    middle = numpy.sort(wanted, axis=0)
    for kind in ("int8", "uint8", "binary", "ubinary"):
        for given in (None, middle[[1, -2]].astype(numpy.float32)) if "int" in kind else (None,):
            options, ends, slack = ["--quantize", kind], given, 0.0
            if given is not None:
                numpy.save(os.path.join(compared.folder, "ranges.npy"), given)
                options += ["--ranges", os.path.join(compared.folder, "ranges.npy")]
            else:
                ends, slack = middle[[0, -1]].astype(numpy.float32), reach.max()
            rows, exact = compared.rows(texts, *options), quantize_embeddings(wanted, kind, ranges=ends).astype(int)
            if "int" in kind:
                low, high = (quantize_embeddings(wanted + sign * reach, kind, ranges=ends - sign * slack).astype(int) for sign in (-1, 1))
                is_right = rows.shape == exact.shape and bool(((rows >= low) & (rows <= high)).all())
            else:
                bits = numpy.unpackbits((exact + (128 if kind == "binary" else 0)).astype(numpy.uint8), axis=1)[:, :wanted.shape[1]]
                found = numpy.unpackbits((rows + (128 if kind == "binary" else 0)).astype(numpy.uint8), axis=1)[:, :wanted.shape[1]]
                is_right = rows.shape == exact.shape and bool(((bits == found) | (abs(wanted) <= reach)).all())
            differ = int((rows != exact).sum()) if rows.shape == exact.shape else -1
            compared.tell(" ".join(options[:3]), 0.0 if is_right else math.inf,
                          f"{differ} of {exact.size} bytes differ; beyond what the bound allows")


def compare_sentence(compared):
    """A whole directory: its own modules and prompts."""
    reference = shutil.copytree(compared.directory, os.path.join(compared.folder, "reference"))
    models.use_transformers_keys(reference)
    model = models.exact(SentenceTransformer(reference, device="cpu", model_kwargs=models.READ))
    has_windows = model[0].auto_model.config.model_type in ("modernbert", "qwen3", "gemma3_text")
    together = 1 if has_windows else PADDED  # a padded row whose window holds nothing else would be NaN
    is_cut = compared.case.startswith("encoders/")
    texts = compared.draw(7, 40 if is_cut else 6)
    for call in CALLS:
        told = ", ".join(f"{key} {value!r}" for key, value in call.items()) or "as the model says"
        compared.tell(told, worst(compared.rows(texts, *options_of(call)), encode(model, texts, together, **call)))
    compare_quantized(compared, texts, encode(model, texts, together))
    for directory in (compared.directory, reference):
        change_settings(directory, truncate_dim=5)
    model = models.exact(SentenceTransformer(reference, device="cpu", model_kwargs=models.READ))
    compared.tell("the model's own truncate_dim", worst(compared.rows(texts), encode(model, texts, together)))


def change_settings(directory, **change):
    path, settings = os.path.join(directory, "config_sentence_transformers.json"), {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            settings = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**settings, **change}, file)


def compare_poolings(compared):
    """A network without modules.json: the pooling is the command line's."""
    encoder = parts.Transformer(compared.directory, model_kwargs=models.READ)
    model = models.exact(SentenceTransformer(modules=[encoder, parts.Pooling(encoder.get_embedding_dimension(), "mean")], device="cpu"))
    together, texts = 1 if encoder.auto_model.config.model_type == "modernbert" else PADDED, compared.draw(7, 6)
    for option, mode in POOLINGS.items():
        model[1] = parts.Pooling(encoder.get_embedding_dimension(), mode)
        compared.tell("--pooling " + option, worst(compared.rows(texts, "--pooling", option, "--normalize", "no"),
                                                   encode(model, texts, together)))


def compare_rerank(compared, texts, what="rerank"):
    model = models.exact(CrossEncoder(compared.directory, device="cpu", model_kwargs=models.READ))
    with models.generation.Double():
        scores, logits = (model.predict([(texts[0], text) for text in texts[1:]], batch_size=PADDED, convert_to_tensor=True,
                                        activation_fn=f).numpy()
                          for f in (None, torch.nn.Identity()))
    hits = json.loads(compared.run("rerank", "--json", compared.directory, *texts))["hits"]
    order = [hit["index"] for hit in hits]
    if sorted(order) != list(range(len(scores))):
        return compared.tell(what + ": the order", math.inf)
    apart = max(abs(hit["logit"] - logits[hit["index"]]) for hit in hits) / abs(logits).max()
    compared.tell(what + ": logits", apart)
    compared.tell(what + ": scores", max(abs(hit["score"] - scores[hit["index"]]) for hit in hits) / abs(scores).max())
    fall = max(0.0, *(logits[after] - logits[before] for before, after in zip(order, order[1:])))
    return compared.tell(what + ": the order falls", fall / abs(logits).max())


def compare_classify(compared):
    texts = compared.draw(6, 4)
    inputs = [*texts[:3], [texts[0], texts[1]], [texts[2], texts[0]]]
    model = transformers_head(compared.directory)
    # knows tokenizer_config's tokens too
    tokenizer = models.transformers.AutoTokenizer.from_pretrained(compared.directory).backend_tokenizer
    path = compared.write_texts(inputs)
    with models.generation.Double():
        logits = numpy.array(models.families.classify(model, tokenizer, inputs))
        scores = models.families.pipeline_scores(model, tokenizer, inputs)
    config_path = os.path.join(compared.directory, "config.json")
    with open(config_path, encoding="utf-8") as file:
        config = json.load(file)
    for problem, wanted in scores.items():
        with open(config_path, "w", encoding="utf-8") as file:
            json.dump({**config, "problem_type": None if problem == "null" else problem}, file)
        lines = [json.loads(line) for line in compared.run("classify", "--json", "--file", path, compared.directory).splitlines()]
        if problem == "null":
            rows = numpy.array([line["logits"] for line in lines])
            apart = abs(rows - logits).max() / abs(logits).max() if rows.shape == logits.shape else math.inf
            compared.tell("classify: logits", apart)
        best = [max(range(len(row)), key=row.__getitem__) for row in wanted]
        labels = all(line["label"] == model.config.id2label[k] for line, k in zip(lines, best)) and len(lines) == len(wanted)
        compared.tell(f"classify: scores, problem_type {problem}", max(abs(line["score"] - row[k]) / max(1, abs(row[k])) for line, row, k in
                                                                       zip(lines, wanted, best)) if labels else math.inf)
    if logits.shape[1] == 1:
        shutil.copyfile(os.path.join(DATA, compared.case, "config.json"), config_path)
        compare_rerank(compared, texts)
        for name, content in (
                ("modules.json",
                 [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}]),
                ("sentence_bert_config.json", {"transformer_task": "sequence-classification", "module_output_name": "scores"})):
            models.write_json(compared.directory, name, content)
        change_settings(compared.directory, model_type="CrossEncoder", prompts={"query": "dog, "}, default_prompt_name="query")
        compare_rerank(compared, texts, "rerank with a prompt")


def transformers_head(directory):
    """In float64, made anew as in models.exact()."""
    kind = models.transformers.AutoModelForSequenceClassification
    stored = kind.from_pretrained(directory, **models.READ)
    with models.generation.Double():
        model = kind.from_config(stored.config, attn_implementation="eager")
        model.load_state_dict(stored.state_dict())
        return model.double().eval()


def positions_of(config):
    """Tokens that fit: RoBERTa and its relatives count positions from behind the padding's id on."""
    begin = {"roberta": config.get("pad_token_id"), "xlm-roberta": config.get("pad_token_id"), "camembert": config.get("pad_token_id"),
             "mpnet": 1}
    return config["max_position_embeddings"] - (begin.get(config["model_type"], -1) + 1)


def assemble(case, directory):
    """The case's directory as it would be downloaded: modules that stand alone get ../families' DistilBERT, and every
    tokenizer a tokenizer_config."""
    shutil.copytree(os.path.join(DATA, case), directory)
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not os.path.exists(os.path.join(directory, file)):
            shutil.copy(os.path.join(DATA, "families", "distilbert", file), directory)
    path = os.path.join(directory, "tokenizer_config.json")
    if os.path.exists(path):
        return
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    pad = "<pad>" if Tokenizer.from_file(os.path.join(directory, "tokenizer.json")).token_to_id("<pad>") is not None else "</s>"
    inputs = ["input_ids", "attention_mask"] + ["token_type_ids"] * (config.get("type_vocab_size", 1) > 1)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": pad, "model_max_length": positions_of(config),
                   "model_input_names": inputs}, file)


def main():
    folders = {"encoders": compare_sentence, "sentence": compare_sentence, "families": compare_poolings, "classifiers": compare_classify}
    cases = [f"{folder}/{name}" for folder in folders for name in sorted(os.listdir(os.path.join(DATA, folder)))
             if os.path.isdir(os.path.join(DATA, folder, name)) and name != "__pycache__"]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10 ** 6))
    parser.add_argument("case", nargs="*", metavar="CASE")
    given = parser.parse_intermixed_args()
    if not set(given.case) <= set(cases):
        parser.error(f"expected cases of {', '.join(cases)}")
    print("seed", given.seed)
    models.transformers.utils.logging.disable_progress_bar()
    models.transformers.utils.logging.set_verbosity_error()  # of poolers that no checkpoint has
    for case in given.case or cases:
        with tempfile.TemporaryDirectory() as folder:
            compared = Comparison(os.path.abspath(given.program), case, folder, random.Random(f"{given.seed} {case}"))
            assemble(case, compared.directory)
            folders[case.split("/", maxsplit=1)[0]](compared)
    print(f"{Comparison.failures} failures" if Comparison.failures else "all agree")
    return 1 if Comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
