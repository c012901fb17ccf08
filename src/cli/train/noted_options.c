#include "cli/train/noted_options.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"

enum { OLD_TEXT = 300 };

/* The value of an entry; NULL if it was not given. */
static const char *value_of(const option_entry *entry) {
    return entry->given ? entry->text : NULL;
}

json_t *noted_options(const option_list *list) {
    json_t *all = json_object();
    for (int i = 0; all && i < list->count && !list->entry[i].common; i++) {
        const option_entry *entry = &list->entry[i];
        if (!entry->given || !entry->option.noted) continue;
        /* a text that is not UTF-8 is left out; it cannot be a valid value of these options */
        (void)json_object_set_new(all, entry->option.name, json_string(entry->text));
    }
    return all;
}

static bool differs(const char *before, const char *now) {
    if (!before || !now) return before != now;
    return strcmp(before, now) != 0;
}

bool noted_option_differs(const json_t *before, const option_list *list, const char *name) {
    const char *now = NULL;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->entry[i].option.name, name) == 0) now = value_of(&list->entry[i]);
    return before && differs(json_string_value(json_object_get(before, name)), now);
}

void noted_options_compare(const json_t *before, const option_list *list) {
    const char *join = "warning: the training of the checkpoint had other options: ";
    for (int i = 0; before && i < list->count && !list->entry[i].common; i++) {
        const char *name = list->entry[i].option.name, *now = value_of(&list->entry[i]);
        const char *old = json_string_value(json_object_get(before, name));
        if (!list->entry[i].option.noted || !differs(old, now)) continue;
        char shown[OLD_TEXT], shown_now[OLD_TEXT];
        if (old) old = mst_escape_line(old, strlen(old), shown, sizeof shown);
        if (now) now = mst_escape_line(now, strlen(now), shown_now, sizeof shown_now);
        fprintf(stderr, "%s--%s %s (now %s%s)", join, name, old ? old : "not given", now ? now : "not given",
                strcmp(name, "seed") == 0 ? ", which counts for a new training only" : "");
        join = ", ";
    }
    if (*join == ',') fputc('\n', stderr);
}
