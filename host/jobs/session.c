/* SPDX-License-Identifier: MIT */
/* Opens the device and the model of a command, and prints its statistics. */
#include "jobs/session.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "clformer/classify.h"
#include "console/progress.h"
#include "jobs/device_listing.h"
#include "jobs/model_hash.h"
#include "jobs/model_notes.h"
#include "jobs/platform_guard.h"
#include "jobs/precision_hint.h"
#include "model/memory_plan.h"
#include "model/session.h"
#include "op/engines.h"
#include "op/left_out.h"
#include "process/resident.h"
#include "runtime/context.h"
#include "runtime/profile.h"

/* Called after a lost device has been opened again; the last error is that of the loss. */
static void say_loss(void *user)
{
    (void)user;
    cli_line_end();
    fprintf(stderr, "clformer: device lost: %s; it was opened again, and the lost work is repeated\n", clf_last_error());
}

clf_status cli_session_open(cli_session *session)
{
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    params.device = session->device;
    params.engines = session->engines;
    params.tuned_file = session->no_tuned ? "" : NULL;
    params.precision = (clf_precision)session->precision;
    params.profile = session->stats || session->trace;
    params.recovers = 1;
    session->start_ns = clfi_now_ns();
    CLF_TRY(cli_background_enter(session->background));
    cli_interrupts_watch();
    CLF_TRY(cli_platforms_enter());
    const clf_status st = clf_context_create(&params, &session->context);
    cli_platforms_leave();
    const char *several = NULL;
    if (st == CLF_NOT_FOUND)
        CLF_TRY(cli_devices_asked(session->device, &several));
    if (several)
        return clfi_fail_prefix(st, "only embed, search, rerank and serve use several devices");
    CLF_TRY(st);
    CLF_TRY(clfi_engines_check(session->context));
    session->context->on_loss = say_loss;
    cli_precision_hint(session->context);
    cli_progress_watch_builds(session->context);
    return CLF_OK;
}

clf_status cli_session_refuse_options(const cli_session *session, const char *what, const char *needed)
{
    const char *given = session->device                               ? "device"
                        : session->background                         ? "background"
                        : session->engines                            ? "engine"
                        : session->no_tuned                           ? "no-tuned"
                        : session->precision != CLF_PRECISION_HIGHEST ? "precision"
                        : session->stats                              ? "stats"
                        : session->trace                              ? "trace"
                                                                      : NULL;
    if (given)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "%s: --%s needs %s", what, given, needed);
    return CLF_OK;
}

clf_model_params cli_session_model_params(const cli_session *session)
{
    clf_model_params params = CLF_MODEL_PARAMS_INIT;
    params.weights = (clf_storage)session->weights;
    params.cache = (clf_storage)session->cache;
    params.sequences = session->sequences;
    return params;
}

static void close_models(cli_session *session)
{
    if (session->scoring != session->work)
        clf_session_destroy(session->scoring);
    clf_session_destroy(session->work);
    clf_model_destroy(session->model);
    clf_model_destroy(session->reranker);
    session->work = session->scoring = NULL;
    session->model = session->reranker = NULL;
}

typedef clf_status (*open_function)(clf_context *context, const char *directory, const clf_model_params *params, clf_model **out);

static clf_status open_models(cli_session *session, const char *directory, open_function open_one)
{
    if (!session->context)
        CLF_TRY(cli_session_open(session));
    close_models(session);
    const uint64_t start = clfi_now_ns();
    const clf_model_params params = cli_session_model_params(session);
    CLF_TRY(open_one(session->context, directory, &params, &session->model));
    if (!session->has_notes)
        cli_model_notes(session->model, directory, cli_note_print, NULL);
    session->has_notes = true;
    if (session->reranker_directory)
        CLF_TRY(open_one(session->context, session->reranker_directory, &params, &session->reranker));
    const size_t labels = session->reranker_directory ? clf_model_label_count(session->reranker) : 1;
    if (labels != 1)
        CLF_FAIL(CLF_UNSUPPORTED, "--rerank %s: the model's head has %zu labels: expected 1", session->reranker_directory, labels);
    if (session->model->has_weights) {
        CLF_TRY(clf_session_create(session->model, NULL, &session->work));
        session->scoring = session->work;
    }
    if (session->work && session->reranker)
        CLF_TRY(clf_session_create(session->reranker, NULL, &session->scoring));
    const uint64_t end = clfi_now_ns();
    session->load_ns += end - start;
    clfi_profile_phase(session->context, "load model", start, end);
    return CLF_OK;
}

