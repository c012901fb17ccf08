/* The progress of training: like Keras a bar on a terminal, or a line for each epoch in a file; or like TensorFlow's
 * examples a line after a number of steps. The bar is one line that is drawn again over the previous one, at most every
 * REDRAW_SECONDS. It is cut to the width of the terminal, and spaces overwrite the rest of a longer line. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/byte_count.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "graph/device_name.h"
#include "muster/train.h"
#include "strategy/strategy.h"
#include "train/trainer.h"

enum { BAR_WIDTH = 30, LEAST_BAR_WIDTH = 10, BAR_FRAME = 3 /* " [" and "]" */, LINE_SIZE = 2048, DEFAULT_EVERY = 100 };
static const double REDRAW_SECONDS = 0.05; /* faster drawing would cost time and show no more */

struct mst_progress_state {
    FILE *file;
    mst_progress kind;
    bool terminal;
    int64_t every;
    bool in_epoch; /* the first line of this epoch has been printed */
    bool has_told_in_place, has_told_gradients;
    double drawn; /* state->seconds when the bar was last drawn */
    double epoch_began;
    double seconds_at_line;
    int64_t examples_at_line, step_at_line, examples_before; /* examples_before: of whole epochs */
    int width_before;                                        /* characters of the last line drawn, to wipe */
};

/* A line that is being assembled. */
typedef struct line {
    char text[LINE_SIZE];
    int used;
} line;

