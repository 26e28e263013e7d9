/* SPDX-License-Identifier: MIT */
/* Records launches: their kernels (each once), their arguments in the layout that the device reads, and their buffers. */
#include "runtime/recording.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

enum {
    HEADER_WORDS = 8, /* words of a record's header, as in cl/shared/graph_record.cl */
    IS_GROUP_WORD = 6,
    HEADER_BYTES = HEADER_WORDS * sizeof(uint32_t),
    RECORD_ALIGNMENT = 32 /* so that vectors among the arguments are aligned */
};

void clfi_recording_clear(clf_recording *recording)
{
    for (size_t i = 0; i < recording->held_count; i++)
        clfi_buffer_release(recording->held[i]);
    recording->held_count = recording->launch_count = recording->argument_count = recording->end = 0;
    recording->is_unfit = false;
    clfi_str_clear(&recording->records);
}

void clfi_recording_free(clf_recording *recording)
{
    clfi_recording_clear(recording);
    for (size_t i = 0; i < recording->part_count; i++) {
        clfi_str_free(&recording->parts[i]->tail);
        free(recording->parts[i]);
    }
    free(recording->parts);
    clfi_str_free(&recording->records);
    free(recording->launches);
    free(recording->arguments);
    free(recording->held);
}

void clfi_recording_start(clf_recording *recording)
{
    static atomic_uint_fast64_t recordings;
    clfi_recording_clear(recording);
    recording->number = atomic_fetch_add(&recordings, 1) + 1;
}

/* Whether the file's kernels take their work-item (cl/shared/item.cl) or work-group (group.cl) as arguments. parameters: the macro of such
 * arguments. */
static bool can_be_told(const clf_kernel_spec *spec, const char *parameters)
{
    const clf_kernel_file *file = clfi_kernel_find(spec->own, spec->file);
    return file && strstr(file->text, parameters) != NULL;
}

/* Appends zeros up to `length`. No gap is longer than a header. */
static clf_status pad(clf_str *to, size_t length)
{
    static const char zeros[HEADER_BYTES];
    return clfi_str_append(to, zeros, length - to->length);
}

/* Drops a launch that was begun and not finished. */
static void forget_unfinished(clf_recording *recording)
{
    const clf_recorded_launch *last = recording->launch_count > 0 ? &recording->launches[recording->launch_count - 1] : NULL;
    recording->argument_count = last ? last->first + last->arguments : 0;
    recording->records.length = recording->end;
}

static clf_program_part *find_part(const clf_recording *recording, const clf_kernel_spec *spec, uint64_t hash)
{
    for (size_t i = 0; i < recording->part_count; i++) {
        clf_program_part *part = recording->parts[i];
        if (clfi_spec_is(spec, hash, part->spec.kernel, part->spec.options, part->hash))
            return part;
    }
    return NULL;
}

static bool is_taken_number(const clf_recording *recording, uint32_t number)
{
    for (size_t i = 0; i < recording->part_count; i++)
        if (recording->parts[i]->number == number)
            return true;
    return false;
}

/* A number that no other part has. It is an int in OpenCL C. */
static uint32_t number_of(const clf_recording *recording, const clf_kernel_spec *spec, uint64_t hash)
{
    uint32_t number = (uint32_t)(hash ^ hash >> 32);
    for (const char *c = spec->kernel; *c; c++)
        number = number * 31 + (unsigned char)*c;
    while (is_taken_number(recording, number & INT32_MAX))
        number++;
    return number & INT32_MAX;
}

/* Adds the kernel to the recordings' parts. *out NULL: it cannot be part of a graph. */
static clf_status add_part(clf_recording *recording, const clf_kernel_spec *spec, uint64_t hash, clf_program_part **out)
{
    const bool is_group = recording->group > 1 && can_be_told(spec, "GROUP_PARAMETERS");
    *out = NULL;
    if (spec->overflow || !(is_group || can_be_told(spec, "ITEM_PARAMETERS")))
        return CLF_OK;
    CLF_TRY(clfi_grow(&recording->parts, &recording->part_capacity, recording->part_count + 1, sizeof *recording->parts,
                      "parts of a launch graph"));
    CLF_TRY(clfi_alloc(1, sizeof **out, "part of a launch graph", out));
    **out = (clf_program_part){
        .spec = *spec, .hash = hash, .number = number_of(recording, spec, hash), .is_group = is_group, .tail = CLF_STR_INIT};
    recording->parts[recording->part_count++] = *out;
    return CLF_OK;
}

clf_status clfi_recording_launch(clf_recording *recording, const clf_kernel_spec *spec, uint64_t asker, bool *out_is_taken)
{
    const uint64_t hash = clfi_spec_hash(spec);
    clf_program_part *part = find_part(recording, spec, hash);
    if (!part)
        CLF_TRY(add_part(recording, spec, hash, &part));
    *out_is_taken = part != NULL;
    if (!part)
        return CLF_OK;
    part->askers |= asker;
    CLF_TRY(clfi_grow(&recording->launches, &recording->launch_capacity, recording->launch_count + 1, sizeof *recording->launches,
                      "launches of a launch graph"));
    forget_unfinished(recording);
    recording->launches[recording->launch_count] = (clf_recorded_launch){.part = part, .first = recording->argument_count};
    return pad(&recording->records, recording->end + HEADER_BYTES);
}

/* First offset from `offset` on that is aligned for an argument of `size` bytes. Kernels load vectors from it. */
static size_t place(size_t offset, size_t size)
{
    const size_t alignment = size > 16 ? 32 : size > 8 ? 16 : 8;
    return (offset + alignment - 1) / alignment * alignment;
}

