#include "cli/train/class_weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"

enum { LONGEST = 256, LIST_SIZE = 512, MOST_CLASSES = 1000000 };

/* The weights of the classes of one output, which the functions below fill. */
typedef struct class_weights {
    double *weight;
    int count;
    const char *const *names; /* of the classes; NULL: not known */
} class_weights;

/* Fills the weights as scikit-learn's class_weight="balanced": rows / (classes with examples * examples of class). */
static mst_status balance(const training *t, int output, const class_weights *w) {
    const objective *o = &t->objective[output];
    int64_t *count, num, rows = 0, there = 0;
    MST_TRY(objective_count(o->loss, t->train, o->component, MOST_CLASSES, &count, &num));
    for (int64_t c = 0; c < num; c++) {
        rows += count[c];
        there += count[c] > 0;
    }
    for (int64_t c = 0; c < num && c < w->count; c++)
        if (count[c]) w->weight[c] = (double)rows / ((double)there * (double)count[c]);
    free(count);
    return MST_OK;
}

/* Writes "the names are 'cat', 'dog'; " to LIST, as many as fit; "" if classes have no names. */
static const char *list_names(const class_weights *w, char list[LIST_SIZE]) {
    size_t used = 0;
    *list = '\0';
    for (int64_t c = 0; c < w->count; c++) {
        const char *name = class_names_at(w->names, c);
        if (!name) return list;
        const bool more = used + strlen(name) + 16 > LIST_SIZE;
        used += (size_t)sprintf(list + used, "%s%s%s%s", c ? ", " : "the names are ", more ? "..." : "'",
                                more ? "" : name, more ? "" : "'");
        if (more) break;
    }
    sprintf(list + used, "; ");
    return list;
}

/* Finds the class that WORD gives by its name or number. */
static mst_status find_class(const class_weights *w, const char *word, int64_t *out) {
    double number;
    for (int64_t c = 0; c < w->count; c++) {
        const char *name = class_names_at(w->names, c);
        *out = c;
        if (name && strcmp(name, word) == 0) return MST_OK;
    }
    if (mst_number_parse_f64(word, &number) && number >= 0 && number < w->count) {
        *out = (int64_t)number;
        if ((double)*out == number) return MST_OK;
    }
    char list[LIST_SIZE];
    return MST_FAIL(MST_INVALID, "--class-weight: there is no class '%.64s': %snumbers are from 0 to %d", word,
                    list_names(w, list), w->count - 1);
}

/* Reads ITEM, the I-th of a list: "5" or "cat=5". */
static mst_status read_item(const class_weights *w, char *item, int i, bool *named) {
    int64_t class = i;
    char *equals = strrchr(item, '='), *number = equals ? equals + 1 : item;
    double value;
    if (i > 0 && *named != (equals != NULL))
        return MST_FAIL(MST_INVALID, "--class-weight: '%.64s': give all classes with a name, or none", item);
    *named = equals != NULL;
    if (!mst_number_parse_f64(number, &value) || !(value >= 0 && value <= 1e9))
        return MST_FAIL(MST_INVALID, "--class-weight: '%.64s' is no weight: write balanced, 1,5 or cat=5,dog=2",
                        number);
    if (equals) {
        *equals = '\0';
        MST_TRY(find_class(w, item, &class));
    }
    if (class < w->count) w->weight[class] = value;
    return MST_OK;
}

/* Copies the item of a list at AT to ITEM. *REST becomes the beginning of the next item, or the end of the list. */
static mst_status cut_item(const char *at, char item[LONGEST], const char **rest) {
    const size_t size = strcspn(at, ",");
    if (size >= LONGEST) return MST_FAIL(MST_INVALID, "--class-weight: '%.20s...' is too long", at);
    snprintf(item, LONGEST, "%.*s", (int)size, at);
    *rest = at + size;
    return MST_OK;
}

