#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""LoRA adapters of the tiny models beside this folder, as peft saves them, and the weights that they make.

Usage: make_golden.py [NAME ...]    (needs torch, transformers, peft, safetensors; writes beside itself)

Each folder holds adapter_config.json, adapter_model.safetensors and merged.safetensors: the tensors of the merged model that differ from
the base model's, under the names of its file. They are computed in float64 and rounded once for each step in which peft's merge_and_unload
rounds; the script ends where peft's own differ by more than float32's products do. base_model_name_or_path leads to the model's folder.
bert_beside is a whole model of sentence-transformers in float32 with an adapter beside its weights, and has golden.json: its embeddings."""
import json
import os
import shutil
import sys

import peft
import torch
import transformers
from safetensors.torch import load_file, save_file

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["a", "the cat sat", "zebra quick", "on the mat the cat sat and sat and sat until the dog ran"]
ENCODER, CLASSIFIER = transformers.AutoModel, transformers.AutoModelForSequenceClassification
DECODER, PAIR = transformers.AutoModelForCausalLM, transformers.AutoModelForSeq2SeqLM

# The model, its class, what LoraConfig is given, the type of the adapter's numbers.
CASES = {
    "distilbert": ("families/distilbert", ENCODER, dict(r=4, lora_alpha=8, target_modules=["q_lin", "v_lin"], bias="all"), torch.float32),
    "roberta": ("families/roberta", ENCODER, dict(r=3, lora_alpha=5, target_modules=r".*\.layer\.\d+\.attention\.self\.(query|key)",
                                                  use_rslora=True), torch.float32),
    "modernbert": ("families/modernbert", ENCODER, dict(r=4, lora_alpha=8, target_modules="all-linear",
                                                        rank_pattern={"Wqkv": 2, r"layers\.1\.mlp\.Wo": 5}, alpha_pattern={"mlp.Wi": 3}),
                   torch.bfloat16),
    "mpnet": ("families/mpnet", ENCODER, dict(r=2, target_modules=["q", "o", "intermediate.dense", "word_embeddings"]), torch.float32),
    "classifier_bert": ("classifiers/bert", CLASSIFIER, dict(task_type="SEQ_CLS", r=2, target_modules=["query", "value", "dense"]),
                        torch.float32),
    "gpt2": ("generation/gpt2", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["c_attn", "c_proj", "c_fc"], fan_in_fan_out=True,
                                              layers_to_transform=[1], layers_pattern="h", exclude_modules=["mlp.c_proj"]), torch.float16),
    "llama_tied": ("generation/llama", DECODER, dict(task_type="CAUSAL_LM", r=3, target_modules=["q_proj", "embed_tokens"]), torch.float32),
    "llama_head": ("generation/llama", DECODER, dict(task_type="CAUSAL_LM", r=3, target_modules=["lm_head", "embed_tokens"]),
                   torch.float32),
    "llama_table": ("generation/llama", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["down_proj"],
                                                      modules_to_save=["embed_tokens"]), torch.float32),
    "llama_tables": ("generation/llama", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["down_proj"],
                                                       modules_to_save=["embed_tokens", "lm_head"]), torch.float32),
    "llama_untied": ("generation/llama_untied", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["lm_head", "o_proj"]),
                     torch.float32),
    "qwen2": ("generation/qwen2", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["q_proj", "k_proj"], lora_bias=True),
              torch.float32),
    "phi3": ("generation/phi3", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules=["qkv_proj", "gate_up_proj", "o_proj"]),
             torch.float32),
    "gemma3": ("generation/gemma3", DECODER, dict(task_type="CAUSAL_LM", r=2, target_modules="all-linear"), torch.float32),
    "t5": ("translation/t5", PAIR, dict(task_type="SEQ_2_SEQ_LM", r=2, target_modules=["q", "v", "wi", "wo", "shared"]), torch.float32),
    "bart": ("translation/bart", PAIR, dict(task_type="SEQ_2_SEQ_LM", r=2, target_modules=["q_proj", "out_proj", "fc1"], bias="lora_only"),
             torch.float32),
    "marian": ("translation/marian", PAIR, dict(task_type="SEQ_2_SEQ_LM", r=2, target_modules=["k_proj", "fc2", "embed_tokens"]),
               torch.float32),
}


def randomise(model, seed):
    """Changes every tensor that peft saves, as training would."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        if parameter.requires_grad or "lora_" in name:
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.data = (noise * 0.2 if "lora_" in name else parameter.data.float() + noise * 0.05).to(parameter.dtype)


