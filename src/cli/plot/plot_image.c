/* The module `plot`: draws plots as PNG or SVG with cairo, two panels in a row. The bytes are collected in memory, and
 * the command writes them to the file. So no half-drawn picture is left behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cairo-svg.h>
#include <cairo.h>

#include "cli/plot/plot.h"
#include "module/module.h"

/* Panels in a row; in units, the size of a panel, and the margins around its curves. */
enum { ACROSS = 2, PANEL_WIDTH = 480, PANEL_HEIGHT = 300, LEFT = 62, RIGHT = 16, TOP = 34, BOTTOM = 34, TEXT = 64 };
enum { LEGEND_LINE = 14, X_TICKS = 6, Y_TICKS = 5, SCALE = 2 /* pixels of a PNG per unit */ };

/* The palette of Okabe and Ito, whose colours colour-blind readers can tell apart too. */
static const double palette[][3] = {{0.0, 0.45, 0.70},  {0.90, 0.62, 0.0},  {0.0, 0.62, 0.45}, {0.84, 0.37, 0.0},
                                    {0.80, 0.47, 0.65}, {0.34, 0.71, 0.91}, {0.35, 0.35, 0.35}};
enum { NUM_COLORS = sizeof palette / sizeof *palette };

static double x_of(const plot_panel *p, double x) {
    return LEFT + (x - p->x_low) / (p->x_high - p->x_low) * (PANEL_WIDTH - LEFT - RIGHT);
}

static double y_of(const plot_panel *p, double y) {
    return TOP + (p->y_high - y) / (p->y_high - p->y_low) * (PANEL_HEIGHT - TOP - BOTTOM);
}

static void set_color(cairo_t *c, int64_t curve) {
    const double *color = palette[curve % NUM_COLORS];
    cairo_set_source_rgb(c, color[0], color[1], color[2]);
}

static void set_gray(cairo_t *c, double gray) {
    cairo_set_source_rgb(c, gray, gray, gray);
}

/* Draws TEXT at (X, Y). ALIGN is the fraction of its width to the left of X. */
static void draw_label(cairo_t *c, double x, double y, double align, const char *text) {
    cairo_text_extents_t extents;
    cairo_text_extents(c, text, &extents);
    cairo_move_to(c, x - align * extents.x_advance, y);
    cairo_show_text(c, text);
}

static void draw_grid_line(cairo_t *c, double x0, double y0, double x1, double y1) {
    set_gray(c, 0.88);
    cairo_set_line_width(c, 0.7);
    cairo_move_to(c, x0, y0);
    cairo_line_to(c, x1, y1);
    cairo_stroke(c);
    set_gray(c, 0.3);
}

static void draw_axes(cairo_t *c, const plot_panel *p) {
    double tick[PLOT_TICKS];
    char text[TEXT];
    cairo_set_font_size(c, 10);
    for (int i = plot_ticks(p->x_low, p->x_high, X_TICKS, tick) - 1; i >= 0; i--) {
        const double x = x_of(p, tick[i]);
        if (tick[i] != round(tick[i])) continue; /* steps are whole numbers */
        draw_grid_line(c, x, TOP, x, PANEL_HEIGHT - BOTTOM);
        snprintf(text, sizeof text, "%.10g", tick[i]);
        draw_label(c, x, PANEL_HEIGHT - BOTTOM + 14, 0.5, text);
    }
    for (int i = plot_ticks(p->y_low, p->y_high, Y_TICKS, tick) - 1; i >= 0; i--) {
        const double y = y_of(p, tick[i]);
        draw_grid_line(c, LEFT, y, PANEL_WIDTH - RIGHT, y);
        snprintf(text, sizeof text, "%.5g", tick[i]);
        draw_label(c, LEFT - 6, y + 3.5, 1, text);
    }
    set_gray(c, 0.1);
    cairo_set_font_size(c, 13);
    draw_label(c, LEFT, TOP - 14, 0, p->tag);
}

