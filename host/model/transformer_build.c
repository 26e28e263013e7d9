/* SPDX-License-Identifier: MIT */
/* Building an encoder-decoder: every weight by its name in the map, linears packed, small tables kept as they are. */
#include "model/transformer_build.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "nn/positional_encoding.h"

enum { NAME_BYTES = 192, MOST_PARTS = 3 };

typedef struct builder {
    clf_context *context;
    const clf_weight_source *source;
    clf_transformer *made;
} builder;

/* base with its one %d replaced, and the suffix. */
static const char *full_name(const char *base, int64_t layer, const char *suffix, char out[NAME_BYTES])
{
    const char *at = strstr(base, "%d");
    if (at)
        snprintf(out, NAME_BYTES, "%.*s%lld%s%s", (int)(at - base), base, (long long)layer, at + 2, suffix);
    else
        snprintf(out, NAME_BYTES, "%s%s", base, suffix);
    return out;
}

static clf_status load(const builder *b, const char *base, int64_t layer, const char *suffix, int rank, const int64_t *dim, clf_row_blocks *out)
{
    char name[NAME_BYTES];
    return b->source->load(b->source->user, b->context, full_name(base, layer, suffix, name), rank, dim, out);
}

/* Norms and positions: in one block. */
static clf_status load_kept(const builder *b, const char *base, int64_t layer, const char *suffix, int rank, const int64_t *dim,
                            clf_view *view)
{
    clf_row_blocks blocks = CLF_ROW_BLOCKS_INIT;
    char name[NAME_BYTES], shape[CLFI_SHAPE_TEXT_BYTES];
    clf_status st = load(b, base, layer, suffix, rank, dim, &blocks);
    if (st == CLF_OK && blocks.count != 1)
        st = clfi_fail(CLF_OUT_OF_MEMORY, "%s: %s is more than the device's largest allocation of %llu bytes", full_name(base, layer, suffix, name),
                       clfi_shape_text(rank, dim, shape), (unsigned long long)b->context->device.caps.max_allocation_bytes);
    if (st == CLF_OK) {
        *view = blocks.view[0];
        st = clfi_transformer_keep(b->made, clfi_buffer_retain(view->buffer));
    }
    clfi_row_blocks_clear(&blocks);
    return st;
}

static bool has(const builder *b, const char *base, int64_t layer, const char *suffix)
{
    char name[NAME_BYTES];
    return b->source->has(b->source->user, full_name(base, layer, suffix, name));
}

/* One linear of weights [rows_i, columns] side by side, each rows first .. first + count of a stored tensor. */
typedef struct part {
    const char *base;
    int64_t stored_rows, first, count;
} part;

static clf_status load_part(const builder *b, const part *p, int64_t layer, const char *suffix, int rank, int64_t columns,
                            clf_row_blocks *out)
{
    clf_row_blocks stored = CLF_ROW_BLOCKS_INIT;
    clf_status st = load(b, p->base, layer, suffix, rank, (int64_t[]){p->stored_rows, columns}, &stored);
    if (st == CLF_OK)
        st = clfi_row_blocks_range(&stored, p->first, p->count, out);
    clfi_row_blocks_clear(&stored);
    return st;
}

static clf_status load_linear(const builder *b, int64_t layer, int parts, const part *part_list, int64_t columns, clf_linear **out)
{
    clf_row_blocks weights[MOST_PARTS] = {CLF_ROW_BLOCKS_INIT}, biases[MOST_PARTS] = {CLF_ROW_BLOCKS_INIT};
    clf_status st = CLF_OK;
    for (int i = 0; i < parts; i++) {
        const part *p = &part_list[i];
        CLF_GOTO(load_part(b, p, layer, "weight", 2, columns, &weights[i]));
        if (has(b, p->base, layer, "bias"))
            CLF_GOTO(load_part(b, p, layer, "bias", 1, 0, &biases[i]));
    }
    CLF_GOTO(clfi_linear_create_blocks(b->context, parts, weights, biases, out));
    if (clfi_linear_is_packed(*out))
        CLF_GOTO(clf_context_finish(b->context)); /* the packing kernel still reads the weights */
done:
    for (int i = 0; i < parts; i++) {
        clfi_row_blocks_clear(&weights[i]);
        clfi_row_blocks_clear(&biases[i]);
    }
    return st;
}

static clf_status load_whole(const builder *b, const char *base, int64_t layer, int64_t rows, int64_t columns, clf_linear **out)
{
    return load_linear(b, layer, 1, (const part[]){{base, rows, 0, rows}}, columns, out);
}

static clf_status load_norm(const builder *b, const char *base, int64_t layer, clf_norm *out)
{
    const int64_t c = b->made->config.width;
    CLF_TRY(load_kept(b, base, layer, "weight", 1, &c, &out->gamma));
    return has(b, base, layer, "bias") ? load_kept(b, base, layer, "bias", 1, &c, &out->beta) : CLF_OK;
}

