/** Recognises pictures of kinds that are not read, by their first bytes. */
#ifndef MUSTER_DATA_PICTURES_OTHER_PICTURE_H
#define MUSTER_DATA_PICTURES_OTHER_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/** "GIF", "BMP", "TIFF" or "WebP": the kind of a picture file of WHOLE bytes that begins with the SIZE bytes at DATA;
 *  NULL: none of these. */
const char *mst_other_picture(const void *data, size_t size, uint64_t whole);

#endif
