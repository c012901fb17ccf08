/** Data to tasks of the same machine and user through shared memory, beside a transport that carries everything else.
 *
 *  Each task listens at its door, a Unix socket in the abstract namespace: nobody of another machine can connect to it.
 *  Its name has random digits; peers learn it where they make their other connection. Who wants to send makes a link
 *  to the door of the receiver:
 *
 *      task 0                                        task 1
 *      link  -- HELLO -------------------------->    checks task, process and user
 *            <- HELLO ---------------------------    from now on data go by the link
 *            -- SMALL key, bytes ---------------->
 *            -- DATA key, file, places in it ---->   copies the bytes out of the file, once they are posted for
 *            <- DONE number ---------------------    the bytes may be written again
 *            -- GONE file ----------------------->   unmaps it
 *            -- CONTROL bytes ------------------->  and back, to one who has no door that is known here
 *
 *  Packets are read by the thread, or by another one that has taken its work over.
 *
 *  What is allocated here (mst_shm_alloc) is a file of its own (transport/memory_file.h), which goes along with the
 *  first message of bytes in it, and is mapped to be read. So bytes are copied once, by the receiver, or read
 *  where they lie. Small messages go along with their keys. All others, and those that a link does not take now, are
 *  left to the caller.
 *
 *  When a generation ends, its sends are done at once, though a peer may read their bytes still: maybe much later, when
 *  it was stopped. It looks at the floor of the file after it has copied, and drops what was over by then. */
#ifndef MUSTER_TRANSPORT_SHM_H
#define MUSTER_TRANSPORT_SHM_H

#include "transport/mailbox.h"

typedef struct mst_shm mst_shm;

typedef struct mst_shm_options {
    int32_t num_tasks, self;
    uint64_t instance;
    mst_mailbox *mailbox; /**< in which data are delivered */
    void *context;
    /** TASK has sent what cannot be taken: all its connections must be broken. WHY: half a sentence. On a thread that
     *  holds no lock. */
    void (*refuse)(void *context, int32_t task, const char *why);
    /** TASK has sent a control message (mst_shm_control). Returns NULL, or why its connections must be broken.
     *  Likewise, on the thread that receives. */
    const char *(*control)(void *context, int32_t task, uint64_t instance, const void *data, size_t bytes);
} mst_shm_options;

/** Listens. MST_UNAVAILABLE, MST_OUT_OF_MEMORY where this machine has no such sockets or memory. */
MST_CHECKED mst_status mst_shm_open(const mst_shm_options *options, mst_shm **out);
/** Nothing is delivered any more, and nothing sent. The mailbox may be destroyed then. NULL is allowed, here and in
 *  mst_shm_close. */
void mst_shm_stop(mst_shm *shm);
/** Frees all. Sends are done; what peers have not copied yet stays with them. */
void mst_shm_close(mst_shm *shm);

/** The name under which peers connect: printable, as long as the transport is open. */
const char *mst_shm_door(const mst_shm *shm);
/** Links of TASK are taken from process INSTANCE alone. */
void mst_shm_expect(mst_shm *shm, int32_t task, uint64_t instance);
/** Makes a link to TASK, process INSTANCE, whose door has this name of LENGTH bytes, where there is none yet and it is
 *  of this machine. */
void mst_shm_connect(mst_shm *shm, int32_t task, uint64_t instance, const void *door, size_t length);
/** Whether data to TASK go by a link. */
bool mst_shm_has_link(mst_shm *shm, int32_t task);
/** Whether there is one that TASK has not answered yet: its process may take long to come to that. */
bool mst_shm_makes_link(mst_shm *shm, int32_t task);

/** Another thread takes what comes by links, until mst_shm_hand_back: one at a time. It calls mst_shm_take when
 *  mst_shm_links, a file descriptor, is readable. */
void mst_shm_take_over(mst_shm *shm);
int mst_shm_links(const mst_shm *shm);
void mst_shm_take(mst_shm *shm);
void mst_shm_hand_back(mst_shm *shm);

/** Whether the process of TASK with which there was the last link has ended. */
bool mst_shm_has_ended(mst_shm *shm, int32_t task);

/** As the functions of mst_transport_type. */
void *mst_shm_alloc(mst_shm *shm, size_t bytes);
void mst_shm_free(mst_shm *shm, void *memory);
void mst_shm_begin(mst_shm *shm, uint32_t generation);
void mst_shm_end(mst_shm *shm);
/** False: the message is not sent, and must go otherwise. */
bool mst_shm_send(mst_shm *shm, int32_t to, mst_key key, const mst_iov *piece, int n, mst_timeline *done);
/** A control message, which may overtake those that go otherwise; BACK: by the link that TO has made. False:
 *  likewise. */
bool mst_shm_control(mst_shm *shm, int32_t to, bool back, const void *data, size_t bytes);

#endif
