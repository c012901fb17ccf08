#include "graph/device_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mst_device_name open_name = {.replica = -1, .task = -1, .index = -1};

static bool number(const char *text, int *out) {
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    long value = strtol(text, &end, 10);
    if (*end || value > MST_MOST_TASK) return false;
    *out = (int)value;
    return true;
}

static bool device_name_copy(char *to, const char *from, bool upper) {
    size_t length = strlen(from);
    if (length == 0 || length >= MST_DEVICE_PART) return false;
    for (size_t i = 0; i <= length; i++) to[i] = upper ? (char)toupper((unsigned char)from[i]) : from[i];
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)from[i]) && from[i] != '_' && from[i] != '-') return false;
    return true;
}

/* Reads TYPE or TYPE:INDEX. */
static bool parse_device(char *text, mst_device_name *out) {
    char *colon = strchr(text, ':');
    out->index = -1;
    if (colon) {
        *colon++ = '\0';
        if (strcmp(colon, "*") != 0 && !number(colon, &out->index)) return false;
    }
    return device_name_copy(out->type, text, true);
}

/* Whether TEXT is a type that is known everywhere. A word without an index could be anything, so it must be such a
 * type. */
static bool is_known_type(const char *text) {
    static const char *const types[] = {"cpu", "gpu", "tpu"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(text, types[i]) == 0) return true;
    return false;
}

/* Reads one "key:value" between slashes. In the short form the key is the device's type. */
static bool parse_part(char *part, mst_device_name *out) {
    char *colon = strchr(part, ':');
    size_t key = colon ? (size_t)(colon - part) : strlen(part);
    if (colon && key == 3 && strncasecmp(part, "job", key) == 0) return device_name_copy(out->job, colon + 1, false);
    if (colon && key == 7 && strncasecmp(part, "replica", key) == 0) return number(colon + 1, &out->replica);
    if (colon && key == 4 && strncasecmp(part, "task", key) == 0) return number(colon + 1, &out->task);
    if (colon && key == 6 && strncasecmp(part, "device", key) == 0) return parse_device(colon + 1, out);
    return (colon || is_known_type(part)) && parse_device(part, out);
}

mst_status mst_device_name_parse(const char *text, mst_device_name *out) {
    char copy_of[MST_DEVICE_TEXT];
    *out = open_name;
    if (!text || !*text) return MST_OK;
    size_t length = strlen(text);
    bool good = length < sizeof copy_of;
    if (good) {
        memcpy(copy_of, text, length + 1);
        char *rest = NULL;
        good = copy_of[strspn(copy_of, "/")] != '\0';
        for (char *part = strtok_r(copy_of, "/", &rest); part && good; part = strtok_r(NULL, "/", &rest))
            good = parse_part(part, out);
    }
    if (good) return MST_OK;
    *out = open_name;
    return MST_FAIL(MST_INVALID,
                    "device '%s' is no device name: write it like /gpu:0 or "
                    "/job:worker/replica:0/task:1/device:GPU:0",
                    text);
}

mst_status mst_device_name_of_task(const char *job, int64_t task, mst_device_name *out) {
    mst_device_name name = open_name;
    if (!device_name_copy(name.job, job, false))
        return MST_FAIL(MST_INVALID, "job '%.80s': a name has 1 to %d letters, digits, '_' or '-', such as worker", job,
                        MST_DEVICE_PART - 1);
    if (task < 0 || task > MST_MOST_TASK)
        return MST_FAIL(MST_INVALID, "task %lld of job '%s': tasks are counted from 0 to at most %d", (long long)task,
                        job, MST_MOST_TASK);
    name.replica = 0;
    name.task = (int)task;
    *out = name;
    return MST_OK;
}

void mst_device_name_merge(mst_device_name *name, const mst_device_name *inner) {
    if (*inner->job) memcpy(name->job, inner->job, sizeof name->job);
    if (inner->replica >= 0) name->replica = inner->replica;
    if (inner->task >= 0) name->task = inner->task;
    if (*inner->type) { /* if INNER has the same type and no index, the outer index stays */
        if (inner->index >= 0 || strcmp(name->type, inner->type) != 0) name->index = inner->index;
        memcpy(name->type, inner->type, sizeof name->type);
    }
}

void mst_device_name_fill(mst_device_name *name, const mst_device_name *defaults) {
    mst_device_name filled = *defaults;
    if (*name->job) filled.replica = filled.task = 0;
    mst_device_name_merge(&filled, name);
    if (filled.index < 0) filled.index = 0;
    *name = filled;
}

char *mst_device_name_print(const mst_device_name *name, char *text) {
    size_t used = 0;
    *text = '\0';
    if (*name->job) used += (size_t)snprintf(text + used, MST_DEVICE_TEXT - used, "/job:%s", name->job);
    if (name->replica >= 0) used += (size_t)snprintf(text + used, MST_DEVICE_TEXT - used, "/replica:%d", name->replica);
    if (name->task >= 0) used += (size_t)snprintf(text + used, MST_DEVICE_TEXT - used, "/task:%d", name->task);
    if (*name->type) used += (size_t)snprintf(text + used, MST_DEVICE_TEXT - used, "/device:%s", name->type);
    if (*name->type && name->index >= 0) snprintf(text + used, MST_DEVICE_TEXT - used, ":%d", name->index);
    return text;
}

bool mst_device_name_same_task(const mst_device_name *a, const mst_device_name *b) {
    return strcmp(a->job, b->job) == 0 && a->replica == b->replica && a->task == b->task;
}
