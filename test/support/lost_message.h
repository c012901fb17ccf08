/** A message of data that does not arrive: a step happens on one worker and not on another, and a recovery follows.
 *
 *  The linker puts the transport here in the place of the library's (--wrap, see test/CMakeLists.txt); without a call
 *  of these functions it does what that does. */
#ifndef MUSTER_TEST_SUPPORT_LOST_MESSAGE_H
#define MUSTER_TEST_SUPPORT_LOST_MESSAGE_H

/** From now on TASK does not receive the data of the last exchange of a step: it cannot end the step, and the others
 *  can. Only in exchanges so small that everybody sends all to all. Ends with lost_message_end. */
void lost_message_begin(int task);
/** Data arrives again. TASK, the worker of lost_message_begin, learns that its connections to the others have broken:
 *  the generation ends on all. Nothing where that was not called, or TASK is negative. */
void lost_message_end(int task);

#endif
