/* SPDX-License-Identifier: MIT */
/* Writes the style sheets of reports, and markers. The colours c0 to c7 follow the eight of Okabe & Ito (2008), which differ for
 * every kind of colour vision. Some are darker here, violet and grey replace black and yellow, and dark backgrounds get lighter ones. */
#include <math.h>
#include <string.h>

#include "report/report_parts.h"

/* Each colour with its name, its value on light and dark backgrounds, and on paper. */
static const struct {
    const char *name, *light, *dark, *paper;
} colours[] = {
    {"ground", "#fff", "#15171b", "#fff"},   {"ink", "#1b1d21", "#e6e8ec", "#000"},   {"quiet", "#5c6370", "#9aa2b1", "#444"},
    {"line", "#dfe2e7", "#2c3038", "#ccc"},  {"edge", "#a7adb8", "#5d6573", "#888"},  {"bad", "#b3261e", "#ff8a80", "#a00"},
    {"roof", "#3b414c", "#c3c9d4", "#222"},  {"c0", "#0072b2", "#4ea5e0", "#0072b2"}, {"c1", "#d55e00", "#f58a4b", "#d55e00"},
    {"c2", "#009e73", "#2cc49a", "#009e73"}, {"c3", "#b4568f", "#e08fc0", "#b4568f"}, {"c4", "#c98a00", "#edb83d", "#c98a00"},
    {"c5", "#3f9bd1", "#8fcbf2", "#3f9bd1"}, {"c6", "#6f56b8", "#a693ee", "#6f56b8"}, {"c7", "#6b7280", "#a0a7b4", "#6b7280"},
};

/* Style rules of figures, without colours. */
static const char figure_rules[] =
    "svg text{font:12px system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",\"DejaVu Sans\",sans-serif}\n"
    "svg .mono{font:11px ui-monospace,\"DejaVu Sans Mono\",\"Liberation Mono\",Menlo,Consolas,monospace}\n"
    "svg .title{font-size:16px;font-weight:600}svg .strong{font-weight:600}svg .mid{text-anchor:middle}svg .end{text-anchor:end}\n"
    "svg .head{font-size:11px}svg .value{font-variant-numeric:tabular-nums}svg .bad,svg .value,svg .name{font-size:12px}\n"
    "svg .point{font-size:11px;font-weight:600;paint-order:stroke;stroke-width:3px;stroke-linejoin:round}\n"
    "svg .rooftext{font-weight:600;paint-order:stroke;stroke-width:4px;stroke-linejoin:round}\n"
    ".grid,.axisline,.frame,.roof,.cacheroof,.leader,.whisker,.other{fill:none}.roof{stroke-width:2}"
    ".cacheroof{stroke-width:1.2;stroke-dasharray:5 4}.leader{stroke-width:.8}.whisker{stroke-width:1.2}"
    ".other{stroke-width:1.6;stroke-opacity:.65}.mark{stroke-width:1.2}\n";

/* Style rules with the colours of figures, as $name of the table. They are written for each background, because many viewers of SVG support
 * neither CSS variables nor media rules. */
static const char figure_colours[] =
    "svg text{fill:$ink}svg .tick,svg .axis,svg .head,svg .key,svg .quiet{fill:$quiet}svg .bad{fill:$bad}"
    "svg .point{stroke:$ground}svg .rooftext{fill:$roof;stroke:$ground}"
    ".grid{stroke:$line}.axisline,.frame,.leader{stroke:$edge}.roof,.cacheroof{stroke:$roof}.whisker,.other{stroke:$ink}"
    ".ground{fill:$ground}.mark{stroke:$ground}"
    ".fill0{fill:$c0}.fill1{fill:$c1}.fill2{fill:$c2}.fill3{fill:$c3}.fill4{fill:$c4}.fill5{fill:$c5}.fill6{fill:$c6}.fill7{fill:$c7}";

typedef enum ground { LIGHT, DARK, PAPER } ground;

static const char *colour_on(size_t i, ground on)
{
    return on == LIGHT ? colours[i].light : on == DARK ? colours[i].dark : colours[i].paper;
}

static void write_colours(clfi_markup *m, ground on)
{
    for (const char *at = figure_colours; *at;) {
        const size_t plain = strcspn(at, "$");
        clfi_markup_format(m, "%.*s", (int)plain, at);
        at += plain;
        if (!*at)
            return;
        const size_t length = strcspn(at + 1, ";}");
        for (size_t i = 0; i < COUNT(colours); i++)
            if (strlen(colours[i].name) == length && memcmp(colours[i].name, at + 1, length) == 0)
                clfi_markup_raw(m, colour_on(i, on));
        at += 1 + length;
    }
}

void clfi_report_figure_style(clfi_markup *m)
{
    clfi_markup_raw(m, figure_rules);
    write_colours(m, LIGHT);
    clfi_markup_raw(m, "\n@media (prefers-color-scheme:dark){");
    write_colours(m, DARK);
    clfi_markup_raw(m, "}\n@media print{");
    write_colours(m, PAPER);
    clfi_markup_raw(m, "}\n");
}

static void write_variables(clfi_markup *m, const char *scheme, ground on)
{
    clfi_markup_format(m, ":root{%s", scheme);
    for (size_t i = 0; i < COUNT(colours); i++)
        clfi_markup_format(m, "--%s:%s%s", colours[i].name, colour_on(i, on), i + 1 < COUNT(colours) ? ";" : "}");
}

