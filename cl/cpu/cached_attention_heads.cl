/* SPDX-License-Identifier: MIT */
/* Cached attention of one query, with vectors along the head: SHARED_HEADS heads that share keys read a block of keys and values once.
 * Blocks begin at multiples of WIDTH keys, whatever the query's first key, and sums have an order that depends on nothing but the keys'
 * positions. So a query's result is the same to the bit in every kernel that uses this, and in cached_attention_lanes.cl. */
#include "cached_attention.cl"
#include "unroll.cl"
#include "lane_max.cl"
#include "lane_sum.cl"
#include "lane_sums.cl"
#include "prefetch.cl"

#ifndef SHARED_HEADS
#error "SHARED_HEADS: heads that go together, a divisor of those that share keys"
#endif

/* Vector i of a head's row. */
#if IS_Q8
#define KV_VECTOR(row, i) (vector_load_i8((__global const char *)(row) + (i) * WIDTH) * (floatv)(cache_scale(row, HEAD, (i) * WIDTH)))
#else
#define KV_VECTOR(row, i) PASTE(vector_, LOAD_KV)((row) + (i) * WIDTH)
#endif
#define VECTORS (HEAD / WIDTH)
#define AHEAD (4 * WIDTH) /* keys between the prefetched one and the one that is read */
#define LINE 64           /* bytes of a cache line */
#if WIDTH == 16
#define EXP softmax_exp16
#else
DEFINE_SOFTMAX_EXP(softmax_exp_v, floatv, intv, AS_INTV, AS_FLOATV)
#define EXP softmax_exp_v
#endif

/* The state of a head between blocks of keys. */
typedef struct query_state {
    floatv query[VECTORS], mixed[VECTORS];
    float maximum, sum;
} query_state;

/* The sum of a block's weights, in the order of lane_sums. */
inline float block_sum(floatv v)
{
    const float4 quarter = quarter_sum(v);
    return dot(quarter.lo + quarter.hi, (float2)(1.0f)); /* not x + y: see lane_sum.cl */
}

/* The online softmax of the keys begin + skip .. begin + count - 1 of a block. Score j of the head is the sum of products[j]; `scores`
 * receives the weights. Returns alpha, by which the caller multiplies the mixed values of earlier blocks. last: position of the query among
 * the keys. */
