/** What the command needs of the files of models beside the public functions. */
#ifndef MUSTER_MODEL_FILE_MODEL_FILE_H
#define MUSTER_MODEL_FILE_MODEL_FILE_H

#include "muster/model_file.h"

/** The network of the file PATH, with the notes and weights left out: a new model. COMPILED: as of mst_model_load. */
MST_API MST_CHECKED mst_status mst_network_load(const char *path, mst_model **out, mst_model_compiled *compiled);

#endif
