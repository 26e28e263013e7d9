/* SPDX-License-Identifier: MIT */
/* Cached attention on CPUs: vectors along the head, a work-item for ITEM_HEADS heads of TILE queries that follow each other. Where they see
 * the same rows, as queries of a prompt do, a block of keys and values is read once for all of them. Blocks begin at multiples of WIDTH
 * keys, whatever a query's first key, so that queries whose windows begin one after another share them, and numbers are those of a query
 * alone. */
#include "cached_attention.cl"
#include "lane_sum.cl"
#include "lane_sums.cl"
#include "prefetch.cl"
#include "item.cl"

#ifndef ITEM_HEADS
#error "ITEM_HEADS: heads of a work-item; 0: all"
#endif
#ifndef TILE
#error "TILE: queries of a work-item"
#elif TILE > 1 && !HAS_ROWS
#error "TILE: a table names the rows of several queries of one item"
#endif

#define LOAD_VECTOR PASTE(vector_, LOAD_KV)
#define VECTORS (HEAD / WIDTH)
#define AHEAD (2 * WIDTH) /* keys between what is asked for and what is read */
#if WIDTH == 16
#define EXP softmax_exp16
#else
DEFINE_SOFTMAX_EXP(softmax_exp_v, floatv, intv, AS_INTV, AS_FLOATV)
#define EXP softmax_exp_v
#endif

/* A query and head under way. */
typedef struct query_state {
    floatv query[VECTORS], mixed[VECTORS];
    float maximum, sum;
} query_state;

/* The online softmax of a block: scores become weights; alpha is what the mixed values of the blocks before are multiplied with. */
inline float weigh_block(query_state *state, float *scores, float largest)
{
    const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(state->maximum - shift);
    const floatv weights = EXP(*(const floatv *)scores - shift);
    *(floatv *)scores = weights;
    state->sum = state->sum * alpha + lane_sum(weights);
    state->maximum = largest;
    return alpha;
}

/* Rows are short and lie anywhere, so those of later blocks are asked for while scores are formed. */
inline void prefetch_row(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, long row)
{
    for (int i = 0; i < VECTORS; i++) {
        PREFETCH_STREAM(k + row * at->k_stride + i * WIDTH);
        PREFETCH_STREAM(v + row * at->v_stride + i * WIDTH);
    }
}

/* One block of at most WIDTH keys from `begin` on: their scores are the lanes of a vector. A short block takes its last key again, whose
 * score does not count. */
inline void attend_block(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, __global const int *rows, int first,
                         int n, int h, int begin, int count, int last, __global const float *bias, float cap, query_state *state)
{
    float scores[WIDTH] __attribute__((aligned(64)));
    long row[WIDTH];
    floatv products[WIDTH];
    for (int j = 0; j < WIDTH; j++) {
        row[j] = cache_row(at, rows, first, n, begin + min(j, count - 1));
        __global const KV_T *key = k + row[j] * at->k_stride;
        prefetch_row(at, k, v, cache_row(at, rows, first, n, min(begin + AHEAD + j, last)));
        products[j] = LOAD_VECTOR(key) * state->query[0];
        for (int i = 1; i < VECTORS; i++)
            products[j] = fma(LOAD_VECTOR(key + i * WIDTH), state->query[i], products[j]);
    }
    *(floatv *)scores = lane_sums(products);
    float largest = state->maximum;
    for (int j = 0; j < WIDTH; j++) {
        scores[j] = j < count ? CAPPED(BIASED(scores[j], at, bias, h, begin + j, last), cap) : -INFINITY;
        largest = scores[j] > largest ? scores[j] : largest;
    }
    const float alpha = weigh_block(state, scores, largest);
    for (int i = 0; i < VECTORS; i++)
        state->mixed[i] *= alpha;
    for (int j = 0; j < count; j++) {
        __global const KV_T *value = v + row[j] * at->v_stride;
        const floatv weight = (floatv)(scores[j]);
        for (int i = 0; i < VECTORS; i++)
            state->mixed[i] = fma(LOAD_VECTOR(value + i * WIDTH), weight, state->mixed[i]);
    }
}

#if TILE > 1
/* From the block at `begin` on, the end of the whole blocks of the first `least` keys that have the same rows for all the queries from n
 * on. */
inline int shared_end(const cached_layout *at, __global const int *rows, int n, int begin, int least)
{
    int differences = 0;
    while (begin + WIDTH <= least) {
        for (int t = 1; t < TILE; t++)
            for (int j = begin; j < begin + WIDTH; j++)
                differences |= (int)(cache_row(at, rows, 0, n, j) ^ cache_row(at, rows, 0, n + t, j));
        if (differences)
            break;
        begin += WIDTH;
    }
    return begin;
}

