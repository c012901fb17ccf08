/* npz:FILE: arrays x_train, y_train, x_test, y_test (as in Keras' mnist.npz). Or arrays x and y, which are the train
 * part; with whole_file (mst_data_options) they are either part. Examples to be predicted may have no labels: x_test
 * without y_test, or x alone, which then is either part.
 *
 * If the inputs and outputs of a model have names (mst_data_options), arrays are found by these: left_train,
 * right_train, price_train and the same with _test, or left, right, price. A single input may also be called x, and a
 * single output y. */
#include <stdio.h>
#include <string.h>

#include "data/spec/data_spec.h"
#include "format/npz.h"

enum { NAME_SIZE = 256, LIST_SIZE = 512, MOST_ARRAYS = 64 };
static const char *const suffixes[] = {"_train", "_test"};

/* The names of a model, and the arrays of a file that were chosen for them. */
typedef struct npz_choice {
    const char *path;
    const mst_npz *npz;
    const mst_data_options *options;
    bool has_parts; /* the file has train and test parts, so names end in suffixes */
    int count;      /* number of arrays: inputs, then outputs */
    char array[MOST_ARRAYS][NAME_SIZE];
} npz_choice;

static const char *name_at(const mst_data_options *o, int i) {
    return i < o->num_inputs ? o->inputs[i] : o->outputs[i - o->num_inputs];
}

/* Another name for input or output I if it is the only one, x or y; NULL: there are several. */
static const char *other_name(const mst_data_options *o, int i) {
    if (i < o->num_inputs) return o->num_inputs == 1 ? "x" : NULL;
    return o->num_outputs == 1 ? "y" : NULL;
}

/* Prints the array of input or output I, with SUFFIX, to ARRAY, under the name that the file has. False if the file has
 * no such array. */
static bool find_array(const npz_choice *c, int i, const char *suffix, char array[NAME_SIZE]) {
    const char *other = other_name(c->options, i);
    if (other) snprintf(array, NAME_SIZE, "%s%s", other, suffix);
    if (other && mst_npz_has(c->npz, array)) return true;
    snprintf(array, NAME_SIZE, "%s%s", name_at(c->options, i), suffix);
    return mst_npz_has(c->npz, array);
}

/* ---- what is wrong ---- */

static const char *list_arrays(const mst_npz *npz, char list[LIST_SIZE]) {
    size_t used = 0;
    snprintf(list, LIST_SIZE, "none");
    for (int64_t i = 0; i < mst_npz_num_arrays(npz) && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s'%s'", i ? ", " : "", mst_npz_name(npz, i));
    return list;
}

static const char *list_names(const mst_data_options *o, char list[LIST_SIZE]) {
    size_t used = 0;
    for (int i = 0; i < o->num_inputs + o->num_outputs && used < LIST_SIZE; i++)
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s'%s'",
                                 i == 0               ? o->num_inputs == 1 ? "input " : "inputs "
                                 : i == o->num_inputs ? o->num_outputs == 1 ? " and output " : " and outputs "
                                                      : ", ",
                                 name_at(o, i));
    return list;
}

static mst_status fail_missing(const npz_choice *c, int i, const char *suffix) {
    char arrays[LIST_SIZE], names[LIST_SIZE];
    return MST_FAIL(MST_NOT_FOUND, "'%s': has no array '%s%s', %s of the model: it has %s; the model has %s", c->path,
                    name_at(c->options, i), suffix, i < c->options->num_inputs ? "an input" : "an output",
                    list_arrays(c->npz, arrays), list_names(c->options, names));
}

/* Refuses arrays that belong to no input or output: such an array probably has a wrong name. */
static mst_status check_others(const npz_choice *c) {
    for (int64_t a = 0; a < mst_npz_num_arrays(c->npz); a++) {
        const char *name = mst_npz_name(c->npz, a);
        char array[NAME_SIZE], names[LIST_SIZE];
        bool known = false;
        for (int i = 0; i < c->options->num_inputs + c->options->num_outputs && !known; i++)
            for (int part = 0; part < 2 && !known; part++)
                known = find_array(c, i, c->has_parts ? suffixes[part] : "", array) && strcmp(array, name) == 0;
        if (!known)
            return MST_FAIL(MST_INVALID, "'%s': array '%s' is none of the model's, which has %s%s", c->path, name,
                            list_names(c->options, names),
                            c->has_parts ? ", with _train and _test behind them in this file" : "");
    }
    return MST_OK;
}

