/** Teams: threads that share the work of one thread. The caller is a member. The other members wait between calls: they
 *  spin for some microseconds and then sleep. If they are so late on a busy machine that the caller alone is faster, it
 *  works alone for a while. Members treat denormal numbers as 0 (base/denormal.h), like a step.
 */
#ifndef MUSTER_BASE_TEAM_H
#define MUSTER_BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_team mst_team;

/** Does items BEGIN to END - 1 on the thread of member number MEMBER. The members of a team of N are numbered from 0 to
 *  N - 1. */
typedef mst_status (*mst_team_body)(void *context, int64_t begin, int64_t end, int member);

/** Runs first on the thread of each member other than the caller. A member for which it fails does no work; the others
 *  do its part. */
typedef mst_status (*mst_team_begin)(void *context, int member);

/** Makes a team of SIZE members, including the caller. SPIN: members that wait spin before they sleep
 *  (mst_timeline_wait). BEGIN may be NULL. */
MST_CHECKED mst_status mst_team_create(int size, bool spin, mst_team_begin begin, void *context, mst_team **out);
/** NULL is allowed. */
void mst_team_destroy(mst_team *team);
/** The number of members; 1 for NULL. */
int mst_team_size(const mst_team *team);
/** Calls BODY for items 0 to N - 1 in runs of GRAIN neighbouring items; the last run may be shorter. Each member begins
 *  with the runs of one part of the items, and then helps with other parts. Which runs a member does may therefore
 *  differ from call to call. If several runs fail, the error is that of the first. If TEAM is NULL or has one member,
 *  or if there is one run, the caller does all items in one call. Allocates nothing. A body must not call it. */
MST_CHECKED mst_status mst_team_run(mst_team *team, int64_t n, int64_t grain, mst_team_body body, void *context);

#endif
