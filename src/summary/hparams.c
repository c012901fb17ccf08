/* Hyperparameters: a run has an event when it starts, with their values, and one when it ends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
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

/* FNV-1a. Runs with the same hyperparameters are one group in TensorBoard: their group has a name made from them. */
static uint64_t hash(uint64_t seed, const char *text) {
    for (; *text; text++) seed = (seed ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (seed ^ 0xff) * UINT64_C(0x100000001b3);
}

static void name_group(const mst_hparam *hparams, int count, char *name) {
    uint64_t sum = 0; /* in any order */
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

static void fill(const mst_hparam *from, parameter *to) {
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
        fill(&hparams[i], &parameters[i]);
        list[i] = &parameters[i].entry;
    }
    name_group(hparams, count, group);
    start.n_hparams = (size_t)count;
    start.hparams = list;
    start.group_name = group;
    data.session_start_info = &start;
    start.start_time_secs = mst_wall_time();
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

mst_entry *mst_hparams_end(mst_summary_writer *writer, bool failed) {
    Muster__HParamsPluginData data = MUSTER__HPARAMS_PLUGIN_DATA__INIT;
    Muster__SessionEndInfo end = MUSTER__SESSION_END_INFO__INIT;
    end.status = failed ? MUSTER__SESSION_END_INFO__STATUS__FAILURE : MUSTER__SESSION_END_INFO__STATUS__SUCCESS;
    data.session_end_info = &end;
    end.end_time_secs = mst_wall_time();
    return entry_of(writer, "_hparams_/session_end_info", &data);
}
