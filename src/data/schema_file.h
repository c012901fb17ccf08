/** The schema of a dataset in a file beside its TFRecord files, which hold only numbers: PREFIX-schema.json. */
#ifndef MUSTER_DATA_SCHEMA_FILE_H
#define MUSTER_DATA_SCHEMA_FILE_H

#include "data/dataset.h"

/** Writes the schema of DATASET, or removes the file if DATASET has none. */
MST_CHECKED mst_status mst_schema_file_write(const char *prefix, const mst_dataset *dataset);
/** Sets *OUT to DATASET with the schema in the file, or to DATASET unchanged if there is no file. MST_INVALID, naming
 *  the file, if its text is not a schema. */
MST_CHECKED mst_status mst_schema_file_read(const char *prefix, mst_dataset *dataset, mst_dataset **out);

#endif
