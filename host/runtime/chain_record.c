/* SPDX-License-Identifier: MIT */
/* Noting launches: their kernels, each once, their arguments and their buffers. */
#include "runtime/chain_record.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

void clfi_chain_record_clear(clf_chain_record *record)
{
    for (size_t i = 0; i < record->held_count; i++)
        clfi_buffer_release(record->held[i]);
    record->held_count = record->step_count = record->argument_count = 0;
    clfi_str_clear(&record->bytes);
}

void clfi_chain_record_free(clf_chain_record *record)
{
    clfi_chain_record_clear(record);
    for (size_t i = 0; i < record->parts.count; i++)
        clfi_str_free(&record->parts.list[i].tail);
    free(record->parts.list);
    clfi_str_free(&record->parts.head);
    clfi_str_free(&record->bytes);
    free(record->steps);
    free(record->arguments);
    free(record->held);
}

void clfi_chain_record_start(clf_chain_record *record)
{
    static atomic_uint_fast64_t recordings;
    clfi_chain_record_clear(record);
    record->number = atomic_fetch_add(&recordings, 1) + 1;
}

/* Whether the kernels of a file can be told which work-item they are (cl/shared/item.cl). */
static bool takes_item(const clf_kernel_spec *spec)
{
    const clf_kernel_file *file = clfi_kernel_find(spec->own, spec->file);
    return file && strstr(file->text, "ITEM_PARAMETERS") != NULL;
}

static bool is_part(const clf_program_part *part, const clf_kernel_spec *spec)
{
    return part->spec.hash == spec->hash && strcmp(part->spec.options, spec->options) == 0 && strcmp(part->spec.kernel, spec->kernel) == 0;
}

clf_status clfi_chain_note(clf_chain_record *record, const clf_kernel_spec *spec, bool *out_is_taken)
{
    clf_program_parts *parts = &record->parts;
    size_t part = 0;
    while (part < parts->count && !is_part(&parts->list[part], spec))
        part++;
    *out_is_taken = part < parts->count || (!spec->overflow && takes_item(spec));
    if (!*out_is_taken)
        return CLF_OK;
    if (part == parts->count) {
        CLF_TRY(clfi_grow(&parts->list, &parts->capacity, part + 1, sizeof *parts->list, "parts of a chain"));
        parts->list[parts->count++] = (clf_program_part){*spec, CLF_STR_INIT};
    }
    CLF_TRY(clfi_grow(&record->steps, &record->step_capacity, record->step_count + 1, sizeof *record->steps, "steps of a chain"));
    record->steps[record->step_count] = (clf_chain_step){.part = part, .first = record->argument_count};
    return CLF_OK;
}

static clf_status add_argument(clf_chain_record *record, const clf_chain_argument *argument)
{
    CLF_TRY(clfi_grow(&record->arguments, &record->argument_capacity, record->argument_count + 1, sizeof *record->arguments,
                      "arguments of a chain"));
    record->arguments[record->argument_count++] = *argument;
    return CLF_OK;
}

clf_status clfi_chain_note_value(clf_chain_record *record, const char *type, const void *value, size_t size)
{
    const clf_chain_argument argument = {.type = type, .at = record->bytes.length, .size = size};
    if (!type)
        CLF_FAIL(CLF_INTERNAL, "chain: kernel %s has an argument without a type",
                 record->parts.list[record->steps[record->step_count].part].spec.kernel);
    CLF_TRY(clfi_str_append(&record->bytes, value, size));
    return add_argument(record, &argument);
}

clf_status clfi_chain_note_buffer(clf_chain_record *record, clf_buffer *buffer)
{
    const clf_chain_argument argument = {.buffer = buffer, .size = sizeof(cl_ulong)};
    if (buffer && buffer->recording != record->number) {
        CLF_TRY(clfi_grow(&record->held, &record->held_capacity, record->held_count + 1, sizeof *record->held, "buffers of a chain"));
        record->held[record->held_count++] = clfi_buffer_retain(buffer);
        buffer->recording = record->number;
    }
    return add_argument(record, &argument);
}

size_t clfi_chain_place(size_t offset, size_t size)
{
    const size_t alignment = size > 16 ? 32 : size > 8 ? 16 : 8;
    return (offset + alignment - 1) / alignment * alignment;
}

/* The function by which the chain calls a part: takes the arguments from their places, and goes through its items. */
static clf_status add_tail(const clf_chain_record *record, const clf_chain_step *step, clf_program_part *part)
{
    clf_str *tail = &part->tail;
    size_t offset = 0;
    CLF_TRY(clfi_str_appendf(
        tail, "\nvoid part_%zu(uint first, uint end, uint items_x, uint items_y, __global const uchar *arguments)\n{\n", step->part));
    for (size_t i = 0; i < step->arguments; i++) {
        const clf_chain_argument *a = &record->arguments[step->first + i];
        offset = clfi_chain_place(offset, a->size);
        if (a->type)
            CLF_TRY(clfi_str_appendf(tail, "    const %s argument_%zu = *(__global const %s *)(arguments + %zu);\n", a->type, i, a->type,
                                     offset));
        else
            CLF_TRY(clfi_str_appendf(
                tail, "    __global void *argument_%zu = (__global void *)*(__global const ulong *)(arguments + %zu);\n", i, offset));
        offset += a->size;
    }
    CLF_TRY(clfi_str_appendf(tail,
                             "    for (uint i = first; i < end; i++) {\n        const uint row = i / items_x, plane = row / items_y;\n"
                             "        %s(i - row * items_x, row - plane * items_y, plane, items_x",
                             part->spec.kernel));
    for (size_t i = 0; i < step->arguments; i++)
        CLF_TRY(clfi_str_appendf(tail, ", argument_%zu", i));
    return clfi_str_append_text(tail, ");\n    }\n}\n");
}

clf_status clfi_chain_note_end(clf_chain_record *record, cl_uint dimensions, const size_t *groups, const size_t *local)
{
    clf_chain_step *step = &record->steps[record->step_count];
    clf_program_part *part = &record->parts.list[step->part];
    for (cl_uint i = 0; i < 3; i++) {
        step->groups[i] = i < dimensions ? groups[i] : 1;
        step->local[i] = i < dimensions ? local[i] : 1;
        if (step->groups[i] == 0) {
            record->argument_count = step->first;
            return CLF_OK;
        }
    }
    step->arguments = record->argument_count - step->first;
    if (!part->tail.length)
        CLF_TRY(add_tail(record, step, part));
    record->step_count++;
    return CLF_OK;
}
