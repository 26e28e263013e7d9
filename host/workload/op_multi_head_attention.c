/* SPDX-License-Identifier: MIT */
/* Workloads "multi_head_attention": the whole layer in self-attention, with sequence-first operands as in textbook descriptions.
 *
 * x, out [L,N,D]; four projections W [D,D] with biases, H heads of D / H columns. mask "query-key-batch": u8 [L,L,N], of which about
 * three quarters are kept. Operations are 8 D^2 per position, and 4 D per pair of query and key, masked or not. Bytes are those of x,
 * out, the weights and the mask, once each. Verified against float64: all queries of small cases, else some queries of one batch row. */
#include <stdio.h>

#include "base/alloc.h"
#include "clformer/attention.h"
#include "workload/op_run.h"
#include "workload/op_workloads.h"
#include "workload/reference_attention.h"
#include "workload/reference_gemm.h"
#include "workload/verdict.h"

enum { SEED = 6, QUERIES_CHECKED = 16, W_Q = 0, W_K, W_V, W_O, WEIGHTS };

typedef struct layer_case {
    int64_t batch, length, width, heads;
    bool is_masked;
} layer_case;

static const layer_case cases[] = {{8, 256, 512, 8, false}, {8, 256, 512, 8, true}};

/* Sizes that no block divides, for the self-test. */
static const layer_case small_cases[] = {{3, 19, 20, 2, true}};

typedef struct layer_state {
    clfi_op_run run;
    layer_case one;
    clf_multi_head_attention *attention;
    clf_multi_head_attention_params params;
    clf_attention_masks masks;
    clfi_operand x, out, weight[WEIGHTS], bias[WEIGHTS];
    clf_tensor *mask;
    uint8_t *keep; /* [L,L,N] */
} layer_state;

static clf_status enqueue(void *state)
{
    layer_state *s = state;
    return clf_multi_head_attention_apply(s->run.context, s->attention, s->x.tensor, s->x.tensor, s->x.tensor, &s->params, s->out.tensor);
}

static void release(void *state)
{
    layer_state *s = state;
    if (!s)
        return;
    clf_multi_head_attention_destroy(s->attention);
    clfi_operand_free(&s->x);
    clfi_operand_free(&s->out);
    for (int i = 0; i < WEIGHTS; i++) {
        clfi_operand_free(&s->weight[i]);
        clfi_operand_free(&s->bias[i]);
    }
    clf_tensor_destroy(s->mask);
    free(s->keep);
    free(s);
}

/* Makes a random mask in which every query keeps the key at its own place. */
static clf_status make_mask(layer_state *s, clf_context *context, clfi_random *random)
{
    const int64_t length = s->one.length, batch = s->one.batch, dim[] = {length, length, batch};
    CLF_TRY(clfi_alloc((size_t)(length * length * batch), 1, "mask", &s->keep));
    for (int64_t i = 0; i < length; i++)
        for (int64_t j = 0; j < length; j++)
            for (int64_t n = 0; n < batch; n++)
                s->keep[(i * length + j) * batch + n] = i == j || clfi_random_below(random, 4) > 0;
    return clf_tensor_create_from(context, CLF_U8, 3, dim, s->keep, &s->mask);
}

/* Makes the layer. Weights are uniform in +-sqrt(3 / D), so that a product has about the variance of its input. */
static clf_status make_layer(layer_state *s, clf_context *context, clfi_random *random)
{
    const int64_t width = s->one.width, dim[] = {width, width};
    const float most = (float)sqrt(3.0 / (double)width);
    for (int i = 0; i < WEIGHTS; i++) {
        CLF_TRY(clfi_operand_random(context, random, 2, dim, -most, most, &s->weight[i]));
        CLF_TRY(clfi_operand_random(context, random, 1, dim, -1, 1, &s->bias[i]));
    }
    clf_multi_head_attention_weights weights = CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT;
    weights.w_q = s->weight[W_Q].tensor;
    weights.w_k = s->weight[W_K].tensor;
    weights.w_v = s->weight[W_V].tensor;
    weights.w_o = s->weight[W_O].tensor;
    weights.b_q = s->bias[W_Q].tensor;
    weights.b_k = s->bias[W_K].tensor;
    weights.b_v = s->bias[W_V].tensor;
    weights.b_o = s->bias[W_O].tensor;
    return clf_multi_head_attention_create(context, s->one.heads, &weights, &s->attention);
}

static clf_status setup(const clfi_workload *workload, clf_context *context, const char *engine, void *state)
{
    layer_state *s = state;
    clfi_random random = {SEED};
    s->one = *(const layer_case *)workload->parameters;
    const int64_t dim[] = {s->one.length, s->one.batch, s->one.width};
    CLF_TRY(clfi_op_run_init(&s->run, workload, context, "multi_head_attention", engine, enqueue));
    CLF_TRY(clfi_operand_random(context, &random, 3, dim, -1.7f, 1.7f, &s->x));
    CLF_TRY(clfi_operand_result(context, 3, dim, &s->out));
    CLF_TRY(make_layer(s, context, &random));
    s->params = (clf_multi_head_attention_params)CLF_MULTI_HEAD_ATTENTION_PARAMS_INIT;
    s->masks = (clf_attention_masks)CLF_ATTENTION_MASKS_INIT;
    s->params.layout = CLF_LAYOUT_LND;
    if (s->one.is_masked) {
        CLF_TRY(make_mask(s, context, &random));
        s->masks.mask = s->mask;
        s->params.masks = &s->masks;
    }
    return CLF_OK;
}

