/** Memory that other processes of this machine can read: files without a name (memfd). The kernel frees one when no
 *  process has it any more.
 *
 *      header page: floor | memory
 *
 *  The whole file is allocated when it is made, and its size is sealed. A process that has mapped it can therefore read
 *  all of it, even after its owner has died. */
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
    _Atomic uint64_t *floor; /**< start of the mapping. Messages of generations below *FLOOR are over: the owner raises
                              *   it before it overwrites memory that a peer may still be reading */
    size_t size;             /**< of the whole file, with the header */
    int fd;                  /**< in the owner, which sends it to others; otherwise -1 */
} mst_memory_file;

/** Makes a file with BYTES of zeros. MST_UNAVAILABLE, MST_OUT_OF_MEMORY if that fails. */
MST_CHECKED mst_status mst_memory_file_make(size_t bytes, mst_memory_file *out);
/** Maps FD, which a peer has sent, for reading; FD may be closed afterwards. Returns NULL, or, as half a sentence, why
 *  the file is not used. */
MST_CHECKED const char *mst_memory_file_map(int fd, mst_memory_file *out);
/** Unmaps the file here; other processes keep their mappings. */
void mst_memory_file_unmap(mst_memory_file *file);

static inline char *mst_memory_file_data(const mst_memory_file *file) {
    return (char *)(uintptr_t)file->floor + MST_MEMORY_FILE_HEADER;
}

#endif
