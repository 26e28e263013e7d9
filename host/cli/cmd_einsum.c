/* SPDX-License-Identifier: MIT */
/* clformer einsum: computes an einsum equation on NumPy files, or prints its plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "cli/commands.h"
#include "jobs/npy_output.h"
#include "cli/npy_tensor.h"
#include "jobs/session.h"
#include "clformer/einsum.h"
#include "io/npy.h"
#include "runtime/context.h"

enum { MOST_OPERANDS = 64 }; /* more than CLF_EINSUM_MAX_OPERANDS, so that the library itself refuses too many */

typedef struct einsum_job {
    cli_session session;
    const char *equation, *shapes, *output, *limit_text;
    char **files;
    int wants_plan; /* --plan */
    int dtype;      /* index into f32|f16 */
    int count;
    int rank[MOST_OPERANDS];
    int64_t dim[MOST_OPERANDS][CLFI_NPY_MAX_RANK];
    const int64_t *dims[MOST_OPERANDS];
    clf_npy arrays[MOST_OPERANDS];
    clf_tensor *operands[MOST_OPERANDS];
    clf_tensor *result;
    clf_einsum_plan *plan;
} einsum_job;

/* Reads one shape of --shapes up to a comma or the end: "2x3"; "" or "-" is a scalar. Returns the place after it, NULL for a bad shape. */
static const char *read_shape(const char *text, int *rank, int64_t *dim)
{
    text += strspn(text, " ");
    *rank = 0;
    if (*text == '-')
        text++;
    else
        while (*text >= '0' && *text <= '9') {
            char *end;
            if (*rank == CLFI_NPY_MAX_RANK)
                return NULL;
            dim[(*rank)++] = strtoll(text, &end, 10);
            if (*end != 'x') {
                text = end;
                break;
            }
            text = end + 1;
            if (*text < '0' || *text > '9')
                return NULL;
        }
    text += strspn(text, " ");
    return *text == ',' || *text == '\0' ? text : NULL;
}

static clf_status read_shapes(einsum_job *job)
{
    const char *text = job->shapes;
    for (;;) {
        if (job->count == MOST_OPERANDS)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_LIMIT: --shapes: expected at most %d operands", MOST_OPERANDS);
        job->dims[job->count] = job->dim[job->count];
        text = read_shape(text, &job->rank[job->count], job->dim[job->count]);
        if (!text && job->rank[job->count] == CLFI_NPY_MAX_RANK)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_LIMIT: --shapes \"%s\": operand %d has more than %d dimensions", job->shapes, job->count,
                     CLF_MAX_RANK);
        if (!text)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_ARGUMENT: --shapes \"%s\": operand %d: expected sizes as in 2x3 (a scalar is -)", job->shapes,
                     job->count);
        job->count++;
        if (*text == '\0')
            return CLF_OK;
        text++;
    }
}

/* Returns INVALID_ARGUMENT also for an equation that exceeds the library's limits, because it stands on the command line. */
static clf_status make_plan(einsum_job *job, int operands, int64_t limit)
{
    const clf_status st = clf_einsum_plan_create(job->equation, operands, job->rank, job->dims, limit, &job->plan);
    return st == CLF_UNSUPPORTED ? CLF_INVALID_ARGUMENT : st;
}

static clf_status open_files(einsum_job *job, int files)
{
    if (files > MOST_OPERANDS) /* the library refuses the equation or the number of operands before it reads shapes */
        return make_plan(job, files, CLF_EINSUM_NO_LIMIT);
    for (; job->count < files; job->count++) {
        clf_npy *npy = &job->arrays[job->count];
        const clf_status st = clfi_npy_open(job->files[job->count], npy);
        if (st != CLF_OK)
            return cli_npy_fault(st);
        job->rank[job->count] = npy->rank;
        job->dims[job->count] = npy->dim;
    }
    return CLF_OK;
}

