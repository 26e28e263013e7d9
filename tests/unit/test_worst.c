/* SPDX-License-Identifier: MIT */
/* The helper that device tests compare with: what isn't finite must not pass, wherever it stands. */
#include "support/worst.h"

#include "support/check.h"

static void the_largest_is_kept(void **state)
{
    (void)state;
    worst w = {0};
    worst_add(&w, 1, 1, 4);
    assert_true(w.error <= 0);
    worst_add(&w, 1, 3, 5);
    worst_add(&w, 3, 2, 6);
    CHECK(within(w.error, 2, 0) && w.where == 5, "%g at %zu", w.error, w.where);
}

static void what_is_not_finite_stays(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t place = 0; place < 3; place++)
        for (size_t k = 0; k < 3; k++)
            for (int is_wanted = 0; is_wanted < 2; is_wanted++) {
                worst w = {0};
                for (size_t i = 0; i < 3; i++)
                    worst_add(&w, i == place && !is_wanted ? bad[k] : 1, i == place && is_wanted ? bad[k] : 1, i);
                CHECK(!(w.error <= 1e30) && w.where == place, "%g at %zu gives %g at %zu", bad[k], place, w.error, w.where);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_largest_is_kept), cmocka_unit_test(what_is_not_finite_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
