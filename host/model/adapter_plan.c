/* SPDX-License-Identifier: MIT */
/* Plans an adapter's changes: maps its modules to tensors of the checkpoint, and shared tables to one of them. */
#include "model/adapter_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/adapter_config.h"
#include "model/family.h"
#include "model/network_open.h"
#include "model/tied_tables.h"
#include "model/weight_lookup.h"
#include "tensor/view.h"

enum { NAME_BYTES = CLFI_WEIGHT_NAME_BYTES, MOST_NAMES = 16 };

typedef struct planner {
    const clf_adapter_source *source;
    const clf_name_map *names;
    clf_network_config network;
    clf_weight_lookup lookup;
    clf_adapter_plan *plan;
    size_t stored_count;                 /* of the entries, those that the checkpoint has, in the order of their names */
    char tables[MOST_NAMES][NAME_BYTES]; /* names of tables that share one tensor: token embedding tables, and the matrix of a generator
                                            that is tied to them */
    size_t table_count;
    char table[NAME_BYTES]; /* the entry that all of them share */
    char generator[NAME_BYTES];
} planner;

static const char *path_of(const planner *p)
{
    return clfi_safetensors_shard_path(p->source->file, 0);
}

static bool is_there(void *checkpoint, const char *name)
{
    clf_checkpoint_tensor tensor;
    return clfi_checkpoint_find(checkpoint, name, &tensor);
}

static int name_against(const void *name, const void *entry)
{
    return strcmp(name, ((const clf_adapter_entry *)entry)->tensor.name);
}

static clf_adapter_entry *find_entry(const planner *p, const char *name)
{
    clf_adapter_entry *entries = p->plan->entries;
    clf_adapter_entry *entry = p->stored_count ? bsearch(name, entries, p->stored_count, sizeof *entries, name_against) : NULL;
    for (size_t i = p->stored_count; i < p->plan->count && !entry; i++)
        entry = strcmp(entries[i].tensor.name, name) == 0 ? &entries[i] : NULL;
    return entry && !entry->is_hidden ? entry : NULL;
}

static clf_status add_entry(planner *p, const clf_checkpoint_tensor *tensor, clf_adapter_entry **out)
{
    clf_adapter_plan *plan = p->plan;
    CLF_TRY(clfi_grow(&plan->entries, &plan->capacity, plan->count + 1, sizeof *plan->entries, "adapter"));
    clf_adapter_entry *made = &plan->entries[plan->count++];
    *made = (clf_adapter_entry){.tensor = *tensor, .data = tensor->data, .own_type = tensor->type};
    if (out)
        *out = made;
    return CLF_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const clf_adapter_entry *)a)->tensor.name, ((const clf_adapter_entry *)b)->tensor.name);
}

static clf_status add_all(planner *p)
{
    clf_checkpoint_tensor tensor;
    for (size_t i = 0; clfi_checkpoint_at(p->source->base, i, &tensor); i++)
        CLF_TRY(add_entry(p, &tensor, NULL));
    p->stored_count = p->plan->count;
    if (p->plan->count)
        qsort(p->plan->entries, p->plan->count, sizeof *p->plan->entries, by_name);
    return CLF_OK;
}

/* Names of the rows of a role, stored or not. */
static void add_names(planner *p, const clf_weight_name *rows, clf_weight_role role)
{
    for (; rows && rows->role != CLF_WEIGHT_END && p->table_count < MOST_NAMES; rows++)
        if (rows->role == role)
            clfi_weight_full_name(p->lookup.prefix, rows, 0, "weight", p->tables[p->table_count++]);
}