static clf_status parse_limit(const char *text, int64_t *out)
{
    char *end;
    *out = CLF_EINSUM_NO_LIMIT;
    if (!text || strcmp(text, "none") == 0 || strcmp(text, "-1") == 0)
        return CLF_OK;
    if (strcmp(text, "max_input") == 0) {
        *out = CLF_EINSUM_MAX_INPUT;
        return CLF_OK;
    }
    *out = strtoll(text, &end, 10);
    if (end == text || *end || *out <= 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_LIMIT: --memory-limit: expected a positive number of elements, max_input or none, found \"%s\"",
                 text);
    return CLF_OK;
}

/* Prints the plan with the device's engines. If no device was named and none can be opened, the plan is printed without them. */
static clf_status print_plan(einsum_job *job)
{
    size_t length;
    if (!job->session.context) {
        const clf_status st = cli_session_open(&job->session);
        if (st != CLF_OK && job->session.device)
            return st;
    }
    CLF_TRY(clf_einsum_plan_print(job->session.context, job->plan, NULL, 0, &length));
    char *text;
    CLF_TRY(clfi_alloc(length + 1, 1, "plan text", &text));
    const clf_status st = clf_einsum_plan_print(job->session.context, job->plan, text, length + 1, &length);
    if (st == CLF_OK)
        fputs(text, stdout);
    free(text);
    return st;
}

static clf_status upload(einsum_job *job, int k)
{
    float *values;
    const clf_npy *npy = &job->arrays[k];
    CLF_TRY(clfi_alloc(npy->count, sizeof *values, job->files[k], &values));
    clf_status st = clfi_npy_read_f32(npy, 0, npy->count, values);
    if (st == CLF_OK)
        st = clf_tensor_create_from(job->session.context, CLF_F32, npy->rank, npy->dim, values, &job->operands[k]);
    free(values);
    return st;
}

static clf_status write_result(einsum_job *job)
{
    const int rank = clf_einsum_plan_rank(job->plan);
    const int64_t *dim = clf_einsum_plan_dim(job->plan);
    const size_t count = clf_tensor_count(job->result);
    void *values;
    CLF_TRY(clfi_alloc(count, sizeof(float), "result", &values));
    clf_status st;
    if (job->output && job->dtype == 1) {
        st = clf_tensor_read(job->result, values, count * 2);
        if (st == CLF_OK)
            st = cli_npy_fault(cli_npy_write(job->output, CLF_FILE_F16, rank, dim, values));
    } else {
        st = clf_tensor_read_f32(job->result, values, count);
        if (st == CLF_OK && job->output)
            st = cli_npy_fault(cli_npy_write(job->output, CLF_FILE_F32, rank, dim, values));
        else if (st == CLF_OK)
            cli_print_values(values, rank, dim);
    }
    free(values);
    return st;
}

static void destroy_tensors(einsum_job *job)
{
    clf_tensor_destroy(job->result);
    job->result = NULL;
    for (int k = 0; k < job->count; k++) {
        clf_tensor_destroy(job->operands[k]);
        job->operands[k] = NULL;
    }
}

static clf_status compute_once(einsum_job *job)
{
    for (int k = 0; k < job->count; k++)
        CLF_TRY(upload(job, k));
    CLF_TRY(clf_tensor_create(job->session.context, job->dtype == 1 ? CLF_F16 : CLF_F32, clf_einsum_plan_rank(job->plan),
                              clf_einsum_plan_dim(job->plan), &job->result));
    CLF_TRY(clf_einsum_plan_run(job->session.context, job->plan, (const clf_tensor *const *)job->operands, job->count, job->result));
    return write_result(job);
}

static clf_status compute(einsum_job *job)
{
    clf_status st;
    if (!job->session.context)
        CLF_TRY(cli_session_open(&job->session));
    do {
        destroy_tensors(job);
        st = compute_once(job);
    } while (clfi_context_recover(job->session.context, &st));
    return st;
}

