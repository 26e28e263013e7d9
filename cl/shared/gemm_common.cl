/* SPDX-License-Identifier: MIT */
/* Shared by all GEMM kernels: batch offsets, the parameters that describe the result, and its epilogue
 * c = f(alpha sum + bias[n]) + residual. Macros: C_T, R_T and their LOAD/STORE functions; ACTIVATE (activate_x); HAS_BIAS, HAS_RESIDUAL,
 * HAS_BLOCKS (columns of c in blocks), HAS_BATCH: constants of the program, or tests at run time (result_parts.cl). */
#include "types.cl"
#include "activation.cl"
#include "gemm_batch.cl"

#if !defined(HAS_BIAS) || !defined(HAS_RESIDUAL) || !defined(HAS_BLOCKS) || !defined(HAS_BATCH) || !defined(ACTIVATE)
#error "HAS_BIAS, HAS_RESIDUAL, HAS_BLOCKS, HAS_BATCH: 0, 1 or an expression of RESULT_PARAMETERS; ACTIVATE: activate_x"
#endif

#define batch_offset(index, size, stride) (HAS_BATCH ? strided_batch_offset(index, size, stride) : 0L)

/* Kernel parameters of result and epilogue, in the order in which the host sets them. */
#define RESULT_PARAMETERS                                                                                                               \
    __global C_T *restrict c, long c_offset, long c_row_stride, long c_column_stride, int column_block, long block_stride,              \
        __global const float *restrict bias, long bias_offset, __global const R_T *restrict residual, long r_offset, long r_row_stride, \
        long r_column_stride, float alpha, uint4 batch_size, long4 c_batch_stride, long4 r_batch_stride

/* The same as arguments of a function with RESULT_PARAMETERS. */
#define RESULT_ARGUMENTS                                                                                                                  \
    c, c_offset, c_row_stride, c_column_stride, column_block, block_stride, bias, bias_offset, residual, r_offset, r_row_stride,          \
        r_column_stride, alpha, batch_size, c_batch_stride, r_batch_stride

/* Start of row `row` in batch `batch` of the result and of the residual, as element offsets. */
#define C_ROW(batch, row) (c_offset + batch_offset(batch, batch_size, c_batch_stride) + (row) * c_row_stride)
#define R_ROW(batch, row) (r_offset + batch_offset(batch, batch_size, r_batch_stride) + (row) * r_row_stride)

/* Offset of column n in a row of the result. */
inline long result_column(int n, long column_stride, int column_block, long block_stride)
{
    if (HAS_BLOCKS) {
        const int block = n / column_block;
        return block * block_stride + (n - block * column_block) * column_stride;
    }
    return n * column_stride;
}
#define C_COLUMN(n) result_column(n, c_column_stride, column_block, block_stride)

/* f(alpha sum + bias) of WIDTH neighbouring columns, or of one. */
#define FINISH(sum, bias_value) ACTIVATE(HAS_BIAS ? (sum) * alpha + (bias_value) : (sum) * alpha)

#define ADD_RESIDUAL(value, offset) (HAS_RESIDUAL ? (value) + LOAD_R(residual, offset) : (value))

#ifdef IS_C_VECTOR /* of kernels with vectors of columns: columns of c and residual are contiguous, blocks are whole vectors */
/* Adds the residual to columns column .. column + WIDTH - 1 of a row, and stores those below n. */
inline void store_vector(floatv value, uint batch, int row, int column, int n, RESULT_PARAMETERS)
{
    const long c_row = C_ROW(batch, row), r_row = R_ROW(batch, row);
    if (IS_C_VECTOR && column + WIDTH <= n) {
        if (HAS_RESIDUAL)
            value += PASTE(vector_, LOAD_R)(residual + r_row + column);
        PASTE(vector_, STORE_C)(c + c_row + C_COLUMN(column), value);
        return;
    }
    for (int j = 0; j < min(WIDTH, n - column); j++)
        STORE_C(c, c_row + C_COLUMN(column + j),
                ADD_RESIDUAL(((__private const float *)&value)[j], r_row + (column + j) * r_column_stride));
}
#endif
