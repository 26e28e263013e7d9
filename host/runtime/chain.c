/* SPDX-License-Identifier: MIT */
/* Chains: from a recording to one launch, or to single ones. */
#include "runtime/chain.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "runtime/chain_record.h"
#include "runtime/launch.h"
#include "runtime/rehearsal.h"
#include "runtime/slot.h"

enum {
    HEADER_WORDS = 8,      /* of a record, as in cl/cpu/chain.cl */
    RECORD_ALIGNMENT = 32, /* so that vectors among the arguments are where vectors may be */
    MEETING_WORDS = 96,
    PAGE = 4096,
    LATE_WORD = 32,
    LOST_WORD = 64,
    FEW_STEPS = 64, /* these gain less than the program takes to compile */
    MOST_LATE = 8,  /* long waits, and one more for every LATE_LAUNCHES: beyond it others have the device's units */
    LATE_LAUNCHES = 4
};

/* Memory of the host that the device uses in place: written while the queue is idle, without a transfer. */
typedef struct host_memory {
    void *data;
    size_t size;
    cl_mem memory;
} host_memory;

static void free_memory(host_memory *m)
{
    if (m->memory)
        clReleaseMemObject(m->memory);
    free(m->data);
    *m = (host_memory){.size = 0};
}

static clf_status allocate_memory(clf_context *context, size_t size, host_memory *out)
{
    host_memory m = {.size = size};
    cl_int code = CL_SUCCESS;
    clfi_round_up(size, PAGE, &m.size);
    m.data = aligned_alloc(PAGE, m.size);
    if (!m.data)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "chain: %zu bytes: not enough memory", m.size);
    memset(m.data, 0, m.size);
    m.memory = clCreateBuffer(context->opencl, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, m.size, m.data, &code);
    if (code != CL_SUCCESS) {
        free(m.data);
        CLF_FAIL(CLF_DEVICE, "chain: buffer of %zu bytes: %s (%d)", m.size, clfi_cl_name(code), code);
    }
    *out = m;
    return CLF_OK;
}

/* Where a context's chains meet. */
typedef struct meeting {
    host_memory words;
    uint32_t begun; /* arrivals that earlier launches will have made */
    uint64_t launches;
    clf_context *context;
} meeting;

/* A launch finds the memory of its arguments by their addresses, so that the driver does not know what it uses. Where the queue does not
 * end, all of it stays: lost memory is better than a kernel that writes where nothing is. */
static bool is_queue_idle(const clf_context *context)
{
    return clFinish(context->queue) == CL_SUCCESS;
}

static void clear_meeting(void *content)
{
    meeting *m = content;
    if (!m->context)
        return;
    m->context->is_lost = NULL;
    if (is_queue_idle(m->context))
        free_memory(&m->words);
}

static const clf_slot_type meeting_slot = {"chains", sizeof(meeting), clear_meeting};

struct clf_chain {
    clf_chain_record record; /* first: an interruption finds the chain by it */
    clf_context *context;
    meeting *meeting;
    clf_kernel_spec spec;
    size_t spec_parts; /* that it was made for */
    host_memory records;
    clf_str packed;       /* what goes there */
    clf_buffer **running; /* buffers of the launch that may still run */
    size_t running_count, running_capacity;
    bool is_off;
};

static clf_status get_meeting(clf_context *context, meeting **out)
{
    meeting *m;
    CLF_TRY(clfi_slot_get(context, &meeting_slot, &m));
    if (!m->words.data)
        CLF_TRY(allocate_memory(context, MEETING_WORDS * sizeof(uint32_t), &m->words));
    m->context = context;
    context->is_lost = (const uint32_t *)m->words.data + LOST_WORD;
    *out = m;
    return CLF_OK;
}

/* One launch after the other. The steps stay noted. */
static clf_status enqueue_steps(clf_chain *chain)
{
    const clf_chain_record *record = &chain->record;
    for (size_t i = 0; i < record->step_count; i++) {
        const clf_chain_step *step = &record->steps[i];
        clf_launch launch = clfi_launch(chain->context, &record->parts.list[step->part].spec);
        for (size_t k = 0; k < step->arguments; k++) {
            const clf_chain_argument *a = &record->arguments[step->first + k];
            if (a->type)
                clfi_arg_struct(&launch, a->type, record->bytes.data + a->at, a->size);
            else
                clfi_arg_buffer(&launch, a->buffer);
        }
        CLF_TRY(clfi_launch_3d(&launch, step->groups, step->local));
    }
    return CLF_OK;
}

/* Something else is to enter the queue. */
static clf_status interrupt(clf_chain_record *record)
{
    clf_chain *chain = (clf_chain *)record;
    chain->context->chain = NULL;
    chain->is_off = true;
    const clf_status st = enqueue_steps(chain);
    clfi_chain_record_clear(record);
    return st;
}

