/* SPDX-License-Identifier: MIT */
/* Creates and frees contexts. The library's variables ($CLF_...) are read here, or by functions that are called from here. */
#include "runtime/context.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/options.h"
#include "base/str.h"
#include "clformer/opencl.h"
#include "runtime/arena.h"
#include "runtime/compiler_pool.h"
#include "runtime/driver_lock.h"
#include "runtime/launch_budget.h"
#include "runtime/launch_rates.h"
#include "runtime/profile.h"
#include "runtime/program.h"
#include "runtime/program_cache.h"
#include "runtime/queue_create.h"
#include "runtime/queue_order.h"
#include "runtime/shared.h"
#include "runtime/slot.h"

static clf_status set_log(clf_context *context, const clf_context_params *params)
{
    static const char *const names[] = {"error", "info", "debug"};
    const char *wanted = getenv("CLF_LOG");
    context->log = params->log;
    context->log_user = params->log_user;
    context->log_level = CLF_LOG_DEBUG; /* a callback sees everything and chooses itself */
    if (params->log || !wanted || !wanted[0])
        return CLF_OK;
    for (size_t i = 0; i < COUNT(names); i++)
        if (strcmp(wanted, names[i]) == 0) {
            context->log_level = (clf_log_level)i;
            context->logs_to_stderr = true;
            return CLF_OK;
        }
    CLF_FAIL(CLF_INVALID_ARGUMENT, "CLF_LOG: expected error, info or debug, found \"%s\"", wanted);
}

/* The parameter, else the environment variable, else NULL. */
static const char *choose(const char *parameter, const char *variable)
{
    return parameter ? parameter : getenv(variable);
}

/* Chooses who compiles kernels that the cache lacks: child processes or this one. */
static clf_status set_compilers(clf_context *context)
{
    const char *path = getenv("CLF_COMPILER");
    CLF_TRY(clfi_compiler_pool_create(path, getenv("CLF_COMPILE_SECONDS"), &context->shared->compilers));
    if (!context->shared->compilers)
        clfi_log(context, CLF_LOG_INFO, "%s; kernels are compiled in this process, which ends if the driver's compiler crashes",
                 !path     ? "clformer-compile is not installed"
                 : path[0] ? "CLF_COMPILER does not name a program"
                           : "CLF_COMPILER is empty");
    return CLF_OK;
}

clf_status clfi_programs_path(const char *cache_dir, char **out)
{
    const char *cache = choose(cache_dir, "CLF_CACHE_DIR");
    char *directory = NULL;
    *out = NULL;
    if (cache && !cache[0])
        return CLF_OK;
    CLF_TRY(cache ? clfi_strdup(cache, &directory) : clfi_user_directory("XDG_CACHE_HOME", ".cache", &directory));
    const clf_status st = clfi_path_join(directory, "programs", out);
    free(directory);
    return st;
}

static clf_status set_cache(const char *cache_dir, clf_context *context)
{
    char *programs;
    const clf_status st = clfi_programs_path(cache_dir, &programs);
    if (st == CLF_NOT_FOUND)
        clfi_log(context, CLF_LOG_INFO, "no program cache: %s", clf_last_error());
    if (st != CLF_OK || !programs)
        return st == CLF_NOT_FOUND ? CLF_OK : st;
    clfi_program_cache_open(context, programs);
    free(programs);
    return context->shared->cache ? set_compilers(context) : CLF_OK;
}

static clf_status set_directories(clf_context *context, const clf_context_params *params)
{
    const char *kernels = choose(params->kernel_dir, "CLF_KERNEL_DIR");
    const char *dump = getenv("CLF_KERNEL_DUMP");
    if (kernels && kernels[0]) {
        bool exists;
        CLF_TRY(clfi_directory_exists(kernels, &exists));
        if (!exists)
            CLF_FAIL(CLF_NOT_FOUND, "kernel directory %s: no such directory", kernels);
        CLF_TRY(clfi_path_absolute(kernels, &context->kernel_dir));
    }
    if (dump && dump[0])
        CLF_TRY(clfi_path_absolute(dump, &context->kernel_dump));
    return set_cache(params->cache_dir, context);
}

clf_status clfi_tuned_path(char **out)
{
    char *directory;
    CLF_TRY(clfi_user_directory("XDG_CONFIG_HOME", ".config", &directory));
    const clf_status st = clfi_path_join(directory, "tuned.json", out);
    free(directory);
    return st;
}

