/* SPDX-License-Identifier: MIT */
/* Enqueues a kernel with checked arguments. */
#include "runtime/launch.h"

#include <limits.h>

#include "base/alloc.h"
#include "runtime/launch_budget.h"
#include "runtime/profile.h"
#include "runtime/queue_order.h"
#include "runtime/recording.h"
#include "runtime/rehearsal.h"

clf_launch clfi_launch(clf_context *context, const clf_kernel_spec *spec)
{
    clf_launch launch = {.context = context};
    if (context->recording) {
        bool is_taken = false;
        launch.status = clfi_recording_launch(context->recording, spec, context->asker, &is_taken);
        launch.recording = is_taken ? context->recording : NULL;
        if (launch.status == CLF_OK && !is_taken)
            launch.status = clfi_context_interrupt(context);
        if (launch.status != CLF_OK || is_taken)
            return launch;
    }
    if (context->rehearsal)
        launch.status = clfi_rehearsal_note(context, spec, &launch.rehearsed);
    else
        launch.status = clfi_kernel_get(context, spec, &launch.kernel);
    return launch;
}

void clfi_arg_struct(clf_launch *launch, const char *type, const void *value, size_t size)
{
    const cl_uint at = launch->argument++;
    if (launch->status == CLF_OK && launch->recording)
        launch->status = clfi_recording_value(launch->recording, type, value, size);
    if (launch->status != CLF_OK || !launch->kernel)
        return;
    const cl_int code = clSetKernelArg(launch->kernel->handle, at, size, value);
    if (code != CL_SUCCESS)
        launch->status = clfi_fail(CLF_INTERNAL, "kernel %s: argument %u of %zu bytes: clSetKernelArg: %s (%d)", launch->kernel->name, at,
                                   size, clfi_cl_name(code), code);
}

void clfi_arg_bytes(clf_launch *launch, const void *value, size_t size)
{
    clfi_arg_struct(launch, NULL, value, size);
}

void clfi_arg_buffer(clf_launch *launch, const clf_buffer *buffer)
{
    if (launch->status == CLF_OK && launch->recording) {
        launch->status = clfi_recording_buffer(launch->recording, (clf_buffer *)buffer);
        launch->argument++;
        return;
    }
    const cl_mem memory = buffer ? buffer->memory : NULL;
    clfi_arg_bytes(launch, &memory, sizeof memory);
}

void clfi_arg_int(clf_launch *launch, int64_t value)
{
    if (launch->status == CLF_OK && (launch->kernel || launch->recording) && (value < INT_MIN || value > INT_MAX)) {
        launch->status =
            clfi_fail(CLF_UNSUPPORTED, "kernel %s: argument %u: expected an integer of 32 bits, found %lld",
                      launch->kernel ? launch->kernel->name : clfi_recording_kernel(launch->recording), launch->argument, (long long)value);
        return;
    }
    const cl_int narrow = (cl_int)value;
    clfi_arg_struct(launch, "int", &narrow, sizeof narrow);
}

void clfi_arg_long(clf_launch *launch, int64_t value)
{
    const cl_long wide = value;
    clfi_arg_struct(launch, "long", &wide, sizeof wide);
}

void clfi_arg_uint(clf_launch *launch, uint32_t value)
{
    const cl_uint word = value;
    clfi_arg_struct(launch, "uint", &word, sizeof word);
}

void clfi_arg_float(clf_launch *launch, float value)
{
    const cl_float number = value;
    clfi_arg_struct(launch, "float", &number, sizeof number);
}

void clfi_launch_work(clf_launch *launch, double multiply_adds, double bytes)
{
    launch->work = (clf_work){multiply_adds, bytes};
}