clf_status clfi_chain_create(clf_context *context, clf_chain **out)
{
    clf_chain *chain;
    meeting *place = NULL;
    *out = NULL;
    if (!context->device.caps.runs_chains || context->chains == CLFI_CHAINS_NEVER)
        return CLF_OK;
    CLF_TRY(get_meeting(context, &place));
    CLF_TRY(clfi_alloc(1, sizeof *chain, "chain", &chain));
    chain->context = context;
    chain->meeting = place;
    *out = chain;
    return CLF_OK;
}

static void release_running(clf_chain *chain)
{
    for (size_t i = 0; i < chain->running_count; i++)
        clfi_buffer_release(chain->running[i]);
    chain->running_count = 0;
}

void clfi_chain_destroy(clf_chain *chain)
{
    if (!chain)
        return;
    if (is_queue_idle(chain->context)) {
        release_running(chain);
        free_memory(&chain->records);
    }
    clfi_chain_record_free(&chain->record);
    clfi_str_free(&chain->packed);
    free(chain->running);
    free(chain);
}

void clfi_chain_begin(clf_chain *chain)
{
    if (!chain || chain->is_off)
        return;
    if (((const volatile uint32_t *)chain->meeting->words.data)[LATE_WORD] > MOST_LATE + chain->meeting->launches / LATE_LAUNCHES) {
        clfi_log(chain->context, CLF_LOG_INFO, "chain: work-groups waited long for each other; launching one by one from here on");
        chain->is_off = true;
        return;
    }
    clfi_chain_record_start(&chain->record);
    chain->context->chain = &chain->record;
    chain->context->interrupt = interrupt;
}

/* The hash of the parts' kernels and macros, by which contexts that share programs tell one chain's from another's. */
static clf_status hash_parts(const clf_program_parts *parts, char out[CLFI_HASH_TEXT_BYTES])
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    for (size_t i = 0; st == CLF_OK && i < parts->count; i++)
        st = clfi_str_appendf(&text, "%s%s\n", parts->list[i].spec.kernel, parts->list[i].spec.options);
    clfi_hash(clfi_str_text(&text), text.length, out);
    clfi_str_free(&text);
    return st;
}

/* The program for all parts that were noted so far. */
static clf_status find_spec(clf_chain *chain)
{
    clf_program_parts *parts = &chain->record.parts;
    char key[CLFI_HASH_TEXT_BYTES];
    if (chain->spec_parts == parts->count)
        return CLF_OK;
    clfi_str_clear(&parts->head);
    CLF_TRY(clfi_str_append_text(&parts->head, "#define EACH_PART(F)"));
    for (size_t i = 0; i < parts->count; i++)
        CLF_TRY(clfi_str_appendf(&parts->head, " F(%zu)", i));
    CLF_TRY(clfi_str_append_char(&parts->head, '\n'));
    CLF_TRY(hash_parts(parts, key));
    chain->spec = clfi_kernel_spec("chain.cl", "chain");
    chain->spec.parts = parts;
    clfi_spec_text(&chain->spec, "KEY", key);
    chain->spec_parts = parts->count;
    return CLF_OK;
}

static clf_kernel_spec address_spec(void)
{
    return clfi_kernel_spec("buffer_address.cl", "buffer_address");
}

/* Asks the device where the buffers lie whose places are not known. */
static clf_status ask_addresses(clf_chain *chain, clf_buffer *answer, const size_t *unknown, size_t count, cl_ulong *addresses)
{
    const clf_kernel_spec spec = address_spec();
    clf_buffer **held = chain->record.held;
    for (size_t i = 0; i < count; i++) {
        clf_launch launch = clfi_launch(chain->context, &spec);
        clfi_arg_buffer(&launch, held[unknown[i]]);
        clfi_arg_buffer(&launch, answer);
        clfi_arg_int(&launch, (int64_t)i);
        CLF_TRY(clfi_launch_1d(&launch, 1, 1));
    }
    CLF_TRY(clfi_buffer_read(answer, 0, addresses, count * sizeof *addresses));
    for (size_t i = 0; i < count; i++)
        held[unknown[i]]->address = addresses[i];
    return CLF_OK;
}

static clf_status find_addresses(clf_chain *chain)
{
    const clf_chain_record *record = &chain->record;
    size_t *unknown, count = 0;
    cl_ulong *addresses = NULL;
    clf_buffer *answer = NULL;
    clf_status st;
    while (count < record->held_count && record->held[count]->address)
        count++;
    if (count == record->held_count) /* of every step but the first few */
        return CLF_OK;
    CLF_TRY(clfi_alloc(record->held_count, sizeof *unknown, "chain", &unknown));
    count = 0;
    for (size_t i = 0; i < record->held_count; i++)
        if (!record->held[i]->address)
            unknown[count++] = i;
    CLF_GOTO(clfi_alloc(count, sizeof *addresses, "chain", &addresses));
    CLF_GOTO(clfi_buffer_create(chain->context, count * sizeof *addresses, &answer));
    CLF_GOTO(ask_addresses(chain, answer, unknown, count, addresses));
done:
    clfi_buffer_release(answer);
    free(addresses);
    free(unknown);
    return st;
}