/* Chooses the file of tuned choices: the parameter, else the user's file, else (CLF_NO_TUNED) none. */
static clf_status set_tuned(clf_context *context, const clf_context_params *params)
{
    const char *refusal = getenv("CLF_NO_TUNED");
    if (params->tuned_file)
        return params->tuned_file[0] ? clfi_path_absolute(params->tuned_file, &context->tuned_file) : CLF_OK;
    if (refusal && refusal[0] && strcmp(refusal, "0") != 0)
        return CLF_OK;
    const clf_status st = clfi_tuned_path(&context->tuned_file);
    if (st == CLF_NOT_FOUND)
        clfi_log(context, CLF_LOG_INFO, "no tuned choices: %s", clf_last_error());
    return st == CLF_NOT_FOUND ? CLF_OK : st;
}

static clf_status create_opencl(const clf_context *context, cl_context *out)
{
    cl_int code = CL_SUCCESS;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)context->device.platform, 0};
    *out = clCreateContext(properties, 1, &context->device.id, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "context on %s: clCreateContext: %s (%d)", context->device.info.name, clfi_cl_name(code), code);
    return CLF_OK;
}

static clf_status create_queue(clf_context *context)
{
    CLF_TRY(clfi_queue_create(context, context->opencl, &context->queue));
    clfi_queue_add(context);
    return CLF_OK;
}

/* Makes the parts that no other context shares. */
static clf_status create_own(bool profiles, clf_context *context)
{
    CLF_TRY(clfi_kernel_table_create(&context->kernels));
    CLF_TRY(clfi_arena_create(&context->arena));
    return profiles ? clfi_profile_create(&context->profile) : CLF_OK;
}

/* For tests: CLF_MATRIX_UNIT=AMD_CDNA, for example, replaces the device's matrix unit by that unit, emulated. With ":real" behind its name,
 * a processor's unit executes its own instructions. */
static clf_status set_matrix_unit(clf_context *context)
{
    static const char real[] = ":real";
    const char *text = getenv("CLF_MATRIX_UNIT");
    if (!text || !text[0])
        return CLF_OK;
    char name[32];
    const char *colon = strchr(text, ':');
    const size_t length = colon ? (size_t)(colon - text) : strlen(text);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, text);
    const clf_matrix_unit unit = clfi_matrix_unit_from_name(name);
    if (unit == CLFI_MATRIX_NONE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "CLF_MATRIX_UNIT: unknown unit \"%s\" (%s, for example)", text,
                 clfi_matrix_unit_info(CLFI_MATRIX_NVIDIA_BF16)->macro);
    if (colon && (strcmp(colon, real) != 0 || !clfi_matrix_unit_is_cpu(unit)))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "CLF_MATRIX_UNIT: \"%s\": only a processor's unit can be followed by %s", text, real);
    if (colon && !context->device.caps.has_assembly)
        CLF_FAIL(CLF_UNSUPPORTED, "CLF_MATRIX_UNIT: \"%s\": the compiler of %s takes no inline assembly", text, context->device.info.name);
    context->device.caps.matrix_unit = unit;
    context->device.caps.emulates_matrix_unit = !colon;
    return CLF_OK;
}

/* Makes everything but device, OpenCL context and queue. */
static clf_status create_parts(const clf_context_params *params, clf_context *context)
{
    const char *engines = choose(params->engines, "CLF_ENGINE");
    if ((unsigned)params->precision > CLF_PRECISION_MEDIUM)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context: precision %d is not one of highest, high, medium", (int)params->precision);
    const char *graphs = getenv("CLF_GRAPH");
    context->references = 1;
    context->graphs = !graphs || !graphs[0] ? CLFI_GRAPHS_LONG : strcmp(graphs, "0") == 0 ? CLFI_GRAPHS_NEVER : CLFI_GRAPHS_ALWAYS;
    context->precision = params->precision;
    context->recovers = params->recovers != 0;
    context->is_background = params->background > 0 || (params->background == 0 && clfi_background_is_set());
    CLF_TRY(set_log(context, params));
    CLF_TRY(clfi_budget_set(context, params->launch_ms));
    CLF_TRY(set_matrix_unit(context));
    CLF_TRY(clfi_strdup(engines ? engines : "", &context->engines));
    CLF_TRY(clfi_shared_create(&context->shared));
    context->is_stuck = &context->shared->is_stuck;
    CLF_TRY(set_directories(context, params));
    CLF_TRY(set_tuned(context, params));
    return create_own(params->profile != 0, context);
}

