/** Memory that other processes of this machine can read: files without a name (memfd), which go with the last process
 *  that has them.
 *
 *      header page: floor | memory
 *
 *  All of a file is allocated when it is made, and its size is sealed. So whoever has mapped it can read all of it,
 *  also when its owner has died. */
#ifndef MUSTER_TRANSPORT_MEMORY_FILE_H
#define MUSTER_TRANSPORT_MEMORY_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Bytes before the memory. */
enum { MST_MEMORY_FILE_HEADER = 4096 };

typedef struct mst_memory_file {
    _Atomic uint64_t *floor; /**< where it is mapped. The owner writes here that messages of generations below are over,
                              *   before it writes again to memory from which a peer may still read them */
    size_t size;             /**< of all, with the header */
    int fd;                  /**< of the owner, who hands it to others; else -1 */
} mst_memory_file;

/** A new file with BYTES of zeros. MST_UNAVAILABLE, MST_OUT_OF_MEMORY where there can be none. */
MST_CHECKED mst_status mst_memory_file_make(size_t bytes, mst_memory_file *out);
/** Maps FD, which a peer has sent and which may be closed then, to read it. Returns NULL, or in half a sentence why it
 *  is not used. */
MST_CHECKED const char *mst_memory_file_map(int fd, mst_memory_file *out);
/** The mapping goes; others keep theirs. */
void mst_memory_file_unmap(mst_memory_file *file);

static inline char *mst_memory_file_data(const mst_memory_file *file) {
    return (char *)(uintptr_t)file->floor + MST_MEMORY_FILE_HEADER;
}

#endif
