/* SPDX-License-Identifier: MIT */
/* clformer tune: measures which engines make a model's matrix products fastest on a device and keeps the choice for this user. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/str.h"
#include "cli/commands.h"
#include "jobs/platform_guard.h"
#include "console/background.h"
#include "console/progress.h"
#include "op/tuned_file.h"
#include "tune/tune.h"

static const double DEFAULT_MINUTES = 10, DEFAULT_LIMIT_SECONDS = 60, MOST_MINUTES = 1e5, NOISY = 1.1;

static volatile sig_atomic_t stop; /* number of the signal that interrupted the run; 0: none */

/* Geometric mean of the ratios of the products that a candidate applies to; NaN: it applies to none. *out_count: number of these. */
static double mean_ratio(const clfi_tune_candidate *candidate, size_t products, size_t *out_count)
{
    double sum = 0;
    *out_count = 0;
    for (size_t p = 0; p < products; p++) {
        if (isnan(candidate->timing[p].ratio))
            continue;
        sum += log(candidate->timing[p].ratio);
        ++*out_count;
    }
    return *out_count ? exp(sum / (double)*out_count) : NAN;
}

static void print_clblast(const clf_clblast_parameters *parameters, FILE *stream)
{
    for (int k = 0; k < CLFI_CLBLAST_KERNELS; k++) {
        if (!parameters->is_set[k])
            continue;
        fprintf(stream, " %s", clfi_clblast_kernels[k].name);
        for (size_t i = 0; i < clfi_clblast_kernels[k].count; i++)
            fprintf(stream, "%s%s=%zu", i ? "," : " ", clfi_clblast_kernels[k].parameters[i], parameters->value[k][i]);
    }
}

static void say(void *user, const clfi_tune_candidate *candidate, const clfi_tune_products *products)
{
    size_t *number = user, count;
    if (candidate->status == CLF_UNSUPPORTED)
        return;
    ++*number;
    fprintf(stderr, "%3zu  %s", *number, candidate->engines[0] ? candidate->engines : *number == 1 ? "untuned" : "chosen");
    print_clblast(&candidate->clblast, stderr);
    const double ratio = mean_ratio(candidate, products->count, &count);
    if (candidate->status != CLF_OK)
        fprintf(stderr, "  LOST: %s\n", candidate->reason);
    else if (count == 0)
        fprintf(stderr, "  does not apply\n");
    else
        fprintf(stderr, "  %zu product%s, %.3f x the reference's time\n", count, clfi_plural(count, "", "s"), ratio);
}

static clf_status print_rule(const clfi_tune_product *product, const clf_gemm_rule *rule, const clfi_tune_timing *before,
                             const clfi_tune_timing *after)
{
    char text[CLFI_TUNE_PRODUCT_BYTES];
    clf_str choice = CLF_STR_INIT;
    clf_status st = CLF_OK;
    if (rule->engine)
        st = clfi_engine_choice_text(rule->engine, &rule->tile, &choice);
    if (st == CLF_OK)
        printf("%-36s %-12s %10.1f µs %8.3f x  %s\n", clfi_tune_product_text(product, text), before->engine, after->ns / 1e3, after->ratio,
               rule->engine ? clfi_str_text(&choice) : "as untuned");
    clfi_str_free(&choice);
    return st;
}

static clf_status print_report(const clfi_tune_products *products, clf_precision precision, const clfi_tune_report *report)
{
    double sum = 0;
    printf("%s (%s), driver %s, precision %s\n", report->device.name, report->device.platform_name, report->device.driver_version,
           clf_precision_name(precision));
    printf("%-36s %-12s %13s %10s  %s\n", "product", "untuned", "time", "ratio", "choice");
    for (size_t p = 0; p < products->count; p++) {
        CLF_TRY(print_rule(&products->items[p], &report->tuning.rules[p], &report->before[p], &report->after[p]));
        sum += log(report->after[p].ratio);
    }
    if (clfi_clblast_is_any(&report->tuning.clblast)) {
        printf("CLBlast's parameters:");
        print_clblast(&report->tuning.clblast, stdout);
        putchar('\n');
    }
    printf("tuned / untuned time, geometric mean: %.3f; %zu candidate%s compared, %zu lost\n", exp(sum / (double)products->count),
           report->compared, clfi_plural(report->compared, "", "s"), report->lost);
    if (report->noise > NOISY)
        printf(
            "repeated measurements of an engine differ by up to %.0f %%, so smaller gains were ignored (tune while the machine is idle)\n",
            100 * (report->noise - 1));
    return CLF_OK;
}

/* Adds the file's choices for other products and precisions to the new ones. A broken entry is dropped, since contexts ignore it too. */
static clf_status keep_others(const char *path, clfi_tune_report *report, size_t *out_dropped)
{
    clf_tuning old;
    CLF_TRY(clfi_tuning_read(path, &report->device, &old));
    const clf_status st = clfi_tuning_keep_others(&report->tuning, &old, out_dropped);
    clfi_tuning_clear(&old);
    return st;
}