def load_base(name, loader):
    return loader.from_pretrained(os.path.join(HERE, "..", name), dtype="auto").eval()


def rounded(values, dtype):
    return values.to(torch.float32).to(dtype).to(torch.float64)


class Weights:
    """The parameters in float64; those that share memory are one."""

    def __init__(self, model):
        self.names = {name: parameter.data_ptr() for name, parameter in model.named_parameters(remove_duplicate=False)}
        self.values = {parameter.data_ptr(): parameter.detach().to(torch.float64) for parameter in model.parameters()}
        self.dtypes = {parameter.data_ptr(): parameter.dtype for parameter in model.parameters()}

    def add(self, name, change):
        place = self.names[name]
        self.values[place] = rounded(self.values[place] + change, self.dtypes[place])

    def put(self, name, tensor, is_saved):
        place = self.names[name]
        new = (name, "saved") if is_saved else place
        self.dtypes[new] = self.dtypes[place]
        self.values[new] = rounded(tensor, self.dtypes[place])
        self.names[name] = new

    def get(self, name):
        return self.values[self.names[name]]

    def dtype(self, name):
        return self.dtypes[self.names[name]]


def merge(weights, folder, model):
    """Merges as peft does, from the adapter's file alone."""
    config = peft.LoraConfig.from_pretrained(folder)
    tensors = {name.removeprefix("base_model.model."): tensor.to(torch.float64)
               for name, tensor in load_file(os.path.join(folder, "adapter_model.safetensors")).items()}
    order = [name for name, _ in model.named_modules(remove_duplicate=False)]
    for module in order:
        rank = config.rank_pattern.get(peft.utils.other.get_pattern_key(config.rank_pattern.keys(), module), config.r)
        alpha = config.alpha_pattern.get(peft.utils.other.get_pattern_key(config.alpha_pattern.keys(), module), config.lora_alpha)
        scaling = alpha / (rank ** 0.5 if config.use_rslora else rank)
        if module + ".lora_A.weight" in tensors:
            product = tensors.pop(module + ".lora_B.weight") @ tensors.pop(module + ".lora_A.weight") * scaling
            is_turned = isinstance(model.get_submodule(module), transformers.pytorch_utils.Conv1D)
            weights.add(module + ".weight", product.T if is_turned else product)
        if module + ".lora_embedding_A" in tensors:
            product = (tensors.pop(module + ".lora_embedding_B") @ tensors.pop(module + ".lora_embedding_A")).T * scaling
            weights.add(module + ".weight", rounded(product, weights.dtype(module + ".weight")))
        if module + ".lora_B.bias" in tensors:
            weights.add(module + ".bias", tensors.pop(module + ".lora_B.bias") * scaling)
    for name, tensor in tensors.items():
        is_saved = any(f".{part}." in "." + name for part in config.modules_to_save or [])
        weights.put(name.replace(".base_layer.", "."), tensor, is_saved)


def name_in(model, stored):
    """The parameter that a tensor of the file becomes."""
    prefix = model.base_model_prefix + "."
    names = dict(model.named_parameters(remove_duplicate=False))
    return next((name for name in (stored, prefix + stored, stored.removeprefix(prefix)) if name in names), None)


def make_adapter(case, folder, model, settings, dtype):
    wrapped = peft.get_peft_model(model, peft.LoraConfig(**settings))
    randomise(wrapped, sum(map(ord, case)))
    wrapped.save_pretrained(folder, save_embedding_layers=False)
    os.remove(os.path.join(folder, "README.md"))
    path = os.path.join(folder, "adapter_model.safetensors")
    tensors = load_file(path)
    save_file({name: tensor.to(dtype) if "lora_" in name else tensor for name, tensor in tensors.items()}, path, {"format": "pt"})


