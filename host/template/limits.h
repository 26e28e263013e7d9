/* SPDX-License-Identifier: MIT */
/* Limits for templates, which come from files that are not trusted. */
#ifndef CLFI_TEMPLATE_LIMITS_H
#define CLFI_TEMPLATE_LIMITS_H

enum {
    CLFI_TEMPLATE_MAX_BYTES = 1 << 20,    /* of a template */
    CLFI_TEMPLATE_MAX_DEPTH = 96,         /* of nested statements, expressions and values; of a rendering with macro calls: 4 times this */
    CLFI_TEMPLATE_MAX_STEPS = 1000000,    /* expressions and statements that one rendering evaluates */
    CLFI_TEMPLATE_MAX_OUTPUT = 16 << 20,  /* bytes of the text, and of the text of any value */
    CLFI_TEMPLATE_MAX_RANGE = 100000,     /* numbers of range(), as in Jinja's sandbox */
    CLFI_TEMPLATE_MAX_MEMORY = 256 << 20, /* bytes that one rendering's values and texts occupy at a time */
    CLFI_TEMPLATE_MAX_ELEMENTS = 1 << 20, /* of any list */
    CLFI_TEMPLATE_MAX_WORK = 1 << 26      /* elements, and units of 4 bytes, that one rendering reads or makes: a few seconds */
};

#endif
