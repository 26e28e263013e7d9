/* SPDX-License-Identifier: MIT */
/* Workloads "build": the time to the first launch of a kernel, compiled anew and from the library's cache on disk. The launch is part of
 * it, because drivers may defer work to the launch. Each build has its own library context on the same OpenCL context and queue. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "clformer/opencl.h"
#include "runtime/launch.h"
#include "workload/peak.h"
#include "workload/peak_run.h"

enum { SEED = 13, WIDTH = 4, CHAINS = 8, PAIRS = 8, LOCAL = 1, FACTOR_BITS = 20 };

typedef struct build {
    clf_context *context;
    clf_buffer *start, *out;
    char *cache_dir; /* cache of programs of this workload; NULL: none (cold) */
    uint32_t first;  /* cold builds are numbered from here on */
    uint32_t builds;
    float starts[CHAINS * WIDTH];
} build;

/* Empties and removes <directory>/programs and the directory. */
static void remove_cache(const char *directory)
{
    char *programs = NULL;
    if (clfi_path_join(directory, "programs", &programs) == CLF_OK) {
        DIR *entries = opendir(programs);
        for (struct dirent *entry; entries && (entry = readdir(entries));)
            unlinkat(dirfd(entries), entry->d_name, 0);
        if (entries)
            closedir(entries);
        rmdir(programs);
    }
    rmdir(directory);
    free(programs);
}

static void build_release(void *state)
{
    build *b = state;
    if (!b)
        return;
    clfi_buffer_release(b->start);
    clfi_buffer_release(b->out);
    if (b->cache_dir)
        remove_cache(b->cache_dir);
    free(b->cache_dir);
    free(b);
}

/* Builds, launches once and waits; *ns: the time of these three. number: a constant in the text of this variant of the kernel. */
static clf_status build_and_launch(build *b, clf_context *own, uint32_t number, uint64_t *ns)
{
    clf_kernel_spec spec = clfi_peak_spec("peak_multiply_add.cl", "peak_multiply_add");
    clfi_spec_int(&spec, "IS_HALF", 0);
    clfi_spec_int(&spec, "WIDTH", WIDTH);
    clfi_spec_int(&spec, "CHAINS", CHAINS);
    clfi_spec_int(&spec, "WG", LOCAL);
    clfi_spec_int(&spec, "NUMBER", number);
    const uint64_t start = clfi_now_ns();
    clf_launch launch = clfi_launch(own, &spec);
    clfi_arg_buffer(&launch, b->start);
    clfi_arg_float(&launch, -1);
    clfi_arg_float(&launch, 1);
    clfi_arg_float(&launch, -1);
    clfi_arg_float(&launch, 2);
    clfi_arg_float(&launch, 1);
    clfi_arg_int(&launch, 0);
    clfi_arg_int(&launch, PAIRS);
    clfi_arg_buffer(&launch, b->out);
    CLF_TRY(clfi_launch_1d(&launch, 1, LOCAL));
    CLF_TRY(clfi_context_wait(own));
    *ns = clfi_now_ns() - start;
    return clf_context_finish(own); /* writes the program to the cache */
}

/* Runs one build in a context of its own. */
static clf_status build_once(build *b, uint64_t *ns, clf_context_stats *stats)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *own;
    params.cache_dir = b->cache_dir ? b->cache_dir : "";
    params.kernel_dir = b->context->kernel_dir ? b->context->kernel_dir : "";
    CLF_TRY(clf_context_create_from_opencl(&params, b->context->opencl, b->context->queue, &own));
    free(own->kernel_dump); /* the variants differ only in a number, so other compilers need no copy of them */
    own->kernel_dump = NULL;
    const uint32_t number = b->cache_dir ? b->first : b->first + b->builds++;
    const clf_status st = build_and_launch(b, own, number, ns);
    clf_context_get_stats(own, stats);
    clf_context_destroy(own);
    return st;
}

static clf_status build_prepare(const clfi_workload *workload, clf_context *context, const char *engine, void **state)
{
    build *b;
    uint32_t words[CHAINS * WIDTH];
    clf_context_stats stats;
    uint64_t ns;
    (void)engine;
    CLF_TRY(clfi_alloc(1, sizeof *b, "build", &b));
    *state = b;
    b->context = context;
    b->first = (uint32_t)(clfi_now_ns() / 1000) ^ (uint32_t)getpid() << FACTOR_BITS; /* unlike the numbers of earlier processes */
    clfi_peak_random(words, COUNT(words), SEED);
    for (size_t i = 0; i < COUNT(words); i++)
        b->starts[i] = (float)(words[i] >> FACTOR_BITS);
    CLF_TRY(clfi_peak_upload(context, b->starts, sizeof b->starts, &b->start));
    CLF_TRY(clfi_peak_upload_random(context, WIDTH, SEED, &b->out));
    if (!*(const bool *)workload->parameters)
        return CLF_OK;
    CLF_TRY(clfi_temporary_directory("clformer-bench", &b->cache_dir));
    CLF_TRY(build_once(b, &ns, &stats)); /* fills the cache */
    CLF_TRY(build_once(b, &ns, &stats));
    if (stats.programs_from_cache != 1)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: the driver's binary of a program could not be used again", workload->id);
    return CLF_OK;
}

/* A pair of steps adds 1 to every chain: 2 - (1 - s) = s + 1. All numbers are whole and small, so float is exact. */
static clf_status build_verify(void *state, clfi_verdict *out)
{
    build *b = state;
    clf_context_stats stats;
    uint64_t ns;
    float got[WIDTH];
    size_t wrong = 0;
    CLF_TRY(build_once(b, &ns, &stats));
    CLF_TRY(clfi_buffer_read(b->out, 0, got, sizeof got));
    for (int lane = 0; lane < WIDTH; lane++) {
        float want = 0;
        for (int c = 0; c < CHAINS; c++)
            want += b->starts[c * WIDTH + lane] + PAIRS;
        wrong += got[lane] != want;
    }
    *out = clfi_peak_exact(wrong);
    return CLF_OK;
}

static clf_status build_run(void *state, clfi_sample *out)
{
    build *b = state;
    clf_context_stats stats;
    uint64_t ns;
    CLF_TRY(build_once(b, &ns, &stats));
    if (stats.programs_from_cache != (b->cache_dir != NULL) || stats.programs_built != (b->cache_dir == NULL))
        CLF_FAIL(CLF_INTERNAL, "build: %llu from source and %llu from the cache", (unsigned long long)stats.programs_built,
                 (unsigned long long)stats.programs_from_cache);
    *out = (clfi_sample){.wall_ns = (double)ns, .device_ns = -1};
    return CLF_OK;
}

static const char *const compiled[] = {"compiling the kernel", NULL}, *const loaded[] = {"loading the compiled kernel", NULL};

static const clfi_workload_type build_type = {
    .engines = clfi_workload_one_engine, .prepare = build_prepare, .verify = build_verify, .run = build_run, .release = build_release};

clf_status clfi_peak_build(clfi_workload_list *list, bool is_cached)
{
    clfi_workload workload = {.op = "build", .type = &build_type, .off_device = is_cached ? loaded : compiled};
    snprintf(workload.id, sizeof workload.id, "build/%s", is_cached ? "cached" : "cold");
    workload.work =
        json_pack("{s:s, s:s, s:i}", "kernel", "peak_multiply_add", "from", is_cached ? "program cache" : "source", "seed", SEED);
    return clfi_peak_add(list, &workload, &is_cached, sizeof is_cached);
}