static clf_status store_entry(const char *path, const char *model_dir, const clfi_tune_report *report)
{
    json_t *entry;
    char text[32];
    const time_t now = time(NULL);
    struct tm utc;
    CLF_TRY(clfi_tuning_entry(&report->device, &report->tuning, &entry));
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc))
        json_object_set_new(entry, "created", json_string(text));
    json_object_set_new(entry, "model", json_string(model_dir ? model_dir : "built-in"));
    const clf_status st = clfi_tuned_file_store(path, &report->device, entry);
    json_decref(entry);
    return st;
}

static clf_status store(const char *path, const char *model_dir, clfi_tune_report *report)
{
    size_t dropped;
    const int lock = clfi_tuned_file_lock(path);
    clf_status st = keep_others(path, report, &dropped);
    if (st == CLF_OK)
        st = store_entry(path, model_dir, report);
    clfi_tuned_file_unlock(lock);
    CLF_TRY(st);
    printf("kept in %s\n", path);
    if (dropped)
        printf("%zu %s of CLBlast for other products %s removed: other parameters of CLBlast were in use when they were measured\n",
               dropped, clfi_plural(dropped, "choice", "choices"), clfi_plural(dropped, "is", "are"));
    return CLF_OK;
}

/* Checks before the work that the file of choices can be read. */
static clf_status check_file(const char *path)
{
    const clf_device_info nobody = {.name = "", .platform_name = "", .driver_version = ""};
    json_t *entry = NULL;
    const clf_status st = clfi_tuned_file_find(path, &nobody, NULL, &entry);
    json_decref(entry);
    return st == CLF_OK ? CLF_OK : clfi_fail_prefix(st, "remove this file to start over");
}

static clf_status tune(const char *model_dir, clfi_tune_params *params, const char *path)
{
    clfi_tune_products products;
    clfi_tune_report report = {.compared = 0};
    size_t number = 0;
    params->kept_file = path;
    params->say = say;
    params->user = &number;
    params->stop = &stop;
    CLF_TRY(check_file(path));
    CLF_TRY(clfi_tune_model_products(model_dir, &products));
    CLF_TRY(clfi_tune(params, &products, &report));
    clf_status st = print_report(&products, params->precision, &report);
    if (st == CLF_OK)
        st = store(path, model_dir, &report);
    clfi_tune_report_free(&report);
    return st;
}

int cmd_tune(const cli_command *self, int argc, char **argv)
{
    const char *model_dir = NULL;
    char *path = NULL;
    int positional, background = 0, precision = CLF_PRECISION_HIGHEST, status = EXIT_SUCCESS;
    clfi_tune_params params = {.minutes = DEFAULT_MINUTES, .candidate_seconds = DEFAULT_LIMIT_SECONDS};
    const cli_option table[] = {
        {"device", 'd', "D", "index, platform:device, part of a name, cpu or gpu (see clformer devices)", CLI_TEXT, &params.device},
        CLI_BACKGROUND_OPTION(background),
        {"model", 0, "MODEL_DIR", "tune for the products of this model (default: the built-in model)", CLI_INPUT, &model_dir},
        {"precision", 0, "highest|high|medium", "precision of the products to tune for; choices for other precisions and models stay",
         CLI_CHOICE, &precision},
        {"minutes", 0, "M",
         "start no new candidate after this time (default: 10); the untuned engines and earlier choices are always measured first",
         CLI_NUMBER, &params.minutes},
        {"limit", 0, "SECONDS", "end a candidate that takes longer and count it as lost (default: 60)", CLI_NUMBER,
         &params.candidate_seconds},
    };
    cli_interrupts_stop(&stop);
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    params.precision = (clf_precision)precision;
    if (st == CLF_OK && positional > 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "tune: unexpected argument \"%s\"", argv[0]);
    if (st == CLF_OK && (params.minutes < 0 || params.minutes > MOST_MINUTES))
        st = clfi_fail(CLF_INVALID_ARGUMENT, "tune: --minutes: expected 0 to %g, found %g", MOST_MINUTES, params.minutes);
    if (st == CLF_OK && params.candidate_seconds <= 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "tune: --limit: expected more than 0 seconds, found %g", params.candidate_seconds);
    if (st == CLF_OK)
        st = cli_background_enter(background);
    if (st == CLF_OK)
        st = clfi_tuned_path(&path);
    if (st == CLF_OK)
        st = cli_platforms_leave_out(true, NULL);
    if (st == CLF_OK)
        st = tune(model_dir, &params, path);
    if (st != CLF_OK && stop && path) {
        cli_interrupts_clear();
        fprintf(stderr, "clformer: tune: interrupted; nothing was kept, %s is as it was\n", path);
        status = 128 + stop;
    } else if (st != CLF_OK) {
        status = cli_fail(st);
    }
    free(path);
    return status;
}
