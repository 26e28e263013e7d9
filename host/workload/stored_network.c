/* SPDX-License-Identifier: MIT */
/* Reads the weights of a stored network as doubles. */
#include "workload/stored_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/family.h"
#include "model/network_open.h"
#include "model/tied_tables.h"

static bool has(void *user, const char *name)
{
    clf_checkpoint_tensor tensor;
    return clfi_checkpoint_find(user, name, &tensor);
}

const clf_stack_config *clfi_stored_stack(const clfi_stored_network *model)
{
    return model->is_encoder ? &model->config.encoder : &model->config.decoder;
}

const clf_embedding_config *clfi_stored_embedding(const clfi_stored_network *model)
{
    return model->is_encoder ? &model->config.source : &model->config.target;
}

static clf_status read_config(clf_checkpoint *checkpoint, unsigned task, const clf_family **family, clfi_stored_network *out)
{
    *out = (clfi_stored_network){.checkpoint = checkpoint, .lookup = {has, checkpoint, ""}};
    CLF_TRY(clfi_family_find(clfi_checkpoint_config(checkpoint), task, family));
    CLF_TRY((*family)->read_config(clfi_checkpoint_config(checkpoint), &out->config));
    out->names = clfi_network_names(checkpoint, *family);
    return CLF_OK;
}

/* Loads the checkpoint, so that its tensors can be looked up. */
static clf_status load(clfi_stored_network *model)
{
    CLF_TRY(clfi_checkpoint_load(model->checkpoint));
    clfi_tie_generator(model->checkpoint, model->names, &model->config);
    clfi_take_positions(model->checkpoint, model->names, &model->config);
    model->lookup.prefix = clfi_weight_prefix(&model->lookup, model->names);
    return CLF_OK;
}

clf_status clfi_stored_network_open(clf_checkpoint *checkpoint, clfi_stored_network *out)
{
    const clf_family *family;
    clfi_stored_network made;
    CLF_TRY(read_config(checkpoint, CLF_TASK_GENERATE, &family, &made));
    if (!made.names || !made.names->decoder || made.config.decoder.layers == 0)
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\": expected a decoder", family->model_type);
    made.rows = made.names->decoder;
    CLF_TRY(load(&made));
    *out = made;
    return CLF_OK;
}

clf_status clfi_stored_network_open_encoder(clf_checkpoint *checkpoint, clfi_stored_network *out)
{
    const clf_family *family;
    clfi_stored_network made;
    CLF_TRY(read_config(checkpoint, CLF_TASK_EMBED | CLF_TASK_GENERATE, &family, &made));
    made.is_encoder = true;
    made.rows = made.names ? made.names->encoder : NULL;
    if (made.names && !(family->tasks & CLF_TASK_EMBED)) {
        made.rows = made.names->decoder;
        CLF_TRY(clfi_network_as_encoder(family, &made.config));
    }
    if (!made.rows)
        CLF_FAIL(CLF_UNSUPPORTED, "model_type \"%s\": expected an encoder", family->model_type);
    CLF_TRY(load(&made));
    *out = made;
    return CLF_OK;
}

clfi_stored_network clfi_stored_source(const clfi_stored_network *decoder)
{
    clfi_stored_network source = *decoder;
    source.is_encoder = true;
    source.rows = decoder->names->encoder;
    return source;
}

static bool is_of_head(clf_weight_role role)
{
    return role == CLF_WEIGHT_GENERATOR || role == CLF_WEIGHT_GENERATOR_BIAS || role == CLF_WEIGHT_SHARED;
}

/* Finds the tensor of a role; false: the checkpoint has none. name: the name that was looked for, or "". */
static bool find(const clfi_stored_network *w, clf_weight_role role, int64_t layer, const char *suffix, const clf_weight_name **row,
                 clf_checkpoint_tensor *tensor, char name[CLFI_WEIGHT_NAME_BYTES])
{
    const clf_weight_name *rows = is_of_head(role) ? w->names->head : w->rows;
    name[0] = '\0';
    *row = rows ? clfi_weight_find(&w->lookup, rows, role, layer) : NULL;
    if (!*row)
        return false;
    clfi_weight_full_name(w->lookup.prefix, *row, layer, suffix, name);
    return clfi_checkpoint_find(w->checkpoint, name, tensor);
}

