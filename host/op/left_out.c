/* SPDX-License-Identifier: MIT */
/* The list of engines that are left out, in the context and in a file of the cache. */
#include "op/left_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "runtime/cache_file.h"
#include "runtime/kernel_source.h"
#include "runtime/shared.h"
#include "runtime/slot.h"

enum { MOST_BYTES = 1 << 16, NAME_BYTES = 16 + CLFI_HASH_TEXT_BYTES };

typedef struct left_out_state {
    bool is_read, has_graphs; /* has_graphs: the list has a line for launch graphs */
    uint64_t told;            /* bits of the engines in the list */
    clf_str list;             /* "op=engine: reason\n" each */
} left_out_state;

static const char graphs_line[] = "launch graphs: ";

static void clear(void *content)
{
    clfi_str_free(&((left_out_state *)content)->list);
}

static const clf_slot_type left_out_slot = {"engines that are left out", sizeof(left_out_state), clear};

/* Rows that several ops share have one bit. */
uint64_t clfi_engine_bit(const clf_engine *engine)
{
    unsigned bit = 0;
    for (size_t op = 0; op < CLF_OP_COUNT; op++) {
        const clf_engine_table *table = &clfi_engine_tables[op];
        for (size_t i = 0; i < table->count; i++, bit++)
            if (engine == &table->engines[i])
                return UINT64_C(1) << bit;
    }
    return 0;
}

/* No file is used with kernels from CLF_KERNEL_DIR, which may change under the same names. */
static bool has_file(const clf_context *context)
{
    return context->shared->cache && !context->kernel_dir;
}

/* The key depends on device, driver and the text of every kernel, so that a repaired kernel is tried again. */
static clf_status find_key(const clf_device_info *info, char key[CLFI_HASH_TEXT_BYTES], char name[NAME_BYTES])
{
    clf_str text = CLF_STR_INIT;
    clf_status st = clfi_str_appendf(&text, "%s\n%s\n%s\n%s\n%s\n%s\n", clfi_cache_mark, clf_version(), info->platform_name, info->name,
                                     info->device_version, info->driver_version);
    for (size_t i = 0; st == CLF_OK && i < clfi_kernels.count; i++)
        st = clfi_str_append(&text, clfi_kernels.files[i].text, clfi_kernels.files[i].size);
    clfi_hash(clfi_str_text(&text), text.length, key);
    clfi_str_free(&text);
    snprintf(name, NAME_BYTES, "engines-%s", key);
    return st;
}

/* The engine that a line begins with; NULL: there is none of that name. */
static const clf_engine *find_engine(const char *line, size_t length)
{
    char entry[64];
    snprintf(entry, sizeof entry, "%.*s", (int)length, line);
    char *equals = strchr(entry, '='), *colon = strchr(entry, ':');
    if (!equals || !colon || colon < equals)
        return NULL;
    *equals = *colon = '\0';
    for (size_t op = 0; op < CLF_OP_COUNT; op++)
        for (size_t i = 0; i < clfi_engine_tables[op].count; i++)
            if (strcmp(clfi_engine_tables[op].op, entry) == 0 && strcmp(clfi_engine_tables[op].engines[i].name, equals + 1) == 0)
                return &clfi_engine_tables[op].engines[i];
    return NULL;
}

/* Appends the file's lines. */
static clf_status read_file(const clf_private_directory *cache, const clf_device_info *info, clf_str *out)
{
    char key[CLFI_HASH_TEXT_BYTES], name[NAME_BYTES];
    clf_str file = CLF_STR_INIT;
    CLF_TRY(find_key(info, key, name));
    clf_status st = clfi_cache_file_read(cache, name, key, MOST_BYTES, &file);
    if (st == CLF_OK)
        st = clfi_str_append(out, file.data + CLFI_CACHE_CONTENT_AT, file.length - CLFI_CACHE_CONTENT_AT);
    clfi_str_free(&file);
    return st;
}