static void progress_append(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void progress_append(line *l, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int size = mst_format_list(l->text + l->used, (size_t)(LINE_SIZE - l->used), format, list);
    va_end(list);
    l->used = size < LINE_SIZE - l->used ? l->used + size : LINE_SIZE - 1;
}

/* Appends each value as BEFORE, its name, BETWEEN and the number: " - loss: 0.5", ", loss = 0.5". */
static void append_values(line *l, const mst_train_state *s, const char *before, const char *between) {
    progress_append(l, "%sloss%s%.4f", before, between, s->loss);
    for (int m = 0; m < s->num_metrics; m++)
        progress_append(l, "%s%s%s%.4f", before, s->metric_name[m], between, s->metric[m]);
    if (!s->has_validation) return;
    progress_append(l, "%sval_loss%s%.4f", before, between, s->validation_loss);
    for (int m = 0; m < s->num_metrics; m++)
        progress_append(l, "%sval_%s%s%.4f", before, s->metric_name[m], between, s->validation_metric[m]);
}

static void append_duration(line *l, double seconds) {
    if (seconds >= 3600)
        progress_append(l, "%d:%02d:%02d", (int)(seconds / 3600), (int)(seconds / 60) % 60, (int)seconds % 60);
    else if (seconds >= 60)
        progress_append(l, "%d:%02d", (int)(seconds / 60), (int)seconds % 60);
    else
        progress_append(l, "%ds", (int)(seconds + 0.5));
}

/* The number of steps of this epoch: fewer than the data has if training ends before. */
static int64_t steps_of_epoch(const mst_train_state *s) {
    const int64_t left = s->num_steps - (s->step - s->step_in_epoch);
    const bool ends = s->num_steps >= 0 && (s->steps_per_epoch < 0 || left < s->steps_per_epoch);
    return ends ? left : s->steps_per_epoch;
}

/* Appends the text after the bar: time, rate and values. */
static void append_rest(line *l, const mst_progress_state *p, const mst_train_state *s, bool last) {
    double elapsed = s->seconds - p->epoch_began;
    progress_append(l, " - ");
    const int64_t steps = steps_of_epoch(s);
    if (last || steps < 0) {
        append_duration(l, elapsed);
        if (s->step_in_epoch) progress_append(l, " %.1fms/step", elapsed * 1e3 / (double)s->step_in_epoch);
    } else {
        progress_append(l, "ETA: ");
        append_duration(
            l, elapsed * (double)(steps - s->step_in_epoch) / (double)(s->step_in_epoch ? s->step_in_epoch : 1));
    }
    append_values(l, s, " - ", ": ");
}

/* Appends the count and a bar of at most WIDTH columns. */
static void append_bar(line *l, int64_t done, int64_t total, int width) {
    if (total < 0) {
        progress_append(l, "%" PRId64 "/unknown", done);
        return;
    }
    char count[24];
    int digits = snprintf(count, sizeof count, "%" PRId64, total);
    progress_append(l, "%*" PRId64 "/%s", digits, done, count);
    if (width > BAR_WIDTH) width = BAR_WIDTH;
    if (width < LEAST_BAR_WIDTH) return;
    int filled = total ? (int)(done * width / total) : width;
    progress_append(l, " [");
    for (int i = 0; i < width; i++) progress_append(l, "%c", i < filled ? '=' : i == filled ? '>' : '.');
    progress_append(l, "]");
}

/* The present number of columns of the terminal; INT_MAX if it is not known. */
static int columns_of(FILE *file) {
    struct winsize size;
    bool known = ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : INT_MAX;
}

/* Removes values at the end until the line fits. Values are removed whole: half a number would be another number. */
static void cut(line *l, int width) {
    while (l->used > width) {
        int end = l->used - 1;
        while (end > 0 && strncmp(l->text + end, " - ", 3) != 0) end--;
        l->used = end > 0 ? end : width;
        l->text[l->used] = '\0';
    }
}

/* Draws the line. It must fit on one row of the terminal, or else each drawing leaves a row behind. If there is not
 * enough room, the bar becomes shorter; then the rate is left out, then the bar, then the last values. The last drawing
 * of an epoch stays on the screen, so it keeps its values. */
static void progress_draw(mst_progress_state *p, const mst_train_state *s, bool last) {
    line rest = {.used = 0}, count = {.used = 0}, rate = {.used = 0}, whole = {.used = 0};
    const int64_t steps = steps_of_epoch(s);
    int columns = p->terminal ? columns_of(p->file) : INT_MAX;
    append_rest(&rest, p, s, last);
    append_bar(&count, s->step_in_epoch, steps, 0);
    progress_append(&rate, " - %.0f examples/s", s->examples_per_sec);
    int room = columns - 1 - count.used - rest.used - BAR_FRAME;
    const bool with_rate = s->examples_per_sec > 0 && room - rate.used >= LEAST_BAR_WIDTH;
    append_bar(&whole, s->step_in_epoch, steps, with_rate ? room - rate.used : room);
    progress_append(&whole, "%s%s", rest.text, with_rate ? rate.text : "");
    if (!last) cut(&whole, columns - 1);
    if (p->terminal) fputc('\r', p->file);
    fputs(whole.text, p->file);
    for (int i = whole.used; p->terminal && i < p->width_before && i < columns - 1; i++) fputc(' ', p->file);
    p->width_before = last ? 0 : whole.used;
    if (last) fputc('\n', p->file);
    fflush(p->file);
    p->drawn = s->seconds;
}

/* Prints "step 100, loss = 0.5213, accuracy = 0.8123 (91000.0 examples/sec; 0.002 sec/batch)". The loss and the metrics
 * are means over the epoch so far. The rate is over the steps since the last line. "batch" means the batch of one
 * replica, as in TensorFlow's example of towers. */
static void print_line(mst_progress_state *p, const mst_train_state *s) {
    int64_t examples = p->examples_before + s->examples, steps = s->step - p->step_at_line;
    double seconds = s->seconds - p->seconds_at_line;
    line whole = {.used = 0};
    progress_append(&whole, "step %" PRId64 ", loss = %.4f", s->step, s->loss);
    for (int m = 0; m < s->num_metrics; m++) progress_append(&whole, ", %s = %.4f", s->metric_name[m], s->metric[m]);
    const double batches = (double)steps * (s->num_shards > 0 ? s->num_shards : 1);
    progress_append(&whole, " (%.1f examples/sec; %.3f sec/batch)",
                    seconds > 0 ? (double)(examples - p->examples_at_line) / seconds : 0,
                    steps ? seconds / batches : 0);
    fprintf(p->file, "%s\n", whole.text);
    fflush(p->file);
    p->examples_at_line = examples;
    p->step_at_line = s->step;
    p->seconds_at_line = s->seconds;
}

/* Prints the number of steps of each epoch, as Keras does before the first epoch. */
static void print_plan(const mst_progress_state *p, const mst_train_state *s) {
    const int64_t steps = steps_of_epoch(s);
    if (steps < 1) return;
    fprintf(p->file, "Train for %" PRId64 " steps", steps);
    if (s->validation_steps > 0) fprintf(p->file, ", validate for %" PRId64 " steps", s->validation_steps);
    fputc('\n', p->file);
}

/* The strategy of the model, if it is mirrored over devices that compile; else NULL. */
static const mst_strategy *mirrored_of(const mst_train_state *s) {
    const mst_trainer *trainer = s->model ? s->model->trainer : NULL;
    if (!trainer || trainer->strategy.kind != MST_STRATEGY_MIRRORED) return NULL;
    return mst_strategy_compiles(&trainer->strategy) ? &trainer->strategy : NULL;
}

/* Prints the devices as TensorFlow does: ('/device:GPU:0', '/device:GPU:1'), and a single one ('/device:GPU:0',). */
static void print_mirrored(const mst_progress_state *p, const mst_strategy *strategy) {
    char text[MST_DEVICE_TEXT];
    fputs("Using MirroredStrategy with devices (", p->file);
    for (int i = 0; i < strategy->num_devices; i++)
        fprintf(p->file, "%s'%s'", i ? ", " : "", mst_strategy_device_name(strategy, i, text, sizeof text));
    fputs(strategy->num_devices == 1 ? ",)\n" : ")\n", p->file);
}

static mst_status train_begin(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    const mst_strategy *mirrored = mirrored_of(state);
    p->step_at_line = state->step;
    if (mirrored) print_mirrored(p, mirrored);
    if (p->kind != MST_PROGRESS_LINES) print_plan(p, state);
    return MST_OK;
}

static mst_status epoch_begin(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    p->epoch_began = state->seconds;
    p->in_epoch = true;
    if (p->kind != MST_PROGRESS_LINES)
        fprintf(p->file, "Epoch %" PRId64 "/%" PRId64 "\n", state->epoch + 1, state->num_epochs);
    return MST_OK;
}

static void break_line(mst_progress_state *p) {
    if (p->width_before) fputc('\n', p->file);
    p->width_before = 0;
}

/* Says once how a mirrored strategy adds up gradients. Call it after the first step, when the plan exists. */
static void tell_gradients(mst_progress_state *p, const mst_train_state *s) {
    char bytes[MST_BYTES_TEXT];
    if (p->has_told_gradients) return;
    p->has_told_gradients = true;
    if (!mirrored_of(s)) return;
    const mst_plan_info info = mst_session_plan_info(mst_model_session(s->model));
    if (!info.buckets && !info.row_gradients) return; /* a single shard */
    break_line(p);
    fputs("gradients: ", p->file);
    if (info.buckets)
        fprintf(p->file, "%" PRId64 " bucket%s with %s%s", info.buckets, info.buckets == 1 ? "" : "s",
                mst_bytes_print(info.bucket_bytes, bytes, sizeof bytes), info.buckets == 1 ? "" : " in all");
    if (info.row_gradients)
        fprintf(p->file, "%srows of %" PRId64 " variable%s", info.buckets ? ", and " : "", info.row_gradients,
                info.row_gradients == 1 ? "" : "s");
    fputs(", summed in one order on the devices and copied to all\n", p->file);
    fflush(p->file);
}

/* Says once that a failed update can destroy the variables, if the plan donates their memory. This is known after the
 * first step. */
static void tell_in_place(mst_progress_state *p, const mst_train_state *s) {
    const mst_session *session = mst_model_session(s->model);
    if (p->has_told_in_place || !session || !mst_session_updates_in_place(session)) return;
    p->has_told_in_place = true;
    break_line(p);
    fputs(
        "memory: the limit has no room for two copies of the variables, so they are updated in place: "
        "if a device fails in an update, go back to a checkpoint\n",
        p->file);
    fflush(p->file);
}

static mst_status step_end(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    tell_in_place(p, state);
    tell_gradients(p, state);
    if (p->kind == MST_PROGRESS_LINES) {
        if (state->step % p->every == 0) print_line(p, state);
    } else if (p->terminal && state->seconds - p->drawn >= REDRAW_SECONDS) {
        progress_draw(p, state, false);
    }
    return MST_OK;
}

static mst_status epoch_end(void *context, mst_train_state *state) {
    mst_progress_state *p = context;
    /* if an earlier process has begun this epoch, this callback has not seen it begin */
    if (!p->in_epoch) MST_TRY(epoch_begin(context, state));
    p->in_epoch = false;
    p->examples_before += state->examples;
    if (p->kind != MST_PROGRESS_LINES) {
        progress_draw(p, state, true);
    } else {
        line whole = {.used = 0};
        progress_append(&whole, "epoch %" PRId64, state->epoch + 1);
        append_values(&whole, state, ", ", " = ");
        fprintf(p->file, "%s\n", whole.text);
        fflush(p->file);
    }
    if (!ferror(p->file)) return MST_OK;
    if (fileno(p->file) < 0 || !mst_file_reader_left(fileno(p->file)))
        return MST_FAIL(MST_IO, "progress cannot be written: the disk is full, or writing failed");
    state->stop = true; /* the output is no longer read: training stops without an error, and keeps its weights */
    return MST_OK;
}

static mst_status train_end(void *context, mst_train_state *state) {
    (void)state;
    mst_progress_state *p = context;
    /* if training failed within an epoch: the next text begins a new line */
    if (p->width_before) fputc('\n', p->file);
    free(p);
    return MST_OK;
}

mst_status mst_progress_callback(mst_progress kind, FILE *file, int64_t every, mst_callback *out) {
    if (MST_IS_NULL(file) || MST_IS_NULL(out)) return MST_INVALID;
    mst_progress_state *p = calloc(1, sizeof *p);
    if (!p) return MST_NO_MEMORY("for progress");
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