static clf_status prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    return clfi_op_prepare(workload, context, engine, sizeof(layer_state), setup, state);
}

/* Rows in double, and bounds on the errors of a float32 computation of them. */
typedef struct bounded {
    double *value, *bound;
} bounded;

/* y[row] = W x + b for an x with errors up to `x_bound` (NULL: exact). A sum of D products errs by sqrt(D) u of their magnitudes, times
 * a constant, here 4 (Higham & Mary 2019). */
static void project(const layer_state *s, int which, const double *x, const double *x_bound, double *y, double *y_bound)
{
    const int64_t width = s->one.width;
    const clfi_ref_loss loss = clfi_ref_gemm_loss(s->run.precision);
    const double rounding = 4 * sqrt((double)width) * 0x1p-24 + loss.relative;
    for (int64_t row = 0; row < width; row++) {
        const float *w = s->weight[which].host + row * width, b = s->bias[which].host[row];
        double sum = (double)b, size = fabs((double)b), carried = 0, terms = 0;
        for (int64_t c = 0; c < width; c++) {
            const double product = (double)w[c] * x[c];
            sum += product;
            size += fabs(product);
            carried += x_bound ? fabs((double)w[c]) * x_bound[c] : 0;
            terms += fabs((double)w[c]) + fabs(x[c]) + 1;
        }
        y[row] = sum;
        y_bound[row] = rounding * size + loss.of_term / 3 * terms + (1 + loss.relative) * carried;
    }
}

static void project_position(const layer_state *s, int which, int64_t position, int64_t batch_row, double *x, double *y, double *y_bound)
{
    const int64_t width = s->one.width;
    for (int64_t c = 0; c < width; c++)
        x[c] = (double)s->x.host[(position * s->one.batch + batch_row) * width + c];
    project(s, which, x, NULL, y, y_bound);
}

/* Memory for the check of one batch row: keys and values of every position, each head apart, [H,L,D / H], and one query. */
typedef struct layer_check {
    int64_t batch_row;
    double *memory;
    bounded k, v, q, context, out;
    double *x;
    bool *keep;
} layer_check;

static clf_status check_init(layer_check *check, const layer_state *s)
{
    const size_t width = (size_t)s->one.width, length = (size_t)s->one.length;
    CLF_TRY(clfi_alloc(4 * length * width + 7 * width, sizeof(double), "reference", &check->memory));
    double *at = check->memory;
    bounded *const parts[] = {&check->k, &check->v, &check->q, &check->context, &check->out};
    for (size_t i = 0; i < COUNT(parts); i++) {
        const size_t count = i < 2 ? length * width : width;
        *parts[i] = (bounded){at, at + count};
        at += 2 * count;
    }
    check->x = at;
    return clfi_alloc(length, sizeof *check->keep, "reference", &check->keep);
}

static void split_heads(const layer_state *s, const double *from, int64_t position, double *to)
{
    const int64_t size = s->one.width / s->one.heads;
    for (int64_t c = 0; c < s->one.width; c++)
        to[((c / size) * s->one.length + position) * size + c % size] = from[c];
}

static void project_keys(const layer_state *s, layer_check *check)
{
    for (int64_t j = 0; j < s->one.length; j++) {
        project_position(s, W_K, j, check->batch_row, check->x, check->q.value, check->q.bound);
        split_heads(s, check->q.value, j, check->k.value);
        split_heads(s, check->q.bound, j, check->k.bound);
        project_position(s, W_V, j, check->batch_row, check->x, check->q.value, check->q.bound);
        split_heads(s, check->q.value, j, check->v.value);
        split_heads(s, check->q.bound, j, check->v.bound);
    }
}

/* Computes the context of one head. The errors of q, k and v add to the bound for exact operands: each score errs by `off`, each weight
 * by twice that relatively, and the values by their own errors. */
