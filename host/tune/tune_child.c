/* SPDX-License-Identifier: MIT */
/* Asks a child process to describe a device or to measure a candidate. */
#include "tune/tune_child.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bench/worker.h"

/* Runs in the child: answers one request. Drivers may crash, so no core file is written. */
static void serve_one(int socket, const void *user)
{
    const clfi_patience for_ever = {0, NULL};
    json_t *request;
    (void)user;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    dup2(STDERR_FILENO, STDOUT_FILENO); /* keeps output of drivers apart from results */
    if (clfi_message_receive(socket, &for_ever, &request) == CLFI_MESSAGE_OK) {
        json_t *reply = json_object();
        const clf_status st = clfi_tune_serve(request, reply);
        json_decref(request);
        json_object_set_new(reply, "status", json_integer(st));
        json_object_set_new(reply, "reason", json_string(st == CLF_OK ? "" : clf_last_error()));
        clfi_message_send(socket, reply);
    }
}

/* Sends the request to a new child and returns its reply. Releases the request, also on failure. */
static clf_status ask(json_t *request, const clfi_patience *patience, json_t **out)
{
    clfi_child worker = CLFI_CHILD_INIT;
    if (!request)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "request to the process of the device: not enough memory");
    const clf_status st = clfi_child_fork(serve_one, NULL, &worker);
    if (st != CLF_OK) {
        json_decref(request);
        return st;
    }
    const clf_status answer = clfi_worker_ask(&worker, request, patience, out);
    clfi_child_stop(&worker);
    return answer;
}

static clf_status read_device(const json_t *reply, clfi_tune_device *device)
{
    const char *name, *platform, *driver;
    const json_t *tiles = json_object_get(reply, "standard");
    json_int_t units;
    char *copy;
    if (json_unpack((json_t *)reply, "{s:s, s:s, s:s, s:I}", "name", &name, "platform", &platform, "driver", &driver, "compute_units",
                    &units) != 0)
        CLF_FAIL(CLF_INTERNAL, "the answer of the process that describes the device lacks its name, platform, driver or compute units");
    device->info.compute_units = (uint32_t)units;
    device->is_cpu = json_is_true(json_object_get(reply, "is_cpu"));
    for (size_t e = 0; e < json_array_size(tiles) && e < COUNT(device->standard); e++)
        for (size_t i = 0; i < CLFI_TILE_PARAMETERS; i++)
            device->standard[e].value[i] = (int)json_integer_value(json_array_get(json_array_get(tiles, e), i));
    CLF_TRY(clfi_strdup(name, &copy));
    device->info.name = copy;
    CLF_TRY(clfi_strdup(platform, &copy));
    device->info.platform_name = copy;
    CLF_TRY(clfi_strdup(driver, &copy));
    device->info.driver_version = copy;
    return CLF_OK;
}

clf_status clfi_tune_describe(const char *selector, const clfi_patience *patience, clfi_tune_device *out)
{
    json_t *reply = NULL;
    clfi_tune_device device = {.is_cpu = false};
    CLF_TRY(ask(json_pack("{s:s, s:s?}", "do", "describe", "device", selector), patience, &reply));
    const clf_status st = read_device(reply, &device);
    json_decref(reply);
    if (st != CLF_OK) {
        clfi_tune_device_free(&device);
        return st;
    }
    *out = device;
    return CLF_OK;
}

void clfi_tune_device_free(clfi_tune_device *device)
{
    free((void *)device->info.name);
    free((void *)device->info.platform_name);
    free((void *)device->info.driver_version);
    *device = (clfi_tune_device){.is_cpu = false};
}

static json_t *products_json(const clfi_tune_products *products)
{
    json_t *list = json_array();
    for (size_t i = 0; i < products->count; i++) {
        const clfi_tune_product *p = &products->items[i];
        json_array_append_new(
            list, json_pack("[i, I, I, I, I]", (int)p->kind, (json_int_t)p->batch, (json_int_t)p->m, (json_int_t)p->n, (json_int_t)p->k));
    }
    return list;
}

static clf_status read_timings(const json_t *reply, size_t count, clfi_tune_timing *timing)
{
    const json_t *list = json_object_get(reply, "timings");
    if (json_array_size(list) != count)
        CLF_FAIL(CLF_INTERNAL, "the process that measures a candidate: expected %zu timings, found %zu", count, json_array_size(list));
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(list, i);
        const char *engine = json_string_value(json_object_get(one, "engine"));
        timing[i] = (clfi_tune_timing){NAN, NAN, ""};
        if (!engine)
            continue;
        timing[i].ratio = json_number_value(json_object_get(one, "ratio"));
        timing[i].ns = json_number_value(json_object_get(one, "ns"));
        snprintf(timing[i].engine, sizeof timing[i].engine, "%s", engine);
    }
    return CLF_OK;
}

void clfi_tune_measure(const clfi_tune_conditions *c, clfi_tune_candidate *candidate)
{
    json_t *reply = NULL;
    json_t *request = json_pack("{s:s, s:s?, s:i, s:s, s:s, s:s, s:f, s:o}", "do", "measure", "device", c->selector, "precision",
                                (int)c->precision, "engines", candidate->engines, "tuned", c->tuned_file, "reference", c->reference_engines,
                                "product_ns", c->product_ns, "products", products_json(c->products));
    clf_status st = ask(request, &c->patience, &reply);
    if (st == CLF_OK)
        st = read_timings(reply, c->products->count, candidate->timing);
    json_decref(reply);
    candidate->status = st;
    snprintf(candidate->reason, sizeof candidate->reason, "%s", st == CLF_OK ? "" : clf_last_error());
}
