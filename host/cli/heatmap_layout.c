/* SPDX-License-Identifier: MIT */
/* Computes sizes and positions of the parts of a heat map picture. */
#include "cli/heatmap_layout.h"

#include <math.h>

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

/* Chooses among the squarest grid and those with one or two columns more: first by the fewest empty places, then the squarest. */
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

static clf_status widest(cli_pen *pen, const char *const *labels, size_t count, double limit, double *out)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    *out = 0;
    for (size_t i = 0; i < count && st == CLF_OK; i++) {
        st = cli_text_fit(pen, labels[i], limit, &text);
        if (st == CLF_OK)
            *out = fmax(*out, cli_text_width(pen, clfi_str_text(&text)));
    }
    clfi_str_free(&text);
    return st;
}

/* *out: width of the widest panel name, with the maximum where that is shown. */
static clf_status measure_names(cli_pen *pen, const cli_heatmap *map, double *out)
{
    *out = 0;
    cli_pen_set_size(pen, NAME_SIZE);
    if (map->names)
        CLF_TRY(widest(pen, map->names, map->count, NAME_LIMIT, out));
    if (map->scale == CLI_SCALE_HEAD)
        *out += cli_text_width(pen, ", max " PLUS_MINUS "0.0000");
    return CLF_OK;
}

/* Titles may make the picture wider, up to TITLE_LIMIT; the panels stay in its middle. */
static clf_status make_room_for_titles(cli_pen *pen, const cli_heatmap *map, cli_heatmap_layout *l)
{
    double title = 0, subtitle = 0;
    cli_pen_set_size(pen, TITLE_SIZE);
    if (map->title)
        CLF_TRY(widest(pen, &map->title, 1, TITLE_LIMIT, &title));
    cli_pen_set_size(pen, NAME_SIZE);
    if (map->subtitle)
        CLF_TRY(widest(pen, &map->subtitle, 1, TITLE_LIMIT, &subtitle));
    const double width = fmax(SMALLEST_WIDTH, ceil(fmax(title, subtitle)) + 2 * MARGIN);
    if (width > l->width) {
        const double shift = floor((width - l->width) / 2);
        l->left += shift;
        l->bar_x += shift;
        l->width = width;
    }
    return CLF_OK;
}

clf_status cli_heatmap_arrange(cli_pen *pen, const cli_heatmap *map, cli_heatmap_layout *l)
{
    double column_width, name_width;
    const double name_line = map->names || map->scale == CLI_SCALE_HEAD ? LINE : 0;
    l->cell = element_side(map);
    l->panel_width = l->cell * (double)map->columns;
    l->panel_height = l->cell * (double)map->rows;
    choose_grid(map->count, l);
    l->label_size = fmax(9, fmin(12, l->cell * 0.8));
    l->row_skip = l->column_skip = (size_t)ceil(LABEL_PITCH / l->cell);
    cli_pen_set_size(pen, l->label_size);
    CLF_TRY(widest(pen, map->row_labels, map->rows, LABEL_LIMIT, &l->row_width));
    CLF_TRY(widest(pen, map->column_labels, map->columns, LABEL_LIMIT, &column_width));
    l->turned = column_width > l->cell * (double)l->column_skip - 4;
    l->column_height = l->turned ? column_width : l->label_size + 2;
    CLF_TRY(measure_names(pen, map, &name_width));
    l->left = fmax(MARGIN + LINE + l->row_width + TICK + 4, MARGIN + (name_width - l->panel_width) / 2);
    l->top = MARGIN + (map->title ? LINE + 8 : 0) + (map->subtitle ? LINE : 0) + name_line;
    l->step_x = fmax(l->panel_width, name_width) + GAP;
    l->step_y = l->panel_height + GAP + name_line;
    const double right = l->left + (double)l->grid_columns * l->step_x;
    const double bottom = l->top + (double)(l->grid_rows - 1) * l->step_y + l->panel_height;
    l->bar_x = right + 6;
    l->width = l->bar_x + BAR_WIDTH + 50 + MARGIN;
    l->height = bottom + TICK + 4 + l->column_height + LINE + MARGIN;
    CLF_TRY(make_room_for_titles(pen, map, l));
    if (l->width > LARGEST_SIDE || l->height > LARGEST_SIDE)
        CLF_FAIL(CLF_UNSUPPORTED, "picture of %zu matrices [%zu,%zu]: %.0f x %.0f is larger than %d; choose fewer", map->count, map->rows,
                 map->columns, l->width, l->height, LARGEST_SIDE);
    return CLF_OK;
}
