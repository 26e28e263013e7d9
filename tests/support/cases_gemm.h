/* SPDX-License-Identifier: MIT */
/* Cases that tests of the matrix product share: tile edges, layouts, storage types, batches, epilogues. */
#ifndef CLF_TEST_CASES_GEMM_H
#define CLF_TEST_CASES_GEMM_H

#include "clformer/linear.h"
#include "support/operand.h"

typedef struct gemm_case {
    int64_t m, n, k;
    layout a, b, c;
    clf_dtype a_type, b_type, c_type;
    int batch_rank;
    int64_t batch[4];
    bool a_repeats, b_repeats; /* the operand has size 1 in all batch dimensions */
    clf_activation activation;
    bool has_bias, has_residual;
    float alpha; /* 0 stands for 1 */
    bool is_small; /* also runs if only small cases do, as in slow interpreters of kernels (takes_case) */
} gemm_case;

/* Layouts by letter, as the cases name them. */
#define C_ LAYOUT_CONTIGUOUS
#define S_ LAYOUT_SLICED
#define W_ LAYOUT_SWAPPED
#define R_ LAYOUT_REVERSED
#define LAID(rows, columns, depth, a_, b_, c_) .m = rows, .n = columns, .k = depth, .a = a_, .b = b_, .c = c_
#define SHAPE(rows, columns, depth) LAID(rows, columns, depth, C_, C_, C_)
#define STORED(rows, columns, depth, a_, b_, c_) SHAPE(rows, columns, depth), .a_type = CLF_##a_, .b_type = CLF_##b_, .c_type = CLF_##c_
#define BATCH(...) .batch_rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .batch = {__VA_ARGS__}
#define EPILOGUE(kind, bias, residual) .activation = CLF_ACTIVATION_##kind, .has_bias = bias, .has_residual = residual

static const gemm_case gemm_cases[] = {
    /* one element, one row, one column, empty operands */
    {SHAPE(1, 1, 1), .is_small = true},
    {SHAPE(1, 37, 19), .is_small = true},
    {SHAPE(19, 1, 23)},
    {SHAPE(5, 7, 0), EPILOGUE(GELU, true, true), .is_small = true},
    {SHAPE(0, 7, 5), .is_small = true},
    {SHAPE(3, 0, 5), .is_small = true},
    {SHAPE(3, 5, 2), BATCH(0, 2), .is_small = true},
    /* rows and columns around every tile edge */
    {SHAPE(2, 15, 4), .is_small = true},
    {SHAPE(3, 16, 5), .is_small = true},
    {SHAPE(4, 17, 7)},
    {SHAPE(5, 31, 8)},
    {SHAPE(6, 32, 9)},
    {SHAPE(7, 33, 16)},
    {SHAPE(8, 47, 17)},
    {SHAPE(9, 48, 15)},
    {SHAPE(15, 49, 31)},
    {SHAPE(16, 63, 33)},
    {SHAPE(17, 64, 64)},
    {SHAPE(33, 65, 67)},
    {SHAPE(64, 97, 13)},
    {SHAPE(65, 129, 40)},
    {SHAPE(131, 101, 53)},
    {SHAPE(150, 383, 50)},
    {SHAPE(3, 50, 4099)},
    /* layouts */
    {LAID(13, 21, 11, R_, C_, C_), .is_small = true},
    {LAID(13, 21, 11, C_, R_, C_), .is_small = true},
    {LAID(13, 21, 11, C_, C_, R_), .is_small = true},
    {LAID(70, 50, 30, R_, R_, R_)},
    {LAID(70, 50, 30, S_, S_, S_)},
    {LAID(9, 50, 30, R_, R_, S_)},
    {LAID(66, 50, 30, S_, R_, R_), EPILOGUE(SILU, true, true)},
    /* storage types */
    {STORED(10, 20, 30, F16, F32, F32), .is_small = true},
    {STORED(10, 20, 30, F32, F16, BF16), .is_small = true},
    {STORED(70, 65, 33, BF16, BF16, F16), EPILOGUE(NONE, true, false)},
    {STORED(1, 100, 200, F32, BF16, F32)},
    {STORED(12, 100, 50, F16, F16, F16), EPILOGUE(GELU_TANH, true, true)},
    /* batches: dense, interleaved as heads are, repeated operands, dimensions that cannot be merged */
    {LAID(9, 17, 5, C_, C_, C_), BATCH(3), .is_small = true},
    {LAID(33, 18, 20, W_, W_, W_), BATCH(5)},
    {LAID(20, 35, 16, R_, R_, R_), BATCH(2, 3)},
    {LAID(20, 35, 16, C_, R_, R_), BATCH(2, 3), EPILOGUE(NONE, false, true)},
    {LAID(20, 35, 16, S_, S_, R_), BATCH(2, 3), EPILOGUE(RELU, true, true)},
    {LAID(17, 50, 9, S_, C_, S_), BATCH(2, 2), .b_repeats = true},
    {LAID(17, 50, 9, C_, S_, C_), BATCH(4), .a_repeats = true},
    {LAID(6, 10, 7, S_, S_, S_), BATCH(2, 1, 3, 2), .alpha = -0.25f},
    {LAID(6, 10, 7, S_, S_, S_), BATCH(2, 3, 2, 2), EPILOGUE(GELU_QUICK, true, true), .alpha = 3.0f},
    {STORED(21, 70, 24, F32, F16, F16), BATCH(3), EPILOGUE(NONE, true, true)},
    /* epilogues */
    {SHAPE(11, 50, 20), EPILOGUE(NONE, true, false), .is_small = true},
    {SHAPE(11, 50, 20), EPILOGUE(NONE, false, true)},
    {SHAPE(11, 50, 20), EPILOGUE(RELU, true, false)},
    {SHAPE(11, 50, 20), EPILOGUE(GELU, true, true), .is_small = true},
    {SHAPE(11, 50, 20), EPILOGUE(GELU_TANH, true, false)},
    {SHAPE(11, 50, 20), EPILOGUE(GELU_QUICK, true, true), .alpha = 0.125f},
    {SHAPE(11, 50, 20), EPILOGUE(SILU, false, false)},
    {SHAPE(40, 96, 20), EPILOGUE(GELU, true, true)},
};

#endif
