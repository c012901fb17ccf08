/** The schema of data beside its TFRecord files, which hold only numbers: PREFIX-schema.json. */
#ifndef MUSTER_DATA_SCHEMA_FILE_H
#define MUSTER_DATA_SCHEMA_FILE_H

#include "data/dataset.h"

/** Writes that of DATASET, or removes the file if it has none. */
MST_CHECKED mst_status mst_schema_file_write(const char *prefix, const mst_dataset *dataset);
/** DATASET, with the schema if the file is there. MST_INVALID, naming the file, if that is no schema. */
MST_CHECKED mst_status mst_schema_file_read(const char *prefix, mst_dataset *dataset, mst_dataset **out);

#endif