static clf_status add_argument(clf_recording *recording, const char *type, clf_buffer *buffer, const void *value, size_t size)
{
    const size_t at = place(recording->records.length, size); /* records and headers are aligned for every size */
    CLF_TRY(clfi_grow(&recording->arguments, &recording->argument_capacity, recording->argument_count + 1, sizeof *recording->arguments,
                      "arguments of a launch graph"));
    CLF_TRY(pad(&recording->records, at));
    CLF_TRY(clfi_str_append(&recording->records, value, size));
    recording->arguments[recording->argument_count++] = (clf_recorded_argument){type, buffer, at, size};
    return CLF_OK;
}

const char *clfi_recording_kernel(const clf_recording *recording)
{
    return recording->launches[recording->launch_count].part->spec.kernel;
}

clf_status clfi_recording_value(clf_recording *recording, const char *type, const void *value, size_t size)
{
    if (!type)
        CLF_FAIL(CLF_INTERNAL, "launch graph: kernel %s has an argument without a type", clfi_recording_kernel(recording));
    return add_argument(recording, type, NULL, value, size);
}

clf_status clfi_recording_buffer(clf_recording *recording, clf_buffer *buffer)
{
    static const cl_ulong null_pointer;
    if (buffer && atomic_load_explicit(&buffer->recording, memory_order_relaxed) != recording->number) {
        CLF_TRY(clfi_grow(&recording->held, &recording->held_capacity, recording->held_count + 1, sizeof *recording->held,
                          "buffers of a launch graph"));
        recording->held[recording->held_count++] = clfi_buffer_retain(buffer);
        atomic_store_explicit(&buffer->recording, recording->number, memory_order_relaxed);
    }
    return add_argument(recording, NULL, buffer, &null_pointer, sizeof null_pointer);
}

/* Appends the function through which the graph's kernel calls a part. It loads the arguments from the record, and loops over the part's
 * items or work-groups. */
static clf_status add_tail(const clf_recording *recording, const clf_recorded_launch *launch)
{
    const clf_program_part *part = launch->part;
    clf_str *tail = &launch->part->tail;
    const size_t arguments = recording->end + HEADER_BYTES;
    const bool is_shared = recording->group > 1; /* the graph's groups share the part's items or work-groups evenly */
    CLF_TRY(clfi_str_appendf(tail,
                             "\nvoid part_%u(uint first, uint end,%s uint items_x, uint items_y, __global const uchar *arguments%s)\n{\n",
                             part->number, is_shared ? " uint step," : "", is_shared ? ", __local uint4 *space" : ""));
    for (size_t i = 0; i < launch->arguments; i++) {
        const clf_recorded_argument *a = &recording->arguments[launch->first + i];
        const size_t offset = a->at - arguments;
        if (a->type)
            CLF_TRY(clfi_str_appendf(tail, "    const %s argument_%zu = *(__global const %s *)(arguments + %zu);\n", a->type, i, a->type,
                                     offset));
        else
            CLF_TRY(clfi_str_appendf(
                tail, "    __global void *argument_%zu = (__global void *)*(__global const ulong *)(arguments + %zu);\n", i, offset));
    }
    CLF_TRY(clfi_str_appendf(tail,
                             "    for (uint i = first; i < end; i%s) {\n        const uint row = i / items_x, plane = row / items_y;\n"
                             "        %s(i - row * items_x, row - plane * items_y, plane%s",
                             is_shared ? " += step" : "++", part->spec.kernel, part->is_group ? ", space" : ""));
    for (size_t i = 0; i < launch->arguments; i++)
        CLF_TRY(clfi_str_appendf(tail, ", argument_%zu", i));
    return clfi_str_appendf(tail, ");\n%s    }\n}\n", part->is_group ? "        barrier(CLK_LOCAL_MEM_FENCE);\n" : "");
}

clf_status clfi_recording_end(clf_recording *recording, const clf_work *work, cl_uint dimensions, const size_t *groups, const size_t *local)
{
    clf_recorded_launch *launch = &recording->launches[recording->launch_count];
    clf_program_part *part = launch->part;
    uint32_t header[HEADER_WORDS] = {0, part->number};
    size_t end;
    for (cl_uint i = 0; i < 3; i++) {
        launch->groups[i] = i < dimensions ? groups[i] : 1;
        launch->local[i] = i < dimensions ? local[i] : 1;
        if (launch->groups[i] == 0)
            return CLF_OK;
        size_t items = 0;
        if (!clfi_mul_size(launch->groups[i], part->is_group ? 1 : launch->local[i], &items) || items > UINT32_MAX)
            recording->is_unfit = true;
        header[2 + i] = (uint32_t)items;
    }
    header[IS_GROUP_WORD] = part->is_group;
    if (part->is_group && (launch->local[0] != (size_t)recording->group || launch->local[1] != 1 || launch->local[2] != 1))
        recording->is_unfit = true;
    part->recording = recording->number;
    launch->work = *work;
    launch->arguments = recording->argument_count - launch->first;
    if (!part->tail.length)
        CLF_TRY(add_tail(recording, launch));
    clfi_round_up(recording->records.length, RECORD_ALIGNMENT, &end);
    CLF_TRY(pad(&recording->records, end));
    header[0] = (uint32_t)(end - recording->end);
    memcpy(recording->records.data + recording->end, header, sizeof header);
    recording->end = end;
    recording->launch_count++;
    return CLF_OK;
}

void clfi_recording_put_addresses(clf_recording *recording)
{
    forget_unfinished(recording);
    for (size_t i = 0; i < recording->argument_count; i++) {
        const clf_recorded_argument *a = &recording->arguments[i];
        const cl_ulong address = a->buffer ? a->buffer->address : 0;
        if (!a->type)
            memcpy(recording->records.data + a->at, &address, sizeof address);
    }
}
