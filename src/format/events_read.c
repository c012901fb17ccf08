/* Reads event files. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/no_memory.h"
#include "format/events.h"
#include "format/tfrecord.h"

struct mst_event_reader {
    mst_bytes bytes;
    uint64_t offset;  /* offset of the next record */
    bool torn;        /* the file ends within the record at `offset` */
    uint8_t *payload; /* payload of the last record, followed by its footer */
    int64_t capacity;
    size_t size;
    Muster__Event *event;
};

static mst_status events_read_make(mst_event_reader **out) {
    *out = calloc(1, sizeof **out);
    return *out ? MST_OK : MST_NO_MEMORY("for a reader of events");
}

static mst_status events_read_finish(mst_status status, mst_event_reader **out) {
    if (!status) return MST_OK;
    mst_event_reader_close(*out);
    *out = NULL;
    return status;
}

mst_status mst_event_reader_open(const char *path, mst_event_reader **out) {
    MST_TRY(events_read_make(out));
    return events_read_finish(mst_bytes_open(path, &(*out)->bytes), out);
}

mst_status mst_event_reader_parse(const char *name, const void *data, size_t size, mst_event_reader **out) {
    MST_TRY(events_read_make(out));
    return events_read_finish(mst_bytes_of_memory(name, data, size, &(*out)->bytes), out);
}

void mst_event_reader_close(mst_event_reader *reader) {
    if (!reader) return;
    if (reader->event) muster__event__free_unpacked(reader->event, NULL);
    mst_bytes_close(&reader->bytes);
    free(reader->payload);
    free(reader);
}

static mst_status events_read_damaged(const mst_event_reader *reader, const char *what) {
    return MST_FAIL(MST_CORRUPT, "'%s': the record at byte %llu is damaged: %s", reader->bytes.name,
                    (unsigned long long)reader->offset, what);
}

/* Reads the payload of the next record. *THERE is false at the end of the file. If the file ends within the record,
 * *THERE is false too, and reader->torn becomes true. */
static mst_status read_record(mst_event_reader *reader, bool *there) {
    uint8_t header[MST_TFRECORD_HEADER];
    uint64_t length;
    size_t got;
    *there = false;
    MST_TRY(mst_bytes_read(&reader->bytes, reader->offset, header, sizeof header, &got));
    reader->torn = got > 0 && got < sizeof header;
    if (got < sizeof header) return MST_OK;
    if (!mst_tfrecord_length(header, &length)) return events_read_damaged(reader, "its length does not fit its CRC");
    const uint64_t left = reader->bytes.size - reader->offset - sizeof header;
    reader->torn = length > left || left - length < MST_TFRECORD_FOOTER;
    if (reader->torn) return MST_OK;
    reader->size = (size_t)length;
    MST_TRY(mst_grow(&reader->payload, 1, (int64_t)length + MST_TFRECORD_FOOTER, &reader->capacity));
    MST_TRY(mst_bytes_read(&reader->bytes, reader->offset + sizeof header, reader->payload,
                           reader->size + MST_TFRECORD_FOOTER, &got));
    reader->torn = got < reader->size + MST_TFRECORD_FOOTER; /* the file has become shorter */
    if (reader->torn) return MST_OK;
    if (!mst_tfrecord_is_intact(reader->payload, reader->size))
        return events_read_damaged(reader, "its bytes do not fit their CRC");
    *there = true;
    return MST_OK;
}

mst_status mst_event_reader_next(mst_event_reader *reader, const Muster__Event **out) {
    bool there;
    *out = NULL;
    if (reader->event) muster__event__free_unpacked(reader->event, NULL);
    reader->event = NULL;
    MST_TRY(read_record(reader, &there));
    if (!there) return MST_OK;
    reader->event = muster__event__unpack(NULL, reader->size, reader->payload);
    if (!reader->event) return events_read_damaged(reader, "it is no event");
    reader->offset += MST_TFRECORD_HEADER + reader->size + MST_TFRECORD_FOOTER;
    *out = reader->event;
    return MST_OK;
}

const void *mst_event_reader_payload(const mst_event_reader *reader, size_t *size) {
    *size = reader->size;
    return reader->payload;
}

bool mst_event_reader_is_torn(const mst_event_reader *reader) {
    return reader->torn;
}