static mst_status read_list(const char *text, const class_weights *w) {
    char item[LONGEST];
    bool named = false;
    int count = 0;
    for (const char *at = text;; at++) {
        MST_TRY(cut_item(at, item, &at));
        MST_TRY(read_item(w, item, count++, &named));
        if (!*at) break;
    }
    if (named || count == w->count) return MST_OK;
    return MST_FAIL(MST_INVALID, "--class-weight %s: %d weights, and there are %d classes", text, count, w->count);
}

/* The weights of output I. If they do not exist yet, they are made, and all are 1. */
static mst_status weights_of(training *t, int i, class_weights *out) {
    const objective *o = &t->objective[i];
    if (!objective_has_classes(o))
        return MST_FAIL(MST_INVALID,
                        "--class-weight is for examples of one class each, which --loss %s%s%s does not have here",
                        o->output && t->num_objectives > 1 ? o->output : "",
                        o->output && t->num_objectives > 1 ? "=" : "", mst_loss_name(o->loss));
    if (!t->class_weight[i]) {
        const int count = o->outputs == 1 ? 2 : (int)o->outputs;
        if (!(t->class_weight[i] = malloc((size_t)count * sizeof(double))))
            return MST_NO_MEMORY("for the weights of classes");
        for (int c = 0; c < count; c++) t->class_weight[i][c] = 1;
        t->num_class_weights[i] = count;
    }
    *out = (class_weights){t->class_weight[i], t->num_class_weights[i], o->names};
    return MST_OK;
}

/* Reads an item with the name of an output: "kind=balanced" or "kind=2=0.5". */
static mst_status read_item_of_output(training *t, char *item) {
    char name[LONGEST + 1], *equals = strchr(item, '=');
    const char *rest;
    class_weights w;
    bool named;
    int i;
    if (!equals)
        return MST_FAIL(MST_INVALID,
                        "--class-weight %s: the model has several outputs: write balanced, OUTPUT=balanced or "
                        "OUTPUT=CLASS=5",
                        item);
    snprintf(name, sizeof name, "%.*s=", (int)(equals - item), item);
    MST_TRY(objective_item("class-weight", name, t->objective, t->num_objectives, &i, &rest));
    MST_TRY(weights_of(t, i, &w));
    if (strcmp(equals + 1, "balanced") == 0) return balance(t, i, &w);
    if (!strchr(equals + 1, '='))
        return MST_FAIL(MST_INVALID, "--class-weight %s: write OUTPUT=balanced or OUTPUT=CLASS=5", item);
    return read_item(&w, equals + 1, 0, &named);
}

static mst_status balance_all(training *t) {
    bool some = false;
    class_weights w;
    for (int i = 0; i < t->num_objectives; i++) {
        if (!objective_has_classes(&t->objective[i])) continue;
        some = true;
        MST_TRY(weights_of(t, i, &w));
        MST_TRY(balance(t, i, &w));
    }
    return some ? MST_OK : weights_of(t, 0, &w);
}

mst_status class_weights_read(const char *text, training *t) {
    char item[LONGEST];
    class_weights w;
    if (!text) return MST_OK;
    if (strcmp(text, "balanced") == 0) return balance_all(t);
    if (t->num_objectives == 1) {
        MST_TRY(weights_of(t, 0, &w));
        return read_list(text, &w);
    }
    for (const char *at = text;; at++) {
        MST_TRY(cut_item(at, item, &at));
        MST_TRY(read_item_of_output(t, item));
        if (!*at) return MST_OK;
    }
}

void class_weights_compile(const training *t, mst_compile_options *out) {
    out->class_weight = t->num_objectives == 1 ? t->class_weight[0] : NULL;
    out->num_class_weights = t->num_objectives == 1 ? t->num_class_weights[0] : 0;
    for (int i = 0; i < t->num_objectives && t->num_objectives > 1; i++) {
        out->target[i].class_weight = t->class_weight[i];
        out->target[i].num_class_weights = t->num_class_weights[i];
    }
}
