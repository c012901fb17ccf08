/** Instructions: tasks whose weights are to have the same bits use no instructions of oneDNN but those that all of them
 *  have. */
#ifndef MUSTER_CLUSTER_INSTRUCTIONS_H
#define MUSTER_CLUSTER_INSTRUCTIONS_H

#include "cluster/fingerprint.h"
#include "muster/status.h"

/** From now on oneDNN uses those of ALL, which all tasks have; 0: they are not known. LIST, of COUNT, are the
 *  fingerprints of this task, NAME, and say then what it uses. LINE of SIZE bytes gets what is to be said of it; "":
 *  nothing has changed. MST_INVALID where oneDNN has been used with others. */
MST_CHECKED mst_status mst_instructions_limit(mst_fingerprint *list, int32_t count, uint64_t all, const char *name,
                                              char *line, size_t size);

#endif
