/* SPDX-License-Identifier: MIT */
/* Loads a network's weights from a source. The name map says which tensor has a role's matrix (query, key, feed-forward ...). Matrices of
 * linear layers are packed for the engine that multiplies them; biases, tables and most norms stay as they are stored. */
#include "model/network_load.h"

#include <string.h>

#include "base/alloc.h"
#include "kernel/combine.h"
#include "model/weight_lookup.h"
#include "nn/positional_encoding.h"
#include "op/activation.h"
#include "op/first_use.h"
#include "runtime/rehearsal.h"

enum { NAME_BYTES = CLFI_WEIGHT_NAME_BYTES, MOST_PARTS = CLFI_MOST_FUSED };

typedef struct loader {
    clf_context *context;
    const clf_weight_source *source;
    clf_weight_lookup lookup;
    const clf_name_map *names;
    clf_network *made;
} loader;

/* The encoder or the decoder: its names in the checkpoint, its configuration, and the stack that is filled. */
typedef struct side {
    const clf_weight_name *names;
    const clf_stack_config *config;
    clf_stack *stack;
} side;

static void full_name(const loader *l, const clf_weight_name *row, int64_t layer, const char *suffix, char out[NAME_BYTES])
{
    clfi_weight_full_name(l->lookup.prefix, row, layer, suffix, out);
}

static bool has(const loader *l, const clf_weight_name *row, int64_t layer, const char *suffix)
{
    return clfi_weight_has(&l->lookup, row, layer, suffix);
}

static const clf_weight_name *find(const loader *l, const clf_weight_name *rows, clf_weight_role role, int64_t layer)
{
    return clfi_weight_find(&l->lookup, rows, role, layer);
}

static clf_status need(const loader *l, const clf_weight_name *rows, clf_weight_role role, int64_t layer, const clf_weight_name **out)
{
    *out = find(l, rows, role, layer);
    if (!*out)
        CLF_FAIL(CLF_INTERNAL, "weights: the name map has no row for role %d", (int)role);
    return CLF_OK;
}

/* The shape in which the checkpoint stores a tensor that the network has as [dim[0], ...]; its rank. */
static int stored_shape(clf_stored stored, int rank, const int64_t *dim, int64_t out[CLF_MAX_RANK])
{
    out[0] = dim[0];
    out[1] = rank > 1 ? dim[1] : 0;
    if (stored == CLF_STORED_TRANSPOSED && rank == 2) {
        out[0] = dim[1];
        out[1] = dim[0];
    } else if (stored == CLF_STORED_ROW) {
        out[0] = 1;
        out[1] = dim[0];
        return 2;
    } else if (stored == CLF_STORED_MIDDLE_ONE) {
        out[1] = 1;
        out[2] = dim[1];
        return 3;
    }
    return rank;
}

/* Changes views of the stored tensor into those that the network has, without a copy. */
static clf_status take_network_shape(const loader *l, clf_stored stored, const char *name, int rank, const int64_t *dim,
                                     clf_row_blocks *blocks)
{
    clf_view *first = &blocks->view[0];
    if (stored == CLF_STORED_TRANSPOSED && rank == 2) {
        if (blocks->count != 1)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: it is stored transposed, and exceeds the device's largest allocation of %llu bytes", name,
                     (unsigned long long)l->context->device.caps.max_allocation_bytes);
        first->dim[0] = dim[0];
        first->dim[1] = dim[1];
        first->stride[1] = first->stride[0];
        first->stride[0] = 1;
    } else if (stored == CLF_STORED_ROW && blocks->count == 1) {
        *first = clfi_view_dense(first->buffer, first->dtype, first->offset, 1, dim);
    } else if (stored == CLF_STORED_MIDDLE_ONE) {
        for (int i = 0; i < blocks->count; i++) {
            clf_view *v = &blocks->view[i];
            *v = clfi_view_dense(v->buffer, v->dtype, v->offset, 2, (int64_t[]){v->dim[0], dim[1]});
        }
    }
    return CLF_OK;
}

