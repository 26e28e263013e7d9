/* SPDX-License-Identifier: MIT */
/* The record of a part of the keys of cached attention: HEAD mixed values, then their maximum and sum. */
#ifndef HEAD
#error "HEAD: elements of a head"
#endif

#define PART_MAXIMUM HEAD
#define PART_SUM (HEAD + 1)
#define PART_SIZE (HEAD + 2)

/* The largest maximum of the parts of a query and head, which lie part_stride apart; 0 if none has a usable key. */
static inline float shift_of_parts(__global const float *parts, long part_stride, int part_count)
{
    float maximum = -INFINITY;
    for (int p = 0; p < part_count; p++)
        maximum = parts[p * part_stride + PART_MAXIMUM] > maximum ? parts[p * part_stride + PART_MAXIMUM] : maximum;
    return maximum == -INFINITY ? 0.0f : maximum;
}
