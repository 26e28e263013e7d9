/* SPDX-License-Identifier: MIT */
/* Replays a recorded sequence of kernels, as one launch or one by one. */
#include "runtime/launch_graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runtime/graph_program.h"
#include "runtime/launch.h"
#include "runtime/launch_budget.h"
#include "runtime/rehearsal.h"
#include "runtime/slot.h"

enum {
    ARRIVED_WORD = 0, /* word offsets in a meeting, explained in cl/shared/graph_record.cl */
    LATE_WORD = 32,
    LOST_WORD = 64,
    BEGUN_WORD = 96,
    STATE_WORD = 128,
    MEETING_WORDS = 160,
    IS_COMPLETE = 1,
    PAGE = 4096,
    FEW_LAUNCHES = 32 /* with fewer launches a graph saves less time than its program takes to compile */
};

/* Graphs are switched off if other programs use too much of the device: if a compute unit waits longer than FREE_NS plus 1/LATE_PART of
 * the graphs' total launch time. */
enum { LATE_NS = 1000000 /* time that 1 in LATE_WORD stands for */, FREE_NS = 10 * LATE_NS, LATE_PART = 8 };

/* Memory that host and device share: host memory that the device uses in place, or a copy on the device (send_memory, receive_memory).
 * The host writes it only while the queue is idle. */
typedef struct shared_memory {
    void *data;
    size_t size;
    cl_mem memory;
} shared_memory;

static void free_memory(shared_memory *m)
{
    if (m->memory)
        clReleaseMemObject(m->memory);
    free(m->data);
    *m = (shared_memory){.size = 0};
}

static clf_status allocate_memory(clf_context *context, size_t size, shared_memory *out)
{
    shared_memory m = {.size = size};
    const bool is_in_place = context->device.caps.uses_host_memory;
    cl_int code = CL_SUCCESS;
    clfi_round_up(size, PAGE, &m.size);
    m.data = aligned_alloc(PAGE, m.size);
    if (!m.data)
        CLF_FAIL(CLF_OUT_OF_MEMORY, "launch graph: %zu bytes: not enough memory", m.size);
    memset(m.data, 0, m.size);
    m.memory = clCreateBuffer(context->opencl, CL_MEM_READ_WRITE | (is_in_place ? CL_MEM_USE_HOST_PTR : 0), m.size,
                              is_in_place ? m.data : NULL, &code);
    if (code != CL_SUCCESS) {
        free(m.data);
        return clfi_context_fail(context, code, CLF_DEVICE, "launch graph: buffer of %zu bytes: clCreateBuffer", m.size);
    }
    *out = m;
    return CLF_OK;
}