static clf_status load_self(const builder *b, const clf_attention_names *names, int64_t i, clf_layer *layer)
{
    const int64_t c = b->made->config.width;
    const part parts[] = {{names->query, c, 0, c}, {names->key, c, 0, c}, {names->value, c, 0, c}};
    CLF_TRY(names->fused ? load_whole(b, names->fused, i, 3 * c, c, &layer->qkv) : load_linear(b, i, 3, parts, c, &layer->qkv));
    return load_whole(b, names->output, i, c, c, &layer->output);
}

static clf_status load_source(const builder *b, const clf_attention_names *names, int64_t i, clf_layer *layer)
{
    const int64_t c = b->made->config.width;
    const part query = {names->fused, 3 * c, 0, c}, kv = {names->fused, 3 * c, c, 2 * c};
    const part parts[] = {{names->key, c, 0, c}, {names->value, c, 0, c}};
    if (names->fused) {
        CLF_TRY(load_linear(b, i, 1, &query, c, &layer->source_query));
        CLF_TRY(load_linear(b, i, 1, &kv, c, &layer->source_kv));
    } else {
        CLF_TRY(load_whole(b, names->query, i, c, c, &layer->source_query));
        CLF_TRY(load_linear(b, i, 2, parts, c, &layer->source_kv));
    }
    return load_whole(b, names->output, i, c, c, &layer->source_output);
}

static clf_status load_stack(const builder *b, const clf_stack_names *names, clf_stack *stack)
{
    const int64_t c = stack->width, f = stack->hidden_width;
    for (int64_t i = 0; i < stack->layer_count; i++) {
        clf_layer *layer = &stack->layers[i];
        CLF_TRY(load_self(b, &names->self, i, layer));
        CLF_TRY(load_norm(b, names->self_norm, i, &layer->attention_norm));
        if (stack->has_source) {
            CLF_TRY(load_source(b, &names->source, i, layer));
            CLF_TRY(load_norm(b, names->source_norm, i, &layer->source_norm));
        }
        CLF_TRY(load_whole(b, names->ffn_in, i, f, c, &layer->ffn_in));
        if (b->made->config.is_gated)
            CLF_TRY(load_whole(b, names->ffn_gate, i, f, c, &layer->ffn_gate));
        CLF_TRY(load_whole(b, names->ffn_out, i, c, f, &layer->ffn_out));
        CLF_TRY(load_norm(b, names->ffn_norm, i, &layer->ffn_norm));
    }
    if (stack->layer_count && b->made->config.has_final_norm)
        return load_norm(b, names->final_norm, 0, &stack->final_norm);
    return CLF_OK;
}

/* The sinusoidal table, computed in double. */
static clf_status make_sinusoids(const builder *b, int64_t length, clf_view *view)
{
    const int64_t dim[2] = {length, b->made->config.width};
    float *table;
    size_t count;
    clf_buffer *buffer = NULL;
    CLF_TRY(clfi_shape_count("positions", CLF_F32, 2, dim, &count));
    CLF_TRY(clfi_alloc(count, sizeof *table, "positions", &table));
    clfi_positional_encoding(0, length, dim[1], b->made->config.positions == CLF_POSITIONS_SINUSOIDAL_HALVES, table);
    clf_status st = clfi_buffer_create(b->context, count * sizeof *table, &buffer);
    if (st == CLF_OK)
        st = clfi_buffer_write(buffer, 0, table, count * sizeof *table);
    free(table);
    if (st != CLF_OK) {
        clfi_buffer_release(buffer);
        return st;
    }
    *view = clfi_view_dense(buffer, CLF_F32, 0, 2, dim);
    return clfi_transformer_keep(b->made, buffer);
}

static clf_status load_positions(const builder *b, const clf_name_map *names, bool is_target, int64_t length, clf_view *view)
{
    enum { BART_OFFSET = 2 };
    const char *name = is_target ? names->target_positions : names->source_positions;
    const int64_t c = b->made->config.width, first = names->positions_shape == CLF_POSITIONS_BART ? BART_OFFSET : 0;
    CLF_TRY(names->positions_shape == CLF_POSITIONS_LABML ? load_kept(b, name, 0, "", 3, (int64_t[]){length, 1, c}, view)
                                                          : load_kept(b, name, 0, "", 2, (int64_t[]){first + length, c}, view));
    *view = clfi_view_dense(view->buffer, view->dtype, view->offset + first * c, 2, (int64_t[]){length, c});
    return CLF_OK;
}

