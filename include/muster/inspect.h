/** Describes the contents of a file: data, models, checkpoints, event files. */
#ifndef MUSTER_INSPECT_H
#define MUSTER_INSPECT_H

#include <stdio.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes a description of PATH to OUT, as text: keys, dtypes, shapes, counts, statistics, damage. The
 *  format may be any that Muster reads; it is detected by the first bytes. PATH is a file; the prefix of a
 *  checkpoint; or a folder of checkpoints, of pictures or of event files. All of it is read and checked.
 *  Fails with MST_CORRUPT, naming the first damage, after writing everything that could be read;
 *  MST_INVALID if the format is not known; MST_NOT_FOUND, MST_IO. */
MST_API MST_CHECKED mst_status mst_inspect(const char *path, FILE *out);
/** As mst_inspect, as a line of JSON: {"file":"a.npz","format":"NPZ","tensors":[{"name":"x","dtype":"f32",...}],...,
 *  "num_damaged":0,"damage":[]}. A folder has a line for each kind of file in it. If the format is not known,
 *  nothing is written. */
MST_API MST_CHECKED mst_status mst_inspect_json(const char *path, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
