/** Fingerprints: hashes of what must be the same in all tasks of a job, compared when they come together. */
#ifndef MUSTER_CLUSTER_FINGERPRINT_H
#define MUSTER_CLUSTER_FINGERPRINT_H

#include <stdint.h>

enum { MST_FINGERPRINTS_MOST = 8, MST_FINGERPRINT_NAME = 24 };

typedef struct mst_fingerprint {
    char name[MST_FINGERPRINT_NAME]; /**< "program", "options", "data", "version", "tasks", or another word */
    uint64_t hash;
} mst_fingerprint;

/** What a fingerprint of this name stands for: "the learning rate or another option"; NAME itself where it is another
 *  word. */
const char *mst_fingerprint_words(const char *name);

#endif
