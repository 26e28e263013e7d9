/* SPDX-License-Identifier: MIT */
/* Compiles and links programs. */
#include "runtime/program_build.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/launch_budget.h"

/* Fails with the compiler's first messages on one line. */
static clf_status fail_build(const clf_context *context, cl_program program, const char *kernel, const char *options, const char *call,
                             cl_int code)
{
    char log[512] = "", *full = NULL;
    size_t size = 0;
    clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    if (size && clfi_alloc(size + 1, 1, "build log", &full) == CLF_OK) {
        clGetProgramBuildInfo(program, context->device.id, CL_PROGRAM_BUILD_LOG, size, full, NULL);
        clfi_log(context, CLF_LOG_DEBUG, "build log of %s: %s", kernel, full);
        const char *error = strstr(full, "error");
        while (error && error > full && error[-1] != '\n')
            error--;
        snprintf(log, sizeof log, "%s", error ? error : full);
        for (char *c = log; *c; c++)
            if (*c == '\n' || *c == '\t')
                *c = ' ';
        free(full);
    }
    CLF_FAIL(CLF_BUILD, "kernel %s (%s): %s: %s (%d): %s", kernel, options, call, clfi_cl_name(code), code, log);
}

static clf_status append_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out)
{
    return clfi_kernel_source(context->kernel_dir, spec->own, spec->file, out);
}

/* Appends the source of a part. */
static clf_status append_part(const clf_context *context, const clf_program_part *part, clf_str *out)
{
    /* Parts have functions of the same names, so each part keeps its own internal. */
    static const char head[] = "#define GRAPH_PART\n#undef inline\n#define inline __attribute__((internal_linkage)) inline\n";
    CLF_TRY(clfi_str_append_text(out, head));
    if (part->is_group)
        CLF_TRY(clfi_str_appendf(out, "#define SPACE_BYTES %d\n", CLFI_GRAPH_SPACE_BYTES));
    if (context->device.caps.graph_group > 1) /* a launch may read what another one of the same graph wrote */
        CLF_TRY(clfi_str_append_text(out, "#define restrict\n"));
    CLF_TRY(append_source(context, &part->spec, out));
    return clfi_str_append(out, clfi_str_text(&part->tail), part->tail.length);
}

clf_status clfi_program_source(const clf_context *context, const clf_kernel_spec *spec, clf_str *out)
{
    const clf_program_parts *parts = spec->parts;
    if (parts)
        CLF_TRY(clfi_str_append(out, clfi_str_text(&parts->head), parts->head.length));
    else if (clfi_budget_is_set(context))
        CLF_TRY(clfi_str_append_text(out, clfi_budget_prelude));
    CLF_TRY(append_source(context, spec, out));
    for (size_t i = 0; parts && i < parts->count; i++) {
        const clf_program_part *part = parts->list[i];
        CLF_TRY(clfi_str_appendf(out, "%s\n", part->spec.options));
        CLF_TRY(append_part(context, part, out));
    }
    return CLF_OK;
}

/* Appends the options of the compiler. Warnings are off (-w) for compilers that print them by themselves. They warn that a vector of 16
 * floats is passed in another way than with AVX-512, which does not matter if all functions are inlined. -w does not change the program, so
 * it is not part of the cache's key. */
static clf_status append_options(const clf_context *context, const clf_kernel_spec *spec, clf_str *out)
{
    CLF_TRY(clfi_str_appendf(out, "%s%s", context->device.caps.prints_warnings ? "-w" : "", spec->options));
    return context->build_number ? clfi_str_appendf(out, " -DBUILD_NUMBER=%llu", (unsigned long long)context->build_number) : CLF_OK;
}

static clf_status add_main(const clf_context *context, const clf_kernel_spec *spec, clf_program_text *out)
{
    CLF_TRY(append_options(context, spec, &out->options));
    CLF_TRY(clfi_str_append(&out->source, clfi_str_text(&spec->parts->head), spec->parts->head.length));
    return append_source(context, spec, &out->source);
}

static clf_status add_part(const clf_context *context, const clf_program_part *part, clf_program_text *out)
{
    CLF_TRY(append_options(context, &part->spec, &out->options));
    return append_part(context, part, &out->source);
}

clf_status clfi_program_texts(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, clf_program_texts *out)
{
    const clf_program_parts *parts = spec->parts;
    *out = (clf_program_texts){.count = parts ? parts->count + 1 : 1};
    CLF_TRY(clfi_alloc(out->count, sizeof *out->list, "program texts", &out->list));
    if (!parts) {
        CLF_TRY(append_options(context, spec, &out->list->options));
        return clfi_str_append(&out->list->source, clfi_str_text(source), source->length);
    }
    CLF_TRY(add_main(context, spec, &out->list[0]));
    for (size_t i = 0; i < parts->count; i++)
        CLF_TRY(add_part(context, parts->list[i], &out->list[1 + i]));
    return CLF_OK;
}

