/** Lets a process end without a crash while a plugin works.
 *
 *  exit() calls destructors of the plugin's library. Threads of the plugin that still compile or run a program would
 *  then use destroyed objects, and crash. So exit() first waits for that work, two seconds at most. If it has not ended
 *  by then, the process ends without destructors. */
#ifndef MUSTER_PJRT_UNDER_WAY_H
#define MUSTER_PJRT_UNDER_WAY_H

#include <stdbool.h>

/** Counts work of the plugin that begins: compiling a program, running one, or a copy. mst_pjrt_work_end must follow,
 *  on any thread. */
void mst_pjrt_work_begin(void);
void mst_pjrt_work_end(void);
/** Whether exit() has begun to wait: then no work that takes long should begin. */
bool mst_pjrt_is_ending(void);
/** Makes exit() wait, as described above, before it calls the destructors that were registered before this call. exit()
 *  goes from the newest to the oldest, so destructors that a plugin registers later, as in its first compilation, run
 *  before the wait. So call this again after the plugin may have registered some. */
void mst_pjrt_guard_exit(void);
/** Calls mst_pjrt_guard_exit if the plugin is working. Call it where the process may end soon: after an error, and when
 *  a plan is freed. */
void mst_pjrt_guard_work(void);

#endif
