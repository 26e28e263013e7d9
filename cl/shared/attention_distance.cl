/* SPDX-License-Identifier: MIT */
/* Windows and biases by the distance between a query and a key. `place` is the query's among the keys of its
 * sequence; sums stay within int whatever place, window and key are. */
#if !defined HAS_WINDOW || !defined HAS_BIAS
#error "HAS_WINDOW: 1 where keys `window` or more places from the query are masked; HAS_BIAS: 1 where scores have a bias by distance"
#endif

/* The first key that a window shows, before clamping to the sequence, and the one after the last. */
inline int window_begin(int place, int window)
{
    return sub_sat(place, window - 1);
}

inline int window_end(int place, int window)
{
    return add_sat(place, window);
}

/* The column of a key's bias, counted from that of the key at the query's place. */
inline int bias_column(int key, int place, int reach)
{
    return clamp(sub_sat(key, place), -reach, reach);
}
