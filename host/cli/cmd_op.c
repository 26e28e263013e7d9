/* SPDX-License-Identifier: MIT */
/* clformer op: runs one op on NumPy files, for checking a device against NumPy. Each op has options of its own. An error is one line that
 * begins with its code (E_OPTION, E_FILE, E_FORMAT, E_DTYPE, E_SHAPE, ...), and then no file is written. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/commands.h"
#include "jobs/npy_output.h"
#include "cli/npy_tensor.h"
#include "cli/op_row.h"
#include "console/standard_output.h"
#include "console/terminal.h"
#include "runtime/context.h"

static const op_row *const rows[] = {
    &op_softmax_row,    &op_masked_softmax_row, &op_layer_norm_row, &op_rms_norm_row,
    &op_activation_row, &op_attention_row,      &op_mha_row,        &op_positional_encoding_row,
};

/* Fills the table with the op's own options, then those of all ops. Returns their number. */
static size_t make_table(const op_row *row, op_job *job, cli_option table[OP_MAX_OPTIONS])
{
    const cli_option common[] = {
        {"output", 'o', "OUT.npy", "write the result here (default: print it)", CLI_IN_PLACE, &job->output},
        {"dtype", 0, "f32|f16", "element type of OUT.npy", CLI_CHOICE, &job->dtype},
        CLI_SESSION_OPTIONS(job->session),
    };
    const size_t own = row->options(job, table);
    memcpy(table + own, common, sizeof common);
    return own + COUNT(common);
}

static op_job new_job(void)
{
    return (op_job){.session = CLI_SESSION_INIT, .scale = OP_UNSET, .eps = OP_UNSET};
}

static void list_ops(void)
{
    enum { SUMMARY_INDENT = 4 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        op_job job = new_job();
        cli_option table[OP_MAX_OPTIONS];
        char usage[160];
        snprintf(usage, sizeof usage, "%s %s", rows[i]->name, rows[i]->arguments);
        cli_print_text(stdout, 0, 2, usage);
        cli_print_text(stdout, SUMMARY_INDENT, SUMMARY_INDENT, rows[i]->summary);
        cli_print_options(table, rows[i]->options(&job, table));
        putchar('\n');
    }
    cli_print_text(stdout, 0, 0, "All ops: -o OUT.npy, --dtype f32|f16, and the options of a device (clformer op NAME --help).");
    cli_print_text(stdout, 0, 0,
                   "Files may have any NumPy type f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, byte order, C or Fortran order; values are "
                   "converted to float32.");
}

/* Returns NULL for an unknown name. */
static const op_row *find_op(const char *name)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(name, rows[i]->name) == 0)
            return rows[i];
    return NULL;
}

static clf_status print_result(const clf_tensor *tensor)
{
    const size_t count = clf_tensor_count(tensor);
    float *values;
    CLF_TRY(clfi_alloc(count, sizeof *values, "result", &values));
    const clf_status st = clf_tensor_read_f32(tensor, values, count);
    if (st == CLF_OK)
        cli_print_values(values, clf_tensor_rank(tensor), clf_tensor_dim(tensor));
    free(values);
    return st;
}

/* Writes or prints the result, and commits the attention weights: both or none. */
static clf_status write_beside(const op_job *job, clf_atomic_file *weights)
{
    clf_atomic_file result;
    if (job->output) {
        CLF_TRY(cli_npy_stage(job->result, job->output, &result));
        return cli_npy_fault(cli_npy_commit(&result, weights));
    }
    CLF_TRY(cli_npy_fault(clfi_atomic_complete(weights))); /* first, because what is printed cannot be taken back */
    CLF_TRY(print_result(job->result));
    CLF_TRY(cli_npy_fault(cli_output_flush()));
    return cli_npy_fault(cli_npy_commit(weights, NULL));
}

static clf_status write_results(const op_job *job)
{
    clf_atomic_file weights;
    if (!job->weights_result)
        return job->output ? cli_npy_save(job->result, job->output) : print_result(job->result);
    CLF_TRY(cli_npy_stage(job->weights_result, job->weights, &weights));
    const clf_status st = write_beside(job, &weights);
    clfi_atomic_abandon(&weights);
    return st;
}

