/* SPDX-License-Identifier: MIT */
/* Bundles: the quantised rows of a weight, 16 of them side by side, so that a vector holds one column of 16 rows. A bundle is the units
 * of 16 rows one after another. A unit is the blocks of 16 rows at one place:
 *   16 halves d, and 16 halves m where the type has them
 *   then for each group of 32 columns
 *     16 (Q6_K: 2 x 16) bytes s and 16 bytes t, in types with groups
 *     16 words of fifth bits (bit j is column j), in types that have them
 *     the integers: quads of 16 words, a word for each row
 * Byte b of quad i has column j = 4 i + b in its low nibble and column j + 16 in its high one, in four quads. In types of 8 bits, and in
 * Q6_K, whose integers take a byte here, the byte is column j, and there are eight quads. Columns of a product's result are rows of the
 * weight. */
#include "weight_blocks.cl"

#define BUNDLE 16
#define IS_BYTES (BLOCKS == BLOCKS_Q8_0 || BLOCKS == BLOCKS_Q6_K)
#define UNIT_GROUPS (BLOCK_WEIGHTS / 32)
#define SCALES_BYTES (!HAS_GROUPS ? 0 : 2 * BUNDLE) /* s and t, or two s */
#define FIFTH_BYTES (HAS_FIFTH_BITS ? 4 * BUNDLE : 0)
#define GROUP_BYTES (SCALES_BYTES + FIFTH_BYTES + (IS_BYTES ? 32 : 16) * BUNDLE)
/* Byte offset of column j of a group, counted from the end of its scales and fifth bits. */
#define LINE_BYTE(j, lane) ((j) / 4 * 4 * BUNDLE + 4 * (lane) + (j) % 4)
#define HEAD_BYTES (2 * BUNDLE * (1 + HAS_MINIMUM))
#define UNIT_BYTES (HEAD_BYTES + UNIT_GROUPS * GROUP_BYTES)
