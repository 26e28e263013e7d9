/* SPDX-License-Identifier: MIT */
/* clformer selftest: is this device's arithmetic right? Every op on every engine against double precision on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/selftest.h"

typedef struct selftest_row {
    const char *op;
    clf_status (*run)(selftest *test);
    const char *engines; /* names to force one after another, "a|b"; "" = the default only */
} selftest_row;

static const selftest_row rows[] = {
    {"gemm", selftest_gemm, "packed|gemv|clblast|tiled"},
    {"einsum", selftest_einsum, ""},
    {"permute", selftest_permute, ""},
    {"activation", selftest_activation, ""},
    {"layer_norm", selftest_layer_norm, "vector|group"},
    {"rms_norm", selftest_rms_norm, "vector|group"},
    {"l2_normalize", selftest_l2_normalize, "vector|group"},
    {"softmax", selftest_softmax, "vector|group|generic"},
    {"log_softmax", selftest_log_softmax, "vector|group"},
    {"attention", selftest_attention, "vector|group|generic"},
    {"scoring", selftest_scoring, ""},
    {"dropout", selftest_dropout, ""},
    {"cached_attention", selftest_cached_attention, "vector|group"},
    {"embedding", selftest_embedding, "vector|group"},
    {"pool", selftest_pool, "vector|group"},
    {"top_k", selftest_top_k, "vector|group"},
    {"encoder", selftest_encoder, ""},
    {"encoder_decoder", selftest_encoder_decoder, ""},
    {"beam_search", selftest_beam_search, ""},
};

/* One op on one engine ("" = the default one); prints its line and returns whether it failed. */
static bool run_row(const char *device, bool no_tuned, const selftest_row *row, const char *engine)
{
    selftest test = {.random = {1}};
    clf_context_params params = CLF_CONTEXT_PARAMS_INIT;
    char forced[96] = "";
    if (engine[0])
        snprintf(forced, sizeof forced, "%s=%s", row->op, engine);
    params.device = device;
    params.engines = engine[0] ? forced : NULL;
    params.tuned_file = no_tuned ? "" : NULL;
    clf_status st = clf_context_create(&params, &test.context);
    if (st == CLF_OK)
        st = row->run(&test);
    clf_context_destroy(test.context);
    const char *name = engine[0] ? engine : "default";
    if (st == CLF_UNSUPPORTED && engine[0]) {
        printf("  %-16s %-8s  n/a     %s\n", row->op, name, clf_last_error());
        return false;
    }
    if (st != CLF_OK) {
        printf("  %-16s %-8s  FAIL    %s\n", row->op, name, clf_last_error());
        return true;
    }
    printf("  %-16s %-8s  %s  worst error %.2e, bound %.2e\n", row->op, name, test.failed ? "FAIL  " : "pass  ", test.worst_error,
           test.worst_bound);
    return test.failed;
}

static bool run_device(const clf_device_info *device, bool no_tuned)
{
    char selector[32];
    bool failed = false;
    printf("%zu: %s (%s, %s)\n", device->index, device->name, device->platform_name, device->driver_version);
    if (!device->usable) {
        printf("  not usable: %s\n", device->reason);
        return false;
    }
    snprintf(selector, sizeof selector, "%zu", device->index);
    for (size_t i = 0; i < COUNT(rows); i++) {
        failed |= run_row(selector, no_tuned, &rows[i], "");
        char engines[64];
        snprintf(engines, sizeof engines, "%s", rows[i].engines);
        char *rest = NULL;
        for (char *engine = strtok_r(engines, "|", &rest); engine; engine = strtok_r(NULL, "|", &rest))
            failed |= run_row(selector, no_tuned, &rows[i], engine);
        fflush(stdout);
    }
    printf("  %s\n", failed ? "FAILED" : "all passed");
    return failed;
}

int cmd_selftest(const cli_command *self, int argc, char **argv)
{
    const char *device = NULL;
    int positional, no_tuned = 0;
    bool failed = false;
    size_t index = 0;
    const cli_option table[] = {
        {"device", 'd', "D", "a device as in clformer devices, or all (default: the default device)", CLI_TEXT, &device},
        {"no-tuned", 0, NULL, "ignore what clformer tune measured on this device", CLI_FLAG, &no_tuned},
    };
    clf_device_list *list = NULL;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional > 0)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "selftest: unexpected argument \"%s\"", argv[0]);
    if (st == CLF_OK)
        st = clf_device_list_create(&list);
    const bool all = device && strcmp(device, "all") == 0;
    if (st == CLF_OK && (!all || clf_device_list_count(list) == 0))
        st = clf_device_list_select(list, all ? NULL : device ? device : getenv("CLF_DEVICE"), &index);
    if (st == CLF_OK) {
        for (size_t i = 0; i < clf_device_list_count(list); i++)
            if (all || i == index)
                failed |= run_device(clf_device_list_get(list, i), no_tuned);
    }
    clf_device_list_destroy(list);
    return st != CLF_OK ? cli_fail(st) : failed;
}
