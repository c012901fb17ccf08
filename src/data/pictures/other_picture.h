/** Pictures of kinds that are not read, known by their first bytes. */
#ifndef MUSTER_DATA_PICTURES_OTHER_PICTURE_H
#define MUSTER_DATA_PICTURES_OTHER_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/** "GIF", "BMP", "TIFF" or "WebP": what the SIZE bytes of DATA begin as, the first of a file of WHOLE bytes. NULL: none
 *  of these. */
const char *mst_other_picture(const void *data, size_t size, uint64_t whole);

#endif
