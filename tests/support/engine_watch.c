/* SPDX-License-Identifier: MIT */
/* Watches the choices of engines through the linker (--wrap): the library calls the functions of this file, which call the real ones. */
#include "support/engine_watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_BYTES = 128 };

static bool is_asked[CLF_OP_COUNT], has_run[CLF_OP_COUNT];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

clf_status __real_clfi_engine_choose(const clf_context *context, clf_op op, const void *args, const clf_engine_choice *measured,
                                     clf_engine_choice *out);
clf_status __wrap_clfi_engine_choose(const clf_context *context, clf_op op, const void *args, const clf_engine_choice *measured,
                                     clf_engine_choice *out);
clf_status __real_clfi_engine_run(clf_context *context, clf_op op, const void *args);
clf_status __wrap_clfi_engine_run(clf_context *context, clf_op op, const void *args);

const char *engine_forced_entry(const char *op)
{
    const size_t length = strlen(op);
    for (const char *at = getenv("CLF_ENGINE"); at && *at; at += *at == ',') {
        if (strncmp(at, op, length) == 0 && at[length] == '=')
            return at + length + 1;
        at += strcspn(at, ",");
    }
    return NULL;
}

/* Whether the choice is the one that the entry names: its engine, and each parameter of the tile that it sets. */
static bool is_entry(const clf_engine_choice *choice, const char *entry)
{
    char text[ENTRY_BYTES], *rest = NULL;
    clf_tile wanted = choice->tile;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(entry, ","), entry);
    const char *name = strtok_r(text, ":", &rest);
    bool is_same = name && strcmp(name, choice->engine->name) == 0;
    for (char *at; is_same && (at = strtok_r(NULL, ":", &rest));) {
        char *equals = strchr(at, '=');
        if (equals)
            *equals = '\0';
        is_same = equals && clfi_engine_tile_set(choice->engine, at, atoi(equals + 1), &wanted) == CLF_OK;
    }
    return is_same && memcmp(&wanted, &choice->tile, sizeof wanted) == 0;
}

/* Whether the call will run an engine. A matrix product without a result only asks for the form of weights. */
static bool is_to_run(clf_op op, const void *args)
{
    return op != CLF_OP_GEMM || ((const clf_gemm_args *)args)->c.buffer;
}

clf_status __wrap_clfi_engine_choose(const clf_context *context, clf_op op, const void *args, const clf_engine_choice *measured,
                                     clf_engine_choice *out)
{
    const clf_status st = __real_clfi_engine_choose(context, op, args, measured, out);
    const char *entry = is_to_run(op, args) ? engine_forced_entry(clfi_engine_tables[op].op) : NULL;
    pthread_mutex_lock(&lock);
    is_asked[op] |= entry != NULL;
    has_run[op] |= entry && st == CLF_OK && is_entry(out, entry);
    pthread_mutex_unlock(&lock);
    return st;
}

/* The real function calls the choice within its own file, where the linker replaces nothing. So the choice is made here first. */
clf_status __wrap_clfi_engine_run(clf_context *context, clf_op op, const void *args)
{
    clf_engine_choice choice;
    CLF_TRY(__wrap_clfi_engine_choose(context, op, args, NULL, &choice));
    return __real_clfi_engine_run(context, op, args);
}

void engine_watch(clf_op op)
{
    is_asked[op] |= engine_forced_entry(clfi_engine_tables[op].op) != NULL;
}

__attribute__((destructor)) static void judge(void)
{
    bool is_missed = false;
    for (int op = 0; op < CLF_OP_COUNT; op++) {
        const char *entry = engine_forced_entry(clfi_engine_tables[op].op);
        if (!entry || !is_asked[op] || has_run[op])
            continue;
        fprintf(stderr, "CLF_ENGINE forces %s=%.*s, which never ran\n", clfi_engine_tables[op].op, (int)strcspn(entry, ","), entry);
        is_missed = true;
    }
    fflush(NULL);
    if (is_missed)
        _exit(1);
}
