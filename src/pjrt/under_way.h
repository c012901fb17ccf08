/** What a plugin is doing, for the end of the process.
 *
 *  exit() runs destructors of the plugin's library. Threads of it that still compile or run a program use what these
 *  destroy, and crash. So exit() first waits for what is under way. If that takes too long, the process ends without
 *  destructors. */
#ifndef MUSTER_PJRT_UNDER_WAY_H
#define MUSTER_PJRT_UNDER_WAY_H

#include <stdbool.h>

/** A compilation, a program or a copy begins. mst_pjrt_work_end must follow, on any thread. */
void mst_pjrt_work_begin(void);
void mst_pjrt_work_end(void);
/** Whether exit() was called: nothing that takes long should begin. */
bool mst_pjrt_is_ending(void);
/** exit() waits from now on, before destructors run that were registered until now. A plugin registers more of them in
 *  its first compilation, so this is called again when that has ended. */
void mst_pjrt_guard_exit(void);
/** The same if something is under way. Called where the process may end soon: after an error, or with a plan. */
void mst_pjrt_guard_work(void);

#endif