/* The same for a shared context. Its settings are those of the first context; the environment is not read again. */
static clf_status copy_parts(const clf_context *with, clf_context *context)
{
    context->references = 1;
    context->precision = with->precision;
    context->graphs = with->graphs;
    context->is_background = with->is_background;
    context->budget = with->budget;
    context->budget.last_kernel = NULL;
    context->openings = with->openings; /* buffers of both contexts are of the same opening */
    context->build_number = with->build_number;
    context->log = with->log;
    context->log_user = with->log_user;
    context->log_level = with->log_level;
    context->unbuilt = with->unbuilt;
    context->logs_to_stderr = with->logs_to_stderr;
    context->shared = clfi_shared_retain(with->shared);
    context->is_stuck = &context->shared->is_stuck;
    CLF_TRY(clfi_device_copy(&with->device, &context->device));
    CLF_TRY(clfi_strdup(with->engines, &context->engines));
    if (with->kernel_dir)
        CLF_TRY(clfi_strdup(with->kernel_dir, &context->kernel_dir));
    if (with->kernel_dump)
        CLF_TRY(clfi_strdup(with->kernel_dump, &context->kernel_dump));
    if (with->tuned_file)
        CLF_TRY(clfi_strdup(with->tuned_file, &context->tuned_file));
    return create_own(with->profile != NULL, context);
}

static void context_free(clf_context *context)
{
    if (!context)
        return;
    clfi_slots_clear(context);
    clfi_queue_remove(context);
    context->references = SIZE_MAX / 2; /* the arena's buffers release the context below; it must not be freed again */
    clfi_arena_destroy(context->arena);
    clfi_profile_destroy(context->profile);
    clfi_kernel_table_destroy(context->kernels);
    clfi_shared_release(context->shared);
    if (context->queue)
        clReleaseCommandQueue(context->queue);
    if (context->opencl)
        clReleaseContext(context->opencl);
    clfi_device_clear(&context->device);
    free(context->device_doubt);
    free(context->engines);
    free(context->kernel_dir);
    free(context->kernel_dump);
    free(context->tuned_file);
    free(context);
}

static void collect(clf_context *context)
{
    if (context->profile)
        context->stats.kernel_ns += clfi_profile_collect(context->profile, &context->stats.longest_launch_ns);
    clfi_kernel_table_save(context);
}

/* Frees everything of the lost device: kernels, temporary memory, state of upper layers. */
static void release_lost(clf_context *context)
{
    clfi_slots_clear(context);
    clfi_queue_remove(context);
    clfi_arena_destroy(context->arena);
    if (context->profile) /* reads events that have ended */
        context->stats.kernel_ns += clfi_profile_collect(context->profile, &context->stats.longest_launch_ns);
    clfi_kernel_table_destroy(context->kernels);
    clfi_shared_void(context->shared);
    clReleaseCommandQueue(context->queue);
    clReleaseContext(context->opencl);
    context->is_lost = NULL;
    context->recording = NULL;
    context->usage.arena_blocks = context->usage.arena_regions = 0;
    context->budget.waiting_ns = 0;
    context->budget.last_kernel = NULL;
}

/* Opens the device again in place. Contexts that share a cl_context stay lost, because the others would continue with invalid objects.
 * Contexts on a caller's cl_context stay lost, too. */
static clf_status reopen(clf_context *context)
{
    cl_context opencl = NULL;
    cl_command_queue queue = NULL;
    clf_kernel_table *kernels = NULL;
    clf_arena *arena = NULL;
    clf_status st;
    if (context->is_borrowed || atomic_load(&context->shared->references) > 1)
        return clfi_fail_prefix(CLF_DEVICE_LOST, "a new context is needed, because %s",
                                context->is_borrowed ? "the OpenCL context is the caller's" : "other contexts share this one");
    CLF_GOTO(create_opencl(context, &opencl));
    CLF_GOTO(clfi_queue_create(context, opencl, &queue));
    CLF_GOTO(clfi_kernel_table_create(&kernels));
    CLF_GOTO(clfi_arena_create(&arena));
    release_lost(context);
    context->opencl = opencl;
    context->queue = queue;
    context->kernels = kernels;
    context->arena = arena;
    context->openings++;
    clfi_queue_add(context);
    clfi_log(context, CLF_LOG_INFO, "device %s is open again", context->device.info.name);
    return CLF_OK;
done:
    clfi_kernel_table_destroy(kernels);
    if (queue)
        clReleaseCommandQueue(queue);
    if (opencl)
        clReleaseContext(opencl);
    return st;
}

/* Allocates an empty context. */
static clf_status context_alloc(clf_context **out)
{
    static const clf_context_life life = {collect, context_free, clfi_launch_rates, reopen};
    CLF_TRY(clfi_alloc(1, sizeof **out, "context", out));
    (*out)->life = &life;
    return CLF_OK;
}

static clf_status choose_device(const clf_context_params *params, clf_context *context)
{
    const char *selector = clfi_device_selector(params->device), *doubt;
    clf_device_list *list;
    size_t index;
    clfi_driver_prepare();
    CLF_TRY(clf_device_list_create(&list));
    clf_status st = clf_device_list_select(list, selector, &index);
    if (st == CLF_OK)
        st = clfi_device_copy(&list->devices[index], &context->device);
    if (st == CLF_OK && (doubt = clfi_device_list_doubt(list, selector)) != NULL)
        st = clfi_strdup(doubt, &context->device_doubt);
    clf_device_list_destroy(list);
    return st;
}

