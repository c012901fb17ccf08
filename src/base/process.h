/** Distinguishes a process from the one from which it was forked.
 *
 *  A child of fork() has a copy of all memory, but only the thread that called fork. A wait for another thread of the
 *  parent would never end. So objects that have threads, or wait for them, remember the process in which they were
 *  made. */
#ifndef MUSTER_BASE_PROCESS_H
#define MUSTER_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

/** A number that a process and its forked children do not share. Objects store the number of the process in which they
 *  were made. Makes no system call. */
uint64_t mst_process_number(void);
/** MST_INVALID if this is not process NUMBER but a child of it. WHAT says what was made in process NUMBER
 *  ("session"). */
MST_CHECKED mst_status mst_process_check(uint64_t number, const char *what);

#endif
