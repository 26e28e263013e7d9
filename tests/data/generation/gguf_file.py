# SPDX-License-Identifier: MIT
"""Keys that make_golden.py and make_gguf.py write into GGUF files alike, as llama.cpp's converter does (needs gguf)."""
import gguf

TURNED = {"llama": {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}}  # rows in pairs that turn together


def add_sizes(writer, config):
    """Of Llama's relatives, by the keys of config.json."""
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])


def add_tokenizer(writer, tokens, merges):
    """Byte-level BPE whose first two tokens begin and end texts."""
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] * 2 + [gguf.TokenType.NORMAL] * (len(tokens) - 2))
    writer.add_token_merges([" ".join(merge) for merge in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)


def stored_name(name, architecture, layers):
    """The tensor's name in a file of this architecture."""
    stored = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, architecture.upper()), layers).get_name(
        name, try_suffixes=(".weight", ".bias"))
    if stored is None:
        raise SystemExit(f"{name} has no name in GGUF files of {architecture}")
    return stored


def turned_heads(name, architecture, config):
    """The number of heads whose rows are turned; None: the tensor stays as it is."""
    key = TURNED.get(architecture, {}).get(name.split(".")[-2])
    return config[key] if key else None


def turn(weight, heads):
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def turn_back(weight, heads):
    return weight.reshape(heads, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
