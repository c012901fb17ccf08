#include "cli/model/output_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 4096, LIST_SIZE = 512 };

static mst_status take_file(const char *path, objective *o, class_names *own) {
    if (*own) return MST_FAIL(MST_INVALID, "--class-names: has two files for output '%s'", o->output);
    if (class_names_read(path, own)) return mst_error_prefix("--class-names");
    if (objective_check_names(o, path, class_names_count((const char *const *)*own)))
        return mst_error_prefix("output '%s'", o->output);
    o->names = (const char *const *)*own;
    return MST_OK;
}

/* Reads a file that was given without the name of an output. It is for the only output that has classes. */
static mst_status take_file_alone(const char *path, objective *list, int n, class_names *own) {
    char outputs[LIST_SIZE] = "", example[LIST_SIZE] = "";
    size_t used = 0, written = 0;
    int found = 0, only = 0;
    for (int i = 0; i < n; i++) {
        if (!objective_has_classes(&list[i])) continue;
        if (used < LIST_SIZE)
            used += (size_t)snprintf(outputs + used, LIST_SIZE - used, "%s'%s'", found ? ", " : "", list[i].output);
        if (written < LIST_SIZE)
            written +=
                (size_t)snprintf(example + written, LIST_SIZE - written, "%s%s=FILE", found ? "," : "", list[i].output);
        found++;
        only = i;
    }
    if (found == 1) return take_file(path, &list[only], &own[only]);
    if (found)
        return MST_FAIL(MST_INVALID, "--class-names %s: several outputs have classes, %s: write --class-names %s", path,
                        outputs, example);
    return MST_FAIL(MST_INVALID, "--class-names names classes, which no output of the model has: leave it out");
}

mst_status output_names_read(const char *text, objective *list, int n, class_names *own) {
    char item[LONGEST], name[LONGEST + 1];
    const char *rest;
    int place;
    if (!text) return MST_OK;
    if (!strchr(text, '=') || access(text, F_OK) == 0) return take_file_alone(text, list, n, own);
    for (const char *at = text; at;) {
        const size_t size = strcspn(at, ",");
        if (size >= LONGEST) return MST_FAIL(MST_INVALID, "--class-names: '%.20s...' is too long", at);
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        const char *equals = strchr(item, '=');
        if (!equals || !equals[1])
            return MST_FAIL(MST_INVALID, "--class-names: '%.64s': write OUTPUT=FILE,OUTPUT=FILE", item);
        snprintf(name, sizeof name, "%.*s=", (int)(equals - item), item);
        MST_TRY(objective_item("class-names", name, list, n, &place, &rest));
        MST_TRY(take_file(equals + 1, &list[place], &own[place]));
        at = at[size] ? at + size + 1 : NULL;
    }
    return MST_OK;
}

mst_status output_names_find(const model_note *note, const mst_dataset *data, objective *list, int n,
                             class_names *own) {
    for (int i = 0; i < n; i++) {
        objective *o = &list[i];
        if (o->names || !objective_has_classes(o)) continue;
        if (note) MST_TRY(model_note_output_names(note, o->output, &own[i]));
        if (!own[i] && o->component < mst_dataset_num_components(data))
            MST_TRY(class_names_of(data, o->component, &own[i]));
        if (own[i] && objective_check_names(o, "", class_names_count((const char *const *)own[i]))) {
            free(own[i]); /* their number is not the number of classes of the model */
            own[i] = NULL;
        }
        o->names = (const char *const *)own[i];
    }
    return MST_OK;
}
