/* SPDX-License-Identifier: MIT */
/* Converts a checkpoint's weights to GGUF's tensors: same roles, GGUF's names, rows reordered and scaled as readers of GGUF expect. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/gguf_keys.h"
#include "io/json.h"
#include "model/gguf_export.h"
#include "model/unread_tensors.h"
#include "model/weight_lookup.h"

/* Rows first .. first + count - 1 of a stored tensor. */
typedef struct stored_part {
    clf_checkpoint_tensor tensor;
    int64_t first, count;
    bool is_transposed;
    void *made; /* owned: the numbers of a computed tensor (tensor.is_made) between `read` and `forget`; else NULL */
} stored_part;

typedef struct made_tensor {
    clf_gguf_tensor gguf;
    char name[CLFI_GGUF_MAX_NAME + 1];
    stored_part parts[CLFI_MOST_FUSED]; /* stacked by rows */
    int part_count;
    int64_t head_size;   /* above 0: the rows of each head are reordered so that those of a rotary pair, i and i + head_size / 2, are
                            adjacent */
    float scale, offset; /* weights become scale * (w + offset) */
    float *values;       /* owned: the numbers of a tensor that the checkpoint lacks; else NULL */
} made_tensor;

struct clf_gguf_tensors {
    const clf_checkpoint *checkpoint;
    const clf_gguf_architecture *architecture;
    const clf_family *family;
    const clf_network_config *network;
    clf_weight_lookup lookup;
    double query_scale;
    made_tensor **list; /* each allocated by itself: pointers to names stay valid */
    size_t count, capacity;
};

static bool has_tensor(void *user, const char *name)
{
    clf_checkpoint_tensor ignored;
    return clfi_checkpoint_find(user, name, &ignored);
}

static clf_status add(clf_gguf_tensors *t, const char *name, made_tensor **out)
{
    CLF_TRY(clfi_grow(&t->list, &t->capacity, t->count + 1, sizeof *t->list, "tensors"));
    CLF_TRY(clfi_alloc(1, sizeof **out, name, out));
    t->list[t->count++] = *out;
    snprintf((*out)->name, sizeof(*out)->name, "%s", name);
    (*out)->gguf.name = (*out)->name;
    (*out)->scale = 1;
    return CLF_OK;
}

/* Finds the stored tensor and checks its shape: rows x columns (columns 0: a vector). */
static clf_status find_stored(const clf_gguf_tensors *t, const char *name, int64_t rows, int64_t columns, bool is_transposed,
                              clf_checkpoint_tensor *out)
{
    const int64_t dim[2] = {is_transposed ? columns : rows, is_transposed ? rows : columns};
    const int rank = columns > 0 ? 2 : 1;
    char expected[64];
    snprintf(expected, sizeof expected, rank == 2 ? "[%lld,%lld]" : "[%lld]", (long long)dim[0], (long long)dim[1]);
    if (!clfi_checkpoint_find(t->checkpoint, name, out))
        CLF_FAIL(CLF_FORMAT, "%s: expected %s, found no tensor of that name", name, expected);
    if (!out->is_weight || clfi_weight_type_info(out->type)->block_weights != 1)
        CLF_FAIL(CLF_UNSUPPORTED, "%s is of type %s: expected F32, F16 or BF16", name, out->type_name);
    if (out->rank != rank || out->dim[0] != dim[0] || (rank == 2 && out->dim[1] != dim[1]))
        CLF_FAIL(CLF_FORMAT, "%s: expected %s, found rank %d with dim[0] = %lld", name, expected, out->rank,
                 (long long)(out->rank > 0 ? out->dim[0] : 1));
    return CLF_OK;
}

static clf_status add_part(const clf_gguf_tensors *t, made_tensor *made, const clf_weight_part *p, int64_t layer, const char *suffix,
                           int64_t columns)
{
    stored_part *part = &made->parts[made->part_count];
    char name[CLFI_WEIGHT_NAME_BYTES];
    clfi_weight_full_name(t->lookup.prefix, p->row, layer, suffix, name);
    part->is_transposed = p->row->stored == CLF_STORED_TRANSPOSED && columns > 0;
    CLF_TRY(find_stored(t, name, p->stored, columns, part->is_transposed, &part->tensor));
    part->first = p->first;
    part->count = p->count;
    made->part_count++;
    return CLF_OK;
}

