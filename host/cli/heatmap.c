/* SPDX-License-Identifier: MIT */
/* Draws heat maps of attention weights as PNG or SVG, with cairo. */

#include <cairo-svg.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/heatmap_layout.h"

/* Distance of ticks: 1, 2 or 5 times a power of ten, so that 2 to 6 steps lead up to `largest`. */
static double tick_step(double largest)
{
    const double power = pow(10, floor(log10(largest)));
    const double lead = largest / power;
    return power * (lead < 1.2 ? 0.2 : lead < 2 ? 0.5 : lead < 5 ? 1 : 2);
}

/* Returns the largest magnitude, or 1 if all values are 0. */
static float find_largest(const float *values, size_t count)
{
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    return largest > 0 ? largest : 1;
}

static bool has_negative(const cli_heatmap *map)
{
    for (size_t i = 0; i < map->count * map->rows * map->columns; i++)
        if (map->values[i] < 0)
            return true;
    return false;
}

/* Returns the value of the darkest colour: the first tick that no magnitude exceeds. */
static float round_top(double largest)
{
    const double step = tick_step(largest);
    return (float)(step * ceil(largest / step - 1e-4));
}

/* Position of a value on the colour scale, from -1 to 1. */
static double share_of(float value, float top, cli_heatmap_scale scale)
{
    const double share = (double)value / (double)top;
    return scale == CLI_SCALE_SQRT ? copysign(sqrt(fabs(share)), share) : share;
}

/* From white at 0 through red to a dark red at 1, and through blue to a dark blue at -1, each about evenly in lightness. */
enum { STOPS = 5, BELOW = 0, ABOVE = 1 };
static const double colour_stops[2][STOPS][3] = {
    [BELOW] = {{255, 250, 246}, {178, 205, 232}, {88, 145, 202}, {28, 84, 160}, {6, 34, 86}},
    [ABOVE] = {{255, 250, 246}, {252, 187, 161}, {240, 90, 66}, {178, 24, 30}, {92, 0, 14}},
};

static uint32_t colour(double share)
{
    const double(*stops)[3] = colour_stops[share < 0 ? BELOW : ABOVE];
    const double at = fmin(fabs(share), 1) * (STOPS - 1);
    const int i = at >= STOPS - 1 ? STOPS - 2 : (int)at;
    uint32_t rgb = 0xff;
    for (int c = 0; c < 3; c++)
        rgb = rgb << 8 | (uint32_t)lrint(stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c]));
    return rgb;
}

/* A matrix as an image of `side` pixels per element, so that viewers that smooth images blur nothing. */
static void draw_matrix(cairo_t *cr, const cli_heatmap *map, const cli_heatmap_layout *l, const float *values, float top, double x,
                        double y)
{
    const int side = (int)l->cell, width = side * (int)map->columns, height = side * (int)map->rows;
    cairo_surface_t *pixels = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    unsigned char *data = cairo_image_surface_get_data(pixels); /* NULL after a failure, which the caller finds in cr */
    const int stride = cairo_image_surface_get_stride(pixels);
    for (int r = 0; data && r < height; r++) {
        uint32_t *row = (uint32_t *)(void *)(data + (size_t)r * (size_t)stride);
        for (int c = 0; c < width; c++)
            row[c] = colour(share_of(values[(size_t)(r / side) * map->columns + (size_t)(c / side)], top, map->scale));
    }
    cairo_surface_mark_dirty(pixels);
    cairo_save(cr);
    cairo_set_source_surface(cr, pixels, x, y);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(pixels);
    cairo_rectangle(cr, x - 0.5, y - 0.5, l->panel_width + 1, l->panel_height + 1);
    cairo_stroke(cr);
}

static clf_status draw_row_labels(cli_pen *pen, const cli_heatmap *map, const cli_heatmap_layout *l, double y)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    cairo_t *cr = pen->cr;
    cli_pen_set_size(pen, l->label_size);
    for (size_t i = 0; i < map->rows && st == CLF_OK; i += l->row_skip) {
        const double middle = y + l->cell * ((double)i + 0.5);
        st = cli_text_fit(pen, map->row_labels[i], LABEL_LIMIT, &text);
        if (st != CLF_OK)
            break;
        cairo_move_to(cr, l->left - TICK, middle);
        cairo_line_to(cr, l->left, middle);
        cairo_stroke(cr);
        cli_text_draw(pen, clfi_str_text(&text), l->left - TICK - 3, middle, CLI_ALIGN_RIGHT, false);
    }
    clfi_str_free(&text);
    cli_pen_set_size(pen, NAME_SIZE);
    cli_text_draw(pen, map->row_axis, l->left - TICK - 4 - l->row_width - LINE / 2.0, y + l->panel_height / 2, CLI_ALIGN_CENTER, true);
    return st;
}

