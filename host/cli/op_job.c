/* SPDX-License-Identifier: MIT */
/* Loads, creates and keeps the tensors of one run of `clformer op`, for the files op_*.c. */
#include "cli/op_row.h"

/* Gives the tensor to the job, which destroys it: now if it has no room for it, else in the end. */
static clf_status keep(op_job *job, clf_tensor *tensor)
{
    if (job->tensor_count == OP_MAX_TENSORS) {
        clf_tensor_destroy(tensor);
        CLF_FAIL(CLF_INTERNAL, "op: more than %d tensors", OP_MAX_TENSORS);
    }
    job->tensors[job->tensor_count++] = tensor;
    return CLF_OK;
}

clf_status op_load(op_job *job, const char *path, cli_npy_role role, clf_tensor **out)
{
    *out = NULL;
    if (!path)
        return CLF_OK;
    CLF_TRY(cli_npy_load(job->session.context, path, role, out));
    return keep(job, *out);
}

clf_status op_load_masks(op_job *job, clf_attention_masks *masks)
{
    clf_tensor *mask, *padding, *attention;
    CLF_TRY(op_load(job, job->mask, CLI_NPY_MASK, &mask));
    CLF_TRY(op_load(job, job->padding_mask, CLI_NPY_MASK, &padding));
    CLF_TRY(op_load(job, job->attention_mask, CLI_NPY_MASK, &attention));
    masks->mask = mask;
    masks->padding_mask = padding;
    masks->attention_mask = attention;
    masks->is_causal = job->causal;
    masks->empty_rows = (clf_empty_rows)job->policy;
    return CLF_OK;
}

clf_status op_create_from(op_job *job, clf_dtype dtype, int rank, const int64_t *dim, const void *data, clf_tensor **out)
{
    clf_tensor *tensor;
    if (data)
        CLF_TRY(clf_tensor_create_from(job->session.context, dtype, rank, dim, data, &tensor));
    else
        CLF_TRY(clf_tensor_create(job->session.context, dtype, rank, dim, &tensor));
    CLF_TRY(keep(job, tensor));
    *out = tensor;
    return CLF_OK;
}

clf_status op_create_result(op_job *job, int rank, const int64_t *dim)
{
    return op_create_from(job, job->dtype == 1 ? CLF_F16 : CLF_F32, rank, dim, NULL, &job->result);
}

const char *op_file(const op_job *job, int index)
{
    return index < job->file_count ? job->files[index] : NULL;
}
