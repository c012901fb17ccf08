#include "cli/train/class_weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"

enum { LONGEST = 256, LIST_SIZE = 512, MOST_CLASSES = 1000000 };

/* As scikit-learn's class_weight="balanced": n / (classes that there are * examples of the class). */
static mst_status balance(training *t) {
    int64_t *count, num, rows = 0, there = 0;
    MST_TRY(objective_count(t->objective->loss, t->train, t->objective->component, MOST_CLASSES, &count, &num));
    for (int64_t c = 0; c < num; c++) {
        rows += count[c];
        there += count[c] > 0;
    }
    for (int64_t c = 0; c < num && c < t->num_class_weights; c++)
        if (count[c]) t->class_weight[c] = (double)rows / ((double)there * (double)count[c]);
    free(count);
    return MST_OK;
}

/* "the names are 'cat', 'dog'; ", as far as they have room; "" where classes have none. */
static const char *list_names(const training *t, char list[LIST_SIZE]) {
    size_t used = 0;
    *list = '\0';
    for (int64_t c = 0; c < t->num_class_weights; c++) {
        const char *name = class_names_at((const char *const *)t->names, c);
        if (!name) return list;
        const bool more = used + strlen(name) + 16 > LIST_SIZE;
        used += (size_t)sprintf(list + used, "%s%s%s%s", c ? ", " : "the names are ", more ? "..." : "'",
                                more ? "" : name, more ? "" : "'");
        if (more) break;
    }
    sprintf(list + used, "; ");
    return list;
}

/* The class that WORD stands for: by its name, or its number. */
static mst_status find_class(const training *t, const char *word, int64_t *out) {
    double number;
    for (int64_t c = 0; c < t->num_class_weights; c++) {
        const char *name = class_names_at((const char *const *)t->names, c);
        *out = c;
        if (name && strcmp(name, word) == 0) return MST_OK;
    }
    if (mst_number_parse_f64(word, &number) && number >= 0 && number < t->num_class_weights) {
        *out = (int64_t)number;
        if ((double)*out == number) return MST_OK;
    }
    char list[LIST_SIZE];
    return MST_FAIL(MST_INVALID, "--class-weight: there is no class '%.64s': %snumbers are from 0 to %d", word,
                    list_names(t, list), t->num_class_weights - 1);
}

/* "5", "cat=5": the I-th of a list. */
static mst_status read_item(training *t, char *item, int i, bool *named) {
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
        MST_TRY(find_class(t, item, &class));
    }
    if (class < t->num_class_weights) t->class_weight[class] = value;
    return MST_OK;
}

static mst_status read_list(const char *text, training *t) {
    char item[LONGEST];
    bool named = false;
    int count = 0;
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        if (size >= sizeof item) return MST_FAIL(MST_INVALID, "--class-weight: '%.20s...' is too long", at);
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        MST_TRY(read_item(t, item, count++, &named));
        at += size;
        if (!*at) break;
    }
    if (named || count == t->num_class_weights) return MST_OK;
    return MST_FAIL(MST_INVALID, "--class-weight %s: %d weights, and there are %d classes", text, count,
                    t->num_class_weights);
}

mst_status class_weights_read(const char *text, training *t) {
    if (!text) return MST_OK;
    if (!objective_has_classes(t->objective))
        return MST_FAIL(MST_INVALID, "--class-weight is for examples of classes, which --loss %s does not have",
                        mst_loss_name(t->objective->loss));
    const int64_t outputs = t->objective->outputs;
    t->num_class_weights = outputs == 1 ? 2 : (int)outputs;
    t->class_weight = malloc((size_t)t->num_class_weights * sizeof *t->class_weight);
    if (!t->class_weight) return MST_NO_MEMORY("for the weights of classes");
    for (int c = 0; c < t->num_class_weights; c++) t->class_weight[c] = 1;
    return strcmp(text, "balanced") == 0 ? balance(t) : read_list(text, t);
}