static clf_status draw_column_labels(cli_pen *pen, const cli_heatmap *map, const cli_heatmap_layout *l, double x, double y)
{
    clf_str text = CLF_STR_INIT;
    clf_status st = CLF_OK;
    cairo_t *cr = pen->cr;
    cli_pen_set_size(pen, l->label_size);
    for (size_t i = 0; i < map->columns && st == CLF_OK; i += l->column_skip) {
        const double middle = x + l->cell * ((double)i + 0.5);
        st = cli_text_fit(pen, map->column_labels[i], LABEL_LIMIT, &text);
        if (st != CLF_OK)
            break;
        cairo_move_to(cr, middle, y);
        cairo_line_to(cr, middle, y + TICK);
        cairo_stroke(cr);
        if (l->turned)
            cli_text_draw(pen, clfi_str_text(&text), middle, y + TICK + 3, CLI_ALIGN_RIGHT, true);
        else
            cli_text_draw(pen, clfi_str_text(&text), middle, y + TICK + 3 + l->label_size / 2, CLI_ALIGN_CENTER, false);
    }
    clfi_str_free(&text);
    cli_pen_set_size(pen, NAME_SIZE);
    cli_text_draw(pen, map->column_axis, x + l->panel_width / 2, y + TICK + 4 + l->column_height + LINE / 2.0, CLI_ALIGN_CENTER, false);
    return st;
}

static clf_status draw_fitted(cli_pen *pen, const char *text, double size, double x, double y, double limit)
{
    clf_str fitted = CLF_STR_INIT;
    cli_pen_set_size(pen, size);
    const clf_status st = cli_text_fit(pen, text, limit, &fitted);
    if (st == CLF_OK)
        cli_text_draw(pen, clfi_str_text(&fitted), x, y, CLI_ALIGN_CENTER, false);
    clfi_str_free(&fitted);
    return st;
}

static void draw_tick(cli_pen *pen, const cli_heatmap_layout *l, double y, const char *text)
{
    cairo_move_to(pen->cr, l->bar_x + BAR_WIDTH, y);
    cairo_line_to(pen->cr, l->bar_x + BAR_WIDTH + TICK, y);
    cairo_stroke(pen->cr);
    cli_text_draw(pen, text, l->bar_x + BAR_WIDTH + TICK + 4, y, CLI_ALIGN_LEFT, false);
}

/* The colour bar, from 0 (or -1 if there are negative values) at its lower end to 1. */
typedef struct bar {
    double y, height;
    bool is_signed;
} bar;

static double bar_offset(const bar *b, double share)
{
    return b->is_signed ? (share + 1) / 2 : share;
}

static void draw_bar_tick(cli_pen *pen, const cli_heatmap_layout *l, const bar *b, double share, const char *text)
{
    draw_tick(pen, l, b->y + b->height * (1 - bar_offset(b, share)), text);
}

/* Draws ticks at round values if one scale proportional to values serves all matrices, else at five even steps of colour. */
static void draw_ticks(cli_pen *pen, const cli_heatmap_layout *l, cli_heatmap_scale scale, double top, const bar *b)
{
    enum { COLOUR_STEPS = 5 };
    const double step = tick_step(top);
    const int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    const int last = scale == CLI_SCALE_SHARED ? (int)(top / step * (1 + 1e-6)) : COLOUR_STEPS;
    char text[32];
    for (int i = b->is_signed ? -last : 0; i <= last; i++) {
        if (scale == CLI_SCALE_SHARED)
            snprintf(text, sizeof text, "%.*f", decimals, i * step);
        else if (scale == CLI_SCALE_SQRT)
            snprintf(text, sizeof text, "%.3g", top * i * abs(i) / (COLOUR_STEPS * COLOUR_STEPS));
        else
            snprintf(text, sizeof text, "%d %%", 100 * i / COLOUR_STEPS);
        draw_bar_tick(pen, l, b, scale == CLI_SCALE_SHARED ? i * step / top : (double)i / COLOUR_STEPS, text);
    }
}

