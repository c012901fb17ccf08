/* Facts about losses that the library's formulas do not have: which labels a loss takes, how many outputs it needs,
 * which metric fits, and how outputs are made readable for the user. The labels of the first rows are checked, so that
 * a loss that does not fit the labels is reported before training begins. */
#include "cli/model/objective.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/model/class_names.h"
#include "cli/option_list.h"
#include "data/column_report.h"

enum { CHECKED_ROWS = 1000, OUTPUTS_TEXT = 512 };

/* The labels that a loss takes, and the metric and the activations that go with it. */
typedef struct loss_kind {
    const char *labels; /* the labels in words */
    double low, high;   /* the range of each number of a label */
    bool whole;         /* the numbers are whole */
    bool distribution;  /* the numbers of a label add up to 1 */
    mst_metric metric;
    mst_activation activation; /* added after the last layer */
    mst_activation finish;     /* turns logits into predictions */
} loss_kind;

/* If the loss is the mean squared or the mean absolute error, the metric is the other one of the two. */
static const loss_kind kinds[MST_NUM_LOSSES] = {
    [MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY] = {"class numbers from 0 on", 0, INFINITY, .whole = true,
                                                  .metric = MST_METRIC_ACCURACY, .finish = MST_SOFTMAX},
    [MST_LOSS_CATEGORICAL_CROSSENTROPY] = {"one-hot rows, or probabilities, that add up to 1", 0, 1,
                                           .distribution = true, .metric = MST_METRIC_CATEGORICAL_ACCURACY,
                                           .finish = MST_SOFTMAX},
    [MST_LOSS_BINARY_CROSSENTROPY] = {"numbers from 0 to 1", 0, 1, .metric = MST_METRIC_BINARY_ACCURACY,
                                      .finish = MST_SIGMOID},
    [MST_LOSS_MEAN_SQUARED_ERROR] = {"numbers", -INFINITY, INFINITY, .metric = MST_METRIC_MEAN_ABSOLUTE_ERROR},
    [MST_LOSS_MEAN_ABSOLUTE_ERROR] = {"numbers", -INFINITY, INFINITY, .metric = MST_METRIC_MEAN_SQUARED_ERROR},
    [MST_LOSS_HUBER] = {"numbers", -INFINITY, INFINITY, .metric = MST_METRIC_MEAN_ABSOLUTE_ERROR},
    [MST_LOSS_HINGE] = {"-1 and 1, or 0 and 1", -1, 1, .whole = true, .metric = MST_METRIC_NONE},
    [MST_LOSS_POISSON] = {"numbers that are not negative", 0, INFINITY, .metric = MST_METRIC_MEAN_ABSOLUTE_ERROR,
                          .activation = MST_SOFTPLUS},
    [MST_LOSS_KL_DIVERGENCE] = {"probabilities that add up to 1", 0, 1, .distribution = true,
                                .metric = MST_METRIC_CATEGORICAL_ACCURACY, .activation = MST_SOFTMAX},
};

const char *const objective_short_losses[] = {"mse", "mean_squared_error",       "mae", "mean_absolute_error",
                                              "bce", "binary_crossentropy",      "kld", "kl_divergence",
                                              "cce", "categorical_crossentropy", NULL};

const char *objective_loss(int i) {
    return mst_loss_name((mst_loss)i);
}

const char *objective_labels(int i) {
    return objective_loss(i) ? kinds[i].labels : NULL;
}

mst_status objective_loss_named(const char *word, mst_loss *out) {
    for (int i = 0; objective_short_losses[i]; i += 2)
        if (option_same_word(objective_short_losses[i], word)) word = objective_short_losses[i + 1];
    for (int i = 0; i < MST_NUM_LOSSES; i++)
        if (option_same_word(objective_loss(i), word)) return *out = (mst_loss)i, MST_OK;
    return MST_FAIL(MST_INVALID, "there is no loss '%s'", word);
}

/* ---- labels ---- */

static mst_status label_fail(mst_loss loss, int64_t row, double value, const char *what) {
    const bool sparse = loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    return MST_FAIL(MST_INVALID, "label %.6g of row %" PRId64 "%s: --loss %s takes %s%s", value, row, what,
                    mst_loss_name(loss), kinds[loss].labels,
                    sparse ? "; for numbers to be predicted there is --loss mean_squared_error" : "");
}

