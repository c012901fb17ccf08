#include "cli/model/positive_class.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/json_events.h"
#include "cli/model/class_names.h"

enum { ITEM_SIZE = 512, CLASS_TEXT = CLASS_NAME_TEXT + 2 };

static int64_t num_classes(const objective *o) {
    if (!objective_has_classes(o)) return 0;
    return o->outputs == 1 ? 2 : o->outputs;
}

/* ---- choosing ---- */

static mst_status find_class(const objective *o, const char *word, int64_t *out) {
    double number;
    char shown[CLASS_NAME_TEXT];
    const int64_t count = num_classes(o);
    for (*out = 0; *out < count; ++*out) {
        const char *name = class_names_at(o->names, *out);
        if (name && strcmp(name, word) == 0) return MST_OK;
    }
    if (mst_number_parse_f64(word, &number) && number >= 0 && number < (double)count) {
        *out = (int64_t)number;
        if ((double)*out == number) return MST_OK;
    }
    if (!count)
        return MST_FAIL(MST_INVALID,
                        "--positive %s: is for one class an example, which this model with --loss %s does not give: "
                        "leave --positive out",
                        word, mst_loss_name(o->loss));
    const char *last = class_names_at(o->names, count - 1);
    return MST_FAIL(MST_INVALID,
                    "--positive: there is no class '%.64s': classes are numbered from 0 to %" PRId64 "%s%s%s", word,
                    count - 1, last ? ", and the last is called '" : "", last ? class_name_shown(last, shown) : "",
                    last ? "'" : "");
}

/* Sets the class that ITEM names for its output; if ITEM names no output, for every output that has classes. */
static mst_status take_item(const char *item, objective *list, int n) {
    const char *word;
    int place = -1, taken = 0;
    int64_t class;
    if (n > 1)
        MST_TRY(objective_item("positive", item, list, n, &place, &word));
    else
        word = item; /* all of the item is a name, which has a '=' in it */
    for (int i = 0; i < n; i++) {
        if (place >= 0 ? place != i : n > 1 && !num_classes(&list[i])) continue;
        MST_TRY(find_class(&list[i], word, &class));
        list[i].positive = MST_CLASS(class);
        taken++;
    }
    return taken ? MST_OK : find_class(list, word, &class);
}

mst_status positive_class_choose(const char *text, objective *list, int n) {
    char item[ITEM_SIZE];
    for (int i = 0; i < n; i++) list[i].positive = num_classes(&list[i]) == 2 ? MST_CLASS(1) : 0;
    if (text && n == 1) return take_item(text, list, n);
    for (const char *at = text; at;) {
        const size_t size = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        MST_TRY(take_item(item, list, n));
        at = at[size] ? at + size + 1 : NULL;
    }
    return MST_OK;
}

/* ---- telling ---- */

bool positive_class_counts(mst_metric metric) {
    static const mst_metric all[] = {MST_METRIC_PRECISION, MST_METRIC_RECALL, MST_METRIC_F1, MST_METRIC_AUC,
                                     MST_METRIC_PR_AUC};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == metric) return true;
    return false;
}

static int count_metrics(const objective *o) {
    int count = 0;
    for (int m = 0; o->positive && m < MST_MAX_METRICS && o->metric[m]; m++)
        count += positive_class_counts(o->metric[m]);
    return count;
}

/* The positive class of O as text: "'rare'", or "1" if classes have no names. */
static const char *class_text(const objective *o, char text[CLASS_TEXT]) {
    const int64_t class = o->positive - 1;
    const char *name = class_names_at(o->names, class);
    char shown[CLASS_NAME_TEXT];
    if (name)
        snprintf(text, CLASS_TEXT, "'%s'", class_name_shown(name, shown));
    else
        snprintf(text, CLASS_TEXT, "%" PRId64, class);
    return text;
}

void positive_class_print(const objective *list, int n) {
    for (int i = 0; i < n; i++) {
        const objective *o = &list[i];
        const int count = count_metrics(o);
        char text[CLASS_TEXT];
        for (int m = 0, k = 0; k < count; m++) {
            if (!positive_class_counts(o->metric[m])) continue;
            printf("%s%s%s%s", k == 0 || k + 1 < count ? ", " : " and ", n > 1 && k == 0 ? o->output : "",
                   n > 1 && k == 0 ? " " : "", mst_metric_name(o->metric[m]));
            k++;
        }
        if (count) printf(" of class %s", class_text(o, text));
    }
}

static json_t *class_json(const objective *o) {
    const char *name = class_names_at(o->names, o->positive - 1);
    return name ? json_text(name) : json_integer(o->positive - 1);
}

void positive_class_add(json_t **event, const objective *list, int n) {
    json_t *all = json_object();
    for (int i = 0; i < n; i++) {
        if (!count_metrics(&list[i])) continue;
        if (n == 1)
            json_add(event, "", "positive", class_json(list));
        else
            json_object_set_new(all, list[i].output, class_json(&list[i]));
    }
    if (json_object_size(all))
        json_add(event, "", "positive", all);
    else
        json_decref(all);
}