/* The whole block of WIDTH keys from `begin` on for each of TILE queries: as attend_block, operation for operation. counts: their keys. */
inline void attend_tile(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, __global const int *rows, int n, int h,
                        int begin, const int *counts, __global const float *bias, float cap, query_state *states)
{
    float scores[TILE][WIDTH] __attribute__((aligned(64)));
    float alpha[TILE];
    long row[WIDTH];
    floatv products[TILE][WIDTH];
    for (int j = 0; j < WIDTH; j++) {
        floatv key[VECTORS];
        row[j] = cache_row(at, rows, 0, n, begin + j);
        prefetch_row(at, k, v, cache_row(at, rows, 0, n, min(begin + AHEAD + j, counts[0] - 1)));
        for (int i = 0; i < VECTORS; i++)
            key[i] = LOAD_VECTOR(k + row[j] * at->k_stride + i * WIDTH);
        for (int t = 0; t < TILE; t++) {
            floatv product = key[0] * states[t].query[0];
            for (int i = 1; i < VECTORS; i++)
                product = fma(key[i], states[t].query[i], product);
            products[t][j] = product;
        }
    }
    for (int t = 0; t < TILE; t++) {
        *(floatv *)scores[t] = lane_sums(products[t]);
        float largest = states[t].maximum;
        for (int j = 0; j < WIDTH; j++) {
            scores[t][j] = CAPPED(BIASED(scores[t][j], at, bias, h, begin + j, counts[t] - 1), cap);
            largest = scores[t][j] > largest ? scores[t][j] : largest;
        }
        alpha[t] = weigh_block(&states[t], scores[t], largest);
    }
    for (int i = 0; i < VECTORS; i++) {
        floatv mixed[TILE];
        for (int t = 0; t < TILE; t++)
            mixed[t] = states[t].mixed[i] * alpha[t];
        for (int j = 0; j < WIDTH; j++) {
            const floatv value = LOAD_VECTOR(v + row[j] * at->v_stride + i * WIDTH);
            for (int t = 0; t < TILE; t++)
                mixed[t] = fma(value, (floatv)(scores[t][j]), mixed[t]);
        }
        for (int t = 0; t < TILE; t++)
            states[t].mixed[i] = mixed[t];
    }
}
#endif

/* queries: of the whole launch. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_vector(ITEM_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v,
                             __global float *out, __global const int *rows, __global const int *firsts, __global const int *counts,
                             cached_layout at, int heads, int group, int count, float scale, int window, float cap,
                             __global const float *bias, int queries)
{
    const int n = (int)get_global_id(0) * TILE, first_head = (int)get_global_id(1) * ITEM_HEADS;
    const int end_head = ITEM_HEADS ? min(first_head + ITEM_HEADS, heads) : heads, end = min(TILE, queries - n);
    const int first = HAS_ROWS ? 0 : firsts[at.first_offset + n];
    int keys[TILE], least = INT_MAX, most = 0;
    for (int t = 0; t < end; t++) {
        keys[t] = HAS_COUNTS ? counts[at.count_offset + n + t] : count;
        least = min(least, keys[t]);
        most = max(most, keys[t]);
    }
#if TILE > 1
    const int shared_begin = (FIRST_KEY(most, window) + WIDTH - 1) / WIDTH * WIDTH; /* from here on every query sees all keys */
    const int shared = end == TILE ? shared_end(&at, rows, n, shared_begin, least) : 0;
#endif
    for (int h = first_head; h < end_head; h++) {
        const int g = (int)((uint)h / (uint)group);
        __global const KV_T *head_k = k + at.k_offset + g * at.k_head_stride, *head_v = v + at.v_offset + g * at.v_head_stride;
        query_state states[TILE];
        for (int t = 0; t < end; t++) {
            states[t].maximum = -INFINITY;
            states[t].sum = 0.0f;
            for (int i = 0; i < VECTORS; i++) {
                states[t].query[i] =
                    vector_load_f32(q + at.q_offset + h * at.q_head_stride + (n + t) * at.q_stride + i * WIDTH) * scale;
                states[t].mixed[i] = (floatv)(0.0f);
            }
        }
        for (int begin = FIRST_KEY(least, window) / WIDTH * WIDTH; begin < most; begin += WIDTH) {
#if TILE > 1
            if (begin >= shared_begin && begin < shared) {
                attend_tile(&at, head_k, head_v, rows, n, h, begin, keys, bias, cap, states);
                continue;
            }
#endif
            for (int t = 0; t < end; t++) {
                const int from = max(begin, FIRST_KEY(keys[t], window)), seen = min(begin + WIDTH, keys[t]) - from;
                if (seen > 0)
                    attend_block(&at, head_k, head_v, rows, first, n + t, h, from, seen, keys[t] - 1, bias, cap, &states[t]);
            }
        }
        for (int t = 0; t < end; t++) {
            const float factor = states[t].sum == 0.0f ? 0.0f : 1.0f / states[t].sum; /* no usable key: zeros */
            __global float *to = out + at.out_offset + (n + t) * at.out_stride + h * at.out_head_stride;
            for (int i = 0; i < VECTORS; i++)
                vector_store_f32(to + i * WIDTH, states[t].mixed[i] * factor);
        }
    }
}