/* What labels must be. */
typedef struct label_rule {
    mst_loss loss;
    int64_t classes;     /* class numbers must be below it; 0: no limit */
    int64_t width;       /* number of consecutive numbers that are one distribution; 0: all numbers of a label */
    double ignore_class; /* as in mst_compile */
} label_rule;

static bool is_ignored(double label, double ignore_class) {
    if (ignore_class == 0 && !signbit(ignore_class)) return false; /* none; MST_ZERO is -0.0 */
    return label == ignore_class;
}

/* Checks row ROW of LABELS, whose first row is row FIRST of the data. A row has COUNT numbers. */
static mst_status check_row(const label_rule *rule, const mst_tensor *labels, int64_t row, int64_t count,
                            int64_t first) {
    const mst_loss loss = rule->loss;
    const int64_t classes = rule->classes, width = rule->width ? rule->width : count;
    const loss_kind *kind = &kinds[loss];
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = mst_tensor_get(labels, row * count + i);
        if (is_ignored(value, rule->ignore_class)) continue;
        const bool right = isfinite(value) && value >= kind->low && value <= kind->high;
        if (!right || (kind->whole && value != floor(value))) return label_fail(loss, first + row, value, "");
        if (classes && value >= (double)classes)
            return MST_FAIL(MST_INVALID, "label %.6g of row %" PRId64 ": the model has %" PRId64 " outputs", value,
                            first + row, classes);
        sum += value;
        if ((i + 1) % width) continue;
        if (kind->distribution && fabs(sum - 1) > 1e-3)
            return label_fail(loss, first + row, sum, ", the sum of its numbers");
        sum = 0;
    }
    return MST_OK;
}

static mst_status check_batch(const label_rule *rule, const mst_batch *batch, int component, int64_t first) {
    mst_tensor *labels;
    MST_TRY(mst_batch_tensor(batch, component, &labels));
    const int64_t rows = mst_batch_size(batch);
    mst_status status = MST_OK;
    for (int64_t i = 0; i < rows && !status; i++)
        status = check_row(rule, labels, i, mst_tensor_count(labels) / rows, first);
    mst_tensor_release(labels);
    return status;
}

