/** Wakes threads that poll an eventfd. */
#ifndef MUSTER_BASE_WAKE_H
#define MUSTER_BASE_WAKE_H

#include <stdint.h>
#include <unistd.h>

/** Makes the eventfd FD readable. */
static inline void mst_wake(int fd) {
    const uint64_t one = 1;
    if (write(fd, &one, sizeof one) < 0) {
        /* its counter is at its maximum, so it is readable already */
    }
}

#endif
