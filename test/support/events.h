/** The events of a log. */
#ifndef MUSTER_TEST_SUPPORT_EVENTS_H
#define MUSTER_TEST_SUPPORT_EVENTS_H

#include "format/events.h"

/** Gives the events of all event files in FOLDER of the test's folder to LOOK, in order. */
void each_event(const char *folder, void (*look)(const Muster__Event *event, void *context), void *context);

#endif