/* Sets sizes, type and data once the parts are known. Vectors and the table of positions become f32. data points into the file if nothing
 * changes. */
static void finish(made_tensor *made, int64_t columns, bool is_table)
{
    clf_gguf_tensor *gguf = &made->gguf;
    const stored_part *first = &made->parts[0];
    const bool changes = made->part_count != 1 || first->is_transposed || made->head_size > 0 || made->scale != 1 || made->offset != 0 ||
                         first->count != first->tensor.dim[0];
    size_t weights = 1;
    gguf->rank = columns > 0 ? 2 : 1;
    for (int i = 0; i < made->part_count; i++)
        gguf->dim[0] += made->parts[i].count;
    gguf->dim[1] = columns;
    for (int i = 0; i < gguf->rank; i++)
        weights *= (size_t)gguf->dim[i]; /* fits: no more than in the stored parts */
    gguf->type = columns > 0 && !is_table ? first->tensor.type : CLF_WEIGHT_F32;
    gguf->bytes = weights * (size_t)clfi_weight_type_info(gguf->type)->block_bytes;
    if (!changes && first->tensor.type == gguf->type && !first->tensor.is_made)
        gguf->data = first->tensor.data;
}

static const clf_stack_config *stack_of(const clf_gguf_tensors *t)
{
    return &t->network->decoder;
}

static bool is_norm(clf_weight_role role)
{
    return role == CLF_WEIGHT_ATTENTION_NORM || role == CLF_WEIGHT_ATTENTION_POST_NORM || role == CLF_WEIGHT_FFN_NORM ||
           role == CLF_WEIGHT_FFN_POST_NORM || role == CLF_WEIGHT_QUERY_NORM || role == CLF_WEIGHT_KEY_NORM ||
           role == CLF_WEIGHT_FINAL_NORM;
}

static void set_changes(const clf_gguf_tensors *t, clf_weight_role role, bool is_bias, made_tensor *made)
{
    const clf_stack_config *stack = stack_of(t);
    const bool is_turned = role == CLF_WEIGHT_QUERY || role == CLF_WEIGHT_KEY;
    made->head_size = is_turned && t->architecture->is_interleaved ? stack->attention.head_size : 0;
    made->offset = is_norm(role) && !is_bias && stack->norm == CLF_NORM_RMS_PLUS_ONE ? 1 : 0;
    if (role == (stack->has_query_key_norm ? CLF_WEIGHT_QUERY_NORM : CLF_WEIGHT_QUERY))
        made->scale = (float)t->query_scale;
}

/* Finds a role's weights: rows of a layer's matrix, a table, or a vector (columns 0). */
static clf_status locate(const clf_gguf_tensors *t, const clf_weight_name *rows, clf_weight_role role, int64_t layer, clf_weight_part *out,
                         int64_t *columns)
{
    const clf_stack_config *stack = stack_of(t);
    const clf_weight_name *row = clfi_weight_find(&t->lookup, rows, role, layer);
    if (!row)
        CLF_FAIL(CLF_INTERNAL, "weights: the name map has no row for role %d", (int)role);
    const bool is_head = role == CLF_WEIGHT_QUERY_NORM || role == CLF_WEIGHT_KEY_NORM;
    const int64_t vocabulary = t->network->target.vocabulary, positions = t->network->target.max_positions;
    const int64_t count = is_head                                                     ? stack->attention.head_size
                          : is_norm(role)                                             ? stack->width
                          : role == CLF_WEIGHT_POSITIONS                              ? positions
                          : role == CLF_WEIGHT_TOKENS || role == CLF_WEIGHT_GENERATOR ? vocabulary
                                                                                      : 0;
    *columns = is_norm(role) ? 0 : count > 0 ? stack->width : clfi_weight_columns(stack, layer, role);
    *out = count > 0 ? (clf_weight_part){row, count, 0, count} : clfi_weight_part(stack, layer, row, role);
    return CLF_OK;
}

static int roles_of(const clf_weight_name *row, clf_weight_role out[CLFI_MOST_FUSED])
{
    int count = 0;
    if (row->role != CLF_WEIGHT_FUSED) {
        out[0] = row->role;
        return 1;
    }
    while (count < CLFI_MOST_FUSED && row->parts[count] != CLF_WEIGHT_END) {
        out[count] = row->parts[count];
        count++;
    }
    return count;
}

