/* Reads a file of records from front to back. The report has the number of records and their sizes. For
 * tf.train.Examples it also has each feature with its kind, its lengths and, if it has numbers, their statistics.
 * Damage is reported, and reading continues after it. Memory does not grow with the file: it holds one row per feature,
 * at most MOST_FEATURES, and the numbers of one record. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/byte_count.h"
#include "base/no_memory.h"
#include "format/example.h"
#include "format/tfrecord.h"
#include "inspect/inspector.h"
#include "inspect/statistics.h"

enum { MOST_FEATURES = 256 };

typedef struct feature_row {
    char *name;
    size_t name_size;
    mst_feature_kind kind;
    bool sequence, mixed;         /* mixed: its kind differs between records */
    int64_t records, least, most; /* records that have it; fewest and most values in a record, or bytes of strings */
    mst_statistics numbers;
} feature_row;

typedef struct summary {
    mst_report *report;
    int64_t records, others;     /* others: records that are no tf.train.Example, or an Example without features */
    uint64_t bytes, least, most; /* bytes of all records; of the shortest and of the longest record */
    feature_row feature[MOST_FEATURES];
    int num_features;
    bool more_features;
    void *numbers; /* scratch: the numbers of one feature in one record */
    int64_t numbers_capacity;
} summary;

static mst_inspect_match inspect_tfrecord_knows(const mst_inspect_source *s) {
    uint64_t length;
    if (s->size >= MST_TFRECORD_HEADER && mst_tfrecord_length(s->head, &length)) return MST_INSPECT_SURE;
    const bool zlib = s->size >= 2 && s->head[0] == 0x78 && (s->head[0] * 256 + s->head[1]) % 31 == 0;
    return zlib ? MST_INSPECT_POSSIBLE : MST_INSPECT_NO;
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
    /* a name may contain zero bytes */
    **out = (feature_row){.name = malloc(value->name_size + 1),
                          .name_size = value->name_size,
                          .kind = value->kind,
                          .sequence = value->sequence,
                          .least = INT64_MAX,
                          .numbers = MST_STATISTICS};
    if (!(*out)->name) return MST_NO_MEMORY("for the name of a feature");
    if (value->name_size) memcpy((*out)->name, value->name, value->name_size);
    s->num_features++;
    return MST_OK;
}

static mst_status add_numbers(summary *s, feature_row *f, mst_wire feature) {
    mst_feature_kind kind;
    mst_wire lists;
    if (!mst_feature_find(feature, &kind, &lists)) return MST_OK;
    if (kind != MST_FEATURE_FLOATS && kind != MST_FEATURE_INTEGERS) return MST_OK;
    const int64_t count = mst_feature_numbers(kind, lists, NULL, 0);
    if (count < 1) return MST_OK;
    MST_TRY(mst_grow(&s->numbers, sizeof(int64_t), count, &s->numbers_capacity));
    (void)mst_feature_numbers(kind, lists, s->numbers, count);
    const float *floats = s->numbers;
    const int64_t *integers = s->numbers;
    for (int64_t i = 0; i < count; i++)
        mst_statistics_add(&f->numbers, kind == MST_FEATURE_FLOATS ? (double)floats[i] : (double)integers[i]);
    return MST_OK;
}

static mst_status add_feature(summary *s, const mst_feature_value *value, const mst_example_entry *entry) {
    feature_row *f;
    MST_TRY(find_feature(s, value, &f));
    if (!f) return MST_OK;
    const bool bytes = value->kind == MST_FEATURE_BYTES && !value->sequence;
    const int64_t size = bytes ? value->num_bytes : value->count;
    f->mixed |= f->kind != value->kind;
    f->records++;
    if (size < f->least) f->least = size;
    if (size > f->most) f->most = size;
    return value->sequence ? MST_OK : add_numbers(s, f, entry->value);
}

static mst_status add_record(summary *s, const mst_record *record) {
    const uint8_t *data = record->data;
    mst_example_walk walk = {.example = {data, data + record->size}};
    mst_feature_value value[MOST_FEATURES];
    mst_example_entry entry;
    int count;
    s->records++;
    s->bytes += record->size;
    if (record->size < s->least) s->least = record->size;
    if (record->size > s->most) s->most = record->size;
    if (mst_example_describe(data, record->size, value, MOST_FEATURES, &count) || count == 0) {
        s->others++;
        return MST_OK;
    }
    for (int i = 0; i < count && i < MOST_FEATURES && mst_example_next(&walk, &entry); i++)
        MST_TRY(add_feature(s, &value[i], &entry));
    return MST_OK;
}