static void destroy_tensors(op_job *job)
{
    for (int i = 0; i < job->tensor_count; i++)
        clf_tensor_destroy(job->tensors[i]);
    job->tensor_count = 0;
}

static clf_status run_op(const op_row *row, op_job *job)
{
    if (job->file_count < row->least_files || job->file_count > row->most_files)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op %s: unexpected number of files, %d (usage: clformer op %s %s)", row->name,
                 job->file_count, row->name, row->arguments);
    clf_status st;
    CLF_TRY(cli_session_open(&job->session));
    do {
        destroy_tensors(job);
        st = row->run(job);
        if (st == CLF_OK)
            st = write_results(job); /* reads all from the device before an output changes, so that a lost device may be retried */
    } while (clfi_context_recover(job->session.context, &st));
    return st;
}

static int run_command(const cli_command *self, const op_row *row, int argc, char **argv)
{
    char name[64];
    op_job job = new_job();
    cli_option table[OP_MAX_OPTIONS];
    const size_t count = make_table(row, &job, table);
    snprintf(name, sizeof name, "%s %s", self->name, row->name);
    clf_status st = cli_parse(&(cli_command){name,
                                             row->arguments,
                                             row->summary,
                                             NULL,
                                             self->first_file,
                                             self->last_file,
                                             0,
                                             self->shares_work,
                                             {row->examples[0], row->examples[1]}},
                              table, count, argc, argv, &job.file_count);
    if (st != CLF_OK) {
        st = st == CLF_INVALID_ARGUMENT ? clfi_fail_prefix(st, "E_OPTION") : cli_npy_fault(st);
    } else {
        job.files = argv;
        st = run_op(row, &job);
    }
    int status = st == CLF_OK ? 0 : cli_fail_coded(st);
    destroy_tensors(&job);
    st = cli_session_close(&job.session, NULL);
    if (st != CLF_OK && status == 0)
        status = cli_fail_coded(st);
    return status;
}

/* Finds the op and option that have `name` as a choice, such as a score of attention. */
static bool find_choice(const char *name, const op_row **out_row, const char **out_option)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        op_job job = new_job();
        cli_option table[OP_MAX_OPTIONS];
        const size_t count = rows[i]->options(&job, table);
        for (size_t j = 0; j < count; j++)
            if (table[j].kind == CLI_CHOICE && cli_choice_index(table[j].metavar, name) >= 0) {
                *out_row = rows[i];
                *out_option = table[j].name;
                return true;
            }
    }
    return false;
}

static clf_status fail_unknown(const char *name)
{
    const op_row *row;
    const char *option;
    if (name && name[0] == '-')
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op: expected the name of an op, found option \"%s\" (options follow the name)", name);
    const char *names[COUNT(rows)];
    for (size_t i = 0; i < COUNT(rows); i++)
        names[i] = rows[i]->name;
    const char *nearest = name ? cli_nearest(name, names, COUNT(rows)) : NULL;
    if (!name)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: op: no op was named (see clformer op --list)");
    if (find_choice(name, &row, &option))
        CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: unknown op \"%s\"; did you mean clformer op %s --%s %s?", name, row->name, option, name);
    CLF_FAIL(CLF_INVALID_ARGUMENT, "E_OPTION: unknown op \"%s\"%s%s; see clformer op --list", name, nearest ? ", did you mean " : "",
             nearest ? nearest : "");
}

int cmd_op(const cli_command *self, int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const bool asks_help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0, asks_list = strcmp(name, "--list") == 0;
    if (asks_list && argc > 2)
        return cli_fail_coded(clfi_fail(CLF_INVALID_ARGUMENT, "E_OPTION: op --list: expected no more arguments, found \"%s\"", argv[2]));
    if (asks_help)
        cli_print_usage(self, "");
    if (asks_help || asks_list) {
        list_ops();
        if (asks_help)
            cli_print_examples(self);
        return 0;
    }
    const op_row *row = find_op(name);
    return row ? run_command(self, row, argc - 1, argv + 1) : cli_fail_coded(fail_unknown(argc > 1 ? name : NULL));
}
