/* The values of each epoch of a fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "train/history.h"

double mst_history_at(const mst_history *history, int64_t epoch, const char *column) {
    if (MST_IS_NULL(history) || MST_IS_NULL(column) || epoch < 0 || epoch >= history->num_epochs) return NAN;
    for (int c = 0; c < history->num_columns; c++)
        if (strcmp(history->column[c], column) == 0) return history->value[epoch * history->num_columns + c];
    return NAN;
}

void mst_history_free(mst_history *history) {
    if (MST_IS_NULL(history)) return;
    for (int c = 0; c < history->num_columns; c++) free((char *)(uintptr_t)history->column[c]);
    free(history->column);
    free(history->value);
    *history = (mst_history){0};
}

static mst_status add_column(mst_history *history, const char *prefix, const char *name) {
    char *column;
    if (asprintf(&column, "%s%s", prefix, name) < 0) return MST_NO_MEMORY("for a history");
    history->column[history->num_columns++] = column;
    return MST_OK;
}

static mst_status make_columns(mst_history *history, const mst_train_state *state) {
    history->column = calloc((size_t)(2 * state->num_metrics + 3), sizeof *history->column);
    if (!history->column) return MST_NO_MEMORY("for a history");
    for (int validation = 0; validation < 1 + state->has_validation; validation++) {
        const char *prefix = validation ? "val_" : "";
        MST_TRY(add_column(history, prefix, "loss"));
        for (int m = 0; m < state->num_metrics; m++) MST_TRY(add_column(history, prefix, state->metric_name[m]));
    }
    return add_column(history, "", "learning_rate");
}

mst_status mst_history_append(mst_history *history, const mst_train_state *state) {
    if (!history->column) MST_TRY(make_columns(history, state));
    const int wanted = (1 + state->has_validation) * (1 + state->num_metrics) + 1;
    if (history->num_columns != wanted)
        return MST_FAIL(MST_INVALID, "fit: the history is of a fit with other metrics: begin an empty one");
    const size_t row = (size_t)history->num_columns;
    double *value = realloc(history->value, (size_t)(history->num_epochs + 1) * row * sizeof *value);
    if (!value) return MST_NO_MEMORY("for a history");
    history->value = value;
    value += (size_t)history->num_epochs++ * row;
    *value++ = state->loss;
    for (int m = 0; m < state->num_metrics; m++) *value++ = state->metric[m];
    if (state->has_validation) *value++ = state->validation_loss;
    for (int m = 0; state->has_validation && m < state->num_metrics; m++) *value++ = state->validation_metric[m];
    *value = state->learning_rate;
    return MST_OK;
}
