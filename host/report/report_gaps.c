/* SPDX-License-Identifier: MIT */
/* Writes the page's tables of failures, of what was not measured, and of memory and energy. */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

void clfi_report_failure_table(clfi_markup *m, const clfi_report_data *data)
{
    if (data->failed == 0) {
        clfi_markup_raw(m, "<p>None: every computed result agrees with the host's float64 reference.</p>\n");
        return;
    }
    clfi_markup_raw(m, "<div class=\"scroll\"><table>\n<tr><th>workload</th><th>device</th><th>engine</th><th>reason</th></tr>\n");
    for (size_t i = 0; i < data->row_count; i++) {
        const clfi_report_row *row = &data->rows[i];
        if (row->row->status != CLFI_RESULT_FAILED)
            continue;
        clfi_markup_raw(m, "<tr><td><code>");
        clfi_markup_escape(m, data->works[row->work].workload->id, 0);
        clfi_markup_raw(m, "</code></td><td>");
        clfi_markup_escape(m, data->devices[row->device].label, 0);
        clfi_markup_raw(m, "</td><td>");
        clfi_markup_escape(m, row->row->engine, 0);
        clfi_markup_raw(m, "</td><td><span class=\"bad\">FAILED</span>: ");
        clfi_markup_escape(m, row->row->reason, 0);
        clfi_markup_raw(m, "</td></tr>\n");
    }
    clfi_markup_raw(m, "</table></div>\n");
}

/* Groups the gaps of a file by their reasons: reason -> array of texts. The caller releases *out, also after a failure. */
static clf_status group_gaps(const clfi_result *file, json_t **out)
{
    *out = json_object();
    for (size_t i = 0; i < file->not_measured_count; i++) {
        const char *why = file->not_measured[i].why;
        json_t *texts = json_object_get(*out, why);
        if (!texts && json_object_set_new(*out, why, json_array()) == 0)
            texts = json_object_get(*out, why);
        if (json_array_append_new(texts, json_string(file->not_measured[i].what)) != 0)
            CLF_FAIL(CLF_OUT_OF_MEMORY, "gaps of a report: not enough memory");
    }
    return CLF_OK;
}

/* Writes each reason once, with everything that it explains. */
static void gaps_of(clfi_markup *m, const clfi_result *file)
{
    json_t *groups = NULL, *texts, *text;
    const char *why;
    size_t i;
    if (m->status == CLF_OK)
        m->status = group_gaps(file, &groups);
    json_object_foreach(groups, why, texts)
    {
        clfi_markup_raw(m, "<tr><td>");
        clfi_markup_escape(m, why, 0);
        clfi_markup_raw(m, "</td><td>");
        json_array_foreach(texts, i, text)
        {
            clfi_markup_raw(m, i ? "<br>" : "");
            clfi_markup_escape(m, json_string_value(text), 0);
        }
        clfi_markup_raw(m, "</td></tr>\n");
    }
    json_decref(groups);
}

void clfi_report_gap_table(clfi_markup *m, const clfi_report_data *data)
{
    size_t count = 0;
    for (size_t f = 0; f < data->file_count; f++)
        count += data->files[f].not_measured_count;
    if (count == 0) {
        clfi_markup_raw(m, "<p>None: everything was measured.</p>\n");
        return;
    }
    clfi_markup_raw(m, "<div class=\"scroll\"><table class=\"dense\">\n<tr><th>why</th><th>what</th></tr>\n");
    for (size_t f = 0; f < data->file_count; f++) {
        if (data->file_count > 1 && data->files[f].not_measured_count) {
            clfi_markup_raw(m, "<tr><td colspan=\"2\"><b>");
            clfi_markup_escape(m, data->files[f].path, 0);
            clfi_markup_raw(m, "</b></td></tr>\n");
        }
        gaps_of(m, &data->files[f]);
    }
    clfi_markup_raw(m, "</table></div>\n");
}

static void fact_cell(clfi_markup *m, const clfi_row_facts *facts, const clfi_row_fact *fact)
{
    char text[CLFI_FIGURE_BYTES];
    const bool is_bytes = fact->kind == CLFI_FACT_BYTES;
    const double value = clfi_row_fact_get(facts, fact);
    if (!clfi_row_fact_is_known(facts, fact))
        clfi_markup_raw(m, "<td class=\"n\">" CLFI_NO_FIGURE "</td>");
    else
        clfi_markup_format(m, "<td class=\"n\">%s%s</td>", is_bytes ? clfi_figure_bytes(value, text) : clfi_figure(value, text),
                           fact->kind == CLFI_FACT_JOULES ? " J" : "");
}

static void memory_row(clfi_markup *m, const clfi_report_data *data, const clfi_report_row *row)
{
    const clfi_result_row *r = row->row;
    clfi_markup_raw(m, "<tr><td><code>");
    clfi_markup_escape(m, data->works[row->work].workload->id, 0);
    clfi_markup_raw(m, "</code></td><td>");
    clfi_markup_escape(m, data->devices[row->device].label, 0);
    clfi_markup_raw(m, "</td>");
    for (size_t i = 0; i < clfi_row_fact_count; i++)
        if (clfi_row_fact_list[i].title[0])
            fact_cell(m, &r->facts, &clfi_row_fact_list[i]);
    clfi_markup_raw(m, "<td>");
    clfi_markup_escape(m, r->energy_method, 0);
    clfi_markup_raw(m, "</td></tr>\n");
}

/* Whether the table lists the row: models need much memory, and energy is shown wherever it was measured. */
static bool is_memory_row(const clfi_report_data *data, const clfi_report_row *row)
{
    const char *suite = data->works[row->work].workload->suite;
    const bool has_model = strcmp(suite, "models") == 0 || strcmp(suite, "generation") == 0;
    return row->is_best && (has_model || isfinite(row->row->facts.joules_per_run));
}

bool clfi_report_has_memory(const clfi_report_data *data)
{
    for (size_t i = 0; i < data->row_count; i++)
        if (is_memory_row(data, &data->rows[i]))
            return true;
    return false;
}

void clfi_report_memory_table(clfi_markup *m, const clfi_report_data *data)
{
    clfi_markup_raw(m, "<div class=\"scroll\"><table class=\"dense\">\n<tr><th>workload</th><th>device</th>");
    for (size_t i = 0; i < clfi_row_fact_count; i++)
        if (clfi_row_fact_list[i].title[0])
            clfi_markup_format(m, "<th class=\"n\">%s</th>", clfi_row_fact_list[i].title);
    clfi_markup_raw(m, "<th>counted by</th></tr>\n");
    for (size_t i = 0; i < data->row_count; i++)
        if (is_memory_row(data, &data->rows[i]))
            memory_row(m, data, &data->rows[i]);
    clfi_markup_raw(m, "</table></div>\n");
}
