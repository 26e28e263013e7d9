/* SPDX-License-Identifier: MIT */
/* Finds a context's kernels by specification. Their programs, which contexts share, are loaded from the cache on disk or built from
 * source. */
#include "runtime/program.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "runtime/driver_lock.h"
#include "runtime/kernel_dump.h"
#include "runtime/outside_build.h"
#include "runtime/parallel_build.h"
#include "runtime/program_build.h"
#include "runtime/program_cache.h"
#include "runtime/queue_order.h"
#include "runtime/unusable.h"

struct clf_kernel_table {
    clf_kernel **kernels; /* in the order of their first use */
    size_t count, capacity;
    size_t unsaved;
};

clf_status clfi_kernel_table_create(clf_kernel_table **out)
{
    return clfi_alloc(1, sizeof **out, "kernel table", out);
}

void clfi_kernel_table_destroy(clf_kernel_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++) {
        clReleaseKernel(table->kernels[i]->handle);
        free(table->kernels[i]);
    }
    free(table->kernels);
    free(table);
}

static clf_status make_kernel(const clf_kernel_spec *spec, const clf_program *program, cl_kernel *out)
{
    cl_int code = CL_SUCCESS;
    *out = clCreateKernel(program->handle, spec->kernel, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_BUILD, "kernel %s of %s: clCreateKernel: %s (%d)", spec->kernel, spec->file, clfi_cl_name(code), code);
    return CLF_OK;
}

/* Loads the program from the cache on disk. False: the cache does not have it, or it cannot make its kernel. */
static bool load(clf_context *context, const clf_kernel_spec *spec, clf_program *program)
{
    const uint64_t start = clfi_now_ns();
    cl_kernel kernel;
    program->handle = clfi_program_cache_load(context, spec->kernel, program->key);
    if (!program->handle)
        return false;
    if (make_kernel(spec, program, &kernel) != CLF_OK) {
        clfi_log(context, CLF_LOG_INFO, "program cache: %s; building from source", clf_last_error());
        clReleaseProgram(program->handle);
        program->handle = NULL;
        return false;
    }
    clReleaseKernel(kernel);
    context->stats.programs_from_cache++;
    context->stats.cache_load_ns += clfi_now_ns() - start;
    return true;
}

/* Sets program->reason if the cache remembers that the compiler crashed or hung on the program. */
static clf_status recall(const clf_context *context, clf_program *program)
{
    clf_str reason = CLF_STR_INIT;
    const clf_status st = clfi_unusable_find(context, program->key, &reason);
    if (st == CLF_OK)
        program->reason = reason.data;
    else
        clfi_str_free(&reason);
    return st == CLF_NOT_FOUND ? CLF_OK : st;
}

static clf_status build_here(clf_context *context, const clf_kernel_spec *spec, const clf_str *source, clf_program *program)
{
    clfi_driver_lock(context->device.caps.serial_compiler);
    const clf_status st = clfi_program_build(context, spec, source, &program->handle);
    clfi_driver_unlock(context->device.caps.serial_compiler);
    program->is_unsaved = st == CLF_OK && context->shared->cache != NULL;
    return st;
}

/* Takes the result of a job. */
static clf_status take(clf_build_job *job, clf_program *program)
{
    program->handle = job->program;
    if (!job->program && job->reason.length > 0)
        return clfi_strdup(job->reason.data, &program->reason);
    return CLF_OK;
}

/* Builds the program in another process; the job borrows the source. */
static clf_status build_outside(clf_context *context, const clf_kernel_spec *spec, clf_str *source, clf_program *program)
{
    clf_build_job job = {.spec = spec, .key = program->key, .source = *source};
    *source = (clf_str)CLF_STR_INIT;
    clfi_outside_build(context, &job, 1);
    const clf_status st = take(&job, program);
    *source = job.source;
    job.source = (clf_str)CLF_STR_INIT;
    clfi_build_job_clear(&job);
    return st;
}

/* Loads the program from the cache, else builds it. handle and reason stay NULL if it is not in the cache and may not be built. */
static clf_status load_or_build(clf_context *context, const clf_kernel_spec *spec, clf_str *source, bool may_build, clf_program *program)
{
    clfi_driver_lock(context->device.caps.serial_compiler);
    const bool is_loaded = load(context, spec, program);
    clfi_driver_unlock(context->device.caps.serial_compiler);
    if (is_loaded)
        return CLF_OK;
    CLF_TRY(recall(context, program));
    if (program->reason || !may_build)
        return CLF_OK;
    if (clfi_outside_build_is_possible(context))
        CLF_TRY(build_outside(context, spec, source, program));
    return program->handle || program->reason ? CLF_OK : build_here(context, spec, source, program);
}

