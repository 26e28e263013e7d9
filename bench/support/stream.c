/* SPDX-License-Identifier: MIT */
/* Copy and add kernels over tensors. */
#include "support/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "clformer/opencl.h"
#include "support/bench.h"

enum { CPU_GROUPS = 256, GPU_GROUP = 256 };

/* CPUs: a work-item moves a run of `vectors` vectors. GPUs: one vector per item, neighbours side by side. */
static const char source[] = "__kernel void stream_copy(__global const V *x, __global V *y, long vectors, long count) {\n"
                             "    const long start = get_global_id(0) * vectors, end = min(start + vectors, count);\n"
                             "    for (long i = start; i < end; i++) y[i] = x[i];\n"
                             "}\n"
                             "__kernel void stream_add(__global const V *x, __global V *y, long vectors, long count, __global const V *residual) {\n"
                             "    const long start = get_global_id(0) * vectors, end = min(start + vectors, count);\n"
                             "    for (long i = start; i < end; i++) y[i] = x[i] + residual[i];\n"
                             "}\n";

struct bench_stream {
    cl_command_queue queue;
    cl_program program;
    cl_kernel copy, add;
    int is_cpu, width;
};

static void cl_ok(cl_int code, const char *what)
{
    if (code == CL_SUCCESS)
        return;
    fprintf(stderr, "stream: %s: OpenCL error %d\n", what, code);
    exit(1);
}

bench_stream *bench_stream_create(clf_context *context)
{
    const clf_device_info *info = clf_context_device(context);
    bench_stream *s = calloc(1, sizeof *s);
    const char *text = source;
    char options[32];
    cl_int code;
    if (!s)
        abort();
    s->is_cpu = info->type == CLF_DEVICE_TYPE_CPU;
    s->width = !s->is_cpu ? 4 : info->native_vector_width_float >= 16 ? 16 : info->native_vector_width_float >= 8 ? 8 : 4;
    s->queue = clf_context_queue(context);
    snprintf(options, sizeof options, "-DV=float%d", s->width);
    s->program = clCreateProgramWithSource(clf_context_opencl(context), 1, &text, NULL, &code);
    cl_ok(code, "program");
    cl_ok(clBuildProgram(s->program, 0, NULL, options, NULL, NULL), "build");
    s->copy = clCreateKernel(s->program, "stream_copy", &code);
    cl_ok(code, "stream_copy");
    s->add = clCreateKernel(s->program, "stream_add", &code);
    cl_ok(code, "stream_add");
    return s;
}

void bench_stream_destroy(bench_stream *s)
{
    clReleaseKernel(s->copy);
    clReleaseKernel(s->add);
    clReleaseProgram(s->program);
    free(s);
}

void bench_stream_run(bench_stream *s, const clf_tensor *x, const clf_tensor *residual, const clf_tensor *y)
{
    cl_kernel kernel = residual ? s->add : s->copy;
    cl_mem from = clf_tensor_opencl(x, NULL), to = clf_tensor_opencl(y, NULL);
    const size_t local = s->is_cpu ? 1 : GPU_GROUP;
    const cl_long count = (cl_long)clf_tensor_count(x) / s->width;
    const cl_long vectors = s->is_cpu ? (count + CPU_GROUPS - 1) / CPU_GROUPS : 1;
    const size_t items = (size_t)((count + vectors - 1) / vectors), global = (items + local - 1) / local * local;
    cl_ok(clSetKernelArg(kernel, 0, sizeof from, &from), "argument");
    cl_ok(clSetKernelArg(kernel, 1, sizeof to, &to), "argument");
    cl_ok(clSetKernelArg(kernel, 2, sizeof vectors, &vectors), "argument");
    cl_ok(clSetKernelArg(kernel, 3, sizeof count, &count), "argument");
    if (residual) {
        cl_mem second = clf_tensor_opencl(residual, NULL);
        cl_ok(clSetKernelArg(kernel, 4, sizeof second, &second), "argument");
    }
    cl_ok(clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL), "enqueue");
}
