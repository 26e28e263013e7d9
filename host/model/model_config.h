/* SPDX-License-Identifier: MIT */
/* Reads from a model's config.json what several families have in common. */
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

extern const clf_size_keys clfi_hub_size_keys; /* the keys of most of transformers' families */

/* Reads the sizes that the keys name; heads share the width evenly. FORMAT: a key is missing or out of range, or heads do not divide the
 * width. */
clf_status clfi_model_config_sizes(const json_t *config, const clf_size_keys *keys, clf_stack_config *stack,
                                   clf_embedding_config *embedding);

/* The activation that config[key] names as transformers does ("gelu", "gelu_new", "swish" ...); a missing key is `standard`. UNSUPPORTED:
 * another name. */
clf_status clfi_model_config_activation(const json_t *config, const char *key, const char *standard, clf_activation *out);

/* The activation of that name, which config.json has under `key`. */
clf_status clfi_model_activation_find(const char *key, const char *name, clf_activation *out);

/* Finds the object that describes rotary positions: rope_scaling if it has members, which transformers 5 prefers, else rope_parameters, or
 * its member `kind` if it has that (kind NULL: one object for all layers). *out NULL: there is neither; *at: its name for messages.
 * UNSUPPORTED: both, with a kind. */
clf_status clfi_model_config_rope(const json_t *config, const char *kind, const json_t **out, const char **at);

/* Reads base and scaling of rotary positions from that object (older files: rope_theta beside rope_scaling). kind: which layers the values
 * are for ("full_attention") if the object has an entry for each kind of layer; NULL: one entry for all layers. key: the older key of the
 * base, rope_theta in most families; standard: the base where no key gives one. Sets neither dims nor pairs. For longrope it
 * reads the divisors within the trained positions, to which the model is then limited.
 * UNSUPPORTED: a scaling other than default, dynamic, linear, llama3, longrope and yarn. */
clf_status clfi_model_config_rotary(const json_t *config, const char *kind, const char *key, double standard, clf_rotary *out);

/* Reads a list of numbers above 0 that frequencies are divided by; at, key: its names for messages. FORMAT: no number, too many, or one
 * that is not above 0. */
clf_status clfi_model_config_divisors(const json_t *list, const char *at, const char *key, clf_rotary *out);

/* Which layers are local if there is no layer_types: those from `first` on, except each layer i with i % period == phase; period 0: all
 * from `first` on. */
typedef struct clf_local_rule {
    int64_t first, period, phase;
} clf_local_rule;

/* Marks the stack's local layers, whose number of layers is set: those of type "sliding_attention" in layer_types (the other type is
 * "full_attention"), or else those of the rule. FORMAT: layer_types has another number of layers. UNSUPPORTED: another type. */
clf_status clfi_model_config_local_layers(const json_t *config, const clf_local_rule *rule, clf_stack_config *stack);

/* A key that must have one value, because the family's networks are so; it may be missing. UNSUPPORTED: another value. */
typedef struct clf_expected_flag {
    const char *key;
    bool value;
} clf_expected_flag;
clf_status clfi_model_config_expect(const json_t *config, const clf_expected_flag *flags, size_t count);

/* Keys that a network of the family must not have; null is as good as missing. UNSUPPORTED: one of them. */
clf_status clfi_model_config_absent(const json_t *config, const char *const *keys, size_t count);

/* Refuses is_causal of an encoder-decoder, which transformers applies to both stacks. UNSUPPORTED: config.json has the key. */
clf_status clfi_model_config_one_way(const json_t *config);

/* Refuses windows of a network that has none: transformers' cache forgets earlier tokens all the same. Windows of at least `positions`
 * tokens and those of GGUF files change nothing. UNSUPPORTED: sliding_window or attention_chunk_size is smaller. */
clf_status clfi_model_config_no_windows(const json_t *config, int64_t positions);

#endif