CLFI_OPTIONS(clf_context_params, CLF_CONTEXT_PARAMS_INIT)

/* Hands out a context whose creation ended with `st`, or frees it on failure. */
static clf_status finish(clf_status st, clf_context *context, clf_context **out)
{
    if (st != CLF_OK) {
        context_free(context);
        return st;
    }
    if (context->device_doubt)
        clfi_log(context, CLF_LOG_ERROR, "%s; %s is used", context->device_doubt, context->device.info.name);
    clfi_log(context, CLF_LOG_INFO, "device %s (%s)", context->device.info.name, context->device.info.platform_name);
    *out = context;
    return CLF_OK;
}

/* Completes a context whose device was chosen. */
static clf_status complete(const clf_context_params *params, clf_context *context)
{
    CLF_TRY(create_parts(params, context));
    CLF_TRY(create_opencl(context, &context->opencl));
    return create_queue(context);
}

clf_status clf_context_create(const clf_context_params *params, clf_context **out)
{
    clf_context_params own;
    clf_context *context;
    if (!out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create: out must not be NULL");
    CLF_TRY(clf_context_params_read(params, &own));
    CLF_TRY(context_alloc(&context));
    clf_status st = choose_device(&own, context);
    if (st == CLF_OK)
        st = complete(&own, context);
    return finish(st, context, out);
}

clf_status clfi_context_create_on(const clf_device *device, clf_context **out)
{
    static const clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    clf_context *context;
    CLF_TRY(context_alloc(&context));
    clf_status st = clfi_device_copy(device, &context->device);
    if (st == CLF_OK)
        st = complete(&params, context);
    return finish(st, context, out);
}

static clf_status retain_opencl(cl_context opencl, clf_context *context)
{
    const cl_int code = clRetainContext(opencl);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "context: clRetainContext: %s (%d)", clfi_cl_name(code), code);
    context->opencl = opencl;
    return CLF_OK;
}

static clf_status retain_queue(cl_command_queue queue, clf_context *context)
{
    const cl_int code = clRetainCommandQueue(queue);
    if (code != CL_SUCCESS)
        CLF_FAIL(CLF_DEVICE, "context: clRetainCommandQueue: %s (%d)", clfi_cl_name(code), code);
    context->queue = queue;
    return CLF_OK;
}

clf_status clf_context_create_shared(const clf_context *with, clf_context **out)
{
    clf_context *context;
    if (!with || !out)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create shared: with and out must not be NULL");
    CLF_TRY(context_alloc(&context));
    clf_status st = retain_opencl(with->opencl, context);
    if (st == CLF_OK)
        st = copy_parts(with, context);
    if (st == CLF_OK)
        st = create_queue(context);
    return finish(st, context, out);
}

clf_status clf_context_create_from_opencl(const clf_context_params *params, cl_context opencl_context, cl_command_queue queue,
                                          clf_context **out)
{
    clf_context_params own;
    cl_device_id id = NULL;
    cl_platform_id platform = NULL;
    cl_context owner = NULL;
    cl_command_queue_properties properties = 0;
    if (!out || !opencl_context || !queue)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create from OpenCL: context, queue and out must not be NULL");
    if (clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof owner, &owner, NULL) != CL_SUCCESS ||
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create from OpenCL: the queue does not answer");
    if (owner != opencl_context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create from OpenCL: the queue belongs to another OpenCL context");
    if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context create from OpenCL: the queue is out of order, an in-order queue is needed");
    clfi_driver_prepare();
    CLF_TRY(clf_context_params_read(params, &own));
    own.profile = own.profile && (properties & CL_QUEUE_PROFILING_ENABLE);
    clf_context *context;
    CLF_TRY(context_alloc(&context));
    clf_status st = clfi_device_query(platform, id, &context->device);
    if (st == CLF_OK && !context->device.info.usable)
        st = clfi_fail(CLF_UNSUPPORTED, "device %s cannot be used: %s", context->device.info.name, context->device.info.reason);
    context->is_borrowed = true;
    if (st == CLF_OK)
        st = create_parts(&own, context);
    if (st == CLF_OK)
        st = retain_opencl(opencl_context, context);
    if (st == CLF_OK)
        st = retain_queue(queue, context);
    return finish(st, context, out);
}

void clf_context_destroy(clf_context *context)
{
    if (!context)
        return;
    clfi_context_drain(context);
    clfi_context_release(context);
}