void clfi_program_texts_free(clf_program_texts *texts)
{
    for (size_t i = 0; texts->list && i < texts->count; i++) {
        clfi_str_free(&texts->list[i].options);
        clfi_str_free(&texts->list[i].source);
    }
    free(texts->list);
    *texts = (clf_program_texts){.count = 0};
}

/* Compiles a text: with clBuildProgram if it is the whole program, else with clCompileProgram. *out: the caller releases it. */
static clf_status compile(const clf_context *context, const char *kernel, const clf_program_text *text, bool is_whole, cl_program *out)
{
    cl_int code = CL_SUCCESS;
    const char *source = clfi_str_text(&text->source), *options = clfi_str_text(&text->options);
    const cl_program program = clCreateProgramWithSource(context->opencl, 1, &source, &text->source.length, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "kernel %s: clCreateProgramWithSource: %s (%d)", kernel, clfi_cl_name(code), code);
    code = is_whole ? clBuildProgram(program, 1, &context->device.id, options, NULL, NULL)
                    : clCompileProgram(program, 1, &context->device.id, options, 0, NULL, NULL, NULL, NULL);
    if (code != CL_SUCCESS) {
        const clf_status st = fail_build(context, program, kernel, options, is_whole ? "clBuildProgram" : "clCompileProgram", code);
        clReleaseProgram(program);
        return st;
    }
    *out = program;
    return CLF_OK;
}

static clf_status link_all(const clf_context *context, const char *kernel, const clf_program_texts *texts, cl_program *compiled,
                           cl_program *out)
{
    cl_int code = CL_SUCCESS;
    for (size_t i = 0; i < texts->count; i++)
        CLF_TRY(compile(context, kernel, &texts->list[i], false, &compiled[i]));
    cl_program program = clLinkProgram(context->opencl, 1, &context->device.id, NULL, (cl_uint)texts->count, compiled, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        const clf_status st = program ? fail_build(context, program, kernel, "linked", "clLinkProgram", code)
                                      : clfi_fail(CLF_BUILD, "kernel %s: clLinkProgram: %s (%d)", kernel, clfi_cl_name(code), code);
        if (program)
            clReleaseProgram(program);
        return st;
    }
    *out = program;
    return CLF_OK;
}

static clf_status compile_and_link(const clf_context *context, const char *kernel, const clf_program_texts *texts, cl_program *out)
{
    cl_program *compiled;
    CLF_TRY(clfi_alloc(texts->count, sizeof *compiled, "programs", &compiled));
    const clf_status st = link_all(context, kernel, texts, compiled, out);
    for (size_t i = 0; i < texts->count; i++)
        if (compiled[i])
            clReleaseProgram(compiled[i]);
    free(compiled);
    return st;
}

clf_status clfi_program_texts_build(const clf_context *context, const char *kernel, const clf_program_texts *texts, cl_program *out)
{
    return texts->count == 1 ? compile(context, kernel, texts->list, true, out) : compile_and_link(context, kernel, texts, out);
}

static clf_status build_spec(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    clf_program_texts texts;
    clf_status st = clfi_program_texts(context, spec, source, &texts);
    if (st == CLF_OK)
        st = clfi_program_texts_build(context, spec->kernel, &texts, out);
    clfi_program_texts_free(&texts);
    return st == CLF_BUILD ? clfi_fail_prefix(st, "%s", spec->file) : st;
}

cl_program clfi_program_try(const clf_context *context, const clf_kernel_spec *spec, const clf_str *source)
{
    clf_context quiet = *context;
    cl_program program = NULL;
    quiet.log = NULL;
    quiet.logs_to_stderr = false;
    return build_spec(&quiet, spec, source, &program) == CLF_OK ? program : NULL;
}

clf_status clfi_program_build(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, cl_program *out)
{
    const uint64_t start = clfi_now_ns();
    if (context->on_build)
        context->on_build(context->on_build_user);
    CLF_TRY(build_spec(context, spec, source, out));
    context->stats.build_ns += clfi_now_ns() - start;
    context->stats.programs_built++;
    clfi_log(context, CLF_LOG_DEBUG, "built %s%s in %.1f ms", spec->kernel, spec->options, (double)(clfi_now_ns() - start) / 1e6);
    return CLF_OK;
}
