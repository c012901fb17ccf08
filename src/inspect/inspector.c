#include "inspect/inspector.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/argument.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "data/pictures/other_picture.h"
#include "format/image.h"
#include "format/stream.h"
#include "format/tfrecord.h"

enum { LIST_SIZE = 512 };

/* ---- which format ---- */

static bool is_gzip(const mst_inspect_source *s) {
    uint64_t length;
    const bool record = s->size >= MST_TFRECORD_HEADER && mst_tfrecord_length(s->head, &length);
    return s->size > 2 && s->head[0] == 0x1f && s->head[1] == 0x8b && !record;
}

/* Reads the first bytes of the file, decompressed if it is gzip. Damaged gzip still gives its beginning; the inspector
 * will report the damage. */
static mst_status read_head(mst_inspect_source *s) {
    mst_bytes bytes;
    mst_stream *stream = NULL;
    mst_status status = mst_bytes_open(s->path, &bytes);
    s->bytes = bytes.size;
    if (!status) status = mst_bytes_read(&bytes, 0, s->head, MST_INSPECT_HEAD, &s->size);
    s->is_packed = !status && is_gzip(s);
    if (s->is_packed) {
        status = mst_stream_create(&bytes, 0, bytes.size, MST_STREAM_GZIP, &stream);
        if (!status) (void)!mst_stream_read(stream, s->head, MST_INSPECT_HEAD, &s->size);
        mst_stream_destroy(stream);
    }
    mst_bytes_close(&bytes);
    return status;
}

