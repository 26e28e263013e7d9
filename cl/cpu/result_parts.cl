/* SPDX-License-Identifier: MIT */
/* What the result of a product has besides its sums, for kernels that ask while they run. It costs a CPU some comparisons per tile, and
 * spares the program one variant of the kernel for each combination. Included before gemm_common.cl, whose RESULT_PARAMETERS these are. */
#define HAS_BIAS (bias != 0)
#define HAS_RESIDUAL (residual != 0)
#define HAS_BLOCKS (column_block > 0)
#define HAS_BATCH any(batch_size != 1u)
