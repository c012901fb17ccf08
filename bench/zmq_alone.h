/** Two processes of this machine that send each other messages over TCP by ZeroMQ alone: a bound of what Muster's
 *  transports can do. */
#ifndef MUSTER_BENCH_ZMQ_ALONE_H
#define MUSTER_BENCH_ZMQ_ALONE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "muster/status.h"

typedef struct bench_zmq {
    pid_t other;
    void *socket;
    char *message;
    size_t bytes;
    bool at_once;
} bench_zmq;

/** Starts the other process. It answers each message of BYTES by one; AT_ONCE: it sends one before it waits for that of
 *  this process, and each of them keeps to a core of its own, as two workers do. Call bench_zmq_stop also after an
 *  error. */
MST_CHECKED mst_status bench_zmq_start(size_t bytes, bool at_once, bench_zmq *out);
/** A message to the other process, and one back. */
MST_CHECKED mst_status bench_zmq_exchange(bench_zmq *zmq);
void bench_zmq_stop(bench_zmq *zmq);

#endif
