/* SPDX-License-Identifier: MIT */
/* Finds weights by their roles: which stored tensor holds a weight, and in which rows. */
#ifndef CLFI_MODEL_WEIGHT_LOOKUP_H
#define CLFI_MODEL_WEIGHT_LOOKUP_H

#include "model/name_map.h"
#include "nn/layer.h"

enum { CLFI_WEIGHT_NAME_BYTES = 256 };

/* Looks names up; `prefix` goes before every name that is not absolute. */
typedef struct clf_weight_lookup {
    bool (*has)(void *user, const char *name);
    void *user;
    const char *prefix;
} clf_weight_lookup;

/* The prefix under which the file has the first row of the map; the map's first prefix if there is none. */
const char *clfi_weight_prefix(const clf_weight_lookup *lookup, const clf_name_map *names);

/* The name of a row's tensor; suffix: "weight" or "bias". */
void clfi_weight_full_name(const char *prefix, const clf_weight_name *row, int64_t layer, const char *suffix,
                           char out[CLFI_WEIGHT_NAME_BYTES]);
bool clfi_weight_has(const clf_weight_lookup *lookup, const clf_weight_name *row, int64_t layer, const char *suffix);

/* The first row of the role whose weight is stored; else the first row, so that messages name what was looked for. NULL: the map has no
 * such role. */
const clf_weight_name *clfi_weight_find(const clf_weight_lookup *lookup, const clf_weight_name *rows, clf_weight_role role, int64_t layer);

/* Rows and columns of a layer's matrix. */
int64_t clfi_weight_rows(const clf_stack_config *config, int64_t layer, clf_weight_role role);
int64_t clfi_weight_columns(const clf_stack_config *config, int64_t layer, clf_weight_role role);

/* Rows first .. first + count - 1 of a tensor with `stored` rows: they hold a role's weight. */
typedef struct clf_weight_part {
    const clf_weight_name *row;
    int64_t stored, first, count;
} clf_weight_part;
clf_weight_part clfi_weight_part(const clf_stack_config *config, int64_t layer, const clf_weight_name *row, clf_weight_role role);

#endif
