/* SPDX-License-Identifier: MIT */
/* The facts of a result beside its times, as one list of fields. The messages of a device's process, the result file, its reader,
 * comparisons, the report and the tests are generated from this list. A new field is one row here and a description in
 * result.schema.json. */
#ifndef CLFI_BENCH_ROW_FACTS_H
#define CLFI_BENCH_ROW_FACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* X(member, group, kind, unknown, better, title). member: the key in the file, inside the object `group` ("": in the row itself).
 * unknown: how a file encodes an unknown value. better: whether a larger or a smaller value is better. title: of the column in the
 * report's table of resources; "": none. */
#define CLFI_ROW_FACTS(X)                                             \
    X(max_error, "", NUMBER, NULL, LESS, "")                          \
    X(error_bound, "", NUMBER, NULL, NEITHER, "")                     \
    X(min_cosine, "", COSINE, ABSENT, MORE, "")                       \
    X(rate, "", NUMBER, UNMEASURED, MORE, "")                         \
    X(percent_of_limit, "", NUMBER, UNMEASURED, MORE, "")             \
    X(longest_launch_ms, "", NUMBER, ABSENT, NEITHER, "")             \
    X(longest_estimate_ms, "", NUMBER, ABSENT, NEITHER, "")           \
    X(weights_bytes, "memory", BYTES, ZERO, LESS, "weights")          \
    X(scratch_bytes, "memory", BYTES, ZERO, LESS, "scratch")          \
    X(host_peak_bytes, "memory", BYTES, ZERO, LESS, "host, peak")     \
    X(joules_per_run, "energy", JOULES, NULL, LESS, "energy per run") \
    X(joules_per_item, "energy", JOULES, ABSENT, LESS, "per item")

/* Unknown values are NaN, or 0 for fields with CLFI_FACT_ZERO (clfi_row_fact_is_known). */
typedef struct clfi_row_facts {
#define CLFI_ROW_FACT(member, group, kind, unknown, better, title) double member;
    CLFI_ROW_FACTS(CLFI_ROW_FACT)
#undef CLFI_ROW_FACT
} clfi_row_facts;

typedef enum clfi_fact_kind { CLFI_FACT_NUMBER, CLFI_FACT_COSINE, CLFI_FACT_BYTES, CLFI_FACT_JOULES } clfi_fact_kind;
typedef enum clfi_fact_unknown {
    CLFI_FACT_NULL,
    CLFI_FACT_ABSENT,
    CLFI_FACT_UNMEASURED, /* absent if the row has no samples, else null */
    CLFI_FACT_ZERO
} clfi_fact_unknown;
typedef enum clfi_fact_better { CLFI_FACT_NEITHER, CLFI_FACT_LESS, CLFI_FACT_MORE } clfi_fact_better;

typedef struct clfi_row_fact {
    const char *key, *group, *title;
    clfi_fact_kind kind;
    clfi_fact_unknown unknown;
    clfi_fact_better better;
    size_t offset; /* in clfi_row_facts */
} clfi_row_fact;

extern const clfi_row_fact clfi_row_fact_list[];
extern const size_t clfi_row_fact_count;

static inline double *clfi_row_fact_value(clfi_row_facts *facts, const clfi_row_fact *fact)
{
    return (double *)((char *)facts + fact->offset);
}

static inline double clfi_row_fact_get(const clfi_row_facts *facts, const clfi_row_fact *fact)
{
    return *(const double *)((const char *)facts + fact->offset);
}

/* Whether the fact was measured. Bytes are measured together, and a process that was measured has some: if all bytes are 0, they are
 * unknown, else a 0 is a number as others are. */
bool clfi_row_fact_is_known(const clfi_row_facts *facts, const clfi_row_fact *fact);

/* Sets all fields to unknown. */
void clfi_row_facts_clear(clfi_row_facts *facts);

/* Adds the facts to a row of a file, or to a message. is_measured: the row has samples. OUT_OF_MEMORY. */
clf_status clfi_row_facts_write(const clfi_row_facts *facts, bool is_measured, json_t *object);

/* Reads the facts from such an object; `where` names it in messages. FORMAT: a field has another type (bytes are integers), is below 0
 * (a cosine: below -most), or above `most`. */
clf_status clfi_row_facts_read(const json_t *object, const char *where, double most, clfi_row_facts *out);

#endif
