/* SPDX-License-Identifier: MIT */
/* Sums of products of strided operands, each as one nest of loops made for the structure of the step:
 *
 *     out[kept] = sum over summed of in0[...] * in1[...] * ...
 *
 * KEPT_RANK loops run over the output, SUMMED_RANK loops inside a work-item; sizes and strides are arguments, so one kernel serves all
 * sizes of a structure. Three kernels:
 *   einsum_map        nothing is summed; a work-item writes a run of the innermost kept loop, WIDTH elements at a time
 *   einsum_sum_kept   WIDTH lanes along the innermost kept loop, VECTORS of them in a work-item
 *   einsum_sum_lanes  WIDTH lanes along the innermost summed loop, added up at the end
 * A work-item sums one slice of the summed space, which is taken as flat; slices go to their own part of the output, to be added by a
 * second launch. Sums are f32 in three levels: lanes, blocks of BLOCK products, and their total. */
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
#ifndef VECTORS
#error "VECTORS: lane vectors of a work-item of einsum_sum_kept"
#endif
#ifndef IS_FULL
#error "IS_FULL: 1 = the innermost kept loop is a multiple of VECTORS * WIDTH"
#endif
#ifndef INDEX
#error "INDEX: int where all positions and counts fit, else long"
#endif
#ifndef SHAPE_BY_VALUE
#error "SHAPE_BY_VALUE: 1 = sizes and strides are a struct argument, 0 = a buffer"
#endif
#ifndef OUT
#error "OUT: unit_f32, step_f32, ...: stride along the lanes and storage type; IN0, IN1, ... likewise, same_f32 for stride 0"
#endif

#define BLOCK 256

/* Storage type behind unit_f32 and so on. */
#define STORAGE_same_f32 float
#define STORAGE_unit_f32 float
#define STORAGE_step_f32 float
#define STORAGE_same_f16 half
#define STORAGE_unit_f16 half
#define STORAGE_step_f16 half
#define STORAGE_same_bf16 ushort
#define STORAGE_unit_bf16 ushort
#define STORAGE_step_bf16 ushort

/* lanes_<stride>_<type>(p, at, step, last): WIDTH elements from `at`, `step` apart; lanes behind `last` repeat the last one.
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

/* Row d of the shape: size of loop d (kept loops first), its stride in every operand, its stride in the output. */
#define SHAPE_SIZE ((KEPT_RANK + SUMMED_RANK) * (OPERANDS + 2))
#if SHAPE_BY_VALUE
typedef struct {
    long value[SHAPE_SIZE > 0 ? SHAPE_SIZE : 1];
} shape_values;
#define SHAPE_PARAMETER const shape_values shape_value
#define SHAPE_POINTER __private const shape_values *shape
#define SHAPE_BEGIN SHAPE_POINTER = &shape_value;
#define SHAPE(i) shape->value[i]
#else
/* Many operands or loops have more strides than a GPU has scalar registers: there they are read again wherever they are used, which `volatile`
 * says. */
#if OPERANDS > 4 || SHAPE_SIZE > 64
#define SHAPE_ACCESS volatile
#else
#define SHAPE_ACCESS
#endif
#define SHAPE_PARAMETER __global const SHAPE_ACCESS long *shape_values
#define SHAPE_POINTER __global const SHAPE_ACCESS long *shape
#define SHAPE_BEGIN SHAPE_POINTER = shape_values;
#define SHAPE(i) shape[i]
#endif
#define SIZE(d) ((INDEX)SHAPE((d) * (OPERANDS + 2)))
#define STRIDE(d, t) ((INDEX)SHAPE((d) * (OPERANDS + 2) + 1 + (t)))

#define KEPT_INNER (KEPT_RANK - 1)
#define SUMMED_INNER (KEPT_RANK + SUMMED_RANK - 1)

#define PARAMETER(o) __global const PASTE(STORAGE_, IN##o) *in##o, const long offset##o,
#define MOVE_IN(o) in##o += offset##o;
#define LANES_ALONG(loop, o) PASTE(lanes_, IN##o)(in##o, position[o], STRIDE(loop, o), last)
#define KEPT_FACTOR(o) product *= LANES_ALONG(KEPT_INNER, o);
#define SUMMED_FACTOR(o) product *= LANES_ALONG(SUMMED_INNER, o);
#define ONE_FACTOR(o) single *= PASTE(one_, IN##o)(in##o, position[o]);

/* Positions at[0..OPERANDS] of work-item `index` of the kept loops, the innermost of which is cut into pieces of `piece`; returns the
 * first index of the piece. */
inline INDEX find_item(INDEX index, INDEX piece, INDEX *at, SHAPE_POINTER)
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