static bool is_plain_number(const clf_checkpoint_tensor *tensor)
{
    return tensor->is_weight && clfi_weight_type_info(tensor->type)->block_weights == 1;
}

/* The reference reads weights in place, so it cannot apply an adapter. */
static clf_status check_stored(const clf_checkpoint_tensor *tensor)
{
    if (tensor->is_made)
        CLF_FAIL(CLF_UNSUPPORTED, "reference: an adapter changes %s: expected a model without adapter (clformer convert merges them)",
                 tensor->name);
    return CLF_OK;
}

clf_status clfi_stored_matrix(const clfi_stored_network *model, clf_weight_role role, int64_t layer, int64_t rows, int64_t columns,
                              clfi_stored_weight *out)
{
    const clf_weight_name *row;
    char name[CLFI_WEIGHT_NAME_BYTES];
    clfi_stored_weight found = {.rows = rows, .columns = columns};
    if (!find(model, role, layer, "weight", &row, &found.tensor, name))
        CLF_FAIL(CLF_NOT_FOUND, "reference: the checkpoint has no %s", name);
    CLF_TRY(check_stored(&found.tensor));
    const clf_weight_part part = clfi_weight_part(clfi_stored_stack(model), layer, row, role);
    const int64_t stored = row->role == CLF_WEIGHT_FUSED ? part.stored : rows;
    found.is_turned = row->stored == CLF_STORED_TRANSPOSED;
    found.first = part.first;
    const int64_t *dim = found.tensor.dim;
    if (!found.tensor.is_weight || found.tensor.rank != 2 || dim[found.is_turned] != stored || dim[!found.is_turned] != columns ||
        (found.is_turned && !is_plain_number(&found.tensor)))
        CLF_FAIL(CLF_FORMAT, "reference: %s: expected [%lld,%lld]", name, (long long)stored, (long long)columns);
    *out = found;
    return CLF_OK;
}

clf_status clfi_stored_vector(const clfi_stored_network *model, clf_weight_role role, int64_t layer, const char *suffix, int64_t count,
                              double **out)
{
    const clf_weight_name *row;
    clf_checkpoint_tensor tensor;
    char name[CLFI_WEIGHT_NAME_BYTES];
    *out = NULL;
    if (!find(model, role, layer, suffix, &row, &tensor, name)) {
        if (strcmp(suffix, "bias") == 0)
            return CLF_OK;
        CLF_FAIL(CLF_NOT_FOUND, "reference: the checkpoint has no %s", name);
    }
    const clf_weight_part part = clfi_weight_part(clfi_stored_stack(model), layer, row, role);
    const int64_t stored = row->role == CLF_WEIGHT_FUSED ? part.stored : count;
    CLF_TRY(check_stored(&tensor));
    const bool is_row = row->stored == CLF_STORED_ROW && tensor.rank == 2 && tensor.dim[0] == 1;
    if (!is_plain_number(&tensor) || (tensor.rank != 1 && !is_row) || tensor.dim[is_row] != stored)
        CLF_FAIL(CLF_FORMAT, "reference: %s: expected [%lld]", name, (long long)stored);
    CLF_TRY(clfi_alloc((size_t)count, sizeof **out, "reference", out));
    const size_t bytes = (size_t)clfi_weight_type_info(tensor.type)->block_bytes;
    clfi_weight_decode_f64(tensor.type, (const char *)tensor.data + (size_t)part.first * bytes, (size_t)count, *out);
    return CLF_OK;
}

void clfi_stored_row(const clfi_stored_weight *weight, int64_t row, double *out)
{
    const clf_checkpoint_tensor *tensor = &weight->tensor;
    const clf_weight_type_info *type = clfi_weight_type_info(tensor->type);
    const size_t block = (size_t)type->block_bytes, blocks = (size_t)(weight->columns / type->block_weights);
    const size_t at = (size_t)(weight->first + row);
    const char *data = tensor->data;
    if (!weight->is_turned) {
        clfi_weight_decode_f64(tensor->type, data + at * blocks * block, blocks, out);
        return;
    }
    for (int64_t i = 0; i < weight->columns; i++)
        clfi_weight_decode_f64(tensor->type, data + ((size_t)(i * tensor->dim[1]) + at) * block, 1, out + i);
}