static clf_status run_job(einsum_job *job, int positional)
{
    int64_t limit;
    if (positional == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: einsum: no equation (see clformer einsum --help)");
    if (job->wants_plan && job->output && strcmp(job->output, "-") == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: einsum: --plan and -o - would both use standard output");
    if (job->shapes && (positional > 1 || job->output || !job->wants_plan))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: einsum: --shapes: expected --plan and no files");
    CLF_TRY(parse_limit(job->limit_text, &limit));
    CLF_TRY(job->shapes ? read_shapes(job) : open_files(job, positional - 1));
    CLF_TRY(make_plan(job, job->count, limit));
    if (job->wants_plan) {
        CLF_TRY(print_plan(job));
        if (!job->output)
            return CLF_OK;
    }
    return compute(job);
}

/* Whether an argument is an equation that begins with "-", such as "->", and no option. If a letter that no option has follows the "-", the
 * position decides. is_first: it is the first argument and others follow. */
static bool is_equation(const char *text, bool is_first, const cli_option *table, size_t count)
{
    if (text[0] != '-' || !text[1])
        return false;
    if (strchr(">., ", text[1]))
        return true;
    if (text[1] == '-')
        return is_first && text[2] && !(text[2] >= 'a' && text[2] <= 'z');
    for (size_t i = 0; i < count; i++)
        if (table[i].letter == text[1])
            return false;
    return is_first;
}

/* Puts a space, which equations ignore, before an equation that begins with "-", so that it is not parsed as an option. Returns the copy,
 * which the caller frees; NULL: none was needed, or there is not enough memory. */
static char *protect_equation(int argc, char **argv, const cli_option *table, size_t count)
{
    for (int i = 1; i < argc; i++)
        if (is_equation(argv[i], i == 1 && argc > 2, table, count)) {
            clf_str text = CLF_STR_INIT;
            if (clfi_str_appendf(&text, " %s", argv[i]) != CLF_OK)
                return NULL;
            argv[i] = text.data;
            return text.data;
        }
    return NULL;
}

int cmd_einsum(const cli_command *self, int argc, char **argv)
{
    einsum_job *job;
    clf_status st = clfi_alloc(1, sizeof *job, "einsum", &job);
    if (st != CLF_OK)
        return cli_fail(st);
    job->session = (cli_session)CLI_SESSION_INIT;
    const cli_option table[] = {
        {"output", 'o', "OUT.npy", "write the result as NumPy file (default: print it)", CLI_IN_PLACE, &job->output},
        {"dtype", 0, "f32|f16", "element type of OUT.npy", CLI_CHOICE, &job->dtype},
        {"plan", 0, NULL, "print the contraction plan; computes only with --output", CLI_FLAG, &job->wants_plan},
        {"shapes", 0, "2x3,3x4", "operand shapes instead of files, for --plan (a scalar is -)", CLI_TEXT, &job->shapes},
        {"memory-limit", 0, "N", "largest number of elements of an intermediate; max_input: that of the largest operand or the result",
         CLI_TEXT, &job->limit_text},
        CLI_SESSION_OPTIONS(job->session),
    };
    int positional = 0;
    char *equation = protect_equation(argc, argv, table, COUNT(table));
    st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st != CLF_OK) {
        st = st == CLF_INVALID_ARGUMENT ? clfi_fail_prefix(st, "E_OPTION") : cli_npy_fault(st);
    } else {
        job->equation = equation && argv[0] == equation ? equation + 1 : argv[0]; /* without the space */
        job->files = argv + 1;
        st = run_job(job, positional);
    }
    const int status = st == CLF_OK ? 0 : cli_fail_coded(st);
    destroy_tensors(job);
    for (int k = 0; k < job->count && !job->shapes; k++)
        clfi_npy_close(&job->arrays[k]);
    clf_einsum_plan_destroy(job->plan);
    const clf_status closed = cli_session_close(&job->session, NULL);
    free(equation);
    free(job);
    return status ? status : closed == CLF_OK ? 0 : cli_fail_coded(closed);
}