/* ---- arrays by the names of a model ---- */

static mst_status choose_names(npz_choice *c, bool test) {
    const mst_data_options *o = c->options;
    const int all = o->num_inputs + o->num_outputs;
    int labels = 0, missing = -1;
    char array[NAME_SIZE];
    if (all > MOST_ARRAYS) return MST_FAIL(MST_INVALID, "'%s': more than %d inputs and outputs", c->path, MOST_ARRAYS);
    for (int i = 0; i < 2 * all && !c->has_parts; i++) c->has_parts = find_array(c, i / 2, suffixes[i % 2], array);
    const char *suffix = c->has_parts ? suffixes[test] : "";
    for (int i = 0; i < all; i++) {
        if (find_array(c, i, suffix, c->array[i]))
            labels += i >= o->num_inputs;
        else if (i < o->num_inputs)
            return fail_missing(c, i, suffix);
        else if (missing < 0)
            missing = i;
    }
    const bool needs_labels = c->has_parts && !test;
    if (missing >= 0 && (labels || needs_labels)) return fail_missing(c, missing, suffix);
    MST_TRY(check_others(c));
    c->count = labels ? all : o->num_inputs;
    if (!c->has_parts && test && labels && !o->whole_file)
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s': has arrays without _train or _test in their names, which are the train part: add "
                        "%s_test and so on for a test part",
                        c->path, c->array[0]);
    return MST_OK;
}

static mst_status open_names(const char *path, const mst_npz *npz, bool test, const mst_data_options *options,
                             mst_dataset **out) {
    npz_choice c = {.path = path, .npz = npz, .options = options};
    const char *names[MOST_ARRAYS];
    for (int i = 0; i < MOST_ARRAYS; i++) names[i] = c.array[i];
    MST_TRY(choose_names(&c, test));
    return mst_dataset_from_npz(path, names, c.count, out);
}

/* ---- x and y ---- */

static bool has_x(const mst_npz *npz) {
    return mst_npz_has(npz, "x") || mst_npz_has(npz, "x_train") || mst_npz_has(npz, "x_test");
}

static mst_status open_xy(const char *path, const mst_npz *npz, bool test, bool whole_file, mst_dataset **out) {
    static const char *const parts[2][2] = {{"x_train", "y_train"}, {"x_test", "y_test"}};
    static const char *const whole[2] = {"x", "y"};
    const bool has_parts = mst_npz_has(npz, "x_train") || mst_npz_has(npz, "x_test") || !mst_npz_has(npz, "x");
    const char *const *names = has_parts ? parts[test] : whole;
    const bool has_labels = mst_npz_has(npz, names[1]) || (has_parts && !test);
    if (!has_parts && test && has_labels && !whole_file)
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s': has arrays x and y, which are the train part: add x_test and y_test for a test part",
                        path);
    return mst_dataset_from_npz(path, names, has_labels ? 2 : 1, out);
}

static mst_status npz_spec_open_part(const char *path, bool test, const mst_data_options *o, mst_dataset **out) {
    mst_npz *npz;
    MST_TRY(mst_npz_open(path, &npz));
    const bool several = o && (o->num_inputs > 1 || o->num_outputs > 1);
    const bool by_names = several || (o && o->num_inputs == 1 && !has_x(npz));
    const mst_status status =
        by_names ? open_names(path, npz, test, o, out) : open_xy(path, npz, test, o && o->whole_file, out);
    mst_npz_close(npz);
    return status;
}

const mst_data_spec mst_data_spec_npz = {
    .form = "npz:FILE",
    .help =
        "x_train, y_train, x_test, y_test; or x, y; to predict, x alone; of a network with several inputs or "
        "outputs, arrays by their names",
    .suffix = ".npz",
    .takes = MST_SPEC_NAMES | MST_SPEC_PICTURES,
    .open_with = npz_spec_open_part,
};
