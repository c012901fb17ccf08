/* clang -fsanitize=fuzzer,address,undefined: TFRecord files, plain, gzip and zlib. */
#include "format/tfrecord.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mst_tfrecord_reader *reader;
    mst_record record;
    int64_t skipped;
    if (mst_tfrecord_reader_parse("input", data, size, &reader)) return 0;
    for (int turn = 0;; turn++) {
        if (turn % 3 == 2 ? mst_tfrecord_reader_skip(reader, 1, &skipped) : mst_tfrecord_reader_next(reader, &record)) {
            if (mst_tfrecord_reader_recover(reader)) break;
            continue;
        }
        if (turn % 3 == 2 ? !skipped : !record.data) break;
    }
    mst_tfrecord_reader_close(reader);
    return 0;
}
