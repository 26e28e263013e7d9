/* SPDX-License-Identifier: MIT */
/* One block of each operand in private memory, which is multiplied as often as there are blocks of k. Include this before bf16_unit.cl,
 * which uses these names. */
#define BF16_MEMORY __private
#define A_PARTS 1
#define B_PARTS 1
#define A_STEP 0
#define B_STEP 0
