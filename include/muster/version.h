/** Versions of Muster and of the libraries that it runs on. */
#ifndef MUSTER_VERSION_H
#define MUSTER_VERSION_H

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** "0.1.0" */
MST_API const char *mst_version(void);

typedef struct mst_library {
    const char *name, *version, *used_for;
} mst_library;
/** Sets *OUT to a list of the libraries that Muster uses, with their loaded versions; for ISA-L and hwloc, with the
 *  versions of their headers. The list belongs to Muster. Returns the number of libraries. */
MST_API int mst_libraries(const mst_library **out);

#ifdef __cplusplus
}
#endif
#endif
