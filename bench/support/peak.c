/* SPDX-License-Identifier: MIT */
/* Peak kernels and their timing. */
#include "support/peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "clformer/opencl.h"

enum { ACCUMULATORS = 24, STEPS = 2048, BUFFER_BYTES = 128 << 20, CHUNK_FLOATS = 1 << 14, GPU_GROUP = 256 };

/* V: float or a vector of the device's width. 24 independent chains hide the latency of any known unit; the values stay in (0, 2). */
static const char source[] =
    "#pragma OPENCL FP_CONTRACT ON\n"
    "#define CHAINS(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(16) F(17) F(18) F(19) F(20) "
    "F(21) F(22) F(23)\n"
    "#define START(i) V s##i = (V)(seed[i]);\n"
    "#define STEP(i) s##i = s##i * x + y;\n"
    "#define ADD(i) total += s##i;\n"
    "__kernel void peak_flops(__global const float *seed, int steps, __global V *out) {\n"
    "    const V x = (V)(seed[24]), y = (V)(seed[25]);\n"
    "    CHAINS(START)\n"
    "    for (int i = 0; i < steps; i += 4) { CHAINS(STEP) CHAINS(STEP) CHAINS(STEP) CHAINS(STEP) }\n"
    "    V total = (V)(0.0f);\n"
    "    CHAINS(ADD)\n"
    "    out[get_global_id(0)] = total;\n"
    "}\n"
    "__kernel void peak_read(__global const V *from, int vectors, int step, __global V *out) {\n"
    "    V a = (V)(0.0f), b = a, c = a, d = a;\n"
    "    from += (size_t)get_group_id(0) * vectors * get_local_size(0) + get_local_id(0);\n"
    "    for (int i = 0; i < vectors; i += 4, from += 4 * step) {\n"
    "        a += from[0]; b += from[step]; c += from[2 * step]; d += from[3 * step];\n"
    "    }\n"
    "    out[get_global_id(0)] = a + b + c + d;\n"
    "}\n"
    "__kernel void peak_copy(__global const V *from, int vectors, int step, __global V *to) {\n"
    "    const size_t at = (size_t)get_group_id(0) * vectors * get_local_size(0) + get_local_id(0);\n"
    "    for (int i = 0; i < vectors; i++)\n"
    "        to[at + (size_t)i * step] = from[at + (size_t)i * step];\n"
    "}\n";

struct bench_peak {
    cl_command_queue queue;
    cl_program program;
    cl_kernel flops, read, copy;
    cl_mem seed, from, to;
    int width;
    bench_clock clock;
    size_t local, groups, memory_groups, vectors;
};

double bench_clock_ns(const bench_clock *clock)
{
    struct timespec now;
    clock_gettime(clock->cpu_threads ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    const double ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
    return clock->cpu_threads ? ns / clock->cpu_threads : ns;
}

static void cl_ok(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "peak: %s: OpenCL error %d\n", what, code);
    exit(1);
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int code;
    cl_kernel kernel = clCreateKernel(program, name, &code);
    cl_ok(code, name);
    return kernel;
}

static cl_mem buffer_of(cl_context context, size_t bytes, float *data)
{
    cl_int code;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, data, &code);
    cl_ok(code, "buffer");
    return buffer;
}

bench_peak *bench_peak_create(clf_context *context, bench_clock clock)
{
    const clf_device_info *info = clf_context_device(context);
    const int is_cpu = info->type == CLF_DEVICE_TYPE_CPU;
    cl_context opencl = clf_context_opencl(context);
    bench_peak *p = calloc(1, sizeof *p);
    float *data = malloc(BUFFER_BYTES), seed[26];
    cl_int code;
    if (!p || !data)
        abort();
    p->clock = clock;
    p->queue = clf_context_queue(context);
    p->width = !is_cpu ? 1 : info->native_vector_width_float >= 16 ? 16 : info->native_vector_width_float >= 8 ? 8 : 4;
    p->local = is_cpu ? 1 : GPU_GROUP;
    p->groups = (size_t)info->compute_units * (is_cpu ? 32 : 64);
    p->vectors = CHUNK_FLOATS / (size_t)p->width / p->local;
    p->memory_groups = BUFFER_BYTES / sizeof(float) / CHUNK_FLOATS;
    char options[32];
    snprintf(options, sizeof options, p->width == 1 ? "-DV=float" : "-DV=float%d", p->width);
    const char *text = source;
    p->program = clCreateProgramWithSource(opencl, 1, &text, NULL, &code);
    cl_ok(code, "program");
    cl_ok(clBuildProgram(p->program, 0, NULL, options, NULL, NULL), "build");
    p->flops = kernel_of(p->program, "peak_flops");
    p->read = kernel_of(p->program, "peak_read");
    p->copy = kernel_of(p->program, "peak_copy");
    bench_fill(seed, 26, 0.4f, 0.6f, 1);
    bench_fill(data, BUFFER_BYTES / sizeof(float), -1, 1, 2);
    p->seed = buffer_of(opencl, sizeof seed, seed);
    p->from = buffer_of(opencl, BUFFER_BYTES, data);
    p->to = buffer_of(opencl, BUFFER_BYTES, data);
    free(data);
    return p;
}

void bench_peak_destroy(bench_peak *p)
{
    clReleaseMemObject(p->seed);
    clReleaseMemObject(p->from);
    clReleaseMemObject(p->to);
    clReleaseKernel(p->flops);
    clReleaseKernel(p->read);
    clReleaseKernel(p->copy);
    clReleaseProgram(p->program);
    free(p);
}

static double run_ns(bench_peak *p, cl_kernel kernel, size_t groups)
{
    const size_t global = groups * p->local;
    const double start = bench_clock_ns(&p->clock);
    cl_ok(clEnqueueNDRangeKernel(p->queue, kernel, 1, NULL, &global, &p->local, 0, NULL, NULL), "enqueue");
    cl_ok(clFinish(p->queue), "finish");
    return bench_clock_ns(&p->clock) - start;
}

double bench_peak_gflops(bench_peak *p)
{
    const cl_int steps = STEPS * 4;
    cl_ok(clSetKernelArg(p->flops, 0, sizeof p->seed, &p->seed), "argument");
    cl_ok(clSetKernelArg(p->flops, 1, sizeof steps, &steps), "argument");
    cl_ok(clSetKernelArg(p->flops, 2, sizeof p->to, &p->to), "argument");
    const double flops = 2.0 * ACCUMULATORS * steps * p->width * (double)(p->groups * p->local);
    return flops / run_ns(p, p->flops, p->groups);
}

static double memory_gbs(bench_peak *p, cl_kernel kernel, double bytes)
{
    const cl_int vectors = (cl_int)p->vectors, step = (cl_int)p->local;
    cl_ok(clSetKernelArg(kernel, 0, sizeof p->from, &p->from), "argument");
    cl_ok(clSetKernelArg(kernel, 1, sizeof vectors, &vectors), "argument");
    cl_ok(clSetKernelArg(kernel, 2, sizeof step, &step), "argument");
    cl_ok(clSetKernelArg(kernel, 3, sizeof p->to, &p->to), "argument");
    return bytes / run_ns(p, kernel, p->memory_groups);
}

double bench_peak_read_gbs(bench_peak *p)
{
    return memory_gbs(p, p->read, BUFFER_BYTES);
}

double bench_peak_copy_gbs(bench_peak *p)
{
    return memory_gbs(p, p->copy, 2.0 * BUFFER_BYTES);
}