/* Finds the embedding tables that the network shares. A name that is not stored, or whose tensor is a copy, stands for the stored one. */
static void find_tables(planner *p)
{
    size_t kept = 0;
    add_names(p, p->names->head, CLF_WEIGHT_SHARED);
    add_names(p, p->names->encoder, CLF_WEIGHT_TOKENS);
    add_names(p, p->names->decoder, CLF_WEIGHT_TOKENS);
    if (p->network.is_generator_tied)
        add_names(p, p->names->head, CLF_WEIGHT_GENERATOR);
    for (size_t i = 0; i < p->table_count && !p->table[0]; i++)
        if (is_there(p->source->base, p->tables[i]))
            snprintf(p->table, sizeof p->table, "%s", p->tables[i]);
    for (size_t i = 0; i < p->table_count; i++) {
        clf_adapter_entry *entry = find_entry(p, p->tables[i]);
        if (strcmp(p->tables[i], p->table) != 0 && entry) {
            entry->is_hidden = clfi_checkpoint_is_copy(p->source->base, p->tables[i], p->table);
            if (!entry->is_hidden)
                continue;
        }
        memmove(p->tables[kept++], p->tables[i], NAME_BYTES);
    }
    p->table_count = kept;
    const clf_weight_name *row = clfi_weight_find(&p->lookup, p->names->head, CLF_WEIGHT_GENERATOR, 0);
    if (row && p->network.is_generator_tied)
        clfi_weight_full_name(p->lookup.prefix, row, 0, "weight", p->generator);
}

/* The index of a name among the shared tables, in the network's order; table_count: it is none of them. */
static size_t order_of(const planner *p, const char *name)
{
    size_t at = 0;
    while (at < p->table_count && strcmp(p->tables[at], name) != 0)
        at++;
    return at;
}

static bool is_table(const planner *p, const char *name)
{
    return order_of(p, name) < p->table_count;
}

/* The entry that a name stands for; *out_name: the name in the checkpoint's terms. */
static clf_adapter_entry *try_name(const planner *p, const char *prefix, const char *rest, char out_name[NAME_BYTES])
{
    if ((size_t)snprintf(out_name, NAME_BYTES, "%s%s", prefix, rest) >= NAME_BYTES)
        return NULL;
    return find_entry(p, is_table(p, out_name) ? p->table : out_name);
}

/* Finds a tensor also where the class that was trained has a prefix that the file lacks, or the other way round. */
static clf_adapter_entry *find_tensor(const planner *p, const char *name, char out_name[NAME_BYTES])
{
    clf_adapter_entry *entry = try_name(p, "", name, out_name);
    for (const char *const *own = p->names->prefixes; own && *own && !entry; own++) {
        entry = try_name(p, *own, name, out_name);
        if (strncmp(name, *own, strlen(*own)) != 0)
            continue;
        for (const char *const *other = p->names->prefixes; *other && !entry; other++)
            entry = try_name(p, *other, name + strlen(*own), out_name);
    }
    return entry;
}

static bool is_transposed_in(const planner *p, const clf_weight_name *rows, int64_t layers, const char *name)
{
    char full[NAME_BYTES];
    for (; rows && rows->role != CLF_WEIGHT_END; rows++)
        for (int64_t i = 0; rows->stored == CLF_STORED_TRANSPOSED && i < layers; i++) {
            clfi_weight_full_name(p->lookup.prefix, rows, i, "weight", full);
            if (strcmp(full, name) == 0)
                return true;
        }
    return false;
}

/* The shape of a tensor in the adapter's file as text: [a,b]. */
static const char *shape_of(const clf_file_tensor *tensor, char out[CLFI_SHAPE_TEXT_BYTES])
{
    return clfi_shape_text(tensor->rank, tensor->dim, out);
}

static clf_status check_numbers(const planner *p, const clf_file_tensor *tensor, int rank)
{
    char shape[CLFI_SHAPE_TEXT_BYTES];
    if (tensor->dtype != CLF_FILE_F32 && tensor->dtype != CLF_FILE_F16 && tensor->dtype != CLF_FILE_BF16)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected F32, F16 or BF16, found %s", path_of(p), tensor->name,
                 clfi_file_dtype_name(tensor->dtype));
    if (tensor->rank != rank)
        CLF_FAIL(CLF_FORMAT, "%s: %s: expected %d sizes, found %s", path_of(p), tensor->name, rank, shape_of(tensor, shape));
    return CLF_OK;
}

static clf_status find_place(const planner *p, const clf_file_tensor *tensor, const clf_adapter_key *key, char name[NAME_BYTES],
                             clf_adapter_entry **out)
{
    *out = find_tensor(p, key->tensor, name);
    if (!*out)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: the model has no %s", path_of(p), tensor->name, key->tensor);
    if (!(*out)->tensor.is_weight)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: the model's %s is of type %s: expected F32, F16 or BF16", path_of(p), tensor->name, key->tensor,
                 (*out)->tensor.type_name);
    return CLF_OK;
}