static const char page_rules[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:28px 24px 64px;max-width:908px;background:var(--ground);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",\"DejaVu Sans\",sans-serif}\n"
    "h1{font-size:26px;line-height:1.2;margin:0 0 6px}h2{font-size:20px;margin:44px 0 10px;padding-top:14px;border-top:1px solid "
    "var(--line)}"
    "h3{font-size:16px;margin:28px 0 6px}p{margin:6px "
    "0;max-width:84ch}p,li,h1,h3{overflow-wrap:anywhere}p.note,small{color:var(--quiet)}p.note{font-size:13.5px}\n"
    "figure{margin:18px 0 26px;overflow-x:auto}svg{display:block;width:100%;height:auto}\n"
    "nav{margin:14px 0;font-size:14px}nav a{margin-right:14px;color:var(--c0)}\n"
    ".tiles{display:flex;flex-wrap:wrap;gap:10px;margin:18px 0}.tile{border:1px solid var(--line);border-radius:8px;padding:8px "
    "13px;min-width:98px}"
    ".tile b{display:block;font-size:23px;line-height:1.25;font-variant-numeric:tabular-nums}.tile span{font-size:13px;color:var(--quiet)}"
    ".tile.alarm b{color:var(--bad)}\n"
    ".warning{border-left:4px solid var(--c1);padding:6px 12px;margin:12px 0;max-width:none}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13.5px;line-height:1.4}"
    "th,td{text-align:left;vertical-align:top;padding:4px 10px 4px 0;border-bottom:1px solid "
    "var(--line)}th{color:var(--quiet);font-weight:500}"
    "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}td:last-child,th:last-child{padding-right:0}\n"
    "table.dense{font-size:12px;line-height:1.3}table.dense td{padding-top:1.5px;padding-bottom:1.5px;border-bottom:0}"
    "table.dense tr.work td{padding-top:9px;border-top:1px solid var(--line);overflow-wrap:anywhere}tr.best td{font-weight:600}\n"
    "table.dense code{font-size:11px}"
    "code{font:12px ui-monospace,\"DejaVu Sans Mono\",\"Liberation Mono\",Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    ".bad{color:var(--bad);font-weight:600}.chip{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:7px}\n"
    ".chip0{background:var(--c0)}.chip1{background:var(--c1)}.chip2{background:var(--c2)}.chip3{background:var(--c3)}.chip4{background:var("
    "--c4)}"
    ".chip5{background:var(--c5)}.chip6{background:var(--c6)}.chip7{background:var(--c7)}\n"
    "ul{padding-left:20px;margin:6px 0}li{margin:3px 0;max-width:76ch}td ul{padding-left:16px;margin:0}\n"
    "@media (max-width:600px){body{padding:16px 12px 40px}figure svg{min-width:640px}}\n"
    "@page{size:A4;margin:14mm 12mm}\n"
    "@media print{body{padding:0;max-width:none;font-size:10pt}nav{display:none}h2{break-after:avoid;margin-top:24px}h3{break-after:avoid}"
    "svg,tr,.tile,table.keep{break-inside:avoid}figure{margin-top:6px}figure svg:first-child{break-after:avoid}table.dense "
    "code{font-size:7.5pt}table{font-size:8.5pt}table.dense{font-size:7.5pt}.scroll,figure{overflow:visible}}\n";

void clfi_report_page_style(clfi_markup *m)
{
    write_variables(m, "color-scheme:light dark;", LIGHT);
    clfi_markup_raw(m, "\n@media (prefers-color-scheme:dark){");
    write_variables(m, "", DARK);
    clfi_markup_raw(m, "}\n@media print{");
    write_variables(m, "", PAPER);
    clfi_markup_raw(m, "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n");
    clfi_report_figure_style(m);
    clfi_markup_raw(m, page_rules);
}

/* Colours repeat every eight ops and shapes every seven, so 56 ops look different. */
void clfi_report_marker(clfi_markup *m, size_t op, double x, double y)
{
    static const struct {
        int corners;
        double turn, radius;
    } shapes[] = {{0, 0, 4.6}, {4, 0.25, 5.8}, {3, -0.5, 6.0}, {4, 0, 6.2}, {3, 0.5, 6.0}, {5, -0.5, 5.9}, {6, 0, 5.6}};
    static const double pi = 3.14159265358979323846;
    const size_t shape = op % COUNT(shapes), colour = op % CLFI_REPORT_COLOURS;
    if (shapes[shape].corners == 0) {
        clfi_markup_format(m, "<circle class=\"mark fill%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", colour, x, y, shapes[shape].radius);
        return;
    }
    clfi_markup_format(m, "<path class=\"mark fill%zu\" d=\"", colour);
    for (int i = 0; i < shapes[shape].corners; i++) {
        const double angle = pi * (shapes[shape].turn + 2.0 * i / shapes[shape].corners);
        clfi_markup_format(m, "%c%.1f %.1f", i ? 'L' : 'M', x + shapes[shape].radius * cos(angle), y + shapes[shape].radius * sin(angle));
    }
    clfi_markup_raw(m, "Z\"/>");
}
