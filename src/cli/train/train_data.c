#include "cli/train/train_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/array_notes.h"
#include "cli/column_notes.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/model/application_layers.h"
#include "cli/model/network_objectives.h"
#include "cli/model/positions.h"
#include "cli/model/scale_inputs.h"
#include "cli/spec_kind.h"
#include "cli/train/missing_classes.h"
#include "cli/train/train_augment.h"
#include "cli/train/train_folds.h"
#include "data/column_report.h"
#include "data/spec/validation_part.h"

enum { MOST_FOUND_CLASSES = 1000, DEFAULT_MAX_TOKENS = 20000, DEFAULT_LENGTH = 300 };
static const int64_t MOST_STEPS = 1000000000000000; /* the limit of --steps and of schedules */

int64_t train_total_steps(const training *t) {
    if (t->o->steps) return t->o->steps;
    int64_t steps, rows = mst_dataset_num_rows(t->train);
    if (rows < 0) return -1;
    if (__builtin_mul_overflow(t->o->epochs, (rows + t->batch_size - 1) / t->batch_size, &steps)) return INT64_MAX;
    return steps;
}

mst_status train_data_check_labels(const training *t) {
    if (mst_dataset_num_components(t->train) > training_num_inputs(t)) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': the data has no labels: training needs what the outputs are to be, as y_train is", t->data);
}

/* All parts must store their inputs in one dtype: only u8 is scaled, so u8 and f32 parts would differ. */
static int check_stored_inputs(training *t, const char *spec, const char *part, const mst_dataset *dataset) {
    for (int i = 0; i < training_num_inputs(t); i++) {
        const mst_dtype dtype = mst_dataset_spec(dataset, i).dtype;
        if (!t->stored_inputs[i]) t->stored_inputs[i] = dtype;
        if (dtype != t->stored_inputs[i])
            return command_fail(EXIT_FAILED,
                                "'%s': inputs of the %s part are %s, those of the train part %s: save both alike", spec,
                                part, mst_dtype_name(dtype), mst_dtype_name(t->stored_inputs[i]));
    }
    return EXIT_DONE;
}

static mst_status scale_all_inputs(const training *t, mst_dataset **dataset) {
    for (int i = 0; i < training_num_inputs(t); i++)
        MST_TRY(scale_inputs(training_pixels(t), i, t->network ? &t->ends.input[i] : NULL, dataset));
    return MST_OK;
}

static int fail_to_open(const char *spec) {
    return command_fail_library(train_data_is_known(spec) ? EXIT_FAILED : EXIT_USAGE, NULL);
}

/* Checks and scales the inputs of PART, which was opened from SPEC. */
static int prepare_part(training *t, const char *spec, const char *part, mst_dataset **dataset) {
    if (check_stored_inputs(t, spec, part, *dataset)) return EXIT_FAILED;
    if (data_options_check_pixels(t->list, spec, t->stored_inputs, training_num_inputs(t)))
        return command_fail_library(EXIT_FAILED, NULL);
    return scale_all_inputs(t, dataset) ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}

static bool is_pictures(const training *t) {
    return mst_dataset_spec_has_pictures(t->data);
}

static bool is_table(const training *t) {
    return spec_is_table(t->data);
}

/* Chooses the options of texts that were not given: as the network takes them if that is known, else the defaults. */
static void fit_texts(const training *t, mst_data_options *options) {
    const mst_shape input = t->ends.input[0].shape;
    const bool is_long = t->network && input.ndim == 1 && input.dim[0] > 0;
    const int64_t most = spec_is_long_text(t->data) ? 0 : DEFAULT_MAX_TOKENS; /* tokens: all that there are */
    if (!options->max_tokens && !options->tokenizer) options->max_tokens = t->num_tokens ? t->num_tokens : most;
    const int64_t length = spec_is_long_text(t->data) ? 0 : DEFAULT_LENGTH; /* 0: that of the dataset */
    if (!options->sequence_length) options->sequence_length = is_long ? input.dim[0] : length;
}

