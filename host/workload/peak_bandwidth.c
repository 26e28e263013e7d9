/* SPDX-License-Identifier: MIT */
/* Workloads "bandwidth": reads, writes and copies of device memory, by size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum {
    BYTES_UNIT = 4096,
    SEED = 1,
    TARGET_SEED = 2,
    GPU_GROUP = 64,
    GROUPS_PER_UNIT = 16, /* GPUs: work-groups that surely run at the same time on a compute unit */
    UNROLL = 4,
    SHARES = 64,          /* work-groups per compute unit if each byte is touched once: enough to share out evenly, ... */
    PART_BYTES = 64 << 10 /* ... but no part is smaller than this */
};

static const char *const names[] = {"read", "write", "copy"}, *const kernels[] = {"peak_read", "peak_write", "peak_copy"};

typedef struct bandwidth_parameters {
    clfi_peak_access access;
    size_t bytes, traffic_bytes;
} bandwidth_parameters;

typedef struct bandwidth {
    clfi_peak_state peak; /* read: out holds sums; write: source holds one vector */
    bandwidth_parameters p;
    int64_t width, vectors, part, passes;
    size_t local, groups;
    uint32_t sum; /* of all words that are read */
    uint32_t start[16];
} bandwidth;

/* CPUs get the hardware's vector. Elsewhere a work-item moves 16 bytes, or 4 for compilers that do not merge neighbouring accesses. */
static const struct {
    const char *name;
    int width;
} widths[] = {{"width16", 16}, {"width8", 8}, {"width4", 4}, {"width1", 1}};

static bool suits(const clf_device_caps *caps, int width)
{
    return caps->is_cpu ? width == caps->vector_width : width <= 4;
}

static clf_status bandwidth_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const bandwidth_parameters *p = workload->parameters;
    const clf_device_info *info = &context->device.info;
    if (p->bytes > info->max_allocation_bytes || p->bytes > info->global_memory_bytes / 4)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the device allocates at most %llu bytes and has %llu", workload->id,
                 (unsigned long long)info->max_allocation_bytes, (unsigned long long)info->global_memory_bytes);
    out->count = 0;
    for (size_t i = 0; i < COUNT(widths); i++)
        if (suits(&context->device.caps, widths[i].width))
            out->names[out->count++] = widths[i].name;
    return CLF_OK;
}

/* Divides the memory into parts, one per work-group. A work-group keeps its part through all passes, so small sizes stay in the cache of
 * a compute unit. */
static void divide(bandwidth *b)
{
    const clf_device_caps *caps = &b->peak.context->device.caps;
    b->local = caps->is_cpu ? 1 : GPU_GROUP;
    b->vectors = (int64_t)(b->p.bytes / sizeof(uint32_t)) / b->width;
    b->passes = (int64_t)(b->p.traffic_bytes / b->p.bytes);
    const int64_t step = UNROLL * (int64_t)b->local, units = (int64_t)caps->compute_units * (caps->is_cpu ? 1 : GROUPS_PER_UNIT);
    const int64_t shares = SHARES * (int64_t)caps->compute_units, most = (int64_t)(b->p.bytes / PART_BYTES) + 1;
    const int64_t groups = b->passes > 1 ? units : shares < most ? shares : most, even = (b->vectors + groups - 1) / groups;
    b->part = (even + step - 1) / step * step;
    b->groups = (size_t)((b->vectors + b->part - 1) / b->part);
}

static clf_status sum_words(bandwidth *b, size_t words)
{
    uint32_t *piece;
    CLF_TRY(clfi_alloc(CLFI_PEAK_PIECE_WORDS, sizeof *piece, "random words", &piece));
    for (size_t i = 0; i * CLFI_PEAK_PIECE_WORDS < words; i++) {
        const size_t left = words - i * CLFI_PEAK_PIECE_WORDS, count = left < CLFI_PEAK_PIECE_WORDS ? left : CLFI_PEAK_PIECE_WORDS;
        clfi_peak_piece(piece, i, count, SEED);
        for (size_t k = 0; k < count; k++)
            b->sum += piece[k];
    }
    free(piece);
    return CLF_OK;
}

static clf_status fill(bandwidth *b)
{
    const size_t words = b->p.bytes / sizeof(uint32_t), items = b->groups * b->local * (size_t)b->width;
    clf_context *context = b->peak.context;
    clfi_peak_random(b->start, COUNT(b->start), SEED);
    if (b->p.access == CLFI_PEAK_WRITE)
        CLF_TRY(clfi_peak_upload(context, b->start, sizeof b->start, &b->peak.source));
    else
        CLF_TRY(clfi_peak_upload_random(context, words, SEED, &b->peak.source));
    if (b->p.access == CLFI_PEAK_READ)
        CLF_TRY(sum_words(b, words));
    return clfi_peak_upload_random(context, b->p.access == CLFI_PEAK_READ ? items : words, TARGET_SEED, &b->peak.out);
}

