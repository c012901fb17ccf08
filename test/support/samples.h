/** A small file of each format that Muster reads, in the test's folder. */
#ifndef MUSTER_TEST_SUPPORT_SAMPLES_H
#define MUSTER_TEST_SUPPORT_SAMPLES_H

#include <stdbool.h>

typedef struct sample {
    const char *name;     /**< in the test's folder */
    const char *format;   /**< as the report names it */
    bool checks_length;   /**< a file that is cut off is known to be damaged */
    bool checks_all_bits; /**< check sums cover all of its bytes */
} sample;

/** All of them, ended by no name. */
extern const sample samples[];

/** Writes them; the checkpoint is in the folder "run", with its state file, the event file in "logs/train". Those of
 *  codecs that the library was built without are left out. */
void samples_write(void);

#endif
