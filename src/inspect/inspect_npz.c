#include <string.h>

#include "format/npz.h"
#include "inspect/inspector.h"
#include "inspect/statistics.h"

static mst_inspect_match inspect_npz_knows(const mst_inspect_source *s) {
    return s->size >= 4 && (memcmp(s->head, "PK\3\4", 4) == 0 || memcmp(s->head, "PK\5\6", 4) == 0) ? MST_INSPECT_SURE
                                                                                                    : MST_INSPECT_NO;
}

/* Reports an array of Python objects. Lists of integers are read, such as texts as word numbers. Other objects are not
 * read; that is not damage. */
static mst_status tell_objects(const mst_npz *npz, const char *name, mst_report *report) {
    char shown[MST_REPORT_NAME], numbers[MST_STATISTICS_TEXT];
    mst_integer_lists lists;
    mst_statistics s = MST_STATISTICS;
    const mst_status status = mst_npz_read_lists(npz, name, &lists);
    mst_report_name(name, strlen(name), shown);
    if (status && status != MST_UNIMPLEMENTED) return status;
    json_t *item = mst_report_item(report, "objects");
    mst_report_set(report, item, "name", mst_report_string(name, strlen(name)));
    mst_report_set(report, item, "is_read", json_boolean(!status));
    if (status) {
        mst_report_line(report, "%-24s objects of Python, not read: %s", shown, mst_error()->message);
        return MST_OK;
    }
    int64_t shortest = lists.num_lists ? INT64_MAX : 0, longest = 0;
    for (int64_t i = 0, begin = 0; i < lists.num_lists; begin = lists.end[i++]) {
        const int64_t length = lists.end[i] - begin;
        if (length < shortest) shortest = length;
        if (length > longest) longest = length;
        for (int64_t k = begin; k < lists.end[i]; k++) mst_statistics_add(&s, (double)lists.integer[k]);
    }
    mst_report_set(report, item, "count", json_integer(lists.num_lists));
    mst_report_set(report, item, "shortest", json_integer(shortest));
    mst_report_set(report, item, "longest", json_integer(longest));
    mst_report_statistics(report, item, &s);
    mst_report_line(report, "%-24s %lld lists of integers, %lld to %lld long%s", shown, (long long)lists.num_lists,
                    (long long)shortest, (long long)longest, mst_statistics_print(&s, numbers));
    mst_integer_lists_free(&lists);
    return MST_OK;
}

static mst_status tell_array(const mst_npz *npz, const char *name, mst_report *report) {
    mst_tensor *tensor;
    bool objects;
    MST_TRY(mst_npz_has_objects(npz, name, &objects));
    if (objects) return tell_objects(npz, name, report);
    MST_TRY(mst_npz_read(npz, name, &tensor));
    mst_report_tensor(report, name, tensor, "");
    mst_tensor_release(tensor);
    return MST_OK;
}

/* Reports all arrays, also those after a damaged one. */
static mst_status inspect_npz_print(const mst_inspect_source *source, mst_report *report) {
    mst_npz *npz;
    const mst_status opened = mst_npz_open(source->path, &npz);
    const int64_t count = opened ? 0 : mst_npz_num_arrays(npz);
    mst_report_title(report, "NPZ", "%lld array%s", (long long)count, count == 1 ? "" : "s");
    MST_TRY(opened);
    for (int64_t i = 0; i < count; i++) {
        const mst_status status = tell_array(npz, mst_npz_name(npz, i), report);
        if (status) mst_report_damage(report, status);
    }
    mst_npz_close(npz);
    return MST_OK;
}

const mst_inspector mst_inspector_npz = {
    .name = "NPZ", .suffixes = ".npz", .knows = inspect_npz_knows, .print = inspect_npz_print};
