/** The threads that walk the programs of a plan: one a device, the first of which is the caller's own. */
#ifndef MUSTER_RUN_EXECUTOR_H
#define MUSTER_RUN_EXECUTOR_H

#include "plan/plan.h"
#include "run/rendezvous.h"

typedef struct mst_executor mst_executor;

MST_CHECKED mst_status mst_executor_create(const mst_devices *devices, const mst_session_options *options,
                                           mst_executor **out);
void mst_executor_destroy(mst_executor *executor);
/** Runs one step on all devices and waits for them. Where several fail, the error that began it is returned. */
MST_CHECKED mst_status mst_executor_run(mst_executor *executor, const mst_plan *plan, mst_rendezvous *rendezvous,
                                        const mst_step *step);
/** True where each device's threads have cores of their own. */
bool mst_executor_spins(const mst_devices *devices);

#endif
