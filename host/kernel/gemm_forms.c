/* SPDX-License-Identifier: MIT */
/* The table of weight forms, and packing into any of them. */
#include "kernel/weight_form.h"

#include "base/alloc.h"
#include "kernel/bf16_blocks.h"
#include "kernel/gemm_bundles.h"
#include "kernel/gemm_panel.h"
#include "runtime/usage.h"
#include "tensor/row_blocks.h"

static bool matrix_bytes(const clf_gemm_weight *weight, int64_t n, size_t *out)
{
    return clfi_mul_size(clf_dtype_bytes(weight->dtype), (size_t)n, out) && clfi_mul_size(*out, (size_t)weight->k, out);
}

static bool lay_rows(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    (void)context;
    (void)tile;
    weight->row_stride = weight->k;
    return matrix_bytes(weight, weight->n, out_bytes);
}

static bool lay_columns(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    (void)context;
    (void)tile;
    weight->row_stride = weight->n;
    return weight->dtype == CLF_F32 && matrix_bytes(weight, weight->n, out_bytes);
}

static bool lay_panels(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    weight->panel = clfi_gemm_panel(context, tile, weight->n);
    return matrix_bytes(weight, (weight->n + weight->panel - 1) / weight->panel * weight->panel, out_bytes);
}

static bool lay_blocks(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes)
{
    (void)context;
    (void)tile;
    if (!clfi_weight_bytes(weight->blocks, 1, weight->k, out_bytes))
        return false;
    weight->row_stride = (int64_t)*out_bytes;
    return clfi_weight_bytes(weight->blocks, weight->n, weight->k, out_bytes);
}

static const clf_gemm_form_info forms[] = {
    [CLFI_GEMM_NO_FORM] = {.name = "none"},
    [CLFI_GEMM_ROWS] = {.name = "rows", .is_stored = true, .most_panel = 1, .lay = lay_rows, .pack = clfi_gemm_pack_weight_rows},
    [CLFI_GEMM_COLUMNS] = {.name = "columns", .most_panel = 1, .lay = lay_columns, .pack = clfi_gemm_pack_weight_columns},
    [CLFI_GEMM_PANELS] = {.name = "panels",
                          .most_panel = CLFI_WIDEST_PANEL,
                          .tile_parameter = "vectors",
                          .lay = lay_panels,
                          .pack = clfi_gemm_pack_weight_panels},
    [CLFI_GEMM_BLOCKS] = {.name = "blocks",
                          .is_quantised = true,
                          .is_stored = true,
                          .most_panel = 1,
                          .lay = lay_blocks,
                          .pack = clfi_gemm_pack_weight_blocks},
    [CLFI_GEMM_BUNDLES] = {.name = "bundles",
                           .is_quantised = true,
                           .most_panel = CLFI_BUNDLE,
                           .lay = clfi_gemm_lay_bundles,
                           .pack = clfi_gemm_pack_weight_bundles},
#define BF16(form, text) \
    [form] = {.name = (text), .most_panel = CLFI_BF16_LINES, .lay = clfi_gemm_lay_bf16, .pack = clfi_gemm_pack_weight_bf16}
    BF16(CLFI_GEMM_BF16, "bf16"),
    BF16(CLFI_GEMM_BF16_PAIRS, "bf16 pairs"),
#undef BF16
};
_Static_assert(COUNT(forms) == CLFI_GEMM_FORM_COUNT, "one row per form");

const clf_gemm_form_info *clfi_gemm_form_info(clf_gemm_form form)
{
    return &forms[form];
}

static bool is_read(const clf_gemm_traits *traits, const clf_gemm_weight *weight)
{
    return (traits->reads >> weight->form & 1) && forms[weight->form].is_quantised == (weight->blocks != CLF_WEIGHT_F32);
}

const clf_gemm_weight *clfi_gemm_weight_for(const clf_gemm_traits *traits, const clf_gemm_weight *weight)
{
    if (!weight || !weight->second || (weight->second->form != traits->second && is_read(traits, weight)))
        return weight;
    return is_read(traits, weight->second) ? weight->second : weight;
}

bool clfi_gemm_takes_weight(const clf_gemm_traits *traits, const clf_gemm_weight *weight)
{
    return weight ? is_read(traits, clfi_gemm_weight_for(traits, weight)) : traits->reads & CLFI_GEMM_READS(NO_FORM);
}

/* A weight with the properties that all parts share, without the number of rows. */
static clf_gemm_weight typical(clf_gemm_form form, const clf_view *weight)
{
    return (clf_gemm_weight){.form = form, .dtype = weight->dtype, .blocks = weight->blocks, .k = weight->dim[1], .panel = 1};
}

