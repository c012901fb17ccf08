/** The names of classes in a file beside TFRecord files, which hold only their numbers: PREFIX-labels.txt, one name per
 *  line. */
#ifndef MUSTER_DATA_LABELS_FILE_H
#define MUSTER_DATA_LABELS_FILE_H

#include "data/dataset.h"

/** Writes the names of the classes of DATASET. Removes the file if there are none, or if a name contains a line end. */
MST_CHECKED mst_status mst_class_names_write(const char *prefix, const mst_dataset *dataset);
/** DATASET with the names of its classes, if the file exists and the labels are integers; else DATASET unchanged. */
MST_CHECKED mst_status mst_class_names_read(const char *prefix, mst_dataset *dataset, mst_dataset **out);
/** The same for the file at PATH. */
MST_CHECKED mst_status mst_class_names_read_file(const char *path, mst_dataset *dataset, mst_dataset **out);

#endif
