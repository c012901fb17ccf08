/** The door of a task (transport/shm.h): a Unix socket in the abstract namespace at which peers of this machine and
 *  user make links, and what the kernel says of who has made one. */
#ifndef MUSTER_TRANSPORT_SHM_DOOR_H
#define MUSTER_TRANSPORT_SHM_DOOR_H

#include <stdbool.h>

#include "muster/status.h"

enum {
    MST_SHM_DOOR_DIGITS = 32, /**< hexadecimal */
    MST_SHM_DOOR_SIZE = sizeof "muster-" + MST_SHM_DOOR_DIGITS
};

/** Listens at a new door, whose name goes to NAME, and whose socket to *OUT. MST_UNAVAILABLE; a socket that was made is
 *  the caller's also then, else *OUT is -1. */
MST_CHECKED mst_status mst_shm_door_open(char name[MST_SHM_DOOR_SIZE], int *out);
/** A socket that is connected with the door NAME, which need not end with 0, of a task of this user; -1: there is
 *  none. */
int mst_shm_door_connect(const char *name);
/** Whether the process at the other end of socket FD is of this user. */
bool mst_shm_is_same_user(int fd);
/** The process at the other end of socket FD, as a file descriptor that is readable when it has ended; -1: it is not
 *  known here. */
int mst_shm_process(int fd);

#endif
