/** Traces: what each device did when, in some steps.
 *
 *      mst_trace *trace;
 *      MST_TRY(mst_trace_create(&trace));
 *      mst_session_trace(session, trace);            // from now on
 *      MST_TRY(mst_session_run(...));
 *      mst_session_trace(session, NULL);             // no longer
 *      MST_TRY(mst_trace_write(trace, "trace.json"));
 *
 *  While no trace is taken, steps cost what they cost without this.
 */
#ifndef MUSTER_TRACE_H
#define MUSTER_TRACE_H

#include "muster/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_trace mst_trace;

/** An empty trace, owned by the caller. */
MST_API MST_CHECKED mst_status mst_trace_create(mst_trace **out);
/** NULL is allowed. No session may take it any more. */
MST_API void mst_trace_destroy(mst_trace *trace);
/** Runs of SESSION that begin from now on are added to TRACE, until another (or NULL: none) is given. A run that fails
 *  is left out. */
MST_API void mst_session_trace(mst_session *session, mst_trace *trace);
/** Number of runs in it. */
MST_API int64_t mst_trace_num_runs(const mst_trace *trace);
/** Writes a Chrome trace (JSON) to PATH, for chrome://tracing and ui.perfetto.dev: a lane per device with its kernels,
 *  feeds and copies, an arrow where one device waited for another, and the memory of each device's values as a
 *  counter. */
MST_API MST_CHECKED mst_status mst_trace_write(const mst_trace *trace, const char *path);

#ifdef __cplusplus
}
#endif
#endif