/* The size of pictures: that of the network if it takes only squares, else that of the first picture. */
static int64_t fitting_size(const training *t) {
    const mst_shape input = t->ends.input[0].shape;
    const bool is_square = t->network && input.ndim >= 2 && input.dim[0] > 0 && input.dim[0] == input.dim[1];
    return is_square ? input.dim[0] : MST_IMAGE_SIZE_FIT;
}

int train_data_open_part(training *t, const char *part, mst_dataset **out) {
    mst_data_options options = {
        .skip_corrupt = t->o->skip_corrupt, .image_size = t->o->image_size, .unknown_categories = !t->o->raw_columns};
    options.text = t->o->text;
    if (training_has_texts(t)) options.schema = t->schema;
    options.max_tokens = t->o->max_tokens;
    options.sequence_length = t->o->sequence_length;
    options.pad_front = t->o->pad == PAD_FRONT;
    options.tokenizer = t->o->tokenizer;
    const char *inputs[MAX_ENDS], *outputs[MAX_ENDS];
    if (t->network) network_data_options(&t->ends, inputs, outputs, &options);
    if (training_numbers_words(t)) fit_texts(t, &options);
    options.keep_texts = t->folds && training_numbers_words(t) && !t->schema;
    options.raw_texts = !training_numbers_words(t);
    if (!options.image_size && is_pictures(t)) options.image_size = fitting_size(t);
    if (table_options_open(&t->o->table, t->data, part, options, out)) return fail_to_open(t->data);
    return prepare_part(t, t->data, part, out);
}

/* Opens SPEC as PART, "validation" or "test", with the columns, classes and words of the train part. As in muster
 * evaluate, a file alone is the whole part. */
static int open_named_part(training *t, const char *spec, const char *part, mst_dataset **out) {
    table_options table = t->o->table;
    mst_data_options options = {.skip_corrupt = t->o->skip_corrupt,
                                .image_size = t->o->image_size,
                                .schema = mst_dataset_schema(t->train),
                                .unknown_categories = !t->o->raw_columns,
                                .whole_file = spec_is_of_kind(spec, "npz:") || spec_is_long_text(spec)};
    const char *inputs[MAX_ENDS], *outputs[MAX_ENDS];
    if (t->network) network_data_options(&t->ends, inputs, outputs, &options);
    options.raw_texts = !training_numbers_words(t);
    if (spec_is_long_text(spec) && spec_is_long_text(t->data))
        options.sequence_length = mst_dataset_spec(t->train, 0).shape.dim[0];
    if (!mst_dataset_spec_has_pictures(spec)) options.image_size = 0;
    if (options.schema) { /* it says which columns are used, and how */
        table.drop = table.categories = table.dates = NULL;
        options.text = t->o->text;
    }
    if (table_options_open(&table, spec, "test", options, out)) return fail_to_open(spec);
    return prepare_part(t, spec, part, out);
}

/* Checks DATASET, the part PART from SPEC, so that its errors are reported before training and not after it. */
static int check_part(const training *t, const char *spec, const char *part, const mst_dataset *dataset) {
    const int components = dataset ? mst_dataset_num_components(t->train) : 0;
    if (dataset && mst_dataset_num_components(dataset) < components)
        return command_fail(EXIT_FAILED, "'%s': the %s part has no labels", spec, part);
    for (int i = 0; i < components; i++) {
        char test_shape[MST_SHAPE_TEXT], train_shape[MST_SHAPE_TEXT];
        mst_spec test = mst_dataset_spec(dataset, i), train = mst_dataset_spec(t->train, i);
        if (test.dtype == train.dtype && mst_shape_equal(test.shape, train.shape)) continue;
        return command_fail(EXIT_FAILED, "'%s': %s of the %s part are %s%s, those of the train part %s%s", spec,
                            i >= training_num_inputs(t) ? "labels" : "inputs", part, mst_dtype_name(test.dtype),
                            mst_shape_print(test.shape, test_shape, sizeof test_shape), mst_dtype_name(train.dtype),
                            mst_shape_print(train.shape, train_shape, sizeof train_shape));
    }
    return EXIT_DONE;
}

