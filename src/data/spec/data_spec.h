/** One kind of data spec, in one file each of this folder: "fashion-mnist", "idx:DIR". */
#ifndef MUSTER_DATA_SPEC_DATA_SPEC_H
#define MUSTER_DATA_SPEC_DATA_SPEC_H

#include "muster/dataset.h"

/** Members of mst_data_options that a kind takes. */
enum { MST_SPEC_SKIP_CORRUPT = 1, MST_SPEC_LABEL = 2, MST_SPEC_IMAGE_SIZE = 4 };

typedef struct mst_data_spec {
    const char *form;   /**< a name alone, or with what its argument is: "idx:DIR" */
    const char *help;   /**< half a line for `muster train --help` */
    const char *suffix; /**< of the files of this kind, "/" for folders: for who forgets the name; may be NULL */
    unsigned takes;     /**< bits MST_SPEC_... */
    /** The train or the test part. ARGUMENT is what follows the colon. NULL: open_with does it. */
    mst_status (*open)(const char *argument, bool test, mst_dataset **out);
    /** The same of a kind that takes options, which may be NULL. Neither: the kind is not supported yet. */
    mst_status (*open_with)(const char *argument, bool test, const mst_data_options *options, mst_dataset **out);
} mst_data_spec;

/** All kinds, ended by NULL; made by CMake from the files of this folder. */
extern const mst_data_spec *const mst_data_spec_table[];

#endif
