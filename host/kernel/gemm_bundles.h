/* SPDX-License-Identifier: MIT */
/* Shared by the engines that multiply weights in bundles. */
#ifndef CLFI_KERNEL_GEMM_BUNDLES_H
#define CLFI_KERNEL_GEMM_BUNDLES_H

#include "kernel/gemm_common.h"

enum { CLFI_BUNDLE = 16 /* rows of the weight, interleaved */ };

/* `lay` and `pack` of CLFI_GEMM_BUNDLES (clf_gemm_form_info). */
bool clfi_gemm_lay_bundles(const clf_context *context, const clf_tile *tile, clf_gemm_weight *weight, size_t *out_bytes);
clf_status clfi_gemm_pack_weight_bundles(clf_context *context, const clf_view *from, int64_t first, const clf_gemm_weight *weight);

/* Macros of cl/cpu/bundle_tile.cl: a work-item multiplies `rows` rows of A with `vectors` bundles. */
void clfi_gemm_spec_tile(clf_kernel_spec *spec, const clf_gemm_args *args, int64_t rows, int64_t vectors);

#endif
