/* SPDX-License-Identifier: MIT */
/* Cached attention on CPUs, with vectors along the head. A work-item has TILE neighbouring queries, with all heads or one step of them. It
 * computes several columns together, where a column is a query and a head: TILE queries, or SHARED_HEADS heads that share keys. Columns
 * whose queries see the same cache rows, as those of a prompt do, read a block of keys and values once. Blocks begin at multiples of WIDTH
 * keys, whatever a query's first key. So queries whose windows begin one after another share blocks, and a column's result does not depend
 * on the columns beside it.
 *
 * IS_SPLIT: a query's keys are divided into parts, one for each work-item, so that few queries keep all compute units busy. Each part
 * writes mixed values with their maximum and sum, and cached_attention_vector_merge.cl joins them (Flash-Decoding). */
#include "cached_attention.cl"
#include "attention_part.cl"
#include "unroll.cl"
#include "lane_max.cl"
#include "lane_sum.cl"
#include "lane_sums.cl"
#include "prefetch.cl"
#include "item.cl"

#if !defined(TILE) || !defined(SHARED_HEADS)
#error "TILE: queries of a work-item; SHARED_HEADS: heads that go together, a divisor of those that share keys"
#elif TILE > 1 && SHARED_HEADS > 1
#error "a work-item has columns of several queries or of several heads"
#endif
#if !defined(HAS_ONE_STEP) || !defined(IS_SPLIT)
#error "HAS_ONE_STEP: a work-item has SHARED_HEADS heads, else all; IS_SPLIT: keys lie in parts"
#endif

/* Vector i of a head's row. */
#if IS_Q8
#define KV_VECTOR(row, i) (vector_load_i8((__global const char *)(row) + (i) * WIDTH) * (floatv)(cache_scale(row, HEAD, (i) * WIDTH)))
#else
#define KV_VECTOR(row, i) PASTE(vector_, LOAD_KV)((row) + (i) * WIDTH)
#endif
#define VECTORS (HEAD / WIDTH)
#if TILE == 1
#define COLUMNS SHARED_HEADS
#define QUERY_OF(column) 0
#define HEAD_OF(column) (column)
#else
#define COLUMNS TILE
#define QUERY_OF(column) (column)
#define HEAD_OF(column) 0
#endif
#define AHEAD (4 * WIDTH) /* keys between the prefetched one and the one that is read */
#define LINE 64           /* bytes of a cache line */
#if WIDTH == 16
#define EXP softmax_exp16
#else
DEFINE_SOFTMAX_EXP(softmax_exp_v, floatv, intv, AS_INTV, AS_FLOATV)
#define EXP softmax_exp_v
#endif

/* The state of a column between blocks of keys. */
typedef struct query_state {
    floatv query[VECTORS], mixed[VECTORS];
    float maximum, sum;
} query_state;

/* The online softmax of a block of `count` keys from `begin` on. Score j of the column is the sum of products[j]; `scores` receives the
 * weights. Returns alpha, by which the caller multiplies the mixed values of earlier blocks. last: position of the query among the keys. */
inline float weigh_block(query_state *state, const floatv *products, float *scores, const cached_layout *at, int h, int begin, int count,
                         int last, __global const float *bias, float cap)
{
    *(floatv *)scores = lane_sums(products);
#if HAS_BIAS || HAS_SOFT_CAP
    for (int j = 0; j < count; j++) {
        const float score = BIASED(scores[j], at, bias, h, begin + j, last);
        scores[j] = CAPPED(score, cap);
    }
#endif
    for (int j = count; j < WIDTH; j++)
        scores[j] = -INFINITY;
    const float largest = fmax(state->maximum, lane_max(*(const floatv *)scores)); /* a NaN is not the maximum */
    const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(state->maximum - shift);
    const floatv weights = EXP(*(const floatv *)scores - shift);
    *(floatv *)scores = weights;
    state->sum = state->sum * alpha + lane_sum(weights);
    state->maximum = largest;
    return alpha;
}

/* Prefetches a row of a later block while scores are computed: the hardware prefetcher can't predict short, scattered rows. */
inline void prefetch_row(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, long row)
{
    for (int c = 0; c < ROW; c += LINE / (int)sizeof(KV_T)) {
        PREFETCH_STREAM(k + row * at->k_stride + c);
        PREFETCH_STREAM(v + row * at->v_stride + c);
    }
}

/* Loops over columns, and over STEP vectors of a head, are unrolled by the preprocessor, so that every compiler keeps sums in registers.
 * STEP is chosen so that registers are left for the factors. */