/* Sends the first `bytes` bytes from the host to the device. They must not change until the queue is idle. */
static clf_status send_memory(clf_context *context, const shared_memory *m, size_t bytes)
{
    if (context->device.caps.uses_host_memory)
        return CLF_OK;
    const cl_int code = clEnqueueWriteBuffer(context->queue, m->memory, CL_FALSE, 0, bytes, m->data, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        return clfi_context_fail(context, code, CLF_DEVICE, "launch graph: %zu bytes: clEnqueueWriteBuffer", bytes);
    return CLF_OK;
}

/* Waits for all work in the queue, and reads the first `bytes` bytes that the device wrote. */
static clf_status receive_memory(clf_context *context, const shared_memory *m, size_t bytes)
{
    if (!context->device.caps.uses_host_memory) {
        const cl_int code = clEnqueueReadBuffer(context->queue, m->memory, CL_TRUE, 0, bytes, m->data, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return clfi_context_fail(context, code, CLF_DEVICE, "launch graph: %zu bytes: clEnqueueReadBuffer", bytes);
    }
    return clfi_context_wait(context);
}

/* Barrier of the work-groups of a context's graphs. */
typedef struct meeting {
    shared_memory words;
    uint64_t busy_ns; /* duration of all graph launches so far */
    clf_context *context;
} meeting;

/* A graph's kernel reads buffers by address, so the driver does not know which ones it uses. If the queue does not finish, none may be
 * freed: a leak is better than a kernel that writes to freed memory. */
static bool is_queue_idle(const clf_context *context)
{
    return clfi_context_finish_queue(context) == CL_SUCCESS;
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

static const clf_slot_type meeting_slot = {"launch graphs", sizeof(meeting), clear_meeting};

struct clf_launch_graph {
    clf_recording recording; /* must be first: interrupt() casts a recording to its graph */
    clf_context *context;
    uint32_t opening; /* context->openings when the graph was created: its memory is valid only for this one */
    meeting *meeting;
    clf_graph_programs programs;
    const clf_kernel_spec *program; /* has the recording's kernels */
    size_t groups;                  /* work-groups of the launch */
    shared_memory records;
    unsigned char key[CLFI_GRAPH_KEY_BYTES]; /* key of the recording */
    size_t key_size;
    bool is_kept;   /* the recording ran as a graph, so it can be launched again */
    bool is_repeat; /* between begin and end: end launches the same recording again */
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

/* Enqueues the recorded launches. enqueue_launches restores context->asker, which this changes. */
static clf_status enqueue_each(clf_launch_graph *graph)
{
    const clf_recording *recording = &graph->recording;
    for (size_t i = 0; i < recording->launch_count; i++) {
        const clf_recorded_launch *l = &recording->launches[i];
        graph->context->asker = l->part->askers;
        clf_launch launch = clfi_launch(graph->context, &l->part->spec);
        for (size_t k = 0; k < l->arguments; k++) {
            const clf_recorded_argument *a = &recording->arguments[l->first + k];
            if (a->type)
                clfi_arg_struct(&launch, a->type, recording->records.data + a->at, a->size);
            else
                clfi_arg_buffer(&launch, a->buffer);
        }
        clfi_launch_work(&launch, l->work.multiply_adds, l->work.bytes);
        CLF_TRY(clfi_launch_3d(&launch, l->groups, l->local));
    }
    return CLF_OK;
}

/* Enqueues the recorded launches one by one. They stay recorded. */
static clf_status enqueue_launches(clf_launch_graph *graph)
{
    const uint64_t asker = graph->context->asker;
    const clf_status st = enqueue_each(graph);
    graph->context->asker = asker;
    return st;
}

/* Ends the graph early, because other work is about to enter the queue. */
static clf_status interrupt(clf_recording *recording)
{
    clf_launch_graph *graph = (clf_launch_graph *)recording;
    graph->context->recording = NULL;
    graph->is_off = true;
    const clf_status st = enqueue_launches(graph);
    clfi_recording_clear(recording);
    return st;
}

clf_status clfi_graph_create(clf_context *context, size_t most_programs, clf_launch_graph **out)
{
    clf_launch_graph *graph;
    meeting *place = NULL;
    *out = NULL;
    if (!context->device.caps.graph_groups || context->graphs == CLFI_GRAPHS_NEVER)
        return CLF_OK;
    CLF_TRY(get_meeting(context, &place));
    CLF_TRY(clfi_alloc(1, sizeof *graph, "launch graph", &graph));
    graph->context = context;
    graph->opening = context->openings;
    graph->meeting = place;
    graph->recording.group = context->device.caps.graph_group;
    graph->groups = context->device.caps.graph_groups;
    graph->programs.most = most_programs;
    *out = graph;
    return CLF_OK;
}

/* Releases the recording's buffers. Buffers that a stuck queue may still use are leaked. */
static void forget_recording(clf_launch_graph *graph)
{
    if (atomic_load(graph->context->is_stuck))
        graph->recording.held_count = 0;
    clfi_recording_clear(&graph->recording);
}

void clfi_graph_destroy(clf_launch_graph *graph)
{
    if (!graph)
        return;
    if (graph->opening == graph->context->openings && is_queue_idle(graph->context))
        free_memory(&graph->records);
    forget_recording(graph);
    clfi_graph_programs_free(&graph->programs);
    clfi_recording_free(&graph->recording);
    free(graph);
}

/* Whether groups waited too long for each other, because other programs kept compute units busy. */
static bool waited_long(const meeting *m)
{
    const size_t units = m->context->device.caps.compute_units;
    const uint64_t late = ((const volatile uint32_t *)m->words.data)[LATE_WORD];
    return units > 1 && late * LATE_NS / (units - 1) > FREE_NS + m->busy_ns / LATE_PART;
}

/* Whether the last recording has this key and can be launched again. Always false in a rehearsal, which must see the kernels. */
static bool is_known(const clf_launch_graph *graph, const void *key, size_t size)
{
    return graph->is_kept && !graph->context->rehearsal && size > 0 && size == graph->key_size && memcmp(graph->key, key, size) == 0;
}

bool clfi_graph_begin(clf_launch_graph *graph, const void *key, size_t size)
{
    if (!graph || graph->is_off)
        return true;
    if (graph->context->graphs != CLFI_GRAPHS_ALWAYS && waited_long(graph->meeting)) {
        clfi_log(graph->context, CLF_LOG_INFO,
                 "launch graph: work-groups waited too long for each other; kernels are launched one by one from now on");
        graph->is_off = true;
        graph->is_kept = false;
        forget_recording(graph);
        return true;
    }
    graph->is_repeat = is_known(graph, key, size);
    if (graph->is_repeat)
        return false;
    graph->is_kept = false;
    graph->key_size = size <= sizeof graph->key ? size : 0;
    if (graph->key_size > 0)
        memcpy(graph->key, key, size);
    clfi_recording_start(&graph->recording);
    graph->context->recording = &graph->recording;
    graph->context->interrupt = interrupt;
    return true;
}

static clf_kernel_spec address_spec(void)
{
    return clfi_kernel_spec("buffer_address.cl", "buffer_address");
}

/* Asks the device for the addresses of buffers that are not known yet. */
static clf_status ask_addresses(clf_launch_graph *graph, clf_buffer *answer, const size_t *unknown, size_t count, cl_ulong *addresses)
{
    const clf_kernel_spec spec = address_spec();
    clf_buffer **held = graph->recording.held;
    for (size_t i = 0; i < count; i++) {
        clf_launch launch = clfi_launch(graph->context, &spec);
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

static clf_status find_addresses(clf_launch_graph *graph)
{
    const clf_recording *recording = &graph->recording;
    size_t *unknown, count = 0;
    cl_ulong *addresses = NULL;
    clf_buffer *answer = NULL;
    clf_status st;
    while (count < recording->held_count && recording->held[count]->address)
        count++;
    if (count == recording->held_count) /* usual: only the first few recordings use new buffers */
        return CLF_OK;
    CLF_TRY(clfi_alloc(recording->held_count, sizeof *unknown, "launch graph", &unknown));
    count = 0;
    for (size_t i = 0; i < recording->held_count; i++)
        if (!recording->held[i]->address)
            unknown[count++] = i;
    CLF_GOTO(clfi_alloc(count, sizeof *addresses, "launch graph", &addresses));
    CLF_GOTO(clfi_buffer_create(graph->context, count * sizeof *addresses, &answer));
    CLF_GOTO(ask_addresses(graph, answer, unknown, count, addresses));
done:
    clfi_buffer_release(answer);
    free(addresses);
    free(unknown);
    return st;
}

static clf_status send_records(clf_launch_graph *graph)
{
    const clf_str *records = &graph->recording.records;
    CLF_TRY(clfi_context_wait(graph->context)); /* an earlier graph may still read the records if waiting for it failed */
    if (graph->records.size < records->length) {
        free_memory(&graph->records);
        CLF_TRY(allocate_memory(graph->context, 2 * records->length, &graph->records));
    }
    memcpy(graph->records.data, records->data, records->length);
    return send_memory(graph->context, &graph->records, records->length);
}

/* Estimate of all launches together; 0 where launches have no limit. */
static double estimate(const clf_launch_graph *graph)
{
    const clf_recording *recording = &graph->recording;
    double sum_ns = 0;
    for (size_t i = 0; clfi_budget_is_set(graph->context) && i < recording->launch_count; i++) {
        const clf_recorded_launch *l = &recording->launches[i];
        double items = 1;
        for (int k = 0; k < 3; k++)
            items *= (double)l->groups[k] * (double)l->local[k];
        sum_ns += clfi_budget_estimate(graph->context, &l->work, items);
    }
    return sum_ns;
}

/* *out_is_complete false: not all groups ran at the same time, and none did any work. */
static clf_status launch_groups(clf_launch_graph *graph, bool *out_is_complete)
{
    const size_t launches = graph->recording.launch_count;
    meeting *m = graph->meeting;
    volatile uint32_t *words = m->words.data;
    words[ARRIVED_WORD] = words[BEGUN_WORD] = words[STATE_WORD] = 0;
    CLF_TRY(send_memory(graph->context, &m->words, MEETING_WORDS * sizeof *words));
    clf_launch launch = clfi_launch(graph->context, graph->program);
    clfi_arg_bytes(&launch, &graph->records.memory, sizeof graph->records.memory);
    clfi_arg_int(&launch, (int64_t)launches);
    clfi_arg_bytes(&launch, &m->words.memory, sizeof m->words.memory);
    const uint64_t begun_ns = clfi_now_ns();
    CLF_TRY(clfi_launch_1d(&launch, graph->groups, (size_t)graph->recording.group));
    if (clfi_budget_is_set(graph->context))
        clfi_budget_note(graph->context, graph->program->kernel, estimate(graph));
    CLF_TRY(receive_memory(graph->context, &m->words, MEETING_WORDS * sizeof *words));
    m->busy_ns += clfi_now_ns() - begun_ns;
    *out_is_complete = words[STATE_WORD] == IS_COMPLETE;
    return CLF_OK;
}

/* Runs the graph. If a GPU cannot run all groups at the same time, the graph is tried again with one group per compute unit. If that
 * fails too, the launches run one by one. On CPUs the groups count the items that they have taken in the records, so the host sends fresh
 * records each time. */
static clf_status run_records(clf_launch_graph *graph)
{
    const clf_device_caps *caps = &graph->context->device.caps;
    bool is_complete;
    if (!graph->is_repeat || caps->graph_group == 1)
        CLF_TRY(send_records(graph));
    CLF_TRY(launch_groups(graph, &is_complete));
    if (!is_complete && graph->groups > caps->compute_units) {
        graph->groups = caps->compute_units;
        CLF_TRY(launch_groups(graph, &is_complete));
    }
    if (is_complete)
        return CLF_OK;
    clfi_log(graph->context, CLF_LOG_INFO,
             "launch graph: work-groups do not run at the same time; kernels are launched one by one from now on");
    graph->is_off = true;
    return enqueue_launches(graph);
}

/* In a rehearsal: notes a kernel that the graph needs. BUILD: the kernel is unusable, so the kernels of the single launches will be
 * needed instead. */
static clf_status rehearse_kernel(clf_context *context, const clf_kernel_spec *spec, size_t group)
{
    size_t at;
    clf_program_state state;
    CLF_TRY(clfi_program_find(context, spec, &state));
    if (state == CLFI_PROGRAM_UNUSABLE)
        CLF_FAIL(CLF_BUILD, "kernel %s cannot be built", spec->kernel);
    CLF_TRY(clfi_rehearsal_note(context, spec, &at));
    clfi_rehearsal_size(context, at, 1, &group);
    context->rehearsal->kernels[at].is_graphs = true;
    return CLF_OK;
}

static clf_status rehearse_program(clf_launch_graph *graph)
{
    const clf_kernel_spec address = address_spec();
    if (clfi_rehearsal_replace(graph->context, graph->program))
        return CLF_OK;
    CLF_TRY(rehearse_kernel(graph->context, &address, 1));
    return rehearse_kernel(graph->context, graph->program, (size_t)graph->recording.group);
}

/* Gets the graph's program, and builds it if necessary; in a rehearsal only notes it. BUILD: it cannot be built. */
static clf_status get_program(clf_launch_graph *graph)
{
    clf_kernel *kernel;
    return graph->context->rehearsal ? rehearse_program(graph) : clfi_kernel_get(graph->context, graph->program, &kernel);
}

static clf_status launch_singly(clf_launch_graph *graph)
{
    clfi_log(graph->context, CLF_LOG_INFO, "launch graph: %s; kernels are launched one by one", clf_last_error());
    graph->is_off = true;
    return enqueue_launches(graph);
}

/* Launches the recording as a graph (*out_is_graph true), or one by one. */
static clf_status launch_recording(clf_launch_graph *graph, bool *out_is_graph)
{
    const size_t launches = graph->recording.launch_count;
    *out_is_graph = false;
    if (launches == 0)
        return CLF_OK;
    if (launches < FEW_LAUNCHES && graph->context->graphs != CLFI_GRAPHS_ALWAYS)
        return enqueue_launches(graph);
    if (estimate(graph) > graph->context->budget.limit_ns) /* never without a limit */
        return enqueue_launches(graph);
    if (graph->recording.is_unfit) {
        clfi_log(graph->context, CLF_LOG_INFO, "launch graph: a kernel has work-groups of another size; kernels are launched one by one");
        graph->is_off = true;
        return enqueue_launches(graph);
    }
    CLF_TRY(clfi_graph_programs_find(graph->context, &graph->programs, &graph->recording, &graph->program));
    if (!graph->program)
        return enqueue_launches(graph);
    const clf_status found = get_program(graph);
    if (found == CLF_BUILD)
        return launch_singly(graph);
    if (found != CLF_OK || graph->context->rehearsal)
        return found;
    const clf_status addressed = find_addresses(graph);
    if (addressed == CLF_BUILD)
        return launch_singly(graph);
    CLF_TRY(addressed);
    *out_is_graph = true;
    clfi_recording_put_addresses(&graph->recording);
    return run_records(graph);
}

clf_status clfi_graph_end(clf_launch_graph *graph, clf_status st)
{
    if (!graph)
        return st;
    if (graph->is_repeat) {
        if (st == CLF_OK)
            st = run_records(graph);
        graph->is_repeat = false;
        graph->is_kept = st == CLF_OK && !graph->is_off;
        if (!graph->is_kept)
            forget_recording(graph);
        return st;
    }
    if (graph->context->recording != &graph->recording)
        return st;
    graph->context->recording = NULL;
    if (st == CLF_OK)
        st = launch_recording(graph, &graph->is_kept);
    if (st != CLF_OK || graph->is_off || graph->key_size == 0)
        graph->is_kept = false;
    if (!graph->is_kept)
        forget_recording(graph);
    return st;
}
