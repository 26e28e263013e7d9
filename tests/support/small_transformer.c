/* SPDX-License-Identifier: MIT */
/* Makes the small encoder-decoder of the tests, its batches, and the comparison of their results with the reference. */
#include "support/small_transformer.h"

#include <stdlib.h>

#include "support/check.h"
#include "support/operand.h"

const clf_transformer_config base_config = {.size = sizeof(clf_transformer_config),
                                            .width = C,
                                            .hidden_width = F,
                                            .heads = H,
                                            .encoder_layers = 2,
                                            .decoder_layers = 2,
                                            .source_vocabulary = SOURCE_V,
                                            .target_vocabulary = TARGET_V,
                                            .max_source = 9,
                                            .max_target = 9,
                                            .activation = CLF_ACTIVATION_RELU,
                                            .norm_first = 1,
                                            .has_final_norm = 1,
                                            .has_generator = 1,
                                            .positions = CLF_POSITIONS_SINUSOIDAL,
                                            .norm_eps = 1e-5f};

const double transformer_bound = 2e-5;

void list_labml(clf_context *context, const clf_transformer_config *config, const clfi_ref_weights *weights, tensor_list *list)
{
    list->count = 0;
    for (size_t i = 0; i < weights->count; i++)
        if (!config->is_generator_tied || strcmp(weights->items[i].name, "generator.projection.weight") != 0)
            list_add(context, list, weights->items[i].name, weights->items[i].rank, weights->items[i].dim, weights->items[i].value);
}

/* Copies values [N,length,columns] into the layout `order`; back: from that layout into [N,length,columns]. */
static void exchange(clf_layout order, bool back, int64_t length, int64_t columns, const float *from, float *to)
{
    for (int64_t n = 0; n < N; n++) {
        for (int64_t l = 0; l < length; l++) {
            const int64_t first = (n * length + l) * columns, other = order == CLF_LAYOUT_NLD ? first : (l * N + n) * columns;
            memcpy(to + (back ? first : other), from + (back ? other : first), (size_t)columns * sizeof *to);
        }
    }
}

clf_tensor *sequence(clf_context *context, clf_layout order, clf_dtype dtype, int64_t length, int64_t columns, const void *values)
{
    clf_tensor *tensor;
    const bool first = order == CLF_LAYOUT_NLD;
    const int64_t dim[3] = {first ? N : length, first ? length : N, columns};
    float *moved = malloc((size_t)(N * length * columns) * sizeof *moved);
    assert_non_null(moved);
    exchange(order, false, length, columns, values, moved); /* elements of both dtypes (f32, i32) have four bytes */
    CHECK_OK(clf_tensor_create_from(context, dtype, dtype == CLF_I32 ? 2 : 3, dim, moved, &tensor));
    free(moved);
    return tensor;
}

clf_tensor *output(clf_context *context, clf_layout order, int64_t length, int64_t columns)
{
    float values[N * S * C];
    memset(values, UNWRITTEN, sizeof values);
    return sequence(context, order, CLF_F32, length, columns, values);
}

void check_sequence(const char *id, const clf_tensor *tensor, clf_layout order, int64_t length, int64_t columns, const double *want)
{
    float raw[N * S * C], got[N * S * C];
    CHECK_OK(clf_tensor_read_f32(tensor, raw, (size_t)(N * length * columns)));
    exchange(order, true, length, columns, raw, got);
    for (int64_t i = 0; i < N * length * columns; i++)
        CHECK(within(got[i], want[i], transformer_bound), "%s: row %lld column %lld: %.9g, want %.9g", id, (long long)(i / columns),
              (long long)(i % columns), (double)got[i], want[i]);
}

clf_tensor *make_u8(clf_context *context, int rank, const int64_t *dim, const uint8_t *values)
{
    clf_tensor *tensor;
    CHECK_OK(clf_tensor_create_from(context, CLF_U8, rank, dim, values, &tensor));
    return tensor;
}