/* Loads a stored tensor as the network has it: [dim[0], ...]. is_matrix: with rank 2 it is a linear layer's or a token embedding table. */
static clf_status load(const loader *l, const clf_weight_name *row, int64_t layer, const char *suffix, int rank, const int64_t *dim,
                       bool is_matrix, clf_row_blocks *out)
{
    char name[NAME_BYTES];
    int64_t stored[CLF_MAX_RANK];
    clf_row_blocks blocks = CLF_ROW_BLOCKS_INIT;
    const clf_weight_use use = !is_matrix || rank != 2           ? CLFI_WEIGHT_KEPT
                               : row->stored == CLF_STORED_PLAIN ? CLFI_WEIGHT_PLAIN
                                                                 : CLFI_WEIGHT_MATRIX;
    full_name(l, row, layer, suffix, name);
    const int stored_rank = stored_shape(row->stored, rank, dim, stored);
    CLF_TRY(l->source->load(l->source->user, l->context, name, stored_rank, stored, use, &blocks));
    const clf_status st = take_network_shape(l, row->stored, name, rank, dim, &blocks);
    if (st != CLF_OK) {
        clfi_row_blocks_clear(&blocks);
        return st;
    }
    *out = blocks;
    return CLF_OK;
}

/* Loads a weight that stays in one block: norms, positions, types. */
static clf_status load_kept(const loader *l, const clf_weight_name *row, int64_t layer, const char *suffix, int rank, const int64_t *dim,
                            clf_view *view)
{
    clf_row_blocks blocks = CLF_ROW_BLOCKS_INIT;
    char name[NAME_BYTES], shape[CLFI_SHAPE_TEXT_BYTES];
    clf_status st = load(l, row, layer, suffix, rank, dim, false, &blocks);
    if (st == CLF_OK && blocks.count != 1) {
        full_name(l, row, layer, suffix, name);
        st = clfi_fail(CLF_OUT_OF_MEMORY, "%s: %s exceeds the device's largest allocation of %llu bytes", name,
                       clfi_shape_text(rank, dim, shape), (unsigned long long)l->context->device.caps.max_allocation_bytes);
    }
    if (st == CLF_OK) {
        *view = blocks.view[0];
        st = clfi_network_keep(l->made, clfi_buffer_retain(view->buffer));
    }
    clfi_row_blocks_clear(&blocks);
    return st;
}

/* Replaces the gains of a norm by scale * (gamma + offset), in f32. */
static clf_status change_gamma(const loader *l, float scale, float offset, clf_view *gamma)
{
    const size_t count = (size_t)gamma->dim[0], bytes = count * sizeof(float);
    const clf_arena_mark mark = clfi_arena_top(l->context);
    float *values;
    clf_buffer *made;
    clf_view widened;
    clf_status st;
    CLF_TRY(clfi_alloc(count, sizeof *values, "norm", &values));
    CLF_GOTO(clfi_view_temporary(l->context, CLF_F32, 1, gamma->dim, &widened));
    CLF_GOTO(clfi_activation(l->context, CLF_ACTIVATION_NONE, gamma, &widened));
    CLF_GOTO(clfi_buffer_read(widened.buffer, (size_t)widened.offset * sizeof *values, values, bytes));
    for (size_t i = 0; i < count; i++)
        values[i] = scale * (values[i] + offset);
    CLF_GOTO(clfi_buffer_create(l->context, bytes, &made));
    CLF_GOTO(clfi_network_keep(l->made, made));
    CLF_GOTO(clfi_buffer_write(made, 0, values, bytes));
    *gamma = clfi_view_dense(made, CLF_F32, 0, 1, gamma->dim);
done:
    clfi_arena_release(l->context, mark);
    free(values);
    return st;
}

static clf_status load_norm(const loader *l, const clf_weight_name *rows, clf_weight_role role, int64_t layer,
                            const clf_stack_config *config, clf_norm *out)
{
    const clf_weight_name *row;
    const bool is_of_head = role == CLF_WEIGHT_QUERY_NORM || role == CLF_WEIGHT_KEY_NORM;
    const int64_t size = is_of_head ? clfi_stack_attention(config, layer)->head_size : config->width;
    CLF_TRY(need(l, rows, role, layer, &row));
    CLF_TRY(load_kept(l, row, layer, "weight", 1, &size, &out->gamma));
    if (config->norm == CLF_NORM_RMS_PLUS_ONE)
        CLF_TRY(change_gamma(l, 1, 1, &out->gamma));
    if (config->norm == CLF_NORM_LAYER && has(l, row, layer, "bias"))
        return load_kept(l, row, layer, "bias", 1, &size, &out->beta);
    return CLF_OK;
}