/* Its own table, or else the shared one, which two embeddings of one vocabulary hold once. */
static clf_status load_table(const builder *b, const clf_name_map *names, bool is_target, int64_t vocabulary, clf_row_blocks *out)
{
    const int64_t dim[2] = {vocabulary, b->made->config.width};
    const char *own = is_target ? names->target_table : names->source_table;
    if (!names->shared_table || has(b, own, 0, "weight") || !has(b, names->shared_table, 0, "weight"))
        return load(b, own, 0, "weight", 2, dim, out);
    const clf_row_blocks *source = &b->made->source.table;
    const bool is_held =
        is_target && source->count && !has(b, names->source_table, 0, "weight") && clfi_row_blocks_rows(source) == vocabulary;
    return is_held ? clfi_row_blocks_range(source, 0, vocabulary, out) : load(b, names->shared_table, 0, "weight", 2, dim, out);
}

static clf_status load_embedding(const builder *b, const clf_name_map *names, bool is_target, clf_token_embedding *out)
{
    const clf_transformer_config *config = &b->made->config;
    const int64_t vocabulary = is_target ? config->target_vocabulary : config->source_vocabulary;
    const int64_t length = is_target ? config->max_target : config->max_source;
    if (vocabulary == 0 || (is_target ? config->decoder_layers : config->encoder_layers) == 0)
        return CLF_OK;
    CLF_TRY(load_table(b, names, is_target, vocabulary, &out->table));
    if (config->has_embedding_norm)
        CLF_TRY(load_norm(b, is_target ? names->target_norm : names->source_norm, 0, &out->norm));
    switch (config->positions) {
    case CLF_POSITIONS_SINUSOIDAL:
    case CLF_POSITIONS_SINUSOIDAL_HALVES:
        return make_sinusoids(b, length, &out->positions);
    case CLF_POSITIONS_LEARNED:
        return load_positions(b, names, is_target, length, &out->positions);
    default:
        return CLF_OK;
    }
}

/* A stored [1,V] as the vector of V. */
static clf_status load_logits_bias(const builder *b, const char *name, int64_t classes, clf_row_blocks *out)
{
    clf_row_blocks stored = CLF_ROW_BLOCKS_INIT;
    CLF_TRY(load(b, name, 0, "", 2, (int64_t[]){1, classes}, &stored));
    const clf_view *row = &stored.view[0];
    const clf_view vector = clfi_view_dense(clfi_buffer_retain(row->buffer), row->dtype, row->offset, 1, &classes);
    const clf_status st = clfi_row_blocks_add(out, &vector);
    clfi_row_blocks_clear(&stored);
    return st;
}

static clf_status load_generator(const builder *b, const clf_name_map *names, clf_linear **out)
{
    const clf_transformer_config *config = &b->made->config;
    const int64_t classes = config->target_vocabulary;
    const bool has_bias = has(b, names->generator, 0, "bias");
    clf_row_blocks weight = CLF_ROW_BLOCKS_INIT, bias = CLF_ROW_BLOCKS_INIT;
    clf_status st;
    if (config->is_generator_tied)
        CLF_GOTO(clfi_row_blocks_range(&b->made->target.table, 0, classes, &weight));
    else
        CLF_GOTO(load(b, names->generator, 0, "weight", 2, (int64_t[]){classes, config->width}, &weight));
    if (names->logits_bias && has(b, names->logits_bias, 0, "")) {
        if (has_bias)
            CLF_GOTO(clfi_fail(CLF_INVALID_ARGUMENT, "E_VALUE: weights: %s and %sbias are both there, expected one bias of the generator",
                               names->logits_bias, names->generator));
        CLF_GOTO(load_logits_bias(b, names->logits_bias, classes, &bias));
    } else if (has_bias) {
        CLF_GOTO(load(b, names->generator, 0, "bias", 1, &classes, &bias));
    }
    CLF_GOTO(clfi_linear_create_blocks(b->context, 1, &weight, &bias, out));
    if (clfi_linear_is_packed(*out))
        CLF_GOTO(clf_context_finish(b->context)); /* the packing kernel still reads the weights */
done:
    clfi_row_blocks_clear(&weight);
    clfi_row_blocks_clear(&bias);
    return st;
}

clf_status clfi_transformer_build(clf_context *context, const clf_transformer_config *config, const clf_name_map *names,
                                  const clf_weight_source *source, clf_transformer **out)
{
    builder b = {context, source, NULL};
    clf_status st;
    CLF_TRY(clfi_transformer_allocate(context, config, &b.made));
    CLF_GOTO(load_embedding(&b, names, false, &b.made->source));
    CLF_GOTO(load_embedding(&b, names, true, &b.made->target));
    CLF_GOTO(load_stack(&b, &names->encoder, &b.made->encoder));
    CLF_GOTO(load_stack(&b, &names->decoder, &b.made->decoder));
    if (config->has_generator)
        CLF_GOTO(load_generator(&b, names, &b.made->generator));
    *out = b.made;
    return CLF_OK;
done:
    clf_transformer_destroy(b.made);
    return st;
}
