/* SPDX-License-Identifier: MIT */
/* The sources of weights: a checkpoint, tensors of a caller, a seed. */
#include "model/weight_source.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "op/activation.h"

static clf_status load_checkpoint(void *user, clf_context *context, const char *name, int rank, const int64_t *dim, clf_weight_use use,
                                  clf_row_blocks *out)
{
    (void)context;
    return clfi_weights_load(user, name, rank, dim, use, out);
}

static bool has_checkpoint(void *user, const char *name)
{
    return clfi_weights_has(user, name);
}

static void forget_checkpoint(void *user, const char *name)
{
    clfi_weights_forget(user, name);
}

static bool is_copy_checkpoint(void *user, const char *name, const char *other)
{
    return clfi_weights_is_copy(user, name, other);
}

clf_weight_source clfi_weights_of_checkpoint(clf_weights *weights)
{
    return (clf_weight_source){load_checkpoint, has_checkpoint, forget_checkpoint, is_copy_checkpoint, weights};
}

clf_status clfi_tensor_list_check(const clf_tensor_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->tensors[i].name;
        if (!name)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "weights: the name of tensor %zu is NULL", i);
        if (!list->tensors[i].tensor)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "weights: %s: the tensor is NULL", name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(list->tensors[j].name, name) == 0)
                CLF_FAIL(CLF_INVALID_ARGUMENT, "E_VALUE: weights: tensors %zu and %zu are both called %s", j, i, name);
    }
    return CLF_OK;
}

static const clf_tensor *find_tensor(const clf_tensor_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->tensors[i].name, name) == 0)
            return list->tensors[i].tensor;
    return NULL;
}

/* Adds a dense copy, because the caller may change the tensor. */
static clf_status add_copy(clf_context *context, const clf_view *given, clf_row_blocks *out)
{
    clf_buffer *made;
    clf_status st = CLF_OK;
    const size_t count = (size_t)clfi_view_count(given);
    CLF_TRY(clfi_buffer_create_lasting(context, count * clf_dtype_bytes(given->dtype), &made));
    const clf_view copy = clfi_view_dense(made, given->dtype, 0, given->rank, given->dim);
    if (count)
        st = clfi_activation(context, CLF_ACTIVATION_NONE, given, &copy);
    if (st != CLF_OK) {
        clfi_buffer_release(made);
        return st;
    }
    return clfi_row_blocks_add(out, &copy);
}

static clf_status load_tensor(void *user, clf_context *context, const char *name, int rank, const int64_t *dim, clf_weight_use use,
                              clf_row_blocks *out)
{
    (void)use;
    char want[CLFI_SHAPE_TEXT_BYTES], have[CLFI_SHAPE_TEXT_BYTES];
    const clf_tensor *tensor = find_tensor(user, name);
    clfi_shape_text(rank, dim, want);
    if (!tensor)
        CLF_FAIL(CLF_NOT_FOUND, "weights: %s: expected %s, there is no tensor of that name", name, want);
    CLF_TRY(clfi_tensor_check(context, name, tensor));
    const clf_view *given = clfi_tensor_view(tensor);
    bool fits = given->rank == rank;
    for (int i = 0; fits && i < rank; i++)
        fits = given->dim[i] == dim[i];
    if (!fits)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: weights: %s: expected %s, found %s", name, want,
                 clfi_shape_text(given->rank, given->dim, have));
    if (!clfi_dtype_is_float(given->dtype))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_DTYPE: weights: %s is %s, expected float32, float16 or bfloat16", name,
                 clf_dtype_name(given->dtype));
    return add_copy(context, given, out);
}

static bool has_tensor(void *user, const char *name)
{
    return find_tensor(user, name) != NULL;
}

clf_weight_source clfi_weights_of_tensors(clf_tensor_list *list)
{
    return (clf_weight_source){load_tensor, has_tensor, NULL, NULL, list};
}

/* SplitMix64's output function (Steele, Lea and Flood 2014): number `index` of the stream `key`, without the ones before it. */
static uint64_t random_bits(uint64_t key, uint64_t index)
{
    uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The seed and the name (FNV-1a, 64 bits) make the stream. */
static uint64_t stream_of(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return random_bits(seed ^ hash, 0);
}

void clf_xavier_uniform(uint64_t seed, const char *name, int rank, const int64_t *dim, float *out)
{
    if (!name || !out || (rank > 0 && !dim))
        return;
    const size_t length = strlen(name);
    const bool is_bias = length >= 4 && strcmp(name + length - 4, "bias") == 0;
    int64_t count = 1, receptive = 1;
    for (int i = 0; i < rank; i++) {
        count *= dim[i];
        receptive *= i >= 2 ? dim[i] : 1;
    }
    if (rank < 2) {
        for (int64_t i = 0; i < count; i++)
            out[i] = is_bias ? 0.0f : 1.0f;
        return;
    }
    const uint64_t stream = stream_of(seed, name);
    const double bound = sqrt(6.0 / (double)((dim[0] + dim[1]) * receptive));
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)(bound * (2.0 * (double)(random_bits(stream, (uint64_t)i) >> 11) * 0x1p-53 - 1.0));
}

/* Adds rows first .. first + count - 1 of `values` as a block. */
static clf_status add_rows(clf_context *context, const float *values, int64_t first, int64_t count, int rank, const int64_t *dim,
                           clf_row_blocks *out)
{
    int64_t part[CLF_MAX_RANK] = {count}, row = 1;
    clf_buffer *made;
    for (int i = 1; i < rank; i++)
        row *= part[i] = dim[i];
    CLF_TRY(clfi_buffer_create(context, (size_t)(count * row) * sizeof *values, &made));
    const clf_status st = clfi_buffer_write(made, 0, values + first * row, (size_t)(count * row) * sizeof *values);
    if (st != CLF_OK) {
        clfi_buffer_release(made);
        return st;
    }
    const clf_view view = clfi_view_dense(made, CLF_F32, 0, rank, part);
    return clfi_row_blocks_add(out, &view);
}

static clf_status load_random(void *user, clf_context *context, const char *name, int rank, const int64_t *dim, clf_weight_use use,
                              clf_row_blocks *out)
{
    (void)use;
    float *values;
    size_t count;
    int64_t most;
    CLF_TRY(clfi_shape_count(name, CLF_F32, rank, dim, &count));
    CLF_TRY(clfi_alloc(count, sizeof *values, name, &values));
    clf_xavier_uniform(*(const uint64_t *)user, name, rank, dim, values);
    clf_status st = clfi_rows_per_block(context, name, dim[0], dim[0] ? count / (size_t)dim[0] * sizeof *values : 0, 0, &most);
    for (int64_t first = 0; st == CLF_OK && first < dim[0]; first += most)
        st = add_rows(context, values, first, most < dim[0] - first ? most : dim[0] - first, rank, dim, out);
    free(values);
    return st;
}

static bool has_random(void *user, const char *name)
{
    (void)user;
    (void)name;
    return true;
}

clf_weight_source clfi_weights_of_seed(uint64_t *seed)
{
    return (clf_weight_source){load_random, has_random, NULL, NULL, seed};
}
