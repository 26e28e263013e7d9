/* SPDX-License-Identifier: MIT */
/* config.json of a model directory: what families have in common there. */
#ifndef CLFI_MODEL_MODEL_CONFIG_H
#define CLFI_MODEL_MODEL_CONFIG_H

#include <jansson.h>

#include "io/checkpoint.h"
#include "nn/network.h"

enum { CLFI_CONFIG_LARGEST = 1 << 24, CLFI_CONFIG_MOST_LAYERS = CLFI_STACK_MOST_LAYERS };

/* The keys that name a stack's sizes and those of its embedding; NULL: the family has no such key. */
typedef struct clf_size_keys {
    const char *width, *hidden_width, *heads, *layers, *vocabulary, *max_positions;
} clf_size_keys;

/* The sizes behind the keys; heads share the width evenly. FORMAT: a key is missing or out of range, or heads do not divide the width. */
extern const clf_size_keys clfi_hub_size_keys; /* those that most of transformers' families have */
clf_status clfi_model_config_sizes(const json_t *config, const clf_size_keys *keys, clf_stack_config *stack,
                                   clf_embedding_config *embedding);

/* The activation that config[key] names as transformers does ("gelu", "gelu_new", "swish" ...); a missing key is `standard`. UNSUPPORTED:
 * another name. */
clf_status clfi_model_config_activation(const json_t *config, const char *key, const char *standard, clf_activation *out);

/* The activation of that name, which config.json has under `key`. */
clf_status clfi_model_activation_find(const char *key, const char *name, clf_activation *out);

/* The object that describes rotary positions: a rope_scaling with members, as transformers 5 has it, before rope_parameters, or what that
 * has for `kind` (NULL: one for all). *out NULL: neither; *at: its name for messages. UNSUPPORTED: both, where kinds are told apart. */
clf_status clfi_model_config_rope(const json_t *config, const char *kind, const json_t **out, const char **at);

/* Rotary positions: base and scaling from that object (older: rope_theta beside rope_scaling), those of `kind` ("full_attention")
 * where it tells kinds of layers apart; kind NULL: one for all. key: the older one of the base, rope_theta of most families; standard: the
 * base where no key gives one. Sets neither dims nor pairs.
 * Of longrope: the divisors within the trained positions, which are then all that the model has. UNSUPPORTED: a scaling other than default,
 * dynamic, linear, llama3, longrope and yarn. */
clf_status clfi_model_config_rotary(const json_t *config, const char *kind, const char *key, double standard, clf_rotary *out);

/* Numbers above 0 that frequencies are divided by, `key` of `at` in messages. FORMAT: none, too many, or one that is none. */
clf_status clfi_model_config_divisors(const json_t *list, const char *at, const char *key, clf_rotary *out);

/* Layers that are local where layer_types does not tell: those from `first` on but each `period`-th, the first of which is `phase`; period
 * 0: all from `first` on. */
typedef struct clf_local_rule {
    int64_t first, period, phase;
} clf_local_rule;

/* Which layers of the stack, whose number is known, are local: "sliding_attention" among layer_types ("full_attention" is the other one),
 * or else the rule. FORMAT: another number of them. UNSUPPORTED: another type. */
clf_status clfi_model_config_local_layers(const json_t *config, const clf_local_rule *rule, clf_stack_config *stack);

/* Keys with the one value that the family's networks have; missing is as good. UNSUPPORTED: another value. */
typedef struct clf_expected_flag {
    const char *key;
    bool value;
} clf_expected_flag;
clf_status clfi_model_config_expect(const json_t *config, const clf_expected_flag *flags, size_t count);

/* Keys that a network of the family must not have; null is as good as missing. UNSUPPORTED: one of them. */
clf_status clfi_model_config_absent(const json_t *config, const char *const *keys, size_t count);

/* Refuses is_causal of an encoder-decoder, which transformers applies to both stacks. UNSUPPORTED: config.json has the key. */
clf_status clfi_model_config_one_way(const json_t *config);

#endif
