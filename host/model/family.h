/* SPDX-License-Identifier: MIT */
/* Families of models: how config.json of a model_type is read and how its weights are named. One file (family_*.c) and one row of
 * families.h for each. */
#ifndef CLFI_MODEL_FAMILY_H
#define CLFI_MODEL_FAMILY_H

#include "clformer/ops.h"
#include "model/families.h"
#include "model/model_config.h"
#include "model/name_map.h"
#include "model/stored_biases.h"

/* Tasks of a family's networks, as bits. */
typedef enum clf_task {
    CLF_TASK_EMBED = 1,     /* an encoder whose outputs are pooled: clf_model */
    CLF_TASK_TRANSFORM = 2, /* encoder and decoder, ids in and logits out: clf_transformer */
    CLF_TASK_PRONOUNCE = 4, /* with its own lists of letters and phonemes: clf_pronouncer */
    CLF_TASK_GENERATE = 8   /* a decoder with a head over a vocabulary of texts, after an encoder or not: clf_session_generate */
} clf_task;

typedef struct clf_family {
    const char *model_type;
    unsigned tasks;
    clf_pooling pooling; /* of embeddings where the directory names none; 0: mean */
    /* The network that config.json describes. FORMAT: a key is missing or out of range; UNSUPPORTED: a network that cannot be built,
     * named. */
    clf_status (*read_config)(const json_t *json, clf_network_config *out);
    const clf_name_map *names;
    const clf_bias_rule *biases; /* NULL: those that the file has */
    const char *const (*aliases)[2]; /* {another name of a key, the key}, as transformers' attribute_map; NULL after the last, NULL: none */
} clf_family;

/* The families in their order, NULL after the last. */
const clf_family *clfi_family_at(size_t index);

/* The family of config.json's model_type among those that can do one of `tasks` (0: any). UNSUPPORTED: there is none; the message lists
 * those that there are. FORMAT: another name of a key has another value than the key. */
clf_status clfi_family_find(const json_t *config, unsigned tasks, const clf_family **out);

/* Shared by BERT's relatives. */
clf_status clfi_bert_read_config(const json_t *json, clf_network_config *out);
clf_status clfi_roberta_set_padding(int64_t padding, clf_network_config *config); /* positions begin after this id */
extern const clf_weight_name clfi_bert_names[], clfi_bert_head[], clfi_roberta_head[];

/* Shared by Llama's relatives: what a family's config.json means by a key that is absent. */
typedef struct clf_decoder_defaults {
    double norm_eps, rope_theta;
    bool is_tied; /* tie_word_embeddings */
    bool turns_parts; /* partial_rotary_factor is followed */
    int64_t trained_positions; /* of longrope, if config.json does not say them, and yarn is not known; 0: as in other families */
    const char *activation;
    const char *activation_key; /* NULL: hidden_act */
} clf_decoder_defaults;

/* Pre-norm layers with RMS norms, rotary positions, key heads of their own number, gated feed-forward networks. */
clf_status clfi_decoder_read_config(const json_t *json, const clf_decoder_defaults *defaults, clf_network_config *out);

/* Reads into config->decoder, which clfi_decoder_read_config has filled, which layers see only a window. Its width is sliding_window:
 * `standard` if the key is absent, no windows if it is null. layer_types names the layers, or else the rule. UNSUPPORTED: is_causal is
 * false beside a window, or layer_types has windows although there is no width. */
clf_status clfi_decoder_read_windows(const json_t *json, int64_t standard, const clf_local_rule *rule, clf_network_config *config);

/* clfi_decoder_read_windows for families whose layers are all alike. UNSUPPORTED: layer_types says otherwise. */
clf_status clfi_decoder_read_one_window(const json_t *json, int64_t standard, clf_network_config *config);

/* The windows of Qwen: none without use_sliding_window; the first max_window_layers layers see the whole text. */
clf_status clfi_decoder_read_upper_windows(const json_t *json, clf_network_config *config);
enum { CLFI_WINDOW = 4096 }; /* the window's width that transformers assumes if config.json has no such key */
extern const clf_name_map clfi_names_llama, clfi_names_gemma2;

/* The names of a family's weights in GGUF files; NULL: GGUF has no such family. */
const clf_name_map *clfi_gguf_names(const char *model_type);

#define CLFI_FAMILY(name) extern const clf_family clfi_family_##name;
CLFI_FAMILIES(CLFI_FAMILY)
#undef CLFI_FAMILY

#endif
