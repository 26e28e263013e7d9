/* SPDX-License-Identifier: MIT */
/* The process that measures one candidate of the tuner, and what it is asked. */
#ifndef CLFI_TUNE_TUNE_CHILD_H
#define CLFI_TUNE_TUNE_CHILD_H

#include <jansson.h>

#include "bench/message.h"
#include "clformer/device.h"
#include "tune/tune_candidate.h"

/* Facts about the device that the tuner needs before it begins. */
typedef struct clfi_tune_device {
    clf_device_info info; /* name, platform_name and driver_version alone; owned */
    bool is_cpu;
    clf_tile standard[16]; /* the engines' own tiles, by row of clfi_gemm_engines */
} clfi_tune_device;

/* Asked in a process of its own. NOT_FOUND, UNSUPPORTED, DEVICE. */
clf_status clfi_tune_describe(const char *selector, const clfi_patience *patience, clfi_tune_device *out);
void clfi_tune_device_free(clfi_tune_device *device);

/* How a candidate is measured. */
typedef struct clfi_tune_conditions {
    const char *selector;          /* the device; NULL: the default */
    const char *tuned_file;        /* the choices in use; "": none */
    clf_precision precision;       /* that both contexts ask for */
    const char *reference_engines; /* what runs in turn with it */
    const clfi_tune_products *products;
    double product_ns; /* least time on one product; four times as long where times scatter */
    clfi_patience patience;
} clfi_tune_conditions;

/* Measures candidate->engines on every product, in a process of its own; fills its status, reason and timing. Never fails: a candidate that
 * cannot be measured is lost. */
void clfi_tune_measure(const clfi_tune_conditions *conditions, clfi_tune_candidate *candidate);

/* The child's side of both: answers one request. */
clf_status clfi_tune_serve(const json_t *request, json_t *reply);

#endif