/* Draws a line for each sequence of points without gaps. A single point is drawn as a dot. */
static void draw_curve(cairo_t *c, const plot_panel *p, int64_t number) {
    const mst_curve *curve = &p->curve[number];
    bool any = false;
    set_color(c, number);
    cairo_set_line_width(c, 1.6);
    cairo_set_line_join(c, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(c, CAIRO_LINE_CAP_ROUND);
    for (int64_t i = 0; i < curve->count; i++) {
        const bool number_here = isfinite(curve->value[i]);
        const double x = x_of(p, (double)curve->step[i]), y = number_here ? y_of(p, curve->value[i]) : 0;
        if (number_here && !any) cairo_move_to(c, x, y);
        if (number_here) cairo_line_to(c, x, y);
        any = number_here;
    }
    cairo_stroke(c);
}

/* Draws the legend in the corner that is probably free: the upper right if the first curve falls, else the lower
 * right. */
static void draw_legend(cairo_t *c, const plot_panel *p) {
    const mst_curve *first = &p->curve[0];
    const bool falls = first->count > 1 && first->value[first->count - 1] < first->value[0];
    const double height = LEGEND_LINE * (double)p->num_curves;
    double y = falls ? TOP + LEGEND_LINE : PANEL_HEIGHT - BOTTOM - height + LEGEND_LINE - 6;
    cairo_set_font_size(c, 11);
    for (int64_t i = 0; i < p->num_curves; i++, y += LEGEND_LINE) {
        set_color(c, i);
        draw_label(c, PANEL_WIDTH - RIGHT - 6, y, 1, *p->curve[i].run ? p->curve[i].run : ".");
    }
}

static void draw_all(cairo_t *c, const plot_panel *panels, int64_t count) {
    set_gray(c, 1);
    cairo_paint(c);
    cairo_select_font_face(c, "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = i / ACROSS, column = i % ACROSS;
        cairo_save(c);
        cairo_translate(c, (double)(column * PANEL_WIDTH), (double)(row * PANEL_HEIGHT));
        draw_axes(c, &panels[i]);
        for (int64_t k = 0; k < panels[i].num_curves; k++) draw_curve(c, &panels[i], k);
        draw_legend(c, &panels[i]);
        cairo_restore(c);
    }
}

static cairo_status_t draw_on(cairo_surface_t *surface, double scale, const plot_panel *panels, int64_t count) {
    cairo_t *c = cairo_create(surface);
    cairo_scale(c, scale, scale);
    draw_all(c, panels, count);
    const cairo_status_t status = cairo_status(c);
    cairo_destroy(c);
    return status;
}

/* The bytes of the picture that have been written so far. */
typedef struct bytes {
    unsigned char *data;
    size_t size, capacity;
} bytes;

static cairo_status_t plot_image_append(void *context, const unsigned char *data, unsigned size) {
    bytes *b = context;
    if (b->size + size > b->capacity) {
        const size_t capacity = 2 * (b->size + size);
        unsigned char *grown = realloc(b->data, capacity);
        if (!grown) return CAIRO_STATUS_NO_MEMORY;
        b->data = grown;
        b->capacity = capacity;
    }
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return CAIRO_STATUS_SUCCESS;
}

static cairo_status_t encode(const plot_panel *panels, int64_t count, bool svg, bytes *out) {
    const int across = count < ACROSS ? (int)count : ACROSS, scale = svg ? 1 : SCALE;
    const int64_t rows = (count + ACROSS - 1) / ACROSS;
    const double width = across * PANEL_WIDTH * scale, height = (double)(rows * PANEL_HEIGHT * scale);
    cairo_surface_t *surface = svg ? cairo_svg_surface_create_for_stream(plot_image_append, out, width, height)
                                   : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
    cairo_status_t status = cairo_surface_status(surface);
    if (!status) status = draw_on(surface, scale, panels, count);
    if (!status && !svg) status = cairo_surface_write_to_png_stream(surface, plot_image_append, out);
    cairo_surface_finish(surface);
    if (!status) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    return status;
}

static mst_status paint(const plot_panel *panels, int64_t count, bool svg, void **data, size_t *size) {
    bytes b = {0};
    const cairo_status_t status = encode(panels, count, svg, &b);
    if (status) {
        free(b.data);
        return MST_FAIL(MST_INVALID, "%lld plots cannot be drawn: %s; choose some with --tag", (long long)count,
                        cairo_status_to_string(status));
    }
    *data = b.data;
    *size = b.size;
    return MST_OK;
}

static const plot_painter painter = {.paint = paint};

extern const mst_module mst_module_plot;
const mst_module mst_module_plot = {
    .abi = MST_MODULE_ABI, .size = sizeof(mst_module), .name = "plot", .version = MST_VERSION, .interface = &painter};
