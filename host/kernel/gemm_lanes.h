/* SPDX-License-Identifier: MIT */
/* Products whose batches lie side by side in some operand: what the launchers of such kernels share. The batches along one dimension are
 * called lanes, those of the others outer batches. */
#ifndef CLFI_KERNEL_GEMM_LANES_H
#define CLFI_KERNEL_GEMM_LANES_H

#include "kernel/gemm.h"
#include "runtime/launch.h"

/* lane_operand of cl/shared/gemm_lanes.cl. */
typedef struct clf_lane_operand {
    cl_long offset, end;
    cl_long row, column;
    cl_long lane, block;
    cl_long fold;
    cl_long outer[CLFI_GEMM_MAX_BATCH];
} clf_lane_operand;

/* Whether batches of this dimension lie side by side, and neither rows nor columns do. */
bool clfi_gemm_is_in_lanes(const clf_gemm_operand *operand, int batch);

/* An operand with batch dimension `lane` as its lanes; block and fold are 0. */
clf_lane_operand clfi_lane_operand(const clf_gemm_args *args, int lane, const clf_gemm_operand *operand);

/* Sizes of the outer batches, 1 for those that are missing. */
cl_uint4 clfi_gemm_outer_size(const clf_gemm_args *args, int lane);

/* Buffer and struct. */
void clfi_arg_lane_operand(clf_launch *launch, const clf_buffer *buffer, const clf_lane_operand *operand);

#endif