/* name: the module's own tensor, which may be a shared table. Changes of a shared table are rounded one by one, in the order of its
 * modules. */
static clf_status add_change(const planner *p, const clf_file_tensor *tensor, const char *name, clf_adapter_change change,
                             clf_adapter_entry *entry)
{
    size_t at = entry->change_count;
    if (at == COUNT(entry->changes))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: more than %zu changes of one tensor", path_of(p), tensor->name, COUNT(entry->changes));
    change.order = order_of(p, name);
    for (; at > 0 && entry->changes[at - 1].order > change.order; at--)
        entry->changes[at] = entry->changes[at - 1];
    entry->changes[at] = change;
    entry->change_count++;
    return CLF_OK;
}

static clf_status check_target(const planner *p, const clf_file_tensor *tensor, const clf_adapter_key *key, int64_t *rank, double *scaling)
{
    bool is_target;
    CLF_TRY(clfi_adapter_config_targets(p->source->config, p->source->config_path, key->module, &is_target));
    if (!is_target)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: %s says that the adapter does not change %s", path_of(p), tensor->name, p->source->config_path,
                 key->module);
    return clfi_adapter_config_scaling(p->source->config, p->source->config_path, key->module, rank, scaling);
}

/* The other factor, whose name differs in one letter. */
static clf_status find_factor(const planner *p, const clf_file_tensor *tensor, const char *own, const char *other,
                              const clf_file_tensor **out)
{
    char name[2 * CLFI_ADAPTER_NAME_BYTES];
    const char *at = NULL;
    for (const char *next = strstr(tensor->name, own); next; next = strstr(next + 1, own))
        at = next;
    snprintf(name, sizeof name, "%.*s%s%s", (int)(at - tensor->name), tensor->name, other, at + strlen(own));
    *out = clfi_safetensors_find(p->source->file, name);
    if (!*out)
        CLF_FAIL(CLF_FORMAT, "%s: found %s but not %s (is the download complete?)", path_of(p), tensor->name, name);
    return CLF_OK;
}

/* Which way round the product fits the stored tensor. */
static clf_status find_kind(const planner *p, const clf_adapter_change *change, const clf_adapter_entry *entry, bool is_embedding,
                            clf_adapter_change_kind *out)
{
    const int64_t out_size = change->b->dim[0], in_size = change->a->dim[1], *dim = entry->tensor.dim;
    char a[CLFI_SHAPE_TEXT_BYTES], b[CLFI_SHAPE_TEXT_BYTES], own[CLFI_SHAPE_TEXT_BYTES];
    const bool is_turned = is_embedding || is_transposed_in(p, p->names->encoder, p->network.encoder.layers, entry->tensor.name) ||
                           is_transposed_in(p, p->names->decoder, p->network.decoder.layers, entry->tensor.name);
    *out = is_embedding ? CLF_ADAPTER_EMBEDDING : is_turned ? CLF_ADAPTER_TURNED : CLF_ADAPTER_PRODUCT;
    if (entry->tensor.rank != 2 || dim[0] != (is_turned ? in_size : out_size) || dim[1] != (is_turned ? out_size : in_size))
        CLF_FAIL(CLF_FORMAT, "%s: %s is %s and %s is %s: they do not fit the model's %s, %s", path_of(p), change->a->name,
                 shape_of(change->a, a), change->b->name, shape_of(change->b, b), entry->tensor.name,
                 clfi_shape_text(entry->tensor.rank, entry->tensor.dim, own));
    return CLF_OK;
}

static clf_status add_product(const planner *p, const clf_file_tensor *tensor, const clf_adapter_key *key)
{
    const bool is_embedding = key->part == CLF_ADAPTER_EMBEDDING_A;
    clf_adapter_change change = {.a = tensor};
    clf_adapter_entry *entry;
    char name[NAME_BYTES];
    int64_t rank;
    CLF_TRY(check_target(p, tensor, key, &rank, &change.scaling));
    CLF_TRY(find_factor(p, tensor, is_embedding ? "lora_embedding_A" : "lora_A", is_embedding ? "lora_embedding_B" : "lora_B", &change.b));
    CLF_TRY(check_numbers(p, change.a, 2));
    CLF_TRY(check_numbers(p, change.b, 2));
    if (change.a->dim[0] != rank || change.b->dim[1] != rank)
        CLF_FAIL(CLF_FORMAT, "%s: %s and %s are of ranks %lld and %lld: expected %lld, by %s", path_of(p), change.a->name, change.b->name,
                 (long long)change.a->dim[0], (long long)change.b->dim[1], (long long)rank, p->source->config_path);
    CLF_TRY(find_place(p, tensor, key, name, &entry));
    CLF_TRY(find_kind(p, &change, entry, is_embedding, &change.kind));
    return add_change(p, tensor, name, change, entry);
}