static void add_stops(cairo_pattern_t *gradient, const bar *b, int side)
{
    for (int i = 0; i < STOPS; i++) {
        const double *rgb = colour_stops[side][i], share = (double)i / (STOPS - 1);
        cairo_pattern_add_color_stop_rgb(gradient, bar_offset(b, side == BELOW ? -share : share), rgb[0] / 255, rgb[1] / 255, rgb[2] / 255);
    }
}

static void draw_bar(cli_pen *pen, const cli_heatmap *map, const cli_heatmap_layout *l, float top, bool is_signed)
{
    cairo_t *cr = pen->cr;
    const double bottom = l->top + (double)(l->grid_rows - 1) * l->step_y + l->panel_height;
    const double height = fmin(BAR_HEIGHT, bottom - l->top);
    const bar b = {.y = (l->top + bottom - height) / 2, .height = height, .is_signed = is_signed};
    cairo_pattern_t *gradient = cairo_pattern_create_linear(0, b.y + height, 0, b.y);
    if (is_signed)
        add_stops(gradient, &b, BELOW);
    add_stops(gradient, &b, ABOVE);
    cairo_rectangle(cr, l->bar_x, b.y, BAR_WIDTH, height);
    cairo_save(cr);
    cairo_set_source(cr, gradient);
    cairo_fill_preserve(cr);
    cairo_restore(cr);
    cairo_stroke(cr);
    cairo_pattern_destroy(gradient);
    cli_pen_set_size(pen, NAME_SIZE);
    draw_ticks(pen, l, map->scale, top, &b);
}

/* Heading of a matrix. top: the value of its darkest colour; y: top of the matrix. */
typedef struct heading {
    const char *name;
    float top;
    bool is_signed;
    double x, y;
} heading;

/* Draws the matrix's name and, if each matrix has its own colour scale, its largest magnitude. */
static clf_status draw_name(cli_pen *pen, const cli_heatmap *map, const cli_heatmap_layout *l, const heading *h)
{
    clf_str name = CLF_STR_INIT;
    clf_status st = clfi_str_append_text(&name, h->name);
    if (st == CLF_OK && map->scale == CLI_SCALE_HEAD)
        st = clfi_str_appendf(&name, "%smax %s%.3g", name.length ? ", " : "", h->is_signed ? PLUS_MINUS : "", (double)h->top);
    if (st == CLF_OK && name.length)
        st = draw_fitted(pen, name.data, NAME_SIZE, h->x + l->panel_width / 2, h->y - LINE / 2.0, l->step_x - 4);
    clfi_str_free(&name);
    return st;
}

static clf_status draw(cli_pen *pen, const cli_heatmap *map, const cli_heatmap_layout *l)
{
    cairo_t *cr = pen->cr;
    const size_t matrix = map->rows * map->columns;
    const float shared_top = round_top(find_largest(map->values, map->count * matrix));
    const bool is_signed = has_negative(map);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_set_source_rgb(cr, 0.1, 0.1, 0.1);
    cairo_set_line_width(cr, 1);
    if (map->title)
        CLF_TRY(draw_fitted(pen, map->title, TITLE_SIZE, l->width / 2, MARGIN + LINE / 2.0, l->width - 2 * MARGIN));
    if (map->subtitle)
        CLF_TRY(draw_fitted(pen, map->subtitle, NAME_SIZE, l->width / 2, MARGIN + 1.5 * LINE + 2, l->width - 2 * MARGIN));
    for (size_t i = 0; i < map->count; i++) {
        const size_t row = i / l->grid_columns, column = i % l->grid_columns;
        const double x = l->left + (double)column * l->step_x, y = l->top + (double)row * l->step_y;
        const float *values = map->values + i * matrix;
        const float top = map->scale == CLI_SCALE_HEAD ? find_largest(values, matrix) : shared_top;
        draw_matrix(cr, map, l, values, top, x, y);
        CLF_TRY(draw_name(pen, map, l, &(heading){map->names ? map->names[i] : "", top, is_signed, x, y}));
        if (column == 0)
            CLF_TRY(draw_row_labels(pen, map, l, y));
        if (i + l->grid_columns >= map->count) /* nothing below */
            CLF_TRY(draw_column_labels(pen, map, l, x, y + l->panel_height));
    }
    draw_bar(pen, map, l, shared_top, is_signed);
    return CLF_OK;
}

