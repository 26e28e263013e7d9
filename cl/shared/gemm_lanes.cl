/* SPDX-License-Identifier: MIT */
/* Operands of matrix products whose batches are adjacent elements in memory (gemm_interleaved.cl, gemm_staged.cl). The batches along one
 * dimension are called lanes; the others are outer batches. */
#include "gemm_batch.cl"

/* An operand, in elements; all members but the first two are strides. All are longs, so that drivers agree on the size of the struct. */
typedef struct lane_operand {
    long offset, end; /* offset of the first element; number of elements in the buffer */
    long row, column;
    long lane, block; /* from one lane to the next; from one vector of lanes to the next */
    long fold;        /* from a vector's lower half to its upper half, which holds the next row (FOLD 2 in gemm_interleaved.cl) */
    long outer[4];
} lane_operand;

/* Element (0, 0) of the first lane of an outer batch. */
inline long lane_operand_start(const lane_operand *operand, uint outer, uint4 outer_size)
{
    const long4 stride = (long4)(operand->outer[0], operand->outer[1], operand->outer[2], operand->outer[3]);
    return operand->offset + strided_batch_offset(outer, outer_size, stride);
}
