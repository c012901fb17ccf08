#include "data/pictures/other_picture.h"

#include <string.h>

const char *mst_other_picture(const void *data, size_t size) {
    static const struct {
        const char *name, *begin;
        size_t length;
    } kinds[] = {{"TIFF", "II*\0", 4}, {"TIFF", "MM\0*", 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size > kinds[i].length && memcmp(data, kinds[i].begin, kinds[i].length) == 0) return kinds[i].name;
    return NULL;
}
