/* SPDX-License-Identifier: MIT */
/* Compiling and linking programs. */
#include "runtime/program_build.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { OPTIONS_BYTES = CLFI_SPEC_BYTES + 64 };

/* The compiler's first messages on one line. */
static clf_status fail_build(clf_context *context, cl_program program, const clf_kernel_spec *spec, const char *call, cl_int code)
{
    char log[512] = "", *full = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size && clfi_alloc(size + 1, 1, "build log", &full) == CLF_OK) {
        clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, size, full, NULL);
        clfi_log(context, CLF_LOG_DEBUG, "build log of %s: %s", spec->kernel, full);
        const char *error = strstr(full, "error");
        while (error && error > full && error[-1] != '\n')
            error--;
        snprintf(log, sizeof log, "%s", error ? error : full);
        for (char *c = log; *c; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
        free(full);
    }
    CLF_FAIL(CLF_BUILD, "kernel %s (%s,%s): %s: %s (%d): %s", spec->kernel, spec->file, spec->options, call, clfi_cl_name(code), code, log);
}

static clf_status append_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out)
{
    return clfi_kernel_source(context->kernel_dir, spec->own, spec->file, out);
}

/* What a part is compiled from. */
static clf_status append_part(const clf_context *context, const clf_program_part *part, clf_str *out)
{
    /* Parts have functions of the same names, which are no others' business. */
    static const char head[] = "#define GRAPH_PART\n#undef inline\n#define inline __attribute__((internal_linkage)) inline\n";
    CLF_TRY(clfi_str_append_text(out, head));
    if (part->is_group)
        CLF_TRY(clfi_str_appendf(out, "#define SPACE_BYTES %d\n", CLFI_GRAPH_SPACE_BYTES));
    if (context->device.caps.graph_group > 1) /* what one launch reads, another of the same graph wrote */
        CLF_TRY(clfi_str_append_text(out, "#define restrict\n"));
    CLF_TRY(append_source(context, &part->spec, out));
    return clfi_str_append(out, clfi_str_text(&part->tail), part->tail.length);
}

clf_status clfi_program_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out)
{
    const clf_program_parts *parts = spec->parts;
    if (parts)
        CLF_TRY(clfi_str_append(out, clfi_str_text(&parts->head), parts->head.length));
    CLF_TRY(append_source(context, spec, out));
    for (size_t i = 0; parts && i < parts->count; i++) {
        const clf_program_part *part = &parts->list[i];
        CLF_TRY(clfi_str_appendf(out, "%s\n", part->spec.options));
        CLF_TRY(append_part(context, part, out));
    }
    return CLF_OK;
}

static clf_status create_program(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    cl_int code = CL_SUCCESS;
    const char *text = clfi_str_text(source);
    *out = clCreateProgramWithSource(context->opencl, 1, &text, &source->length, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "program %s: clCreateProgramWithSource: %s (%d)", spec->file, clfi_cl_name(code), code);
    return CLF_OK;
}

/* What the compiler is told. No warnings where it prints them by itself: that a vector of 16 floats is passed otherwise than with AVX512,
 * which matters to nobody where all functions are inlined. Neither this nor the number changes the program, so that no key of a cache has
 * to tell them. */
static void build_options(const clf_context *context, const clf_kernel_spec *spec, char text[OPTIONS_BYTES])
{
    char number[48] = "";
    if (context->build_number)
        snprintf(number, sizeof number, " -DBUILD_NUMBER=%llu", (unsigned long long)context->build_number);
    snprintf(text, OPTIONS_BYTES, "%s%s%s", context->device.caps.prints_warnings ? "-w" : "", spec->options, number);
}

/* Compiles one of the files that a program is linked from. */
static clf_status compile(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    cl_program program;
    char options[OPTIONS_BYTES];
    CLF_TRY(create_program(context, spec, source, &program));
    build_options(context, spec, options);
    const cl_int code = clCompileProgram(program, 1, &context->device.id, options, 0, NULL, NULL, NULL, NULL);
    if (code != CL_SUCCESS) {
        const clf_status st = fail_build(context, program, spec, "clCompileProgram", code);
        clReleaseProgram(program);
        return st;
    }
    *out = program;
    return CLF_OK;
}

