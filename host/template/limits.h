/* SPDX-License-Identifier: MIT */
/* Limits for chat templates, which come from files that are not trusted. */
#ifndef CLFI_TEMPLATE_LIMITS_H
#define CLFI_TEMPLATE_LIMITS_H

enum {
    CLFI_TEMPLATE_MAX_BYTES = 1 << 20,    /* size of a template */
    CLFI_TEMPLATE_MAX_DEPTH = 96,         /* levels of statements, expressions and values; 4 times as many with macro calls */
    CLFI_TEMPLATE_MAX_STEPS = 1000000,    /* expressions and statements that one rendering evaluates */
    CLFI_TEMPLATE_MAX_OUTPUT = 16 << 20,  /* bytes of the result, and of any value as text */
    CLFI_TEMPLATE_MAX_RANGE = 100000,     /* numbers that a call of range() returns, as in Jinja's sandbox */
    CLFI_TEMPLATE_MAX_MEMORY = 256 << 20, /* bytes that one rendering's values and texts occupy at a time */
    CLFI_TEMPLATE_MAX_ELEMENTS = 1 << 20, /* elements of a list */
    CLFI_TEMPLATE_MAX_WORK = 1 << 26      /* elements plus a quarter of all bytes that one rendering reads or makes: a few seconds */
};

#endif
