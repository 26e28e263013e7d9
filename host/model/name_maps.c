/* SPDX-License-Identifier: MIT */
/* Name maps: the state dictionaries of labml.ai's annotated Transformer, of torch.nn.Transformer, and of Hugging Face's BART and Marian
 * family. */
#include "model/name_maps.h"

#define LABML_ATTENTION(source, prefix)                                                               \
    CLFI_WEIGHT(source##QUERY, prefix "query.linear"), CLFI_WEIGHT(source##KEY, prefix "key.linear"), \
        CLFI_WEIGHT(source##VALUE, prefix "value.linear"), CLFI_WEIGHT(source##OUTPUT, prefix "output")
#define LABML_STACK(stack, embedding)                                                                                                 \
    CLFI_WEIGHT(TOKENS, embedding ".linear"), CLFI_WEIGHT_STORED(POSITIONS, embedding ".positional_encodings!", MIDDLE_ONE),          \
        CLFI_WEIGHT(EMBEDDING_NORM, embedding ".norm"), LABML_ATTENTION(, stack ".layers.%d.self_attn."),                             \
        CLFI_WEIGHT(FFN_IN, stack ".layers.%d.feed_forward.layer1"), CLFI_WEIGHT(FFN_GATE, stack ".layers.%d.feed_forward.linear_v"), \
        CLFI_WEIGHT(FFN_OUT, stack ".layers.%d.feed_forward.layer2"), CLFI_WEIGHT(ATTENTION_NORM, stack ".layers.%d.norm_self_attn"), \
        CLFI_WEIGHT(FFN_NORM, stack ".layers.%d.norm_ff"), CLFI_WEIGHT(FINAL_NORM, stack ".norm")

static const clf_weight_name labml_encoder[] = {LABML_STACK("encoder", "src_embed"), CLFI_WEIGHTS_END};
static const clf_weight_name labml_decoder[] = {LABML_STACK("decoder", "tgt_embed"),
                                                LABML_ATTENTION(SOURCE_, "decoder.layers.%d.src_attn."),
                                                CLFI_WEIGHT(SOURCE_NORM, "decoder.layers.%d.norm_src_attn"), CLFI_WEIGHTS_END};
static const clf_weight_name labml_head[] = {CLFI_WEIGHT(GENERATOR, "generator.projection"), CLFI_WEIGHTS_END};

#define TORCH_STACK(stack, embedding, ffn_norm)                                                                              \
    CLFI_WEIGHT(TOKENS, embedding "_embed"), CLFI_WEIGHT(POSITIONS, embedding "_positions"),                                 \
        CLFI_WEIGHT(EMBEDDING_NORM, embedding "_embed_norm"), CLFI_WEIGHT_FUSED_QKV(stack ".layers.%d.self_attn.in_proj_*"), \
        CLFI_WEIGHT(OUTPUT, stack ".layers.%d.self_attn.out_proj"), CLFI_WEIGHT(FFN_IN, stack ".layers.%d.linear1"),         \
        CLFI_WEIGHT(FFN_GATE, stack ".layers.%d.linear_gate"), CLFI_WEIGHT(FFN_OUT, stack ".layers.%d.linear2"),             \
        CLFI_WEIGHT(ATTENTION_NORM, stack ".layers.%d.norm1"), CLFI_WEIGHT(FFN_NORM, stack ".layers.%d." ffn_norm),          \
        CLFI_WEIGHT(FINAL_NORM, stack ".norm")

static const clf_weight_name torch_encoder[] = {TORCH_STACK("encoder", "src", "norm2"), CLFI_WEIGHTS_END};
static const clf_weight_name torch_decoder[] = {TORCH_STACK("decoder", "tgt", "norm3"),
                                                CLFI_WEIGHT_FUSED("decoder.layers.%d.multihead_attn.in_proj_*", CLF_WEIGHT_SOURCE_QUERY,
                                                                  CLF_WEIGHT_SOURCE_KEY, CLF_WEIGHT_SOURCE_VALUE),
                                                CLFI_WEIGHT(SOURCE_OUTPUT, "decoder.layers.%d.multihead_attn.out_proj"),
                                                CLFI_WEIGHT(SOURCE_NORM, "decoder.layers.%d.norm2"), CLFI_WEIGHTS_END};
static const clf_weight_name torch_head[] = {CLFI_WEIGHT(GENERATOR, "generator"), CLFI_WEIGHTS_END};

#define BART_ATTENTION(source, prefix)                                                                                                   \
    CLFI_WEIGHT(source##QUERY, prefix "q_proj"), CLFI_WEIGHT(source##KEY, prefix "k_proj"), CLFI_WEIGHT(source##VALUE, prefix "v_proj"), \
        CLFI_WEIGHT(source##OUTPUT, prefix "out_proj")
#define BART_STACK(stack)                                                                                                        \
    CLFI_WEIGHT(FFN_IN, stack ".layers.%d.fc1"), CLFI_WEIGHT(FFN_GATE, stack ".layers.%d.fc_gate"),                              \
        CLFI_WEIGHT(FFN_OUT, stack ".layers.%d.fc2"), CLFI_WEIGHT(TOKENS, stack ".embed_tokens"), CLFI_WEIGHT(TOKENS, "shared"), \
        CLFI_WEIGHT(POSITIONS, stack ".embed_positions"), CLFI_WEIGHT(EMBEDDING_NORM, stack ".layernorm_embedding"),             \
        BART_ATTENTION(, stack ".layers.%d.self_attn."), CLFI_WEIGHT(ATTENTION_NORM, stack ".layers.%d.self_attn_layer_norm"),   \
        CLFI_WEIGHT(FFN_NORM, stack ".layers.%d.final_layer_norm"), CLFI_WEIGHT(FINAL_NORM, stack ".layer_norm")

static const clf_weight_name bart_encoder[] = {BART_STACK("encoder"), CLFI_WEIGHTS_END};
static const clf_weight_name bart_decoder[] = {BART_STACK("decoder"), BART_ATTENTION(SOURCE_, "decoder.layers.%d.encoder_attn."),
                                               CLFI_WEIGHT(SOURCE_NORM, "decoder.layers.%d.encoder_attn_layer_norm"), CLFI_WEIGHTS_END};
static const clf_weight_name bart_head[] = {CLFI_WEIGHT(GENERATOR, "/lm_head"), CLFI_WEIGHT(SHARED, "shared"),
                                            CLFI_WEIGHT_STORED(GENERATOR_BIAS, "/final_logits_bias!", ROW), CLFI_WEIGHTS_END};

const clf_name_map clfi_names_labml = {(const char *const[]){"", "model.", NULL}, labml_encoder, labml_decoder, labml_head, NULL};
const clf_name_map clfi_names_bart = {(const char *const[]){"model.", "", NULL}, bart_encoder, bart_decoder, bart_head, NULL};

static const clf_name_map maps[CLF_NAMES_COUNT] = {
    [CLF_NAMES_LABML] = {NULL, labml_encoder, labml_decoder, labml_head, NULL},
    [CLF_NAMES_TORCH] = {NULL, torch_encoder, torch_decoder, torch_head, NULL},
    [CLF_NAMES_HUGGINGFACE] = {(const char *const[]){"model.", NULL}, bart_encoder, bart_decoder, bart_head, NULL},
};

const clf_name_map *clfi_name_map(clf_weight_names names)
{
    return (unsigned)names < CLF_NAMES_COUNT ? &maps[names] : NULL;
}
