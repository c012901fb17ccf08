/* What backends of modules get from the library. */
#include "run/backend.h"
#include "run/compiled_fault.h"

const mst_backend_services mst_backend_services_here = {.compiled_fail = mst_compiled_fail};
