/* SPDX-License-Identifier: MIT */
/* Quantiles against worked values, and when a spread counts as noise. */
#include "bench/samples.h"

#include "support/check.h"

static void add(clfi_samples *samples, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_OK(clfi_samples_add(samples, values[i]));
}

static void quantiles_are_linear_between_samples(void **state)
{
    (void)state;
    static const double values[] = {9, 1, 5, 3, 7}; /* numpy.quantile: 1.8, 5, 8.2 */
    clfi_samples samples = CLFI_SAMPLES_INIT;
    clfi_summary s;
    add(&samples, values, 5);
    CHECK_OK(clfi_samples_summary(&samples, &s));
    CHECK(within(s.p10, 1.8, 1e-15) && s.median == 5 && within(s.p90, 8.2, 1e-14), "%g %g %g", s.p10, s.median, s.p90);
    add(&samples, (const double[]){100}, 1);
    CHECK_OK(clfi_samples_summary(&samples, &s));
    CHECK(s.median == 6 && within(s.p90, 54.5, 1e-13), "%g %g", s.median, s.p90);
    CHECK(samples.values[0] == 9 && samples.values[5] == 100, "the samples were moved");
    clfi_samples_free(&samples);
}

static void few_samples(void **state)
{
    (void)state;
    clfi_samples samples = CLFI_SAMPLES_INIT;
    clfi_summary s;
    CHECK_OK(clfi_samples_summary(&samples, &s));
    CHECK(isnan(s.median) && isnan(s.p10) && isnan(s.p90), "no samples: %g", s.median);
    CHECK(!clfi_summary_is_noisy(&s), "no samples are no noise");
    add(&samples, (const double[]){2}, 1);
    CHECK_OK(clfi_samples_summary(&samples, &s));
    CHECK(s.median == 2 && s.p10 == 2 && s.p90 == 2, "one sample: %g %g %g", s.p10, s.median, s.p90);
    clfi_samples_free(&samples);
}

static void noise_begins_above_a_tenth(void **state)
{
    (void)state;
    CHECK(!clfi_summary_is_noisy(&(clfi_summary){.median = 8, .p10 = 7.75, .p90 = 8.5}), "0.75 of 8");
    CHECK(clfi_summary_is_noisy(&(clfi_summary){.median = 8, .p10 = 7.75, .p90 = 8.75}), "1 of 8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_linear_between_samples),
        cmocka_unit_test(few_samples),
        cmocka_unit_test(noise_begins_above_a_tenth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
