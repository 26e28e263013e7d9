/* SPDX-License-Identifier: MIT */
/* GGUF's keys of tokenizers. */
#ifndef CLFI_TEXT_TOKENIZER_GGUF_KEYS_H
#define CLFI_TEXT_TOKENIZER_GGUF_KEYS_H

#define KEY_MODEL "tokenizer.ggml.model"
#define KEY_PRE "tokenizer.ggml.pre"
#define KEY_TOKENS "tokenizer.ggml.tokens"
#define KEY_MERGES "tokenizer.ggml.merges"
#define KEY_SCORES "tokenizer.ggml.scores"
#define KEY_TYPES "tokenizer.ggml.token_type"
#define KEY_BOS "tokenizer.ggml.bos_token_id"
#define KEY_EOS "tokenizer.ggml.eos_token_id"
#define KEY_UNKNOWN "tokenizer.ggml.unknown_token_id"
#define KEY_SEPARATOR "tokenizer.ggml.seperator_token_id" /* spelt so */
#define KEY_PADDING "tokenizer.ggml.padding_token_id"
#define KEY_ADD_BOS "tokenizer.ggml.add_bos_token"
#define KEY_ADD_EOS "tokenizer.ggml.add_eos_token"
#define KEY_ADD_SPACE "tokenizer.ggml.add_space_prefix"
#define KEY_END_OF_TURN "tokenizer.ggml.eot_token_id"
#define KEY_END_OF_MESSAGE "tokenizer.ggml.eom_token_id"

#endif
