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

/* Finds the op of a workload, or adds it. places: suite -> op -> index. */
static clf_status find_op(clfi_report_data *data, const clfi_result_workload *w, json_t *places, size_t *out)
{
    json_t *suite = json_object_get(places, w->suite);
    if (!suite && json_object_set_new(places, w->suite, json_object()) == 0)
        suite = json_object_get(places, w->suite);
    const json_t *place = json_object_get(suite, w->op);
    *out = place ? (size_t)json_integer_value(place) : data->op_count;
    if (place)
        return CLF_OK;
    if (json_object_set_new(suite, w->op, json_integer((json_int_t)data->op_count)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "ops of a report: not enough memory");
    data->ops[data->op_count++] = (clfi_report_op){.name = w->op, .suite = w->suite, .slowest_log = NAN};
    return CLF_OK;
}

static clf_status add_work(clfi_report_data *data, const clfi_result_workload *w, json_t *places)
{
    size_t op;
    CLF_TRY(find_op(data, w, places, &op));
    data->works[data->work_count] = (clfi_report_work){.workload = w, .op = op, .first = data->work_count, .slowest_ms = NAN};
    data->work_count++;
    return CLF_OK;
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
    json_t *places = json_object();
    clf_status st = CLF_OK;
    for (size_t f = 0; f < data->file_count; f++)
        for (size_t i = 0; st == CLF_OK && i < data->files[f].workload_count; i++) {
            const clfi_result_workload *w = &data->files[f].workloads[i];
            bool is_new = true;
            for (size_t g = 0; g < f && is_new; g++)
                is_new = clfi_result_find_workload(&data->files[g], w->id) == data->files[g].workload_count;
            if (is_new)
                st = add_work(data, w, places);
        }
    json_decref(places);
    CLF_TRY(st);
    qsort(data->works, data->work_count, sizeof *data->works, by_op);
    for (size_t i = 0; i < data->work_count; i++) {
        clfi_report_op *op = &data->ops[data->works[i].op];
        op->first = op->count ? op->first : i;
        op->count++;
    }
    return CLF_OK;
}

/* By workload and device; measured rows come first, from the fastest. */
static int by_speed(const void *a, const void *b)
{
    const clfi_report_row *x = a, *y = b;
    if (x->work != y->work)
        return x->work < y->work ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    const bool x_measured = clfi_report_is_measured(x->row), y_measured = clfi_report_is_measured(y->row);
    if (x_measured != y_measured)
        return x_measured ? -1 : 1;
    if (x_measured && x->row->wall.median != y->row->wall.median)
        return x->row->wall.median < y->row->wall.median ? -1 : 1;
    return strcmp(x->row->engine, y->row->engine);
}

/* The rows of all files, sorted. */
static clf_status gather_rows(clfi_report_data *data)
{
    size_t rows = 0, first_device = 0, *work_of; /* a file's workload -> index in data->works */
    for (size_t f = 0; f < data->file_count; f++)
        rows += data->files[f].row_count;
    CLF_TRY(clfi_alloc(rows, sizeof *data->rows, "rows", &data->rows));
    for (size_t f = 0; f < data->file_count; f++) {
        const clfi_result *file = &data->files[f];
        CLF_TRY(clfi_alloc(file->workload_count, sizeof *work_of, "workloads", &work_of));
        for (size_t i = 0; i < data->work_count; i++) {
            const size_t place = clfi_result_find_workload(file, data->works[i].workload->id);
            if (place < file->workload_count)
                work_of[place] = i;
        }
        for (size_t i = 0; i < file->row_count; i++)
            data->rows[data->row_count++] = (clfi_report_row){
                .work = work_of[file->rows[i].workload], .device = first_device + file->rows[i].device, .row = &file->rows[i]};
        first_device += file->device_count;
        free(work_of);
    }
    qsort(data->rows, data->row_count, sizeof *data->rows, by_speed);
    return CLF_OK;
}

static void count_row(clfi_report_data *data, const clfi_result_row *row)
{
    data->verified += clfi_report_is_measured(row);
    data->noisy += clfi_report_is_measured(row) && row->noisy;
    data->failed += row->status == CLFI_RESULT_FAILED;
    data->unsupported += row->status == CLFI_RESULT_UNSUPPORTED;
}

/* Records whether the row of a limit is noisy. If several workloads measure the limit, the first one counts. */
static clf_status add_limit(clfi_report_device *device, const clfi_report_work *work, bool is_noisy)
{
    const char *limit = json_string_value(json_object_get(work->workload->work, "measures"));
    if (!limit || json_object_get(device->noisy_limits, limit))
        return CLF_OK;
    if (!device->noisy_limits)
        device->noisy_limits = json_object();
    if (json_object_set_new(device->noisy_limits, limit, json_boolean(is_noisy)) != 0)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "limits of a report: not enough memory");
    return CLF_OK;
}

/* Finds the rows of a workload, which begin at *next, and the best among them. measured: number of devices that were measured. */
static clf_status gather_best(clfi_report_data *data, size_t index, size_t measured, size_t *next)
{
    clfi_report_work *work = &data->works[index];
    size_t verified = 0; /* devices */
    for (work->first = *next; *next < data->row_count && data->rows[*next].work == index; ++*next) {
        clfi_report_row *row = &data->rows[*next];
        clfi_report_device *device = &data->devices[row->device];
        count_row(data, row->row);
        row->is_best = clfi_report_is_measured(row->row) && (*next == work->first || row[-1].device != row->device);
        if (!row->is_best)
            continue;
        work->slowest_ms = fmax(isnan(work->slowest_ms) ? 0 : work->slowest_ms, row->row->wall.median);
        verified += !device->device->reason;
        CLF_TRY(add_limit(device, work, row->row->noisy));
    }
    work->count = *next - work->first;
    work->is_common = verified == measured;
    return CLF_OK;
}

static void find_slowest(const clfi_report_data *data, clfi_report_op *op)
{
    size_t count;
    for (size_t d = 0; d < data->device_count; d++) {
        const double own = clfi_report_log_time(data, op, d, &count);
        if (!(own <= op->slowest_log) && !isnan(own))
            op->slowest_log = own;
    }
}

clf_status clfi_report_gather(const clfi_result *files, size_t count, clfi_report_data *out)
{
    size_t numbered = 0, measured = 0, next = 0;
    *out = (clfi_report_data){.files = files, .file_count = count};
    if (count == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "report: no result file");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            CLF_TRY(clfi_check_same_work(&files[j], &files[i]));
    CLF_TRY(gather_devices(out));
    CLF_TRY(gather_works(out));
    CLF_TRY(gather_rows(out));
    for (size_t i = 0; i < out->device_count; i++)
        measured += !out->devices[i].device->reason;
    for (size_t i = 0; i < out->work_count; i++) {
        CLF_TRY(gather_best(out, i, measured, &next));
        if (out->works[i].workload->flops >= 1 && out->works[i].workload->bytes >= 1)
            out->works[i].number = ++numbered;
    }
    for (size_t i = 0; i < out->op_count; i++)
        find_slowest(out, &out->ops[i]);
    return CLF_OK;
}

void clfi_report_data_free(clfi_report_data *data)
{
    for (size_t i = 0; i < data->device_count; i++)
        json_decref(data->devices[i].noisy_limits);
    free(data->devices);
    free(data->ops);
    free(data->works);
    free(data->rows);
    *data = (clfi_report_data){0};
}
