/* SPDX-License-Identifier: MIT */
/* Reads the weights of multi-head attention from a safetensors file, for clformer op mha. */
#include "cli/mha_params.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/safetensors.h"

enum { QUERY, KEY, VALUE, OUTPUT, PART_COUNT, STEM_COUNT = 9 };

static const char *const part_names[PART_COUNT] = {"query", "key", "value", "output"};

/* Names of the four linear layers in labml, Dive into Deep Learning, Hugging Face and tutorials; the first that a file has counts. */
static const char *const stems[PART_COUNT][STEM_COUNT] = {
    {"query.linear", "W_Q", "W_q", "w_q", "wq", "Wq", "q_proj", "query", "q"},
    {"key.linear", "W_K", "W_k", "w_k", "wk", "Wk", "k_proj", "key", "k"},
    {"value.linear", "W_V", "W_v", "w_v", "wv", "Wv", "v_proj", "value", "v"},
    {"output", "W_O", "W_o", "w_o", "wo", "Wo", "out_proj", "fc", "o"},
};

/* Names of a bare weight's bias, beside "<stem>.bias". */
static const char *const bare_biases[PART_COUNT][3] = {
    {"bq", "b_q", "b_Q"}, {"bk", "b_k", "b_K"}, {"bv", "b_v", "b_V"}, {"bo", "b_o", "b_O"}};

typedef struct mha_file {
    op_job *job;
    const char *path, *prefix;
    clf_safetensors *file;
    const clf_file_tensor *used[2 * PART_COUNT];
    int used_count;
} mha_file;

static const clf_file_tensor *find(const mha_file *f, const char *name, const char *suffix)
{
    char full[512];
    if ((size_t)snprintf(full, sizeof full, "%s%s%s", f->prefix, name, suffix) >= sizeof full)
        return NULL;
    return clfi_safetensors_find(f->file, full);
}

/* Loads a tensor's values into `parts` tensors, split along its first axis; *out[i] receives part i. */
static clf_status load(mha_file *f, const clf_file_tensor *tensor, int parts, const clf_tensor **out[])
{
    int64_t dim[CLFI_SAFETENSORS_MAX_RANK] = {0};
    float *values;
    size_t count = 1;
    if (f->used_count == (int)COUNT(f->used))
        CLF_FAIL(CLF_FORMAT, "E_FORMAT: %s: %s: more tensors than one attention layer has", f->path, tensor->name);
    if (parts > 1 && (tensor->rank == 0 || tensor->dim[0] % parts != 0))
        CLF_FAIL(CLF_FORMAT, "E_FORMAT: %s: %s: expected a multiple of %d rows, one part per projection", f->path, tensor->name, parts);
    for (int i = 0; i < tensor->rank; i++) {
        dim[i] = tensor->dim[i];
        count *= (size_t)dim[i];
    }
    dim[0] /= parts;
    CLF_TRY(clfi_alloc(count, sizeof *values, tensor->name, &values));
    clf_status st = clfi_file_to_f32(tensor->dtype, false, tensor->data, (ptrdiff_t)clfi_file_dtype_bytes(tensor->dtype), count, values);
    for (int i = 0; i < parts && st == CLF_OK; i++) {
        clf_tensor *part;
        st = op_create_from(f->job, CLF_F32, tensor->rank, dim, values + (size_t)i * (count / (size_t)parts), &part);
        if (st == CLF_OK)
            *out[i] = part;
    }
    free(values);
    f->used[f->used_count++] = tensor;
    return st;
}

/* Weight and bias of one part under the first stem that the file has. *out_weight stays NULL if it has none. */
static clf_status load_part(mha_file *f, int part, const clf_tensor **out_weight, const clf_tensor **out_bias)
{
    for (int i = 0; i < STEM_COUNT && !*out_weight; i++) {
        const char *stem = stems[part][i];
        const clf_file_tensor *weight = find(f, stem, ".weight"), *bias = find(f, stem, ".bias");
        if (!weight && (weight = find(f, stem, "")) != NULL)
            for (size_t k = 0; k < COUNT(bare_biases[part]) && !bias; k++)
                bias = find(f, bare_biases[part][k], "");
        if (weight)
            CLF_TRY(load(f, weight, 1, &out_weight));
        if (weight && bias)
            CLF_TRY(load(f, bias, 1, &out_bias));
    }
    return CLF_OK;
}