/* Checks the labels of all rows, or those of the first rows. */
static mst_status check_labels(const label_rule *rule, mst_dataset *data, int component, bool all) {
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    MST_TRY(mst_dataset_batch(data, CHECKED_ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    if (!status) status = mst_iterator_next(iterator, &batch);
    for (int64_t first = 0; !status && batch;) {
        status = check_batch(rule, batch, component, first);
        first += mst_batch_size(batch);
        if (!all) break;
        if (!status) status = mst_iterator_next(iterator, &batch);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    return status;
}

/* The number of classes of one position of O. */
static int64_t num_classes(const objective *o) {
    return o->row.ndim > 1 ? o->row.dim[o->row.ndim - 1] : o->outputs;
}

static label_rule rule_of(const objective *o, bool with_classes) {
    return (label_rule){.loss = o->loss,
                        .classes = with_classes ? num_classes(o) : 0,
                        .width = o->row.ndim > 1 ? num_classes(o) : 0,
                        .ignore_class = o->ignore_class};
}

mst_status objective_check_classes(const objective *o, mst_dataset *data) {
    const label_rule rule = rule_of(o, true);
    return o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ? check_labels(&rule, data, o->component, false)
                                                               : MST_OK;
}

mst_status objective_check_every_class(const objective *o, mst_dataset *data) {
    const label_rule rule = rule_of(o, true);
    return o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ? check_labels(&rule, data, o->component, true) : MST_OK;
}

mst_status objective_label_column(const mst_dataset *data, char *name) {
    mst_column_report *column;
    int count;
    MST_TRY(mst_column_reports(mst_dataset_schema(data), &column, &count));
    const bool is_only = count > 1 && mst_dataset_num_components(data) == 2 && !column[count - 2].is_label;
    snprintf(name, MST_COLUMN_SHOWN, "%s", is_only ? column[count - 1].name : "");
    free(column);
    return MST_OK;
}

/* Refuses labels that are named classes if the loss measures differences: the numbers of such classes only follow the
 * alphabet. */
static mst_status check_names(mst_loss loss, const mst_dataset *data, int component) {
    char column[MST_COLUMN_SHOWN] = "", shown[CLASS_NAME_TEXT];
    const int64_t names = mst_dataset_num_classes(data, component);
    if (!names || !mst_loss_measures(loss)) return MST_OK;
    MST_TRY(objective_label_column(data, column));
    return MST_FAIL(MST_INVALID,
                    "the labels%s%s are text, with %" PRId64
                    " different values such as '%s', and --loss %s needs numbers: write numbers as 1234.5, %sor leave "
                    "--loss out to predict classes",
                    *column ? " in column " : "", column, names,
                    class_name_shown(mst_dataset_class_name(data, component, names / 2), shown), mst_loss_name(loss),
                    *column ? "choose another column with --label, " : "");
}

/* ---- the objective ---- */

/* Refuses labels such as masks, [8, 8], and tells with what they can be trained. */
static mst_status fail_of_rank(mst_loss loss, const char *shape) {
    const bool sparse = loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    return MST_FAIL(MST_INVALID,
                    "--loss %s: a label is %s, this model gives a row of numbers: take %s, --load FILE.keras",
                    mst_loss_name(loss), shape,
                    sparse ? "--model unet for masks of pictures, or a network with a row of classes for each number "
                             "of a label"
                           : "a network whose output has the shape of a label");
}

static mst_status check_shape(mst_loss loss, mst_shape label, int64_t count) {
    char shape[MST_SHAPE_TEXT];
    const char *name = mst_loss_name(loss);
    mst_shape_print(label, shape, sizeof shape);
    if (label.ndim > 1 && count > 1) return fail_of_rank(loss, shape);
    if (loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY && count != 1)
        return MST_FAIL(MST_INVALID,
                        "--loss %s takes one class number as the label of an example, these are %s: for one-hot "
                        "rows there is --loss categorical_crossentropy, for several numbers --loss mean_squared_error",
                        name, shape);
    if (kinds[loss].distribution && (label.ndim == 0 || count == 1))
        return MST_FAIL(MST_INVALID,
                        "--loss %s takes one-hot rows or probabilities as labels, these are single numbers: for class "
                        "numbers there is --loss sparse_categorical_crossentropy",
                        name);
    if (label.ndim > 1 || count < 1)
        return MST_FAIL(MST_INVALID, "--loss %s: a label is %s: it must be a number or a row of numbers", name, shape);
    return MST_OK;
}

mst_status objective_choose(mst_loss loss, mst_dataset *data, int component, int64_t classes, bool free,
                            objective *out) {
    if (mst_dataset_num_components(data) <= component) return MST_FAIL(MST_INVALID, "the data has no labels");
    const mst_spec spec = mst_dataset_spec(data, component);
    const int64_t count = mst_shape_count(spec.shape);
    if (spec.dtype == MST_STRING) return MST_FAIL(MST_INVALID, "the labels of the data are strings, not numbers");
    MST_TRY(check_names(loss, data, component));
    MST_TRY(check_shape(loss, spec.shape, count));
    const bool sparse = loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    if (!sparse && !free && classes != count)
        return MST_FAIL(MST_INVALID,
                        "the labels have %" PRId64 " numbers an example, the model %" PRId64
                        " outputs: --loss %s "
                        "needs as many of both",
                        count, classes, mst_loss_name(loss));
    const double ignore_class = out->ignore_class;
    const label_rule rule = {.loss = loss, .ignore_class = ignore_class};
    MST_TRY(check_labels(&rule, data, component, false));
    *out = objective_of(loss, sparse || !free ? classes : count);
    out->component = component;
    out->ignore_class = ignore_class;
    return MST_OK;
}

bool objective_is_of_shape(const objective *o) {
    return o->row.ndim > 1;
}

/* LABEL without a last dimension of 1 that ROW does not have. */
static mst_shape label_like(mst_shape label, mst_shape row) {
    if (label.ndim > row.ndim && label.dim[label.ndim - 1] == 1) label.ndim--;
    return label;
}

mst_status objective_check_shape(const objective *o, mst_dataset *data) {
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    const bool sparse = o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    const mst_spec spec = mst_dataset_spec(data, o->component);
    const mst_shape classes = mst_shape_make(o->row.ndim - 1, o->row.dim); /* a class for each row of numbers */
    const bool are_classes = mst_shape_equal(label_like(spec.shape, classes), classes);
    const label_rule rule = rule_of(o, false);
    if (spec.dtype == MST_STRING) return MST_FAIL(MST_INVALID, "the labels of the data are strings, not numbers");
    if (sparse ? !are_classes : !mst_shape_equal(spec.shape, o->row) && !(num_classes(o) == 1 && are_classes))
        return MST_FAIL(
            MST_INVALID, "the labels of an example are %s, the model gives %s: --loss %s needs %s%s%s",
            mst_shape_print(spec.shape, have, sizeof have), mst_shape_print(o->row, want, sizeof want),
            mst_loss_name(o->loss), sparse ? "class numbers, " : "the same", sparse ? "one for each row of these" : "",
            !sparse && are_classes ? ": for class numbers there is --loss sparse_categorical_crossentropy" : "");
    return check_labels(&rule, data, o->component, false);
}

mst_status objective_read_ignored(const char *text, double *out) {
    double number;
    *out = 0;
    if (!text) return MST_OK;
    if (!mst_number_parse_f64(text, &number) || number != floor(number) || fabs(number) > 1e9)
        return MST_FAIL(MST_INVALID, "--ignore-class '%.64s' is no class number: write a whole one, such as 255", text);
    *out = number == 0 ? MST_ZERO : number;
    return MST_OK;
}

mst_status objective_set_ignored(double ignore_class, objective *list, int n) {
    bool some = ignore_class == 0 && !signbit(ignore_class); /* none; MST_ZERO is -0.0 */
    for (int i = 0; i < n; i++) {
        if (list[i].loss != MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY) continue;
        list[i].ignore_class = ignore_class;
        some = true;
    }
    return some ? MST_OK
                : MST_FAIL(MST_INVALID,
                           "--ignore-class is for labels that are class numbers, with --loss "
                           "sparse_categorical_crossentropy, not for --loss %s: leave it out",
                           mst_loss_name(list->loss));
}

bool objective_labels_are_classes(mst_loss loss, const mst_dataset *data, int component) {
    if (mst_dataset_num_components(data) <= component) return false;
    const mst_spec spec = mst_dataset_spec(data, component);
    const int64_t count = mst_shape_count(spec.shape);
    if (spec.dtype == MST_STRING || count < 1) return false;
    if (loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY || loss == MST_LOSS_BINARY_CROSSENTROPY) return count == 1;
    return kinds[loss].distribution && count > 1;
}

objective objective_of(mst_loss loss, int64_t outputs) {
    return (objective){.loss = loss, .outputs = outputs, .metric = {kinds[loss].metric}, .component = 1, .weight = 1};
}

static const char *list_outputs(const objective *list, int n, char text[OUTPUTS_TEXT]) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < n && used < OUTPUTS_TEXT; i++)
        used += (size_t)snprintf(text + used, OUTPUTS_TEXT - used, "%s'%s'", i ? ", " : "", list[i].output);
    return text;
}

mst_status objective_item(const char *option, const char *item, const objective *list, int n, int *place,
                          const char **rest) {
    char outputs[OUTPUTS_TEXT];
    const char *equals = strrchr(item, '=');
    *place = -1;
    *rest = equals ? equals + 1 : item;
    if (!equals) return MST_OK;
    for (int i = 0; i < n; i++) {
        const char *name = list[i].output;
        if (!name)
            return MST_FAIL(MST_INVALID, "--%s %s: the model has one output, which has no name: write %s alone", option,
                            item, *rest);
        *place = i;
        if (strlen(name) == (size_t)(equals - item) && strncmp(name, item, strlen(name)) == 0) return MST_OK;
    }
    return MST_FAIL(MST_INVALID, "--%s: the model has no output '%.*s': it has %s", option, (int)(equals - item), item,
                    list_outputs(list, n, outputs));
}

void objective_compile(const objective *list, int n, mst_compile_options *out) {
    if (n == 1) {
        out->loss = list->loss;
        out->from_probabilities = list->from_probabilities;
        out->ignore_class = list->ignore_class;
        out->positive = list->positive;
        memcpy(out->metric, list->metric, sizeof out->metric);
        return;
    }
    for (int i = 0; i < n; i++) {
        out->target[i] = (mst_target){.loss = list[i].loss,
                                      .from_probabilities = list[i].from_probabilities,
                                      .ignore_class = list[i].ignore_class,
                                      .weight = list[i].weight,
                                      .positive = list[i].positive};
        memcpy(out->target[i].metric, list[i].metric, sizeof out->target[i].metric);
    }
}

/* ---- classes ---- */

typedef struct class_counts {
    mst_loss loss;
    int component;  /* of the labels */
    int64_t most;   /* the number of classes that are allowed */
    int64_t num;    /* the largest class so far + 1 */
    int64_t *count; /* [num], examples of each class */
} class_counts;

/* The class of a row of LABELS, which has WIDTH numbers; below 0 if it has none. */
static int64_t class_of_row(mst_loss loss, const mst_tensor *labels, int64_t row, int64_t width) {
    int64_t largest = 0;
    const double value = mst_tensor_get(labels, row * width);
    if (loss == MST_LOSS_BINARY_CROSSENTROPY) return value > 0.5;
    if (width == 1) return value >= 0 && value < 1e15 && value == floor(value) ? (int64_t)value : -1;
    for (int64_t i = 1; i < width; i++)
        if (mst_tensor_get(labels, row * width + i) > mst_tensor_get(labels, row * width + largest)) largest = i;
    return largest;
}

static mst_status count_class(class_counts *c, int64_t class) {
    if (class < c->num) {
        c->count[class]++;
        return MST_OK;
    }
    int64_t *grown = realloc(c->count, (size_t)(class + 1) * sizeof *grown);
    if (!grown) return MST_NO_MEMORY("for the numbers of examples of classes");
    memset(grown + c->num, 0, (size_t)(class + 1 - c->num) * sizeof *grown);
    c->count = grown;
    c->num = class + 1;
    c->count[class] = 1;
    return MST_OK;
}

static mst_status count_batch(class_counts *c, const mst_batch *batch, int64_t first) {
    mst_tensor *labels;
    MST_TRY(mst_batch_tensor(batch, c->component, &labels));
    const int64_t rows = mst_batch_size(batch), width = mst_tensor_count(labels) / rows;
    mst_status status = MST_OK;
    for (int64_t i = 0; i < rows && !status; i++) {
        const int64_t class = class_of_row(c->loss, labels, i, width);
        if (class < 0)
            status = label_fail(c->loss, first + i, mst_tensor_get(labels, i * width), "");
        else if (class >= c->most)
            status =
                MST_FAIL(MST_INVALID,
                         "label %" PRId64 " of row %" PRId64 ": more than %" PRId64
                         " classes must be asked for with --classes N; for numbers to be predicted there is --loss "
                         "mean_squared_error",
                         class, first + i, c->most);
        else
            status = count_class(c, class);
    }
    mst_tensor_release(labels);
    return status;
}

mst_status objective_count(mst_loss loss, mst_dataset *data, int component, int64_t most, int64_t **count,
                           int64_t *num) {
    class_counts c = {.loss = loss, .component = component, .most = most};
    mst_dataset *batches;
    mst_iterator *iterator = NULL;
    const mst_batch *batch = NULL;
    int64_t rows = 0;
    MST_TRY(mst_dataset_batch(data, CHECKED_ROWS, false, &batches));
    mst_status status = mst_iterator_create(batches, 0, &iterator);
    while (!status && !(status = mst_iterator_next(iterator, &batch)) && batch) {
        status = count_batch(&c, batch, rows);
        rows += mst_batch_size(batch);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    *count = c.count;
    *num = c.num;
    if (!status) return MST_OK;
    free(c.count);
    *count = NULL;
    return status;
}

/* Whether the only output is the probability of class 1 of two classes. */
static bool is_binary(const objective *o) {
    return o->loss == MST_LOSS_BINARY_CROSSENTROPY && o->outputs == 1;
}

bool objective_has_classes(const objective *o) {
    if (o->row.ndim > 1) return false; /* each row of the example may have a class */
    return o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY || kinds[o->loss].distribution || is_binary(o);
}

mst_status objective_check_names(const objective *o, const char *path, int64_t count) {
    const int64_t classes = is_binary(o) ? 2 : o->outputs;
    if (!objective_has_classes(o))
        return MST_FAIL(MST_INVALID,
                        "--class-names names classes, which the model does not have with --loss %s and %" PRId64
                        " output%s: leave it out",
                        mst_loss_name(o->loss), o->outputs, o->outputs == 1 ? "" : "s");
    if (count == classes) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "--class-names: '%s' has %" PRId64 " names, the model has %" PRId64
                    " classes: write a line for each class",
                    path, count, classes);
}

int64_t objective_class(const objective *o, const mst_tensor *outputs, int64_t row, double *probability) {
    const int64_t first = row * o->outputs;
    int64_t best = 0;
    *probability = mst_tensor_get(outputs, first);
    if (is_binary(o)) {
        const bool yes = *probability > 0.5; /* as in the metric */
        if (!yes && !o->has_scores) *probability = 1 - *probability;
        return yes;
    }
    for (int64_t i = 1; i < o->outputs; i++) {
        const double value = mst_tensor_get(outputs, first + i);
        if (value > *probability) best = i, *probability = value;
    }
    return best;
}

/* Whether each position of an example has one class. */
static bool positions_have_classes(const objective *o) {
    if (o->row.ndim < 2) return false;
    return o->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY || kinds[o->loss].distribution ||
           (o->loss == MST_LOSS_BINARY_CROSSENTROPY && num_classes(o) == 1);
}

int objective_check_confusion(const char *command, const objective *o, int n) {
    for (int i = 0; i < n; i++)
        if (objective_has_classes(&o[i]) || positions_have_classes(&o[i])) return EXIT_DONE;
    if (o->loss == MST_LOSS_BINARY_CROSSENTROPY)
        return command_fail(EXIT_USAGE,
                            "%s: --confusion counts examples by their class, and here each has %" PRId64
                            " labels of yes or no: it is for one",
                            command, o->outputs);
    return command_fail(EXIT_USAGE,
                        "%s: --confusion counts examples by their class, which --loss %s does not have: it is for "
                        "sparse_categorical_crossentropy, categorical_crossentropy, kl_divergence and "
                        "binary_crossentropy",
                        command, mst_loss_name(o->loss));
}

void objective_add_layers(mst_loss loss, mst_model *model) {
    if (kinds[loss].activation != MST_LINEAR) mst_activate(model, kinds[loss].activation, .name = "outputs");
}

/* Replaces each row by exp(x - max) / sum, as in the loss. */
static void softmax_rows(mst_tensor *logits) {
    mst_shape shape = mst_tensor_shape(logits);
    int64_t classes = shape.dim[shape.ndim - 1], count = mst_tensor_count(logits);
    for (int64_t begin = 0; begin < count; begin += classes) {
        double largest = -INFINITY, sum = 0;
        for (int64_t i = 0; i < classes; i++) largest = fmax(largest, mst_tensor_get(logits, begin + i));
        for (int64_t i = 0; i < classes; i++) sum += exp(mst_tensor_get(logits, begin + i) - largest);
        for (int64_t i = 0; i < classes; i++)
            mst_tensor_set(logits, begin + i, exp(mst_tensor_get(logits, begin + i) - largest) / sum);
    }
}

mst_activation objective_finish_of(mst_loss loss) {
    return kinds[loss].finish;
}

void objective_finish(const objective *o, mst_tensor *outputs) {
    const mst_loss loss = o->loss;
    if (o->finished) return;
    if (kinds[loss].finish == MST_SOFTMAX) softmax_rows(outputs);
    for (int64_t i = 0; kinds[loss].finish == MST_SIGMOID && i < mst_tensor_count(outputs); i++)
        mst_tensor_set(outputs, i, 1 / (1 + exp(-mst_tensor_get(outputs, i))));
}