/* Finds where the roles' matrices are stored. Roles whose rows follow each other in one tensor share a part. */
static clf_status find_parts(const loader *l, const side *s, int64_t layer, const clf_weight_role *roles, int count, clf_weight_part *parts,
                             int *out_count)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        const clf_weight_name *row;
        CLF_TRY(need(l, s->names, roles[i], layer, &row));
        const clf_weight_part p = clfi_weight_part(s->config, layer, row, roles[i]);
        clf_weight_part *last = made ? &parts[made - 1] : NULL;
        if (last && last->row == row && last->first + last->count == p.first)
            last->count += p.count;
        else
            parts[made++] = p;
    }
    *out_count = made;
    return CLF_OK;
}

static clf_status load_part(const loader *l, const clf_weight_part *p, int64_t layer, const char *suffix, int rank, int64_t columns,
                            clf_row_blocks *out)
{
    clf_row_blocks stored = CLF_ROW_BLOCKS_INIT;
    clf_status st = load(l, p->row, layer, suffix, rank, (int64_t[]){p->stored, columns}, true, &stored);
    if (st == CLF_OK)
        st = clfi_row_blocks_range(&stored, p->first, p->count, out);
    clfi_row_blocks_clear(&stored);
    return st;
}

/* Times the product with a matrix of the first layer before the matrix is packed, on a GPU that nobody tuned: the faster engine packs all
 * matrices of that shape. */
static void measure_product(const loader *l, const side *s, int64_t layer, const clf_weight_role *roles, int count,
                            const clf_row_blocks *weight)
{
    int64_t rows = 0;
    for (int i = 0; i < count; i++)
        rows += clfi_weight_rows(s->config, layer, roles[i]);
    if (layer == 0 && weight->count > 0 && weight->view[0].blocks == CLF_WEIGHT_F32 && weight->view[0].dtype == CLF_F32)
        clfi_first_use(l->context, rows, clfi_weight_columns(s->config, layer, roles[0]));
}

/* Loads the roles' matrices as one linear layer, whose outputs are concatenated, and packs it. */
static clf_status load_linear(const loader *l, const side *s, int64_t layer, const clf_weight_role *roles, int role_count, clf_linear **out)
{
    clf_row_blocks weights[MOST_PARTS] = {CLF_ROW_BLOCKS_INIT}, biases[MOST_PARTS] = {CLF_ROW_BLOCKS_INIT};
    clf_weight_part parts[MOST_PARTS];
    int count = 0;
    clf_status st;
    CLF_GOTO(find_parts(l, s, layer, roles, role_count, parts, &count));
    for (int i = 0; i < count; i++) {
        CLF_GOTO(load_part(l, &parts[i], layer, "weight", 2, clfi_weight_columns(s->config, layer, roles[0]), &weights[i]));
        if (has(l, parts[i].row, layer, "bias"))
            CLF_GOTO(load_part(l, &parts[i], layer, "bias", 1, 0, &biases[i]));
    }
    measure_product(l, s, layer, roles, role_count, &weights[0]);
    CLF_GOTO(clfi_linear_create_blocks(l->context, count, weights, biases, out));
    if (clfi_linear_is_packed(*out)) {
        CLF_GOTO(clf_context_finish(l->context)); /* the packing kernel still reads the weights */
        for (int i = 0; l->source->forget && i < count; i++) {
            char name[NAME_BYTES];
            full_name(l, parts[i].row, layer, "weight", name);
            l->source->forget(l->source->user, name);
        }
    }
done:
    for (int i = 0; i < MOST_PARTS; i++) {
        clfi_row_blocks_clear(&weights[i]);
        clfi_row_blocks_clear(&biases[i]);
    }
    return st;
}

