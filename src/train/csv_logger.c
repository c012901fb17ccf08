/* The callback that writes a row of CSV for each epoch, as Keras' callback CSVLogger does:
 *
 *      epoch,loss,accuracy,val_loss,val_accuracy,learning_rate,seconds
 *      0,0.58,0.79,0.44,0.84,0.001,1.25
 *
 * When the first epoch ends, the file is written under a temporary name and then renamed. It has the line of column
 * names and, if training was resumed, the rows of earlier epochs. Each further epoch appends a line. A line that a
 * crash has cut off is removed when training is resumed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "base/number.h"
#include "muster/train.h"
#include "train/monitor.h"

enum { MOST_BYTES = 1 << 30 };

/* ---- text ---- */

static void print_head(FILE *out, const mst_train_state *state, bool validation) {
    fputs("epoch", out);
    for (int part = 0; part <= validation; part++) {
        const char *prefix = part ? "val_" : "";
        fprintf(out, ",%sloss", prefix);
        for (int m = 0; m < state->num_metrics; m++) fprintf(out, ",%s%s", prefix, state->metric_name[m]);
    }
    fputs(",learning_rate,seconds\n", out);
}

static void print_value(FILE *out, double value) {
    char text[MST_NUMBER_TEXT];
    fprintf(out, ",%s", mst_number_print_f64(value, text));
}

static void print_row(FILE *out, const mst_train_state *state, bool validation, double seconds) {
    fprintf(out, "%" PRId64, state->epoch);
    for (int part = 0; part <= validation; part++) {
        print_value(out, part ? state->validation_loss : state->loss);
        for (int m = 0; m < state->num_metrics; m++)
            print_value(out, part ? state->validation_metric[m] : state->metric[m]);
    }
    print_value(out, state->learning_rate);
    print_value(out, seconds);
    putc('\n', out);
}

/* ---- rows of a training that is resumed ---- */

/* Reads the last column of the row from LINE to END. */
static void read_seconds(const char *line, const char *end, double *seconds) {
    char number[MST_NUMBER_TEXT];
    const char *comma = memrchr(line, ',', (size_t)(end - line));
    snprintf(number, sizeof number, "%.*s", (int)(end - comma - 1), comma + 1);
    if (!mst_number_parse_f64(number, seconds)) *seconds = 0;
}

/* Copies the rows of TEXT for epochs before EPOCH, complete lines only, to OUT. *SECONDS: the time in the last of
 * them. */
static void keep_rows(const char *text, int64_t epoch, FILE *out, double *seconds) {
    for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *after;
        const long long row = strtoll(line, &after, 10);
        if (after == line || *after != ',' || row < 0 || row >= epoch) continue;
        fwrite(line, 1, (size_t)(end - line) + 1, out);
        read_seconds(line, end, seconds);
    }
}

static mst_status check_head(const mst_csv_logger *c, const char *have, const char *want) {
    const size_t size = strcspn(have, "\r\n");
    if (!have[size] || (size == strcspn(want, "\n") && strncmp(have, want, size) == 0)) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': has the columns %.*s, this training %.*s: name another file", c->path,
                    (int)size, have, (int)strcspn(want, "\n"), want);
}

/* Copies the file's rows for epochs before the epoch of STATE to OUT. The file must begin with HEAD. */
static mst_status keep_before(mst_csv_logger *c, const mst_train_state *state, const char *head, FILE *out) {
    void *data;
    size_t size;
    const mst_status status = mst_file_read(c->path, MOST_BYTES, &data, &size);
    if (status == MST_NOT_FOUND) return MST_OK;
    MST_TRY(status);
    char *text = strndup(data, size);
    free(data);
    if (!text) return MST_NO_MEMORY("for the rows of '%s'", c->path);
    const mst_status same = check_head(c, text, head);
    if (!same) keep_rows(text, state->epoch, out, &c->seconds_before);
    free(text);
    return same;
}

/* ---- hooks ---- */

static mst_status write_failed(const mst_csv_logger *c, int error) {
    const char *why = error ? strerror(error) : "a write failed";
    if (c->stream) return MST_FAIL(MST_IO, "csv logger: its stream cannot be written: %s", why);
    return MST_FAIL(MST_IO, "'%s': cannot be written: %s", c->path, why);
}

static mst_status begin_file(mst_csv_logger *c, const mst_train_state *state, bool validation) {
    char *text = NULL;
    size_t size;
    c->has_validation = validation;
    if (c->stream) {
        c->file = c->stream;
        print_head(c->file, state, validation);
        return MST_OK;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) return MST_NO_MEMORY("for '%s'", c->path);
    print_head(out, state, validation);
    mst_status status = fflush(out) ? MST_NO_MEMORY("for '%s'", c->path) : MST_OK;
    if (!status && state->resumed) status = keep_before(c, state, text, out);
    if (fclose(out) && !status) status = MST_NO_MEMORY("for '%s'", c->path);
    if (!status) status = mst_file_write(c->path, text, size);
    free(text);
    MST_TRY(status);
    c->file = fopen(c->path, "a");
    return c->file ? MST_OK : write_failed(c, errno);
}

static mst_status train_begin(void *context, mst_train_state *state) {
    mst_csv_logger *c = context;
    (void)state;
    c->seconds_before = 0;
    if (c->stream) return MST_OK;
    if (!c->path) return MST_FAIL(MST_INVALID, "csv logger: no path is given");
    return mst_file_check(c->path);
}

/* Writes a row. The line of column names is written with the first row: before that it is not known whether there is
 * validation. */
static mst_status epoch_end(void *context, mst_train_state *state) {
    mst_csv_logger *c = context;
    if (mst_monitor_is_cut_off(state)) return MST_OK;
    if (!c->file) MST_TRY(begin_file(c, state, state->has_validation));
    print_row(c->file, state, c->has_validation, c->seconds_before + state->seconds);
    errno = 0;
    return fflush(c->file) || ferror(c->file) ? write_failed(c, errno) : MST_OK;
}

static mst_status train_end(void *context, mst_train_state *state) {
    mst_csv_logger *c = context;
    (void)state;
    if (!c->file) return MST_OK;
    errno = 0;
    const bool failed = (c->stream ? fflush(c->file) : fclose(c->file)) != 0;
    c->file = NULL;
    return failed ? write_failed(c, errno) : MST_OK;
}

mst_callback mst_csv_logger_callback(mst_csv_logger *logger) {
    if (MST_IS_NULL(logger)) return (mst_callback){0};
    logger->file = NULL;
    return (mst_callback){
        .context = logger, .train_begin = train_begin, .epoch_end = epoch_end, .train_end = train_end};
}
