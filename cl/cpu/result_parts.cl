/* SPDX-License-Identifier: MIT */
/* Tests at run time whether a product has a bias, a residual, column blocks or batches. A CPU spends some comparisons per tile on
 * them, and one kernel serves all combinations. Include this before gemm_common.cl, which uses these names. */
#define HAS_BIAS (bias != 0)
#define HAS_RESIDUAL (residual != 0)
#define HAS_BLOCKS (column_block > 0)
#define HAS_BATCH any(batch_size != 1u)
