/* SPDX-License-Identifier: MIT */
/* Tests at run time whether a product has a bias, a residual, column blocks or batches. A CPU spends some comparisons per tile on them, and
 * the program compiles one kernel where it had one for each combination. Include this before gemm_common.cl, which tests RESULT_PARAMETERS
 * by these names. */
#define HAS_BIAS (bias != 0)
#define HAS_RESIDUAL (residual != 0)
#define HAS_BLOCKS (column_block > 0)
#define HAS_BATCH any(batch_size != 1u)
