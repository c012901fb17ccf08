/** muster plot: shows the curves of a log, in the terminal or as a picture.
 *
 *  There is one panel for each tag, with a line for each run. The ranges of a panel are those of the smoothed curves,
 *  since these are drawn. The module `plot` draws the picture; it is loaded only for that. */
#include "cli/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "cli/command.h"
#include "module/module.h"

enum { WIDTH = 80, LEAST_COLUMNS = 40, MOST_COLUMNS = 160 };

typedef struct plot_options {
    const char *tag, *output;
    double smooth;
    int64_t height;
} plot_options;

static const option options[] = {
    {"tag", OPTION_TEXT, offsetof(plot_options, tag), "TEXT", .help = "only curves whose tag has TEXT in it, as loss"},
    {"out", OPTION_FILE, offsetof(plot_options, output), "FILE", .alias = "output",
     .help = "writes a picture, FILE.png or FILE.svg, in place of text"},
    {"smooth", OPTION_NUMBER, offsetof(plot_options, smooth), "X", NULL, 0, 0.999,
     .help = "moving average with this decay, as TensorBoard's slider Smoothing"},
    {"height", OPTION_INTEGER, offsetof(plot_options, height), "N", "12", 3, 100,
     .help = "lines of text that a plot takes"},
    {0}};

static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

/* ---- panels ---- */

/* Replaces the values by their exponential moving average. As in TensorBoard, it is divided by the sum of its weights,
 * so that its beginning has no bias. */
static void smooth(double *value, int64_t count, double decay) {
    double last = 0, weight = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!isfinite(value[i])) continue;
        last = last * decay + (1 - decay) * value[i];
        weight = weight * decay + (1 - decay);
        value[i] = last / weight;
    }
}

static void widen(double *low, double *high) {
    if (*low > *high) *low = *high = 0; /* no point at all */
    if (*low < *high) return;
    const double room = *low == 0 ? 1 : fabs(*low) * 0.1;
    *low -= room;
    *high += room;
}

static void find_range(plot_panel *p) {
    p->x_low = p->y_low = INFINITY;
    p->x_high = p->y_high = -INFINITY;
    for (int64_t c = 0; c < p->num_curves; c++)
        for (int64_t i = 0; i < p->curve[c].count; i++) {
            const double x = (double)p->curve[c].step[i], y = p->curve[c].value[i];
            if (!isfinite(y)) continue;
            p->x_low = fmin(p->x_low, x);
            p->x_high = fmax(p->x_high, x);
            p->y_low = fmin(p->y_low, y);
            p->y_high = fmax(p->y_high, y);
        }
    widen(&p->x_low, &p->x_high);
    widen(&p->y_low, &p->y_high);
}

/* Fills CURVE and PANEL, which have room for all curves; returns the number of panels. */
static int64_t make_panels(const mst_curves *curves, const plot_options *o, mst_curve *curve, plot_panel *panel) {
    int64_t count = 0, used = 0;
    for (int64_t i = 0; i < mst_curves_count(curves); i++) {
        const mst_curve next = mst_curves_get(curves, i);
        if (o->tag && !strstr(next.tag, o->tag)) continue;
        if (o->smooth > 0) smooth((double *)(uintptr_t)next.value, next.count, o->smooth);
        curve[used] = next;
        if (count && strcmp(panel[count - 1].tag, next.tag) == 0)
            panel[count - 1].num_curves++;
        else
            panel[count++] = (plot_panel){.tag = next.tag, .curve = &curve[used], .num_curves = 1};
        used++;
    }
    for (int64_t i = 0; i < count; i++) find_range(&panel[i]);
    return count;
}

/* ---- the command ---- */

static int columns(void) {
    struct winsize size;
    const bool known = ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    const int width = known ? size.ws_col : WIDTH;
    return width < LEAST_COLUMNS ? LEAST_COLUMNS : width > MOST_COLUMNS ? MOST_COLUMNS : width;
}

/* Writes the picture in the format of the ending of PATH, .png or .svg. */
static mst_status write_picture(const plot_panel *panel, int64_t count, const char *path) {
    const void *interface;
    void *data;
    size_t size;
    MST_TRY(mst_module_interface("plot", &interface));
    const plot_painter *painter = interface;
    MST_TRY(painter->paint(panel, count, mst_ends_in(path, ".svg"), &data, &size));
    const mst_status status = mst_file_write(path, data, size);
    free(data);
    return status;
}

static int show(const plot_panel *panel, int64_t count, const plot_options *o) {
    const bool color = isatty(fileno(stdout)) && !getenv("NO_COLOR");
    if (o->output) {
        if (write_picture(panel, count, o->output)) return command_fail_library(EXIT_FAILED, "out");
        command_print("%s: %lld plots", o->output, (long long)count);
        return EXIT_DONE;
    }
    for (int64_t i = 0; i < count; i++) plot_text(&panel[i], columns(), (int)o->height, color, stdout);
    return EXIT_DONE;
}

static int plot(const mst_curves *curves, const char *folder, const plot_options *o) {
    const size_t room = (size_t)mst_curves_count(curves) + 1;
    mst_curve *curve = calloc(room, sizeof *curve);
    plot_panel *panel = calloc(room, sizeof *panel);
    int status = EXIT_FAILED;
    if (!curve || !panel) {
        status = command_fail(EXIT_FAILED, "cannot get memory for plots");
    } else {
        const int64_t count = make_panels(curves, o, curve, panel);
        if (count)
            status = show(panel, count, o);
        else if (o->tag && mst_curves_count(curves))
            status = command_fail(EXIT_FAILED, "'%s' has no curve with '%s' in its tag; it has '%s' and others", folder,
                                  o->tag, mst_curves_get(curves, 0).tag);
        else
            status = command_fail(EXIT_FAILED, "'%s' has event files, but no curves in them", folder);
    }
    free(curve);
    free(panel);
    return status;
}

static int plot_run(const command_call *call) {
    const plot_options *o = call->options;
    mst_curves *curves;
    if (!call->num_positional) return command_fail(EXIT_USAGE, "plot: no folder is named: write muster plot LOGDIR");
    if (o->output && !mst_ends_in(o->output, ".png") && !mst_ends_in(o->output, ".svg"))
        return command_fail(EXIT_USAGE, "plot: --out %s: the name must end in .png or .svg", o->output);
    if (mst_curves_read(call->positional[0], &curves)) return command_fail_library(EXIT_FAILED, NULL);
    const int status = plot(curves, call->positional[0], o);
    mst_curves_free(curves);
    return status;
}

const command command_plot = {
    .name = "plot",
    .summary = "shows the curves of a log in the terminal, or writes them as a picture",
    .usage = "LOGDIR [options]",
    .notes =
        "LOGDIR is what train --logdir wrote, or another program for TensorBoard; the folders below it are the "
        "runs. Each tag is a plot with a line for each run.",
    .sections = sections,
    .options_size = sizeof(plot_options),
    .max_positional = 1,
    .run = plot_run,
};
