/* What backends of modules get from the library. */
#include "base/clock.h"
#include "run/backend.h"
#include "run/compiled_fault.h"
#include "run/trace.h"

const mst_backend_services mst_backend_services_here = {
    .clock_now = mst_clock_now, .note_call = mst_note_call, .compiled_fail = mst_compiled_fail};
