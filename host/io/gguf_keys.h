/* SPDX-License-Identifier: MIT */
/* Names of GGUF's keys and tensors, for the code that reads and writes GGUF files. */
#ifndef CLFI_IO_GGUF_KEYS_H
#define CLFI_IO_GGUF_KEYS_H

#define CLFI_GGUF_ARCHITECTURE "general.architecture"
#define CLFI_GGUF_ALIGNMENT "general.alignment"
#define CLFI_GGUF_TYPE "general.type"
#define CLFI_GGUF_NAME "general.name"
#define CLFI_GGUF_SAMPLING "general.sampling." /* prefix of the keys with llama.cpp's defaults for choosing tokens */
#define CLFI_GGUF_REPEAT_PENALTY CLFI_GGUF_SAMPLING "penalty_repeat"
#define CLFI_GGUF_REPEAT_WINDOW CLFI_GGUF_SAMPLING "penalty_last_n"

/* Keys that follow the architecture's name and a dot: "llama.block_count". */
#define CLFI_GGUF_LAYERS "block_count"
#define CLFI_GGUF_WIDTH "embedding_length"
#define CLFI_GGUF_HIDDEN "feed_forward_length"
#define CLFI_GGUF_POSITIONS "context_length"
#define CLFI_GGUF_EXPERTS "expert_count"
#define CLFI_GGUF_HEADS "attention.head_count"
#define CLFI_GGUF_KEY_HEADS "attention.head_count_kv"
#define CLFI_GGUF_KEY_SIZE "attention.key_length"
#define CLFI_GGUF_VALUE_SIZE "attention.value_length"
#define CLFI_GGUF_WINDOW "attention.sliding_window"
#define CLFI_GGUF_WINDOW_PATTERN "attention.sliding_window_pattern"
#define CLFI_GGUF_RMS_EPS "attention.layer_norm_rms_epsilon"
#define CLFI_GGUF_NORM_EPS "attention.layer_norm_epsilon"
#define CLFI_GGUF_SCORE_CAP "attn_logit_softcapping"
#define CLFI_GGUF_LOGIT_CAP "final_logit_softcapping"
#define CLFI_GGUF_ROPE_DIMS "rope.dimension_count"
#define CLFI_GGUF_ROPE_BASE "rope.freq_base"
#define CLFI_GGUF_ROPE_LOCAL_BASE "rope.freq_base_swa"
#define CLFI_GGUF_SCALING "rope.scaling.type"
#define CLFI_GGUF_SCALING_FACTOR "rope.scaling.factor"
#define CLFI_GGUF_SCALING_OLD_FACTOR "rope.scale_linear" /* older name of rope.scaling.factor */
#define CLFI_GGUF_SCALING_POSITIONS "rope.scaling.original_context_length"
#define CLFI_GGUF_SCALING_MAGNITUDE "rope.scaling.attn_factor"
#define CLFI_GGUF_SCALING_FAST "rope.scaling.yarn_beta_fast"
#define CLFI_GGUF_SCALING_SLOW "rope.scaling.yarn_beta_slow"

/* Values that llama.cpp takes: the base and the window of files that lack the key, and yarn's limits, whatever the file says. */
#define CLFI_GGUF_STANDARD_BASE 10000.0
#define CLFI_GGUF_STANDARD_WINDOW 64 /* of penalties for repeated tokens */
#define CLFI_GGUF_YARN_FAST 32.0
#define CLFI_GGUF_YARN_SLOW 1.0

/* Tensors with divisors of the rotary frequencies. */
#define CLFI_GGUF_FREQUENCIES "rope_freqs.weight"
#define CLFI_GGUF_FACTORS_SHORT "rope_factors_short.weight"
#define CLFI_GGUF_FACTORS_LONG "rope_factors_long.weight"

/* Keys of tokenizers. */
#define CLFI_GGUF_TOKEN_MODEL "tokenizer.ggml.model"
#define CLFI_GGUF_TOKEN_PRE "tokenizer.ggml.pre"
#define CLFI_GGUF_TOKEN_TOKENS "tokenizer.ggml.tokens"
#define CLFI_GGUF_TOKEN_MERGES "tokenizer.ggml.merges"
#define CLFI_GGUF_TOKEN_SCORES "tokenizer.ggml.scores"
#define CLFI_GGUF_TOKEN_TYPES "tokenizer.ggml.token_type"
#define CLFI_GGUF_TOKEN_BOS "tokenizer.ggml.bos_token_id"
#define CLFI_GGUF_TOKEN_EOS "tokenizer.ggml.eos_token_id"
#define CLFI_GGUF_TOKEN_UNKNOWN "tokenizer.ggml.unknown_token_id"
#define CLFI_GGUF_TOKEN_SEPARATOR "tokenizer.ggml.seperator_token_id" /* the format's spelling */
#define CLFI_GGUF_TOKEN_PADDING "tokenizer.ggml.padding_token_id"
#define CLFI_GGUF_TOKEN_CLASS "tokenizer.ggml.cls_token_id"
#define CLFI_GGUF_TOKEN_MASK "tokenizer.ggml.mask_token_id"
#define CLFI_GGUF_TOKEN_ADD_BOS "tokenizer.ggml.add_bos_token"
#define CLFI_GGUF_TOKEN_ADD_EOS "tokenizer.ggml.add_eos_token"
#define CLFI_GGUF_TOKEN_ADD_SPACE "tokenizer.ggml.add_space_prefix"
#define CLFI_GGUF_TOKEN_END_OF_TURN "tokenizer.ggml.eot_token_id"
#define CLFI_GGUF_TOKEN_END_OF_MESSAGE "tokenizer.ggml.eom_token_id"
#define CLFI_GGUF_TOKEN_SUPPRESSED "tokenizer.ggml.suppress_tokens"
#define CLFI_GGUF_TOKEN_ABSENT "clformer.absent_tokens" /* clformer's own key: texts that hold one of these tokens are refused */
#define CLFI_GGUF_TOKEN_FILL "tokenizer.ggml.fim_" /* prefix of the fill-in-the-middle keys, such as "tokenizer.ggml.fim_pre_token_id" */
#define CLFI_GGUF_TOKEN_OLD_FILL "tokenizer.ggml."

#endif
