/* SPDX-License-Identifier: MIT */
/* Sums over a row that LANES neighbouring work-items share: a tree in local memory. A work-group of WG items holds WG / LANES rows. Every
 * item of the group must call, whatever its row. */
#ifndef WG
#error "WG: work-group size"
#endif
#ifndef LANES
#error "LANES: work-items per row, a power of two that divides WG"
#endif

/* Both sums of the row of the calling item, returned to all its lanes. scratch: WG elements. */
static inline float2 row_sum(__local float2 *scratch, float2 value)
{
    const uint item = get_local_id(0);
    const uint lane = item & (LANES - 1);
    scratch[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = LANES / 2; step > 0; step >>= 1) {
        if (lane < step)
            scratch[item] += scratch[item + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float2 sum = scratch[item - lane];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* scratch is free again, and what others read before may be overwritten */
    return sum;
}
