/** The backend of devices of plugins. */
#ifndef MUSTER_PJRT_PJRT_BACKEND_H
#define MUSTER_PJRT_PJRT_BACKEND_H

#include "run/backend.h"

extern const mst_backend mst_pjrt_backend;

#endif