static clf_status enqueue(void *state)
{
    bandwidth *b = state;
    clf_kernel_spec spec = clfi_peak_spec("peak_bandwidth.cl", kernels[b->p.access]);
    clfi_spec_int(&spec, "WIDTH", b->width);
    clfi_spec_int(&spec, "WG", (long long)b->local);
    clf_launch launch = clfi_launch(b->peak.context, &spec);
    clfi_arg_buffer(&launch, b->peak.source);
    clfi_arg_int(&launch, b->vectors);
    clfi_arg_int(&launch, b->part);
    clfi_arg_int(&launch, b->passes);
    clfi_arg_int(&launch, 0);
    clfi_arg_buffer(&launch, b->peak.out);
    clfi_launch_work(&launch, b->peak.work.multiply_adds, b->peak.work.bytes);
    return clfi_launch_1d(&launch, b->groups, b->local);
}

static clf_status bandwidth_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    bandwidth *b;
    size_t chosen = 0;
    while (chosen < COUNT(widths) && strcmp(widths[chosen].name, engine) != 0)
        chosen++;
    if (chosen == COUNT(widths))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: no engine \"%s\"", workload->id, engine);
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *b, state));
    b = *state;
    b->width = widths[chosen].width;
    b->p = *(const bandwidth_parameters *)workload->parameters;
    divide(b);
    return fill(b);
}

/* The words that should be in piece `index` of the target after a write or a copy. */
static void expected(const bandwidth *b, size_t index, size_t count, uint32_t *out)
{
    if (b->p.access == CLFI_PEAK_COPY) {
        clfi_peak_piece(out, index, count, SEED);
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const size_t word = index * CLFI_PEAK_PIECE_WORDS + k;
        out[k] = b->start[word % (size_t)b->width] ^ (uint32_t)(word / (size_t)b->width + (size_t)b->passes - 1);
    }
}

/* Counts the wrong words of the target; of a read, checks the sum. got, want: scratch of one piece each. */
static clf_status check(const bandwidth *b, uint32_t *got, uint32_t *want, size_t *wrong)
{
    const size_t words = b->peak.out->size_bytes / sizeof *got;
    uint32_t sum = 0;
    for (size_t i = 0; i * CLFI_PEAK_PIECE_WORDS < words; i++) {
        const size_t left = words - i * CLFI_PEAK_PIECE_WORDS, count = left < CLFI_PEAK_PIECE_WORDS ? left : CLFI_PEAK_PIECE_WORDS;
        CLF_TRY(clfi_buffer_read(b->peak.out, i * CLFI_PEAK_PIECE_WORDS * sizeof *got, got, count * sizeof *got));
        if (b->p.access != CLFI_PEAK_READ)
            expected(b, i, count, want);
        for (size_t k = 0; k < count; k++) {
            sum += got[k];
            *wrong += b->p.access != CLFI_PEAK_READ && got[k] != want[k];
        }
    }
    if (b->p.access == CLFI_PEAK_READ)
        *wrong = sum != b->sum * (uint32_t)b->passes;
    return CLF_OK;
}

static clf_status bandwidth_verify(void *state, clfi_verdict *out)
{
    bandwidth *b = state;
    uint32_t *scratch;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_once(b->peak.context, enqueue, b));
    CLF_TRY(clfi_alloc(2 * CLFI_PEAK_PIECE_WORDS, sizeof *scratch, "words to compare", &scratch));
    const clf_status st = check(b, scratch, scratch + CLFI_PEAK_PIECE_WORDS, &wrong);
    free(scratch);
    *out = clfi_peak_exact(wrong);
    return st;
}

static const clfi_workload_type bandwidth_type = {.engines = bandwidth_engines,
                                                  .prepare = bandwidth_prepare,
                                                  .verify = bandwidth_verify,
                                                  .run = clfi_peak_run,
                                                  .release = clfi_peak_release};

clf_status clfi_peak_bandwidth(clfi_workload_list *list, clfi_peak_access access, size_t bytes, size_t traffic_bytes, const char *measures)
{
    const bandwidth_parameters p = {access, bytes, traffic_bytes};
    const bool is_mebi = bytes >= 1 << 20;
    clfi_workload workload = {
        .op = "bandwidth", .type = &bandwidth_type, .bytes = (double)traffic_bytes * (access == CLFI_PEAK_COPY ? 2 : 1)};
    if (bytes == 0 || bytes % BYTES_UNIT != 0 || traffic_bytes % bytes != 0 || bytes > INT32_MAX)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "bandwidth of %zu bytes, %zu in all", bytes, traffic_bytes);
    snprintf(workload.id, sizeof workload.id, "bandwidth/%s/%zu%s", names[access], bytes >> (is_mebi ? 20 : 10), is_mebi ? "MiB" : "KiB");
    workload.work = json_pack("{s:s, s:I, s:I, s:s, s:i, s:s*}", "access", names[access], "size_bytes", (json_int_t)bytes, "traffic_bytes",
                              (json_int_t)traffic_bytes, "type", "u32", "seed", SEED, "measures", measures);
    return clfi_peak_add(list, &workload, &p, sizeof p);
}

clf_status clfi_peak_copy_peer(const clfi_workload *workload, clfi_workload_list *list)
{
    const size_t chain = (size_t)json_integer_value(json_object_get(workload->work, "chain"));
    const size_t bytes = (size_t)(workload->bytes / 2 / (double)chain) / BYTES_UNIT * BYTES_UNIT;
    return clfi_peak_bandwidth(list, CLFI_PEAK_COPY, bytes, chain * bytes, NULL);
}
