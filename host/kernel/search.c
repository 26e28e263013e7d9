/* SPDX-License-Identifier: MIT */
/* Launches the steps of a search. */
#include "kernel/search.h"

enum { GROUP = 64, RUN = 16 };

static clf_launch launch_of(clf_context *context, const char *kernel)
{
    clf_kernel_spec spec = clfi_kernel_spec("search.cl", kernel);
    clfi_spec_int(&spec, "RUN", RUN);
    return clfi_launch(context, &spec);
}

static size_t groups_of(int64_t items)
{
    return (size_t)((items + GROUP - 1) / GROUP);
}

static void arg_keys(clf_launch *launch, const clf_key_rows *keys)
{
    clfi_arg_buffer(launch, keys->buffer);
    clfi_arg_long(launch, keys->offset);
}

clf_status clfi_search_bound(clf_context *context, const clf_view *scores)
{
    clf_launch launch = launch_of(context, "search_bound");
    clfi_arg_long(&launch, clfi_view_count(scores));
    clfi_arg_view(&launch, scores);
    clfi_launch_work(&launch, 0, 2.0 * sizeof(float) * (double)clfi_view_count(scores));
    return clfi_launch_1d(&launch, groups_of(clfi_view_count(scores)), GROUP);
}

clf_status clfi_search_keys(clf_context *context, const clf_view *scores, const clf_view *columns, int64_t base, const clf_key_rows *keys)
{
    clf_launch launch = launch_of(context, "search_keys");
    clfi_arg_long(&launch, scores->dim[1]);
    clfi_arg_view(&launch, scores);
    clfi_arg_view(&launch, columns);
    clfi_arg_long(&launch, base);
    arg_keys(&launch, keys);
    clfi_launch_work(&launch, 0, 8.0 * sizeof(float) * (double)clfi_view_count(scores));
    return clfi_launch_2d(&launch, groups_of(scores->dim[1]), (size_t)scores->dim[0], GROUP, 1);
}

/* Merges pairs of lists: list i of a and of b begins at key i * pair and has a_size or b_size keys, fewer at the end of a row. */
static clf_status merge(clf_context *context, int64_t rows, const clf_key_rows *a, int64_t a_size, const clf_key_rows *b, int64_t b_size,
                        int64_t pair, int64_t pairs, const clf_key_rows *out, int64_t out_size)
{
    clf_launch launch = launch_of(context, "search_merge");
    arg_keys(&launch, a);
    clfi_arg_long(&launch, a->stride);
    clfi_arg_long(&launch, a_size);
    clfi_arg_long(&launch, a->count);
    arg_keys(&launch, b);
    clfi_arg_long(&launch, b->stride);
    clfi_arg_long(&launch, b_size);
    clfi_arg_long(&launch, b->count);
    clfi_arg_long(&launch, pair);
    arg_keys(&launch, out);
    clfi_arg_long(&launch, out->stride);
    clfi_arg_long(&launch, out_size);
    clfi_launch_work(&launch, 64.0 * (double)(rows * out->stride), 64.0 * (double)(rows * out->stride));
    const size_t groups[] = {groups_of(a_size + b_size), (size_t)pairs, (size_t)rows}, local[] = {GROUP, 1, 1};
    return clfi_launch_3d(&launch, groups, local);
}

clf_status clfi_search_sort(clf_context *context, const clf_view *scores, int64_t base, const clf_key_rows keys[2], int *out_sorted)
{
    const int64_t rows = scores->dim[0], count = scores->dim[1];
    int from = 0;
    clf_launch launch = launch_of(context, "search_runs");
    clfi_arg_long(&launch, count);
    clfi_arg_view(&launch, scores);
    clfi_arg_long(&launch, base);
    arg_keys(&launch, &keys[0]);
    clfi_launch_work(&launch, RUN * 8.0 * (double)(rows * count), 32.0 * (double)(rows * count));
    CLF_TRY(clfi_launch_2d(&launch, groups_of((count + RUN - 1) / RUN), (size_t)rows, GROUP, 1));
    for (int64_t size = RUN; size < count; size *= 2, from = !from) {
        const clf_key_rows a = keys[from], b = {a.buffer, a.offset + size, a.stride, a.count - size};
        const int64_t pair = 2 * size, pairs = (count + pair - 1) / pair;
        CLF_TRY(merge(context, rows, &a, size, &b, size, pair, pairs, &keys[!from], pair));
    }
    *out_sorted = from;
    return CLF_OK;
}

clf_status clfi_search_merge(clf_context *context, int64_t rows, const clf_key_rows *a, const clf_key_rows *b, const clf_key_rows *out)
{
    return merge(context, rows, a, a->count, b, b->count, a->count + b->count, 1, out, out->count);
}

clf_status clfi_search_result(clf_context *context, const clf_key_rows *keys, const clf_view *scores, const clf_view *indices)
{
    clf_launch launch = launch_of(context, "search_result");
    clfi_arg_long(&launch, scores->dim[1]);
    arg_keys(&launch, keys);
    clfi_arg_long(&launch, keys->stride);
    clfi_arg_view(&launch, scores);
    clfi_arg_view(&launch, indices);
    clfi_launch_work(&launch, 0, 8.0 * sizeof(float) * (double)clfi_view_count(scores));
    return clfi_launch_2d(&launch, groups_of(scores->dim[1]), (size_t)scores->dim[0], GROUP, 1);
}
