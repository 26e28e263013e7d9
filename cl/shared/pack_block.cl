/* SPDX-License-Identifier: MIT */
/* The block of BLOCK_ROWS x BLOCK_K elements that one work-item of a packing kernel moves: large on CPU devices, 1 x 1 where work-items are
 * many. EACH_ELEMENT visits its elements in the order of the source's memory. */
#if !defined(BLOCK_ROWS) || !defined(BLOCK_K) || !defined(IS_K_INNER)
#error "BLOCK_ROWS, BLOCK_K: elements of a work-item; IS_K_INNER (the source is contiguous in k): 0 or 1"
#endif

#if IS_K_INNER
#define EACH_ELEMENT(r, r_begin, r_end, p, p_begin, p_end) \
    for (int r = r_begin; r < r_end; r++)                  \
        for (int p = p_begin; p < p_end; p++)
#else
#define EACH_ELEMENT(r, r_begin, r_end, p, p_begin, p_end) \
    for (int p = p_begin; p < p_end; p++)                  \
        for (int r = r_begin; r < r_end; r++)
#endif
