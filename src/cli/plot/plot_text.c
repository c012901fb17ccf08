/* A plot in braille characters. Each character has 2 x 4 dots:
 *
 *      epoch_loss
 *       0.544 ┤⠢⡀
 *             │ ⠈⠢⣀ b
 *       0.277 ┤    ⠉⠉a
 *             └──────
 *              0    3
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/plot/plot.h"

enum {
    LABEL = 9,          /* columns of a number of the y axis */
    MARGIN = LABEL + 2, /* columns to the left of the dots */
    LETTERS = 2,        /* columns to their right: a space, and the letter of a curve */
    NUM_COLORS = 6,
    LABEL_TEXT = 32,
    NUM_LETTERS = 26,
    NAME_TEXT = 1024
};
static const int colors[NUM_COLORS] = {34, 33, 32, 31, 35, 36};

typedef struct canvas {
    int columns, rows;
    uint8_t *dots;  /* of each cell */
    uint8_t *color; /* of each cell: the number of its curve + 1; 0: no curve */
    char *letter;   /* of each row: the number of the curve that ends there + 1; 0: none */
} canvas;

/* Sets dot (X, Y), counted from the upper left. */
static void set_dot(const canvas *c, int x, int y, int curve) {
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const int cell = y / 4 * c->columns + x / 2;
    c->dots[cell] |= bits[y % 4][x % 2];
    c->color[cell] = (uint8_t)(curve % NUM_COLORS + 1);
}

static void draw_line(const canvas *c, double x0, double y0, double x1, double y1, int curve) {
    const int steps = (int)ceil(fmax(fabs(x1 - x0), fabs(y1 - y0)));
    for (int i = 0; i <= steps; i++) {
        const double part = steps ? (double)i / steps : 0;
        set_dot(c, (int)lround(x0 + (x1 - x0) * part), (int)lround(y0 + (y1 - y0) * part), curve);
    }
}

static void draw_curve(const plot_panel *p, const canvas *c, int number) {
    const mst_curve *curve = &p->curve[number];
    double x_before = 0, y_before = 0;
    bool any = false;
    for (int64_t i = 0; i < curve->count; i++) {
        if (!isfinite(curve->value[i])) {
            any = false; /* a gap */
            continue;
        }
        const double x = ((double)curve->step[i] - p->x_low) / (p->x_high - p->x_low) * (2 * c->columns - 1);
        const double y = (p->y_high - curve->value[i]) / (p->y_high - p->y_low) * (4 * c->rows - 1);
        draw_line(c, any ? x_before : x, any ? y_before : y, x, y, number);
        x_before = x;
        y_before = y;
        any = true;
    }
    if (!any || p->num_curves == 1) return;
    int row = (int)lround(y_before) / 4; /* the next free row, if two curves end in one row */
    for (int tries = 0; tries < c->rows && c->letter[row]; tries++) row = (row + 1) % c->rows;
    c->letter[row] = (char)(number + 1);
}

static void print_cell(const canvas *c, int row, int column, bool color, int *current, FILE *file) {
    const int cell = row * c->columns + column, dots = c->dots[cell];
    const int wanted = dots && color ? colors[c->color[cell] - 1] : 0;
    if (wanted != *current) fprintf(file, "\033[%dm", wanted);
    *current = wanted;
    if (dots) /* U+2800 and the dots, in UTF-8 */
        fprintf(file, "\xe2%c%c", 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
    else
        putc(' ', file);
}

static char letter_of(int64_t curve) {
    return (char)('a' + curve % NUM_LETTERS);
}

static void print_rows(const plot_panel *p, const canvas *c, bool color, FILE *file) {
    for (int row = 0; row < c->rows; row++) {
        const bool labelled = row == 0 || row == c->rows - 1 || (c->rows > 6 && row == c->rows / 2);
        const double y = p->y_high - (p->y_high - p->y_low) * row / (c->rows - 1);
        int current = 0;
        if (labelled)
            fprintf(file, "%*.4g ┤", LABEL, fabs(y) < 1e-12 * (p->y_high - p->y_low) ? 0 : y);
        else
            fprintf(file, "%*s │", LABEL, "");
        int last = c->columns;
        while (last > 0 && !c->dots[row * c->columns + last - 1] && !c->letter[row]) last--;
        for (int column = 0; column < last; column++) print_cell(c, row, column, color, &current, file);
        if (current) fputs("\033[0m", file);
        if (c->letter[row]) fprintf(file, " %c", letter_of(c->letter[row] - 1));
        putc('\n', file);
    }
}

static void print_axis(const plot_panel *p, const canvas *c, FILE *file) {
    char low[LABEL_TEXT], high[LABEL_TEXT];
    snprintf(low, sizeof low, "%.10g", p->x_low);
    snprintf(high, sizeof high, "%.10g", p->x_high);
    fprintf(file, "%*s └", LABEL, "");
    for (int i = 0; i < c->columns; i++) fputs("─", file);
    fprintf(file, "\n%*s%s%*s\n", MARGIN, "", low, c->columns - (int)strlen(low), high);
}

static double last_value(const mst_curve *curve) {
    return curve->count ? curve->value[curve->count - 1] : NAN;
}

static void print_legend(const plot_panel *p, bool color, FILE *file) {
    for (int64_t i = 0; i < p->num_curves; i++) {
        const char *run = *p->curve[i].run ? p->curve[i].run : ".";
        char shown[NAME_TEXT];
        fprintf(file, "%*s", MARGIN, "");
        if (color) fprintf(file, "\033[%dm", colors[i % NUM_COLORS]);
        if (p->num_curves > 1) fprintf(file, "%c ", letter_of(i));
        fprintf(file, "%s", mst_escape_line(run, strlen(run), shown, sizeof shown));
        if (color) fputs("\033[0m", file);
        fprintf(file, " %.5g\n", last_value(&p->curve[i]));
    }
    putc('\n', file);
}

void plot_text(const plot_panel *panel, int width, int height, bool color, FILE *file) {
    canvas c = {.columns = width - MARGIN - LETTERS, .rows = height};
    char tag[NAME_TEXT];
    const size_t cells = (size_t)c.columns * (size_t)c.rows;
    c.dots = calloc(cells, 1);
    c.color = calloc(cells, 1);
    c.letter = calloc((size_t)c.rows, 1);
    fprintf(file, "%s\n", mst_escape_line(panel->tag, strlen(panel->tag), tag, sizeof tag));
    if (c.dots && c.color && c.letter) {
        for (int64_t i = 0; i < panel->num_curves; i++) draw_curve(panel, &c, (int)i);
        print_rows(panel, &c, color, file);
        print_axis(panel, &c, file);
    }
    print_legend(panel, color, file);
    free(c.dots);
    free(c.color);
    free(c.letter);
}
