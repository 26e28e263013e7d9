/* SPDX-License-Identifier: MIT */
/* Name maps: the state dictionaries of labml.ai's annotated Transformer, of torch.nn.Transformer, and of Hugging Face's BART and Marian family. */
#include "model/name_maps.h"

#include <stddef.h>

#define LABML_ATTENTION(prefix)                                                                                                    \
    {prefix "query.linear.", prefix "key.linear.", prefix "value.linear.", NULL, prefix "output."}
#define LABML_STACK(stack)                                                                                                         \
    {LABML_ATTENTION(stack ".layers.%d.self_attn."), LABML_ATTENTION(stack ".layers.%d.src_attn."),                                \
     stack ".layers.%d.feed_forward.layer1.", stack ".layers.%d.feed_forward.linear_v.", stack ".layers.%d.feed_forward.layer2.",  \
     stack ".layers.%d.norm_self_attn.", stack ".layers.%d.norm_src_attn.", stack ".layers.%d.norm_ff.", stack ".norm."}

#define TORCH_ATTENTION(prefix) {NULL, NULL, NULL, prefix "in_proj_", prefix "out_proj."}
#define TORCH_STACK(stack, ffn_norm_number)                                                                                        \
    {TORCH_ATTENTION(stack ".layers.%d.self_attn."), TORCH_ATTENTION(stack ".layers.%d.multihead_attn."),                          \
     stack ".layers.%d.linear1.", stack ".layers.%d.linear_gate.", stack ".layers.%d.linear2.", stack ".layers.%d.norm1.",         \
     stack ".layers.%d.norm2.", stack ".layers.%d.norm" ffn_norm_number ".", stack ".norm."}

#define HF_ATTENTION(prefix) {prefix "q_proj.", prefix "k_proj.", prefix "v_proj.", NULL, prefix "out_proj."}
#define HF_STACK(stack)                                                                                                            \
    {HF_ATTENTION(stack ".layers.%d.self_attn."), HF_ATTENTION(stack ".layers.%d.encoder_attn."), stack ".layers.%d.fc1.",         \
     stack ".layers.%d.fc_gate.", stack ".layers.%d.fc2.", stack ".layers.%d.self_attn_layer_norm.",                               \
     stack ".layers.%d.encoder_attn_layer_norm.", stack ".layers.%d.final_layer_norm.", stack ".layer_norm."}

#define HF_MAP(name, prefix)                                                                                                       \
    {name, HF_STACK(prefix "encoder"), HF_STACK(prefix "decoder"), prefix "encoder.embed_tokens.", prefix "decoder.embed_tokens.", \
     prefix "shared.", prefix "encoder.layernorm_embedding.", prefix "decoder.layernorm_embedding.",                               \
     prefix "encoder.embed_positions.weight", prefix "decoder.embed_positions.weight", CLF_POSITIONS_BART, "lm_head.",             \
     "final_logits_bias"}

static const clf_name_map maps[CLF_NAMES_COUNT] = {
    [CLF_NAMES_LABML] = {"labml", LABML_STACK("encoder"), LABML_STACK("decoder"), "src_embed.linear.", "tgt_embed.linear.", NULL,
                         "src_embed.norm.", "tgt_embed.norm.", "src_embed.positional_encodings", "tgt_embed.positional_encodings",
                         CLF_POSITIONS_LABML, "generator.projection.", NULL},
    [CLF_NAMES_TORCH] = {"torch", TORCH_STACK("encoder", "2"), TORCH_STACK("decoder", "3"), "src_embed.", "tgt_embed.", NULL,
                         "src_embed_norm.", "tgt_embed_norm.", "src_positions.weight", "tgt_positions.weight", CLF_POSITIONS_FLAT,
                         "generator.", NULL},
    [CLF_NAMES_HUGGINGFACE] = HF_MAP("huggingface", "model."),
};

static const clf_name_map huggingface_base = HF_MAP("huggingface base", "");

const clf_name_map *clfi_name_map(clf_weight_names names)
{
    return (unsigned)names < CLF_NAMES_COUNT ? &maps[names] : NULL;
}

const clf_name_map *clfi_name_map_huggingface_base(void)
{
    return &huggingface_base;
}
