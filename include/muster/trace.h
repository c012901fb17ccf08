/** Traces: what each device did in some steps, and when.
 *
 *      mst_trace *trace;
 *      MST_TRY(mst_trace_create(&trace));
 *      mst_session_trace(session, trace);            // from now on
 *      MST_TRY(mst_session_run(...));
 *      mst_session_trace(session, NULL);             // no longer
 *      MST_TRY(mst_trace_write(trace, "trace.json"));
 *
 *  Steps that are not traced cost nothing extra.
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
/** NULL is allowed. No session may still add to it. */
MST_API void mst_trace_destroy(mst_trace *trace);
/** From now on, runs of SESSION are added to TRACE, until this function is called with another trace (NULL: none). A
 *  run that fails is not added. */
MST_API void mst_session_trace(mst_session *session, mst_trace *trace);
/** Number of runs in the trace. */
MST_API int64_t mst_trace_num_runs(const mst_trace *trace);
/** Writes a Chrome trace (JSON) to PATH, for chrome://tracing and ui.perfetto.dev. It shows a lane per device with its
 *  kernels, feeds and copies, and arrows where one device waited for another. A device that compiles has a second lane:
 *  its programs. A counter shows the memory of each device's values. */
MST_API MST_CHECKED mst_status mst_trace_write(const mst_trace *trace, const char *path);

#ifdef __cplusplus
}
#endif
#endif
