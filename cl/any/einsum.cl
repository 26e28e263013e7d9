/* SPDX-License-Identifier: MIT */
/* Kernels of einsum: a step computes sums of products of strided operands,
 *
 *     out[kept] = sum over summed of in0[...] * in1[...] * ...
 *
 * as one nest of loops. KEPT_RANK loops run over the output, SUMMED_RANK loops inside a work-item. A kernel is compiled for these ranks and
 * the operands' kinds of strides; sizes and strides come in a struct, so that one kernel serves all sizes. There are two kernels, and a
 * program has one of them, because drivers compile all kernels of a program:
 *   einsum_map  nothing is summed; a work-item writes a run of the innermost kept loop, WIDTH elements at a time
 *   einsum_sum  a work-item sums one slice of the flattened summed space; each slice has its own part of the output, and a second launch
 *               adds the parts. IS_SUM_IN_LANES 0: WIDTH lanes along the innermost kept loop, VECTORS such vectors in a work-item; 1: lanes
 *               along the innermost summed loop, added up at the end
 * Sums are f32 in three levels: lanes, blocks of BLOCK products, and their total. */
#include "vector.cl"

#ifndef OPERANDS
#error "OPERANDS: number of inputs, 0 to 16; 0 writes zeros"
#endif
#ifndef KEPT_RANK
#error "KEPT_RANK: loops over the output"
#endif
#ifndef SUMMED_RANK
#error "SUMMED_RANK: loops of the sum"
#endif
#if !defined(VECTORS) || !defined(IS_SUM_IN_LANES)
#error "IS_SUM_IN_LANES: 0 or 1; VECTORS: lane vectors of a work-item, 1 where the sum is in lanes"
#endif
#ifndef IS_FULL
#error "IS_FULL: 1 = the innermost kept loop is a multiple of VECTORS * WIDTH"
#endif
#ifndef INDEX
#error "INDEX: int where all positions and counts fit, else long"
#endif
#ifndef WALK_BY_VALUE
#error "WALK_BY_VALUE: 1 = the walk is a struct argument, 0 = a buffer"
#endif
#ifndef OUT
#error "OUT: unit_f32, step_f32, ...: stride along the lanes and storage type; IN0, IN1, ... likewise, same_f32 for stride 0"
#endif

#define BLOCK 256

/* Storage type of unit_f32 and so on. */
#define STORAGE_same_f32 float
#define STORAGE_unit_f32 float
#define STORAGE_step_f32 float
#define STORAGE_same_f16 half
#define STORAGE_unit_f16 half
#define STORAGE_step_f16 half
#define STORAGE_same_bf16 ushort
#define STORAGE_unit_bf16 ushort
#define STORAGE_step_bf16 ushort

/* lanes_<stride>_<type>(p, at, step, last): WIDTH elements from `at`, `step` apart; lanes after `last` repeat the last one.
 * one_<stride>_<type>(p, at): a single element. put_ and put_one_ store the same. */
