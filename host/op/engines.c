/* SPDX-License-Identifier: MIT */
/* Which engine runs a matrix product: tables only. Best first, the portable one last.
 *
 * Thresholds for devices that were not measured (clformer tune measures; op/tuned.h). bench_op shows on CPUs that `packed` wins at every
 * size, unless the batches lie element by element in memory, which `staged` and `interleaved` are made for. On other devices one work-group of `tiled` holds
 * 64 x 64 results: below some ten million products CLBlast's own packing kernels cost more than they gain, and up to 16 rows the time is that
 * of reading B once. */
#include "op/gemm.h"

#define ALL_PRECISIONS (1u << CLF_PRECISION_HIGHEST | 1u << CLF_PRECISION_HIGH | 1u << CLF_PRECISION_MEDIUM)

static bool on_cpu(const clf_context *context, const clf_gemm_args *args)
{
    (void)args;
    return context->device.caps.is_cpu;
}

static bool few_rows(const clf_context *context, const clf_gemm_args *args)
{
    return !context->device.caps.is_cpu && args->m <= 16;
}

static bool big_product(const clf_context *context, const clf_gemm_args *args)
{
    const double products = (double)args->m * (double)args->n * (double)args->k;
    return !context->device.caps.is_cpu && args->m >= 64 && args->n >= 64 && args->k >= 32 && products >= 1e7;
}

static bool always(const clf_context *context, const clf_gemm_args *args)
{
    (void)context;
    (void)args;
    return true;
}

const clf_gemm_engine clfi_gemm_engines[] = {
    {"staged", CLFI_GEMM_ROWS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_rows, clfi_gemm_staged_supports,
     clfi_gemm_staged_suits, clfi_gemm_staged_run, NULL},
    {"interleaved", CLFI_GEMM_ROWS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_rows, clfi_gemm_interleaved_supports,
     clfi_gemm_interleaved_suits, clfi_gemm_interleaved_run, &clfi_gemm_interleaved_tiling},
    {"packed", CLFI_GEMM_PANELS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_panels, clfi_gemm_packed_supports, on_cpu,
     clfi_gemm_packed_run, &clfi_gemm_packed_tiling},
    {"gemv", CLFI_GEMM_ROWS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_rows, clfi_gemm_gemv_supports, few_rows,
     clfi_gemm_gemv_run, &clfi_gemm_gemv_tiling},
    {"clblast", CLFI_GEMM_ROWS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_rows, clfi_gemm_clblast_supports, big_product,
     clfi_gemm_clblast_run, NULL},
    {"tiled", CLFI_GEMM_ROWS, CLFI_GEMM_PLAIN_F32, ALL_PRECISIONS, clfi_gemm_pack_weight_rows, clfi_gemm_tiled_supports, always,
     clfi_gemm_tiled_run, &clfi_gemm_tiled_tiling},
};
const size_t clfi_gemm_engine_count = COUNT(clfi_gemm_engines);
