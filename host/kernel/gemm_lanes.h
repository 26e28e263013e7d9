/* SPDX-License-Identifier: MIT */
/* Shared by the launchers for products whose batches are adjacent elements of an operand. The batches along that dimension are called
 * lanes, those of the other dimensions outer batches. */
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

/* Whether the batches of this dimension are adjacent, and neither rows nor columns are. */
bool clfi_gemm_is_in_lanes(const clf_gemm_operand *operand, int batch);

/* An operand with batch dimension `lane` as its lanes; block and fold are 0. */
clf_lane_operand clfi_lane_operand(const clf_gemm_args *args, int lane, const clf_gemm_operand *operand);

/* Sizes of the outer batches, 1 for those that are missing. */
cl_uint4 clfi_gemm_outer_size(const clf_gemm_args *args, int lane);

/* Sets two arguments: the buffer and the struct. */
void clfi_arg_lane_operand(clf_launch *launch, const clf_buffer *buffer, const clf_lane_operand *operand);

#endif
