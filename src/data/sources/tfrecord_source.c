/* Source: the records of TFRecord files. */
#include "format/tfrecord.h"

#include "base/argument.h"
#include "data/nested.h"
#include "data/sources/record_files.h"

static mst_status tfrecord_source_open(const char *path, void **reader) {
    mst_tfrecord_reader *opened;
    const mst_status status = mst_tfrecord_reader_open(path, &opened);
    *reader = opened;
    return status;
}

static void close(void *reader) {
    mst_tfrecord_reader_close(reader);
}

static bool is_compressed(const void *reader) {
    return mst_tfrecord_reader_compression(reader) != MST_TFRECORD_PLAIN;
}

static mst_status tfrecord_source_next(void *reader, mst_record *record) {
    return mst_tfrecord_reader_next(reader, record);
}

static mst_status tfrecord_source_skip(void *reader, int64_t *skipped) {
    return mst_tfrecord_reader_skip(reader, 1, skipped);
}

static mst_status recover(void *reader) {
    return mst_tfrecord_reader_recover(reader);
}

static mst_status unframe(const char *name, const mst_record_place *place, const uint8_t *bytes, mst_record *record) {
    uint64_t length;
    if (!mst_tfrecord_length(bytes, &length) || length != place->size)
        return mst_tfrecord_corrupt(name, place->offset, "", "the check sum of its length is wrong");
    if (!mst_tfrecord_is_intact(bytes + MST_TFRECORD_HEADER, (size_t)place->size))
        return mst_tfrecord_corrupt(name, place->offset, "", "the check sum of its data is wrong");
    *record = (mst_record){bytes + MST_TFRECORD_HEADER, (size_t)place->size, place->offset};
    return MST_OK;
}

static const mst_record_format format = {
    .source = MST_RECORD_FILES("from_tfrecord"),
    .record = "record",
    .row = {MST_U8, {1, {-1}}},
    .open = tfrecord_source_open,
    .close = close,
    .is_compressed = is_compressed,
    .next = tfrecord_source_next,
    .skip = tfrecord_source_skip,
    .recover = recover,
    .index = mst_tfrecord_index_open,
    .frame_size = MST_TFRECORD_FRAME,
    .unframe = unframe,
};

mst_status mst_dataset_from_tfrecord(const char *const *paths, int n, const mst_tfrecord_options *options,
                                     mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(paths)) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_tfrecord_options defaults;
    return mst_record_files_create(&format, paths, n, options ? options : &defaults, out);
}

mst_dataset *mst_data_from_tfrecord(const char *const *paths, int n, const mst_tfrecord_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_tfrecord(paths, n, options, &out));
}
