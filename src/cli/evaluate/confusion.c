#include "cli/evaluate/confusion.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/json_events.h"
#include "cli/model/class_names.h"

/* ---- what is counted ---- */

static int64_t num_classes(const mst_tensor *confusion) {
    return mst_tensor_shape(confusion).dim[0];
}

static int64_t cell(const mst_tensor *confusion, int64_t label, int64_t prediction) {
    return (int64_t)mst_tensor_get(confusion, label * num_classes(confusion) + prediction);
}

/* part / whole; 0 if both are 0, as in scikit-learn. */
static double ratio(int64_t part, int64_t whole) {
    return whole ? (double)part / (double)whole : 0;
}

typedef struct class_scores {
    double precision; /* correct predictions of this class / predictions of this class */
    double recall;    /* correct predictions of this class / examples of this class */
    double f1;        /* 2 * precision * recall / (precision + recall) */
    int64_t examples;
} class_scores;

static class_scores scores_of(const mst_tensor *confusion, int64_t i) {
    int64_t labels = 0, predictions = 0, right = cell(confusion, i, i);
    for (int64_t j = 0; j < num_classes(confusion); j++) {
        labels += cell(confusion, i, j);
        predictions += cell(confusion, j, i);
    }
    return (class_scores){ratio(right, predictions), ratio(right, labels), ratio(2 * right, labels + predictions),
                          labels};
}

/* ---- text ---- */

/* Prints "    3", or with names "    3 Dress      ", padded to the width of the longest name. */
static void print_label(int64_t i, const char *const *names) {
    char text[CLASS_NAME_TEXT];
    const int width = class_names_width(names);
    const char *name = i < 0 ? NULL : class_names_at(names, i);
    if (i < 0)
        printf("%6s", "");
    else
        printf("%6" PRId64, i);
    if (width) printf(" %-*s", width, name ? class_name_shown(name, text) : "");
}

void confusion_print(const mst_tensor *confusion, const char *output, const char *const *names) {
    const int64_t classes = num_classes(confusion);
    printf("confusion%s%s, a row for each label, a column for each prediction:\n", output ? " of " : "",
           output ? output : "");
    print_label(-1, names);
    for (int64_t j = 0; j < classes; j++) printf(" %6" PRId64, j);
    putchar('\n');
    for (int64_t i = 0; i < classes; i++) {
        print_label(i, names);
        for (int64_t j = 0; j < classes; j++) printf(" %6" PRId64, cell(confusion, i, j));
        putchar('\n');
    }
    printf("each class:\n");
    print_label(-1, names);
    printf(" %9s %9s %9s %9s\n", "precision", "recall", "f1", "examples");
    for (int64_t i = 0; i < classes; i++) {
        const class_scores s = scores_of(confusion, i);
        print_label(i, names);
        printf(" %9.4f %9.4f %9.4f %9" PRId64 "\n", s.precision, s.recall, s.f1, s.examples);
    }
}

/* ---- JSON ---- */

static json_t *class_object(const mst_tensor *confusion, int64_t i, const char *name) {
    const class_scores s = scores_of(confusion, i);
    json_t *object = json_object();
    json_add(&object, "", "class", json_integer(i));
    if (name) json_add(&object, "", "name", json_text(name));
    json_add(&object, "", "precision", json_number(s.precision));
    json_add(&object, "", "recall", json_number(s.recall));
    json_add(&object, "", "f1", json_number(s.f1));
    json_add(&object, "", "examples", json_integer(s.examples));
    return object;
}

/* Sets EVENT[NAME] to VALUE, or with several outputs EVENT[NAME][OUTPUT]. OUTPUT is NULL if there is one output. */
static void add_of_output(json_t **event, const char *name, const char *output, json_t *value) {
    if (!output) {
        json_add(event, "", name, value);
        return;
    }
    json_t *all = json_object_get(*event, name);
    if (!all) json_add(event, "", name, all = json_object());
    json_object_set_new(all, output, value);
}

void confusion_add(json_t **event, const mst_tensor *confusion, const char *output, const char *const *names) {
    json_t *rows = json_array(), *classes = json_array();
    for (int64_t i = 0; i < num_classes(confusion); i++) {
        json_t *row = json_array();
        for (int64_t j = 0; j < num_classes(confusion); j++)
            json_array_append_new(row, json_integer(cell(confusion, i, j)));
        json_array_append_new(rows, row);
        json_array_append_new(classes, class_object(confusion, i, class_names_at(names, i)));
    }
    add_of_output(event, "confusion", output, rows);
    add_of_output(event, "classes", output, classes);
}
