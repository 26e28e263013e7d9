/* SPDX-License-Identifier: MIT */
/* Computes the sinusoidal positional encoding. */
#include "nn/positional_encoding.h"

#include <math.h>

#include "base/alloc.h"
#include "clformer/ops.h"
#include "op/check.h"

void clfi_positional_encoding(int64_t first, int64_t length, int64_t d, bool has_halves, float *table)
{
    for (int64_t column = 0; column < d; column++) {
        const double frequency = exp(-(double)(column - column % 2) * log(10000.0) / (double)d);
        const int64_t at = !has_halves ? column : column % 2 ? (d + 1) / 2 + column / 2 : column / 2;
        for (int64_t p = 0; p < length; p++) {
            const double angle = (double)(first + p) * frequency;
            table[p * d + at] = (float)(column % 2 ? cos(angle) : sin(angle));
        }
    }
}

clf_status clf_positional_encoding(clf_context *context, clf_tensor *y)
{
    static const char op[] = "positional_encoding";
    const clf_view *view;
    float *table;
    CLF_TRY(clfi_check_tensor(context, op, "y", y, &view));
    CLF_TRY(clfi_check_float(op, "y", view));
    CLF_TRY(clfi_check_rank(op, "y", view, 2));
    CLF_TRY(clfi_check_writable(op, "y", view));
    const size_t count = clf_tensor_count(y);
    CLF_TRY(clfi_alloc(count, sizeof *table, "positional encoding", &table));
    clfi_positional_encoding(0, view->dim[0], view->dim[1], false, table);
    const clf_status st = clf_tensor_write_f32(y, table, count);
    free(table);
    return st;
}