static clf_status compile_main(clf_context *context, const clf_kernel_spec *spec, cl_program *out)
{
    clf_str source = CLF_STR_INIT;
    clf_status st = clfi_str_append(&source, clfi_str_text(&spec->parts->head), spec->parts->head.length);
    if (st == CLF_OK)
        st = append_source(context, spec, &source);
    if (st == CLF_OK)
        st = compile(context, spec, &source, out);
    clfi_str_free(&source);
    return st;
}

static clf_status compile_part(clf_context *context, const clf_program_part *part, cl_program *out)
{
    clf_str source = CLF_STR_INIT;
    clf_status st = append_part(context, part, &source);
    if (st == CLF_OK)
        st = compile(context, &part->spec, &source, out);
    clfi_str_free(&source);
    return st;
}

static clf_status link_all(clf_context *context, const clf_kernel_spec *spec, cl_program *compiled, cl_program *out)
{
    const clf_program_parts *parts = spec->parts;
    cl_int code = CL_SUCCESS;
    CLF_TRY(compile_main(context, spec, &compiled[0]));
    for (size_t i = 0; i < parts->count; i++)
        CLF_TRY(compile_part(context, &parts->list[i], &compiled[1 + i]));
    cl_program program =
        clLinkProgram(context->opencl, 1, &context->device.id, NULL, (cl_uint)parts->count + 1, compiled, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        const clf_status st = program ? fail_build(context, program, spec, "clLinkProgram", code)
                                      : clfi_fail(CLF_BUILD, "kernel %s: clLinkProgram: %s (%d)", spec->kernel, clfi_cl_name(code), code);
        if (program)
            clReleaseProgram(program);
        return st;
    }
    *out = program;
    return CLF_OK;
}

static clf_status link_parts(clf_context *context, const clf_kernel_spec *spec, cl_program *out)
{
    const size_t count = spec->parts->count + 1;
    cl_program *compiled;
    CLF_TRY(clfi_alloc(count, sizeof *compiled, "programs", &compiled));
    const clf_status st = link_all(context, spec, compiled, out);
    for (size_t i = 0; i < count; i++)
        if (compiled[i])
            clReleaseProgram(compiled[i]);
    free(compiled);
    return st;
}

static cl_int build_program(const clf_context *context, const clf_kernel_spec *spec, cl_program program)
{
    char options[OPTIONS_BYTES];
    build_options(context, spec, options);
    return clBuildProgram(program, 1, &context->device.id, options, NULL, NULL);
}

cl_program clfi_program_try(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source)
{
    cl_program program;
    if (create_program(context, spec, source, &program) != CLF_OK)
        return NULL;
    if (build_program(context, spec, program) == CL_SUCCESS)
        return program;
    clReleaseProgram(program);
    return NULL;
}

static clf_status build_source(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    cl_program program;
    CLF_TRY(create_program(context, spec, source, &program));
    const cl_int code = build_program(context, spec, program);
    if (code != CL_SUCCESS) {
        const clf_status st = fail_build(context, program, spec, "clBuildProgram", code);
        clReleaseProgram(program);
        return st;
    }
    *out = program;
    return CLF_OK;
}

clf_status clfi_program_build(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    const uint64_t start = clfi_now_ns();
    if (context->on_build)
        context->on_build(context->on_build_user);
    CLF_TRY(spec->parts ? link_parts(context, spec, out) : build_source(context, spec, source, out));
    context->stats.build_ns += clfi_now_ns() - start;
    context->stats.programs_built++;
    clfi_log(context, CLF_LOG_DEBUG, "built %s%s in %.1f ms", spec->kernel, spec->options, (double)(clfi_now_ns() - start) / 1e6);
    return CLF_OK;
}
