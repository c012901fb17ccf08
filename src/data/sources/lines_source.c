/** The lines of text files, plain or gzip (recognised by their first bytes), as strings: one component, string []. A
 *  line ends at "\n" or "\r\n", which is not part of it, or at the end of the file. An empty line is an element too.
 *  PATHS, order, index and compressed files are as in mst_dataset_from_tfrecord. OPTIONS may be NULL.
 *
 *  Fails as mst_dataset_from_tfrecord does; damage can be found only in compressed files. Messages name a line by the
 *  file and its number, or, if the file is only read forward, by its byte. */
#ifdef MST_DATASET_HEADER
typedef struct mst_lines_options {
    int zero_;
    int64_t cycle; /**< number of files that are read in turn; 0: 1, one file after the other */
    int64_t block; /**< lines of a file before the turn of the next; 0: 1 */
    bool forward;  /**< read only forward, even in plain files: without the index (16 bytes of memory per line), and so
                        without a permutation of all lines */
} mst_lines_options;
MST_API MST_CHECKED mst_status mst_dataset_from_lines(const char *const *paths, int n, const mst_lines_options *options,
                                                      mst_dataset **out);
#endif
#include "format/lines.h"

#include "base/argument.h"
#include "data/nested.h"
#include "data/sources/record_files.h"

static mst_status lines_source_open(const char *path, void **reader) {
    mst_lines_reader *opened;
    const mst_status status = mst_lines_reader_open(path, &opened);
    *reader = opened;
    return status;
}

static void close(void *reader) {
    mst_lines_reader_close(reader);
}

static bool is_compressed(const void *reader) {
    return mst_lines_reader_is_compressed(reader);
}

static mst_status lines_source_next(void *reader, mst_record *record) {
    return mst_lines_reader_next(reader, record);
}

static mst_status lines_source_skip(void *reader, int64_t *skipped) {
    mst_record line;
    MST_TRY(mst_lines_reader_next(reader, &line));
    *skipped = line.data != NULL;
    return MST_OK;
}

static mst_status make_index(const char *path, bool check, int64_t most_corrupt, mst_record_index *out) {
    (void)check, (void)most_corrupt;
    return mst_lines_index_open(path, out);
}

static mst_status unframe(const char *name, const mst_record_place *place, const uint8_t *bytes, mst_record *record) {
    (void)name;
    *record = (mst_record){bytes, (size_t)place->size, place->offset};
    return MST_OK;
}

static const mst_record_format format = {
    .source = MST_RECORD_FILES("from_lines"),
    .record = "line",
    .numbers_records = true,
    .row = {MST_STRING, {0, {0}}},
    .open = lines_source_open,
    .close = close,
    .is_compressed = is_compressed,
    .next = lines_source_next,
    .skip = lines_source_skip,
    .index = make_index,
    .unframe = unframe,
};

mst_status mst_dataset_from_lines(const char *const *paths, int n, const mst_lines_options *options,
                                  mst_dataset **out) {
    if ((n > 0 && MST_IS_NULL(paths)) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_lines_options defaults;
    if (!options) options = &defaults;
    const mst_tfrecord_options o = {.cycle = options->cycle, .block = options->block, .forward = options->forward};
    return mst_record_files_create(&format, paths, n, &o, out);
}

mst_dataset *mst_data_from_lines(const char *const *paths, int n, const mst_lines_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_lines(paths, n, options, &out));
}