/* A file that cannot be read is reported later, by the function that opens it. */
void cli_session_note_model(cli_session *session, const char *directory)
{
    if (cli_model_stamp(directory, session->model_stamp) != CLF_OK)
        session->model_stamp[0] = '\0';
}

clf_status cli_session_check_model(const cli_session *session, const char *directory)
{
    char stamp[CLFI_HASH_TEXT_BYTES];
    if (!session->model_stamp[0])
        return CLF_OK;
    CLF_TRY(cli_model_stamp(directory, stamp));
    if (strcmp(stamp, session->model_stamp) != 0)
        CLF_FAIL(CLF_IO, "%s: a file of the model was changed since it was opened: start again", directory);
    return CLF_OK;
}

clf_status cli_session_open_model(cli_session *session, const char *directory)
{
    return open_models(session, directory, clf_model_open);
}

clf_status cli_session_describe_model(cli_session *session, const char *directory, const char *linear_engine)
{
    CLF_TRY(open_models(session, directory, clfi_model_describe));
    session->model->info.linear_engine = linear_engine;
    return CLF_OK;
}

clf_model *cli_session_scorer(const cli_session *session)
{
    return session->reranker ? session->reranker : session->model;
}

void cli_precisions_text(unsigned precisions, char *out, size_t size)
{
    snprintf(out, size, "none");
    for (size_t used = 0, i = 0; precisions >> i && used < size; i++)
        if (precisions >> i & 1)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", clf_precision_name((clf_precision)i));
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

/* Prints the engines that this context does without. */
static void print_left_out(const clf_context *context)
{
    for (const char *line = clfi_engines_left_out(context); *line; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "left out        %.*s\n", (int)strcspn(line, "\n"), line);
}

/* Prints how accurate the engines are that may have computed products at these precisions. */
static void print_accuracies(const clf_context *context, unsigned precisions)
{
    for (size_t op = 0; op < CLF_OP_COUNT; op++) {
        const clf_engine_table *table = &clfi_engine_tables[op];
        for (size_t i = 0; i < table->count; i++) {
            const clf_engine *engine = &table->engines[i];
            if (engine->accuracy && precisions >> engine->precision & 1 && clfi_engine_is_for(engine, &context->device.caps))
                fprintf(stderr, "accuracy        %s engine %s, against highest: %s\n", table->op, engine->name, engine->accuracy);
        }
    }
}

/* embed: totals of the calls, also of the processes of several devices, of which nothing else is known. NULL: none. */
static void print_stats(const cli_session *session, bool has_processes, const clf_embed_stats *embed)
{
    clf_context_stats s;
    clf_context_get_stats(session->context, &s);
    const clf_device_info *device = clf_context_device(session->context);
    fprintf(stderr, "device          %s (%s)\n", device->name, device->platform_name);
    if (has_processes)
        fprintf(stderr, "processes       one for each device; their programs, transfers, memory and kernels are not counted here\n");
    if (session->model)
        fprintf(stderr, "load            %.1f ms (engine %s%s%s%s)\n", ms(session->load_ns),
                clf_model_get_info(session->model)->linear_engine, session->weights == CLF_STORAGE_F16 ? ", weights f16" : "",
                session->cache ? ", cache " : "", session->cache ? clfi_cache_storage((clf_storage)session->cache)->name : "");
    fprintf(stderr, "build           %.1f ms (%llu %s built), %.1f ms (%llu from the cache)\n", ms(s.build_ns),
            (unsigned long long)s.programs_built, clfi_plural(s.programs_built, "program", "programs"), ms(s.cache_load_ns),
            (unsigned long long)s.programs_from_cache);
    print_left_out(session->context);
    if (embed) {
        const double seconds = (double)(embed->tokenize_ns + embed->run_ns) / 1e9;
        fprintf(stderr, "tokenize        %.1f ms\n", ms(embed->tokenize_ns));
        fprintf(stderr, "run             %.1f ms (%zu %s, %zu %s, %zu %s, %zu truncated)\n", ms(embed->run_ns), embed->texts,
                clfi_plural(embed->texts, "text", "texts"), embed->tokens, clfi_plural(embed->tokens, "token", "tokens"), embed->batches,
                clfi_plural(embed->batches, "batch", "batches"), embed->truncated);
        fprintf(stderr, "throughput      %.1f texts/s, %.0f tokens/s\n", (double)embed->texts / seconds, (double)embed->tokens / seconds);
    }
    char precisions[64];
    s.product_precisions |= session->product_precisions;
    cli_precisions_text(s.product_precisions, precisions, sizeof precisions);
    fprintf(stderr, "precision       %s (asked for: %s)\n", precisions, clf_precision_name((clf_precision)session->precision));
    print_accuracies(session->context, s.product_precisions);
    fprintf(stderr, "upload          %.1f ms (%.2f MB)\n", ms(s.upload_ns), (double)s.upload_bytes / 1e6);
    fprintf(stderr, "read back       %.1f ms (%.2f MB)\n", ms(s.readback_ns), (double)s.readback_bytes / 1e6);
    fprintf(stderr, "device memory   %.1f MB at its peak, %.1f MB of host memory used in place\n", (double)s.peak_device_bytes / 1e6,
            (double)s.mapped_bytes / 1e6);
    fprintf(stderr, "host memory     %.1f MB resident at its peak\n", (double)clfi_resident_peak_bytes() / 1e6);
    if (s.longest_estimate_ns)
        fprintf(stderr, "longest launch  %.2f ms by estimate, at most %g ms\n", ms(s.longest_estimate_ns),
                session->context->budget.limit_ns / 1e6);
    if (s.longest_launch_ns)
        fprintf(stderr, "longest launch  %.2f ms as measured\n", ms(s.longest_launch_ns));
    fprintf(stderr, "total           %.1f ms\n", ms(clfi_now_ns() - session->start_ns));
    const size_t kernels = clf_context_kernel_count(session->context);
    for (size_t i = 0; i < kernels; i++) {
        clf_kernel_stats kernel;
        if (clf_context_kernel_get(session->context, i, &kernel) == CLF_OK)
            fprintf(stderr, "kernel          %-28s %6llu launches %10.2f ms %5.1f %%\n", kernel.kernel, (unsigned long long)kernel.launches,
                    ms(kernel.total_ns), s.kernel_ns ? 100.0 * (double)kernel.total_ns / (double)s.kernel_ns : 0.0);
    }
}

clf_status cli_session_close(cli_session *session, const clf_embed_stats *embed)
{
    clf_status st = CLF_OK;
    const bool has_processes = session->pool != NULL;
    cli_line_clear();
    if (session->stop_pool)
        session->stop_pool(session->pool);
    session->stop_pool = NULL;
    session->pool = NULL;
    if (session->context && session->trace)
        st = clf_context_write_trace(session->context, session->trace);
    if (session->context && session->stats && clf_context_finish(session->context) == CLF_OK)
        print_stats(session, has_processes, embed);
    close_models(session);
    clf_context_destroy(session->context);
    session->context = NULL;
    return st;
}
