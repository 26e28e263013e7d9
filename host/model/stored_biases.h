/* SPDX-License-Identifier: MIT */
/* Rules for which weights of a family have a bias: fixed by the family, or by keys of config.json. transformers fills in zeros for a
 * missing bias, and ignores a bias that the configuration does not name. Both are errors here. */
#ifndef CLFI_MODEL_STORED_BIASES_H
#define CLFI_MODEL_STORED_BIASES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "io/checkpoint.h"
#include "model/name_map.h"
#include "nn/network.h"

/* The first rule of a role counts. The last rule of a list has CLFI_EVERY_ROLE. */
typedef struct clf_bias_rule {
    uint64_t roles;   /* 1 << clf_weight_role */
    const char *key;  /* of config.json; NULL: no key changes it */
    bool is_standard; /* whether there are biases if the key is absent */
} clf_bias_rule;

#define CLFI_ROLE(role) (UINT64_C(1) << CLF_WEIGHT_##role)
#define CLFI_EVERY_ROLE UINT64_MAX
#define CLFI_ROLES_QKV (CLFI_ROLE(QUERY) | CLFI_ROLE(KEY) | CLFI_ROLE(VALUE))
#define CLFI_ROLES_ATTENTION (CLFI_ROLES_QKV | CLFI_ROLE(OUTPUT))
#define CLFI_ROLES_FFN (CLFI_ROLE(FFN_IN) | CLFI_ROLE(FFN_GATE) | CLFI_ROLE(FFN_OUT))

extern const clf_bias_rule clfi_biases_everywhere[];   /* except the generator */
extern const clf_bias_rule clfi_biases_nowhere[];
extern const clf_bias_rule clfi_biases_of_attention[]; /* attention_bias, false without the key */

/* The roles that have biases, as bits. rules: NULL for those that the file has. FORMAT: a key is not true, false or null. */
clf_status clfi_bias_roles(const json_t *config, const clf_bias_rule *rules, uint64_t *out);

/* Compares a loaded checkpoint's biases with the rules. FORMAT: a bias is missing; UNSUPPORTED: there is one that no network of this
 * configuration has. Both name the tensor, and the key if there is one. llama.cpp takes the biases that a GGUF file has: only those that
 * every network of the family has must be there. */
clf_status clfi_biases_check(clf_checkpoint *checkpoint, const clf_name_map *names, const clf_bias_rule *rules,
                             const clf_network_config *config);

#endif
