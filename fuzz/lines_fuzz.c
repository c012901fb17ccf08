/* clang -fsanitize=fuzzer,address,undefined: text files by lines, plain and gzip. */
#include <assert.h>
#include <string.h>

#include "format/lines.h"
#include "memory.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_lines_reader *reader;
    mst_record line;
    if (mst_lines_reader_parse("input", data, size, &reader)) return;
    while (mst_lines_reader_next(reader, &line) == MST_OK && line.data)
        assert(!line.size || !memchr(line.data, '\n', line.size));
    mst_lines_reader_close(reader);
}

FUZZ(read_input, FUZZ_INFLATED, 1 << 20)
