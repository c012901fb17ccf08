/** Instructions of oneDNN: tasks whose weights must have the same bits use only instructions that all of them have. */
#ifndef MUSTER_CLUSTER_INSTRUCTIONS_H
#define MUSTER_CLUSTER_INSTRUCTIONS_H

#include "cluster/fingerprint.h"
#include "muster/status.h"

/** From now on oneDNN uses only the instructions in ALL, which all tasks have; 0: they are not known. LIST, of COUNT
 *  fingerprints of this task, NAME, is changed to say what it uses. LINE of SIZE bytes gets a line for the log; "":
 *  nothing has changed. MST_INVALID if oneDNN has already been used with other instructions. */
MST_CHECKED mst_status mst_instructions_limit(mst_fingerprint *list, int32_t count, uint64_t all, const char *name,
                                              char *line, size_t size);

#endif
