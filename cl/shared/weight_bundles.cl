/* SPDX-License-Identifier: MIT */
/* The layout of bundles: 16 quantised rows of a weight, interleaved so that a vector holds one column of 16 rows. A bundle is a sequence of
 * units. A unit holds the blocks of the 16 rows that have the same index:
 *   16 halves d, and 16 halves m in types that have them
 *   then for each group of 32 columns
 *     in types with groups: 16 bytes s and 16 bytes t (Q6_K: 2 x 16 bytes s)
 *     in types with fifth bits: 16 words of them (bit j is column j)
 *     the integers: quads of 16 words, a word for each row
 * In types of nibbles a group has four quads. Byte b of quad i holds column j = 4 i + b in its low nibble and column j + 16 in its high
 * one. In types of 8 bits, and in Q6_K, whose integers take a byte here, the byte is column j, and there are eight quads. Columns of a
 * product's result are rows of the weight. */
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
