/** The names of classes beside TFRecord files, which hold only their numbers: PREFIX-labels.txt, one name on a line. */
#ifndef MUSTER_DATA_LABELS_FILE_H
#define MUSTER_DATA_LABELS_FILE_H

#include "data/dataset.h"

/** Writes those of the labels of DATASET, or removes the file if there are none, or if a name contains a line end. */
MST_CHECKED mst_status mst_class_names_write(const char *prefix, const mst_dataset *dataset);
/** DATASET, with the names if the file is there and the labels are integers. */
MST_CHECKED mst_status mst_class_names_read(const char *prefix, mst_dataset *dataset, mst_dataset **out);
/** The same of the file at PATH. */
MST_CHECKED mst_status mst_class_names_read_file(const char *path, mst_dataset *dataset, mst_dataset **out);

#endif
