/* SPDX-License-Identifier: MIT */
/* clformer report: result files as a page, a picture or Markdown. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "report/report.h"

static clf_status format_of(const char *path, clfi_report_format *out)
{
    static const struct {
        const char *end;
        clfi_report_format format;
    } known[] = {{".html", CLFI_REPORT_HTML}, {".svg", CLFI_REPORT_SVG}, {".md", CLFI_REPORT_MARKDOWN}};
    const size_t length = strlen(path);
    for (size_t i = 0; i < COUNT(known); i++)
        if (length > strlen(known[i].end) && strcmp(path + length - strlen(known[i].end), known[i].end) == 0) {
            *out = known[i].format;
            return CLF_OK;
        }
    CLF_FAIL(CLF_INVALID_ARGUMENT, "--output %s: expected a name that ends in .html, .svg or .md", path);
}

static clf_status report(char **paths, size_t count, const char *output, clfi_report_part part)
{
    clfi_result *results = NULL;
    clfi_report_format format = CLFI_REPORT_HTML;
    clf_str text = CLF_STR_INIT;
    size_t read = 0;
    clf_status st;
    CLF_GOTO(format_of(output, &format));
    CLF_GOTO(clfi_alloc(count, sizeof *results, "result files", &results));
    for (; read < count; read++)
        CLF_GOTO(clfi_result_read(paths[read], &results[read]));
    CLF_GOTO(clfi_report_write(results, count, format, part, &text));
    CLF_GOTO(clfi_output_write(output, text.data, text.length));
done:
    for (size_t i = 0; i < read; i++)
        clfi_result_free(&results[i]);
    free(results);
    clfi_str_free(&text);
    return st;
}

int cmd_report(const cli_command *self, int argc, char **argv)
{
    const char *output = NULL;
    int part = CLFI_REPORT_ALL, positional;
    const cli_option table[] = {
        {"output", 'o', "F", "the page (.html), picture (.svg) or Markdown file (.md) to write", CLI_OUTPUT, &output},
        {"part", 0, "all|rooflines|bars", "what an .svg shows (default: all)", CLI_CHOICE, &part},
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional == 0)
        st = cli_refuse(self, "no result file");
    if (st == CLF_OK && !output)
        st = cli_refuse(self, "no -o F.html, F.svg or F.md");
    if (st == CLF_OK)
        st = report(argv, (size_t)positional, output, (clfi_report_part)part);
    return st == CLF_OK ? EXIT_SUCCESS : cli_fail(st);
}
