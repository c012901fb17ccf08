#include "cluster/task_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire_number.h"

static const char magic[4] = {'M', 'S', 'T', 'P'};
static const uint32_t VERSION = 2;

static void put_text(unsigned char *at, const char *text, size_t bytes) {
    if (bytes) memcpy(at, text, bytes);
}

void *mst_task_report_encode(const mst_task_report *r, size_t *bytes) {
    *bytes = MST_TASK_REPORT_HEAD + r->whom_bytes + r->tasks_bytes + r->devices_bytes;
    unsigned char *data = malloc(*bytes), *at = data;
    if (!data) return NULL;
    memcpy(at, magic, sizeof magic);
    at = mst_put_number(at + sizeof magic, VERSION, 4);
    at = mst_put_number(at, r->doing, 4);
    at = mst_put_number(at, (uint32_t)r->self, 4);
    const int64_t numbers[] = {r->step, r->examples, r->elapsed, r->data, r->wait};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) at = mst_put_number(at, (uint64_t)numbers[i], 8);
    at = mst_put_number(at, r->whom_bytes, 8);
    at = mst_put_number(at, r->tasks_bytes, 8);
    at = mst_put_number(at, r->sessions, 8);
    at = mst_put_number(at, r->devices_bytes, 8);
    put_text(at, r->whom, r->whom_bytes);
    put_text(at + r->whom_bytes, r->tasks, r->tasks_bytes);
    put_text(at + r->whom_bytes + r->tasks_bytes, r->devices, r->devices_bytes);
    return data;
}

/* Whether TEXT has no control characters, which a terminal would obey. LINES: newlines are allowed. */
static bool is_plain(const char *text, size_t bytes, bool lines) {
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && !(lines && c == '\n')) || c == 0x7f) return false;
    }
    return true;
}

/* The number of lines; -1 if the last one has no end, or if a line has no space. */
static int64_t count_lines(const char *text, size_t bytes) {
    int64_t count = 0;
    for (const char *end = text + bytes, *next; text < end; text = next, count++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop || !memchr(text, ' ', (size_t)(stop - text))) return -1;
        next = stop + 1;
    }
    return count;
}

static bool are_numbers_right(const mst_task_report *r) {
    return r->step >= -1 && r->examples >= -1 && r->elapsed >= 0 && r->data >= -1 && r->data <= r->elapsed &&
           r->wait >= 0 && r->wait <= r->elapsed;
}

/* Reads the number at *TEXT, which ends before END with a space behind it, and sets *TEXT to what follows the space. */
static bool read_device_bytes(const char **text, const char *end, int64_t *out) {
    const char *at = *text;
    for (*out = 0; at < end && *at >= '0' && *at <= '9' && *out < INT64_MAX / 16; at++) *out = 10 * *out + (*at - '0');
    if (at == *text || at == end || *at != ' ') return false;
    *text = at + 1;
    return true;
}

bool mst_task_report_device(const mst_task_report *r, size_t *at, mst_task_device *out) {
    if (*at >= r->devices_bytes) return false;
    const char *line = r->devices + *at, *end = memchr(line, '\n', r->devices_bytes - *at);
    const char *rest = end ? memchr(line, ' ', (size_t)(end - line)) : NULL;
    *out = (mst_task_device){.in_use = 0};
    if (!rest) return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(rest - line), line);
    rest++;
    if (!read_device_bytes(&rest, end, &out->in_use) || !read_device_bytes(&rest, end, &out->limit)) return false;
    snprintf(out->kind, sizeof out->kind, "%.*s", (int)(end - rest), rest);
    *at += (size_t)(end - line) + 1;
    return true;
}

static bool are_devices_right(const mst_task_report *r) {
    mst_task_device device;
    size_t at = 0;
    while (mst_task_report_device(r, &at, &device)) continue;
    return at == r->devices_bytes;
}

const char *mst_task_report_decode(const void *data, size_t size, mst_task_report *out) {
    static const char wrong[] = "what it says of itself makes no sense";
    const unsigned char *at = data;
    if (size < MST_TASK_REPORT_HEAD || memcmp(at, magic, sizeof magic) != 0) return "what it has sent is no report";
    at += sizeof magic;
    if (mst_get_number(&at, 4) != VERSION) return "it is of a version of Muster with another form of reports";
    const uint64_t doing = mst_get_number(&at, 4), self = mst_get_number(&at, 4);
    mst_task_report r = {.doing = (mst_task_doing)doing, .self = (int32_t)self};
    int64_t *const numbers[] = {&r.step, &r.examples, &r.elapsed, &r.data, &r.wait};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) *numbers[i] = (int64_t)mst_get_number(&at, 8);
    const uint64_t whom = mst_get_number(&at, 8), tasks = mst_get_number(&at, 8), sessions = mst_get_number(&at, 8),
                   devices = mst_get_number(&at, 8);
    if (doing >= MST_NUM_TASK_DOINGS || self > INT32_MAX || sessions > UINT32_MAX || !are_numbers_right(&r))
        return wrong;
    if (whom > MST_TASK_REPORT_WHOM || tasks > MST_TASK_REPORT_TASKS || devices > MST_TASK_REPORT_TASKS ||
        size != MST_TASK_REPORT_HEAD + whom + tasks + devices)
        return "the lengths in its report do not fit together";
    r.sessions = (uint32_t)sessions;
    r.whom = (const char *)at;
    r.whom_bytes = (size_t)whom;
    r.tasks = r.whom + whom;
    r.tasks_bytes = (size_t)tasks;
    r.devices = r.tasks + tasks;
    r.devices_bytes = (size_t)devices;
    if (!is_plain(r.whom, r.whom_bytes, false) || !is_plain(r.tasks, r.tasks_bytes, true) ||
        !is_plain(r.devices, r.devices_bytes, true))
        return wrong;
    if ((int64_t)self >= count_lines(r.tasks, r.tasks_bytes) || !are_devices_right(&r)) return wrong;
    *out = r;
    return NULL;
}

bool mst_task_report_next(const mst_task_report *r, size_t *at, char *name, char *address, size_t size) {
    if (*at >= r->tasks_bytes) return false;
    const char *line = r->tasks + *at, *end = memchr(line, '\n', r->tasks_bytes - *at);
    const char *space = memchr(line, ' ', (size_t)(end - line));
    snprintf(name, size, "%.*s", (int)(space - line), line);
    snprintf(address, size, "%.*s", (int)(end - space - 1), space + 1);
    *at += (size_t)(end - line) + 1;
    return true;
}