static clf_status attend(const layer_state *s, layer_check *check, int64_t head)
{
    const size_t size = (size_t)(s->one.width / s->one.heads), length = (size_t)s->one.length, at = (size_t)head * size;
    const double *q = check->q.value + at, *dq = check->q.bound + at, scale = 1 / sqrt((double)size);
    const double *k = check->k.value + at * length, *dk = check->k.bound + at * length;
    const double *v = check->v.value + at * length, *dv = check->v.bound + at * length;
    double *value = check->context.value + at, *bound = check->context.bound + at, worst_score = 0;
    const clfi_ref_attention row = {.q = q,
                                    .k = k,
                                    .v = v,
                                    .keys = length,
                                    .d = size,
                                    .dv = size,
                                    .scale = scale,
                                    .keep = s->keep ? check->keep : NULL,
                                    .empty_rows = CLF_EMPTY_ROWS_ZERO,
                                    .precision = s->run.precision};
    CLF_TRY(clfi_ref_attention_row(&row, value, bound));
    for (size_t j = 0; j < length; j++) {
        double off = 0;
        for (size_t c = 0; c < size; c++)
            off += scale * (dq[c] * fabs(k[j * size + c]) + fabs(q[c]) * dk[j * size + c] + dq[c] * dk[j * size + c]);
        worst_score = off > worst_score ? off : worst_score;
    }
    for (size_t c = 0; c < size; c++) {
        double largest = 0, off = 0;
        for (size_t j = 0; j < length; j++) {
            largest = fmax(largest, fabs(v[j * size + c]));
            off = fmax(off, dv[j * size + c]);
        }
        bound[c] += 2 * worst_score * largest + off;
    }
    return CLF_OK;
}

static clf_status check_query(const layer_state *s, layer_check *check, int64_t query, clfi_verdict *out)
{
    const int64_t width = s->one.width, batch = s->one.batch, length = s->one.length;
    project_position(s, W_Q, query, check->batch_row, check->x, check->q.value, check->q.bound);
    for (int64_t j = 0; s->keep && j < length; j++)
        check->keep[j] = s->keep[(query * length + j) * batch + check->batch_row];
    for (int64_t head = 0; head < s->one.heads; head++)
        CLF_TRY(attend(s, check, head));
    project(s, W_O, check->context.value, check->context.bound, check->out.value, check->out.bound);
    for (int64_t c = 0; c < width; c++)
        clfi_verdict_add(out, (double)s->out.host[(query * batch + check->batch_row) * width + c], check->out.value[c],
                         check->out.bound[c]);
    return CLF_OK;
}

/* Errors are differences of elements of out. */
static clf_status verify(void *state, clfi_verdict *out)
{
    layer_state *s = state;
    clfi_random random = {SEED + 1};
    layer_check check = {.batch_row = (int64_t)clfi_random_below(&random, (size_t)s->one.batch)};
    size_t places[QUERIES_CHECKED];
    clf_status st;
    CLF_GOTO(check_init(&check, s));
    CLF_GOTO(clfi_op_run_fresh(s, &s->out));
    project_keys(s, &check);
    const size_t count = clfi_random_places(&random, (size_t)s->one.length, QUERIES_CHECKED, places);
    *out = (clfi_verdict)CLFI_VERDICT_INIT;
    for (size_t i = 0; i < count; i++)
        CLF_GOTO(check_query(s, &check, (int64_t)places[i], out));
done:
    free(check.memory);
    free(check.keep);
    return st;
}

static const clfi_workload_type type = {
    .engines = clfi_op_engines, .prepare = prepare, .verify = verify, .run = clfi_op_run_chain, .release = release};

static clf_status add(clfi_workload_list *list, const layer_case *one)
{
    const double positions = (double)one->batch * (double)one->length, width = (double)one->width, length = (double)one->length;
    const double flops = 8 * positions * width * width + 4 * positions * length * width;
    const double values = 2 * positions * width + 4 * (width + 1) * width, mask_bytes = one->is_masked ? positions * length : 0;
    const char *mask = one->is_masked ? "query-key-batch" : "none";
    const int chain = clfi_op_chain(flops, 0);
    char times[CLFI_CHAIN_TEXT];
    clfi_workload workload = {.op = "multi_head_attention",
                              .flops = chain * flops,
                              .bytes = chain * (values * sizeof(float) + mask_bytes),
                              .limit = "fp32_gflops",
                              .type = &type};
    snprintf(workload.id, sizeof workload.id, "multi_head_attention/f32/l%lld-n%lld-d%lld-h%lld-%s%s", (long long)one->length,
             (long long)one->batch, (long long)one->width, (long long)one->heads, mask, clfi_op_chain_text(chain, times));
    json_t *work = json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:s, s:s, s:s, s:i, s:i, s:s}", "op", "multi_head_attention", "batch",
                             (json_int_t)one->batch, "length", (json_int_t)one->length, "width", (json_int_t)one->width, "heads",
                             (json_int_t)one->heads, "layout", "lnd", "mask", mask, "storage", "f32", "arithmetic", "f32", "chain", chain,
                             "seed", SEED, "data", "uniform");
    return clfi_op_workload_add(list, &workload, work, one, sizeof *one);
}

clf_status clfi_multi_head_attention_workloads(clfi_workload_list *list, bool quick)
{
    for (size_t i = 0; !quick && i < COUNT(cases); i++)
        CLF_TRY(add(list, &cases[i]));
    return CLF_OK;
}

clf_status clfi_multi_head_attention_small_workloads(clfi_workload_list *list)
{
    for (size_t i = 0; i < COUNT(small_cases); i++)
        CLF_TRY(add(list, &small_cases[i]));
    return CLF_OK;
}