static clf_status add_bias(const planner *p, const clf_file_tensor *tensor, const clf_adapter_key *key)
{
    clf_adapter_change change = {.kind = CLF_ADAPTER_BIAS, .b = tensor};
    clf_adapter_entry *entry;
    char name[NAME_BYTES];
    int64_t rank;
    CLF_TRY(check_target(p, tensor, key, &rank, &change.scaling));
    CLF_TRY(check_numbers(p, tensor, 1));
    CLF_TRY(find_place(p, tensor, key, name, &entry));
    if (entry->tensor.rank != 1 || entry->tensor.dim[0] != tensor->dim[0])
        CLF_FAIL(CLF_FORMAT, "%s: %s has %lld numbers, the model's %s %lld", path_of(p), tensor->name, (long long)tensor->dim[0], name,
                 (long long)entry->tensor.dim[0]);
    return add_change(p, tensor, name, change, entry);
}

/* Adds an entry of its own, under the module's name, for one of the two modules that share a table. */
static clf_status part_from_table(planner *p, const char *name, clf_adapter_entry **out)
{
    const clf_checkpoint_tensor *table = &find_entry(p, p->table)->tensor;
    const clf_checkpoint_tensor tensor = *table;
    clf_adapter_entry *made;
    char *own_name;
    CLF_TRY(clfi_strdup(name, &own_name));
    const clf_status st = add_entry(p, &tensor, &made);
    if (st != CLF_OK) {
        free(own_name);
        return st;
    }
    made->own_name = own_name;
    made->tensor.name = own_name;
    *out = made;
    return CLF_OK;
}

/* Unties a table that modules_to_save names: peft copies the module with its table, so that nothing shares it any longer. */
static clf_status untie(planner *p, const clf_file_tensor *tensor, const char *name, clf_adapter_entry **entry)
{
    clf_adapter_entry *own = find_entry(p, p->generator);
    if (p->network.encoder.layers > 0 && p->network.decoder.layers > 0)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: a table shared by encoder, decoder and head cannot be replaced", path_of(p), tensor->name);
    if (!p->generator[0])
        return CLF_OK;
    if (!own)
        CLF_TRY(part_from_table(p, p->generator, &own));
    *entry = strcmp(name, p->generator) == 0 ? own : find_entry(p, p->table);
    return CLF_OK;
}

static clf_status add_whole(planner *p, const clf_file_tensor *tensor, const clf_adapter_key *key)
{
    clf_adapter_entry *entry;
    char name[NAME_BYTES], own[CLFI_SHAPE_TEXT_BYTES], given[CLFI_SHAPE_TEXT_BYTES];
    bool is_saved;
    CLF_TRY(clfi_adapter_config_saves(p->source->config, p->source->config_path, key->module, &is_saved));
    CLF_TRY(find_place(p, tensor, key, name, &entry));
    if (is_saved && !key->is_base_layer && is_table(p, name))
        CLF_TRY(untie(p, tensor, name, &entry));
    CLF_TRY(check_numbers(p, tensor, entry->tensor.rank));
    if (memcmp(tensor->dim, entry->tensor.dim, (size_t)tensor->rank * sizeof *tensor->dim) != 0)
        CLF_FAIL(CLF_FORMAT, "%s: %s is %s, the model's %s %s", path_of(p), tensor->name, shape_of(tensor, given), name,
                 clfi_shape_text(entry->tensor.rank, entry->tensor.dim, own));
    if (entry->replaced && (entry->replaced->bytes != tensor->bytes || memcmp(entry->replaced->data, tensor->data, tensor->bytes) != 0))
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s and %s differ: expected one table, which the model shares", path_of(p), entry->replaced->name,
                 tensor->name);
    entry->replaced = tensor;
    return CLF_OK;
}