#if COLUMNS <= 3 && VECTORS % 4 == 0
#define STEP 4
#elif COLUMNS <= 6 && VECTORS % 2 == 0
#define STEP 2
#else
#define STEP 1
#endif
#define EACH_STEP_VECTOR(F, c) PASTE(VECTORS_, STEP)(F, c)
#define EACH_COLUMN PASTE(ROWS_, COLUMNS)

#define START_PRODUCT(c) floatv product##c = (floatv)(0.0f);
#define LOAD_KEY(unused, v) const floatv key##v = KV_VECTOR(k_row, i + v);
#define ADD_PRODUCT(c, v) product##c = fma(key##v, states[c].query[i + v], product##c);
#define ADD_PRODUCTS(c) EACH_STEP_VECTOR(ADD_PRODUCT, c)
#define KEEP_PRODUCT(c) products[c][j] = product##c;
#define WEIGH(c)                                                                                                             \
    const float alpha##c =                                                                                                   \
        weigh_block(&states[c], products[c], scores[c], at, h + HEAD_OF(c), begin, count, keys[QUERY_OF(c)] - 1, bias, cap);
#define START_MIXED(c, v) floatv mixed##c##v = states[c].mixed[i + v] * alpha##c;
#define START_COLUMN(c) EACH_STEP_VECTOR(START_MIXED, c)
#define LOAD_VALUE(unused, v) const floatv value##v = KV_VECTOR(v_row, i + v);
#define ADD_VALUE(c, v) mixed##c##v = fma(value##v, weight##c, mixed##c##v);
#define ADD_VALUES(c)                                 \
    const floatv weight##c = (floatv)(scores[c][j]);  \
    EACH_STEP_VECTOR(ADD_VALUE, c)
#define KEEP_MIXED(c, v) states[c].mixed[i + v] = mixed##c##v;
#define KEEP_COLUMN(c) EACH_STEP_VECTOR(KEEP_MIXED, c)

/* Defines NAME, which attends to `count` keys from `begin` on for COUNT columns: heads from h on or queries from n on. A short block reads
 * its last key several times; the extra scores do not count. keys: how many keys each query sees. */
#define DEFINE_ATTEND_BLOCK(NAME, COUNT, EACH)                                                                                       \
    __attribute__((always_inline)) inline void NAME(const cached_layout *at, __global const KV_T *k, __global const KV_T *v,         \
                                                    __global const int *rows, int n, int h, int begin, int count,                    \
                                                    const int *keys, __global const float *bias, float cap, query_state *states)     \
    {                                                                                                                                \
        float scores[COUNT][WIDTH] __attribute__((aligned(64)));                                                                     \
        floatv products[COUNT][WIDTH];                                                                                               \
        long row[WIDTH];                                                                                                             \
        for (int j = 0; j < WIDTH; j++) {                                                                                            \
            row[j] = cache_row(at, rows, n, begin + min(j, count - 1));                                                              \
            prefetch_row(at, k, v, cache_row(at, rows, n, min(begin + AHEAD + j, keys[0] - 1)));                                     \
            __global const KV_T *k_row = k + row[j] * at->k_stride;                                                                  \
            EACH(START_PRODUCT)                                                                                                      \
            for (int i = 0; i < VECTORS; i += STEP) {                                                                                \
                EACH_STEP_VECTOR(LOAD_KEY, 0)                                                                                        \
                EACH(ADD_PRODUCTS)                                                                                                   \
            }                                                                                                                        \
            EACH(KEEP_PRODUCT)                                                                                                       \
        }                                                                                                                            \
        EACH(WEIGH)                                                                                                                  \
        for (int i = 0; i < VECTORS; i += STEP) {                                                                                    \
            EACH(START_COLUMN)                                                                                                       \
            for (int j = 0; j < count; j++) {                                                                                        \
                __global const KV_T *v_row = v + row[j] * at->v_stride;                                                              \
                EACH_STEP_VECTOR(LOAD_VALUE, 0)                                                                                      \
                EACH(ADD_VALUES)                                                                                                     \
            }                                                                                                                        \
            EACH(KEEP_COLUMN)                                                                                                        \
        }                                                                                                                            \
    }
DEFINE_ATTEND_BLOCK(attend_block, COLUMNS, EACH_COLUMN)
#if TILE > 1
DEFINE_ATTEND_BLOCK(attend_one, 1, ROWS_1)
#else
#define attend_one attend_block
#endif

#if TILE > 1
/* Returns the end of the whole blocks, from `begin` on and within the first `least` keys, whose rows are the same for the TILE queries from
 * n on. */
