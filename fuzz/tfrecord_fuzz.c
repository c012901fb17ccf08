/* clang -fsanitize=fuzzer,address,undefined: TFRecord files, plain, gzip and zlib. */
#include "format/tfrecord.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_tfrecord_reader *reader;
    mst_record record;
    int64_t skipped;
    if (mst_tfrecord_reader_parse("input", data, size, &reader)) return;
    for (int turn = 0;; turn++) {
        if (turn % 3 == 2 ? mst_tfrecord_reader_skip(reader, 1, &skipped) : mst_tfrecord_reader_next(reader, &record)) {
            if (mst_tfrecord_reader_recover(reader)) break;
            continue;
        }
        if (turn % 3 == 2 ? !skipped : !record.data) break;
    }
    mst_tfrecord_reader_close(reader);
}

FUZZ(read_input, FUZZ_INFLATED, 1 << 20)
