#include "cli/left_out.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/json_events.h"
#include "cli/number_text.h"

static void print_some(const char **join, int64_t count, const char *one, const char *many) {
    char text[NUMBER_TEXT];
    if (!count) return;
    printf("%s%s %s", *join, number_text(count, text), count == 1 ? one : many);
    *join = ", ";
}

void left_out_print(const mst_dataset *dataset) {
    mst_files_left_out left;
    const char *join = "";
    char text[NUMBER_TEXT];
    const int64_t count = mst_dataset_files_left_out(dataset, &left);
    if (!count) return;
    printf(", %s file%s left out (", number_text(count, text), count == 1 ? "" : "s");
    print_some(&join, left.no_pictures, "is no picture", "are no pictures");
    print_some(&join, left.hidden, "is hidden", "are hidden");
    print_some(&join, left.empty, "is empty", "are empty");
    print_some(&join, left.broken_links, "is a broken link", "are broken links");
    putchar(')');
}

void left_out_add(const mst_dataset *dataset, json_t **event) {
    mst_files_left_out left;
    if (!mst_dataset_files_left_out(dataset, &left)) return;
    json_t *counts = json_object();
    json_object_set_new(counts, "no_pictures", json_integer(left.no_pictures));
    json_object_set_new(counts, "hidden", json_integer(left.hidden));
    json_object_set_new(counts, "empty", json_integer(left.empty));
    json_object_set_new(counts, "broken_links", json_integer(left.broken_links));
    json_add(event, "", "left_out", counts);
}

void damaged_print(const mst_dataset *dataset, const char *part) {
    char text[NUMBER_TEXT];
    const int64_t count = dataset ? mst_dataset_num_corrupt(dataset) : 0;
    const char *first = count ? mst_dataset_first_corrupt(dataset) : NULL;
    if (!count) return;
    number_text(count, text);
    if (first)
        command_print("%s damaged picture%s%s left out, the first is '%s'", text, count == 1 ? "" : "s", part, first);
    else
        command_print("%s damaged records%s were left out", text, part);
}

void damaged_add(const mst_dataset *dataset, json_t **event) {
    const int64_t count = dataset ? mst_dataset_num_corrupt(dataset) : 0;
    const char *first = count ? mst_dataset_first_corrupt(dataset) : NULL;
    if (count) json_add(event, "", "skipped_corrupt", json_integer(count));
    if (first) json_add(event, "", "first_corrupt", json_text(first));
}
