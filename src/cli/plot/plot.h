/** Plots of curves: one panel for each tag, with a line for each run. */
#ifndef MUSTER_CLI_PLOT_PLOT_H
#define MUSTER_CLI_PLOT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "muster/summary.h"

enum { PLOT_TICKS = 12 };

/** Curves of one tag. */
typedef struct plot_panel {
    const char *tag;
    const mst_curve *curve;
    int64_t num_curves;
    double x_low, x_high, y_low, y_high; /**< range of the points; x_low < x_high, y_low < y_high */
} plot_panel;

/** Writes the multiples of a round number that are between LOW and HIGH to TICK, and returns how many there are. They
 *  are about COUNT at most, and never more than PLOT_TICKS. */
int plot_ticks(double low, double high, int count, double tick[PLOT_TICKS]);
/** Prints the panel as text, in braille characters of WIDTH columns and HEIGHT rows. COLOR: in colours. */
void plot_text(const plot_panel *panel, int width, int height, bool color, FILE *file);

/** The interface of the module `plot`. */
typedef struct plot_painter {
    /** Draws all panels as one picture, a PNG or an SVG. The caller frees *DATA, of *SIZE bytes, with free(). */
    mst_status (*paint)(const plot_panel *panels, int64_t count, bool svg, void **data, size_t *size);
} plot_painter;

#endif
