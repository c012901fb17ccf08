/* Hyperparameters for TensorBoard's plugin. A run writes an event with their values when it starts, and an event with
 * its outcome when it ends. A folder of runs may have one event with the columns of the table, which are
 * hyperparameters and metrics. Runs with the same values form a group, whose name is a hash of the values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "summary/writer.h"

enum { HASH_TEXT = 20 };

static mst_entry *entry_of(mst_summary_writer *writer, const char *tag, const Muster__HParamsPluginData *proto) {
    mst_entry *entry = mst_entry_create(writer, MST_ENTRY_HPARAMS, tag, 0);
    if (!entry) return NULL;
    entry->size = muster__hparams_plugin_data__get_packed_size(proto);
    entry->data = malloc(entry->size + 1);
    if (!entry->data) {
        mst_summary_fail(writer, MST_NO_MEMORY("for hyperparameters"));
        mst_entry_free(entry);
        return NULL;
    }
    muster__hparams_plugin_data__pack(proto, entry->data);
    return entry;
}

/* FNV-1a, for the name of a group: runs with the same hyperparameters get the same name. */
static uint64_t hash(uint64_t seed, const char *text) {
    for (; *text; text++) seed = (seed ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (seed ^ 0xff) * UINT64_C(0x100000001b3);
}

static void name_group(const mst_hparam *hparams, int count, char *name) {
    uint64_t sum = 0; /* a sum, so that the order does not matter */
    for (int i = 0; i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%a", hparams[i].number);
        sum += hash(hash(UINT64_C(0xcbf29ce484222325), hparams[i].name), hparams[i].text ? hparams[i].text : number);
    }
    snprintf(name, HASH_TEXT, "%016" PRIx64, sum);
}

typedef struct parameter {
    Muster__SessionStartInfo__HparamsEntry entry;
    Muster__HparamValue value;
} parameter;

static void hparams_fill(const mst_hparam *from, parameter *to) {
    muster__session_start_info__hparams_entry__init(&to->entry);
    muster__hparam_value__init(&to->value);
    to->entry.key = (char *)(uintptr_t)from->name;
    to->entry.value = &to->value;
    to->value.kind_case =
        from->text ? MUSTER__HPARAM_VALUE__KIND_STRING_VALUE : MUSTER__HPARAM_VALUE__KIND_NUMBER_VALUE;
    if (from->text)
        to->value.string_value = (char *)(uintptr_t)from->text;
    else
        to->value.number_value = from->number;
}

static void push_start(mst_summary_writer *writer, const mst_hparam *hparams, int count, parameter *parameters,
                       Muster__SessionStartInfo__HparamsEntry **list) {
    char group[HASH_TEXT];
    Muster__HParamsPluginData data = MUSTER__HPARAMS_PLUGIN_DATA__INIT;
    Muster__SessionStartInfo start = MUSTER__SESSION_START_INFO__INIT;
    for (int i = 0; i < count; i++) {
        hparams_fill(&hparams[i], &parameters[i]);
        list[i] = &parameters[i].entry;
    }
    name_group(hparams, count, group);
    start.n_hparams = (size_t)count;
    start.hparams = list;
    start.group_name = group;
    data.session_start_info = &start;
    start.start_time_secs = mst_clock_wall();
    mst_entry *entry = entry_of(writer, "_hparams_/session_start_info", &data);
    if (!entry) return;
    mst_summary_push(writer, entry, entry->size);
    mst_summary_has_hparams(writer);
}

void mst_summary_hparams(mst_summary_writer *writer, const mst_hparam *hparams, int num_hparams) {
    if (MST_IS_NULL(writer) || num_hparams <= 0) return;
    mst_status status = MST_IS_NULL(hparams) ? MST_INVALID : MST_OK;
    for (int i = 0; i < num_hparams && !status; i++)
        if (!hparams[i].name) status = MST_FAIL(MST_INVALID, "summary: hyperparameter %d has no name", i);
    parameter *parameters = calloc((size_t)num_hparams, sizeof *parameters);
    Muster__SessionStartInfo__HparamsEntry **list = calloc((size_t)num_hparams, sizeof(void *));
    if (!status && (!parameters || !list)) status = MST_NO_MEMORY("for hyperparameters");
    if (status)
        mst_summary_fail(writer, status);
    else
        push_start(writer, hparams, num_hparams, parameters, list);
    free(parameters);
    free(list);
}

/* ---- columns ---- */

typedef struct columns {
    Muster__HParamInfo *hparam;
    Muster__HParamInfo **hparams;
    Muster__MetricInfo *metric;
    Muster__MetricName *name;
    Muster__MetricInfo **metrics;
} columns;

static void fill_columns(const columns *c, const mst_hparam *hparams, int num_hparams, const mst_hparam_metric *metrics,
                         int num_metrics) {
    for (int i = 0; i < num_hparams; i++) {
        Muster__HParamInfo *info = c->hparams[i] = &c->hparam[i];
        muster__hparam_info__init(info);
        info->name = (char *)(uintptr_t)hparams[i].name;
        info->type = hparams[i].text ? MUSTER__HPARAM_INFO__DATA_TYPE__STRING : MUSTER__HPARAM_INFO__DATA_TYPE__FLOAT64;
    }
    for (int i = 0; i < num_metrics; i++) {
        Muster__MetricInfo *info = c->metrics[i] = &c->metric[i];
        muster__metric_info__init(info);
        muster__metric_name__init(&c->name[i]);
        c->name[i].group = (char *)(uintptr_t)(metrics[i].group ? metrics[i].group : "");
        c->name[i].tag = (char *)(uintptr_t)metrics[i].tag;
        info->name = &c->name[i];
        info->display_name = (char *)(uintptr_t)(metrics[i].title ? metrics[i].title : "");
        info->dataset_type = metrics[i].validation ? MUSTER__METRIC_INFO__DATASET_TYPE__VALIDATION
                                                   : MUSTER__METRIC_INFO__DATASET_TYPE__TRAINING;
    }
}

static void push_columns(mst_summary_writer *writer, const columns *c, int num_hparams, int num_metrics) {
    Muster__HParamsPluginData data = MUSTER__HPARAMS_PLUGIN_DATA__INIT;
    Muster__HParamsExperiment experiment = MUSTER__HPARAMS_EXPERIMENT__INIT;
    experiment.n_hparam_infos = (size_t)num_hparams;
    experiment.hparam_infos = c->hparams;
    experiment.n_metric_infos = (size_t)num_metrics;
    experiment.metric_infos = c->metrics;
    data.experiment = &experiment;
    mst_entry *entry = entry_of(writer, "_hparams_/experiment", &data);
    if (entry) mst_summary_push(writer, entry, entry->size);
}

void mst_summary_hparams_columns(mst_summary_writer *writer, const mst_hparam *hparams, int num_hparams,
                                 const mst_hparam_metric *metrics, int num_metrics) {
    if (MST_IS_NULL(writer) || num_hparams < 0 || num_metrics < 0) return;
    const size_t h = (size_t)num_hparams + 1, m = (size_t)num_metrics + 1;
    mst_status status = MST_OK;
    for (int i = 0; i < num_hparams && !status; i++)
        if (!hparams[i].name) status = MST_FAIL(MST_INVALID, "summary: hyperparameter %d has no name", i);
    for (int i = 0; i < num_metrics && !status; i++)
        if (!metrics[i].tag) status = MST_FAIL(MST_INVALID, "summary: metric %d of the hyperparameters has no tag", i);
    const columns c = {calloc(h, sizeof *c.hparam), calloc(h, sizeof *c.hparams), calloc(m, sizeof *c.metric),
                       calloc(m, sizeof *c.name), calloc(m, sizeof *c.metrics)};
    if (!status && !(c.hparam && c.hparams && c.metric && c.name && c.metrics))
        status = MST_NO_MEMORY("for hyperparameters");
    if (status) {
        mst_summary_fail(writer, status);
    } else {
        fill_columns(&c, hparams, num_hparams, metrics, num_metrics);
        push_columns(writer, &c, num_hparams, num_metrics);
    }
    free(c.hparam);
    free(c.hparams);
    free(c.metric);
    free(c.name);
    free(c.metrics);
}

mst_entry *mst_hparams_end(mst_summary_writer *writer, bool failed) {
    Muster__HParamsPluginData data = MUSTER__HPARAMS_PLUGIN_DATA__INIT;
    Muster__SessionEndInfo end = MUSTER__SESSION_END_INFO__INIT;
    end.status = failed ? MUSTER__SESSION_END_INFO__STATUS__FAILURE : MUSTER__SESSION_END_INFO__STATUS__SUCCESS;
    data.session_end_info = &end;
    end.end_time_secs = mst_clock_wall();
    return entry_of(writer, "_hparams_/session_end_info", &data);
}
