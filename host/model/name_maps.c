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

static const clf_name_map maps[CLF_NAMES_COUNT] = {
    [CLF_NAMES_LABML] = {"labml", LABML_STACK("encoder"), LABML_STACK("decoder"), "src_embed.linear.", "tgt_embed.linear.",
                         "src_embed.positional_encodings", "tgt_embed.positional_encodings", "generator.projection."},
    [CLF_NAMES_TORCH] = {"torch", TORCH_STACK("encoder", "2"), TORCH_STACK("decoder", "3"), "src_embed.", "tgt_embed.",
                         "src_positions.weight", "tgt_positions.weight", "generator."},
    [CLF_NAMES_HUGGINGFACE] = {"huggingface", HF_STACK("model.encoder"), HF_STACK("model.decoder"), "model.encoder.embed_tokens.",
                               "model.decoder.embed_tokens.", "model.encoder.embed_positions.weight",
                               "model.decoder.embed_positions.weight", "lm_head."},
};

const clf_name_map *clfi_name_map(clf_weight_names names)
{
    return (unsigned)names < CLF_NAMES_COUNT ? &maps[names] : NULL;
}