static clf_status load_layer(const loader *l, const side *s, int64_t i, clf_layer *layer)
{
    static const clf_weight_role qkv[] = {CLF_WEIGHT_QUERY, CLF_WEIGHT_KEY, CLF_WEIGHT_VALUE};
    static const clf_weight_role source_kv[] = {CLF_WEIGHT_SOURCE_KEY, CLF_WEIGHT_SOURCE_VALUE};
    const struct {
        const clf_weight_role *roles;
        int count;
        bool is_wanted;
        clf_linear **out;
    } linears[] = {
        {qkv, COUNT(qkv), true, &layer->qkv},
        {(const clf_weight_role[]){CLF_WEIGHT_OUTPUT}, 1, true, &layer->output},
        {(const clf_weight_role[]){CLF_WEIGHT_SOURCE_QUERY}, 1, s->config->has_source, &layer->source_query},
        {source_kv, COUNT(source_kv), s->config->has_source, &layer->source_kv},
        {(const clf_weight_role[]){CLF_WEIGHT_SOURCE_OUTPUT}, 1, s->config->has_source, &layer->source_output},
        {(const clf_weight_role[]){CLF_WEIGHT_FFN_IN}, 1, true, &layer->ffn_in},
        {(const clf_weight_role[]){CLF_WEIGHT_FFN_GATE}, 1, s->config->is_gated, &layer->ffn_gate},
        {(const clf_weight_role[]){CLF_WEIGHT_FFN_OUT}, 1, true, &layer->ffn_out},
    };
    const bool is_both = s->config->place == CLF_NORM_BOTH, lacks_first = i == 0 && s->config->lacks_first_norm;
    const struct {
        clf_weight_role role;
        bool is_wanted;
        clf_norm *out;
    } norms[] = {
        {CLF_WEIGHT_ATTENTION_NORM, !lacks_first, &layer->attention_norm},
        {CLF_WEIGHT_ATTENTION_POST_NORM, is_both, &layer->attention_post_norm},
        {CLF_WEIGHT_SOURCE_NORM, s->config->has_source, &layer->source_norm},
        {CLF_WEIGHT_FFN_NORM, true, &layer->ffn_norm},
        {CLF_WEIGHT_FFN_POST_NORM, is_both, &layer->ffn_post_norm},
        {CLF_WEIGHT_QUERY_NORM, s->config->has_query_key_norm, &layer->query_norm},
        {CLF_WEIGHT_KEY_NORM, s->config->has_query_key_norm, &layer->key_norm},
    };
    for (size_t k = 0; k < COUNT(linears); k++)
        if (linears[k].is_wanted)
            CLF_TRY(load_linear(l, s, i, linears[k].roles, linears[k].count, linears[k].out));
    for (size_t k = 0; k < COUNT(norms); k++)
        if (norms[k].is_wanted)
            CLF_TRY(load_norm(l, s->names, norms[k].role, i, s->config, norms[k].out));
    return CLF_OK;
}

/* Writes the biases of the buckets into a table by distance: table[h, R + e] is for keys e places after the query. */
static void spread_buckets(const clf_stack_config *config, const float *buckets, float *table)
{
    const int64_t heads = config->attention.heads, reach = config->buckets.max_distance, columns = 2 * reach + 1;
    for (int64_t e = -reach; e <= reach; e++) {
        const int64_t bucket = clfi_distance_bucket(&config->buckets, config->attention.is_causal, e);
        for (int64_t h = 0; h < heads; h++)
            table[h * columns + reach + e] = buckets[bucket * heads + h];
    }
}

static clf_status load_distance_bias(const loader *l, const side *s)
{
    const int64_t heads = s->config->attention.heads, stored[2] = {s->config->buckets.count, heads};
    const int64_t dim[2] = {heads, 2 * s->config->buckets.max_distance + 1};
    const clf_arena_mark mark = clfi_arena_top(l->context);
    const size_t count = (size_t)(stored[0] * heads), table_count = (size_t)(dim[0] * dim[1]);
    const clf_weight_name *row;
    clf_row_blocks blocks = CLF_ROW_BLOCKS_INIT;
    float *buckets = NULL, *table = NULL;
    clf_buffer *made;
    clf_view widened;
    clf_status st;
    CLF_GOTO(need(l, s->names, CLF_WEIGHT_DISTANCE_BIAS, 0, &row));
    CLF_GOTO(load(l, row, 0, "weight", 2, stored, false, &blocks));
    CLF_GOTO(clfi_alloc(count, sizeof *buckets, "distance bias", &buckets));
    CLF_GOTO(clfi_alloc(table_count, sizeof *table, "distance bias", &table));
    CLF_GOTO(clfi_view_temporary(l->context, CLF_F32, 2, stored, &widened));
    CLF_GOTO(clfi_activation(l->context, CLF_ACTIVATION_NONE, &blocks.view[0], &widened));
    CLF_GOTO(clfi_buffer_read(widened.buffer, (size_t)widened.offset * sizeof *buckets, buckets, count * sizeof *buckets));
    spread_buckets(s->config, buckets, table);
    CLF_GOTO(clfi_buffer_create(l->context, table_count * sizeof *table, &made));
    CLF_GOTO(clfi_network_keep(l->made, made));
    CLF_GOTO(clfi_buffer_write(made, 0, table, table_count * sizeof *table));
    s->stack->distance_bias = clfi_view_dense(made, CLF_F32, 0, 2, dim);
done:
    clfi_arena_release(l->context, mark);
    clfi_row_blocks_clear(&blocks);
    free(buckets);
    free(table);
    return st;
}

