/* Pictures in folders of classes: DIR/CLASS, or DIR/train/CLASS and DIR/test/CLASS. */
#include "data/sources/image_folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "data/pictures/decode.h"
#include "format/image.h"
#include "inspect/inspector.h"

static const char *const parts[] = {"train", "test"};

/* Lists the pictures of FOLDER, or of its part PART. After an error OUT has no files, but has_pictures may be set. */
static mst_status list(const char *folder, const char *part, mst_image_folder *out) {
    char *path = NULL;
    *out = (mst_image_folder){0};
    if (part && asprintf(&path, "%s/%s", folder, part) < 0) return MST_NO_MEMORY("for the name of a folder");
    const mst_status status = mst_image_folder_list(path ? path : folder, out);
    const bool has_pictures = out->has_pictures;
    if (status) mst_image_folder_free(out);
    out->has_pictures = has_pictures;
    free(path);
    return status;
}

/* Whether listing FOLDER failed with STATUS because it has pictures that training refuses. */
static bool are_refused(mst_status status, const mst_image_folder *folder) {
    return status == MST_INVALID && folder->has_pictures;
}

/* If training refuses the pictures, the match is only likely: the folder may be for something else, such as checkpoints
 * with plots beside them. */
static mst_inspect_match match_of(const char *folder, const char *part) {
    mst_image_folder found;
    const mst_status status = list(folder, part, &found);
    const bool refused = are_refused(status, &found);
    mst_image_folder_free(&found);
    return !status ? MST_INSPECT_SURE : refused ? MST_INSPECT_LIKELY : MST_INSPECT_NO;
}

static mst_inspect_match inspect_image_folder_knows(const mst_inspect_source *s) {
    if (!s->is_folder) return MST_INSPECT_NO;
    const mst_inspect_match whole = match_of(s->path, NULL);
    if (whole == MST_INSPECT_SURE) return whole;
    const mst_inspect_match part = match_of(s->path, parts[0]);
    return part > whole ? part : whole;
}

typedef struct sizes {
    int64_t least_height, most_height, least_width, most_width, good;
} sizes;

static mst_status measure(const char *path, sizes *s) {
    int64_t height, width;
    MST_TRY(mst_picture_size(path, &height, &width));
    if (!s->good || height < s->least_height) s->least_height = height;
    if (!s->good || width < s->least_width) s->least_width = width;
    if (height > s->most_height) s->most_height = height;
    if (width > s->most_width) s->most_width = width;
    s->good++;
    return MST_OK;
}

static void print_classes(mst_report *r, const mst_image_folder *folder, const char *part) {
    int64_t file = 0;
    for (int64_t i = 0; i < folder->num_classes; i++) {
        char shown[MST_REPORT_NAME];
        const char *name = folder->class_name[i];
        const int64_t first = file;
        while (file < folder->num_files && folder->label[file] == i) file++;
        json_t *item = mst_report_item(r, "classes");
        mst_report_set(r, item, "part", json_string(part));
        mst_report_set(r, item, "name", mst_report_string(name, strlen(name)));
        mst_report_set(r, item, "count", json_integer(file - first));
        mst_report_line(r, "  %-22s %" PRId64, mst_report_name(name, strlen(name), shown), file - first);
    }
}

static void print_part(mst_report *r, const mst_image_folder *folder, const char *part) {
    char range[128] = "";
    sizes s = {0};
    for (int64_t i = 0; i < folder->num_files; i++) {
        const mst_status status = measure(folder->path[i], &s);
        if (status) mst_report_damage(r, status);
    }
    if (s.least_height == s.most_height && s.least_width == s.most_width && s.good)
        snprintf(range, sizeof range, ", all of %" PRId64 " x %" PRId64 " pixels", s.most_width, s.most_height);
    else if (s.good)
        snprintf(range, sizeof range, ", of %" PRId64 " x %" PRId64 " to %" PRId64 " x %" PRId64 " pixels",
                 s.least_width, s.least_height, s.most_width, s.most_height);
    json_t *item = mst_report_item(r, "parts");
    mst_report_set(r, item, "name", json_string(part));
    mst_report_set(r, item, "pictures", json_integer(folder->num_files));
    mst_report_set(r, item, "num_classes", json_integer(folder->num_classes));
    mst_report_set(r, item, "least_width", json_integer(s.least_width));
    mst_report_set(r, item, "least_height", json_integer(s.least_height));
    mst_report_set(r, item, "most_width", json_integer(s.most_width));
    mst_report_set(r, item, "most_height", json_integer(s.most_height));
    mst_report_line(r, "%-24s %" PRId64 " picture%s in %" PRId64 " classes%s", part, folder->num_files,
                    folder->num_files == 1 ? "" : "s", folder->num_classes, range);
    print_classes(r, folder, part);
    const mst_files_left_out *left = &folder->left_out;
    const int64_t count = left->no_pictures + left->hidden + left->empty + left->broken_links;
    mst_report_set(r, item, "left_out", json_integer(count));
    if (count)
        mst_report_line(r,
                        "  left out               %" PRId64 " (%" PRId64 " are no pictures, %" PRId64
                        " hidden, %" PRId64 " empty, %" PRId64 " broken links)",
                        count, left->no_pictures, left->hidden, left->empty, left->broken_links);
}

/* Makes the last error MST_UNIMPLEMENTED, which is not damage: training refuses the pictures, but the files are
 * intact. */
static mst_status refused(void) {
    return MST_FAIL(MST_UNIMPLEMENTED, "%s", mst_error()->message);
}

static mst_status inspect_image_folder_print(const mst_inspect_source *source, mst_report *report) {
    mst_image_folder folder;
    const bool has_parts = list(source->path, NULL, &folder) != MST_OK;
    /* neither the folder nor a part could be listed: it was recognised by pictures directly in it, which are refused */
    const bool is_one = has_parts && !match_of(source->path, parts[0]);
    mst_report_title(report, "folder of pictures", "%s", has_parts && !is_one ? "train and test" : "one part");
    if (is_one) return list(source->path, NULL, &folder) ? refused() : MST_OK;
    if (!has_parts) {
        print_part(report, &folder, parts[0]); /* a folder without parts counts as train */
        mst_image_folder_free(&folder);
        return MST_OK;
    }
    for (int i = 0; i < 2; i++) {
        const mst_status status = list(source->path, parts[i], &folder);
        if (are_refused(status, &folder)) return refused();
        if (status) continue;
        print_part(report, &folder, parts[i]);
        mst_image_folder_free(&folder);
    }
    return MST_OK;
}

const mst_inspector mst_inspector_image_folder = {
    .name = "folder of pictures", .knows = inspect_image_folder_knows, .print = inspect_image_folder_print};
