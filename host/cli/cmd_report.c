/* SPDX-License-Identifier: MIT */
/* clformer report: shows result files of clformer bench as a page, a picture or Markdown. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "cli/commands.h"
#include "console/output_format.h"
#include "report/report.h"

#define FORMATS "html|svg|md"

static clf_status choose_format(const char *output, int *format)
{
    static const cli_format_end known[] = {{".html", CLFI_REPORT_HTML}, {".svg", CLFI_REPORT_SVG}, {".md", CLFI_REPORT_MARKDOWN}};
    CLF_TRY(cli_format_choose(output, known, COUNT(known), FORMATS, format));
    if (*format == CLI_FORMAT_UNSET)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--output %s: expected a name that ends in .html, .svg or .md, or --format", output);
    return CLF_OK;
}

static clf_status report(char **paths, size_t count, const char *output, clfi_report_format format, clfi_report_part part)
{
    clfi_result *results = NULL;
    clf_str text = CLF_STR_INIT;
    size_t read = 0;
    clf_status st;
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
    int part = CLFI_REPORT_ALL, format = CLI_FORMAT_UNSET, positional;
    const cli_option table[] = {
        {"output", 'o', "F", "write a page (.html), picture (.svg) or Markdown file (.md); - is standard output", CLI_OUTPUT, &output},
        {"format", 0, FORMATS, "format of the output (default: by -o's name)", CLI_CHOICE, &format},
        {"part", 0, "all|rooflines|bars", "part of the report that an .svg shows (default: all)", CLI_CHOICE, &part},
    };
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional == 0)
        st = cli_refuse(self, "expected a result file");
    if (st == CLF_OK && !output)
        st = cli_refuse(self, "expected -o F.html, F.svg or F.md");
    if (st == CLF_OK)
        st = choose_format(output, &format);
    if (st == CLF_OK && part != CLFI_REPORT_ALL && format != CLFI_REPORT_SVG)
        st = clfi_fail(CLF_INVALID_ARGUMENT, "--part needs a picture, -o F.svg (pages and Markdown files have all parts)");
    if (st == CLF_OK)
        st = report(argv, (size_t)positional, output, (clfi_report_format)format, (clfi_report_part)part);
    return st == CLF_OK ? EXIT_SUCCESS : cli_fail(st);
}
