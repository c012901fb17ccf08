/** What the files of transport/shm.h share: links, memory, and messages under way.
 *
 *      shm.c            the thread; opening and closing
 *      shm_link.c       links, and the files of peers that are mapped
 *      shm_send.c       memory of this task, and messages that it sends
 *      shm_receive.c    packets that come by the links
 *
 *  Order of locks: the receiver's lock, then the mailbox's, then `lock`, under which no other is taken. Only the
 *  receiver reads from sockets and closes them. The receiver is the thread of shm.c, or another thread that waits for
 *  messages and has taken its place. */
#ifndef MUSTER_TRANSPORT_SHM_INSIDE_H
#define MUSTER_TRANSPORT_SHM_INSIDE_H

#include <pthread.h>

#include "transport/memory_file.h"
#include "transport/shm.h"
#include "transport/shm_listener.h"
#include "transport/shm_packet.h"

/** A file of a peer. It is shared by the link and each message that reads from it. */
typedef struct mst_shm_mapped {
    struct mst_shm_mapped *next;
    uint64_t number;
    mst_memory_file file;
    int64_t users;
} mst_shm_mapped;

/** A link. It is shared by the list and each message that has come by it. After it is closed, it stays on the list for
 *  as long as the peer may read the bytes that were sent by it. */
typedef struct mst_shm_link {
    struct mst_shm_link *next;
    int64_t users;
    int fd;       /* -1: closed */
    int process;  /* for sending links: the process at the other end (pidfd_open); -1: not known */
    bool is_out;  /* made by this task, for sending */
    bool is_up;   /* the other end has said HELLO */
    int32_t task; /* the other end; of a link that the peer made: set once it is up */
    uint64_t instance;
    uint64_t serial;       /* number of the link, from 1 */
    int undone;            /* messages sent and not DONE */
    mst_shm_mapped *files; /* of the peer */
} mst_shm_link;

/** Memory of this task from which it sends. */
typedef struct mst_shm_owned {
    struct mst_shm_owned *next;
    uint64_t number;
    mst_memory_file file;
    uint64_t *given; /* [num_tasks] serial of the link by which each task has got the file */
} mst_shm_owned;

/** A message that was sent and has no DONE yet. */
typedef struct mst_shm_sending {
    struct mst_shm_sending *next;
    uint64_t number, by; /* serial of its link */
    uint32_t generation;
    mst_timeline *done;
} mst_shm_sending;

struct mst_shm {
    mst_shm_options options;
    char name[MST_SHM_LISTENER_SIZE];
    int listener, wake;
    int epoll; /* watches the links */
    int watch; /* watches the listener and `wake`, and `epoll` unless another thread receives */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t receiving; /* held by the receiver while it takes packets */
    mst_shm_packet packet;     /* the packet that the receiver reads */
    pthread_mutex_t lock;      /* guards all members after it, and links, files and messages */
    bool stopped;
    uint64_t floor;     /* generations below it are over */
    uint32_t present;   /* the generation that was begun last */
    int *process;       /* [num_tasks] file descriptor of the process of the last link (pidfd_open); -1: none */
    uint64_t *expected; /* [num_tasks] only links of this instance are accepted; 0: none */
    mst_shm_link **out; /* [num_tasks] the link by which this task sends; NULL: none */
    mst_shm_link *links;
    uint64_t num_links, num_files, num_sent; /* so far */
    mst_shm_owned *files;
    mst_shm_sending *first, **last, *spare;
};

/* ---- links and files of peers (shm_link.c), under the lock ---- */

/** Returns a link that takes over FD. NULL if there is no memory; FD is closed then. */
mst_shm_link *mst_shm_link_add(mst_shm *shm, int fd, bool is_out, int32_t task, uint64_t instance);
/** Closes L. The peer may still read messages that were sent by L and are not DONE. L therefore stays on the list until
 *  the peer's process has ended. */
void mst_shm_link_close(mst_shm *shm, mst_shm_link *l);
/** Takes the closed link L off the list. */
void mst_shm_link_remove(mst_shm *shm, mst_shm_link *l);
/** From now on nothing is sent on L. */
void mst_shm_link_leave_out(mst_shm *shm, const mst_shm_link *l);
/** Sends HELLO to task TO; false if the socket does not take it. */
bool mst_shm_link_hello(const mst_shm *shm, int fd, int32_t to);
/** Each of these removes one user of L or M; the last one frees it. */
void mst_shm_link_leave(mst_shm_link *l);
void mst_shm_mapped_leave(mst_shm_mapped *m);

/* ---- messages under way (shm_send.c) ---- */

/** Takes the message at AT, which is over, off the list. Under the lock. */
void mst_shm_sending_end(mst_shm *shm, mst_shm_sending **at);
/** All sends are done; frees them and the memory. */
void mst_shm_memory_close(mst_shm *shm);

#endif
