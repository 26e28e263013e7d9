/* SPDX-License-Identifier: MIT */
/* Merges an adapter's changes into a weight row by row, so that a product never needs memory for the whole matrix. */
#include "model/adapter_merge.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/half.h"

static clf_weight_type type_of(const clf_file_tensor *tensor)
{
    return tensor->dtype == CLF_FILE_F16 ? CLF_WEIGHT_F16 : tensor->dtype == CLF_FILE_BF16 ? CLF_WEIGHT_BF16 : CLF_WEIGHT_F32;
}

/* Two factors as rows [rows, r] and columns [r, columns] of the change. */
typedef struct factors {
    float *rows, *columns;
    int64_t rank;
} factors;

/* The numbers of a matrix, transposed if is_turned. */
static clf_status decode(const clf_file_tensor *tensor, bool is_turned, float **out)
{
    const size_t rows = (size_t)tensor->dim[0], columns = (size_t)tensor->dim[1];
    float *values, *turned;
    CLF_TRY(clfi_alloc(rows * columns, sizeof *values, tensor->name, &values)); /* at most twice what the file holds */
    clfi_weight_decode_f32(type_of(tensor), tensor->data, rows * columns, values);
    if (is_turned) {
        const clf_status st = clfi_alloc(rows * columns, sizeof *turned, tensor->name, &turned);
        for (size_t i = 0; st == CLF_OK && i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                turned[j * rows + i] = values[i * columns + j];
        free(values);
        CLF_TRY(st);
        values = turned;
    }
    *out = values;
    return CLF_OK;
}

static clf_status read_factors(const clf_adapter_change *change, factors *out)
{
    const bool is_turned = change->kind != CLF_ADAPTER_PRODUCT;
    *out = (factors){.rank = change->a->dim[0]};
    CLF_TRY(decode(is_turned ? change->a : change->b, is_turned, &out->rows));
    return decode(is_turned ? change->b : change->a, is_turned, &out->columns);
}

static void free_factors(factors *f)
{
    free(f->rows);
    free(f->columns);
}

/* sum = scaling * row `row` of the product. */
static void multiply(const factors *f, int64_t row, int64_t columns, double scaling, double *sum)
{
    memset(sum, 0, (size_t)columns * sizeof *sum);
    for (int64_t k = 0; k < f->rank; k++) {
        const double factor = (double)f->rows[row * f->rank + k];
        const float *from = f->columns + k * columns;
        for (int64_t j = 0; j < columns; j++)
            sum[j] += factor * (double)from[j];
    }
    for (int64_t j = 0; j < columns; j++)
        sum[j] *= scaling;
}

/* Working memory for one row. */
typedef struct row_space {
    float *values;
    double *sum;
    uint8_t *bits;
} row_space;

/* Rounds the sums to the type. */
static void round_sums(clf_weight_type type, int64_t columns, row_space *row)
{
    for (int64_t j = 0; j < columns; j++)
        row->values[j] = (float)row->sum[j];
    if (type == CLF_WEIGHT_F16)
        clfi_f16_from_f32_array(row->values, (size_t)columns, row->bits);
    else if (type == CLF_WEIGHT_BF16)
        clfi_bf16_from_f32_array(row->values, (size_t)columns, row->bits);
    else
        memcpy(row->bits, row->values, (size_t)columns * sizeof *row->values);
    clfi_weight_decode_f32(type, row->bits, (size_t)columns, row->values);
    for (int64_t j = 0; j < columns; j++)
        row->sum[j] = (double)row->values[j];
}

static clf_status store(const char *name, clf_weight_type type, const float *values, int64_t count, void *to)
{
    const float end = type == CLF_WEIGHT_F16 ? 65520.0f : INFINITY; /* what f16 rounds to infinity */
    for (int64_t j = 0; j < count; j++)
        if (!(fabsf(values[j]) < end))
            CLF_FAIL(CLF_FORMAT, "%s: a weight is %g with the adapter: expected a number that %s holds", name, (double)values[j],
                     clfi_weight_type_info(type)->name);
    return clfi_weight_encode(type, values, (size_t)count, to);
}

/* Applies one change to all rows, in place. */
static clf_status apply(const char *name, const clf_adapter_base *base, const clf_adapter_change *change, row_space *row, uint8_t *made)
{
    const size_t row_bytes = (size_t)base->columns * (size_t)clfi_weight_type_info(base->type)->block_bytes;
    factors f = {.rows = NULL};
    clf_status st = CLF_OK;
    if (change->kind != CLF_ADAPTER_BIAS)
        CLF_GOTO(read_factors(change, &f));
    for (int64_t i = 0; i < base->rows; i++) {
        uint8_t *at = made + (size_t)i * row_bytes;
        if (change->kind == CLF_ADAPTER_BIAS) {
            clfi_weight_decode_f32(type_of(change->b), change->b->data, (size_t)base->columns, row->values);
            for (int64_t j = 0; j < base->columns; j++)
                row->sum[j] = change->scaling * (double)row->values[j];
        } else {
            multiply(&f, i, base->columns, change->scaling, row->sum);
        }
        if (change->kind == CLF_ADAPTER_EMBEDDING)
            round_sums(base->type, base->columns, row);
        clfi_weight_decode_f32(base->type, at, (size_t)base->columns, row->values);
        for (int64_t j = 0; j < base->columns; j++)
            row->values[j] = (float)((double)row->values[j] + row->sum[j]);
        CLF_GOTO(store(name, base->type, row->values, base->columns, at));
    }
done:
    free_factors(&f);
    return st;
}

static clf_status begin(const char *name, const clf_adapter_base *base, float *values, uint8_t *made)
{
    const size_t columns = (size_t)base->columns, row_bytes = columns * (size_t)clfi_weight_type_info(base->type)->block_bytes;
    const clf_weight_type from = base->own ? base->own_type : type_of(base->replaced);
    const uint8_t *stored = base->own ? base->own : base->replaced->data;
    const size_t stored_bytes = columns * (size_t)clfi_weight_type_info(from)->block_bytes;
    for (int64_t i = 0; i < base->rows; i++) {
        clfi_weight_decode_f32(from, stored + (size_t)i * stored_bytes, columns, values);
        CLF_TRY(store(name, base->type, values, base->columns, made + (size_t)i * row_bytes));
    }
    return CLF_OK;
}

clf_status clfi_adapter_merge(const char *name, const clf_adapter_base *base, const clf_adapter_change *changes, size_t count, void **out)
{
    const size_t columns = (size_t)base->columns, row_bytes = columns * (size_t)clfi_weight_type_info(base->type)->block_bytes;
    uint8_t *made = NULL;
    row_space row = {.values = NULL};
    clf_status st;
    CLF_GOTO(clfi_alloc((size_t)base->rows, row_bytes, name, &made));
    CLF_GOTO(clfi_alloc(columns, sizeof *row.values, name, &row.values));
    CLF_GOTO(clfi_alloc(columns, sizeof *row.sum, name, &row.sum));
    CLF_GOTO(clfi_alloc(columns, sizeof(float), name, &row.bits));
    CLF_GOTO(begin(name, base, row.values, made));
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(apply(name, base, &changes[i], &row, made));
    *out = made;
    made = NULL;
done:
    free(made);
    free(row.values);
    free(row.sum);
    free(row.bits);
    return st;
}
