/* SPDX-License-Identifier: MIT */
/* gemm_matrix.cl with quantised rows as B: every group expands the weights that it multiplies. */
#include "weight_blocks.cl"
#include "gemm_matrix.cl"