static clf_status make_turns(const loader *l, const clf_attention_shape *shape, int64_t max_positions, clf_view *out)
{
    clf_buffer *made;
    if (shape->rotary.base == 0)
        return CLF_OK;
    CLF_TRY(clfi_rotary_table(l->context, &shape->rotary, max_positions, &made, out));
    return clfi_network_keep(l->made, made);
}

static clf_status load_stack(const loader *l, const side *s, const clf_embedding_config *embedding)
{
    const clf_stack_config *config = s->config;
    if (config->layers == 0)
        return CLF_OK;
    CLF_TRY(make_turns(l, &config->attention, embedding->max_positions, &s->stack->turns));
    if (clfi_stack_local_count(config) > 0)
        CLF_TRY(make_turns(l, &config->local, embedding->max_positions, &s->stack->local_turns));
    if (config->buckets.count > 0)
        CLF_TRY(load_distance_bias(l, s));
    for (int64_t i = 0; i < config->layers; i++)
        CLF_TRY(load_layer(l, s, i, &s->stack->layers[i]));
    return config->has_final_norm ? load_norm(l, s->names, CLF_WEIGHT_FINAL_NORM, 0, config, &s->stack->final_norm) : CLF_OK;
}

/* Computes the sinusoidal table, in double. */
static clf_status make_sinusoids(const loader *l, const clf_embedding_config *config, int64_t width, clf_view *view)
{
    const int64_t dim[2] = {config->max_positions, width};
    float *table;
    size_t count;
    clf_buffer *buffer = NULL;
    CLF_TRY(clfi_shape_count("positions", CLF_F32, 2, dim, &count));
    CLF_TRY(clfi_alloc(count, sizeof *table, "positions", &table));
    clfi_positional_encoding(0, dim[0], dim[1], config->positions == CLF_POSITIONS_SINUSOIDAL_HALVES, table);
    clf_status st = clfi_buffer_create(l->context, count * sizeof *table, &buffer);
    if (st == CLF_OK)
        st = clfi_buffer_write(buffer, 0, table, count * sizeof *table);
    free(table);
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    *view = clfi_view_dense(buffer, CLF_F32, 0, 2, dim);
    return clfi_network_keep(l->made, buffer);
}

/* Loads the rows of the stored table that positions have: position p is row p + offset. With skips_padding the view begins a row earlier,
 * at that of padding. */
static clf_status load_positions(const loader *l, const side *s, const clf_embedding_config *config, clf_view *view)
{
    const int64_t c = s->config->width, offset = config->position_offset;
    const clf_weight_name *row;
    CLF_TRY(need(l, s->names, CLF_WEIGHT_POSITIONS, 0, &row));
    CLF_TRY(load_kept(l, row, 0, "weight", 2, (int64_t[]){offset + config->max_positions, c}, view));
    const int64_t before = config->skips_padding;
    *view =
        clfi_view_dense(view->buffer, view->dtype, view->offset + (offset - before) * c, 2, (int64_t[]){before + config->max_positions, c});
    return CLF_OK;
}

/* Whether two names are one tensor, or two with the same bits. */
static bool is_one(const loader *l, const char *name, const char *other)
{
    return strcmp(name, other) == 0 || (l->source->is_copy && l->source->is_copy(l->source->user, name, other));
}

/* Finds the side's token embedding table. If the file has only the tied generator's matrix, that is the table. */
static clf_status need_tokens(const loader *l, const side *s, const clf_weight_name **out)
{
    const clf_weight_name *generator = find(l, l->names->head, CLF_WEIGHT_GENERATOR, 0);
    CLF_TRY(need(l, s->names, CLF_WEIGHT_TOKENS, 0, out));
    if (!has(l, *out, 0, "weight") && l->made->config.is_generator_tied && generator && has(l, generator, 0, "weight"))
        *out = generator;
    return CLF_OK;
}

