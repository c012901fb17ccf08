/** The ends of names. */
#ifndef MUSTER_BASE_ENDING_H
#define MUSTER_BASE_ENDING_H

#include <stdbool.h>
#include <string.h>

/** Whether NAME ends in ENDING, such as ".npz", and has something before it. */
static inline bool mst_ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), size = strlen(ending);
    return length > size && strcmp(name + length - size, ending) == 0;
}

#endif
