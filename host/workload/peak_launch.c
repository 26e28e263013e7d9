/* SPDX-License-Identifier: MIT */
/* Workloads "launch": the time of launches, of many in a row, each after the one before, and of one that the host waits for. The kernel
 * adds a step to a counter, so the host can check that every launch ran. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum { SEED = 9, MOST_LAUNCHES = 1 << 16 };

typedef struct launches {
    clfi_peak_state peak; /* out: the counter */
    int count;
    uint32_t step;
} launches;

static clf_status enqueue(void *state)
{
    launches *l = state;
    const clf_kernel_spec spec = clfi_peak_spec("peak_launch.cl", "peak_launch");
    for (int i = 0; i < l->count; i++) {
        clf_launch launch = clfi_launch(l->peak.context, &spec);
        clfi_arg_buffer(&launch, l->peak.out);
        clfi_arg_uint(&launch, l->step);
        CLF_TRY(clfi_launch_1d(&launch, 1, 1));
    }
    return CLF_OK;
}

static clf_status launch_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    launches *l;
    uint32_t words[2];
    (void)engine;
    CLF_TRY(clfi_peak_begin(workload, context, enqueue, sizeof *l, state));
    l = *state;
    l->count = *(const int *)workload->parameters;
    clfi_peak_random(words, COUNT(words), SEED);
    l->step = words[1];
    return clfi_peak_upload(context, words, sizeof *words, &l->peak.out);
}

static clf_status launch_verify(void *state, clfi_verdict *out)
{
    launches *l = state;
    uint32_t before, after;
    CLF_TRY(clfi_buffer_read(l->peak.out, 0, &before, sizeof before));
    CLF_TRY(clfi_peak_once(l->peak.context, enqueue, l));
    CLF_TRY(clfi_buffer_read(l->peak.out, 0, &after, sizeof after));
    *out = clfi_peak_exact(after != before + l->step * (uint32_t)l->count);
    return CLF_OK;
}

static const clfi_workload_type launch_type = {.engines = clfi_workload_one_engine,
                                               .prepare = launch_prepare,
                                               .verify = launch_verify,
                                               .run = clfi_peak_run,
                                               .release = clfi_peak_release};

clf_status clfi_peak_launch(clfi_workload_list *list, int count)
{
    clfi_workload workload = {.id = "launch/round-trip", .op = "launch", .type = &launch_type};
    if (count < 1 || count > MOST_LAUNCHES)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "launches: %d is not from 1 to %d", count, MOST_LAUNCHES);
    if (count > 1) {
        snprintf(workload.id, sizeof workload.id, "launch/chained-%d", count);
        workload.items = count;
        workload.item = "launches";
    }
    workload.work = json_pack("{s:i, s:i, s:s*}", "launches", count, "seed", SEED, "measures", count == 1 ? "round_trip_us" : NULL);
    return clfi_peak_add(list, &workload, &count, sizeof count);
}
