/* SPDX-License-Identifier: MIT */
/* Names of weights in GGUF files. All architectures share them, except those that fuse or leave out a part. */
#include "io/gguf_architecture.h"
#include "model/family.h"

#define LAYER                                                                                                                     \
    CLFI_WEIGHT(TOKENS, "token_embd"), CLFI_WEIGHT(QUERY, "blk.%d.attn_q"), CLFI_WEIGHT(KEY, "blk.%d.attn_k"),                    \
        CLFI_WEIGHT(VALUE, "blk.%d.attn_v"), CLFI_WEIGHT_FUSED_QKV("blk.%d.attn_qkv"), CLFI_WEIGHT(OUTPUT, "blk.%d.attn_output"), \
        CLFI_WEIGHT(QUERY_NORM, "blk.%d.attn_q_norm"), CLFI_WEIGHT(KEY_NORM, "blk.%d.attn_k_norm"),                               \
        CLFI_WEIGHT(ATTENTION_NORM, "blk.%d.attn_norm"), CLFI_WEIGHT(ATTENTION_POST_NORM, "blk.%d.post_attention_norm"),          \
        CLFI_WEIGHT(FFN_OUT, "blk.%d.ffn_down"), CLFI_WEIGHT(FFN_NORM, "blk.%d.ffn_norm"),                                        \
        CLFI_WEIGHT(FFN_POST_NORM, "blk.%d.post_ffw_norm"), CLFI_WEIGHT(FINAL_NORM, "output_norm")

static const clf_weight_name gated[] = {LAYER, CLFI_WEIGHT(FFN_IN, "blk.%d.ffn_gate"), CLFI_WEIGHT(FFN_GATE, "blk.%d.ffn_up"),
                                        CLFI_WEIGHTS_END};
static const clf_weight_name fused[] = {LAYER, CLFI_WEIGHT_FUSED("blk.%d.ffn_up", CLF_WEIGHT_FFN_IN, CLF_WEIGHT_FFN_GATE),
                                        CLFI_WEIGHTS_END};
static const clf_weight_name plain[] = {LAYER, CLFI_WEIGHT(FFN_IN, "blk.%d.ffn_up"), CLFI_WEIGHT(POSITIONS, "position_embd"),
                                        CLFI_WEIGHTS_END};
static const clf_weight_name head[] = {CLFI_WEIGHT(GENERATOR, "output"), CLFI_WEIGHTS_END};

static const clf_name_map maps[] = {
    [CLF_GGUF_GATED] = {.decoder = gated, .head = head},
    [CLF_GGUF_FUSED] = {.decoder = fused, .head = head},
    [CLF_GGUF_PLAIN] = {.decoder = plain, .head = head},
};

const clf_name_map *clfi_gguf_names(const char *model_type)
{
    const clf_gguf_architecture *architecture = clfi_gguf_architecture_of(model_type);
    return architecture ? &maps[architecture->feed_forward] : NULL;
}
