/* clang -fsanitize=fuzzer,address,undefined: text files by lines, plain and gzip. */
#include <assert.h>
#include <string.h>

#include "format/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mst_lines_reader *reader;
    mst_record line;
    if (mst_lines_reader_parse("input", data, size, &reader)) return 0;
    while (mst_lines_reader_next(reader, &line) == MST_OK && line.data)
        assert(!line.size || !memchr(line.data, '\n', line.size));
    mst_lines_reader_close(reader);
    return 0;
}
