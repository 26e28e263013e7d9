/* SPDX-License-Identifier: MIT */
/* Reads attention weights of any program from a NumPy file, for clformer attention --weights, and the numbers that choose heads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/attention_map.h"
#include "cli/heatmap_layout.h"
#include "jobs/inputs.h"
#include "io/npy.h"
#include "tensor/view.h"

clf_status cli_read_numbers(const char *option, const char *text, int64_t limit, int64_t **out, size_t *count)
{
    int64_t *numbers = NULL;
    size_t capacity = 0, found = 0;
    clf_status st = CLF_OK;
    if (text && strcmp(text, "all") == 0)
        text = NULL;
    for (const char *at = text; st == CLF_OK && at; at++) {
        char *end;
        const int64_t first = *at >= '0' && *at <= '9' ? strtoll(at, &end, 10) : -1;
        int64_t last = first;
        if (first >= 0 && *end == '-')
            last = end[1] >= '0' && end[1] <= '9' ? strtoll(end + 1, &end, 10) : -1;
        if (first < 0 || last < first || last >= limit || (*end && *end != ','))
            st = clfi_fail(CLF_INVALID_ARGUMENT, "%s \"%s\": expected all, or numbers and ranges like 0,2,5-7 among 0 to %lld", option,
                           text, (long long)limit - 1);
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

/* Keeps line `found` (from 0) as the label of a query or, after those, of a key. Further lines are dropped. */
static clf_status keep_label(clf_text line, size_t found, size_t rows, size_t columns, cli_attention_map *map)
{
    if (found >= rows + columns)
        return CLF_OK;
    char **label = found < rows ? &map->row_labels[map->rows] : &map->column_labels[map->columns];
    CLF_TRY(clfi_strndup(line.data, line.size, label));
    map->rows += found < rows;
    map->columns += found >= rows;
    return CLF_OK;
}

/* Reads a line for each query, then a line for each key. One list serves both if there are as many queries as keys. */
static clf_status read_labels(const char *file, size_t rows, size_t columns, cli_attention_map *map)
{
    cli_inputs *lines = NULL;
    size_t found = 0;
    clf_status st;
    CLF_GOTO(clfi_alloc(rows, sizeof *map->row_labels, "labels", &map->row_labels));
    CLF_GOTO(clfi_alloc(columns, sizeof *map->column_labels, "labels", &map->column_labels));
    CLF_GOTO(cli_inputs_open(NULL, 0, file, &lines));
    do {
        CLF_GOTO(cli_inputs_next(lines));
        for (size_t i = 0; i < lines->count; i++)
            CLF_GOTO(keep_label(lines->texts[i], found++, rows, columns, map));
    } while (lines->count > 0);
    for (size_t i = 0; found == rows && rows == columns && i < columns; i++) {
        CLF_GOTO(clfi_strdup(map->row_labels[i], &map->column_labels[i]));
        map->columns++;
    }
    st = map->columns == columns && found <= rows + columns
             ? CLF_OK
             : clfi_fail(CLF_FORMAT, "--labels %s: %zu lines: expected %zu (%zu %s, then %zu %s)%s", file, found, rows + columns, rows,
                         clfi_plural(rows, "query", "queries"), columns, clfi_plural(columns, "key", "keys"),
                         rows == columns ? ", or one list for both" : "");
done:
    cli_inputs_close(lines);
    return st;
}

static clf_status check_shape(const clf_npy *npy, const char *path, const char *batch, const char *heads)
{
    if (npy->rank < 2 || npy->rank > 4)
        CLF_FAIL(CLF_FORMAT, "%s: expected weights [Q,K], [H,Q,K], [N,Q,K] or [N,H,Q,K], found an array of rank %d", path, npy->rank);
    if (batch && npy->rank < 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--batch \"%s\": %s holds one matrix [Q,K]: expected a file of rank 3 or 4", batch, path);
    if (batch && heads && npy->rank == 3)
        CLF_FAIL(CLF_INVALID_ARGUMENT,
                 "--batch and --head: %s has rank 3, with one axis beside queries and keys (give one of the two options)", path);
    if (npy->count == 0)
        CLF_FAIL(CLF_FORMAT, "%s: expected an array with elements, found an empty one", path);
    for (int i = npy->rank - 2; i < npy->rank; i++)
        if (npy->dim[i] > LARGEST_SIDE)
            CLF_FAIL(CLF_UNSUPPORTED, "%s: %lld queries and %lld keys: expected at most %d of each in a picture", path,
                     (long long)npy->dim[npy->rank - 2], (long long)npy->dim[npy->rank - 1], LARGEST_SIDE);
    return CLF_OK;
}