/* Enqueues groups[i] work-groups in dimension i, from work-group begin[i] on; begin NULL: from the first on. */
static clf_status enqueue_groups(clf_launch *launch, cl_uint dimensions, const size_t *begin, const size_t *groups, const size_t *local)
{
    clf_context *context = launch->context;
    clf_kernel *kernel = launch->kernel;
    size_t global[3], offset[3];
    for (cl_uint i = 0; i < dimensions; i++) {
        global[i] = groups[i] * local[i];
        offset[i] = begin ? begin[i] * local[i] : 0;
    }
    cl_event event = NULL;
    const cl_int code = clfi_queue_launch(context, kernel->handle, kernel->program->key, dimensions, begin ? offset : NULL, global, local,
                                          context->profile ? &event : NULL);
    if (code != CL_SUCCESS)
        return clfi_context_fail(context, code, code == CL_MEM_OBJECT_ALLOCATION_FAILURE ? CLF_OUT_OF_MEMORY : CLF_DEVICE,
                                 "kernel %s: clEnqueueNDRangeKernel", kernel->name);
    kernel->was_launched = true;
    context->stats.kernels_launched++;
    return event ? clfi_profile_kernel(context->profile, kernel->name, event) : CLF_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Enqueues a launch in pieces that do not exceed the budget. */
static clf_status enqueue_pieces(clf_launch *launch, cl_uint dimensions, const size_t *groups, const size_t *local)
{
    size_t all[3] = {1, 1, 1}, items[3] = {1, 1, 1}, piece[3], at[3], size[3];
    double total = 1;
    for (cl_uint i = 0; i < dimensions; i++) {
        all[i] = groups[i];
        items[i] = local[i];
        total *= (double)groups[i];
    }
    clfi_budget_piece(launch->context, &launch->work, all, items, piece);
    const bool is_whole = piece[0] == all[0] && piece[1] == all[1] && piece[2] == all[2];
    for (at[2] = 0; at[2] < all[2]; at[2] += piece[2])
        for (at[1] = 0; at[1] < all[1]; at[1] += piece[1])
            for (at[0] = 0; at[0] < all[0]; at[0] += piece[0]) {
                double part = 1 / total, number = 1;
                for (int i = 0; i < 3; i++) {
                    size[i] = smaller(piece[i], all[i] - at[i]);
                    part *= (double)size[i];
                    number *= (double)size[i] * (double)items[i];
                }
                const clf_work work = {launch->work.multiply_adds * part, launch->work.bytes * part};
                clfi_budget_note(launch->context, launch->kernel->name, clfi_budget_estimate(launch->context, &work, number));
                CLF_TRY(enqueue_groups(launch, dimensions, is_whole ? NULL : at, size, local));
            }
    return CLF_OK;
}

static clf_status enqueue(clf_launch *launch, cl_uint dimensions, const size_t *groups, const size_t *local)
{
    size_t items;
    CLF_TRY(launch->status);
    clf_kernel *kernel = launch->kernel;
    if (launch->recording)
        return clfi_recording_end(launch->recording, &launch->work, dimensions, groups, local);
    if (!kernel) {
        clfi_rehearsal_size(launch->context, launch->rehearsed, dimensions, local);
        return CLF_OK;
    }
    if (launch->argument != kernel->argument_count)
        CLF_FAIL(CLF_INTERNAL, "kernel %s: expected %u arguments, found %u", kernel->name, kernel->argument_count, launch->argument);
    bool is_single = true;
    for (cl_uint i = 0; i < dimensions; i++) {
        if (groups[i] == 0)
            return CLF_OK;
        is_single = is_single && groups[i] == 1;
        if (!clfi_mul_size(groups[i], local[i], &items))
            CLF_FAIL(CLF_UNSUPPORTED, "kernel %s: too many work-items: %zu work-groups of %zu", kernel->name, groups[i], local[i]);
    }
    if (clfi_budget_is_set(launch->context) && launch->work.multiply_adds + launch->work.bytes > 0)
        return enqueue_pieces(launch, dimensions, groups, local);
    if (clfi_budget_is_set(launch->context) && !is_single)
        clfi_log(launch->context, CLF_LOG_DEBUG, "kernel %s states no work: its launch is never split", kernel->name);
    launch->context->budget.last_kernel = kernel->name;
    launch->context->budget.last_ns = 0;
    return enqueue_groups(launch, dimensions, NULL, groups, local);
}

clf_status clfi_launch_1d(clf_launch *launch, size_t groups, size_t local)
{
    return enqueue(launch, 1, &groups, &local);
}

clf_status clfi_launch_2d(clf_launch *launch, size_t groups0, size_t groups1, size_t local0, size_t local1)
{
    return enqueue(launch, 2, (size_t[2]){groups0, groups1}, (size_t[2]){local0, local1});
}

clf_status clfi_launch_3d(clf_launch *launch, const size_t groups[3], const size_t local[3])
{
    return enqueue(launch, 3, groups, local);
}