bool mst_inspect_is_text(const mst_inspect_source *source) {
    if (!source->is_file || source->is_packed || source->size == 0) return false;
    for (size_t i = 0; i < source->size; i++) {
        const uint8_t c = source->head[i];
        if ((c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f || c == 0xc0 || c == 0xc1 || c > 0xf4)
            return false;
    }
    return true;
}

/* Whether the path ends with one of the words of SUFFIXES. */
static bool has_suffix(const char *path, const char *suffixes) {
    const size_t length = strlen(path);
    while (suffixes && *suffixes) {
        const size_t size = strcspn(suffixes, " ");
        if (length > size && strncasecmp(path + length - size, suffixes, size) == 0) return true;
        suffixes += size + (suffixes[size] == ' ');
    }
    return false;
}

static mst_inspect_match match_of(const mst_inspector *inspector, const mst_inspect_source *s) {
    const mst_inspect_match match = inspector->knows(s);
    return !match && s->is_file && has_suffix(s->path, inspector->suffixes) ? MST_INSPECT_POSSIBLE : match;
}

static mst_status inspector_unknown(const mst_inspect_source *s) {
    char list[LIST_SIZE] = "";
    for (const mst_inspector *const *i = mst_inspector_table; *i; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", (*i)->name);
    }
    if (!s->is_file && !s->is_folder)
        return MST_FAIL(MST_NOT_FOUND, "'%s': there is no such file, folder or checkpoint: check the path", s->path);
    if (s->is_file && s->bytes == 0) return MST_FAIL(MST_INVALID, "'%s': is empty", s->path);
    const char *picture = s->is_file && !s->is_packed ? mst_other_picture(s->head, s->size) : NULL;
    if (picture)
        return MST_FAIL(MST_INVALID, "'%s': is a %s picture, which is not read, only %s: convert it to one of these",
                        s->path, picture, MST_IMAGE_FORMATS);
    return MST_FAIL(MST_INVALID, "'%s': is of no format that is known here%s: known are %s", s->path,
                    s->is_file ? ", or its beginning is damaged" : "", list);
}

/* ---- reports ---- */

static mst_status print_json(mst_report *r, FILE *out) {
    char *text = r->no_memory ? NULL : mst_json_line(r->json, JSON_COMPACT | JSON_REAL_PRECISION(10));
    if (!text) return MST_NO_MEMORY("for a line of JSON");
    fprintf(out, "%s\n", text);
    free(text);
    return MST_OK;
}

static mst_status end_report(mst_report *r, FILE *out) {
    enum { MOST_DAMAGE = 10 };
    mst_status status = mst_failure_restore(&r->first);
    const int64_t more = r->num_damage - MOST_DAMAGE;
    for (size_t i = 0; r->text && i < json_array_size(r->damage) && i < MOST_DAMAGE; i++)
        mst_report_line(r, "damage: %s", json_string_value(json_array_get(r->damage, i)));
    if (more > 0) mst_report_line(r, "damage: and %lld more", (long long)more);
    mst_report_set(r, NULL, "num_damaged", json_integer(r->num_damage));
    mst_report_set(r, NULL, "damage", r->damage);
    if (!r->text && print_json(r, out)) status = mst_error()->code;
    json_decref(r->json);
    return status;
}

/* Reports that Muster cannot read the contents, such as those of a newer version. That is not damage. */
static void tell_not_taken(mst_report *r, mst_status status) {
    const char *message = mst_error()->message;
    mst_report_line(r, "not taken: %s", message);
    mst_report_set(r, NULL, "is_taken", json_false());
    mst_report_set(r, NULL, "not_taken", mst_report_string(message, strlen(message)));
    if (!r->first.code) mst_failure_keep(&r->first, status);
}

static mst_status report(const mst_inspector *inspector, const mst_inspect_source *s, bool json, FILE *out) {
    mst_report r = {.path = s->path, .text = json ? NULL : out, .json = json_object(), .damage = json_array()};
    mst_report_set(&r, NULL, "file", mst_report_string(s->path, strlen(s->path)));
    const mst_status status = inspector->print(s, &r);
    if (status == MST_UNIMPLEMENTED)
        tell_not_taken(&r, status);
    else if (status)
        mst_report_damage(&r, status);
    return end_report(&r, out);
}

/* Prints the reports of all inspectors whose match is at least LEAST. False if there are none. */
static bool report_matches(const mst_inspect_source *s, mst_inspect_match least, bool json, FILE *out,
                           mst_failure *first) {
    bool found = false;
    for (const mst_inspector *const *i = mst_inspector_table; *i; i++) {
        if (match_of(*i, s) < least) continue;
        const mst_status status = report(*i, s, json, out);
        if (status && !first->code) mst_failure_keep(first, status);
        found = true;
    }
    return found;
}

static mst_status report_folder(const mst_inspect_source *s, bool json, FILE *out) {
    mst_failure first = {0};
    const bool found = report_matches(s, MST_INSPECT_SURE, json, out, &first) ||
                       report_matches(s, MST_INSPECT_POSSIBLE, json, out, &first);
    return found ? mst_failure_restore(&first) : inspector_unknown(s);
}

static mst_status inspect(const char *path, bool json, FILE *out) {
    mst_inspect_source s = {.path = path};
    struct stat info;
    const bool there = stat(path, &info) == 0;
    s.is_folder = there && S_ISDIR(info.st_mode);
    s.is_file = there && !s.is_folder;
    if (s.is_folder) return report_folder(&s, json, out);
    if (s.is_file) MST_TRY(read_head(&s));
    const mst_inspector *best = NULL;
    mst_inspect_match match = MST_INSPECT_NO;
    for (const mst_inspector *const *i = mst_inspector_table; *i; i++) {
        const mst_inspect_match this = match_of(*i, &s);
        if (this > match) best = *i, match = this;
    }
    const bool is_empty = s.is_file && s.bytes == 0 && match <= MST_INSPECT_POSSIBLE;
    return best && !is_empty ? report(best, &s, json, out) : inspector_unknown(&s);
}

mst_status mst_inspect(const char *path, FILE *out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    return inspect(path, false, out);
}

mst_status mst_inspect_json(const char *path, FILE *out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    return inspect(path, true, out);
}
