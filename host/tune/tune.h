/* SPDX-License-Identifier: MIT */
/* Tunes a device: finds which engine with which tile, and which of CLBlast's parameters, make a model's matrix products fastest.
 *
 * Every candidate runs in a process of its own, alternately with a reference in the same process, so that disturbances affect both. Its
 * results are checked against float64 first. The calling process must not have used OpenCL (it forks). */
#ifndef CLFI_TUNE_TUNE_H
#define CLFI_TUNE_TUNE_H

#include <signal.h>

#include "clformer/device.h"
#include "tune/tune_candidate.h"

/* Lists the matrix products of a model of any family: a directory with config.json, a GGUF file, or with NULL the built-in model. They are
 * each projection of a layer at several numbers of rows, and the products of attention. NOT_FOUND, FORMAT, IO, UNSUPPORTED as for opening a
 * model. */
clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out);

typedef struct clfi_tune_params {
    const char *device;      /* selector; NULL: the default */
    clf_precision precision; /* that contexts will ask for when they use the choices */
    const char *kept_file;   /* file with earlier choices, which are measured again; NULL: none */
    /* Then the search ends. Engines with standard tiles and earlier choices are measured in any case, for less time if there is little. */
    double minutes;
    double candidate_seconds;          /* a candidate that takes longer is ended and lost */
    const volatile sig_atomic_t *stop; /* nonzero: clfi_tune ends with DEVICE; NULL: never */
    void (*say)(void *user, const clfi_tune_candidate *candidate, const clfi_tune_products *products); /* after each candidate; or NULL */
    void *user;
} clfi_tune_params;

/* The result. Start from zeros, release with clfi_tune_report_free. */
typedef struct clfi_tune_report {
    clf_device_info device; /* only name, platform_name, driver_version (owned) and compute_units are set */
    size_t compared, lost;  /* candidates that were measured; candidates that failed although the device supports them */
    double noise;           /* the largest factor by which measurements of the same choice differ */
    clf_tuning tuning;      /* one rule per product */
    clfi_tune_timing before[CLFI_TUNE_MAX_PRODUCTS]; /* the untuned choice */
    clfi_tune_timing after[CLFI_TUNE_MAX_PRODUCTS];  /* the choice, measured with all choices in use; ratio: to the untuned choice */
} clfi_tune_report;

/* Tunes the device for the products. NOT_FOUND, UNSUPPORTED: no such device. DEVICE: the untuned choice itself crashed, hung, or gave wrong
 * numbers, or `stop` was set. FORMAT, IO: kept_file cannot be read, or the temporary file of choices fails. OUT_OF_MEMORY. */
clf_status clfi_tune(const clfi_tune_params *params, const clfi_tune_products *products, clfi_tune_report *out);
void clfi_tune_report_free(clfi_tune_report *report);

#endif
