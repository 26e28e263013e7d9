/* SPDX-License-Identifier: MIT */
/* Attention weights from a NumPy file of any program, and the numbers that choose among heads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/attention_map.h"
#include "cli/heatmap_layout.h"
#include "io/npy.h"
#include "tensor/view.h"

clf_status cli_read_numbers(const char *option, const char *text, int64_t limit, int64_t **out, size_t *count)
{
    int64_t *numbers = NULL;
    size_t capacity = 0, found = 0;
    clf_status st = CLF_OK;
    for (const char *at = text; st == CLF_OK && at; at++) {
        char *end;
        const int64_t first = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
        int64_t last = first;
        if (first >= 0 && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtoll(end + 1, &end, 10) : -1;
        if (first < 0 || last < first || last >= limit || (*end && *end != ','))
            st = clfi_fail(CLF_INVALID_ARGUMENT, "%s \"%s\": expected numbers and ranges like 0,2,5-7 among 0 to %lld", option, text,
                           (long long)limit - 1);
        if (st == CLF_OK)
            st = clfi_grow(&numbers, &capacity, found + (size_t)(last - first) + 1, sizeof *numbers, "list of numbers");
        for (int64_t h = first; st == CLF_OK && h <= last; h++)
            numbers[found++] = h;
        if (st != CLF_OK || !*end)
            break;
        at = end;
    }
    if (!text)
        st = clfi_grow(&numbers, &capacity, (size_t)limit, sizeof *numbers, "list of numbers");
    for (int64_t h = 0; !text && st == CLF_OK && h < limit; h++)
        numbers[found++] = h;
    if (st != CLF_OK) {
        free(numbers);
        return st;
    }
    *out = numbers;
    *count = found;
    return CLF_OK;
}

static clf_status label_indices(size_t count, char ***labels, size_t *done)
{
    CLF_TRY(clfi_alloc(count, sizeof **labels, "labels", labels));
    for (; *done < count; ++*done) {
        clf_str text = CLF_STR_INIT;
        CLF_TRY(clfi_str_appendf(&text, "%zu", *done));
        (*labels)[*done] = text.data;
    }
    return CLF_OK;
}

static clf_status check_shape(const clf_npy *npy, const char *path, const char *batch)
{
    if (npy->rank < 2 || npy->rank > 4)
        CLF_FAIL(CLF_FORMAT, "%s: expected weights [Q,K], [H,Q,K] or [N,H,Q,K], found an array of rank %d", path, npy->rank);
    if (batch && npy->rank < 4)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--batch \"%s\": %s is no batch [N,H,Q,K], its rank is %d", batch, path, npy->rank);
    if (npy->count == 0)
        CLF_FAIL(CLF_FORMAT, "%s: an array without elements shows nothing", path);
    for (int i = npy->rank - 2; i < npy->rank; i++)
        if (npy->dim[i] > LARGEST_SIDE)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %lld queries and %lld keys are more than a picture holds (%d)", path,
                     (long long)npy->dim[npy->rank - 2], (long long)npy->dim[npy->rank - 1], LARGEST_SIDE);
    return CLF_OK;
}

/* "[0,3,2,5]", as many numbers as the array has axes. */
static const char *place_text(const clf_npy *npy, int64_t text, int64_t head, size_t row, size_t column, char out[CLFI_SHAPE_TEXT_BYTES])
{
    const int64_t place[] = {text, head, (int64_t)row, (int64_t)column};
    return clfi_shape_text(npy->rank, place + 4 - npy->rank, out);
}

/* Matrix number `index` of the file becomes the map's next. */
static clf_status add_matrix(const char *path, const clf_npy *npy, int64_t text, int64_t head, size_t index, cli_attention_map *map)
{
    const size_t matrix = map->rows * map->columns;
    char name[64] = "", batch[32] = "", place[CLFI_SHAPE_TEXT_BYTES];
    if (npy->rank == 4 && npy->dim[0] > 1)
        snprintf(batch, sizeof batch, "batch %lld, ", (long long)text);
    if (npy->rank > 2)
        snprintf(name, sizeof name, "%shead %lld", batch, (long long)head);
    CLF_TRY(clfi_strdup(name, &map->names[map->heads]));
    float *values = map->values + map->heads++ * matrix;
    CLF_TRY(clfi_npy_read_f32(npy, index * matrix, matrix, values));
    for (size_t i = 0; i < matrix; i++)
        if (!isfinite(values[i]))
            CLF_FAIL(CLF_FORMAT, "%s: weight %s is %g: expected finite numbers", path,
                     place_text(npy, text, head, i / map->columns, i % map->columns, place), (double)values[i]);
    return CLF_OK;
}

static clf_status read_matrices(const char *path, const clf_npy *npy, const char *batch, const char *heads, cli_attention_map *map)
{
    const int64_t texts = npy->rank == 4 ? npy->dim[0] : 1, heads_each = npy->rank > 2 ? npy->dim[npy->rank - 3] : 1;
    int64_t *chosen_texts = NULL, *chosen_heads = NULL;
    size_t text_count, head_count, below = 0;
    clf_status st;
    CLF_GOTO(cli_read_numbers("--batch", batch, texts, &chosen_texts, &text_count));
    CLF_GOTO(cli_read_numbers("--head", heads, heads_each, &chosen_heads, &head_count));
    map->rows = 0; /* of labels, which count themselves */
    CLF_GOTO(label_indices((size_t)npy->dim[npy->rank - 2], &map->row_labels, &map->rows));
    CLF_GOTO(label_indices((size_t)npy->dim[npy->rank - 1], &map->column_labels, &map->columns));
    CLF_GOTO(clfi_alloc(text_count * head_count, sizeof *map->names, "names", &map->names));
    CLF_GOTO(clfi_alloc(text_count * head_count, map->rows * map->columns * sizeof *map->values, "attention weights", &map->values));
    for (size_t t = 0; t < text_count; t++)
        for (size_t h = 0; h < head_count; h++)
            CLF_GOTO(
                add_matrix(path, npy, chosen_texts[t], chosen_heads[h], (size_t)(chosen_texts[t] * heads_each + chosen_heads[h]), map));
    for (size_t i = 0; i < map->heads * map->rows * map->columns; i++)
        below += map->values[i] < 0;
    if (below)
        fprintf(stderr, "clformer: %zu %s below 0, drawn as 0\n", below, clfi_plural(below, "weight is", "weights are"));
done:
    free(chosen_texts);
    free(chosen_heads);
    return st;
}

clf_status cli_attention_of_file(const char *path, const char *batch, const char *heads, cli_attention_map *out)
{
    cli_attention_map map = {.what = "attention weights"};
    clf_npy npy;
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = check_shape(&npy, path, batch);
    if (st == CLF_OK)
        st = read_matrices(path, &npy, batch, heads, &map);
    clfi_npy_close(&npy);
    if (st == CLF_OK)
        *out = map;
    else
        cli_attention_free(&map);
    return st;
}