/* Makes the program's text, and its key in the cache. */
static clf_status prepare(clf_context *context, const clf_kernel_spec *spec, clf_str *source, clf_program *program)
{
    CLF_TRY(clfi_program_source(context, spec, source));
    if (context->kernel_dump && !spec->parts)
        CLF_TRY(clfi_kernel_dump(context->kernel_dump, spec, source));
    return clfi_program_cache_key(context, spec, source, program->key);
}

static clf_status build(clf_context *context, const clf_kernel_spec *spec, bool may_build, clf_program *program)
{
    clf_str source = CLF_STR_INIT;
    clf_status st = prepare(context, spec, &source, program);
    if (st == CLF_OK)
        st = load_or_build(context, spec, &source, may_build, program);
    clfi_str_free(&source);
    return st;
}

/* Makes an empty program for a specification. */
static clf_status create_program(const clf_kernel_spec *spec, clf_program **out)
{
    clf_program *program;
    CLF_TRY(clfi_alloc(1, sizeof *program, "program", &program));
    program->hash = clfi_spec_hash(spec);
    clf_status st = clfi_strdup(spec->kernel, &program->kernel);
    if (st == CLF_OK)
        st = clfi_strdup(spec->options, &program->options);
    if (st != CLF_OK) {
        clfi_program_destroy(program);
        program = NULL;
    }
    *out = program;
    return st;
}

/* Adds a built or unusable program to the list that contexts share. Otherwise, and on failure, destroys it and sets *program to NULL. */
static clf_status keep_program(clf_shared *shared, clf_program **program)
{
    clf_status st = CLF_OK;
    const bool is_known = (*program)->handle || (*program)->reason;
    if (is_known)
        st = clfi_grow(&shared->programs, &shared->capacity, shared->count + 1, sizeof *shared->programs, "programs");
    if (st == CLF_OK && is_known) {
        shared->programs[shared->count++] = *program;
        return CLF_OK;
    }
    clfi_program_destroy(*program);
    *program = NULL;
    return st;
}

/* Loads or builds a program and adds it to the list. *out NULL: it is not in the cache and may not be built. */
static clf_status add_program(clf_context *context, const clf_kernel_spec *spec, bool may_build, clf_program **out)
{
    CLF_TRY(create_program(spec, out));
    const clf_status built = build(context, spec, may_build, *out), kept = keep_program(context->shared, out);
    return built != CLF_OK ? built : kept;
}

/* Finds a program in the list; NULL: no context has it yet. The caller holds the lock. */
static clf_program *find_program(const clf_shared *shared, const clf_kernel_spec *spec)
{
    const uint64_t hash = clfi_spec_hash(spec);
    for (size_t i = 0; i < shared->count; i++) {
        clf_program *program = shared->programs[i];
        if (!program->is_void && clfi_spec_is(spec, hash, program->kernel, program->options, program->hash))
            return program;
    }
    return NULL;
}

/* Returns the program; the first context that asks builds it. */
static clf_status get_program(clf_context *context, const clf_kernel_spec *spec, bool may_build, clf_program **out)
{
    clf_shared *shared = context->shared;
    clf_status st = CLF_OK;
    pthread_mutex_lock(&shared->lock);
    *out = find_program(shared, spec);
    if (!*out)
        st = add_program(context, spec, may_build, out);
    pthread_mutex_unlock(&shared->lock);
    return st;
}

clf_status clfi_program_find(clf_context *context, const clf_kernel_spec *spec, clf_program_state *out)
{
    clf_program *program;
    const clf_status st = get_program(context, spec, false, &program);
    *out = !program ? CLFI_PROGRAM_MISSING : program->handle ? CLFI_PROGRAM_THERE : CLFI_PROGRAM_UNUSABLE;
    return st;
}

static clf_status add_job(clf_context *context, const clf_kernel_spec *spec, clf_build_job *job, clf_program **program)
{
    job->spec = spec;
    CLF_TRY(create_program(spec, program));
    job->key = (*program)->key;
    return prepare(context, spec, &job->source, *program);
}

