/** Processes of this program that train a network by themselves. */
#ifndef MUSTER_BENCH_NETWORK_PROCESS_H
#define MUSTER_BENCH_NETWORK_PROCESS_H

/** Seconds from the start of `muster-bench NAME --first-step` to the end of its first step; negative where it
 *  failed. */
double bench_first_step_seconds(const char *name);
/** Examples a second of COUNT processes `muster-bench NAME --one-thread --seconds SECONDS` beside each other;
 *  negative where one failed. */
double bench_processes_rate(const char *name, int count, double seconds);

#endif
