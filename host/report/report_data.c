/* SPDX-License-Identifier: MIT */
/* Gathers the rows of a report from result files. */
#include "report/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "report/same_work.h"

static clf_status gather_devices(clfi_report_data *data)
{
    size_t count = 0;
    for (size_t f = 0; f < data->file_count; f++)
        count += data->files[f].device_count;
    CLF_TRY(clfi_alloc(count, sizeof *data->devices, "devices", &data->devices));
    for (size_t f = 0; f < data->file_count; f++)
        for (size_t i = 0; i < data->files[f].device_count; i++)
            data->devices[data->device_count++] =
                (clfi_report_device){.file = &data->files[f], .device = &data->files[f].devices[i], .place = i};
    return clfi_report_name_devices(data);
}

static size_t find_op(clfi_report_data *data, const clfi_result_workload *w)
{
    for (size_t i = 0; i < data->op_count; i++)
        if (strcmp(data->ops[i].name, w->op) == 0 && strcmp(data->ops[i].suite, w->suite) == 0)
            return i;
    data->ops[data->op_count] = (clfi_report_op){.name = w->op, .suite = w->suite};
    return data->op_count++;
}

static int by_op(const void *a, const void *b)
{
    const clfi_report_work *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first); /* still the order of appearance */
}

/* The files' workloads, each once, grouped by op. */
static clf_status gather_works(clfi_report_data *data)
{
    size_t most = 0;
    for (size_t f = 0; f < data->file_count; f++)
        most += data->files[f].workload_count;
    CLF_TRY(clfi_alloc(most, sizeof *data->works, "workloads", &data->works));
    CLF_TRY(clfi_alloc(most, sizeof *data->ops, "ops", &data->ops));
    for (size_t f = 0; f < data->file_count; f++)
        for (size_t i = 0; i < data->files[f].workload_count; i++) {
            const clfi_result_workload *w = &data->files[f].workloads[i];
            bool is_new = true;
            for (size_t g = 0; g < f && is_new; g++)
                is_new = clfi_result_find_workload(&data->files[g], w->id) == data->files[g].workload_count;
            if (!is_new)
                continue;
            const size_t op = find_op(data, w);
            data->works[data->work_count] = (clfi_report_work){.workload = w, .op = op, .first = data->work_count, .slowest_ms = NAN};
            data->work_count++;
        }
    qsort(data->works, data->work_count, sizeof *data->works, by_op);
    for (size_t i = 0; i < data->work_count; i++) {
        clfi_report_op *op = &data->ops[data->works[i].op];
        op->first = op->count ? op->first : i;
        op->count++;
    }
    return CLF_OK;
}

static int by_speed(const void *a, const void *b)
{
    const clfi_report_row *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    const bool x_measured = clfi_report_is_measured(x->row), y_measured = clfi_report_is_measured(y->row);
    if (x_measured != y_measured)
        return x_measured ? -1 : 1;
    if (x_measured && x->row->wall.median != y->row->wall.median)
        return x->row->wall.median < y->row->wall.median ? -1 : 1;
    return strcmp(x->row->engine, y->row->engine);
}

static void count_row(clfi_report_data *data, const clfi_result_row *row)
{
    data->verified += clfi_report_is_measured(row);
    data->noisy += clfi_report_is_measured(row) && row->noisy;
    data->failed += row->status == CLFI_RESULT_FAILED;
    data->unsupported += row->status == CLFI_RESULT_UNSUPPORTED;
}

static void gather_rows_of(clfi_report_data *data, size_t index)
{
    clfi_report_work *work = &data->works[index];
    work->first = data->row_count;
    for (size_t d = 0; d < data->device_count; d++) {
        const clfi_result *file = data->devices[d].file;
        const size_t place = clfi_result_find_workload(file, work->workload->id);
        for (size_t i = 0; i < file->row_count && place < file->workload_count; i++)
            if (file->rows[i].workload == place && file->rows[i].device == data->devices[d].place)
                data->rows[data->row_count++] = (clfi_report_row){.work = index, .device = d, .row = &file->rows[i]};
    }
    work->count = data->row_count - work->first;
    qsort(data->rows + work->first, work->count, sizeof *data->rows, by_speed);
    for (size_t i = 0; i < work->count; i++) {
        clfi_report_row *row = &data->rows[work->first + i];
        count_row(data, row->row);
        row->is_best = clfi_report_is_measured(row->row) && (i == 0 || row[-1].device != row->device);
        if (row->is_best)
            work->slowest_ms = fmax(isnan(work->slowest_ms) ? 0 : work->slowest_ms, row->row->wall.median);
    }
}

clf_status clfi_report_gather(const clfi_result *files, size_t count, clfi_report_data *out)
{
    size_t rows = 0, numbered = 0;
    *out = (clfi_report_data){.files = files, .file_count = count};
    if (count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "report: no result file");
    for (size_t i = 0; i < count; i++) {
        rows += files[i].row_count;
        for (size_t j = 0; j < i; j++)
            CLF_TRY(clfi_check_same_work(&files[j], &files[i]));
    }
    CLF_TRY(gather_devices(out));
    CLF_TRY(gather_works(out));
    CLF_TRY(clfi_alloc(rows, sizeof *out->rows, "rows", &out->rows));
    for (size_t i = 0; i < out->work_count; i++) {
        gather_rows_of(out, i);
        if (out->works[i].workload->flops >= 1 && out->works[i].workload->bytes >= 1)
            out->works[i].number = ++numbered;
    }
    return CLF_OK;
}

void clfi_report_data_free(clfi_report_data *data)
{
    free(data->devices);
    free(data->ops);
    free(data->works);
    free(data->rows);
    *data = (clfi_report_data){0};
}
