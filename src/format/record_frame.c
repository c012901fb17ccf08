#include "format/record_frame.h"

#include <isa-l.h>
#include <limits.h>
#include <string.h>

uint32_t mst_record_crc(const void *data, size_t size) {
    enum { MOST = 1 << 30 }; /* the library counts in int */
    unsigned char *at = (unsigned char *)(uintptr_t)data;
    uint32_t crc = UINT32_MAX;
    for (; size > MOST; size -= MOST, at += MOST) crc = crc32_iscsi(at, MOST, crc);
    crc = ~crc32_iscsi(at, (int)size, crc);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

void mst_record_frame(const void *payload, size_t size, uint8_t header[MST_RECORD_HEADER],
                      uint8_t footer[MST_RECORD_FOOTER]) {
    const uint64_t length = size;
    memcpy(header, &length, sizeof length);
    const uint32_t of_length = mst_record_crc(header, sizeof length), of_payload = mst_record_crc(payload, size);
    memcpy(header + sizeof length, &of_length, sizeof of_length);
    memcpy(footer, &of_payload, sizeof of_payload);
}

bool mst_record_length(const uint8_t header[MST_RECORD_HEADER], uint64_t *length) {
    uint32_t crc;
    memcpy(length, header, sizeof *length);
    memcpy(&crc, header + sizeof *length, sizeof crc);
    return crc == mst_record_crc(header, sizeof *length);
}

bool mst_record_is_whole(const void *payload, size_t size, const uint8_t footer[MST_RECORD_FOOTER]) {
    uint32_t crc;
    memcpy(&crc, footer, sizeof crc);
    return crc == mst_record_crc(payload, size);
}
