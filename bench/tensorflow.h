/** TensorFlow in a process of its own, that measures what it is asked for: so its rounds alternate with Muster's, and
 *  what the machine does meanwhile counts for both. */
#ifndef MUSTER_BENCH_TENSORFLOW_H
#define MUSTER_BENCH_TENSORFLOW_H

#include <stdbool.h>
#include <stdio.h>

typedef struct bench_tensorflow {
    FILE *questions, *answers;
    char path[96]; /**< of the answers */
} bench_tensorflow;

/** Installs TensorFlow under build/ where it is missing and starts bench/peers/tensorflow_data.py on the files of
 *  FOLDER, to which it adds one file until it is closed. False, with a message on standard error, where that cannot
 *  be. */
bool bench_tensorflow_open(const char *folder, bench_tensorflow *out);
/** Passes over the files of WHAT a second, measured for SECONDS; 0 where it failed. */
double bench_tensorflow_ask(const bench_tensorflow *peer, const char *what, double seconds);
/** Whether it ended well. */
bool bench_tensorflow_close(bench_tensorflow *peer);

#endif