/* Adds one of GGUF's tensors, a weight or a bias. No-op for a bias that the checkpoint lacks. */
static clf_status add_tensor(clf_gguf_tensors *t, const clf_weight_name *rows, const clf_weight_name *gguf, int64_t layer,
                             const char *suffix)
{
    const bool is_bias = strcmp(suffix, "bias") == 0;
    clf_weight_role roles[CLFI_MOST_FUSED];
    clf_weight_part parts[CLFI_MOST_FUSED];
    const int count = roles_of(gguf, roles);
    int64_t columns = 0;
    int have = 0;
    char name[CLFI_WEIGHT_NAME_BYTES];
    made_tensor *made;
    for (int i = 0; i < count; i++) {
        CLF_TRY(locate(t, rows, roles[i], layer, &parts[i], &columns));
        have += clfi_weight_has(&t->lookup, parts[i].row, layer, suffix);
    }
    clfi_weight_full_name("", gguf, layer, suffix, name);
    if (is_bias && have == 0)
        return CLF_OK;
    if (is_bias && (rows == t->family->names->head || (is_norm(roles[0]) && stack_of(t)->norm != CLF_NORM_LAYER)))
        CLF_FAIL(CLF_UNSUPPORTED, "GGUF cannot store the bias %s", name);
    CLF_TRY(add(t, name, &made));
    set_changes(t, roles[0], is_bias, made);
    if (is_bias)
        columns = 0;
    for (int i = 0; i < count; i++)
        CLF_TRY(add_part(t, made, &parts[i], layer, suffix, columns));
    finish(made, columns, roles[0] == CLF_WEIGHT_POSITIONS);
    return CLF_OK;
}

/* Whether the GGUF file has the weights that this row names. */
static bool is_wanted(const clf_gguf_tensors *t, const clf_weight_name *row)
{
    const clf_stack_config *stack = stack_of(t);
    const bool is_fused_qkv = row->role == CLF_WEIGHT_FUSED && row->parts[0] == CLF_WEIGHT_QUERY;
    switch (row->role) {
    case CLF_WEIGHT_QUERY:
    case CLF_WEIGHT_KEY:
    case CLF_WEIGHT_VALUE:
        return !t->architecture->fuses_qkv;
    case CLF_WEIGHT_FUSED:
        return is_fused_qkv ? t->architecture->fuses_qkv : true;
    case CLF_WEIGHT_QUERY_NORM:
    case CLF_WEIGHT_KEY_NORM:
        return stack->has_query_key_norm;
    case CLF_WEIGHT_ATTENTION_POST_NORM:
    case CLF_WEIGHT_FFN_POST_NORM:
        return stack->place == CLF_NORM_BOTH;
    case CLF_WEIGHT_GENERATOR:
        return !t->network->is_generator_tied;
    default:
        return true;
    }
}

static clf_status add_row(clf_gguf_tensors *t, const clf_weight_name *rows, const clf_weight_name *gguf, int64_t layer)
{
    if (!is_wanted(t, gguf))
        return CLF_OK;
    CLF_TRY(add_tensor(t, rows, gguf, layer, "weight"));
    return add_tensor(t, rows, gguf, layer, "bias");
}

/* Adds a vector that the checkpoint does not store. *out: its values, for the caller to fill. */
static clf_status add_vector(clf_gguf_tensors *t, const char *name, int64_t count, float **out)
{
    made_tensor *made;
    CLF_TRY(add(t, name, &made));
    CLF_TRY(clfi_alloc((size_t)count, sizeof **out, name, &made->values));
    made->gguf.rank = 1;
    made->gguf.dim[0] = count;
    made->gguf.type = CLF_WEIGHT_F32;
    made->gguf.bytes = (size_t)count * sizeof **out;
    made->gguf.data = *out = made->values;
    return CLF_OK;
}

