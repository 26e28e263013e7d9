/* SPDX-License-Identifier: MIT */
/* Makes the operands of op workloads. */
#include "workload/operand.h"

#include <math.h>

#include "base/alloc.h"

static clf_status create(clf_context *context, clf_dtype dtype, int rank, const int64_t *dim, clfi_operand *out)
{
    *out = (clfi_operand){0};
    CLF_TRY(clf_tensor_create(context, dtype, rank, dim, &out->tensor));
    out->count = clf_tensor_count(out->tensor);
    return clfi_alloc(out->count, sizeof *out->host, "operand", &out->host);
}

clf_status clfi_operand_random(clf_context *context, clfi_random *random, int rank, const int64_t *dim, float low, float high,
                               clfi_operand *out)
{
    return clfi_operand_random_as(context, random, CLF_F32, rank, dim, low, high, out);
}

clf_status clfi_operand_random_as(clf_context *context, clfi_random *random, clf_dtype dtype, int rank, const int64_t *dim, float low,
                                  float high, clfi_operand *out)
{
    CLF_TRY(create(context, dtype, rank, dim, out));
    clfi_random_fill(random, out->host, out->count, low, high);
    CLF_TRY(clf_tensor_write_f32(out->tensor, out->host, out->count));
    return dtype == CLF_F32 ? CLF_OK : clfi_operand_read(out);
}

clf_status clfi_operand_result(clf_context *context, int rank, const int64_t *dim, clfi_operand *out)
{
    CLF_TRY(create(context, CLF_F32, rank, dim, out));
    return clfi_operand_clear(out);
}

clf_status clfi_operand_clear(clfi_operand *operand)
{
    for (size_t i = 0; i < operand->count; i++)
        operand->host[i] = NAN;
    return clf_tensor_write_f32(operand->tensor, operand->host, operand->count);
}

clf_status clfi_operand_read(clfi_operand *operand)
{
    return clf_tensor_read_f32(operand->tensor, operand->host, operand->count);
}

clf_status clfi_operand_widen(const clfi_operand *operand, double **out)
{
    CLF_TRY(clfi_alloc(operand->count, sizeof **out, "reference", out));
    for (size_t i = 0; i < operand->count; i++)
        (*out)[i] = (double)operand->host[i];
    return CLF_OK;
}

size_t clfi_operand_bytes(const clfi_operand *operand)
{
    return operand->tensor ? operand->count * clf_dtype_bytes(clf_tensor_dtype(operand->tensor)) : 0;
}

void clfi_operand_free(clfi_operand *operand)
{
    clf_tensor_destroy(operand->tensor);
    free(operand->host);
    *operand = (clfi_operand){0};
}
