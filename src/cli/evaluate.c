/** muster evaluate: needs a saved model; and what `muster train --evaluate` prints. */
#include "cli/evaluate.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/json_events.h"

static int64_t cell(const mst_tensor *confusion, int64_t row, int64_t column) {
    return (int64_t)mst_tensor_get(confusion, row * mst_tensor_shape(confusion).dim[1] + column);
}

static void print_confusion(const mst_tensor *confusion) {
    mst_shape shape = mst_tensor_shape(confusion);
    printf("confusion, a row for each label, a column for each prediction:\n      ");
    for (int64_t j = 0; j < shape.dim[1]; j++) printf(" %6" PRId64, j);
    putchar('\n');
    for (int64_t i = 0; i < shape.dim[0]; i++) {
        printf("%6" PRId64, i);
        for (int64_t j = 0; j < shape.dim[1]; j++) printf(" %6" PRId64, cell(confusion, i, j));
        putchar('\n');
    }
}

void evaluate_print(const mst_result *result, const mst_tensor *confusion) {
    printf("test: loss = %.4f", result->loss);
    for (int m = 0; m < result->num_metrics; m++) printf(", %s = %.4f", result->metric_name[m], result->metric[m]);
    printf(" (%" PRId64 " examples)\n", result->examples);
    if (confusion) print_confusion(confusion);
}

void evaluate_add(json_t **event, const mst_result *result, const mst_tensor *confusion) {
    json_add(event, "test_", "loss", json_number(result->loss));
    for (int m = 0; m < result->num_metrics; m++)
        json_add(event, "test_", result->metric_name[m], json_number(result->metric[m]));
    if (!confusion) return;
    mst_shape shape = mst_tensor_shape(confusion);
    json_t *rows = json_array();
    for (int64_t i = 0; i < shape.dim[0]; i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < shape.dim[1]; j++) json_array_append_new(row, json_integer(cell(confusion, i, j)));
        json_array_append_new(rows, row);
    }
    json_add(event, "", "confusion", rows);
}

static const option_section sections[] = {{0}};

const command command_evaluate = {
    .name = "evaluate",
    .summary = "loss and metrics of a saved model (until models are saved: train --evaluate)",
    .usage = "",
    .sections = sections,
    .unavailable = "models are not saved yet: use 'muster train --evaluate', which trains and evaluates in one go",
};