/* Builds the programs that no other context has built meanwhile. programs: as many as specs, NULL each. */
static clf_status build_jobs(clf_context *context, const clf_kernel_spec *const *specs, size_t spec_count, clf_build_job *jobs,
                             clf_program **programs)
{
    clf_status st = CLF_OK;
    size_t count = 0;
    for (size_t i = 0; i < spec_count; i++) {
        if (find_program(context->shared, specs[i]))
            continue;
        CLF_TRY(add_job(context, specs[i], &jobs[count], &programs[count]));
        count++;
    }
    const bool is_outside = clfi_outside_build_is_possible(context);
    if (is_outside)
        clfi_outside_build(context, jobs, count);
    else
        clfi_parallel_build(context, jobs, count);
    for (size_t i = 0; i < count; i++) {
        const clf_status taken = take(&jobs[i], programs[i]);
        programs[i]->is_unsaved = !is_outside && context->shared->cache;
        const clf_status kept = keep_program(context->shared, &programs[i]);
        st = st != CLF_OK ? st : taken != CLF_OK ? taken : kept;
        programs[i] = NULL;
    }
    return st;
}

bool clfi_programs_build_gains(const clf_context *context, size_t count)
{
    return count > 0 && (clfi_outside_build_is_possible(context) || (count > 1 && !context->device.caps.serial_compiler));
}

clf_status clfi_programs_build(clf_context *context, const clf_kernel_spec *const *specs, size_t count)
{
    clf_build_job *jobs = NULL;
    clf_program **programs = NULL;
    clf_status st;
    pthread_mutex_lock(&context->shared->lock);
    CLF_GOTO(clfi_alloc(count, sizeof *jobs, "programs", &jobs));
    CLF_GOTO(clfi_alloc(count, sizeof *programs, "programs", &programs));
    st = build_jobs(context, specs, count, jobs, programs);
done:
    pthread_mutex_unlock(&context->shared->lock);
    for (size_t i = 0; jobs && i < count; i++)
        clfi_build_job_clear(&jobs[i]);
    for (size_t i = 0; programs && i < count; i++)
        if (programs[i])
            clfi_program_destroy(programs[i]);
    free(jobs);
    free(programs);
    return st;
}

void clfi_program_blame(clf_context *context, const clf_kernel_spec *spec, uint64_t askers)
{
    const clf_program *program;
    pthread_mutex_lock(&context->shared->lock);
    program = find_program(context->shared, spec);
    if (program && program->reason) {
        snprintf(context->unbuilt_reason, sizeof context->unbuilt_reason, "kernel %s: %s", spec->kernel, program->reason);
        context->unbuilt |= askers;
    }
    pthread_mutex_unlock(&context->shared->lock);
}

static clf_status fail_unusable(clf_context *context, const clf_kernel_spec *spec, const clf_program *program)
{
    clfi_program_blame(context, spec, context->asker);
    CLF_FAIL(CLF_BUILD, "kernel %s (%s,%s): cannot be built on %s: %s (delete %s/unusable-%s to try again)", spec->kernel, spec->file,
             spec->options, context->device.info.name, program->reason, context->shared->cache ? context->shared->cache->path : "",
             program->key);
}

/* Drivers may allow a kernel fewer work-items than the device's limit. Mali's driver does so if a kernel takes many registers
 * (https://github.com/opencv/opencv/issues/13108), as does Adreno's (https://github.com/clMathLibraries/clBLAS/issues/136), whose local
 * memory is small too. A launch would fail as if the device were lost, so the engine is left out instead. The limit that rusticl of Mesa
 * 22.3 reports is ignored: it is the size of a sub-group for every kernel, and launches beyond it work. */
