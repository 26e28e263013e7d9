/* SPDX-License-Identifier: MIT */
/* onednn_attention [--heads 8] [--length 2048] [--size 64] [--rounds 9]
 *
 * Measures causal attention of clformer and of oneDNN's primitives, alternately in one process. oneDNN's version is a matmul with scale and
 * mask as post-operations, softmax in place, then a matmul with the values. `blocks` multiplies blocks of queries with only the keys
 * that they may see, as a careful user would; `whole` computes every score. Results are compared first. Prints one JSON object with
 * medians in milliseconds. */
#include <dnnl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clformer/attention.h"
#include "support/measure.h"

enum { BLOCK = 256 };

typedef struct shape {
    int64_t heads, length, size;
} shape;

typedef struct step {
    dnnl_primitive_t primitive;
    dnnl_exec_arg_t args[4];
    int count;
} step;

/* One way to compute attention: three steps for each block of queries. */
typedef struct peer {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    step *steps;
    float **masks; /* one mask per block, repeated for all heads, because oneDNN's fast products do not broadcast masks */
    int count;
} peer;

static void onednn_ok(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return;
    fprintf(stderr, "oneDNN: %s: status %d\n", what, (int)status);
    exit(1);
}
#define OK(call) onednn_ok((call), #call)

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!memory)
        abort();
    return memory;
}

static dnnl_memory_desc_t describe(int64_t heads, int64_t rows, int64_t columns, int64_t head_stride, int64_t row_stride,
                                   int64_t column_stride)
{
    dnnl_memory_desc_t d;
    OK(dnnl_memory_desc_init_by_strides(&d, 3, (dnnl_dims_t){heads, rows, columns}, dnnl_f32,
                                        (dnnl_dims_t){head_stride, row_stride, column_stride}));
    return d;
}

static void add_argument(peer *p, step *s, int id, const dnnl_memory_desc_t *d, const float *data)
{
    dnnl_memory_t memory;
    OK(dnnl_memory_create(&memory, d, p->engine, (void *)(uintptr_t)data));
    s->args[s->count++] = (dnnl_exec_arg_t){id, memory};
}

static void add_step(peer *p, const void *description, const_dnnl_primitive_attr_t attributes, step s)
{
    dnnl_primitive_desc_t pd;
    OK(dnnl_primitive_desc_create(&pd, description, attributes, p->engine, NULL));
    OK(dnnl_primitive_create(&s.primitive, pd));
    OK(dnnl_primitive_desc_destroy(pd));
    p->steps[p->count++] = s;
}

static float *causal_mask(int64_t heads, int64_t first, int64_t rows, int64_t keys)
{
    float *mask = allocate((size_t)(heads * rows * keys) * sizeof *mask);
    for (int64_t i = 0; i < heads * rows; i++)
        for (int64_t j = 0; j < keys; j++)
            mask[i * keys + j] = j > first + i % rows ? -1e30f : 0.0f;
    return mask;
}

static peer peer_create(const shape *s, int64_t block, const float *q, const float *k, const float *v, float *scores, float *out)
{
    const int64_t matrix = s->length * s->size;
    const float scale = 1 / sqrtf((float)s->size);
    const size_t blocks = (size_t)((s->length + block - 1) / block);
    peer p = {.steps = calloc(3 * blocks, sizeof(step)), .masks = calloc(blocks, sizeof(float *))};
    if (!p.steps || !p.masks)
        abort();
    OK(dnnl_engine_create(&p.engine, dnnl_cpu, 0));
    OK(dnnl_stream_create(&p.stream, p.engine, dnnl_stream_default_flags));
    for (int64_t first = 0; first < s->length; first += block) {
        const int64_t rows = s->length - first < block ? s->length - first : block, keys = first + rows;
        const dnnl_memory_desc_t queries = describe(s->heads, rows, s->size, matrix, s->size, 1);
        const dnnl_memory_desc_t turned = describe(s->heads, s->size, keys, matrix, 1, s->size);
        const dnnl_memory_desc_t weights = describe(s->heads, rows, keys, rows * keys, keys, 1);
        const dnnl_memory_desc_t values = describe(s->heads, keys, s->size, matrix, s->size, 1);
        dnnl_primitive_attr_t attributes;
        dnnl_post_ops_t after;
        dnnl_matmul_desc_t product;
        dnnl_softmax_desc_t softmax;
        OK(dnnl_primitive_attr_create(&attributes));
        OK(dnnl_primitive_attr_set_output_scales(attributes, 1, 0, &scale));
        OK(dnnl_post_ops_create(&after));
        OK(dnnl_post_ops_append_binary(after, dnnl_binary_add, &weights));
        OK(dnnl_primitive_attr_set_post_ops(attributes, after));
        OK(dnnl_matmul_desc_init(&product, &queries, &turned, NULL, &weights));
        p.masks[p.count / 3] = causal_mask(s->heads, first, rows, keys);
        step one = {0}, two = {0}, three = {0};
        add_argument(&p, &one, DNNL_ARG_SRC, &queries, q + first * s->size);
        add_argument(&p, &one, DNNL_ARG_WEIGHTS, &turned, k);
        add_argument(&p, &one, DNNL_ARG_DST, &weights, scores);
        add_argument(&p, &one, DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, &weights, p.masks[p.count / 3]);
        add_step(&p, &product, attributes, one);
        OK(dnnl_softmax_forward_desc_init(&softmax, dnnl_forward_inference, &weights, 2));
        add_argument(&p, &two, DNNL_ARG_SRC, &weights, scores);
        add_argument(&p, &two, DNNL_ARG_DST, &weights, scores);
        add_step(&p, &softmax, NULL, two);
        OK(dnnl_matmul_desc_init(&product, &weights, &values, NULL, &queries));
        add_argument(&p, &three, DNNL_ARG_SRC, &weights, scores);
        add_argument(&p, &three, DNNL_ARG_WEIGHTS, &values, v);
        add_argument(&p, &three, DNNL_ARG_DST, &queries, out + first * s->size);
        add_step(&p, &product, NULL, three);
        OK(dnnl_post_ops_destroy(after));
        OK(dnnl_primitive_attr_destroy(attributes));
    }
    return p;
}

