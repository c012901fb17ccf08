/** Lets a process end while a plugin works.
 *
 *  exit() calls destructors of the plugin's library. Threads of the plugin that still compile or run a program would
 *  then use destroyed objects, and crash. So exit() first waits for that work, two seconds at most. Then the process
 *  ends without destructors. */
#ifndef MUSTER_PJRT_UNDER_WAY_H
#define MUSTER_PJRT_UNDER_WAY_H

#include <stdbool.h>

/** The plugin begins to compile a program, to run one, or to copy. mst_pjrt_work_end must follow, on any thread. */
void mst_pjrt_work_begin(void);
void mst_pjrt_work_end(void);
/** Whether exit() is waiting: then nothing that takes long should begin. */
bool mst_pjrt_is_ending(void);
/** Makes exit() wait, as described above, before it calls the destructors that were registered before this call. Those
 *  that a plugin registers later, as in its first compilation, are called earlier: so call this again after that. */
void mst_pjrt_guard_exit(void);
/** Calls mst_pjrt_guard_exit if the plugin is working. This is for places after which the process may end soon: where
 *  there was an error, and where a plan is freed. */
void mst_pjrt_guard_work(void);

#endif
