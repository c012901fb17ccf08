/** Python programs that measure the peers. They are in bench/peers of the source tree that this program was built from,
 *  and run in the environment build/peers there. */
#ifndef MUSTER_BENCH_PYTHON_H
#define MUSTER_BENCH_PYTHON_H

#include <stdbool.h>
#include <stdio.h>

/** Installs PEERS, which are arguments of scripts/peers, where they are missing. False, with a message on standard
 *  error that begins with BENCHMARK, where that cannot be. */
bool bench_python_install(const char *benchmark, const char *peers);
/** Starts Python as popen does, with ARGUMENTS as a shell reads them; "$MUSTER_SOURCE" in them is the source tree.
 *  NULL where it cannot be started. */
FILE *bench_python_open(const char *arguments, const char *mode);

#endif