static int split_validation(training *t) {
    if (t->folds) return train_folds_split(t);
    int64_t rows = mst_dataset_num_rows(t->train);
    int64_t kept = (int64_t)((double)rows * (1 - t->o->validation_split)); /* rounded as in Keras */
    if (t->o->validation_split == 0) return EXIT_DONE;
    if (kept < 1 || kept == rows)
        return command_fail(EXIT_FAILED, "--validation-split %g of %" PRId64 " rows leaves a part without rows",
                            t->o->validation_split, rows);
    const int labels = training_num_inputs(t); /* if there are several outputs, those of the first */
    const mst_loss loss = t->network ? t->objective->loss : t->loss;
    const mst_split_options split = {.fraction = t->o->validation_split,
                                     .seed = t->o->seed,
                                     .labels = objective_labels_are_classes(loss, t->train, labels) ? labels : 0,
                                     .last = t->o->validation_rows == VALIDATION_ROWS_LAST};
    mst_dataset *all = t->train;
    mst_split_report report;
    const mst_status status = mst_dataset_split(all, &split, &t->train, &t->validation, &report);
    mst_dataset_release(all);
    if (status) return command_fail_library(EXIT_FAILED, "validation-split");
    if (report.num_missing) command_warn("--validation-split: %s", report.warning);
    return EXIT_DONE;
}

/* Whether the train part is a table with several columns of labels, which are numbers. */
static bool has_several_labels(const training *t) {
    return is_table(t) && mst_dataset_num_components(t->train) > 1 &&
           mst_shape_count(mst_dataset_spec(t->train, 1).shape) > 1;
}

/* If neither --loss nor an option for classes is given, the labels of a table decide whether they are classes. */
static int choose_loss(training *t) {
    const train_options *o = t->o;
    const bool classes = option_given(t->list, "classes") || o->class_names || o->class_weight || o->positive;
    if (t->network || option_given(t->list, "loss") || classes || o->confusion) return EXIT_DONE;
    if (t->is_application && !has_several_labels(t)) return EXIT_DONE;
    if (label_kind_find(t->train, &t->labels)) return command_fail_library(EXIT_FAILED, NULL);
    if (t->labels.are_numbers) t->loss = MST_LOSS_MEAN_SQUARED_ERROR;
    return EXIT_DONE;
}

/* Warns that all labels are of one class. The model then has two outputs, the fewest that are possible. */
static int warn_of_only_class(training *t) {
    char shown[CLASS_NAME_TEXT];
    fprintf(stderr, "warning: all labels are '%s': there is nothing to tell apart, and the model has two outputs\n",
            class_name_shown(mst_dataset_class_name(t->train, 1, 0), shown));
    t->label_classes = 2;
    return EXIT_DONE;
}

/* Counts the classes in the labels of the whole train part, if nothing else tells how many there are. */
static int count_classes(training *t) {
    const train_options *o = t->o;
    int64_t *count = NULL;
    char label[MST_COLUMN_SHOWN] = "";
    if (t->network || option_given(t->list, "classes") || o->class_names ||
        t->loss != MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY)
        return EXIT_DONE;
    if (t->is_application && application_has_positions(o->model))
        return positions_count(o->ignore_class, t->train, &t->label_classes) ? command_fail_library(EXIT_FAILED, NULL)
                                                                             : EXIT_DONE;
    if (!objective_labels_are_classes(t->loss, t->train, 1) || mst_dataset_num_classes(t->train, 1) > 1)
        return EXIT_DONE;
    if (mst_dataset_num_classes(t->train, 1) == 1) return warn_of_only_class(t);
    if (objective_count(t->loss, t->train, 1, MOST_FOUND_CLASSES, &count, &t->label_classes))
        return command_fail_library(EXIT_FAILED, NULL);
    const int64_t counted = t->label_classes;
    if (t->label_classes < 2) t->label_classes = 2;
    const mst_status status = is_table(t) ? objective_label_column(t->train, label) : MST_OK;
    if (!status) missing_classes_warn(count, counted, t->label_classes, label);
    free(count);
    return status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}

static bool are_square(mst_shape shape) {
    return shape.ndim == 3 && shape.dim[0] == shape.dim[1];
}