clf_status clfi_gemm_rows_per_block(const clf_context *context, clf_gemm_form form, const clf_view *weight, int64_t rows, int64_t *out)
{
    static const clf_tile own = {{0}};
    clf_gemm_weight one = typical(form, weight);
    size_t bytes;
    one.n = 1;
    if (!forms[form].lay(context, &own, &one, &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "linear: rows of %lld weights: not enough memory", (long long)one.k);
    return clfi_rows_per_block(context, "linear", rows, bytes / (size_t)one.panel, forms[form].most_panel - 1, out);
}

/* Adds up the rows of the parts and lays the weight out. UNSUPPORTED: 2^31 rows or more, or a part is of another type than the first, or
 * not of a type of the form. OUT_OF_MEMORY: too large. */
static clf_status start(const clf_context *context, clf_gemm_form form, const clf_tile *tile, int parts, const clf_view *weights,
                        clf_gemm_weight *out, size_t *out_bytes)
{
    *out = typical(form, weights);
    for (int i = 0; i < parts; i++) {
        if (__builtin_add_overflow(out->n, weights[i].dim[0], &out->n) || out->n > INT32_MAX)
            CLF_FAIL(CLF_UNSUPPORTED, "linear: more than 2^31 - 1 output features");
        if (weights[i].blocks != out->blocks || (out->blocks != CLF_WEIGHT_F32) != forms[form].is_quantised)
            CLF_FAIL(CLF_UNSUPPORTED, "linear: weight %d has type %s: expected the type of weight 0, and one that form %s stores", i,
                     clfi_weight_type_info(weights[i].blocks)->name, forms[form].name);
    }
    if (!forms[form].lay(context, tile, out, out_bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "linear: weight of %lld x %lld: not enough memory", (long long)out->n, (long long)out->k);
    return CLF_OK;
}

/* Packs the parts into a new buffer. The caller clears the weight on failure. */
static clf_status pack_parts(clf_context *context, int parts, const clf_view *weights, size_t bytes, clf_gemm_weight *weight)
{
    int64_t first = 0;
    CLF_TRY(clfi_buffer_create_lasting(context, bytes, &weight->buffer));
    for (int i = 0; i < parts; i++) {
        CLF_TRY(forms[weight->form].pack(context, &weights[i], first, weight));
        first += weights[i].dim[0];
    }
    return CLF_OK;
}

bool clfi_gemm_keeps_second(const clf_context *context)
{
    return !context->device.caps.unified_memory;
}

static bool has_room(const clf_context *context, size_t bytes)
{
    return clfi_gemm_keeps_second(context) &&
           (double)clfi_usage_bytes(context) + (double)bytes <= (double)context->device.info.global_memory_bytes / 2;
}

/* A stored weight as a single part. */
static clf_view view_of(const clf_gemm_weight *weight)
{
    return (clf_view){.buffer = weight->buffer,
                      .dtype = weight->dtype,
                      .blocks = weight->blocks,
                      .rank = 2,
                      .dim = {weight->n, weight->k},
                      .stride = {weight->row_stride, 1},
                      .offset = weight->offset};
}

/* Adds the second form, unless the device keeps none, memory is short or the form does not take such weights. */
static clf_status add_second(clf_context *context, clf_gemm_form form, const clf_tile *tile, int parts, const clf_view *weights,
                             clf_gemm_weight *weight)
{
    const bool is_stored = forms[weight->form].is_stored;
    const clf_view whole = view_of(weight);
    clf_gemm_weight *second;
    size_t bytes;
    CLF_TRY(clfi_alloc(1, sizeof *second, "linear", &second));
    *second = *weight;
    second->form = form;
    second->panel = 1;
    second->buffer = second->bias = NULL;
    second->offset = 0;
    if (!forms[form].lay(context, tile, second, &bytes) || !has_room(context, bytes)) {
        free(second);
        return CLF_OK;
    }
    const clf_status st = pack_parts(context, is_stored ? 1 : parts, is_stored ? &whole : weights, bytes, second);
    if (st == CLF_OK) {
        weight->second = second;
        return CLF_OK;
    }
    clfi_buffer_release(second->buffer);
    free(second);
    return st == CLF_OUT_OF_MEMORY ? CLF_OK : st;
}

clf_status clfi_gemm_pack_weight(clf_context *context, const clf_gemm_traits *traits, const clf_tile *tile, int parts,
                                 const clf_view *weights, const clf_view *biases, clf_gemm_weight *out)
{
    clf_gemm_weight weight;
    clf_status st;
    size_t bytes;
    CLF_TRY(start(context, traits->form, tile, parts, weights, &weight, &bytes));
    if (forms[traits->form].is_stored && parts == 1 && (weights[0].stride[1] == 1 || weight.k <= 1)) {
        weight.buffer = clfi_buffer_retain(weights[0].buffer);
        weight.offset = weights[0].offset;
        weight.row_stride = weights[0].stride[0];
    } else {
        CLF_GOTO(pack_parts(context, parts, weights, bytes, &weight));
    }
    CLF_GOTO(clfi_gemm_pack_biases(context, parts, weights, biases, &weight));
    if (traits->second)
        CLF_GOTO(add_second(context, traits->second, tile, parts, weights, &weight));
    *out = weight;
    return CLF_OK;
done:
    clfi_gemm_weight_clear(&weight);
    return st;
}

clf_status clfi_gemm_weight_own(clf_context *context, clf_gemm_weight *weight, const clf_buffer *lent)
{
    static const clf_tile own_tile = {{0}};
    const clf_view from = view_of(weight);
    clf_gemm_weight own = *weight;
    size_t bytes;
    if (weight->buffer != lent)
        return CLF_OK;
    own.buffer = NULL;
    own.offset = 0;
    if (!forms[own.form].lay(context, &own_tile, &own, &bytes))
        CLF_FAIL(CLF_OUT_OF_MEMORY, "linear: weight of %lld x %lld: not enough memory", (long long)own.n, (long long)own.k);
    const clf_status st = pack_parts(context, own.n && own.k ? 1 : 0, &from, bytes, &own);
    clfi_buffer_release(st == CLF_OK ? weight->buffer : own.buffer);
    if (st == CLF_OK)
        *weight = own;
    return st;
}

void clfi_gemm_weight_clear(clf_gemm_weight *weight)
{
    if (weight->second)
        clfi_buffer_release(weight->second->buffer);
    free(weight->second);
    clfi_buffer_release(weight->buffer);
    clfi_buffer_release(weight->bias);
    *weight = (clf_gemm_weight){0};
}
