/** The backend of the module `pjrt`: runs compiled programs on the devices of a PJRT plugin (run/backend.h). */
#ifndef MUSTER_PJRT_PJRT_BACKEND_H
#define MUSTER_PJRT_PJRT_BACKEND_H

#include "run/backend.h"

extern const mst_backend mst_pjrt_backend;

#endif
