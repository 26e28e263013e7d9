/* SPDX-License-Identifier: MIT */
/* Computes Student's distribution, the exact rank test and the adjustment for many comparisons. */
#include "report/statistics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by the modified method of Lentz. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double f = 1, c = 1, d = 0;
    for (int m = 0; m <= 400; m++) {
        double numerator = 1;
        if (m > 0) {
            const double k = m / 2;
            numerator = m % 2 == 0 ? k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
                                   : -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        }
        d = 1 + numerator * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + numerator / c;
        c = fabs(c) < tiny ? tiny : c;
        f *= c * d;
        if (m > 0 && fabs(1 - c * d) < 1e-15)
            break;
    }
    return f - 1; /* the first numerator is 1: f = 1 + 1/(1 + ...) */
}

/* The regularised incomplete beta function I_x(a, b). */
static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double clfi_student_p(double t, double degrees)
{
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double clfi_student_t(double p, double degrees)
{
    double low = 0, high = 1;
    while (clfi_student_p(high, degrees) > p && high < 1e12)
        high *= 2;
    for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2) {
        if (clfi_student_p(middle, degrees) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

/* Computes twice the midrank of each value of `all`: an integer also for ties. */
static void double_ranks(const double *all, size_t count, size_t *ranks)
{
    for (size_t i = 0; i < count; i++) {
        size_t below = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            below += all[j] < all[i];
            equal += all[j] == all[i];
        }
        ranks[i] = 2 * below + equal + 1;
    }
}

double clfi_rank_test(const double *a, size_t count_a, const double *b, size_t count_b)
{
    enum { MOST = 2 * CLFI_VISITS_MAX };
    static const double slack = 1e-9;
    double all[MOST], *ways;
    size_t ranks[MOST], observed = 0, reached = 0;
    const size_t count = count_a + count_b, total = count * (count + 1), width = total + 1; /* midranks add up to count (count + 1) / 2 */
    if (count_a == 0 || count_b == 0 || count_a > CLFI_VISITS_MAX || count_b > CLFI_VISITS_MAX)
        return 1;
    if (clfi_alloc((count_a + 1) * width, sizeof *ways, "rank sums", &ways) != CLF_OK)
        return 1;
    memcpy(all, a, count_a * sizeof *a);
    memcpy(all + count_a, b, count_b * sizeof *b);
    double_ranks(all, count, ranks);
    ways[0] = 1; /* ways[k * width + s]: groups of k values whose doubled ranks add up to s */
    for (size_t i = 0; i < count; i++) {
        reached += ranks[i];
        observed += i < count_a ? ranks[i] : 0;
        for (size_t k = count_a < i + 1 ? count_a : i + 1; k > 0; k--)
            for (size_t s = ranks[i]; s <= reached; s++)
                ways[k * width + s] += ways[(k - 1) * width + s - ranks[i]];
    }
    const double mean = (double)total * (double)count_a / (double)count, distance = fabs((double)observed - mean);
    double extreme = 0, every = 0;
    for (size_t s = 0; s <= total; s++) {
        const double here = ways[count_a * width + s];
        every += here;
        extreme += fabs((double)s - mean) >= distance - slack ? here : 0;
    }
    free(ways);
    return extreme / every;
}

typedef struct ranked_p {
    double p;
    size_t place;
} ranked_p;

static int by_p(const void *a, const void *b)
{
    const ranked_p *x = a, *y = b;
    if (x->p != y->p)
        return x->p < y->p ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

clf_status clfi_adjust_p(double *p, size_t count)
{
    ranked_p *order;
    CLF_TRY(clfi_alloc(count, sizeof *order, "p values", &order));
    for (size_t i = 0; i < count; i++)
        order[i] = (ranked_p){p[i], i};
    qsort(order, count, sizeof *order, by_p);
    double least = 1;
    for (size_t i = count; i > 0; i--) {
        const double adjusted = order[i - 1].p * (double)count / (double)i;
        least = adjusted < least ? adjusted : least;
        p[order[i - 1].place] = least;
    }
    free(order);
    return CLF_OK;
}
