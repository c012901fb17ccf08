#include "cli/model/objective_metrics.h"

#include <stdio.h>
#include <string.h>

#include "cli/model/metric_fit.h"
#include "cli/model/positive_class.h"

enum { ITEM_SIZE = 512 };

const char *objective_metric(int i) {
    return mst_metric_name((mst_metric)(i + 1)); /* + 1, because metric 0 is MST_METRIC_NONE */
}

const char *objective_metric_help(int i) {
    const mst_metric metric = (mst_metric)(i + 1);
    if (metric == MST_METRIC_TOP_K_ACCURACY || metric == MST_METRIC_SPARSE_TOP_K_CATEGORICAL_ACCURACY) return "k = 5";
    return positive_class_counts(metric) ? "of one class: --positive" : NULL;
}

static mst_status fail_metric(const char *name) {
    enum { LIST = 600 };
    char list[LIST] = "";
    for (int i = 0; objective_metric(i); i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", objective_metric(i));
    }
    return MST_FAIL(MST_INVALID, "--metrics: there is no metric '%s': use some of %s", name, list);
}

static mst_status add_metric(mst_metric metric, int most, int *count, objective *out) {
    if (!*count) memset(out->metric, 0, sizeof out->metric);
    if (*count == most) return MST_FAIL(MST_INVALID, "--metrics: at most %d", most);
    out->metric[(*count)++] = metric;
    return MST_OK;
}

/* Keras' names of metrics that have a shorter name in Muster. */
static const char *const keras_metrics[] = {
    "root_mean_squared_error", "rmse",      "r2_score",         "r2",        "mean_iou", "mean_io_u",
    "one_hot_mean_io_u",       "mean_io_u", "one_hot_mean_iou", "mean_io_u", NULL};

/* Finds the metric of NAME, in which hyphens become underscores. */
static mst_status find_metric(char *name, mst_metric *out) {
    const char *word = name;
    for (char *c = name; *c; c++)
        if (*c == '-') *c = '_';
    for (int i = 0; objective_short_losses[i]; i += 2)
        if (strcmp(objective_short_losses[i], name) == 0) word = objective_short_losses[i + 1];
    for (int i = 0; keras_metrics[i]; i += 2)
        if (strcmp(keras_metrics[i], name) == 0) word = keras_metrics[i + 1];
    if (!mst_metric_from_name(word, out)) return MST_OK;
    if (strstr(mst_error()->message, "did you mean")) return mst_error_prefix("--metrics");
    return fail_metric(name);
}

mst_status objective_check_metrics(const char *text) {
    char item[ITEM_SIZE];
    mst_metric metric;
    for (const char *at = text; at;) {
        const size_t size = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        char *equals = strrchr(item, '=');
        MST_TRY(find_metric(equals ? equals + 1 : item, &metric));
        at = at[size] ? at + size + 1 : NULL;
    }
    return MST_OK;
}

/* Adds METRIC to the objective at PLACE of LIST; if PLACE is below 0, to each objective that it fits. If it fits no
 * objective, fails if IS_GIVEN is true, and does nothing otherwise. */
static mst_status add_fitting(mst_metric metric, int place, bool is_given, int *count, objective *list, int n) {
    const int most = n > 1 ? MST_MAX_TARGET_METRICS : MST_MAX_METRICS - 1; /* - 1: MST_METRIC_NONE ends the list */
    mst_status refused = MST_OK;
    int added = 0;
    for (int i = n - 1; i >= 0; i--) { /* backwards, so that `refused` is in the end the error of the first output */
        if (place >= 0 && place != i) continue;
        const mst_status status = metric_fit_check(metric, &list[i]);
        if (status) refused = status;
        if (status && list[i].output && n > 1) refused = mst_error_prefix("output '%s'", list[i].output);
        if (status) continue;
        MST_TRY(add_metric(metric, most, &count[i], &list[i]));
        added++;
    }
    return added || !is_given ? MST_OK : refused;
}

mst_status objective_metrics(const char *text, bool is_given, objective *list, int n) {
    int count[MST_MAX_TARGETS] = {0}, place;
    char item[ITEM_SIZE];
    const char *name;
    mst_metric metric;
    if (!text) return MST_OK;
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        MST_TRY(objective_item("metrics", item, list, n, &place, &name));
        MST_TRY(find_metric(item + (name - item), &metric)); /* points to the same text as `name`, without const */
        MST_TRY(add_fitting(metric, place, is_given, count, list, n));
        at += size;
        if (!*at) return MST_OK;
    }
}
