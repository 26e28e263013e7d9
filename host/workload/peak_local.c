/* SPDX-License-Identifier: MIT */
/* Workload "local/read": bandwidth of local memory. On CPUs local memory is ordinary cached memory, but that is what kernels with local
 * memory get there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum {
    SEED = 7,
    GPU_GROUP = 256,
    GPU_WIDTH = 4,
    TILE_BYTES = 16 << 10, /* half of what every device has at least */
    GROUP_BYTES = 4 << 20, /* read by each work-group, so that writing the tile first costs little */
    STEP = 17
};

typedef struct local_read {
    clfi_peak_state peak;
    int64_t width;
    size_t local, groups, tile; /* tile: size in vectors */
    int64_t cycles;
} local_read;

static clf_status local_engines(const clfi_workload *workload, clf_context *context, clfi_engine_list *out)
{
    const clf_device_caps *caps = &context->device.caps;
    if (caps->local_memory_bytes < TILE_BYTES || (!caps->is_cpu && caps->max_work_group_size < GPU_GROUP))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: needs %d bytes of local memory and %d work-items, the device has %llu and %zu", workload->id,
                 TILE_BYTES, GPU_GROUP, (unsigned long long)caps->local_memory_bytes, caps->max_work_group_size);
    return clfi_workload_one_engine(workload, context, out);
}

static clf_status enqueue(void *state)
{
    local_read *l = state;
    clf_kernel_spec spec = clfi_peak_spec("peak_local.cl", "peak_local");
    clfi_spec_int(&spec, "WIDTH", l->width);
    clfi_spec_int(&spec, "WG", (long long)l->local);
    clfi_spec_int(&spec, "TILE", (long long)l->tile);
    clf_launch launch = clfi_launch(l->peak.context, &spec);
    clfi_arg_buffer(&launch, l->peak.source);
    clfi_arg_int(&launch, l->cycles);
    clfi_arg_int(&launch, STEP);
    clfi_arg_buffer(&launch, l->peak.out);
    clfi_launch_work(&launch, l->peak.work.multiply_adds, l->peak.work.bytes);
    return clfi_launch_1d(&launch, l->groups, l->local);
}

static clf_status local_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    local_read *l;
    const clf_device_caps *caps = &context->device.caps;
    (void)engine;
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *l, state));
    l = *state;
    l->width = caps->is_cpu ? caps->vector_width : GPU_WIDTH;
    l->local = caps->is_cpu ? 1 : GPU_GROUP;
    l->tile = TILE_BYTES / sizeof(uint32_t) / (size_t)l->width;
    l->cycles = GROUP_BYTES / TILE_BYTES / (int64_t)l->local;
    l->groups = (size_t)(*(const double *)workload->parameters / GROUP_BYTES);
    CLF_TRY(clfi_peak_upload_random(context, TILE_BYTES / sizeof(uint32_t), SEED, &l->peak.source));
    return clfi_peak_upload_random(context, l->groups * l->local * (size_t)l->width, SEED + 1, &l->peak.out);
}

static clf_status local_verify(void *state, clfi_verdict *out)
{
    local_read *l = state;
    const size_t count = l->groups * l->local * (size_t)l->width;
    uint32_t tile[TILE_BYTES / sizeof(uint32_t)], want[16] = {0}, *got;
    size_t wrong = 0;
    CLF_TRY(clfi_peak_results(l, count, sizeof *got, &got));
    clfi_peak_piece(tile, 0, COUNT(tile), SEED);
    for (size_t i = 0; i < COUNT(tile); i++)
        want[i % (size_t)l->width] += tile[i] * (uint32_t)l->cycles;
    for (size_t i = 0; i < count; i++)
        wrong += got[i] != want[i % (size_t)l->width];
    free(got);
    *out = clfi_peak_exact(wrong);
    return CLF_OK;
}

static const clfi_workload_type local_type = {
    .engines = local_engines, .prepare = local_prepare, .verify = local_verify, .run = clfi_peak_run, .release = clfi_peak_release};

clf_status clfi_peak_local(clfi_workload_list *list, double bytes)
{
    clfi_workload workload = {.id = "local/read", .op = "local_memory", .type = &local_type, .bytes = bytes};
    if (!(bytes >= GROUP_BYTES) || fmod(bytes, GROUP_BYTES) != 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "local memory: expected a multiple of %d bytes, found %g", GROUP_BYTES, bytes);
    workload.work = json_pack("{s:s, s:f, s:s, s:i, s:s}", "access", "read", "traffic_bytes", bytes, "type", "u32", "seed", SEED,
                              "measures", "local_gbps");
    return clfi_peak_add(list, &workload, &bytes, sizeof bytes);
}
