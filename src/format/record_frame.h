/** The frame of a record in TensorFlow's record files, which event files are too.
 *
 *      8 bytes    length of the payload, u64
 *      4 bytes    masked CRC-32C of these 8 bytes, u32
 *      length     the payload
 *      4 bytes    masked CRC-32C of the payload, u32
 *
 *  all little-endian, record after record, with nothing before, between or behind.
 *  Source: tensorflow/core/lib/io/record_writer.cc.
 */
#ifndef MUSTER_FORMAT_RECORD_FRAME_H
#define MUSTER_FORMAT_RECORD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MST_RECORD_HEADER = 12, MST_RECORD_FOOTER = 4 };

/** CRC-32C of SIZE bytes, masked: rotated right by 15 bits, plus 0xa282ead8. */
uint32_t mst_record_crc(const void *data, size_t size);
/** What stands before and behind SIZE bytes of PAYLOAD. */
void mst_record_frame(const void *payload, size_t size, uint8_t header[MST_RECORD_HEADER],
                      uint8_t footer[MST_RECORD_FOOTER]);
/** The length of the payload; false where the header's CRC does not fit. */
bool mst_record_length(const uint8_t header[MST_RECORD_HEADER], uint64_t *length);
/** Whether the CRC behind the payload fits. */
bool mst_record_is_whole(const void *payload, size_t size, const uint8_t footer[MST_RECORD_FOOTER]);

#endif
