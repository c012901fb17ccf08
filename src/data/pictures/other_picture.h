/** Recognises pictures of kinds that are not read, by their first bytes. */
#ifndef MUSTER_DATA_PICTURES_OTHER_PICTURE_H
#define MUSTER_DATA_PICTURES_OTHER_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/** The kind of picture that the SIZE bytes at DATA begin: "GIF", "BMP", "TIFF" or "WebP"; NULL: none of these. They are
 *  the first bytes of a file of WHOLE bytes. */
const char *mst_other_picture(const void *data, size_t size, uint64_t whole);

#endif