/* Work-items of dimension 0 that are inside; run: elements of the innermost kept loop in a work-item. */
__kernel void einsum_map(EACH(PARAMETER) __global PASTE(STORAGE_, OUT) *out, const long out_offset, SHAPE_PARAMETER, const long items,
                         const long run)
{
    INDEX position[OPERANDS + 1];
    if ((INDEX)get_global_id(0) >= (INDEX)items)
        return;
    SHAPE_BEGIN
    EACH(MOVE_IN)
    out += out_offset;
    const INDEX first = find_item((INDEX)get_global_id(0), (INDEX)run, position, shape);
    const INDEX count = min((INDEX)run, SIZE(KEPT_INNER) - first);
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

#if SUMMED_RANK > 0
/* Walks the flat summed space from `begin`: digits of the summed loops and positions in the inputs. */
inline void find_term(INDEX begin, INDEX *digit, INDEX *at, SHAPE_POINTER)
{
    for (int d = SUMMED_RANK - 1; d >= 0; d--) {
        const INDEX outer = d > 0 ? begin / SIZE(KEPT_RANK + d) : 0;
        digit[d] = begin - outer * SIZE(KEPT_RANK + d);
        for (int t = 0; t < OPERANDS; t++)
            at[t] += digit[d] * STRIDE(KEPT_RANK + d, t);
        begin = outer;
    }
}

/* After `run` terms of the innermost summed loop. */
inline void next_terms(INDEX run, INDEX *digit, INDEX *at, SHAPE_POINTER)
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

/* items: work-items of a slice; summed: size of the summed space; part_stride: output elements between slices. */
__kernel void einsum_sum_kept(EACH(PARAMETER) __global PASTE(STORAGE_, OUT) *out, const long out_offset, SHAPE_PARAMETER, const long items,
                              const long summed, const long slice, const long part_stride)
{
    INDEX at[OPERANDS + 1], position[OPERANDS + 1], digit[SUMMED_RANK];
    const INDEX part = (INDEX)get_global_id(1);
    if ((INDEX)get_global_id(0) >= (INDEX)items)
        return;
    SHAPE_BEGIN
    EACH(MOVE_IN)
    out += out_offset + part * part_stride;
    const INDEX first = find_item((INDEX)get_global_id(0), VECTORS * WIDTH, at, shape);
    const int last = IS_FULL ? WIDTH - 1 : (int)min((INDEX)(WIDTH - 1), SIZE(KEPT_INNER) - 1 - first);
    const INDEX begin = part * (INDEX)slice;
    INDEX left = min((INDEX)slice, (INDEX)summed - begin);
    find_term(begin, digit, at, shape);

    floatv total[VECTORS], sum[VECTORS];
    INDEX held = 0; /* products in sum */
    for (int v = 0; v < VECTORS; v++)
        total[v] = sum[v] = 0.0f;
    while (left > 0) {
        const INDEX run = min(left, min(SIZE(SUMMED_INNER) - digit[SUMMED_RANK - 1], (INDEX)BLOCK));
        for (INDEX i = 0; i < run; i++)
            for (int v = 0; v < VECTORS; v++) {
                for (int t = 0; t < OPERANDS; t++)
                    position[t] = at[t] + i * STRIDE(SUMMED_INNER, t) + v * WIDTH * STRIDE(KEPT_INNER, t);
                floatv product = 1.0f;
                EACH(KEPT_FACTOR)
                sum[v] += product;
            }
        held += run;
        if (held >= BLOCK) {
            for (int v = 0; v < VECTORS; v++) {
                total[v] += sum[v];
                sum[v] = 0.0f;
            }
            held = 0;
        }
        left -= run;
        next_terms(run, digit, at, shape);
    }
    for (int v = 0; v < VECTORS; v++)
        PASTE(put_, OUT)(out, at[OPERANDS] + v * WIDTH * STRIDE(KEPT_INNER, OPERANDS), STRIDE(KEPT_INNER, OPERANDS), last,
                         total[v] + sum[v]);
}

/* The same parameters; one output element per work-item and slice. */
__kernel void einsum_sum_lanes(EACH(PARAMETER) __global PASTE(STORAGE_, OUT) *out, const long out_offset, SHAPE_PARAMETER, const long items,
                               const long summed, const long slice, const long part_stride)
{
    INDEX at[OPERANDS + 1], position[OPERANDS + 1], digit[SUMMED_RANK];
    const int last = WIDTH - 1;
    const INDEX part = (INDEX)get_global_id(1);
    if ((INDEX)get_global_id(0) >= (INDEX)items)
        return;
    SHAPE_BEGIN
    EACH(MOVE_IN)
    out += out_offset + part * part_stride;
    find_item((INDEX)get_global_id(0), 1, at, shape);
    const INDEX begin = part * (INDEX)slice;
    INDEX left = min((INDEX)slice, (INDEX)summed - begin);
    find_term(begin, digit, at, shape);

    floatv total = 0.0f, sum = 0.0f;
    float odd_total = 0.0f, odd = 0.0f; /* what does not fill a vector */
    INDEX held = 0;
    while (left > 0) {
        const INDEX run = min(left, min(SIZE(SUMMED_INNER) - digit[SUMMED_RANK - 1], (INDEX)(BLOCK * WIDTH)));
        INDEX i = 0;
        for (int t = 0; t < OPERANDS; t++)
            position[t] = at[t];
        for (; i + WIDTH <= run; i += WIDTH) {
            floatv product = 1.0f;
            EACH(SUMMED_FACTOR)
            sum += product;
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
        held += run;
        if (held >= BLOCK) {
            total += sum;
            odd_total += odd;
            sum = 0.0f;
            odd = 0.0f;
            held = 0;
        }
        left -= run;
        next_terms(run, digit, at, shape);
    }
    float lane[WIDTH], result = odd + odd_total;
    VECTOR_STORE(total + sum, lane);
    for (int i = 0; i < WIDTH; i++)
        result += lane[i];
    PASTE(put_one_, OUT)(out, at[OPERANDS], result);
}
#endif