/* Whether a row of names, in one of the layers, names the tensor. */
static bool is_named(const clfi_stored_network *model, const clf_weight_name *row, const char *tensor)
{
    static const char *const suffixes[] = {"weight", "bias"};
    char name[CLFI_WEIGHT_NAME_BYTES];
    const int64_t layers = strstr(row->pattern, "%d") ? model->config.decoder.layers : 1;
    for (int64_t layer = 0; layer < layers; layer++)
        for (size_t i = 0; i < COUNT(suffixes); i++) {
            clfi_weight_full_name(model->lookup.prefix, row, layer, suffixes[i], name);
            if (strcmp(name, tensor) == 0)
                return true;
        }
    return false;
}

/* Whether every step reads the whole tensor, as it does for layers and the head. A step reads single rows of embedding tables. It never
 * reads masks, parts that read images, or a head beside a tied table. */
static bool is_read_by_step(const clfi_stored_network *model, const char *tensor)
{
    const clf_weight_name *row;
    for (row = model->names->decoder; row->role != CLF_WEIGHT_END; row++)
        if (row->role != CLF_WEIGHT_TOKENS && row->role != CLF_WEIGHT_POSITIONS && row->role != CLF_WEIGHT_TYPES &&
            row->role != CLF_WEIGHT_SOURCE_KEY && row->role != CLF_WEIGHT_SOURCE_VALUE && is_named(model, row, tensor))
            return true;
    for (row = model->config.is_generator_tied ? NULL : model->names->head; row && row->role != CLF_WEIGHT_END; row++)
        if (is_named(model, row, tensor))
            return true;
    return false;
}

/* Whether the layers have this matrix: not all have cross-attention or a gate. */
static bool has_role(const clf_stack_config *decoder, clf_weight_role role)
{
    const bool is_source = role == CLF_WEIGHT_SOURCE_QUERY || role == CLF_WEIGHT_SOURCE_OUTPUT;
    return is_source ? decoder->has_source : role != CLF_WEIGHT_FFN_GATE || decoder->is_gated;
}

clf_status clfi_stored_network_cost(const clfi_stored_network *model, clfi_decoder_cost *out)
{
    static const clf_weight_role roles[] = {CLF_WEIGHT_QUERY,   CLF_WEIGHT_KEY,          CLF_WEIGHT_VALUE,
                                            CLF_WEIGHT_OUTPUT,  CLF_WEIGHT_FFN_IN,       CLF_WEIGHT_FFN_GATE,
                                            CLF_WEIGHT_FFN_OUT, CLF_WEIGHT_SOURCE_QUERY, CLF_WEIGHT_SOURCE_OUTPUT};
    const clf_stack_config *decoder = &model->config.decoder;
    clf_checkpoint_tensor tensor, table = {.bytes = 0};
    const clf_weight_name *row;
    char name[CLFI_WEIGHT_NAME_BYTES];
    *out = (clfi_decoder_cost){.logit_flops = 2 * (double)model->config.target.vocabulary * (double)decoder->width};
    for (int64_t layer = 0; layer < decoder->layers; layer++) {
        const clf_attention_shape *shape = clfi_stack_attention(decoder, layer);
        for (size_t i = 0; i < COUNT(roles); i++)
            if (has_role(decoder, roles[i]))
                out->token_flops +=
                    2 * (double)clfi_weight_rows(decoder, layer, roles[i]) * (double)clfi_weight_columns(decoder, layer, roles[i]);
        out->attention_flops += 4 * (double)(shape->heads * shape->head_size);
        out->cache_bytes += 2 * sizeof(float) * (double)(shape->key_heads * shape->head_size);
    }
    for (size_t i = 0; clfi_checkpoint_at(model->checkpoint, i, &tensor); i++)
        if (is_read_by_step(model, tensor.name))
            out->step_bytes += (double)tensor.bytes;
    if (!find(model, CLF_WEIGHT_TOKENS, 0, "weight", &row, &table, name))
        CLF_FAIL(CLF_NOT_FOUND, "the checkpoint has no %s", name);
    if (model->config.is_generator_tied)
        out->step_bytes += (double)table.bytes;
    return CLF_OK;
}
