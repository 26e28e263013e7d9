/* SPDX-License-Identifier: MIT */
/* Windows and biases by the distance between a query and a key, for the fused attention kernels. `place` is the query's position among the
 * keys of its sequence. Sums saturate, so that they stay within int whatever place, window and key are. */
#if !defined HAS_WINDOW || !defined HAS_BIAS
#error "HAS_WINDOW: 1 where keys `window` or more places from the query are masked; HAS_BIAS: 1 where scores have a bias by distance"
#endif

/* The first key of a query's window, and (window_end) the key after its last one; neither is clamped to the sequence. */
inline int window_begin(int place, int window)
{
    return sub_sat(place, window - 1);
}

inline int window_end(int place, int window)
{
    return add_sat(place, window);
}

/* The column of a key's bias, counted from the column of distance 0; distances beyond `reach` take the outermost columns. */
inline int bias_column(int key, int place, int reach)
{
    return clamp(sub_sat(key, place), -reach, reach);
}
