/** Recognises pictures of kinds that are not read, by their first bytes. */
#ifndef MUSTER_DATA_PICTURES_OTHER_PICTURE_H
#define MUSTER_DATA_PICTURES_OTHER_PICTURE_H

#include <stddef.h>

/** The kind of a picture file that begins with the SIZE bytes at DATA: "TIFF"; NULL: none of these. */
const char *mst_other_picture(const void *data, size_t size);

#endif
