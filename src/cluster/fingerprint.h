/** Fingerprints: what must be the same in all tasks of a job. The tasks compare them when they come together. Most are
 *  only a hash. The fingerprint of an option also has a value. An error can then say which option differs, and what its
 *  value is on each side. */
#ifndef MUSTER_CLUSTER_FINGERPRINT_H
#define MUSTER_CLUSTER_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MST_FINGERPRINTS_MOST = 96, MST_FINGERPRINT_NAME = 28, MST_FINGERPRINT_VALUE = 60 };

/** "tasks", "version" and "calls" come first. A list has no entry for an option that does not apply to the task. That
 *  is so for options of transforms of data (data/settings.h) and of callbacks that the task does not use. */
typedef struct mst_fingerprint {
    char name[MST_FINGERPRINT_NAME];   /**< "program", "data", "version", "tasks", "calls"; or the name of an option */
    uint64_t hash;                     /**< compared; for "oneDNN" it is mst_machine.onednn_isa_bits */
    char value[MST_FINGERPRINT_VALUE]; /**< of an option, for messages, cut off if it is too long; else "" */
} mst_fingerprint;

/** The fingerprint of an option. */
mst_fingerprint mst_fingerprint_option(const char *name, const char *value);

/** The meaning of the name of a fingerprint in words: "the program's graph"; NAME itself if it is not a known name. */
const char *mst_fingerprint_words(const char *name);

/** Whether the fingerprints A, [num_a], of a task differ from the fingerprints B, [num_b], of another one. If so,
 *  writes an error to TEXT of SIZE bytes that says what differs. FIRST and SECOND: the names of the two tasks. */
bool mst_fingerprints_differ(const mst_fingerprint *a, int32_t num_a, const char *first, const mst_fingerprint *b,
                             int32_t num_b, const char *second, char *text, size_t size);

/** Whether a fingerprint of this name describes the machine: "kernels", "oneDNN", "processor", "oneDNN version". These
 *  may differ; then bits may, too. */
bool mst_fingerprint_is_of_machine(const char *name);
/** The instructions of oneDNN that a task has or uses, a bit each; 0: its fingerprints do not include them. */
uint64_t mst_fingerprints_instructions(const mst_fingerprint *list, int32_t count);
/** From now on the task uses INSTRUCTIONS, whose name is NAME. */
void mst_fingerprints_set_instructions(mst_fingerprint *list, int32_t count, uint64_t instructions, const char *name);
/** Whether the machines of the two tasks differ. If so, writes a line to TEXT that says what differs and what to do.
 *  AGREED: the tasks have agreed on oneDNN's instructions, so these are not compared. */
bool mst_fingerprints_warn(const mst_fingerprint *a, int32_t num_a, const char *first, const mst_fingerprint *b,
                           int32_t num_b, const char *second, bool agreed, char *text, size_t size);

/** Reads fingerprints that another task has sent, BYTES of DATA, into OUT, [MST_FINGERPRINTS_MOST]. Terminates their
 *  texts, and replaces control characters by '?'. Returns the number of fingerprints; -1: DATA is not a list of
 *  fingerprints of this version. */
int32_t mst_fingerprints_take(const void *data, size_t bytes, mst_fingerprint *out);

#endif