static clf_status pad(clf_str *to, size_t length)
{
    static const char zeros[RECORD_ALIGNMENT];
    return clfi_str_append(to, zeros, length - to->length);
}

static clf_status pack_step(const clf_chain_record *record, const clf_chain_step *step, clf_str *to)
{
    const size_t begin = to->length;
    uint32_t header[HEADER_WORDS] = {0, (uint32_t)step->part};
    for (int i = 0; i < 3; i++)
        header[2 + i] = (uint32_t)(step->groups[i] * step->local[i]);
    CLF_TRY(clfi_str_append(to, header, sizeof header));
    const size_t arguments = to->length;
    for (size_t i = 0; i < step->arguments; i++) {
        const clf_chain_argument *a = &record->arguments[step->first + i];
        const cl_ulong address = a->buffer ? a->buffer->address : 0;
        CLF_TRY(pad(to, arguments + clfi_chain_place(to->length - arguments, a->size)));
        CLF_TRY(clfi_str_append(to, a->type ? (const void *)(record->bytes.data + a->at) : &address, a->size));
    }
    size_t end;
    clfi_round_up(to->length, RECORD_ALIGNMENT, &end);
    CLF_TRY(pad(to, end));
    header[0] = (uint32_t)(end - begin);
    memcpy(to->data + begin, header, sizeof header[0]);
    return CLF_OK;
}

static clf_status send_records(clf_chain *chain)
{
    const clf_chain_record *record = &chain->record;
    clf_str *packed = &chain->packed;
    clfi_str_clear(packed);
    for (size_t i = 0; i < record->step_count; i++)
        CLF_TRY(pack_step(record, &record->steps[i], packed));
    CLF_TRY(clfi_context_wait(chain->context)); /* the launch before this one has read its records */
    if (chain->records.size < packed->length) {
        free_memory(&chain->records);
        CLF_TRY(allocate_memory(chain->context, 2 * packed->length, &chain->records));
    }
    memcpy(chain->records.data, packed->data, packed->length);
    return CLF_OK;
}

/* The launch before this one has ended, as send_records saw to it; its buffers may go. */
static void exchange_held(clf_chain *chain)
{
    clf_chain_record *record = &chain->record;
    release_running(chain);
    clf_buffer **free_list = chain->running;
    const size_t capacity = chain->running_capacity;
    chain->running = record->held;
    chain->running_count = record->held_count;
    chain->running_capacity = record->held_capacity;
    record->held = free_list;
    record->held_count = 0;
    record->held_capacity = capacity;
}

static clf_status enqueue_chain(clf_chain *chain)
{
    const size_t steps = chain->record.step_count, units = chain->context->device.caps.compute_units;
    meeting *m = chain->meeting;
    CLF_TRY(find_addresses(chain));
    CLF_TRY(send_records(chain));
    exchange_held(chain);
    clf_launch launch = clfi_launch(chain->context, &chain->spec);
    clfi_arg_bytes(&launch, &chain->records.memory, sizeof chain->records.memory);
    clfi_arg_int(&launch, (int64_t)steps);
    clfi_arg_bytes(&launch, &m->words.memory, sizeof m->words.memory);
    clfi_arg_uint(&launch, m->begun);
    CLF_TRY(clfi_launch_1d(&launch, units, 1));
    m->begun += (uint32_t)((steps - 1) * units);
    m->launches++;
    return CLF_OK;
}

/* Whether the chain's program is there, or can be built. */
static clf_status find_program(clf_chain *chain)
{
    clf_kernel *kernel;
    CLF_TRY(find_spec(chain));
    if (chain->context->rehearsal) {
        const clf_kernel_spec address = address_spec();
        CLF_TRY(clfi_rehearsal_note(chain->context, &address));
        return clfi_rehearsal_note(chain->context, &chain->spec);
    }
    return clfi_kernel_get(chain->context, &chain->spec, &kernel);
}

clf_status clfi_chain_end(clf_chain *chain, clf_status st)
{
    if (!chain || chain->context->chain != &chain->record)
        return st;
    chain->context->chain = NULL;
    if (st == CLF_OK && chain->record.step_count < FEW_STEPS && chain->context->chains != CLFI_CHAINS_ALWAYS) {
        st = enqueue_steps(chain);
    } else if (st == CLF_OK && chain->record.step_count > 0) {
        st = find_program(chain);
        if (st == CLF_BUILD) {
            clfi_log(chain->context, CLF_LOG_INFO, "chain: %s; launching one by one", clf_last_error());
            chain->is_off = true;
            st = enqueue_steps(chain);
        } else if (st == CLF_OK && !chain->context->rehearsal) {
            st = enqueue_chain(chain);
        }
    }
    clfi_chain_record_clear(&chain->record);
    return st;
}
