/** The plugin of `muster-bench compiled` and `muster-bench device`: it hands all calls on to a real plugin, and can
 *  make those of a step again, without Muster. A step must be one that does the same each time.
 *
 *  MUSTER_BENCH_PLUGIN  the file of the real plugin
 *  MUSTER_BENCH_START   a file that gets, as text, three times of a process in seconds on CLOCK_MONOTONIC: when the
 *                       plugin began to load, when its client was made, and when the first program began
 *
 *  The functions are found by dlsym. None may be called while the plugin works. */
#ifndef MUSTER_BENCH_PJRT_RECORDER_H
#define MUSTER_BENCH_PJRT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

/** From now on calls are recorded: copies to a device, programs, and copies to the host. */
typedef void recorder_begin_function(void);
/** Ends the record. False: there was no program, or more than the record has room for. */
typedef bool recorder_end_function(void);
/** Makes the recorded calls once, in their order, and waits for all that they started. False: one failed. */
typedef bool recorder_replay_function(void);
/** Frees what the record keeps. */
typedef void recorder_drop_function(void);
/** Begins to count the bytes of buffers that are made from now on. Returns the most that were there at once since the
 *  call before. */
typedef int64_t recorder_bytes_function(void);
/** Begins to note when the device has nothing to do: from the end of all programs that were started to the start of the
 *  next one. Returns these seconds since the call before. */
typedef double recorder_idle_function(void);

#endif
