/* SPDX-License-Identifier: MIT */
/* y = f(x) element by element. activation_vector: dense operands, WIDTH elements at a time; activation_strided (WIDTH 1): merged axes of
 * any strides. y may be x. */
#include "types.cl"
#include "axes.cl"
#include "activation.cl"
#include "item.cl"

#if !defined(ACTIVATE) || !defined(AXES) || !defined(CHUNK)
#error "ACTIVATE: activate_x; AXES: number of merged axes; CHUNK: vectors of one work-item"
#endif

typedef struct map_axes {
    long dim[AXES], x[AXES], y[AXES];
} map_axes;

__kernel void activation_vector(ITEM_PARAMETERS long count, __global const X_T *x, long x_offset, __global Y_T *y, long y_offset)
{
    const long begin = (long)get_global_id(0) * CHUNK * WIDTH;
    const long end = min(count, begin + CHUNK * WIDTH);
    x += x_offset;
    y += y_offset;
    long i = begin;
    for (; i + WIDTH <= end; i += WIDTH)
        PASTE(vector_, STORE_Y)(y + i, ACTIVATE(PASTE(vector_, LOAD_X)(x + i)));
    if (i < end) { /* the last elements, padded with zeros */
        float lanes[WIDTH] __attribute__((aligned(64)));
        for (int lane = 0; lane < WIDTH; lane++)
            lanes[lane] = i + lane < end ? LOAD_X(x, i + lane) : 0.0f;
        *(__private floatv *)lanes = ACTIVATE(*(__private floatv *)lanes);
        for (int lane = 0; i + lane < end; lane++)
            STORE_Y(y, i + lane, lanes[lane]);
    }
}

#if WIDTH == 1
__kernel void activation_strided(ITEM_PARAMETERS long count, __global const X_T *x, long x_offset, __global Y_T *y, long y_offset,
                                 map_axes axes)
{
    const long i = (long)get_global_id(0);
    if (i < count)
        STORE_Y(y, y_offset + axes_offset(axes.dim, axes.y, AXES, i),
                ACTIVATE(LOAD_X(x, x_offset + axes_offset(axes.dim, axes.x, AXES, i))));
}
#endif
