/* SPDX-License-Identifier: MIT */
/* Decides which token embedding tables and positions a network shares or computes. */
#include "model/tied_tables.h"

#include <string.h>

#include "model/weight_lookup.h"

static bool is_there(void *checkpoint, const char *name)
{
    clf_checkpoint_tensor tensor;
    return clfi_checkpoint_find(checkpoint, name, &tensor);
}

/* The name of a role's tensor; false: it is not stored. */
static bool find(const clf_weight_lookup *lookup, const clf_weight_name *rows, clf_weight_role role, char out[CLFI_WEIGHT_NAME_BYTES])
{
    const clf_weight_name *row = clfi_weight_find(lookup, rows, role, 0);
    if (!row || !clfi_weight_has(lookup, row, 0, "weight"))
        return false;
    clfi_weight_full_name(lookup->prefix, row, 0, "weight", out);
    return true;
}

void clfi_tie_generator(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config)
{
    clf_weight_lookup lookup = {is_there, checkpoint, ""};
    char tokens[CLFI_WEIGHT_NAME_BYTES], shared[CLFI_WEIGHT_NAME_BYTES], own[CLFI_WEIGHT_NAME_BYTES];
    if (!config->has_generator || !config->is_generator_tied)
        return;
    lookup.prefix = clfi_weight_prefix(&lookup, names);
    if (!find(&lookup, names->decoder, CLF_WEIGHT_TOKENS, tokens)) /* then the generator's matrix is the table, or no table is stored */
        return;
    const bool has_shared = find(&lookup, names->head, CLF_WEIGHT_SHARED, shared);
    const char *table = has_shared ? shared : tokens;
    if (find(&lookup, names->head, CLF_WEIGHT_GENERATOR, own) && !clfi_checkpoint_is_copy(checkpoint, own, table)) {
        config->is_generator_tied = false;
    } else if (has_shared && strcmp(shared, tokens) != 0 && !clfi_checkpoint_is_copy(checkpoint, tokens, shared)) {
        config->is_generator_tied = false;
        config->is_generator_shared = true;
    }
}

static void take_positions(const clf_weight_lookup *lookup, const clf_weight_name *rows, clf_embedding_config *embedding)
{
    char name[CLFI_WEIGHT_NAME_BYTES];
    if (rows && embedding->positions == CLF_POSITIONS_SINUSOIDAL_HALVES && find(lookup, rows, CLF_WEIGHT_POSITIONS, name))
        embedding->positions = CLF_POSITIONS_LEARNED;
}

void clfi_take_positions(clf_checkpoint *checkpoint, const clf_name_map *names, clf_network_config *config)
{
    clf_weight_lookup lookup = {is_there, checkpoint, ""};
    lookup.prefix = clfi_weight_prefix(&lookup, names);
    take_positions(&lookup, names->encoder, &config->source);
    take_positions(&lookup, names->decoder, &config->target);
}

static bool is_copy_of_rows(const clf_checkpoint *checkpoint, const clf_weight_name *rows, const char *prefix, const char *name,
                            bool (*is_taken)(const void *user, const char *name), const void *user)
{
    char table[CLFI_WEIGHT_NAME_BYTES];
    for (; rows && rows->role != CLF_WEIGHT_END; rows++) {
        if (rows->role != CLF_WEIGHT_TOKENS && rows->role != CLF_WEIGHT_GENERATOR && rows->role != CLF_WEIGHT_SHARED)
            continue;
        clfi_weight_full_name(prefix, rows, 0, "weight", table);
        if (is_taken(user, table) && clfi_checkpoint_is_copy(checkpoint, name, table))
            return true;
    }
    return false;
}

bool clfi_is_copy_of_table(const clf_checkpoint *checkpoint, const clf_name_map *names, const char *prefix, const char *name,
                           bool (*is_taken)(const void *user, const char *name), const void *user)
{
    return is_copy_of_rows(checkpoint, names->encoder, prefix, name, is_taken, user) ||
           is_copy_of_rows(checkpoint, names->decoder, prefix, name, is_taken, user) ||
           is_copy_of_rows(checkpoint, names->head, prefix, name, is_taken, user);
}
