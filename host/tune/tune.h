/* SPDX-License-Identifier: MIT */
/* Tuning: which engine with which tile, and which of CLBlast's parameters, make a model's matrix products fastest.
 *
 * Every candidate runs in a process of its own, beside the untuned choice in the same process, turn by turn, so that what disturbs one
 * disturbs the other; its numbers are checked against float64 first. The calling process must not have used OpenCL (it forks). */
#ifndef CLFI_TUNE_TUNE_H
#define CLFI_TUNE_TUNE_H

#include <signal.h>

#include "clformer/device.h"
#include "tune/tune_candidate.h"

/* The products of the model in a directory (of which config.json is read) or a GGUF file, of any family, or of the built-in one with NULL.
 * They are each projection of a layer at several numbers of rows, and the two products of attention. NOT_FOUND, FORMAT, IO, UNSUPPORTED as
 * for opening a model. */
clf_status clfi_tune_model_products(const char *model_dir, clfi_tune_products *out);

typedef struct clfi_tune_params {
    const char *device;               /* selector; NULL: the default */
    clf_precision precision;          /* that the choices are for */
    const char *kept_file;            /* choices of before, tried like others; NULL: none */
    /* after that no new candidate begins; the engines as they are and the choices of before come first, for less where it is short */
    double minutes;
    double candidate_seconds;         /* a candidate that takes longer is ended and lost */
    const volatile sig_atomic_t *stop; /* nonzero: give up; NULL: never */
    void (*say)(void *user, const clfi_tune_candidate *candidate, const clfi_tune_products *products); /* after each candidate; or NULL */
    void *user;
} clfi_tune_params;

/* The result. Start from zeros, release with clfi_tune_report_free. */
typedef struct clfi_tune_report {
    clf_device_info device; /* name, platform_name and driver_version alone; owned */
    size_t compared, lost;
    double noise; /* the largest factor by which measurements of one and the same choice differ */
    clf_tuning tuning;                                  /* one rule per product */
    clfi_tune_timing before[CLFI_TUNE_MAX_PRODUCTS];    /* the untuned choice */
    clfi_tune_timing after[CLFI_TUNE_MAX_PRODUCTS];     /* what was chosen, measured again with the whole set of choices in use */
} clfi_tune_report;

/* NOT_FOUND, UNSUPPORTED: no such device. DEVICE: the untuned choice itself crashed, hung, or gave wrong numbers. */
clf_status clfi_tune(const clfi_tune_params *params, const clfi_tune_products *products, clfi_tune_report *out);
void clfi_tune_report_free(clfi_tune_report *report);

#endif
