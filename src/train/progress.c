/* Progress as Keras users know it: a bar on a terminal, a line an epoch elsewhere, or a line every so many steps in the
 * manner of TensorFlow's examples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "muster/train.h"

enum { BAR_WIDTH = 30, DEFAULT_EVERY = 100 };
static const double REDRAW_SECONDS = 0.05; /* a terminal shows no more, and drawing costs time */

struct mst_progress_state {
    FILE *file;
    mst_progress kind;
    bool terminal;
    int64_t every;
    double drawn; /* state->seconds when last drawn */
    double epoch_began;
    double seconds_at_line;
    int64_t examples_at_line, step_at_line, examples_before; /* of whole epochs */
    int width_before;                                        /* characters of the last line drawn, to wipe */
};

static int print_values(FILE *file, const mst_train_state *s) {
    int width = fprintf(file, " - loss: %.4f", s->loss);
    for (int m = 0; m < s->num_metrics; m++) width += fprintf(file, " - %s: %.4f", s->metric_name[m], s->metric[m]);
    if (s->has_validation) {
        width += fprintf(file, " - val_loss: %.4f", s->validation_loss);
        for (int m = 0; m < s->num_metrics; m++)
            width += fprintf(file, " - val_%s: %.4f", s->metric_name[m], s->validation_metric[m]);
    }
    return width;
}

static int print_duration(FILE *file, double seconds) {
    if (seconds >= 3600)
        return fprintf(file, "%d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60) % 60, (int)seconds % 60);
    if (seconds >= 60) return fprintf(file, "%d:%02d", (int)(seconds / 60), (int)seconds % 60);
    return fprintf(file, "%ds", (int)(seconds + 0.5));
}

static int draw_bar(FILE *file, int64_t done, int64_t total) {
    int width = 0;
    if (total < 0) return fprintf(file, "%" PRId64 "/unknown", done);
    char count[24];
    int digits = snprintf(count, sizeof count, "%" PRId64, total);
    width += fprintf(file, "%*" PRId64 "/%" PRId64 " [", digits, done, total);
    int filled = total ? (int)(done * BAR_WIDTH / total) : BAR_WIDTH;
    for (int i = 0; i < BAR_WIDTH; i++) fputc(i < filled ? '=' : i == filled ? '>' : '.', file);
    fputc(']', file);
    return width + BAR_WIDTH + 1;
}

static void draw(mst_progress_state *p, const mst_train_state *s, bool last) {
    double elapsed = s->seconds - p->epoch_began;
    if (p->terminal) fputc('\r', p->file);
    int width = draw_bar(p->file, s->step_in_epoch, s->steps_per_epoch);
    width += fprintf(p->file, " - ");
    if (last || s->steps_per_epoch < 0) {
        width += print_duration(p->file, elapsed);
        if (s->step_in_epoch) width += fprintf(p->file, " %.1fms/step", elapsed * 1e3 / (double)s->step_in_epoch);
    } else {
        width += fprintf(p->file, "ETA: ");
        width += print_duration(p->file, elapsed * (double)(s->steps_per_epoch - s->step_in_epoch) /
                                             (double)(s->step_in_epoch ? s->step_in_epoch : 1));
    }
    width += print_values(p->file, s);
    width += fprintf(p->file, " - %.0f examples/s", s->examples_per_sec);
    for (int i = width; p->terminal && i < p->width_before; i++) fputc(' ', p->file);
    p->width_before = last ? 0 : width;
    if (last) fputc('\n', p->file);
    fflush(p->file);
    p->drawn = s->seconds;
}

/* step 100, loss = 0.52 (91000.0 examples/sec; 0.002 sec/batch), over the steps since the last line */
static void print_line(mst_progress_state *p, const mst_train_state *s) {
    int64_t examples = p->examples_before + s->examples, steps = s->step - p->step_at_line;
    double seconds = s->seconds - p->seconds_at_line;
    fprintf(p->file, "step %" PRId64 ", loss = %.2f (%.1f examples/sec; %.3f sec/batch)\n", s->step, s->step_loss,
            seconds > 0 ? (double)(examples - p->examples_at_line) / seconds : 0, steps ? seconds / (double)steps : 0);
    fflush(p->file);
    p->examples_at_line = examples;
    p->step_at_line = s->step;
    p->seconds_at_line = s->seconds;
}

static mst_status train_begin(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    p->step_at_line = state->step;
    return MST_OK;
}

static mst_status epoch_begin(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    p->epoch_began = state->seconds;
    if (p->kind != MST_PROGRESS_LINES)
        fprintf(p->file, "Epoch %" PRId64 "/%" PRId64 "\n", state->epoch + 1, state->num_epochs);
    return MST_OK;
}

static mst_status step_end(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    if (p->kind == MST_PROGRESS_LINES) {
        if (state->step % p->every == 0) print_line(p, state);
    } else if (p->terminal && state->seconds - p->drawn >= REDRAW_SECONDS) {
        draw(p, state, false);
    }
    return MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    p->examples_before += state->examples;
    if (p->kind != MST_PROGRESS_LINES) draw(p, state, true);
    return ferror(p->file) ? MST_FAIL(MST_IO, "progress cannot be written: the other end is closed or the disk is full")
                           : MST_OK;
}

static mst_status train_end(void *context, mst_train_state *state) {
    (void)state;
    free(context);
    return MST_OK;
}

mst_status mst_progress_callback(mst_progress kind, FILE *file, int64_t every, mst_callback *out) {
    mst_progress_state *p = calloc(1, sizeof *p);
    if (!p) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for progress");
    int number = fileno(file);
    p->file = file;
    p->kind = kind;
    p->terminal = kind == MST_PROGRESS_BAR || (kind == MST_PROGRESS_AUTO && number >= 0 && isatty(number));
    p->every = every > 0 ? every : DEFAULT_EVERY;
    *out = (mst_callback){.context = p,
                          .train_begin = train_begin,
                          .epoch_begin = epoch_begin,
                          .step_end = step_end,
                          .epoch_end = epoch_end,
                          .train_end = train_end};
    return MST_OK;
}
