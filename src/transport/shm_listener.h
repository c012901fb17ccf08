/** The listener of a task (transport/shm.h): a Unix socket in the abstract namespace. Peers of this machine and user
 *  make links at it. Also here: what the kernel says about the process at the other end of a link. */
#ifndef MUSTER_TRANSPORT_SHM_LISTENER_H
#define MUSTER_TRANSPORT_SHM_LISTENER_H

#include <stdbool.h>

#include "muster/status.h"

enum {
    MST_SHM_LISTENER_DIGITS = 32, /**< hexadecimal */
    MST_SHM_LISTENER_SIZE = sizeof "muster-" + MST_SHM_LISTENER_DIGITS
};

/** Makes a listener; its name goes to NAME, and its socket to *OUT. MST_UNAVAILABLE. After an error *OUT is -1, or a
 *  socket that the caller must close. */
MST_CHECKED mst_status mst_shm_listener_open(char name[MST_SHM_LISTENER_SIZE], int *out);
/** Returns a socket connected to the listener NAME of a task of this user; -1: there is no such listener. NAME need not
 *  end with 0. */
int mst_shm_listener_connect(const char *name);
/** Whether the process at the other end of socket FD belongs to this user. */
bool mst_shm_is_same_user(int fd);
/** Returns a file descriptor for the process at the other end of socket FD; -1: the process is not known here. The
 *  descriptor is readable when that process has ended. */
int mst_shm_process(int fd);

#endif
