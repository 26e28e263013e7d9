/* SPDX-License-Identifier: MIT */
/* Modules after the pooling of a sentence-transformers directory, in double: Dense, LayerNorm, Normalize. */
#ifndef CLFI_WORKLOAD_REFERENCE_SENTENCE_H
#define CLFI_WORKLOAD_REFERENCE_SENTENCE_H

#include "clformer/activation.h"
#include "model/sentence_config.h"
#include "workload/reference_transformer.h"

typedef struct clfi_ref_module {
    clf_module_kind kind;
    clf_activation activation;
    bool has_residual;
    size_t width;                             /* of the output */
    double *weight, *bias, *residual; /* [width, in], [width], [width, in]; of a LayerNorm weight and bias [in] each; NULL: none */
} clfi_ref_module;

/* Reads a module of a directory; *width: size of its input, which becomes the size of its output. The caller closes *out, also after a
 * failure. NOT_FOUND, FORMAT: a file, or a tensor in it. */
clf_status clfi_ref_module_open(const char *directory, const clf_sentence_module *module, size_t *width, clfi_ref_module *out);
void clfi_ref_module_close(clfi_ref_module *module); /* a zeroed one is accepted */

/* y [module->width] from x [width]; noise NULL: exact. */
void clfi_ref_module_run(const clfi_ref_module *module, const double *x, size_t width, clfi_ref_noise *noise, double *y);

#endif