#define LANES(type, storage)                                                                                     \
    inline float one_same_##type(__global const storage *p, INDEX at) { return load_##type(p, at); }             \
    inline float one_unit_##type(__global const storage *p, INDEX at) { return load_##type(p, at); }             \
    inline float one_step_##type(__global const storage *p, INDEX at) { return load_##type(p, at); }             \
    inline floatv lanes_step_##type(__global const storage *p, INDEX at, INDEX step, int last)                   \
    {                                                                                                            \
        float lane[WIDTH];                                                                                       \
        for (int i = 0; i < WIDTH; i++)                                                                          \
            lane[i] = load_##type(p, at + min(i, last) * step);                                                  \
        return VECTOR_LOAD(lane);                                                                                \
    }                                                                                                            \
    inline floatv lanes_same_##type(__global const storage *p, INDEX at, INDEX step, int last)                   \
    {                                                                                                            \
        return (floatv)(load_##type(p, at));                                                                     \
    }                                                                                                            \
    inline floatv lanes_unit_##type(__global const storage *p, INDEX at, INDEX step, int last)                   \
    {                                                                                                            \
        return last == WIDTH - 1 ? vector_load_##type(p + at) : lanes_step_##type(p, at, 1, last);               \
    }                                                                                                            \
    inline void put_one_step_##type(__global storage *p, INDEX at, float value) { store_##type(p, at, value); }  \
    inline void put_one_unit_##type(__global storage *p, INDEX at, float value) { store_##type(p, at, value); }  \
    inline void put_step_##type(__global storage *p, INDEX at, INDEX step, int last, floatv value)               \
    {                                                                                                            \
        float lane[WIDTH];                                                                                       \
        VECTOR_STORE(value, lane);                                                                               \
        for (int i = 0; i <= last; i++)                                                                          \
            store_##type(p, at + i * step, lane[i]);                                                             \
    }                                                                                                            \
    inline void put_unit_##type(__global storage *p, INDEX at, INDEX step, int last, floatv value)               \
    {                                                                                                            \
        if (last == WIDTH - 1)                                                                                   \
            vector_store_##type(p + at, value);                                                                  \
        else                                                                                                     \
            put_step_##type(p, at, 1, last, value);                                                              \
    }
LANES(f32, float)
LANES(f16, half)
LANES(bf16, ushort)

/* EACH(X): X(0) X(1) ... for every operand. */
#define EACH_0(X)
#define EACH_1(X) X(0)
#define EACH_2(X) EACH_1(X) X(1)
#define EACH_3(X) EACH_2(X) X(2)
#define EACH_4(X) EACH_3(X) X(3)
#define EACH_5(X) EACH_4(X) X(4)
#define EACH_6(X) EACH_5(X) X(5)
#define EACH_7(X) EACH_6(X) X(6)
#define EACH_8(X) EACH_7(X) X(7)
#define EACH_9(X) EACH_8(X) X(8)
#define EACH_10(X) EACH_9(X) X(9)
#define EACH_11(X) EACH_10(X) X(10)
#define EACH_12(X) EACH_11(X) X(11)
#define EACH_13(X) EACH_12(X) X(12)
#define EACH_14(X) EACH_13(X) X(13)
#define EACH_15(X) EACH_14(X) X(14)
#define EACH_16(X) EACH_15(X) X(15)
#define EACH(X) PASTE(EACH_, OPERANDS)(X)

/* A step's loops: the number of work-items, and the operands' offsets, sizes and strides. All are longs, so that drivers agree on the
 * struct's size. */
typedef struct einsum_walk {
    long items;              /* work-items with work in dimension 0 (for each slice); the launch may have more */
    long run;                /* einsum_map: elements of the innermost kept loop for each work-item */
    long summed, slice;      /* einsum_sum: sizes of the summed space and of a slice of it */
    long part_stride;        /* einsum_sum: distance between the parts of two slices, in output elements */
    long offset[OPERANDS + 1]; /* one for each operand, then the output's */
    struct {
        long size, stride[OPERANDS + 1];
    } loop[KEPT_RANK + SUMMED_RANK]; /* kept loops first */
} einsum_walk;

#if WALK_BY_VALUE
#define WALK_PARAMETER const einsum_walk walk_value
#define WALK_POINTER __private const einsum_walk *walk
#define WALK_BEGIN WALK_POINTER = &walk_value;
#else
/* Many operands or loops have more strides than a GPU has scalar registers: `volatile` makes the compiler read them again at each use. */
#if OPERANDS > 4 || (KEPT_RANK + SUMMED_RANK) * (OPERANDS + 2) > 64
#define WALK_ACCESS volatile
#else
#define WALK_ACCESS
#endif
#define WALK_PARAMETER __global const WALK_ACCESS einsum_walk *walk_values
#define WALK_POINTER __global const WALK_ACCESS einsum_walk *walk
#define WALK_BEGIN WALK_POINTER = walk_values;
#endif
#define SIZE(d) ((INDEX)walk->loop[d].size)
#define STRIDE(d, t) ((INDEX)walk->loop[d].stride[t])

#define KEPT_INNER (KEPT_RANK - 1)
#define SUMMED_INNER (KEPT_RANK + SUMMED_RANK - 1)

#define PARAMETER(o) __global const PASTE(STORAGE_, IN##o) *in##o,
#define MOVE_IN(o) in##o += walk->offset[o];
#define LANES_ALONG(loop, o) PASTE(lanes_, IN##o)(in##o, position[o], STRIDE(loop, o), last)
#define KEPT_FACTOR(o) product *= LANES_ALONG(KEPT_INNER, o);
#define SUMMED_FACTOR(o) product *= LANES_ALONG(SUMMED_INNER, o);
#define ONE_FACTOR(o) single *= PASTE(one_, IN##o)(in##o, position[o]);

/* Computes positions at[0..OPERANDS] (the operands', then the output's) of work-item `index`. The innermost kept loop is divided into
 * pieces of `piece` elements, one for each work-item. Returns the first index of the piece. */
inline INDEX find_item(INDEX index, INDEX piece, INDEX *at, WALK_POINTER)
{
    INDEX first = 0;
    for (int t = 0; t <= OPERANDS; t++)
        at[t] = 0;
    for (int d = KEPT_INNER; d >= 0; d--) {
        const INDEX step = d == KEPT_INNER ? piece : 1;
        const INDEX count = (SIZE(d) + step - 1) / step;
        const INDEX outer = d > 0 ? index / count : 0;
        const INDEX begin = (index - outer * count) * step;
        for (int t = 0; t <= OPERANDS; t++)
            at[t] += begin * STRIDE(d, t);
        if (d == KEPT_INNER)
            first = begin;
        index = outer;
    }
    return first;
}

#if SUMMED_RANK == 0
__kernel void einsum_map(EACH(PARAMETER) __global PASTE(STORAGE_, OUT) *out, WALK_PARAMETER)
{
    INDEX position[OPERANDS + 1];
    WALK_BEGIN
    if ((INDEX)get_global_id(0) >= (INDEX)walk->items)
        return;
    EACH(MOVE_IN)
    out += walk->offset[OPERANDS];
    const INDEX run = (INDEX)walk->run;
    const INDEX first = find_item((INDEX)get_global_id(0), run, position, walk);
    const INDEX count = min(run, SIZE(KEPT_INNER) - first);
    int last = WIDTH - 1;
    for (INDEX i = 0; i < count; i += WIDTH) {
        last = (int)min((INDEX)(WIDTH - 1), count - 1 - i);
#if OPERANDS == 0
        const floatv product = 0.0f;
#else
        floatv product = 1.0f;
        EACH(KEPT_FACTOR)
#endif
        PASTE(put_, OUT)(out, position[OPERANDS], STRIDE(KEPT_INNER, OPERANDS), last, product);
        for (int t = 0; t <= OPERANDS; t++)
            position[t] += WIDTH * STRIDE(KEPT_INNER, t);
    }
}
#else
/* Finds term `begin` (one product) of the flattened summed space: sets the index of each summed loop (digit) and moves the positions in the
 * inputs. */
inline void find_term(INDEX begin, INDEX *digit, INDEX *at, WALK_POINTER)
{
    for (int d = SUMMED_RANK - 1; d >= 0; d--) {
        const INDEX outer = d > 0 ? begin / SIZE(KEPT_RANK + d) : 0;
        digit[d] = begin - outer * SIZE(KEPT_RANK + d);
        for (int t = 0; t < OPERANDS; t++)
            at[t] += digit[d] * STRIDE(KEPT_RANK + d, t);
        begin = outer;
    }
}

/* Moves on by `run` terms, at most to the end of the innermost summed loop. */
inline void next_terms(INDEX run, INDEX *digit, INDEX *at, WALK_POINTER)
{
    digit[SUMMED_RANK - 1] += run;
    for (int t = 0; t < OPERANDS; t++)
        at[t] += run * STRIDE(SUMMED_INNER, t);
    for (int d = SUMMED_RANK - 1; d > 0; d--)
        if (digit[d] == SIZE(KEPT_RANK + d)) {
            digit[d] = 0;
            digit[d - 1]++;
            for (int t = 0; t < OPERANDS; t++)
                at[t] += STRIDE(KEPT_RANK + d - 1, t) - SIZE(KEPT_RANK + d) * STRIDE(KEPT_RANK + d, t);
        }
}

#define PIECE (IS_SUM_IN_LANES ? 1 : VECTORS * WIDTH)
#define RUN (IS_SUM_IN_LANES ? BLOCK * WIDTH : BLOCK)

__kernel void einsum_sum(EACH(PARAMETER) __global PASTE(STORAGE_, OUT) *out, WALK_PARAMETER)
{
    INDEX at[OPERANDS + 1], position[OPERANDS + 1], digit[SUMMED_RANK];
    const INDEX part = (INDEX)get_global_id(1);
    WALK_BEGIN
    if ((INDEX)get_global_id(0) >= (INDEX)walk->items)
        return;
    EACH(MOVE_IN)
    out += walk->offset[OPERANDS] + part * walk->part_stride;
    const INDEX first = find_item((INDEX)get_global_id(0), PIECE, at, walk);
    const int last = IS_SUM_IN_LANES || IS_FULL ? WIDTH - 1 : (int)min((INDEX)(WIDTH - 1), SIZE(KEPT_INNER) - 1 - first);
    const INDEX slice = (INDEX)walk->slice, begin = part * slice;
    INDEX left = min(slice, (INDEX)walk->summed - begin);
    find_term(begin, digit, at, walk);

    floatv total[VECTORS], sum[VECTORS];
    float odd_total = 0.0f, odd = 0.0f; /* IS_SUM_IN_LANES 1: sums of the terms that do not fill a vector */
    INDEX held = 0;                     /* products added since `sum` was last added to `total` */
    for (int v = 0; v < VECTORS; v++)
        total[v] = sum[v] = 0.0f;
    while (left > 0) {
        const INDEX run = min(left, min(SIZE(SUMMED_INNER) - digit[SUMMED_RANK - 1], (INDEX)RUN));
#if IS_SUM_IN_LANES
        INDEX i = 0;
        for (int t = 0; t < OPERANDS; t++)
            position[t] = at[t];
        for (; i + WIDTH <= run; i += WIDTH) {
            floatv product = 1.0f;
            EACH(SUMMED_FACTOR)
            sum[0] += product;
            for (int t = 0; t < OPERANDS; t++)
                position[t] += WIDTH * STRIDE(SUMMED_INNER, t);
        }
        for (; i < run; i++) {
            float single = 1.0f;
            EACH(ONE_FACTOR)
            odd += single;
            for (int t = 0; t < OPERANDS; t++)
                position[t] += STRIDE(SUMMED_INNER, t);
        }
#else
        for (INDEX i = 0; i < run; i++)
            for (int v = 0; v < VECTORS; v++) {
                for (int t = 0; t < OPERANDS; t++)
                    position[t] = at[t] + i * STRIDE(SUMMED_INNER, t) + v * WIDTH * STRIDE(KEPT_INNER, t);
                floatv product = 1.0f;
                EACH(KEPT_FACTOR)
                sum[v] += product;
            }
#endif
        held += run;
        if (held >= BLOCK) {
            for (int v = 0; v < VECTORS; v++) {
                total[v] += sum[v];
                sum[v] = 0.0f;
            }
            odd_total += odd;
            odd = 0.0f;
            held = 0;
        }
        left -= run;
        next_terms(run, digit, at, walk);
    }
#if IS_SUM_IN_LANES
    float lane[WIDTH], result = odd + odd_total;
    VECTOR_STORE(total[0] + sum[0], lane);
    for (int i = 0; i < WIDTH; i++)
        result += lane[i];
    PASTE(put_one_, OUT)(out, at[OPERANDS], result);
#else
    for (int v = 0; v < VECTORS; v++)
        PASTE(put_, OUT)(out, at[OPERANDS] + v * WIDTH * STRIDE(KEPT_INNER, OPERANDS), STRIDE(KEPT_INNER, OPERANDS), last,
                         total[v] + sum[v]);
#endif
}
#endif