inline float weigh_block(query_state *state, const floatv *products, float *scores, const cached_layout *at, int h, int begin, int skip,
                         int count, int last, __global const float *bias, float cap)
{
    *(floatv *)scores = lane_sums(products);
#if HAS_BIAS || HAS_SOFT_CAP
    for (int j = skip; j < count; j++) {
        const float score = BIASED(scores[j], at, bias, h, begin + j, last);
        scores[j] = CAPPED(score, cap);
    }
#endif
    for (int j = 0; j < skip; j++)
        scores[j] = -INFINITY;
    for (int j = count; j < WIDTH; j++)
        scores[j] = -INFINITY;
    const float largest = fmax(state->maximum, lane_max(*(const floatv *)scores)); /* a NaN is not the maximum */
    const float shift = largest == -INFINITY ? 0.0f : largest, alpha = softmax_exp(state->maximum - shift);
    const floatv weights = EXP(*(const floatv *)scores - shift);
    *(floatv *)scores = weights;
    state->sum = fma(state->sum, alpha, block_sum(weights));
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

/* Loops over heads, and over STEP vectors of a head, are unrolled by the preprocessor, so that every compiler keeps sums in registers. STEP
 * is chosen so that registers are left for the factors. */
#if SHARED_HEADS <= 3 && VECTORS % 4 == 0
#define STEP 4
#elif SHARED_HEADS <= 6 && VECTORS % 2 == 0
#define STEP 2
#else
#define STEP 1
#endif
#define EACH_STEP_VECTOR(F, c) PASTE(VECTORS_, STEP)(F, c)
#define EACH_HEAD PASTE(ROWS_, SHARED_HEADS)

#define START_PRODUCT(c) floatv product##c = (floatv)(0.0f);
#define LOAD_KEY(unused, v) const floatv key##v = KV_VECTOR(k_row, i + v);
#define ADD_PRODUCT(c, v) product##c = fma(key##v, states[c].query[i + v], product##c);
#define ADD_PRODUCTS(c) EACH_STEP_VECTOR(ADD_PRODUCT, c)
#define KEEP_PRODUCT(c) products[c][j] = product##c;
#define WEIGH(c) const float alpha##c = weigh_block(&states[c], products[c], scores[c], at, h + c, begin, skip, count, keys - 1, bias, cap);
#define START_MIXED(c, v) floatv mixed##c##v = states[c].mixed[i + v] * alpha##c;
#define START_COLUMN(c) EACH_STEP_VECTOR(START_MIXED, c)
#define LOAD_VALUE(unused, v) const floatv value##v = KV_VECTOR(v_row, i + v);
#define ADD_VALUE(c, v) mixed##c##v = fma(value##v, weight##c, mixed##c##v);
#define ADD_VALUES(c)                                \
    const floatv weight##c = (floatv)(scores[c][j]); \
    EACH_STEP_VECTOR(ADD_VALUE, c)
#define KEEP_MIXED(c, v) states[c].mixed[i + v] = mixed##c##v;
#define KEEP_COLUMN(c) EACH_STEP_VECTOR(KEEP_MIXED, c)

/* Attends to the keys begin + skip .. begin + count - 1 of a block, which begins at `begin`, for the heads from h on of query n, which sees
 * `keys` keys. A short block reads its first or last key several times; the extra scores do not count. */
__attribute__((always_inline)) inline void attend_block(const cached_layout *at, __global const KV_T *k, __global const KV_T *v,
                                                        __global const int *rows, int n, int h, int begin, int skip, int count, int keys,
                                                        __global const float *bias, float cap, query_state *states)
{
    float scores[SHARED_HEADS][WIDTH] __attribute__((aligned(64)));
    floatv products[SHARED_HEADS][WIDTH];
    long row[WIDTH];
    for (int j = 0; j < WIDTH; j++) {
        row[j] = cache_row(at, rows, n, begin + clamp(j, skip, count - 1));
        prefetch_row(at, k, v, cache_row(at, rows, n, min(begin + AHEAD + j, keys - 1)));
        __global const KV_T *k_row = k + row[j] * at->k_stride;
        EACH_HEAD(START_PRODUCT)
        for (int i = 0; i < VECTORS; i += STEP) {
            EACH_STEP_VECTOR(LOAD_KEY, 0)
            EACH_HEAD(ADD_PRODUCTS)
        }
        EACH_HEAD(KEEP_PRODUCT)
    }
    EACH_HEAD(WEIGH)
    for (int i = 0; i < VECTORS; i += STEP) {
        EACH_HEAD(START_COLUMN)
        for (int j = skip; j < count; j++) {
            __global const KV_T *v_row = v + row[j] * at->v_stride;
            EACH_STEP_VECTOR(LOAD_VALUE, 0)
            EACH_HEAD(ADD_VALUES)
        }
        EACH_HEAD(KEEP_COLUMN)
    }
}

inline void start_heads(const cached_layout *at, __global const float *q, int n, int h, float scale, query_state *states)
{
    for (int c = 0; c < SHARED_HEADS; c++) {
        __global const float *query = q + at->q_offset + (h + c) * at->q_head_stride + n * at->q_stride;
        states[c].maximum = -INFINITY;
        states[c].sum = 0.0f;
        for (int i = 0; i < VECTORS; i++) {
            states[c].query[i] = vector_load_f32(query + i * WIDTH) * scale;
            states[c].mixed[i] = (floatv)(0.0f);
        }
    }
}

/* Attends to the blocks from `begin`, a multiple of WIDTH, to `end`. Query n sees the keys first .. keys - 1. */
inline void attend_keys(const cached_layout *at, __global const KV_T *k, __global const KV_T *v, __global const int *rows, int n, int h,
                        int begin, int end, int first, int keys, __global const float *bias, float cap, query_state *states)
{
    for (; begin < end; begin += WIDTH) {
        const int skip = max(first - begin, 0), count = min(WIDTH, end - begin);
#ifndef TILE_V /* cached_attention_lanes.cl comes here for few queries, and compiles in less time */
        if (skip == 0 && count == WIDTH)
            attend_block(at, k, v, rows, n, h, begin, 0, WIDTH, keys, bias, cap, states);
        else
#endif
            attend_block(at, k, v, rows, n, h, begin, skip, count, keys, bias, cap, states);
    }
}

/* 0 without a usable key: such a row becomes zeros. */
inline float row_factor(float sum)
{
    return sum == 0.0f ? 0.0f : 1.0f / sum;
}

inline void store_heads(const cached_layout *at, const query_state *states, __global float *out, int n, int h)
{
    for (int c = 0; c < SHARED_HEADS; c++) {
        __global float *to = out + at->out_offset + n * at->out_stride + (h + c) * at->out_head_stride;
        const float factor = row_factor(states[c].sum);
        for (int i = 0; i < VECTORS; i++)
            vector_store_f32(to + i * WIDTH, states[c].mixed[i] * factor);
    }
}