/* Adds Llama 3's scaling: the numbers that plain frequencies are divided by. */
static clf_status add_frequency_divisors(clf_gguf_tensors *t, const clf_rotary *rotary)
{
    const clf_rotary plain = {.base = rotary->base, .dims = rotary->dims};
    const int64_t pairs = rotary->dims / 2;
    double *frequencies;
    float *out;
    CLF_TRY(add_vector(t, CLFI_GGUF_FREQUENCIES, pairs, &out));
    CLF_TRY(clfi_alloc(2 * (size_t)pairs, sizeof *frequencies, "frequencies", &frequencies));
    clfi_rotary_frequencies(&plain, frequencies);
    clfi_rotary_frequencies(rotary, frequencies + pairs);
    for (int64_t i = 0; i < pairs; i++)
        out[i] = (float)(frequencies[i] / frequencies[pairs + i]);
    free(frequencies);
    return CLF_OK;
}

/* Adds longrope's divisors for texts within the trained positions, and those for longer texts, which other readers of GGUF may use. */
static clf_status add_long_divisors(clf_gguf_tensors *t, const clf_rotary *rotary)
{
    const json_t *config = clfi_checkpoint_config(t->checkpoint), *list = NULL;
    float *near, *far;
    const char *const keys[] = {"rope_scaling", "rope_parameters"};
    for (size_t i = 0; i < COUNT(keys) && !list; i++)
        list = json_object_get(json_object_get(config, keys[i]), "long_factor");
    CLF_TRY(add_vector(t, CLFI_GGUF_FACTORS_SHORT, rotary->divisor_count, &near));
    CLF_TRY(add_vector(t, CLFI_GGUF_FACTORS_LONG, rotary->divisor_count, &far));
    if (list && json_array_size(list) != (size_t)rotary->divisor_count)
        CLF_FAIL(CLF_FORMAT, "%s: long_factor has %zu numbers, expected %d as short_factor", CLFI_MODEL_CONFIG, json_array_size(list),
                 (int)rotary->divisor_count);
    for (int32_t i = 0; i < rotary->divisor_count; i++) {
        near[i] = rotary->divisors[i];
        const double factor = list ? json_number_value(json_array_get(list, (size_t)i)) : 1;
        if (!(factor > 0) || !isfinite(factor))
            CLF_FAIL(CLF_FORMAT, "%s: long_factor[%d]: expected a number above 0", CLFI_MODEL_CONFIG, (int)i);
        far[i] = list ? (float)factor : near[i];
    }
    return CLF_OK;
}

static clf_status add_all(clf_gguf_tensors *t)
{
    const clf_name_map *gguf = clfi_gguf_names(t->family->model_type), *own = t->family->names;
    const clf_rotary *rotary = &stack_of(t)->attention.rotary;
    if (!gguf)
        CLF_FAIL(CLF_INTERNAL, "%s: GGUF has no names for its weights", t->family->model_type);
    for (const clf_weight_name *row = gguf->decoder; row->role != CLF_WEIGHT_END; row++)
        if (!strstr(row->pattern, "%d"))
            CLF_TRY(add_row(t, own->decoder, row, 0));
    for (const clf_weight_name *row = gguf->head; row->role != CLF_WEIGHT_END; row++)
        CLF_TRY(add_row(t, own->head, row, 0));
    if (rotary->scaling == CLF_ROTARY_LLAMA3)
        CLF_TRY(add_frequency_divisors(t, rotary));
    if (rotary->divisor_count > 0)
        CLF_TRY(add_long_divisors(t, rotary));
    for (int64_t layer = 0; layer < stack_of(t)->layers; layer++)
        for (const clf_weight_name *row = gguf->decoder; row->role != CLF_WEIGHT_END; row++)
            if (strstr(row->pattern, "%d"))
                CLF_TRY(add_row(t, own->decoder, row, layer));
    return CLF_OK;
}

static bool is_taken(const void *user, const char *name)
{
    const clf_gguf_tensors *t = user;
    for (size_t i = 0; i < t->count; i++)
        for (int p = 0; p < t->list[i]->part_count; p++)
            if (strcmp(t->list[i]->parts[p].tensor.name, name) == 0)
                return true;
    return false;
}

/* Refuses weights that have no place in GGUF: the file would be another model than the directory. */
static clf_status check_taken(const clf_gguf_tensors *t)
{
    const clf_tensor_readers readers = {.names = t->family->names,
                                        .prefix = t->lookup.prefix,
                                        .model_type = t->family->model_type,
                                        .takes_all = true,
                                        .is_taken = is_taken,
                                        .user = t};
    return clfi_unread_tensors_check(t->checkpoint, &readers);
}

