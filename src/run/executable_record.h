/** A record of the executables that this process has used. For each source (a program with its compiler) it has a hash
 *  of the executable that was used last. */
#ifndef MUSTER_RUN_EXECUTABLE_RECORD_H
#define MUSTER_RUN_EXECUTABLE_RECORD_H

#include "run/executable_cache.h"

enum { MST_USED_EXECUTABLES_MOST = 256 };

/** An executable that was used. */
typedef struct mst_used_executable {
    mst_executable_key source;   /**< key of its source */
    mst_executable_key compiler; /**< key of the same source without its text: options, plugin and kind of device */
    mst_executable_key bytes;    /**< SHA-256 of its bytes; a random number if the backend cannot give them */
} mst_used_executable;

/** Sets OUT to `bytes` of mst_used_executable for an executable of SIZE bytes at DATA. DATA is NULL if the backend
 *  cannot give the bytes. */
void mst_executable_hash(const void *data, size_t size, mst_executable_key *out);
/** Notes that the executable of SOURCE with these BYTES is used now. If the record is full, the executable that was
 *  noted longest ago is dropped from it. */
void mst_executable_note_used(const mst_executable_source *source, const mst_executable_key *bytes);
/** A number that rises with each call of mst_executable_note_used. */
uint64_t mst_executables_num_uses(void);
/** Copies all executables of the record to OUT, sorted by the key of the source, and returns their number. */
int mst_executables_used(mst_used_executable out[MST_USED_EXECUTABLES_MOST]);

#endif