inline int shared_end(const cached_layout *at, __global const int *rows, int n, int begin, int least)
{
    int differences = 0;
    while (begin + WIDTH <= least) {
        for (int t = 1; t < TILE; t++)
            for (int j = begin; j < begin + WIDTH; j++)
                differences |= (int)(cache_row(at, rows, n, j) ^ cache_row(at, rows, n + t, j));
        if (differences)
            break;
        begin += WIDTH;
    }
    return begin;
}
#endif

/* queries: number of queries of the whole launch. parts: f32 [part_count, queries, heads, PART_SIZE] with IS_SPLIT, otherwise not used. The
 * blocks of keys that a query sees are divided among its parts. */
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cached_attention_vector(ITEM_PARAMETERS __global const float *q, __global const KV_T *k, __global const KV_T *v,
                             __global float *out, __global const int *rows, __global const int *counts, cached_layout at, int heads,
                             int group, float scale, int window, float cap, __global const float *bias, int queries,
                             __global float *parts, long parts_offset, int part_count)
{
    const int n = (int)get_global_id(0) * TILE, first_head = HAS_ONE_STEP ? (int)get_global_id(1) * SHARED_HEADS : 0;
    const int end_head = HAS_ONE_STEP ? first_head + SHARED_HEADS : heads, end = TILE > 1 ? min(TILE, queries - n) : 1;
    int keys[TILE], least = INT_MAX, most = 0;
    for (int t = 0; t < end; t++) {
        keys[t] = counts[at.count_offset + n + t];
        least = min(least, keys[t]);
        most = max(most, keys[t]);
    }
    int begin_key = FIRST_KEY(least, window) / WIDTH * WIDTH;
#if IS_SPLIT
    const int part_keys = ((most - begin_key + part_count - 1) / part_count + WIDTH - 1) / WIDTH * WIDTH;
    begin_key += (int)get_global_id(2) * part_keys;
    most = min(most, begin_key + part_keys);
#endif
#if TILE > 1
    const int shared_begin = (FIRST_KEY(most, window) + WIDTH - 1) / WIDTH * WIDTH; /* from here on every query sees all keys */
    const int shared = end == TILE ? shared_end(&at, rows, n, shared_begin, least) : 0;
#endif
    for (int h = first_head; h < end_head; h += SHARED_HEADS) {
        const int g = (int)((uint)h / (uint)group);
        __global const KV_T *head_k = k + at.k_offset + g * at.k_head_stride, *head_v = v + at.v_offset + g * at.v_head_stride;
        query_state states[COLUMNS];
        for (int c = 0; c < end * SHARED_HEADS; c++) {
            __global const float *query =
                q + at.q_offset + (h + HEAD_OF(c)) * at.q_head_stride + (n + QUERY_OF(c)) * at.q_stride;
            states[c].maximum = -INFINITY;
            states[c].sum = 0.0f;
            for (int i = 0; i < VECTORS; i++) {
                states[c].query[i] = vector_load_f32(query + i * WIDTH) * scale;
                states[c].mixed[i] = (floatv)(0.0f);
            }
        }
        for (int begin = begin_key; begin < most; begin += WIDTH) {
#if TILE > 1
            if (begin >= shared_begin && begin < shared) {
                attend_block(&at, head_k, head_v, rows, n, h, begin, WIDTH, keys, bias, cap, states);
                continue;
            }
#endif
            for (int t = 0; t < end; t++) {
                const int from = max(begin, FIRST_KEY(keys[t], window)), seen = min(begin + WIDTH, keys[t]) - from;
                if (seen == WIDTH)
                    attend_one(&at, head_k, head_v, rows, n + t, h, from, WIDTH, keys + t, bias, cap,
                               states + t * SHARED_HEADS);
                else if (seen > 0)
                    attend_one(&at, head_k, head_v, rows, n + t, h, from, seen, keys + t, bias, cap,
                               states + t * SHARED_HEADS);
            }
        }
        for (int c = 0; c < end * SHARED_HEADS; c++) {
            const int query = n + QUERY_OF(c), head = h + HEAD_OF(c);
#if IS_SPLIT
            __global float *to = parts + parts_offset + (((long)get_global_id(2) * queries + query) * heads + head) * PART_SIZE;
            const float factor = 1.0f;
            to[PART_MAXIMUM] = states[c].maximum;
            to[PART_SUM] = states[c].sum;
#else
            __global float *to = out + at.out_offset + query * at.out_stride + head * at.out_head_stride;
            const float factor = states[c].sum == 0.0f ? 0.0f : 1.0f / states[c].sum; /* no usable key: zeros */
#endif
            for (int i = 0; i < VECTORS; i++)
                vector_store_f32(to + i * WIDTH, states[c].mixed[i] * factor);
        }
    }
}
