/** Instructions of oneDNN: tasks whose weights must have the same bits use only instructions that all of them have. */
#ifndef MUSTER_CLUSTER_INSTRUCTIONS_H
#define MUSTER_CLUSTER_INSTRUCTIONS_H

#include "cluster/fingerprint.h"
#include "muster/status.h"

/** From now on oneDNN uses only the instructions in ALL, which all tasks have; 0: they are not known. LIST, the COUNT
 *  fingerprints of this task, is changed to say what the task uses. NAME: the task, for the error. LINE of SIZE bytes
 *  gets a line for the log; "": nothing has changed. MST_INVALID if oneDNN already computes with other instructions. */
MST_CHECKED mst_status mst_instructions_limit(mst_fingerprint *list, int32_t count, uint64_t all, const char *name,
                                              char *line, size_t size);

#endif
