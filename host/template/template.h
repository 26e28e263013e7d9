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

/* `name` stands before the line in messages ("chat template"); it is copied. FORMAT: broken syntax. UNSUPPORTED: a statement that is not in
 * the list above. Release with clfi_template_destroy. */
clf_status clfi_template_parse(const char *text, size_t size, const char *name, clf_template **out);
void clfi_template_destroy(clf_template *tpl); /* NULL is a no-op */

/* Whether a piece of the template's own text, or a string in it, has the text inside. */
bool clfi_template_writes(const clf_template *tpl, const char *text, size_t size);

/* Appends the text for these variables (an object; borrowed, left as it is). now: what strftime_now formats as local time. FORMAT: a
 * template that fails, at a line; INVALID_ARGUMENT: raise_exception, with its message; UNSUPPORTED: an unknown filter, test, function or
 * method, by name. After a failure `out` holds what was there before. */
clf_status clfi_template_render(const clf_template *tpl, const json_t *variables, time_t now, clf_str *out);

#endif