static mst_status inspect_tfrecord_read_all(summary *s, mst_tfrecord_reader *reader) {
    for (;;) {
        mst_record record;
        const mst_status status = mst_tfrecord_reader_next(reader, &record);
        if (status == MST_CORRUPT) {
            mst_report_damage(s->report, status);
            MST_TRY(mst_tfrecord_reader_recover(reader));
            continue;
        }
        MST_TRY(status);
        if (!record.data) return MST_OK;
        MST_TRY(add_record(s, &record));
    }
}

static const char *unit_of(const feature_row *f) {
    if (f->sequence) return "steps";
    return f->kind == MST_FEATURE_BYTES ? "bytes" : f->most == 1 ? "value" : "values";
}

static void print_feature(const summary *s, const feature_row *f) {
    static const char *const kinds[] = {"no values", "bytes", "floats", "integers"};
    const char *kind = f->mixed ? "mixed" : kinds[f->kind];
    char name[MST_REPORT_NAME], range[64], in[64] = "", numbers[MST_STATISTICS_TEXT];
    json_t *item = mst_report_item(s->report, "features");
    mst_report_set(s->report, item, "name", mst_report_string(f->name, f->name_size));
    mst_report_set(s->report, item, "kind", json_string(kind));
    mst_report_set(s->report, item, "sequence", json_boolean(f->sequence));
    mst_report_set(s->report, item, "records", json_integer(f->records));
    mst_report_set(s->report, item, "least", json_integer(f->least));
    mst_report_set(s->report, item, "most", json_integer(f->most));
    if (f->numbers.finite + f->numbers.nan + f->numbers.infinite) mst_report_statistics(s->report, item, &f->numbers);
    if (f->least == f->most)
        snprintf(range, sizeof range, "%" PRId64, f->most);
    else
        snprintf(range, sizeof range, "%" PRId64 " to %" PRId64, f->least, f->most);
    if (f->records != s->records) snprintf(in, sizeof in, "  in %" PRId64 " records", f->records);
    mst_report_line(s->report, "%-24s %s%-9s  %s %s%s%s", mst_report_name(f->name, f->name_size, name),
                    f->sequence ? "sequence of " : "", kind, range, unit_of(f), in,
                    mst_statistics_print(&f->numbers, numbers));
}

static void print_summary(const summary *s, mst_tfrecord_compression compression) {
    static const char *const names[] = {"plain", "gzip", "zlib"};
    char text[MST_BYTES_TEXT], each[64] = "";
    mst_report *r = s->report;
    if (s->records) snprintf(each, sizeof each, ", %" PRIu64 " to %" PRIu64 " bytes each", s->least, s->most);
    mst_report_title(r, "TFRecord", "%s, %" PRId64 " record%s, %s of data%s", names[compression], s->records,
                     s->records == 1 ? "" : "s", mst_bytes_print((int64_t)s->bytes, text, sizeof text), each);
    mst_report_set(r, NULL, "compression", json_string(names[compression]));
    mst_report_set(r, NULL, "records", json_integer(s->records));
    mst_report_set(r, NULL, "bytes", json_integer((json_int_t)s->bytes));
    mst_report_set(r, NULL, "not_examples", json_integer(s->others));
    for (int i = 0; i < s->num_features; i++) print_feature(s, &s->feature[i]);
    if (s->more_features) mst_report_line(r, "and features beyond the first %d", MOST_FEATURES);
    if (s->others) mst_report_line(r, "%" PRId64 " records are no tf.train.Example", s->others);
}

static mst_status inspect_tfrecord_print(const mst_inspect_source *source, mst_report *report) {
    mst_tfrecord_reader *reader;
    summary *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for looking at '%s'", source->path);
    s->report = report;
    s->least = UINT64_MAX;
    mst_status status = mst_tfrecord_reader_open(source->path, &reader);
    if (!status) {
        mst_failure failure;
        status = inspect_tfrecord_read_all(s, reader);
        mst_failure_keep(&failure, status);
        print_summary(s, mst_tfrecord_reader_compression(reader));
        mst_tfrecord_reader_close(reader);
        status = mst_failure_restore(&failure);
    }
    for (int i = 0; i < s->num_features; i++) free(s->feature[i].name);
    free(s->numbers);
    free(s);
    return status;
}

const mst_inspector mst_inspector_tfrecord = {.name = "TFRecord",
                                              .suffixes = ".tfrecord .tfrecords",
                                              .knows = inspect_tfrecord_knows,
                                              .print = inspect_tfrecord_print};
