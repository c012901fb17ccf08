/* A folder of checkpoints: all of them are checked, and the newest one without damage is shown. */
#include <string.h>

#include "inspect/inspector.h"
#include "train/checkpoint_file.h"

static mst_status read_list(const char *path, mst_checkpoint_list *out) {
    mst_folder folder;
    *out = (mst_checkpoint_list){.item = NULL};
    MST_TRY(mst_folder_open(path, &folder));
    const mst_status status = mst_checkpoint_list_read(&folder, out);
    mst_folder_close(&folder);
    return status;
}

static mst_inspect_match inspect_checkpoint_folder_knows(const mst_inspect_source *s) {
    mst_checkpoint_list list = {0};
    const bool found = s->is_folder && read_list(s->path, &list) == MST_OK && list.count > 0;
    mst_checkpoint_list_free(&list);
    return found ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

/* Checks and prints a checkpoint. Returns whether it exists without damage. */
static bool print_item(mst_report *r, const mst_checkpoint_item *item) {
    char shown[MST_REPORT_NAME], step[48] = "";
    const int64_t before = r->num_damage;
    const char *name = item->name;
    const bool there = mst_checkpoint_is_there(item->path);
    const mst_status status = there ? mst_report_checkpoint(r, item->path, false) : MST_OK;
    if (status) mst_report_damage(r, status);
    const bool good = there && r->num_damage == before;
    const char *state = good ? "good" : there ? "damaged" : "missing, the state file names it";
    if (item->step >= 0) snprintf(step, sizeof step, "step %lld, ", (long long)item->step);
    mst_report_line(r, "%-24s %s%s", mst_report_name(name, strlen(name), shown), step, state);
    json_t *object = mst_report_item(r, "checkpoints");
    mst_report_set(r, object, "name", mst_report_string(name, strlen(name)));
    if (item->step >= 0) mst_report_set(r, object, "step", json_integer(item->step));
    mst_report_set(r, object, "good", json_boolean(good));
    mst_report_set(r, object, "in_state_file", json_boolean(item->in_state));
    return good;
}

static mst_status inspect_checkpoint_folder_print(const mst_inspect_source *source, mst_report *report) {
    mst_checkpoint_list list;
    const mst_checkpoint_item *newest = NULL;
    mst_status status = read_list(source->path, &list);
    mst_report_title(report, "folder of checkpoints", "%lld", (long long)list.count);
    for (int64_t i = 0; !status && i < list.count; i++)
        if (print_item(report, &list.item[i])) newest = &list.item[i];
    if (newest) {
        mst_report inner = {.path = newest->path, .text = report->text, .json = json_object(), .damage = json_array()};
        status = mst_report_checkpoint(&inner, newest->path, true);
        mst_report_set(report, NULL, "newest", inner.json);
        json_decref(inner.damage); /* empty: this checkpoint has just been checked */
    }
    mst_checkpoint_list_free(&list);
    return status;
}

const mst_inspector mst_inspector_checkpoint_folder = {.name = "folder of checkpoints",
                                                       .knows = inspect_checkpoint_folder_knows,
                                                       .print = inspect_checkpoint_folder_print};
