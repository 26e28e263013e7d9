/* SPDX-License-Identifier: MIT */
/* Choices measured on a device (clformer tune, op/first_use.h): which engine with which tile runs a matrix product, and CLBlast's own
 * parameters.
 *
 * A context reads the file that its parameters name once, at the first choice of an engine. The file is a hint from outside: what is wrong
 * in it is logged and ignored, and so is what was measured with another driver. */
#ifndef CLFI_OP_TUNED_H
#define CLFI_OP_TUNED_H

#include <jansson.h>

#include "kernel/gemm_clblast.h"
#include "op/gemm.h"

/* Products that are measured apart: with a constant weight; of two tensors; of two tensors whose batches lie element by element. */
typedef enum clf_gemm_kind { CLF_GEMM_LINEAR, CLF_GEMM_PRODUCT, CLF_GEMM_INTERLEAVED, CLF_GEMM_KIND_COUNT } clf_gemm_kind;
extern const char *const clfi_gemm_kind_names[CLF_GEMM_KIND_COUNT];
clf_gemm_kind clfi_gemm_kind_of(const clf_gemm_args *args);

/* The choice for one measured product. */
typedef struct clf_gemm_rule {
    clf_gemm_kind kind;
    clf_precision precision; /* that the context asked for when it was measured */
    int64_t batch, m, n, k;
    const clf_engine *engine; /* NULL: the table's choice is the best */
    clf_tile tile;
    bool is_first_use; /* measured when a model was first loaded (op/first_use.h), not by clformer tune */
} clf_gemm_rule;

/* All choices for one device. Start from zeros. */
typedef struct clf_tuning {
    clf_gemm_rule *rules;
    size_t count;
    clf_clblast_parameters clblast;
    json_t *passed_over; /* NULL or an array: rules that this version or device cannot use, for those that can; owned */
} clf_tuning;

void clfi_tuning_clear(clf_tuning *tuning);

/* Reads the entry of one device (tuned_file.h). FORMAT names what is wrong. A rule that names an engine or a parameter that this version
 * lacks, or a tile that does not fit the context's device, is passed over, and the log says so. Without a context (NULL) nobody checks
 * whether tiles and CLBlast's parameters fit. What is passed over stays in the entry that is written next, where no rule for the same
 * product takes its place. *out: release with clfi_tuning_clear. */
clf_status clfi_tuning_parse(const clf_context *context, const json_t *entry, clf_tuning *out);

/* A file's choices for a device with this driver, without a context; none where it has no entry, or a broken one: contexts pass over it
 * too. *out: release with clfi_tuning_clear. FORMAT, IO, OUT_OF_MEMORY: the file cannot be read. */
clf_status clfi_tuning_read(const char *path, const clf_device_info *device, clf_tuning *out);

/* The entry for this device and driver that clfi_tuning_parse reads back. *out: release with json_decref. */
clf_status clfi_tuning_entry(const clf_device_info *device, const clf_tuning *tuning, json_t **out);

/* Whether two rules are for the same product at the same precision. */
bool clfi_rule_is_for(const clf_gemm_rule *a, const clf_gemm_rule *b);

/* Adds the rules of `old`, choices for the same device and driver, that are for other products or precisions; what would make a file too
 * long is left out. CLBlast's parameters, one set for all, stay those of `tuning`: rules that chose CLBlast with others are left out, and
 * counted in *out_dropped. What `old` passed over comes along. OUT_OF_MEMORY. */
clf_status clfi_tuning_keep_others(clf_tuning *tuning, const clf_tuning *old, size_t *out_dropped);

/* Whether choices measured on this device with this driver are in use. */
bool clfi_context_is_tuned(const clf_context *context);

/* Whether rules may be added: the context has a file of choices, which is neither broken nor full. */
bool clfi_tuning_is_open(const clf_context *context);

/* Adds a rule to the choices of this context, in which an older one for the same product goes, and to its file. What another process wrote
 * there meanwhile is kept. OUT_OF_MEMORY. Otherwise, where the file cannot be written, the rule serves this context alone and the log says
 * so. */
clf_status clfi_tuning_add(const clf_context *context, const clf_gemm_rule *rule);

/* Appends the rules of a first use, "256 x 384 x 1152 tiled, 256 x 384 x 1536 clblast" by m, k and n; nothing where there are none.
 * *out_is_all: there are no others. OUT_OF_MEMORY. */
clf_status clfi_tuning_first_use_text(const clf_context *context, bool *out_is_all, clf_str *out);

/* CLBlast's parameters in use on this context; NULL: CLBlast's own. Borrowed from the context. */
const clf_clblast_parameters *clfi_context_clblast_parameters(const clf_context *context);

/* The rule of the nearest measured product of that kind. The factors between the sizes multiply to at most 4. Rows beyond the most that
 * were measured with its weight count as that many. Rules of the context's precision; where there are none, those of the next finer one.
 * NULL: not tuned, or nothing near. */
const clf_gemm_rule *clfi_tuned_rule(const clf_context *context, clf_gemm_kind kind, int64_t batch, int64_t m, int64_t n, int64_t k);

#endif
