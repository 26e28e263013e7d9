/* SPDX-License-Identifier: MIT */
/* Chat templates: the subset of Jinja (https://jinja.palletsprojects.com/templates/) that models ship with their tokenizers, rendered as
 * transformers does: trim_blocks and lstrip_blocks on, Python's text of values, loop controls, `generation` blocks.
 *
 * Statements: if, for (with a condition, else, unpacking), set (variables, namespaces, blocks), macro, break, continue, generation, raw,
 * comments. Expressions: literals, lists, dictionaries (keys: strings and integers), attributes, items, slices, arithmetic, ~, comparisons,
 * in, and / or / not, `a if b else c`. Functions: filters, tests, methods of strings and dictionaries, range, namespace, dict,
 * raise_exception, strftime_now, loop.cycle and loop.changed. Letters change their case as in Python, and in the filter title as in Jinja.
 * Tuples, views of dictionaries, ranges and generators are what they are in Python (list_kind.h). Anything else is refused by its name and
 * line. */
#ifndef CLFI_TEMPLATE_TEMPLATE_H
#define CLFI_TEMPLATE_TEMPLATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/status.h"
#include "base/str.h"
#include "template/limits.h"

typedef struct clf_template clf_template;

/* Parses a template of at most CLFI_TEMPLATE_MAX_BYTES. `name` ("chat template") stands before the line in messages; it is copied. FORMAT:
 * broken syntax. UNSUPPORTED: a statement or construct that is not in the list above. OUT_OF_MEMORY. Release *out with
 * clfi_template_destroy. */
clf_status clfi_template_parse(const char *text, size_t size, const char *name, clf_template **out);
void clfi_template_destroy(clf_template *tpl); /* NULL is a no-op */

/* Whether the template's own text between tags, or a string in it, contains the text. */
bool clfi_template_writes(const clf_template *tpl, const char *text, size_t size);

/* Appends the text of the template for these variables (an object; borrowed and not changed). now: the time that strftime_now writes as
 * local time. FORMAT: evaluation fails, or exceeds a limit (limits.h). INVALID_ARGUMENT: raise_exception, with its message. UNSUPPORTED: a
 * filter, test, function, method or argument that is not supported. OUT_OF_MEMORY. Messages name the line. After a failure `out` is as
 * before. */
clf_status clfi_template_render(const clf_template *tpl, const json_t *variables, time_t now, clf_str *out);

#endif