/* Loads the input projections of torch.nn.MultiheadAttention: one weight for all three, or three if the widths differ; one bias. */
static clf_status load_torch_input(mha_file *f, clf_multi_head_attention_weights *w)
{
    const clf_tensor **weights[3] = {&w->w_q, &w->w_k, &w->w_v}, **biases[3] = {&w->b_q, &w->b_k, &w->b_v};
    static const char *const names[3] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    const clf_file_tensor *fused = find(f, "in_proj_weight", ""), *bias = find(f, "in_proj_bias", "");
    if (fused)
        CLF_TRY(load(f, fused, 3, weights));
    for (int i = 0; i < 3 && !fused; i++) {
        const clf_file_tensor *weight = find(f, names[i], "");
        if (weight)
            CLF_TRY(load(f, weight, 1, &weights[i]));
    }
    return bias ? load(f, bias, 3, biases) : CLF_OK;
}

static clf_status check_complete(const mha_file *f, const clf_multi_head_attention_weights *w)
{
    const clf_tensor *const found[PART_COUNT] = {w->w_q, w->w_k, w->w_v, w->w_o};
    const size_t prefix = strlen(f->prefix);
    for (int i = 0; i < PART_COUNT; i++) {
        if (!found[i])
            CLF_FAIL(CLF_FORMAT,
                     "E_FORMAT: %s: no weight of the %s projection: expected %s%s.weight, %s%s.weight or another of the known names",
                     f->path, part_names[i], f->prefix, stems[i][0], f->prefix, stems[i][1]);
        if (clf_tensor_rank(found[i]) != 2)
            CLF_FAIL(CLF_INVALID_ARGUMENT, "E_SHAPE: %s: the weight of the %s projection has rank %d, expected 2: [out, in]", f->path,
                     part_names[i], clf_tensor_rank(found[i]));
    }
    for (size_t i = 0; i < clfi_safetensors_count(f->file); i++) {
        const clf_file_tensor *tensor = clfi_safetensors_at(f->file, i);
        bool is_used = strncmp(tensor->name, f->prefix, prefix) != 0;
        for (int k = 0; k < f->used_count; k++)
            is_used |= f->used[k] == tensor;
        if (!is_used)
            CLF_FAIL(CLF_FORMAT, "E_FORMAT: %s: %s is unknown, or a second tensor for the same part of multi-head attention", f->path,
                     tensor->name);
    }
    return CLF_OK;
}

static clf_status load_all(mha_file *f, clf_multi_head_attention_weights *w)
{
    CLF_TRY(load_torch_input(f, w));
    if (!w->w_q && !w->w_k && !w->w_v) {
        CLF_TRY(load_part(f, QUERY, &w->w_q, &w->b_q));
        CLF_TRY(load_part(f, KEY, &w->w_k, &w->b_k));
        CLF_TRY(load_part(f, VALUE, &w->w_v, &w->b_v));
    }
    CLF_TRY(load_part(f, OUTPUT, &w->w_o, &w->b_o));
    return check_complete(f, w);
}

clf_status cli_mha_load(op_job *job, const char *path, const char *prefix, clf_multi_head_attention_weights *out)
{
    mha_file f = {.job = job, .path = path, .prefix = prefix};
    clf_multi_head_attention_weights weights = CLF_MULTI_HEAD_ATTENTION_WEIGHTS_INIT;
    clf_status st = clfi_safetensors_open(path, &f.file);
    if (st != CLF_OK)
        return clfi_fail_prefix(st, st == CLF_NOT_FOUND || st == CLF_IO ? "E_FILE" : "E_FORMAT");
    st = load_all(&f, &weights);
    clfi_safetensors_close(f.file);
    if (st == CLF_OK)
        *out = weights;
    return st;
}
