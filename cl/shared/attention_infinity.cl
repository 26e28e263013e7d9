/* SPDX-License-Identifier: MIT */
/* Corrects infinite results of fused attention. The online softmax rescales a sum that is already infinite, and it stays infinite. But if
 * the weight of the infinite value becomes 0 in the end, the exact result is NaN, as 0 times infinity is. */
typedef struct usable_keys {
    int first, end;
    __global const uchar *key_mask; /* of the sequence's first key */
    int key_mask_stride;
    __global const uint *words; /* mask bits of the query's block (attention_keep_bits.cl); bit: the query's bit in each word */
    int bit;
#if HAS_BIAS
    __global const float *bias; /* bias of distance 0 */
    int place, reach;
#endif
} usable_keys;

inline bool is_usable(const usable_keys *usable, int j)
{
#if HAS_KEY_MASK
    if (usable->key_mask[(long)j * usable->key_mask_stride] == 0)
        return false;
#endif
#if HAS_KEEP
    if ((usable->words[j] >> usable->bit & 1u) == 0)
        return false;
#endif
    return true;
}

inline float score_of(const usable_keys *usable, float scale, __global const IN_T *q, __global const IN_T *k, int k_stride, int j)
{
    float score = 0.0f;
    for (int c = 0; c < HEAD; c++)
        score = fma(LOAD_IN(q, c), LOAD_IN(k, (long)j * k_stride + c), score);
    score *= scale;
#if HAS_BIAS
    score += usable->bias[bias_column(j, usable->place, usable->reach)];
#endif
    return score;
}

/* Returns NaN if `value` is infinite and a usable key with an infinite value has weight 0; otherwise returns `value`. q: the query; k: the
 * first key; v: the result's column of the first key's value. */
inline float settle_infinity(float value, float maximum, float scale, __global const IN_T *q, __global const IN_T *k, int k_stride,
                             __global const IN_T *v, int v_stride, const usable_keys *usable)
{
    for (int j = usable->first; isinf(value) && j < usable->end; j++)
        if (is_usable(usable, j) && isinf(LOAD_IN(v, (long)j * v_stride)) &&
            softmax_exp(score_of(usable, scale, q, k, k_stride, j) - maximum) == 0.0f)
            value = NAN;
    return value;
}

/* Computes a result again from its usable keys alone; maximum: the largest of their scores. */
inline float result_of_usable(float maximum, float scale, __global const IN_T *q, __global const IN_T *k, int k_stride,
                              __global const IN_T *v, int v_stride, const usable_keys *usable)
{
    const float shift = maximum == -INFINITY ? 0.0f : maximum;
    float value = 0.0f, sum = 0.0f;
    for (int j = usable->first; !isnan(value) && j < usable->end; j++)
        if (is_usable(usable, j)) {
            const float weight = softmax_exp(score_of(usable, scale, q, k, k_stride, j) - shift);
            value = fma(weight, LOAD_IN(v, (long)j * v_stride), value);
            sum += weight;
        }
    return sum == 0.0f ? value : value / sum;
}