static void peer_run(const peer *p)
{
    for (int i = 0; i < p->count; i++)
        OK(dnnl_primitive_execute(p->steps[i].primitive, p->stream, p->steps[i].count, p->steps[i].args));
    OK(dnnl_stream_wait(p->stream));
}

static void peer_destroy(peer *p)
{
    for (int i = 0; i < p->count; i++) {
        for (int j = 0; j < p->steps[i].count; j++)
            dnnl_memory_destroy(p->steps[i].args[j].memory);
        dnnl_primitive_destroy(p->steps[i].primitive);
    }
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    for (int i = 0; i < p->count / 3; i++)
        free(p->masks[i]);
    free(p->masks);
    free(p->steps);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], ascending);
    return values[count / 2];
}

static void compare(const char *what, const float *ours, const float *theirs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabsf(ours[i] - theirs[i]) <= 1e-5f)) {
            fprintf(stderr, "%s: element %zu is %g, ours %g\n", what, i, (double)theirs[i], (double)ours[i]);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    const shape s = {(int64_t)bench_size(argc, argv, "--heads", 8), (int64_t)bench_size(argc, argv, "--length", 2048),
                     (int64_t)bench_size(argc, argv, "--size", 64)};
    const size_t rounds = bench_size(argc, argv, "--rounds", 9), count = (size_t)(s.heads * s.length * s.size);
    const size_t square = (size_t)(s.length * s.length);
    float *data[3], *scores = allocate((size_t)s.heads * square * sizeof *scores);
    float *theirs = allocate(count * sizeof *theirs), *ours = allocate(count * sizeof *ours);
    clf_context *context;
    clf_tensor *tensor[3], *out;
    BENCH_OK(clf_context_create(NULL, &context));
    uint32_t state = 1;
    for (int i = 0; i < 3; i++) {
        data[i] = allocate(count * sizeof(float));
        for (size_t j = 0; j < count; j++) {
            state = state * 1664525u + 1013904223u;
            data[i][j] = (float)(state >> 8) * 0x1p-23f - 1.0f;
        }
        BENCH_OK(clf_tensor_create_from(context, CLF_F32, 3, (int64_t[]){s.heads, s.length, s.size}, data[i], &tensor[i]));
    }
    BENCH_OK(clf_tensor_create(context, CLF_F32, 3, (int64_t[]){s.heads, s.length, s.size}, &out));
    clf_attention_params params = CLF_ATTENTION_PARAMS_INIT;
    clf_attention_masks masks = CLF_ATTENTION_MASKS_INIT;
    masks.is_causal = 1;
    params.masks = &masks;
    peer peers[] = {peer_create(&s, s.length, data[0], data[1], data[2], scores, theirs),
                    peer_create(&s, BLOCK, data[0], data[1], data[2], scores, theirs)};
    static const char *const names[] = {"whole", "blocks"};
    double *time[3];
    for (int i = 0; i < 3; i++)
        time[i] = allocate(rounds * sizeof(double));

    BENCH_OK(clf_attention(context, tensor[0], tensor[1], tensor[2], &params, out));
    BENCH_OK(clf_tensor_read_f32(out, ours, count));
    for (int i = 0; i < 2; i++) {
        memset(theirs, 0, count * sizeof *theirs);
        peer_run(&peers[i]);
        compare(names[i], ours, theirs, count);
    }
    for (size_t r = 0; r < rounds; r++) {
        for (int i = 0; i < 3; i++) {
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); /* lets the other side's threads stop spinning */
            const double start = now_ms();
            if (i < 2) {
                peer_run(&peers[i]);
            } else {
                BENCH_OK(clf_attention(context, tensor[0], tensor[1], tensor[2], &params, out));
                BENCH_OK(clf_context_finish(context));
            }
            time[i][r] = now_ms() - start;
        }
    }
    const double best = median(time[2], rounds);
    printf("{\"heads\": %lld, \"length\": %lld, \"size\": %lld, \"ours_ms\": %.3f", (long long)s.heads, (long long)s.length,
           (long long)s.size, best);
    for (int i = 0; i < 2; i++)
        printf(", \"onednn_%s_ms\": %.3f", names[i], median(time[i], rounds));
    printf(", \"onednn\": \"%d.%d.%d\"}\n", DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH);
    for (int i = 0; i < 3; i++) {
        clf_tensor_destroy(tensor[i]);
        free(data[i]);
        free(time[i]);
    }
    clf_tensor_destroy(out);
    clf_context_destroy(context);
    peer_destroy(&peers[0]);
    peer_destroy(&peers[1]);
    free(scores);
    free(theirs);
    free(ours);
    return 0;
}
