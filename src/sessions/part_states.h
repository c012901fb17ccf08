/** Variables of sessions over several tasks, read and set from outside of runs: entries of a task's store. */
#ifndef MUSTER_SESSIONS_PART_STATES_H
#define MUSTER_SESSIONS_PART_STATES_H

#include "sessions/service.h"

/** Does what READER has, as STATE of session_message.h, with the entries that are SERVER's task's; OUT gets the
 *  answer. Waits at most SECONDS for steps. */
MST_CHECKED mst_status mst_session_part_states_take(mst_task_server *server, double seconds, mst_wire_reader *reader,
                                                    mst_wire_writer *out);

#endif