static int check_columns(const training *t) {
    if (!column_notes_check(mst_dataset_schema(t->train))) return EXIT_DONE;
    (void)mst_error_prefix("'%s'", t->data);
    return command_fail_library(EXIT_FAILED, NULL);
}

/* Opens the test part if it is measured, and the validation part if it is named. */
static int open_other_parts(training *t) {
    const train_options *o = t->o;
    const bool tests = o->evaluate || o->confusion || o->predict || o->test_data;
    int status = EXIT_DONE;
    if (o->test_data)
        status = open_named_part(t, o->test_data, "test", &t->test);
    else if (tests)
        status = train_data_open_part(t, "test", &t->test);
    if (!status) status = check_part(t, o->test_data ? o->test_data : t->data, "test", t->test);
    if (!status && o->validation_data) status = open_named_part(t, o->validation_data, "validation", &t->validation);
    return status ? status : check_part(t, o->validation_data, "validation", t->validation);
}

/* Whether an earlier fold has read the data. */
static bool is_later_fold(const training *t) {
    return t->folds && t->folds->fold > 0;
}

/* Takes the validation part beside the train part, unless the options say what the validation part is. */
static int find_validation(training *t, train_options *o) {
    if (o->validation_data || t->folds || option_given(t->list, "validation-split")) return EXIT_DONE;
    if (mst_validation_spec(t->data, &t->validation_spec)) return command_fail_library(EXIT_FAILED, NULL);
    o->validation_data = t->validation_spec;
    return EXIT_DONE;
}

/* O are the options of T. If the train part has square pictures, their size is used for all parts and is noted. */
int train_data_open(training *t, train_options *o) {
    if (is_later_fold(t)) {
        train_folds_reuse(t, o);
        return EXIT_DONE;
    }
    if (data_options_check(t->list, t->data, t->o->text != NULL)) return command_fail_library(EXIT_FAILED, NULL);
    int status = train_data_open_part(t, "train", &t->train);
    if (!status && is_pictures(t) && are_square(mst_dataset_spec(t->train, 0).shape))
        o->image_size = mst_dataset_spec(t->train, 0).shape.dim[0];
    if (!status) status = find_validation(t, o);
    if (!status) status = open_other_parts(t);
    return !status && is_table(t) ? check_columns(t) : status;
}

int train_data_prepare(training *t) {
    const bool is_first = !is_later_fold(t); /* else the labels were looked at before */
    int status = is_first ? choose_loss(t) : EXIT_DONE;
    if (!status && is_first) status = count_classes(t);
    train_folds_keep(t);
    if (!status) status = split_validation(t);
    if (!status) status = train_augment(t);
    if (status) return status;
    if (is_first) array_notes_warn(t->data);
    if (train_total_steps(t) > MOST_STEPS)
        return command_fail(EXIT_USAGE, "train: --epochs %" PRId64 ": more than 10^15 steps in all: give fewer",
                            t->o->epochs);
    return EXIT_DONE;
}

mst_status train_data_check_measured(const training *t) {
    mst_dataset *const parts[] = {t->validation, t->test};
    const char *const names[] = {t->o->validation_data ? "the validation part" : "the part that is kept for validation",
                                 "the test part"};
    const char *const specs[] = {t->o->validation_data ? t->o->validation_data : t->data,
                                 t->o->test_data ? t->o->test_data : t->data};
    if (is_pictures(t) || t->cluster) return MST_OK;
    for (int p = 0; p < 2; p++)
        for (int i = 0; parts[p] && i < t->num_objectives; i++)
            if (objective_check_every_class(&t->objective[i], parts[p]))
                return mst_error_prefix("'%s': %s", specs[p], names[p]);
    return MST_OK;
}

mst_status train_data_warn_of_columns(const training *t) {
    if (!is_table(t) || is_later_fold(t)) return MST_OK;
    if (!t->o->table.no_header) column_notes_warn_of_header(mst_dataset_schema(t->train));
    const int64_t kept = t->validation && !t->o->validation_data ? mst_dataset_num_rows(t->validation) : 0;
    return column_notes_warn(mst_dataset_schema(t->train), t->o->table.categories,
                             mst_dataset_num_rows(t->train) + kept);
}