clf_status clfi_engines_remembered(const clf_device_info *device, clf_str *out)
{
    char *path;
    bool exists = false;
    clf_private_directory *cache = NULL;
    clf_status st = clfi_programs_path(NULL, &path);
    if (st == CLF_OK && path)
        st = clfi_directory_exists(path, &exists);
    if (st == CLF_OK && exists)
        st = clfi_private_directory_open(path, &cache);
    if (st == CLF_OK && cache)
        st = read_file(cache, device, out);
    clfi_private_directory_close(cache);
    free(path);
    return st == CLF_OUT_OF_MEMORY ? st : CLF_OK; /* what cannot be read is found out again */
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static clf_status read_list(clf_context *context, left_out_state *state)
{
    const clf_status st = read_file(context->shared->cache, &context->device.info, &state->list);
    if (st == CLF_NOT_FOUND)
        return CLF_OK;
    CLF_TRY(st);
    for (const char *line = clfi_str_text(&state->list); *line; line = next_line(line)) {
        const clf_engine *engine = find_engine(line, strcspn(line, "\n"));
        state->told |= engine ? clfi_engine_bit(engine) : 0;
        state->has_graphs |= strncmp(line, graphs_line, sizeof graphs_line - 1) == 0;
    }
    context->unbuilt |= state->told;
    return CLF_OK;
}

/* Appends a line to the list, and "op=engine" to `names`, for each engine in context->unbuilt that the list lacks. */
static clf_status add_engines(const clf_context *context, left_out_state *state, clf_str *names)
{
    for (size_t op = 0; op < CLF_OP_COUNT; op++)
        for (size_t i = 0; i < clfi_engine_tables[op].count; i++) {
            const clf_engine *engine = &clfi_engine_tables[op].engines[i];
            const uint64_t bit = clfi_engine_bit(engine);
            if (!(context->unbuilt & bit & ~state->told))
                continue;
            state->told |= bit;
            CLF_TRY(clfi_str_appendf(&state->list, "%s=%s: %s\n", clfi_engine_tables[op].op, engine->name, context->unbuilt_reason));
            CLF_TRY(clfi_str_appendf(names, "%s%s=%s", names->length ? ", " : "", clfi_engine_tables[op].op, engine->name));
        }
    return CLF_OK;
}

static clf_status add_graphs(const clf_context *context, left_out_state *state, clf_str *names)
{
    if (context->unbuilt_graphs == 0 || state->has_graphs)
        return CLF_OK;
    state->has_graphs = true;
    CLF_TRY(clfi_str_appendf(&state->list, "%s%s\n", graphs_line, context->unbuilt_reason));
    return clfi_str_appendf(names, "%slaunch graphs", names->length ? ", " : "");
}

/* Adds the engines noted since the last call. The first line of a run is logged as an error, later ones as information. */
static clf_status add_lines(const clf_context *context, left_out_state *state)
{
    clf_str names = CLF_STR_INIT;
    clf_status st = add_engines(context, state, &names);
    if (st == CLF_OK)
        st = add_graphs(context, state, &names);
    if (st == CLF_OK) {
        const bool has_told = atomic_exchange(&context->shared->has_told, true);
        clfi_log(context, has_told ? CLF_LOG_INFO : CLF_LOG_ERROR, "left out from now on: %s: %s", names.data, context->unbuilt_reason);
    }
    clfi_str_free(&names);
    return st;
}

static clf_status remember(const clf_context *context, const left_out_state *state)
{
    char key[CLFI_HASH_TEXT_BYTES], name[NAME_BYTES];
    CLF_TRY(find_key(&context->device.info, key, name));
    return clfi_cache_file_write(context->shared->cache, name, key, state->list.data, state->list.length);
}

/* The state with all engines that the file or context->unbuilt names. NULL: not enough memory. */
static left_out_state *update(clf_context *context)
{
    left_out_state *state;
    if (clfi_slot_get(context, &left_out_slot, &state) != CLF_OK)
        return NULL;
    clf_status st = CLF_OK;
    if (!state->is_read && has_file(context))
        st = read_list(context, state);
    state->is_read = true;
    if (st == CLF_OK && ((context->unbuilt & ~state->told) || (context->unbuilt_graphs > 0 && !state->has_graphs))) {
        st = add_lines(context, state);
        if (st == CLF_OK && has_file(context))
            st = remember(context, state);
    }
    if (st != CLF_OK)
        clfi_log(context, CLF_LOG_INFO, "engines that are left out: %s", clf_last_error());
    return state;
}

bool clfi_engine_is_left_out(const clf_context *context, const clf_engine *engine)
{
    update((clf_context *)context); /* see clfi_slot_get */
    return (context->unbuilt & clfi_engine_bit(engine)) != 0;
}

const char *clfi_engines_left_out(const clf_context *context)
{
    const left_out_state *state = update((clf_context *)context);
    return state ? clfi_str_text(&state->list) : "";
}

clf_status clfi_engine_start(clf_context *context, const clf_engine *engine, const void *args, bool *out_was_lost)
{
    const uint64_t asker = context->asker, bit = clfi_engine_bit(engine);
    context->asker = bit;
    const clf_status st = engine->run(context, args);
    context->asker = asker;
    *out_was_lost = st == CLF_BUILD && (context->unbuilt & bit);
    return st;
}