static clf_status add_tensor(planner *p, const clf_file_tensor *tensor)
{
    clf_adapter_key key;
    const clf_file_tensor *other;
    if (!clfi_adapter_key_read(tensor->name, &key) || key.part == CLF_ADAPTER_OTHER)
        CLF_FAIL(CLF_UNSUPPORTED, "%s: %s: expected lora_A, lora_B, lora_embedding_A, lora_embedding_B or a tensor of the model%s",
                 path_of(p), tensor->name, strstr(tensor->name, "lora_magnitude_vector") ? " (DoRA is not supported)" : "");
    switch (key.part) {
    case CLF_ADAPTER_A:
    case CLF_ADAPTER_EMBEDDING_A:
        return add_product(p, tensor, &key);
    case CLF_ADAPTER_B:
        return find_factor(p, tensor, "lora_B", "lora_A", &other);
    case CLF_ADAPTER_EMBEDDING_B:
        return find_factor(p, tensor, "lora_embedding_B", "lora_embedding_A", &other);
    case CLF_ADAPTER_B_BIAS:
        return add_bias(p, tensor, &key);
    default:
        return add_whole(p, tensor, &key);
    }
}

/* Widens the type of a float16 weight that transformers holds in float32. */
static void widen(const planner *p, clf_checkpoint_tensor *tensor)
{
    const size_t size = strlen(tensor->name), length = p->names->wide_names ? strlen(p->names->wide_names) : 0;
    if (length == 0 || tensor->type != CLF_WEIGHT_F16 || size < length || strcmp(tensor->name + size - length, p->names->wide_names) != 0)
        return;
    tensor->type = CLF_WEIGHT_F32;
    tensor->type_name = clfi_file_dtype_name(CLF_FILE_F32);
    tensor->bytes *= sizeof(float) / sizeof(uint16_t);
}

/* Removes hidden entries; changed entries have no data of their own. */
static clf_status finish(const planner *p)
{
    clf_adapter_plan *plan = p->plan;
    size_t kept = 0;
    bool is_any = false;
    for (size_t i = 0; i < plan->count; i++) {
        clf_adapter_entry *entry = &plan->entries[i];
        if (entry->is_hidden)
            continue;
        if (entry->change_count || entry->replaced) {
            entry->tensor.is_made = is_any = true;
            entry->tensor.data = NULL;
            widen(p, &entry->tensor);
        }
        plan->entries[kept++] = *entry;
    }
    plan->count = kept;
    if (!is_any)
        CLF_FAIL(CLF_FORMAT, "%s: no tensor changes the model", path_of(p));
    qsort(plan->entries, plan->count, sizeof *plan->entries, by_name);
    return CLF_OK;
}

clf_status clfi_adapter_plan_make(const clf_adapter_source *source, clf_adapter_plan *out)
{
    const json_t *json = clfi_checkpoint_config(source->base);
    const clf_family *family;
    const clf_file_tensor *tensor;
    clf_adapter_plan plan = {NULL};
    planner p = {.source = source, .plan = &plan, .lookup = {is_there, source->base, ""}};
    clf_status st;
    CLF_TRY(clfi_family_find(json, 0, &family));
    CLF_TRY(family->read_config(json, &p.network));
    p.names = clfi_network_names(source->base, family);
    clfi_tie_generator(source->base, p.names, &p.network);
    p.lookup.prefix = clfi_weight_prefix(&p.lookup, p.names);
    CLF_GOTO(add_all(&p));
    find_tables(&p);
    for (size_t i = 0; (tensor = clfi_safetensors_at(source->file, i)) != NULL; i++)
        CLF_GOTO(add_tensor(&p, tensor));
    CLF_GOTO(finish(&p));
    *out = plan;
    return CLF_OK;
done:
    clfi_adapter_plan_clear(&plan);
    return st;
}

void clfi_adapter_plan_clear(clf_adapter_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->entries[i].own_name);
    free(plan->entries);
    *plan = (clf_adapter_plan){NULL};
}

const clf_adapter_entry *clfi_adapter_plan_find(const clf_adapter_plan *plan, const char *name)
{
    return plan->count ? bsearch(name, plan->entries, plan->count, sizeof *plan->entries, name_against) : NULL;
}
