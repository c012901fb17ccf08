/* The functions of the library that backends of modules may call. */
#include "base/clock.h"
#include "run/backend.h"
#include "run/compiled_fault.h"
#include "run/errand.h"
#include "run/executables.h"
#include "run/trace.h"

const mst_backend_services mst_backend_services_here = {.clock_now = mst_clock_now,
                                                        .note_call = mst_note_call,
                                                        .note_compiling = mst_note_compiling,
                                                        .note_program = mst_note_program,
                                                        .compiled_fail = mst_compiled_fail,
                                                        .errand_start = mst_errand_start,
                                                        .errand_wait = mst_errand_wait,
                                                        .errand_leave = mst_errand_leave,
                                                        .executable_key = mst_executable_key_make,
                                                        .executable_make = mst_executable_make};
