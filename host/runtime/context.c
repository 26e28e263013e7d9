/* SPDX-License-Identifier: MIT */
/* Operations of an existing context: references, queue, log, recovery from a lost device. runtime/context_create.c makes and frees it. */
#include "runtime/context.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "clformer/opencl.h"

const char *clf_version(void)
{
    return CLF_VERSION_STRING;
}

int clf_version_number(void)
{
    return CLF_VERSION_NUMBER;
}

void clfi_log(const clf_context *context, clf_log_level level, const char *format, ...)
{
    char text[1024];
    if (level > context->log_level || (!context->log && !context->logs_to_stderr))
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (context->log)
        context->log(context->log_user, level, text);
    else
        fprintf(stderr, "clformer: %s\n", text);
}

void clfi_context_retain(clf_context *context)
{
    context->references++;
}

void clfi_context_release(clf_context *context)
{
    if (--context->references == 0)
        context->life->end(context);
}

const char *clf_precision_name(clf_precision precision)
{
    static const char *const names[] = {"highest", "high", "medium"};
    return (unsigned)precision < COUNT(names) ? names[precision] : "?";
}

cl_context clf_context_opencl(const clf_context *context)
{
    return context ? context->opencl : NULL;
}

cl_command_queue clf_context_queue(const clf_context *context)
{
    return context ? context->queue : NULL;
}

clf_status clfi_context_check(const clf_context *context, const clf_context *maker, const char *what)
{
    if (!context || context->opencl != maker->opencl)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s%s", what, context ? " belongs to another context" : ": context is NULL");
    return CLF_OK;
}

clf_status clfi_context_interrupt(clf_context *context)
{
    return context->recording ? context->interrupt(context->recording) : CLF_OK;
}

cl_int clfi_context_finish_queue(const clf_context *context)
{
    const cl_int code = clFinish(context->queue);
    if (code != CL_SUCCESS)
        atomic_store(context->is_stuck, true);
    return code;
}

/* Whether an error code of any call on a queue says that the device was reset or is gone. */
static bool is_gone(cl_int code)
{
    return code == CL_DEVICE_NOT_AVAILABLE || code == CL_INVALID_COMMAND_QUEUE || code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

/* The same for a wait. From other calls OUT_OF_RESOURCES may only say that a launch is too large. */
static bool is_loss(cl_int code)
{
    return code == CL_OUT_OF_RESOURCES || is_gone(code);
}

static clf_status fail_call(const clf_context *context, const char *call, cl_int code, clf_status st)
{
    const clf_launch_budget *budget = &context->budget;
    char estimate[48] = "", advice[64] = "CLF_LAUNCH_MS sets a bound for launches";
    if (st != CLF_DEVICE_LOST || !budget->last_kernel)
        CLF_FAIL(st, "%s: %s (%d)", call, clfi_cl_name(code), code);
    if (budget->last_ns > 0)
        snprintf(estimate, sizeof estimate, ", %.3g ms by estimate", budget->last_ns / 1e6);
    if (budget->limit_ns > 0)
        snprintf(advice, sizeof advice, "CLF_LAUNCH_MS below %.3g makes launches shorter", budget->limit_ns / 1e6);
    CLF_FAIL(st, "%s: %s (%d): the last launch was %s%s (%s)", call, clfi_cl_name(code), code, budget->last_kernel, estimate, advice);
}

clf_status clfi_context_fail(const clf_context *context, cl_int code, clf_status status, const char *format, ...)
{
    char call[256];
    va_list args;
    va_start(args, format);
    vsnprintf(call, sizeof call, format, args);
    va_end(args);
    const bool is_lost = is_loss(clfi_context_finish_queue(context)) || is_gone(code);
    return fail_call(context, call, code, is_lost ? CLF_DEVICE_LOST : status);
}

bool clfi_context_recover(clf_context *context, clf_status *st)
{
    if (*st == CLF_OK)
        context->was_lost = false;
    if (*st != CLF_DEVICE_LOST || !context->recovers)
        return false;
    if (context->was_lost) { /* later work may try again */
        context->was_lost = false;
        return false;
    }
    char reason[CLFI_REASON_BYTES];
    clfi_reason_keep(reason);
    context->was_lost = true;
    *st = context->life->reopen(context);
    if (*st != CLF_OK)
        return false;
    clfi_reason_restore(reason);
    if (context->on_loss)
        context->on_loss(context->on_loss_user);
    else
        clfi_log(context, CLF_LOG_ERROR, "device lost: %s; it was opened again", clf_last_error());
    return true;
}

clf_status clfi_context_wait(clf_context *context)
{
    CLF_TRY(clfi_context_interrupt(context));
    const cl_int code = clfi_context_finish_queue(context);
    if (code != CL_SUCCESS)
        return fail_call(context, "clFinish", code, is_loss(code) ? CLF_DEVICE_LOST : CLF_DEVICE);
    if (context->is_lost && *context->is_lost)
        CLF_FAIL(CLF_DEVICE, "launch graph: %s does not run its work-groups at the same time (CLF_GRAPH=0 launches kernels one by one)",
                 context->device.info.name);
    return CLF_OK;
}

clf_status clf_context_finish(clf_context *context)
{
    if (!context)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "context finish: context is NULL");
    CLF_TRY(clfi_context_wait(context));
    context->life->finished(context);
    return CLF_OK;
}

void clfi_context_drain(clf_context *context)
{
    char reason[CLFI_REASON_BYTES]; /* the caller often frees memory because of a failure, whose message must stay */
    clfi_reason_keep(reason);
    if (clf_context_finish(context) != CLF_OK)
        clfi_log(context, CLF_LOG_ERROR, "%s", clf_last_error());
    clfi_reason_restore(reason);
}

const clf_device_info *clf_context_device(const clf_context *context)
{
    return context ? &context->device.info : NULL;
}

void clf_context_get_stats(const clf_context *context, clf_context_stats *out)
{
    if (out)
        *out = context ? context->stats : (clf_context_stats){0};
}
