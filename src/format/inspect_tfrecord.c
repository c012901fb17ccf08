#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "format/inspect.h"
#include "format/tfrecord.h"
#include "muster/example.h"

enum { MOST_FEATURES = 256, MOST_DAMAGE = 10 };

typedef struct feature_row {
    char *name;
    size_t name_size;
    mst_feature_kind kind;
    bool sequence, mixed;
    int64_t records, least, most; /* values, or bytes */
} feature_row;

typedef struct summary {
    FILE *out;
    const char *path;
    int64_t records, others, damaged;
    uint64_t bytes, least, most;
    feature_row feature[MOST_FEATURES];
    int num_features;
    bool more_features;
    mst_failure first;
} summary;

static bool knows(const uint8_t *head, size_t size) {
    uint64_t length;
    return (size >= MST_TFRECORD_HEADER && mst_tfrecord_length(head, &length)) ||
           (size >= 2 && head[0] == 0x78 && (head[0] * 256 + head[1]) % 31 == 0);
}

static mst_status find_feature(summary *s, const mst_feature_value *value, feature_row **out) {
    *out = NULL;
    for (int i = 0; i < s->num_features; i++) {
        feature_row *f = &s->feature[i];
        if (f->sequence == value->sequence && f->name_size == value->name_size &&
            memcmp(f->name, value->name, f->name_size) == 0)
            *out = f;
    }
    s->more_features |= !*out && s->num_features == MOST_FEATURES;
    if (*out || s->more_features) return MST_OK;
    *out = &s->feature[s->num_features];
    **out = (feature_row){.name = strndup(value->name, value->name_size),
                          .name_size = value->name_size,
                          .kind = value->kind,
                          .sequence = value->sequence,
                          .least = INT64_MAX};
    if (!(*out)->name) return MST_NO_MEMORY("for the name of a feature");
    s->num_features++;
    return MST_OK;
}

static mst_status add_record(summary *s, const mst_record *record) {
    mst_feature_value value[MOST_FEATURES];
    int count;
    s->records++;
    s->bytes += record->size;
    if (record->size < s->least) s->least = record->size;
    if (record->size > s->most) s->most = record->size;
    if (mst_example_describe(record->data, record->size, value, MOST_FEATURES, &count) || count == 0) {
        s->others++;
        return MST_OK;
    }
    for (int i = 0; i < count && i < MOST_FEATURES; i++) {
        feature_row *f;
        MST_TRY(find_feature(s, &value[i], &f));
        if (!f) continue;
        const bool bytes = value[i].kind == MST_FEATURE_BYTES && !value[i].sequence;
        const int64_t size = bytes ? value[i].num_bytes : value[i].count;
        f->mixed |= f->kind != value[i].kind;
        f->records++;
        if (size < f->least) f->least = size;
        if (size > f->most) f->most = size;
    }
    return MST_OK;
}

static void add_damage(summary *s, mst_status status) {
    if (!s->damaged) mst_failure_keep(&s->first, status);
    if (s->damaged < MOST_DAMAGE) fprintf(s->out, "  damage: %s\n", mst_error()->message);
    s->damaged++;
}

static mst_status read_all(summary *s, mst_tfrecord_reader *reader) {
    for (;;) {
        mst_record record;
        const mst_status status = mst_tfrecord_reader_next(reader, &record);
        if (status == MST_CORRUPT) {
            add_damage(s, status);
            MST_TRY(mst_tfrecord_reader_recover(reader));
            continue;
        }
        MST_TRY(status);
        if (!record.data) return MST_OK;
        MST_TRY(add_record(s, &record));
    }
}

static void print_feature(const summary *s, const feature_row *f) {
    static const char *const kinds[] = {"no values", "bytes", "floats", "integers"};
    char name[64];
    snprintf(name, sizeof name, "%s", f->name);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    fprintf(s->out, "  %-24s %s%-9s  ", name, f->sequence ? "sequence of " : "", f->mixed ? "mixed" : kinds[f->kind]);
    if (f->least == f->most)
        fprintf(s->out, "%" PRId64, f->most);
    else
        fprintf(s->out, "%" PRId64 " to %" PRId64, f->least, f->most);
    fprintf(s->out, "%s",
            f->sequence                    ? " steps"
            : f->kind == MST_FEATURE_BYTES ? " bytes"
            : f->most == 1                 ? " value"
                                           : " values");
    if (f->records != s->records) fprintf(s->out, "  in %" PRId64 " records", f->records);
    fputc('\n', s->out);
}

static void print_summary(const summary *s, mst_tfrecord_compression compression) {
    static const char *const names[] = {"plain", "gzip", "zlib"};
    char text[MST_BYTES_TEXT];
    fprintf(s->out, "%s: TFRecord, %s, %" PRId64 " record%s, %s of data", s->path, names[compression], s->records,
            s->records == 1 ? "" : "s", mst_bytes_print((int64_t)s->bytes, text, sizeof text));
    if (s->records) fprintf(s->out, ", %" PRIu64 " to %" PRIu64 " bytes each", s->least, s->most);
    fputc('\n', s->out);
    for (int i = 0; i < s->num_features; i++) print_feature(s, &s->feature[i]);
    if (s->more_features) fprintf(s->out, "  and features beyond the first %d\n", MOST_FEATURES);
    if (s->others) fprintf(s->out, "  %" PRId64 " records are no tf.train.Example\n", s->others);
    if (s->damaged > MOST_DAMAGE) fprintf(s->out, "  damage: and %" PRId64 " more\n", s->damaged - MOST_DAMAGE);
}

static mst_status print(const char *path, FILE *out) {
    mst_tfrecord_reader *reader;
    summary *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for looking at '%s'", path);
    s->out = out;
    s->path = path;
    s->least = UINT64_MAX;
    mst_status status = mst_tfrecord_reader_open(path, &reader);
    if (!status) {
        status = read_all(s, reader);
        print_summary(s, mst_tfrecord_reader_compression(reader));
        if (!status) status = mst_failure_restore(&s->first);
        mst_tfrecord_reader_close(reader);
    }
    for (int i = 0; i < s->num_features; i++) free(s->feature[i].name);
    free(s);
    return status;
}

const mst_inspector mst_inspector_tfrecord = {.knows = knows, .print = print};
