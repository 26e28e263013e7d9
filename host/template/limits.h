/* SPDX-License-Identifier: MIT */
/* Limits for templates, which come from files that are not trusted. */
#ifndef CLFI_TEMPLATE_LIMITS_H
#define CLFI_TEMPLATE_LIMITS_H

enum {
    CLFI_TEMPLATE_MAX_BYTES = 1 << 20,    /* of a template */
    CLFI_TEMPLATE_MAX_DEPTH = 96,         /* of nested statements, expressions and macro calls */
    CLFI_TEMPLATE_MAX_STEPS = 1000000,    /* evaluated expressions and statements of one rendering */
    CLFI_TEMPLATE_MAX_OUTPUT = 16 << 20,  /* bytes of text, and of any value on the way */
    CLFI_TEMPLATE_MAX_RANGE = 100000,     /* numbers of range(), as Jinja's sandbox */
    CLFI_TEMPLATE_MAX_MEMORY = 256 << 20, /* bytes that one rendering's values and texts have at a time */
    CLFI_TEMPLATE_MAX_ELEMENTS = 1 << 20, /* of a list on the way */
    CLFI_TEMPLATE_MAX_WORK = 1 << 26      /* elements, and fours of bytes, that one rendering's values have in all: seconds */
};

#endif
