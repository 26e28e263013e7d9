/* SPDX-License-Identifier: MIT */
/* Where the parts of a heat map picture lie. */
#include "cli/heatmap_layout.h"

#include <math.h>

#include "cli/heatmap_text.h"

static double element_side(const cli_heatmap *map)
{
    const size_t longest = map->rows > map->columns ? map->rows : map->columns;
    if (longest <= 10)
        return 32;
    if (longest <= 20)
        return 24;
    if (longest <= 48)
        return 15;
    return longest >= 360 ? 2 : floor(720.0 / (double)longest);
}

/* As square as it goes, then with the fewest empty places. */
static void choose_grid(size_t count, cli_heatmap_layout *l)
{
    const size_t least = (size_t)ceil(sqrt((double)count));
    size_t fewest = count;
    for (size_t columns = least; columns <= least + 2; columns++) {
        const size_t rows = (count + columns - 1) / columns, empty = rows * columns - count;
        if (empty < fewest) {
            fewest = empty;
            l->grid_columns = columns;
            l->grid_rows = rows;
        }
    }
}

static clf_status widest(cairo_t *cr, const char *const *labels, size_t count, double *out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    *out = 0;
    for (size_t i = 0; i < count && st == CLF_OK; i++) {
        st = cli_text_fit(cr, labels[i], LABEL_LIMIT, &text);
        if (st == CLF_OK)
            *out = fmax(*out, cli_text_width(cr, text.data));
    }
    clfi_str_free(&text);
    return st;
}

clf_status cli_heatmap_arrange(cairo_t *cr, const cli_heatmap *map, cli_heatmap_layout *l)
{
    double column_width;
    l->cell = element_side(map);
    l->panel_width = l->cell * (double)map->columns;
    l->panel_height = l->cell * (double)map->rows;
    choose_grid(map->count, l);
    l->label_size = fmax(9, fmin(12, l->cell * 0.8));
    l->row_skip = l->column_skip = (size_t)ceil(LABEL_PITCH / l->cell);
    cli_text_font(cr, l->label_size);
    CLF_TRY(widest(cr, map->row_labels, map->rows, &l->row_width));
    CLF_TRY(widest(cr, map->column_labels, map->columns, &column_width));
    l->turned = column_width > l->cell * (double)l->column_skip - 4;
    l->column_height = l->turned ? column_width : l->label_size + 2;
    l->left = MARGIN + LINE + l->row_width + TICK + 4;
    l->top = MARGIN + (map->title ? LINE + 8 : 0) + (map->names ? LINE : 0);
    l->step_x = l->panel_width + GAP;
    l->step_y = l->panel_height + GAP + (map->names ? LINE : 0);
    const double right = l->left + (double)l->grid_columns * l->step_x;
    const double bottom = l->top + (double)(l->grid_rows - 1) * l->step_y + l->panel_height;
    l->bar_x = right + 6;
    l->width = fmax(SMALLEST_WIDTH, l->bar_x + BAR_WIDTH + 50 + MARGIN);
    l->height = bottom + TICK + 4 + l->column_height + LINE + MARGIN;
    if (l->width > LARGEST_SIDE || l->height > LARGEST_SIDE)
        CLF_FAIL(CLF_UNSUPPORTED, "picture of %zu matrices [%zu,%zu]: %.0f x %.0f is larger than %d; choose fewer", map->count, map->rows,
                 map->columns, l->width, l->height, LARGEST_SIDE);
    return CLF_OK;
}