clf_status cli_heatmap_choose_format(const char *path, int *format)
{
    static const cli_format_end known[] = {{".png", CLI_HEATMAP_PNG}, {".svg", CLI_HEATMAP_SVG}};
    return cli_format_choose(path, known, COUNT(known), CLI_HEATMAP_FORMATS, format);
}

/* Appends the bytes that cairo writes. */
static cairo_status_t keep_bytes(void *closure, const unsigned char *data, unsigned size)
{
    return clfi_str_append(closure, data, size) == CLF_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_NO_MEMORY;
}

/* Turns hinting off, so that letters have the same widths on each surface. */
static cairo_t *open_canvas(cairo_surface_t *surface)
{
    cairo_t *cr = cairo_create(surface);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    return cr;
}

/* Arranges the picture on a surface that is thrown away. `svg` as in cli_pen; it gets no text here. */
static clf_status measure(const cli_heatmap *map, clfi_markup *svg, cli_heatmap_layout *l)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1);
    cairo_t *cr = open_canvas(surface);
    cli_pen pen = cli_pen_open(cr, svg);
    const clf_status st = cli_heatmap_arrange(&pen, map, l);
    if (st == CLF_OK)
        cli_pen_tell_lacking(&pen);
    cli_pen_close(&pen);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return st;
}

static clf_status render(const cli_heatmap *map, const cli_heatmap_layout *l, clfi_markup *svg, clf_str *out)
{
    const int scale = svg || l->width > SHARP_SIDE || l->height > SHARP_SIDE ? 1 : 2;
    cairo_surface_t *surface =
        svg ? cairo_svg_surface_create_for_stream(keep_bytes, out, l->width, l->height)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, scale * (int)ceil(l->width), scale * (int)ceil(l->height));
    cairo_t *cr = open_canvas(surface);
    cli_pen pen = cli_pen_open(cr, svg);
    cairo_scale(cr, scale, scale);
    clf_status st = draw(&pen, map, l);
    cairo_status_t status = cairo_status(cr);
    cli_pen_close(&pen);
    cairo_destroy(cr);
    if (svg)
        cairo_surface_finish(surface);
    else if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, keep_bytes, out);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (st == CLF_OK && status != CAIRO_STATUS_SUCCESS)
        CLF_FAIL(status == CAIRO_STATUS_NO_MEMORY ? CLF_OUT_OF_MEMORY : CLF_IO, "picture: %s", cairo_status_to_string(status));
    return st;
}

/* Puts the texts into the SVG that cairo wrote, above everything else. Cairo itself would write outlines of letters, which cannot be
 * searched. */
static clf_status add_texts(clf_str *picture, clfi_markup *svg)
{
    static const char end[] = "</svg>";
    size_t at = picture->length;
    while (at > 0 && strncmp(picture->data + at - 1, end, sizeof end - 1) != 0)
        at--;
    if (at == 0)
        CLF_FAIL(CLF_INTERNAL, "picture: cairo's SVG has no </svg>");
    picture->length = at - 1;
    CLF_TRY(svg->status);
    CLF_TRY(clfi_str_append_text(picture, "<g font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"#1a1a1a\">\n"));
    CLF_TRY(clfi_str_append(picture, svg->text.data, svg->text.length));
    return clfi_str_append_text(picture, "</g>\n</svg>\n");
}

clf_status cli_heatmap_stage(const cli_heatmap *map, cli_heatmap_format format, const char *path, clf_atomic_file *out)
{
    cli_heatmap_layout l = {0};
    if (map->count == 0 || map->rows == 0 || map->columns == 0)
        CLF_FAIL(CLF_INVALID_ARGUMENT, "picture %s: expected at least one matrix with elements, found %zu of [%zu,%zu]", path, map->count,
                 map->rows, map->columns);
    const bool is_svg = format == CLI_HEATMAP_SVG;
    clfi_markup texts = CLFI_MARKUP_INIT, *svg = is_svg ? &texts : NULL;
    clf_str picture = CLF_STR_INIT;
    clf_status st = measure(map, svg, &l);
    if (st == CLF_OK)
        st = render(map, &l, svg, &picture);
    if (st == CLF_OK && is_svg)
        st = add_texts(&picture, svg);
    if (st == CLF_OK)
        st = clfi_output_open(path, false, out);
    if (st == CLF_OK)
        clfi_atomic_write(out, picture.data, picture.length);
    clfi_str_free(&texts.text);
    clfi_str_free(&picture);
    return st;
}
