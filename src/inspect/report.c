/* Fills reports about files. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "inspect/inspector.h"
#include "inspect/statistics.h"

enum { KEPT_DAMAGE = 100 };

/* ---- text ---- */

/* Prints BEFORE and the formatted text as one line, whatever characters are in the names from the file. */
static void __attribute__((format(printf, 3, 0)))
print_line(mst_report *report, const char *before, const char *form, va_list arguments) {
    char *text;
    if (vasprintf(&text, form, arguments) < 0) {
        report->no_memory = true;
        return;
    }
    mst_make_plain(text);
    fprintf(report->text, "%s%s\n", before, text);
    free(text);
}

void mst_report_title(mst_report *report, const char *format, const char *form, ...) {
    va_list arguments;
    char *before;
    mst_report_set(report, NULL, "format", json_string(format));
    if (!report->text) return;
    if (asprintf(&before, "%s: %s%s", report->path, format, *form ? ", " : "") < 0) {
        report->no_memory = true;
        return;
    }
    mst_make_plain(before);
    va_start(arguments, form);
    print_line(report, before, form, arguments);
    va_end(arguments);
    free(before);
}

void mst_report_line(mst_report *report, const char *form, ...) {
    va_list arguments;
    if (!report->text) return;
    va_start(arguments, form);
    print_line(report, "  ", form, arguments);
    va_end(arguments);
}

const char *mst_report_name(const char *data, size_t size, char text[MST_REPORT_NAME]) {
    return mst_escape_line(data, size, text, MST_REPORT_NAME);
}

/* ---- JSON ---- */

void mst_report_set(mst_report *report, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object ? object : report->json, key, value)) report->no_memory = true;
}

json_t *mst_report_item(mst_report *report, const char *key) {
    json_t *item = json_object();
    if (!json_object_get(report->json, key)) mst_report_set(report, NULL, key, json_array());
    if (json_array_append_new(json_object_get(report->json, key), item)) report->no_memory = true;
    return item;
}

json_t *mst_report_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *mst_report_string(const char *data, size_t size) {
    json_t *string = json_stringn(data, size);
    char *text = string ? NULL : malloc(size * (MST_ESCAPE_TEXT - 1) + 1);
    if (!text) return string;
    size_t used = 0;
    for (size_t taken; size; data += taken, size -= taken) {
        taken = mst_escape(data, size, text + used);
        used += strlen(text + used);
    }
    string = json_stringn(text, used);
    free(text);
    return string;
}

json_t *mst_report_shape(mst_shape shape) {
    json_t *list = json_array();
    for (int i = 0; i < shape.ndim; i++) json_array_append_new(list, json_integer(shape.dim[i]));
    return list;
}

/* ---- tensors ---- */

json_t *mst_report_tensor(mst_report *report, const char *name, const mst_tensor *tensor, const char *note) {
    char shown[MST_REPORT_NAME], shape[MST_SHAPE_TEXT], numbers[MST_STATISTICS_TEXT] = "";
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    json_t *item = mst_report_item(report, "tensors");
    mst_report_set(report, item, "name", mst_report_string(name, strlen(name)));
    mst_report_set(report, item, "dtype", json_string(mst_dtype_name(dtype)));
    mst_report_set(report, item, "shape", mst_report_shape(mst_tensor_shape(tensor)));
    if (dtype != MST_STRING) {
        mst_statistics s = MST_STATISTICS;
        for (int64_t i = 0, n = mst_tensor_count(tensor); i < n; i++) mst_statistics_add(&s, mst_tensor_get(tensor, i));
        mst_report_statistics(report, item, &s);
        mst_statistics_print(&s, numbers);
    }
    mst_report_line(report, "%-24s %s %s%s%s", mst_report_name(name, strlen(name), shown), mst_dtype_name(dtype),
                    mst_shape_print(mst_tensor_shape(tensor), shape, sizeof shape), numbers, note);
    return item;
}

/* ---- damage ---- */

void mst_report_damage(mst_report *report, mst_status status) {
    if (!strstr(mst_error()->message, report->path)) status = mst_error_prefix("'%s'", report->path);
    const char *message = mst_error()->message;
    if (report->num_damage++ == 0) mst_failure_keep(&report->first, status);
    if (report->num_damage <= KEPT_DAMAGE &&
        json_array_append_new(report->damage, mst_report_string(message, strlen(message))))
        report->no_memory = true;
}