/* Loads the side's token embedding table, or shares the rows of `held`, the other side's, if both are the same. */
static clf_status load_tokens(const loader *l, const side *s, const side *other, const clf_embedding_config *config,
                              const clf_token_embedding *held, clf_row_blocks *out)
{
    const clf_weight_name *row, *other_row = NULL;
    char name[NAME_BYTES], other_name[NAME_BYTES];
    CLF_TRY(need_tokens(l, s, &row));
    if (held && held->table.count)
        CLF_TRY(need_tokens(l, other, &other_row));
    full_name(l, row, 0, "weight", name);
    if (other_row && held->table.count && clfi_row_blocks_rows(&held->table) == config->vocabulary &&
        other->config->width == s->config->width) {
        full_name(l, other_row, 0, "weight", other_name);
        if (is_one(l, name, other_name))
            return clfi_row_blocks_range(&held->table, 0, config->vocabulary, out);
    }
    return load(l, row, 0, "weight", 2, (int64_t[]){config->vocabulary, s->config->width}, true, out);
}

static clf_status load_embedding(const loader *l, const side *s, const side *other, const clf_token_embedding *held,
                                 clf_token_embedding *out)
{
    const clf_embedding_config *config = out->config;
    const clf_weight_name *row;
    if (config->vocabulary == 0 || s->config->layers == 0)
        return CLF_OK;
    CLF_TRY(load_tokens(l, s, other, config, held, &out->table));
    if (config->positions == CLF_POSITIONS_LEARNED)
        CLF_TRY(load_positions(l, s, config, &out->positions));
    else if (config->positions != CLF_POSITIONS_NONE)
        CLF_TRY(make_sinusoids(l, config, s->config->width, &out->positions));
    if (config->types > 0) {
        CLF_TRY(need(l, s->names, CLF_WEIGHT_TYPES, 0, &row));
        CLF_TRY(load_kept(l, row, 0, "weight", 2, (int64_t[]){config->types, s->config->width}, &out->types));
    }
    return config->has_norm ? load_norm(l, s->names, CLF_WEIGHT_EMBEDDING_NORM, 0, s->config, &out->norm) : CLF_OK;
}

/* Makes a linear layer of one matrix. A packed copy is complete on return, so that the caller may free the weights. */
static clf_status make_linear(const loader *l, const clf_row_blocks *weight, const clf_row_blocks *bias, clf_linear **out)
{
    CLF_TRY(clfi_linear_create_blocks(l->context, 1, weight, bias, out));
    return clfi_linear_is_packed(*out) ? clf_context_finish(l->context) : CLF_OK;
}

static clf_status load_generator(const loader *l, const clf_name_map *names, clf_linear **out)
{
    const clf_network_config *config = &l->made->config;
    const int64_t classes = config->target.vocabulary;
    const clf_weight_name *row, *bias_row = find(l, names->head, CLF_WEIGHT_GENERATOR_BIAS, 0);
    clf_row_blocks weight = CLF_ROW_BLOCKS_INIT, bias = CLF_ROW_BLOCKS_INIT;
    char name[NAME_BYTES], other[NAME_BYTES];
    clf_status st;
    CLF_GOTO(need(l, names->head, config->is_generator_shared ? CLF_WEIGHT_SHARED : CLF_WEIGHT_GENERATOR, 0, &row));
    const bool has_bias = has(l, row, 0, "bias");
    if (config->is_generator_tied)
        CLF_GOTO(clfi_row_blocks_range(&l->made->target.table, 0, classes, &weight));
    else
        CLF_GOTO(load(l, row, 0, "weight", 2, (int64_t[]){classes, config->decoder.width}, true, &weight));
    if (bias_row && has(l, bias_row, 0, "weight")) {
        if (has_bias) {
            full_name(l, bias_row, 0, "weight", name);
            full_name(l, row, 0, "bias", other);
            CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "E_VALUE: weights: %s and %s are both there, expected one bias of the generator", name,
                               other));
        }
        CLF_GOTO(load(l, bias_row, 0, "weight", 1, &classes, false, &bias));
    } else if (has_bias) {
        CLF_GOTO(load(l, row, 0, "bias", 1, &classes, false, &bias));
    }
    CLF_GOTO(make_linear(l, &weight, &bias, out));