/* The matrices of a file as [texts, heads], and which of them are wanted. An axis that the file lacks has size 1. */
typedef struct file_choice {
    int64_t texts, heads;
    int64_t *chosen_texts, *chosen_heads;
    size_t text_count, head_count;
    const char *text_name, *head_name; /* name of the axis in the matrices' names, "batch"; NULL: not part of them */
} file_choice;

static file_choice axes_of(const clf_npy *npy, const char *batch, const char *heads)
{
    file_choice c = {.texts = 1, .heads = 1};
    if (npy->rank == 4) {
        c.texts = npy->dim[0];
        c.heads = npy->dim[1];
        c.text_name = c.texts > 1 ? "batch" : NULL;
        c.head_name = "head";
    } else if (npy->rank == 3 && batch) {
        c.texts = npy->dim[0];
        c.text_name = "batch";
    } else if (npy->rank == 3) { /* the file does not say whether the axis is heads or a batch */
        c.heads = npy->dim[0];
        c.head_name = heads ? "head" : "matrix";
    }
    return c;
}

/* Writes the index of an element, "[0,3,2,5]": one number per axis of the array. */
static const char *place_text(const clf_npy *npy, int64_t text, int64_t head, size_t row, size_t column, char out[CLFI_SHAPE_TEXT_BYTES])
{
    const int64_t place[] = {text, npy->rank == 3 ? text + head : head, (int64_t)row, (int64_t)column}; /* rank 3: text or head is 0 */
    return clfi_shape_text(npy->rank, place + 4 - npy->rank, out);
}

/* Reads one matrix of the file into the map, after those that it has. FORMAT: a weight is not finite. */
static clf_status add_matrix(const char *path, const clf_npy *npy, const file_choice *c, int64_t text, int64_t head, cli_attention_map *map)
{
    const size_t matrix = map->rows * map->columns, index = (size_t)(text * c->heads + head);
    clf_str name = CLF_STR_INIT;
    char place[CLFI_SHAPE_TEXT_BYTES];
    if (c->text_name)
        CLF_TRY(clfi_str_appendf(&name, "%s %lld%s", c->text_name, (long long)text, c->head_name ? ", " : ""));
    const clf_status st =
        c->head_name ? clfi_str_appendf(&name, "%s %lld", c->head_name, (long long)head) : clfi_str_append_text(&name, "");
    if (st != CLF_OK) {
        clfi_str_free(&name);
        return st;
    }
    map->names[map->heads] = name.data;
    float *values = map->values + map->heads++ * matrix;
    CLF_TRY(clfi_npy_read_f32(npy, index * matrix, matrix, values));
    for (size_t i = 0; i < matrix; i++)
        if (!isfinite(values[i]))
            CLF_FAIL(CLF_FORMAT, "%s: weight %s is %g: expected finite numbers", path,
                     place_text(npy, text, head, i / map->columns, i % map->columns, place), (double)values[i]);
    return CLF_OK;
}

static clf_status read_matrices(const char *path, const clf_npy *npy, const char *batch, const char *heads, const char *labels,
                                cli_attention_map *map)
{
    const size_t rows = (size_t)npy->dim[npy->rank - 2], columns = (size_t)npy->dim[npy->rank - 1];
    file_choice c = axes_of(npy, batch, heads);
    clf_status st;
    CLF_GOTO(cli_read_numbers("--batch", batch, c.texts, &c.chosen_texts, &c.text_count));
    CLF_GOTO(cli_read_numbers("--head", heads, c.heads, &c.chosen_heads, &c.head_count));
    if (labels) {
        CLF_GOTO(read_labels(labels, rows, columns, map));
    } else {
        CLF_GOTO(label_indices(rows, &map->row_labels, &map->rows));
        CLF_GOTO(label_indices(columns, &map->column_labels, &map->columns));
    }
    CLF_GOTO(clfi_alloc(c.text_count * c.head_count, sizeof *map->names, "names", &map->names));
    CLF_GOTO(clfi_alloc(c.text_count * c.head_count, rows * columns * sizeof *map->values, "attention weights", &map->values));
    for (size_t t = 0; t < c.text_count; t++)
        for (size_t h = 0; h < c.head_count; h++)
            CLF_GOTO(add_matrix(path, npy, &c, c.chosen_texts[t], c.chosen_heads[h], map));
done:
    free(c.chosen_texts);
    free(c.chosen_heads);
    return st;
}

clf_status cli_attention_of_file(const char *path, const char *batch, const char *heads, const char *labels, cli_attention_map *out)
{
    cli_attention_map map = {.what = "attention weights"};
    clf_npy npy;
    CLF_TRY(clfi_npy_open(path, &npy));
    clf_status st = check_shape(&npy, path, batch, heads);
    if (st == CLF_OK)
        st = read_matrices(path, &npy, batch, heads, labels, &map);
    clfi_npy_close(&npy);
    if (st == CLF_OK)
        *out = map;
    else
        cli_attention_free(&map);
    return st;
}
