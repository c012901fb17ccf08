/** Recognises pictures of kinds that are not read, by their first bytes. */
#ifndef MUSTER_DATA_PICTURES_OTHER_PICTURE_H
#define MUSTER_DATA_PICTURES_OTHER_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/** The kind of a picture file: "GIF", "BMP", "TIFF" or "WebP"; NULL: none of these. The file has WHOLE bytes, and
 *  begins with the SIZE bytes at DATA. */
const char *mst_other_picture(const void *data, size_t size, uint64_t whole);

#endif