def write_merged(base, folder, load, file):
    weights = Weights(load())
    merge(weights, folder, load())
    merged = peft.PeftModel.from_pretrained(load(), folder).merge_and_unload()
    wanted, changed = dict(merged.named_parameters(remove_duplicate=False)), {}
    stored = load_file(file)
    names = {name: name_in(base, name) for name in stored}
    head = merged.get_output_embeddings() if hasattr(merged, "get_output_embeddings") else None
    if head is not None and head.weight.data_ptr() != merged.get_input_embeddings().weight.data_ptr():
        names["lm_head.weight"] = "lm_head.weight"
    for name, own in names.items():
        if own is None:
            continue
        worst = (weights.get(own) - wanted[own].to(torch.float64)).abs().max().item()
        if worst > wanted[own].abs().max().item() * (2e-6 if wanted[own].dtype == torch.float32 else 2 ** -11):
            sys.exit(f"{folder}: {own} is by {worst} another one than peft's")
        value = weights.get(own).to(weights.dtype(own))
        if name not in stored or not torch.equal(value, stored[name]):
            changed[name] = value.contiguous()
    save_file(changed, os.path.join(folder, "merged.safetensors"))
    print(f"{os.path.basename(folder)}: {len(changed)} tensors")


def set_base(folder, name):
    path = os.path.join(folder, "adapter_config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    config["base_model_name_or_path"] = name
    with open(path, "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1, sort_keys=True)
        file.write("\n")


def make(case):
    name, loader, settings, dtype = CASES[case]
    folder = os.path.join(HERE, case)
    shutil.rmtree(folder, ignore_errors=True)
    make_adapter(case, folder, load_base(name, loader), settings, dtype)
    write_merged(load_base(name, loader), folder, lambda: load_base(name, loader), os.path.join(HERE, "..", name, "model.safetensors"))
    set_base(folder, f"../../{name}")


def make_beside():
    """As sentence-transformers saves a model with an adapter, beside the model's own weights."""
    folder, words = os.path.join(HERE, "bert_beside"), os.path.join(HERE, "..", "classifiers", "bert", "tokenizer.json")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "1_Pooling"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=words)
    config = transformers.BertConfig(vocab_size=len(tokenizer), hidden_size=16, intermediate_size=20, num_attention_heads=2,
                                     num_hidden_layers=2, max_position_embeddings=37, pad_token_id=1)
    torch.manual_seed(5)
    model = transformers.BertModel(config)
    for parameter in model.parameters():
        parameter.data = parameter.data + torch.randn(parameter.shape) * 0.3
    model.save_pretrained(folder)
    shutil.copy(words, folder)
    for file, content in (("modules.json", [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                                            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]),
                          ("1_Pooling/config.json", {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})):
        with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
            json.dump(content, out, indent=1)
            out.write("\n")

    def load():
        return transformers.BertModel.from_pretrained(folder + "/base").eval()

    base = os.path.join(folder, "base")
    os.mkdir(base)
    for file in ("config.json", "model.safetensors"):
        shutil.copy(os.path.join(folder, file), base)
    make_adapter("bert_beside", folder, load(), dict(r=2, lora_alpha=6, target_modules=["query", "value", "dense"],
                                                     task_type="FEATURE_EXTRACTION"), torch.float32)
    write_merged(load(), folder, load, os.path.join(folder, "model.safetensors"))
    merged = peft.PeftModel.from_pretrained(load(), folder).merge_and_unload().to(torch.float64)
    set_base(folder, "a name of the hub")
    rows = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        with torch.no_grad():
            rows.append({"text": text, "embedding": merged(ids).last_hidden_state[0].mean(0).tolist()})
    shutil.rmtree(base)
    with open(os.path.join(folder, "golden.json"), "w", encoding="utf-8") as out:
        json.dump({"texts": rows, "made_with": f"peft {peft.__version__}, transformers {transformers.__version__}"}, out, indent=0)
        out.write("\n")


if __name__ == "__main__":
    chosen = sys.argv[1:] or [*CASES, "bert_beside"]
    for one in chosen:
        make_beside() if one == "bert_beside" else make(one)
