/* clang -fsanitize=fuzzer,address,undefined: event files. The fuzzer cannot guess CRCs: after a first byte that says
 * so, each record is a length of one byte and a payload, framed here. */
#include <stdlib.h>
#include <string.h>

#include "format/events.h"
#include "format/tfrecord.h"
#include "memory.h"

static void read_all(const void *data, size_t size) {
    mst_event_reader *reader;
    const Muster__Event *event;
    if (mst_event_reader_parse("input", data, size, &reader)) __builtin_trap();
    while (!mst_event_reader_next(reader, &event) && event) {
        size_t payload;
        if (!mst_event_reader_payload(reader, &payload) || payload > size) __builtin_trap();
    }
    mst_event_reader_close(reader);
}

static void read_framed(const uint8_t *data, size_t size) {
    uint8_t *framed = malloc(size * (MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER + 1) + 1);
    size_t used = 0;
    for (size_t i = 0; framed && i < size;) {
        size_t length = data[i++];
        if (length > size - i) length = size - i;
        uint8_t *payload = framed + used + MST_TFRECORD_HEADER;
        memcpy(payload, data + i, length);
        mst_tfrecord_frame(payload, length, framed + used, payload + length);
        used += length + MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER;
        i += length;
    }
    if (framed) read_all(framed, used);
    free(framed);
}

static void read_input(const uint8_t *data, size_t size) {
    if (size && data[0] == 'F')
        read_framed(data + 1, size - 1);
    else
        read_all(data, size);
}

FUZZ(read_input, 64, 64 << 10)
