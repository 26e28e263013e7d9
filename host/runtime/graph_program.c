/* SPDX-License-Identifier: MIT */
/* Chooses the program of a recording, and describes it for the compiler. */
#include "runtime/graph_program.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Hashes the parts' kernels and macros, so that contexts which share programs do not confuse the programs of two graphs. */
static clf_status hash_parts(const clf_program_parts *parts, char out[CLFI_HASH_TEXT_BYTES])
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < parts->count; i++)
        st = clfi_str_appendf(&text, "%u %s%s\n", parts->list[i]->number, parts->list[i]->spec.kernel, parts->list[i]->spec.options);
    clfi_hash(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

/* Adds a part to a program that does not have it. */
static clf_status add_part(clf_program_parts *parts, clf_program_part *part)
{
    CLF_TRY(clfi_grow(&parts->list, &parts->capacity, parts->count + 1, sizeof *parts->list, "parts of a launch graph"));
    size_t i = parts->count++;
    for (; i > 0 && parts->list[i - 1]->number > part->number; i--)
        parts->list[i] = parts->list[i - 1];
    parts->list[i] = part;
    return CLF_OK;
}

static bool has_part(const clf_program_parts *parts, const clf_program_part *part)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->list[i] == part)
            return true;
    return false;
}

/* Whether the program lacks the part and the recording needs it. */
static bool lacks(const clf_graph_program *program, const clf_recording *recording, const clf_program_part *part)
{
    return part->recording == recording->number && !has_part(&program->parts, part);
}

static bool has_all_kernels(const clf_graph_program *program, const clf_recording *recording)
{
    for (size_t i = 0; i < recording->part_count; i++)
        if (lacks(program, recording, recording->parts[i]))
            return false;
    return true;
}

/* Describes the program of program->parts. */
static clf_status describe(const clf_context *context, clf_graph_program *program)
{
    const clf_device_caps *caps = &context->device.caps;
    clf_program_parts *parts = &program->parts;
    char key[CLFI_HASH_TEXT_BYTES];
    clfi_str_clear(&parts->head);
    CLF_TRY(clfi_str_append_text(&parts->head, "#define EACH_PART(F)"));
    for (size_t i = 0; i < parts->count; i++)
        CLF_TRY(clfi_str_appendf(&parts->head, " F(%u)", parts->list[i]->number));
    CLF_TRY(clfi_str_append_char(&parts->head, '\n'));
    CLF_TRY(hash_parts(parts, key));
    if (caps->graph_group > 1) {
        program->spec = clfi_kernel_spec("group_graph.cl", "group_graph");
        clfi_spec_int(&program->spec, "GROUP", caps->graph_group);
        clfi_spec_int(&program->spec, "SPACE_BYTES", CLFI_GRAPH_SPACE_BYTES);
        clfi_spec_int(&program->spec, "HAS_PTX", caps->has_ptx);
    } else
        program->spec = clfi_kernel_spec("launch_graph.cl", "launch_graph");
    program->spec.parts = parts;
    clfi_spec_text(&program->spec, "KEY", key);
    return CLF_OK;
}

/* Adds the recording's kernels to a program. */
static clf_status add_kernels(const clf_context *context, const clf_recording *recording, clf_graph_program *program)
{
    for (size_t i = 0; i < recording->part_count; i++)
        if (lacks(program, recording, recording->parts[i]))
            CLF_TRY(add_part(&program->parts, recording->parts[i]));
    return describe(context, program);
}

static void free_program(clf_graph_program *program)
{
    free(program->parts.list);
    clfi_str_free(&program->parts.head);
    free(program);
}

static clf_status make_program(const clf_context *context, clf_graph_programs *programs, const clf_recording *recording, uint64_t rehearsal)
{
    clf_graph_program *program;
    CLF_TRY(clfi_grow(&programs->list, &programs->capacity, programs->count + 1, sizeof *programs->list, "programs of a launch graph"));
    CLF_TRY(clfi_alloc(1, sizeof *program, "program of a launch graph", &program));
    program->rehearsal = rehearsal;
    const clf_status st = add_kernels(context, recording, program);
    if (st == CLF_OK)
        programs->list[programs->count++] = program;
    else
        free_program(program);
    return st;
}

static const clf_kernel_spec *known_program(const clf_graph_programs *programs, const clf_recording *recording)
{
    for (size_t i = 0; i < programs->count; i++)
        if (has_all_kernels(programs->list[i], recording))
            return &programs->list[i]->spec;
    return NULL;
}

clf_status clfi_graph_programs_find(const clf_context *context, clf_graph_programs *programs, const clf_recording *recording,
                                    const clf_kernel_spec **out)
{
    const uint64_t rehearsal = context->rehearsal ? context->rehearsals : 0;
    clf_graph_program *const last = programs->count ? programs->list[programs->count - 1] : NULL;
    *out = known_program(programs, recording);
    if (*out)
        return CLF_OK;
    if (rehearsal && last && last->rehearsal == rehearsal)
        CLF_TRY(add_kernels(context, recording, last));
    else if (programs->count < programs->most)
        CLF_TRY(make_program(context, programs, recording, rehearsal));
    *out = known_program(programs, recording);
    return CLF_OK;
}

void clfi_graph_programs_free(clf_graph_programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        free_program(programs->list[i]);
    free(programs->list);
    *programs = (clf_graph_programs){.count = 0};
}
