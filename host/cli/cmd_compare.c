/* SPDX-License-Identifier: MIT */
/* clformer compare: compares two result files of clformer bench, workload by workload. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/commands.h"
#include "console/json_line.h"
#include "report/compare.h"

/* Reads "5%" or "5" as 0.05. */
static clf_status parse_percent(const char *text, double *out)
{
    char *end;
    const double value = strtod(text, &end);
    if (end != text && *end == '%')
        end++;
    if (end == text || *end || !isfinite(value) || value < 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "--fail-on-regression: expected a percentage, for example 5%%, found \"%s\"", text);
    *out = value / 100;
    return CLF_OK;
}

static clf_status print_json(const clfi_comparison *comparison)
{
    json_t *root;
    CLF_TRY(clfi_comparison_json(comparison, &root));
    return cli_json_print(root, true, JSON_INDENT(2) | JSON_REAL_PRECISION(9), "comparison");
}

int cmd_compare(const cli_command *self, int argc, char **argv)
{
    const char *percent = NULL;
    int as_json = 0, positional;
    const cli_option table[] = {
        {"fail-on-regression", 0, "P%", "exit with status 1 if a row is slower by more than this, or no longer runs", CLI_TEXT, &percent},
        {"json", 0, NULL, "print JSON", CLI_FLAG, &as_json},
    };
    clfi_result a = {0}, b = {0};
    clfi_comparison comparison = {0};
    double threshold = 0;
    clf_status st = cli_parse(self, table, COUNT(table), argc, argv, &positional);
    if (st == CLF_OK && positional != 2)
        st = cli_refuse(self, "expected two files, found %d", positional);
    if (st == CLF_OK && percent)
        st = parse_percent(percent, &threshold);
    if (st == CLF_OK)
        st = clfi_result_read(argv[0], &a);
    if (st == CLF_OK)
        st = clfi_result_read(argv[1], &b);
    if (st == CLF_OK)
        st = clfi_compare(&a, &b, threshold, &comparison);
    if (st == CLF_OK && as_json)
        st = print_json(&comparison);
    else if (st == CLF_OK)
        st = clfi_comparison_print(&comparison, stdout);
    const bool regressed = percent && comparison.regressions > 0;
    clfi_comparison_free(&comparison);
    clfi_result_free(&b);
    clfi_result_free(&a);
    return st != CLF_OK ? cli_fail(st) : regressed ? EXIT_FAILURE : EXIT_SUCCESS;
}
