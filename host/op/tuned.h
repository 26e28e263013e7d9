/* SPDX-License-Identifier: MIT */
/* Choices measured on a device (clformer tune, op/first_use.h): which engine with which tile runs a matrix product, and CLBlast's own
 * parameters.
 *
 * A context reads the file that its parameters name once, at the first choice of an engine. The file is only a hint: errors in it are
 * logged and ignored, and so are choices that were measured with another driver. */
#ifndef CLFI_OP_TUNED_H
#define CLFI_OP_TUNED_H

#include <jansson.h>

#include "kernel/gemm_clblast.h"
#include "op/gemm.h"

/* Kinds of products that are measured separately: with a constant weight; of two tensors; of two tensors with interleaved batches. */
typedef enum clf_gemm_kind { CLF_GEMM_LINEAR, CLF_GEMM_PRODUCT, CLF_GEMM_INTERLEAVED, CLF_GEMM_KIND_COUNT } clf_gemm_kind;
extern const char *const clfi_gemm_kind_names[CLF_GEMM_KIND_COUNT];
clf_gemm_kind clfi_gemm_kind_of(const clf_gemm_args *args);

/* The choice for one measured product. */
typedef struct clf_gemm_rule {
    clf_gemm_kind kind;
    clf_precision precision; /* that the measuring context asked for */
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
    json_t *passed_over; /* rules that this version or device cannot use, kept for others that can: an array, owned; NULL: none */
} clf_tuning;

void clfi_tuning_clear(clf_tuning *tuning);

/* Reads the entry of one device (tuned_file.h). FORMAT names what is wrong; OUT_OF_MEMORY. A rule that names an engine or a parameter that
 * this version lacks, or a tile that does not fit the context's device, is passed over, and the log says so. Without a context (NULL) tiles
 * and CLBlast's parameters are not checked against a device. Rules that were passed over stay in the entry that is written next, unless it
 * has a rule for the same product. *out: release with clfi_tuning_clear. */
clf_status clfi_tuning_parse(const clf_context *context, const json_t *entry, clf_tuning *out);

/* A file's choices for a device with this driver, without a context. *out is empty if the file has no entry for it, or a broken entry,
 * which contexts ignore too; release it with clfi_tuning_clear. FORMAT, IO, OUT_OF_MEMORY: the file cannot be read. */
clf_status clfi_tuning_read(const char *path, const clf_device_info *device, clf_tuning *out);

/* The entry for this device and driver that clfi_tuning_parse reads back. *out: release with json_decref. */
clf_status clfi_tuning_entry(const clf_device_info *device, const clf_tuning *tuning, json_t **out);

/* Whether two rules are for the same product at the same precision. */
bool clfi_rule_is_for(const clf_gemm_rule *a, const clf_gemm_rule *b);

/* Adds the rules of `old`, choices for the same device and driver, that are for other products or precisions. Rules beyond the largest size
 * of a file are left out. A file has one set of CLBlast's parameters, those of `tuning`: if `old` has others, its rules that chose CLBlast
 * are left out and counted in *out_dropped. The rules that `old` passed over are added too. OUT_OF_MEMORY. */
clf_status clfi_tuning_keep_others(clf_tuning *tuning, const clf_tuning *old, size_t *out_dropped);

/* Whether choices measured on this device with this driver are in use. */
bool clfi_context_is_tuned(const clf_context *context);

/* Whether rules may be added: the context has a file of choices, which is neither broken nor full. */
bool clfi_tuning_is_open(const clf_context *context);

/* Adds a rule to the choices of this context and to its file, where it replaces an older rule of a first use for the same product. Rules
 * that another process wrote there meanwhile are kept. If the file cannot be written, only this context uses the rule, and the log says so.
 * OUT_OF_MEMORY. */
clf_status clfi_tuning_add(const clf_context *context, const clf_gemm_rule *rule);

/* Appends the rules of first uses, "256 x 384 x 1152 tiled, 256 x 384 x 1536 clblast" (m x k x n), or nothing. *out_is_all: there are such
 * rules and nothing else was tuned. OUT_OF_MEMORY. */
clf_status clfi_tuning_first_use_text(const clf_context *context, bool *out_is_all, clf_str *out);

/* CLBlast's parameters in use on this context; NULL: CLBlast's own. Borrowed from the context. */
const clf_clblast_parameters *clfi_context_clblast_parameters(const clf_context *context);

/* The rule of the nearest measured product of that kind: the factors between the sizes multiply to at most 4. For a constant weight, more
 * rows than were measured with it count as the most that were. Only rules of the context's precision are used, or of the next finer one
 * that has rules. NULL: not tuned, or nothing near. */
const clf_gemm_rule *clfi_tuned_rule(const clf_context *context, clf_gemm_kind kind, int64_t batch, int64_t m, int64_t n, int64_t k);

#endif