done:
    clfi_row_blocks_clear(&weight);
    clfi_row_blocks_clear(&bias);
    return st;
}

/* Loads a matrix of the classification head with its bias, if it has one. */
static clf_status load_head_linear(const loader *l, const clf_weight_name *rows, clf_weight_role role, int64_t out_features,
                                   int64_t in_features, clf_linear **out)
{
    const clf_weight_name *row;
    clf_row_blocks weight = CLF_ROW_BLOCKS_INIT, bias = CLF_ROW_BLOCKS_INIT;
    clf_status st;
    CLF_GOTO(need(l, rows, role, 0, &row));
    CLF_GOTO(load(l, row, 0, "weight", 2, (int64_t[]){out_features, in_features}, true, &weight));
    if (has(l, row, 0, "bias"))
        CLF_GOTO(load(l, row, 0, "bias", 1, &out_features, false, &bias));
    CLF_GOTO(make_linear(l, &weight, &bias, out));
done:
    clfi_row_blocks_clear(&weight);
    clfi_row_blocks_clear(&bias);
    return st;
}

static clf_status load_classifier(const loader *l, const clf_weight_name *rows)
{
    const clf_classifier_config *config = &l->made->config.classifier;
    const int64_t width = l->made->config.encoder.width;
    clf_classifier *classifier = &l->made->classifier;
    CLF_TRY(load_head_linear(l, rows, CLF_WEIGHT_CLASSIFIER_DENSE, width, width, &classifier->dense));
    if (config->has_norm) {
        clf_stack_config stack = l->made->config.encoder;
        stack.norm = CLF_NORM_LAYER;
        CLF_TRY(load_norm(l, rows, CLF_WEIGHT_CLASSIFIER_NORM, 0, &stack, &classifier->norm));
    }
    return load_head_linear(l, rows, CLF_WEIGHT_CLASSIFIER, config->labels, width, &classifier->out);
}

clf_status clfi_network_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                             const clf_weight_source *source, clf_network **out)
{
    loader l = {context, source, {source->has, source->user, ""}, names, NULL};
    clf_status st;
    CLF_TRY(clfi_network_create(context, config, &l.made));
    l.lookup.prefix = clfi_weight_prefix(&l.lookup, names);
    const side encoder = {names->encoder, &l.made->config.encoder, &l.made->encoder},
               decoder = {names->decoder, &l.made->config.decoder, &l.made->decoder};
    CLF_GOTO(load_embedding(&l, &encoder, NULL, NULL, &l.made->source));
    CLF_GOTO(load_embedding(&l, &decoder, &encoder, &l.made->source, &l.made->target));
    CLF_GOTO(load_stack(&l, &encoder, &l.made->config.source));
    CLF_GOTO(load_stack(&l, &decoder, &l.made->config.target));
    if (config->has_generator)
        CLF_GOTO(load_generator(&l, names, &l.made->generator));
    if (config->generator_scale > 0)
        CLF_GOTO(change_gamma(&l, config->generator_scale, 0, &l.made->decoder.final_norm.gamma));
    if (config->classifier.labels > 0)
        CLF_GOTO(load_classifier(&l, names->head));
    *out = l.made;
    return CLF_OK;
done:
    clfi_network_destroy(l.made);
    return st;
}

typedef struct first_layers {
    clf_context *context;
    clf_network_config config;
    const clf_name_map *names;
    const clf_weight_source *source;
} first_layers;

static clf_status load_first_layers(void *user)
{
    const first_layers *first = user;
    clf_network *network;
    CLF_TRY(clfi_network_load(first->context, &first->config, first->names, first->source, &network));
    clfi_network_destroy(network);
    return CLF_OK;
}

clf_status clfi_network_rehearse_load(clf_context *context, const clf_network_config *config, const clf_name_map *names,
                                      const clf_weight_source *source)
{
    first_layers first = {context, *config, names, source};
    if (context->rehearsal)
        return CLF_OK;
    first.config.encoder.layers = config->encoder.layers > 0;
    first.config.decoder.layers = config->decoder.layers > 0;
    return clfi_rehearse(context, load_first_layers, &first);
}
