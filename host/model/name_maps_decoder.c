/* SPDX-License-Identifier: MIT */
/* Name maps of decoders as transformers stores them. */
#include "model/family.h"

/* Llama's modules, and the fused ones of Phi-3. */
#define LAYER                                                                                                                              \
    CLFI_WEIGHT(TOKENS, "embed_tokens"), CLFI_WEIGHT(QUERY, "layers.%d.self_attn.q_proj"), CLFI_WEIGHT(KEY, "layers.%d.self_attn.k_proj"), \
        CLFI_WEIGHT(VALUE, "layers.%d.self_attn.v_proj"), CLFI_WEIGHT_FUSED_QKV("layers.%d.self_attn.qkv_proj"),                           \
        CLFI_WEIGHT(OUTPUT, "layers.%d.self_attn.o_proj"), CLFI_WEIGHT(QUERY_NORM, "layers.%d.self_attn.q_norm"),                          \
        CLFI_WEIGHT(KEY_NORM, "layers.%d.self_attn.k_norm"), CLFI_WEIGHT(ATTENTION_NORM, "layers.%d.input_layernorm"),                     \
        CLFI_WEIGHT(FFN_IN, "layers.%d.mlp.gate_proj"), CLFI_WEIGHT(FFN_GATE, "layers.%d.mlp.up_proj"),                                    \
        CLFI_WEIGHT_FUSED("layers.%d.mlp.gate_up_proj", CLF_WEIGHT_FFN_IN, CLF_WEIGHT_FFN_GATE),                                           \
        CLFI_WEIGHT(FFN_OUT, "layers.%d.mlp.down_proj"), CLFI_WEIGHT(FINAL_NORM, "norm")

static const clf_weight_name llama[] = {LAYER, CLFI_WEIGHT(FFN_NORM, "layers.%d.post_attention_layernorm"), CLFI_WEIGHTS_END};

/* Gemma 2 and 3 have norms before and after each block. */
static const clf_weight_name gemma2[] = {LAYER, CLFI_WEIGHT(ATTENTION_POST_NORM, "layers.%d.post_attention_layernorm"),
                                         CLFI_WEIGHT(FFN_NORM, "layers.%d.pre_feedforward_layernorm"),
                                         CLFI_WEIGHT(FFN_POST_NORM, "layers.%d.post_feedforward_layernorm"), CLFI_WEIGHTS_END};
static const clf_weight_name head[] = {CLFI_WEIGHT(GENERATOR, "/lm_head"), CLFI_WEIGHTS_END};
static const char *const prefixes[] = {"model.", "", NULL};
static const char *const prefixes_beside_pictures[] = {"model.", "language_model.model.", "model.language_model.", "", NULL};

const clf_name_map clfi_names_llama = {.prefixes = prefixes, .decoder = llama, .head = head};
const clf_name_map clfi_names_gemma2 = {.prefixes = prefixes_beside_pictures, .decoder = gemma2, .head = head};
