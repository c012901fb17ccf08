/** Variables of sessions over several tasks, read and set outside of runs: entries of a task's store. */
#ifndef MUSTER_SESSIONS_PART_STATES_H
#define MUSTER_SESSIONS_PART_STATES_H

#include "sessions/service.h"

/** Does what READER has, as in STATE of session_message.h, for the entries of SERVER's task. OUT gets the answer. Waits
 *  for steps, SECONDS at most. */
MST_CHECKED mst_status mst_session_part_states_take(mst_task_server *server, double seconds, mst_wire_reader *reader,
                                                    mst_wire_writer *out);

#endif
