/** TensorFlow, and other peers, in a process of its own, that measures what it is asked for: so its rounds alternate
 *  with Muster's, and what the machine does meanwhile counts for both. */
#ifndef MUSTER_BENCH_TENSORFLOW_H
#define MUSTER_BENCH_TENSORFLOW_H

#include <stdbool.h>
#include <stdio.h>

typedef struct bench_tensorflow {
    FILE *questions, *answers;
    char path[96]; /**< of the answers */
} bench_tensorflow;

/** Installs PEERS, which are arguments of scripts/peers, under build/ where they are missing and starts SCRIPT of
 *  bench/peers with ARGUMENTS, as a shell reads them. FOLDER gets one file more until it is closed. False, with a
 *  message on standard error that begins with BENCHMARK, where that cannot be. */
bool bench_tensorflow_open(const char *benchmark, const char *peers, const char *folder, const char *script,
                           const char *arguments, bench_tensorflow *out);
/** What it answers to WHAT, a rate measured for SECONDS; 0 where it failed. */
double bench_tensorflow_ask(const bench_tensorflow *peer, const char *what, double seconds);
/** Whether it ended well. */
bool bench_tensorflow_close(bench_tensorflow *peer);

#endif
