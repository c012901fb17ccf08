/** Teams: threads that share the work of one. The caller is a member; the others wait between calls, awake for some
 *  microseconds and then asleep. If they are so late, on a busy machine, that the caller alone is quicker, it works
 *  alone for a while. They treat denormal numbers as 0 (base/denormal.h), as a step does.
 */
#ifndef MUSTER_BASE_TEAM_H
#define MUSTER_BASE_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_team mst_team;

/** Does items BEGIN to END - 1; MEMBER, from 0 to the size of the team - 1, does them. */
typedef mst_status (*mst_team_body)(void *context, int64_t begin, int64_t end, int member);

/** What the thread of a member other than the caller does first. One that fails does no work: the others do its
 *  part. */
typedef mst_status (*mst_team_begin)(void *context, int member);

/** SIZE members, the caller among them. BEGIN may be NULL. */
MST_CHECKED mst_status mst_team_create(int size, bool spin, mst_team_begin begin, void *context, mst_team **out);
/** NULL is allowed. */
void mst_team_destroy(mst_team *team);
/** Members; 1 for NULL. */
int mst_team_size(const mst_team *team);
/** BODY over items 0 to N - 1 in runs of GRAIN (the last may be shorter). Each member has the runs of one part of the
 *  items, and then helps with those of others; which runs it does is not fixed. If several fail, the error is that
 *  of the first run. NULL, or one run: the caller does it all at once. Allocates nothing. Not to be called by
 *  a body. */
MST_CHECKED mst_status mst_team_run(mst_team *team, int64_t n, int64_t grain, mst_team_body body, void *context);

#endif
