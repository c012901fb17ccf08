#include "cli/train/training_end.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/json_text.h"
#include "base/no_memory.h"

static const char note_name[] = ".muster.ended";
enum { NOTE_MOST = 1 << 12 };

mst_status training_end_write(const char *folder, const training_end *end) {
    mst_folder open;
    MST_TRY(mst_folder_open(folder, &open));
    json_t *json = json_pack("{s:I, s:I, s:I, s:b}", "step", (json_int_t)end->step, "steps", (json_int_t)end->steps,
                             "epochs", (json_int_t)end->epochs, "stopped_early", (int)end->stopped_early);
    char *text = json ? json_dumps(json, 0) : NULL;
    const mst_status status = text ? mst_file_write_in(&open, note_name, text, strlen(text))
                                   : MST_NO_MEMORY("for the note that training has ended");
    free(text);
    json_decref(json);
    mst_folder_close(&open);
    return status;
}

mst_status training_end_remove(const char *folder) {
    mst_folder open;
    bool there;
    MST_TRY(mst_folder_open(folder, &open));
    mst_status status = mst_file_is_there(&open, note_name, &there);
    if (!status && there) status = mst_file_remove_in(&open, note_name);
    mst_folder_close(&open);
    return status;
}

static json_t *read_note(const char *folder) {
    char *path;
    void *data;
    size_t size;
    if (asprintf(&path, "%s/%s", folder, note_name) < 0) return NULL;
    const mst_status status = mst_file_read(path, NOTE_MOST, &data, &size);
    free(path);
    if (status) return NULL;
    json_t *json = mst_json_read(data, size, NULL);
    free(data);
    return json;
}

bool training_end_read(const char *folder, training_end *out) {
    *out = (training_end){.step = 0};
    const file_stamp stamp = file_stamp_of(folder, note_name);
    json_t *json = file_stamp_is_set(stamp) ? read_note(folder) : NULL;
    if (!json_is_object(json)) {
        json_decref(json);
        return false;
    }
    *out = (training_end){.step = json_integer_value(json_object_get(json, "step")),
                          .steps = json_integer_value(json_object_get(json, "steps")),
                          .epochs = json_integer_value(json_object_get(json, "epochs")),
                          .stopped_early = json_is_true(json_object_get(json, "stopped_early")),
                          .stamp = stamp};
    json_decref(json);
    return true;
}
