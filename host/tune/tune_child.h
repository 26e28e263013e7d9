/* SPDX-License-Identifier: MIT */
/* Describes the device or measures one candidate for the tuner, in a child process that may crash or hang. */
#ifndef CLFI_TUNE_TUNE_CHILD_H
#define CLFI_TUNE_TUNE_CHILD_H

#include <jansson.h>

#include "bench/message.h"
#include "clformer/device.h"
#include "tune/tune_candidate.h"

/* Facts about the device that the tuner needs before it begins. */
typedef struct clfi_tune_device {
    clf_device_info info; /* only name, platform_name, driver_version (owned) and compute_units are set */
    bool is_cpu;
    clf_tile standard[16]; /* the engines' standard tiles, by row of clfi_engine_tables[CLF_OP_GEMM] */
} clfi_tune_device;

/* Describes a device, in a child process. NOT_FOUND, UNSUPPORTED: no such device. DEVICE: the driver failed, crashed or was too slow. */
clf_status clfi_tune_describe(const char *selector, const clfi_patience *patience, clfi_tune_device *out);
void clfi_tune_device_free(clfi_tune_device *device);

/* How a candidate is measured. */
typedef struct clfi_tune_conditions {
    const char *selector;          /* the device; NULL: the default */
    const char *tuned_file;        /* file of the choices that the candidate's context uses; "": none */
    clf_precision precision;       /* that both contexts ask for */
    const char *reference_engines; /* engines of the reference, as CLF_ENGINE takes them */
    const clfi_tune_products *products;
    double product_ns;      /* least time on one product; more if it is slow or its times scatter */
    clfi_patience patience; /* for all products together */
} clfi_tune_conditions;

/* Measures candidate->engines on every product, in a child process, and fills its status, reason and timing. Does not fail: a candidate
 * that cannot be measured gets the failure as its status. */
void clfi_tune_measure(const clfi_tune_conditions *conditions, clfi_tune_candidate *candidate);

/* Runs in the child for both functions: carries out one request and fills the reply. */
clf_status clfi_tune_serve(const json_t *request, json_t *reply);

#endif
