/* SPDX-License-Identifier: MIT */
/* Places the labels of a scatter plot. Each label in turn tries places around its point, nearest first. It takes the first free one, else
 * the one with the least overlap. This is the greedy method to which Christensen, Marks & Shieber 1995 compare others. */
#include <math.h>

#include "report/report_parts.h"

/* MOST_PLACED: a plot has no room for more labels. Later ones stand beside their points at once, which keeps large reports fast. */
enum { DIRECTIONS = 16, MOST_PLACED = 500 };

static const double radii[] = {10, 14, 20, 27, 36, 47, 60, 75, 92};
static const double marker = 5.5, near_enough = 14; /* half a marker's side; the radius beyond which a leader is drawn */

typedef struct box {
    double left, top, right, bottom;
} box;

static double overlap(const box *a, const box *b)
{
    if (a->right <= b->left || b->right <= a->left || a->bottom <= b->top || b->bottom <= a->top)
        return 0;
    return (fmin(a->right, b->right) - fmax(a->left, b->left)) * (fmin(a->bottom, b->bottom) - fmax(a->top, b->top));
}

static box around(double x, double y, double width, double height)
{
    return (box){x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

/* Area that a label at `place` would share with points and, three times, with fixed labels and those before it. The sum stops once it
 * reaches `most`. */
static double cost(const clfi_label *labels, size_t count, size_t index, const box *place, double most)
{
    double sum = 0;
    for (size_t i = 0; i < count && sum < most; i++) {
        const box point = around(labels[i].x, labels[i].y, 2 * marker, 2 * marker);
        sum += labels[i].is_fixed ? 0 : overlap(place, &point);
        if (i < index || labels[i].is_fixed) {
            const box other = around(labels[i].at_x, labels[i].at_y, labels[i].width, labels[i].height);
            sum += 3 * overlap(place, &other);
        }
    }
    return sum;
}

static void place(clfi_label *labels, size_t count, size_t index, const box *frame)
{
    static const double pi = 3.14159265358979323846;
    clfi_label *label = &labels[index];
    double least = INFINITY;
    for (size_t r = 0; r < COUNT(radii) && least > 0; r++)
        for (int d = 0; d < DIRECTIONS && least > 0; d++) {
            /* right of the point first, then up and down in turn */
            const double angle = pi * ((d + 1) / 2) / (DIRECTIONS / 2) * (d % 2 ? -1 : 1);
            const double x = label->x + cos(angle) * (radii[r] + label->width / 2 - 3), y = label->y + sin(angle) * radii[r];
            const box text = around(x, y, label->width, label->height);
            if (text.left < frame->left || text.right > frame->right || text.top < frame->top || text.bottom > frame->bottom)
                continue;
            const double here = cost(labels, count, index, &text, least);
            if (here >= least)
                continue;
            least = here;
            label->at_x = x;
            label->at_y = y;
            label->has_leader = radii[r] > near_enough;
        }
    if (isinf(least)) { /* the frame is smaller than the label */
        label->at_x = label->x;
        label->at_y = label->y;
    }
}

void clfi_report_place_labels(clfi_label *labels, size_t count, double left, double top, double right, double bottom)
{
    const box frame = {left, top, right, bottom};
    for (size_t i = 0; i < count; i++) {
        if (i >= MOST_PLACED && !labels[i].is_fixed) {
            labels[i].at_x = labels[i].x + marker + labels[i].width / 2;
            labels[i].at_y = labels[i].y;
        } else if (!labels[i].is_fixed) {
            place(labels, count, i, &frame);
        }
    }
}
