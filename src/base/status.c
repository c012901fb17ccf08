#include "base/escape.h"
#include "base/failure.h"
#include "base/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_SIZE = 1024, NAME_SIZE = 256 };

static _Thread_local struct {
    mst_error_info info;
    char message[MESSAGE_SIZE];
    char node[NAME_SIZE];
    char device[NAME_SIZE];
    char task[NAME_SIZE];
    uint64_t count; /* number of errors recorded */
} record;

const mst_error_info *mst_error(void) {
    record.info.message = record.message;
    record.info.node = record.node;
    record.info.device = record.device;
    record.info.task = record.task;
    if (!record.info.file) record.info.file = "";
    return &record.info;
}

const char *mst_status_name(mst_status code) {
    static const char *const name[MST_NUM_STATUS] = {
        "ok",      "invalid argument", "not found", "already there", "out of memory", "not implemented", "input/output",
        "corrupt", "not a number",     "cancelled", "deadline",      "unavailable",   "internal"};
    return (unsigned)code < MST_NUM_STATUS ? name[code] : "unknown";
}

/* Sets the message. It is one line, and may contain names and contents of files, which a terminal must not obey. */
static void set_message(const char message[MESSAGE_SIZE]) {
    memcpy(record.message, message, MESSAGE_SIZE);
    mst_make_plain(record.message);
}

mst_status mst_error_set(mst_status code, const char *file, int line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_error_set_list(code, file, line, format, list);
    va_end(list);
    return code;
}

mst_status mst_error_set_list(mst_status code, const char *file, int line, const char *format, va_list list) {
    char message[MESSAGE_SIZE] = ""; /* the arguments may point into the record */
    mst_format_list(message, sizeof message, format, list);
    set_message(message);
    record.info.code = code;
    record.info.file = file;
    record.info.line = line;
    record.count++;
    record.node[0] = record.device[0] = record.task[0] = '\0';
    return code;
}

uint64_t mst_error_count(void) {
    return record.count;
}

mst_status mst_error_complete(mst_status code, uint64_t before) {
    if (!code || (record.count != before && record.info.code == code)) return code;
    return MST_FAIL(code, "%s, without a message", mst_status_name(code));
}

mst_status mst_error_prefix(const char *format, ...) {
    char message[MESSAGE_SIZE] = "";
    va_list list;
    va_start(list, format);
    int used = mst_format_list(message, sizeof message, format, list);
    va_end(list);
    if (used < 0) used = 0;
    if ((size_t)used < sizeof message) snprintf(message + used, sizeof message - (size_t)used, ": %s", record.message);
    set_message(message);
    return record.info.code;
}

mst_status mst_error_at(const char *node, const char *device) {
    if (node) snprintf(record.node, sizeof record.node, "%s", node);
    mst_make_plain(record.node);
    if (device) {
        /* "/job:worker/replica:0/task:1/device:CPU:0": its task is the part before the device */
        const char *end = strstr(device, "/device:");
        snprintf(record.device, sizeof record.device, "%s", device);
        snprintf(record.task, sizeof record.task, "%.*s", end ? (int)(end - device) : 0, device);
        mst_make_plain(record.device);
        mst_make_plain(record.task);
    }
    return record.info.code;
}