clf_status clfi_gguf_tensors_create(const clf_checkpoint *checkpoint, const clf_gguf_architecture *architecture, const clf_family *family,
                                    const clf_network_config *network, clf_gguf_tensors **out)
{
    clf_gguf_tensors *made;
    CLF_TRY(clfi_alloc(1, sizeof *made, "tensors", &made));
    *made = (clf_gguf_tensors){.checkpoint = checkpoint, .architecture = architecture, .family = family, .network = network};
    made->lookup = (clf_weight_lookup){has_tensor, (void *)checkpoint, ""};
    made->lookup.prefix = clfi_weight_prefix(&made->lookup, family->names);
    made->query_scale = clfi_gguf_query_scale(architecture, network);
    clf_status st = add_all(made);
    if (st == CLF_OK)
        st = check_taken(made);
    if (st == CLF_OK)
        *out = made;
    else
        clfi_gguf_tensors_destroy(made);
    return st;
}

void clfi_gguf_tensors_destroy(clf_gguf_tensors *tensors)
{
    if (!tensors)
        return;
    for (size_t i = 0; i < tensors->count; i++) {
        for (int k = 0; k < tensors->list[i]->part_count; k++)
            free(tensors->list[i]->parts[k].made);
        free(tensors->list[i]->values);
        free(tensors->list[i]);
    }
    free(tensors->list);
    free(tensors);
}

static const clf_gguf_tensor *tensor_at(const void *user, size_t index)
{
    return &((const clf_gguf_tensors *)user)->list[index]->gguf;
}

/* Computes columns from .. from + count of GGUF's row `row` from the stored parts. */
static void read_row(const made_tensor *made, int64_t row, int64_t from, int64_t count, float *out)
{
    const int64_t head = made->head_size, columns = made->gguf.rank == 2 ? made->gguf.dim[1] : 1;
    int64_t at = head > 0 ? row / head * head + row % 2 * (head / 2) + row % head / 2 : row;
    const stored_part *part = made->parts;
    for (; at >= part->count; part++)
        at -= part->count;
    const size_t bytes = (size_t)clfi_weight_type_info(part->tensor.type)->block_bytes;
    const uint8_t *data = part->tensor.data;
    at += part->first;
    if (!part->is_transposed) {
        clfi_weight_decode_f32(part->tensor.type, data + (size_t)(at * columns + from) * bytes, (size_t)count, out);
    } else {
        for (int64_t i = 0; i < count; i++)
            clfi_weight_decode_f32(part->tensor.type, data + (size_t)((from + i) * part->tensor.dim[1] + at) * bytes, 1, &out[i]);
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = made->scale * (out[i] + made->offset);
}

static clf_status read(const void *user, size_t index, size_t first, size_t count, float *out)
{
    const clf_gguf_tensors *t = user;
    made_tensor *made = t->list[index];
    for (int i = 0; i < made->part_count; i++)
        if (made->parts[i].tensor.is_made && !made->parts[i].made)
            CLF_TRY(clfi_checkpoint_make(t->checkpoint, &made->parts[i].tensor, &made->parts[i].made));
    const size_t columns = made->gguf.rank == 2 ? (size_t)made->gguf.dim[1] : 1;
    if (made->values)
        memcpy(out, made->values + first, count * sizeof *out);
    for (size_t done = 0; !made->values && done < count;) {
        const size_t at = first + done, from = at % columns, left = columns - from;
        const size_t taken = left < count - done ? left : count - done;
        read_row(made, (int64_t)(at / columns), (int64_t)from, (int64_t)taken, out + done);
        done += taken;
    }
    return CLF_OK;
}

static void forget(const void *user, size_t index)
{
    const clf_gguf_tensors *t = user;
    made_tensor *made = t->list[index];
    for (int i = 0; i < made->part_count; i++) {
        clfi_checkpoint_forget(t->checkpoint, &made->parts[i].tensor);
        free(made->parts[i].made);
        made->parts[i].made = NULL;
    }
}

static clf_status check(const void *user)
{
    return clfi_checkpoint_check(((const clf_gguf_tensors *)user)->checkpoint);
}

void clfi_gguf_tensors_describe(const clf_gguf_tensors *tensors, clf_gguf_source *source)
{
    source->tensor_count = tensors->count;
    source->tensor = tensor_at;
    source->read = read;
    source->forget = forget;
    source->check = check;
    source->user = tensors;
}