static clf_status check_limits(clf_context *context, const clf_kernel_spec *spec, cl_kernel kernel)
{
    const cl_device_id device = context->device.id;
    const uint64_t local_limit = context->device.caps.local_memory_bytes;
    size_t asked[3] = {0}, most = 0;
    cl_ulong local = 0;
    if (clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof asked, asked, NULL) != CL_SUCCESS ||
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL) != CL_SUCCESS ||
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL) != CL_SUCCESS)
        return CLF_OK; /* the launch itself will fail if a limit is exceeded */
    const size_t items = asked[0] * asked[1] * asked[2];
    const bool is_limit_known = strcmp(context->device.info.platform_name, "rusticl") != 0;
    if ((items <= most || !is_limit_known) && local <= local_limit)
        return CLF_OK;
    snprintf(context->unbuilt_reason, sizeof context->unbuilt_reason,
             "kernel %s: needs work-groups of %zu items with %llu bytes of local memory, the driver allows it %zu items and %llu bytes",
             spec->kernel, items, (unsigned long long)local, most, (unsigned long long)local_limit);
    context->unbuilt |= context->asker;
    CLF_FAIL(CLF_BUILD, "%s", context->unbuilt_reason);
}

static clf_status create_kernel(clf_context *context, const clf_kernel_spec *spec, clf_kernel *kernel)
{
    CLF_TRY(get_program(context, spec, true, &kernel->program));
    if (kernel->program->reason)
        return fail_unusable(context, spec, kernel->program);
    kernel->name = kernel->program->kernel;
    kernel->options = kernel->program->options;
    kernel->hash = kernel->program->hash;
    kernel->is_saved = !context->shared->cache;
    CLF_TRY(make_kernel(spec, kernel->program, &kernel->handle));
    CLF_TRY(check_limits(context, spec, kernel->handle));
    const cl_int code = clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof kernel->argument_count, &kernel->argument_count, NULL);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "kernel %s: clGetKernelInfo: %s (%d)", spec->kernel, clfi_cl_name(code), code);
    return CLF_OK;
}

/* Finds a kernel that the context has; NULL: none. The table has some tens of kernels, so scanning hashes costs little. */
static clf_kernel *find_kernel(const clf_context *context, const clf_kernel_spec *spec)
{
    const clf_kernel_table *table = context->kernels;
    const uint64_t hash = clfi_spec_hash(spec);
    for (size_t i = 0; i < table->count; i++) {
        clf_kernel *known = table->kernels[i];
        if (clfi_spec_is(spec, hash, known->name, known->options, known->hash))
            return known;
    }
    return NULL;
}

bool clfi_kernel_was_launched(const clf_context *context, const clf_kernel_spec *spec)
{
    const clf_kernel *kernel = find_kernel(context, spec);
    return kernel && kernel->was_launched;
}

clf_status clfi_kernel_get(clf_context *context, const clf_kernel_spec *spec, clf_kernel **out)
{
    clf_kernel_table *table = context->kernels;
    clf_kernel *kernel;
    if (spec->overflow)
        CLF_FAIL(CLF_INTERNAL, "kernel %s: options longer than %d bytes", spec->kernel, CLFI_SPEC_BYTES);
    *out = find_kernel(context, spec);
    if (*out)
        return CLF_OK;
    CLF_TRY(clfi_grow(&table->kernels, &table->capacity, table->count + 1, sizeof *table->kernels, "kernel table"));
    CLF_TRY(clfi_alloc(1, sizeof *kernel, "kernel", &kernel));
    const clf_status st = create_kernel(context, spec, kernel);
    if (st != CLF_OK) {
        if (kernel->handle)
            clReleaseKernel(kernel->handle);
        free(kernel);
        return st;
    }
    table->unsaved += !kernel->is_saved;
    table->kernels[table->count++] = kernel;
    *out = kernel;
    return CLF_OK;
}

/* Saves a program in the cache on disk, once, by the first context that has launched it. */
static void save(clf_context *context, clf_program *program)
{
    pthread_mutex_lock(&context->shared->lock);
    if (program->is_unsaved) {
        clfi_driver_lock(context->device.caps.serial_compiler); /* PoCL compiles once more for the binary */
        clfi_queues_stop(context);
        clfi_program_cache_store(context, program->handle, program->kernel, program->key);
        clfi_queues_go(context);
        clfi_driver_unlock(context->device.caps.serial_compiler);
        program->is_unsaved = false;
    }
    pthread_mutex_unlock(&context->shared->lock);
}

void clfi_kernel_table_save(clf_context *context)
{
    clf_kernel_table *table = context->kernels;
    for (size_t i = 0; table->unsaved > 0 && i < table->count; i++) {
        clf_kernel *kernel = table->kernels[i];
        if (kernel->is_saved || !kernel->was_launched)
            continue;
        save(context, kernel->program);
        kernel->is_saved = true;
        table->unsaved--;
    }
}
