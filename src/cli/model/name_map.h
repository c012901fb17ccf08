/** The file of --name-map: the names that the variables of a model have in a checkpoint.
 *
 *      # name here    = name in the file
 *      layer1/weights = dense/kernel
 *      layer1/biases  = dense/bias
 *      layer2         = output          # and all names below it
 */
#ifndef MUSTER_CLI_MODEL_NAME_MAP_H
#define MUSTER_CLI_MODEL_NAME_MAP_H

#include "muster/checkpoint.h"

/** Zero-initialised is empty. */
typedef struct name_map {
    mst_checkpoint_name *name;
    int count;
    char *text; /**< names point into it */
} name_map;

/** Reads the file at PATH; NULL gives an empty map. MST_INVALID if a line is wrong; the message tells its number. Free
 *  the map also after a failure. */
MST_CHECKED mst_status name_map_read(const char *path, name_map *out);
void name_map_free(name_map *map);

#endif
