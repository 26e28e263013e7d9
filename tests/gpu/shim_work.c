/* SPDX-License-Identifier: MIT */
/* The work of launches, for the kernels that a model spends its time in. */
#include "shim_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS = 1024, ARGUMENTS = 17, OPTION_BYTES = 8192 };

typedef struct known_kernel {
    cl_kernel handle;
    long values[ARGUMENTS];
} known_kernel;

static known_kernel known[KERNELS];
static size_t known_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Under the lock. */
static known_kernel *find(cl_kernel handle)
{
    size_t i = 0;
    while (i < known_count && known[i].handle != handle)
        i++;
    if (i == known_count && known_count < KERNELS)
        known[known_count++].handle = handle;
    return i < KERNELS ? &known[i] : NULL;
}

void shim_work_argument(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    int number;
    if (index >= ARGUMENTS || size != sizeof number || !value)
        return;
    memcpy(&number, value, sizeof number);
    pthread_mutex_lock(&lock);
    known_kernel *at = find(kernel);
    if (at)
        at->values[index] = number;
    pthread_mutex_unlock(&lock);
}

/* A launch: the kernel's options and arguments, and its share of the whole. */
typedef struct launch {
    char options[OPTION_BYTES];
    long values[ARGUMENTS];
    double items, groups;
    double keys;
} launch;

static double option(const launch *l, const char *name)
{
    const char *at = strstr(l->options, name);
    return at ? strtod(at + strlen(name), NULL) : 1;
}

static double tiled(const launch *l)
{
    return l->items * option(l, "-DITEM_M=") * option(l, "-DITEM_N=") * (double)l->values[3];
}

static double dots(const launch *l)
{
    return l->groups * option(l, "-DROWS=") * option(l, "-DCOLUMNS=") * (double)l->values[2];
}

static double columns(const launch *l)
{
    return l->items * option(l, "-DROWS=") * (double)l->values[2];
}

static double blocks(const launch *l)
{
    return l->items / option(l, "-DLANES=") * option(l, "-DROWS=") * (double)l->values[2] * (1 + option(l, "-DIS_GATED="));
}

/* CLBlast's kernels have the sizes of the whole product in front. */
static double clblast(const launch *l)
{
    return (double)l->values[0] * (double)l->values[1] * (double)l->values[2];
}

static double attention(const launch *l)
{
    return l->groups * 4 * option(l, "-DITEMS_Q=") * option(l, "-DROW_VECTORS=") * l->keys *
           (option(l, "-DHEAD=") + option(l, "-DHEAD_V="));
}

/* Argument 15: keys of a work-group at most. */
static double cached_attention(const launch *l)
{
    return l->groups * 2 * option(l, "-DHEAD=") * (double)l->values[15];
}

static double rate(const launch *l)
{
    return l->items * 16 * (double)l->values[1];
}

static const struct {
    const char *kernel; /* the beginning of its name */
    double (*multiply_adds)(const launch *l);
} works[] = {
    {"gemm_tiled", tiled}, {"gemm_gemv_dot", dots},        {"gemm_gemv_columns", columns}, {"gemm_blocks", blocks},
    {"Xgemm", clblast},    {"attention_group", attention}, {"rate_multiply_add", rate},
    {"cached_attention_group", cached_attention},
};

static void fill(launch *l, cl_device_id device, cl_kernel kernel, const size_t global[3], const size_t local[3])
{
    cl_program program = NULL;
    const char *keys = getenv("CLF_TEST_GPU_KEYS");
    memset(l, 0, sizeof *l);
    l->items = l->groups = 1;
    l->keys = keys ? strtod(keys, NULL) : 0;
    for (int i = 0; i < 3; i++) {
        l->items *= (double)global[i];
        l->groups *= (double)global[i] / (double)(local[i] ? local[i] : 1);
    }
    if (clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) == CL_SUCCESS)
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof l->options - 1, l->options, NULL);
    pthread_mutex_lock(&lock);
    const known_kernel *at = find(kernel);
    if (at)
        memcpy(l->values, at->values, sizeof l->values);
    pthread_mutex_unlock(&lock);
}

double shim_work_ms(const shown_device *d, cl_device_id device, cl_kernel kernel, const char *name, const size_t global[3],
                    const size_t local[3])
{
    const double per_ms = 0.5 * d->compute_units * d->unit_lanes * d->clock_mhz * 1e3;
    launch l;
    size_t i = 0;
    while (i < sizeof works / sizeof *works && strncmp(works[i].kernel, name, strlen(works[i].kernel)) != 0)
        i++;
    if (!(per_ms > 0))
        return 0;
    fill(&l, device, kernel, global, local);
    if (strcmp(name, "rate_copy") == 0)
        return l.items * 32 / (d->gib_per_second * 0x1p30 / 1e3);
    return i < sizeof works / sizeof *works ? works[i].multiply_adds(&l) / per_ms : 0;
}
