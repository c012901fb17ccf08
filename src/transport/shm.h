/** Data to tasks of the same machine and user through shared memory. Another transport carries everything else.
 *
 *  Each task has a listener, a Unix socket in the abstract namespace: no other machine can connect to it. Its name has
 *  random digits; peers learn it when they make their other connection. A task that wants to send makes a link to the
 *  listener of the receiver:
 *
 *      task 0                                        task 1
 *      link  -- HELLO -------------------------->    checks task, process and user
 *            <- HELLO ---------------------------    from now on data go by the link
 *            -- SMALL key, bytes ---------------->
 *            -- DATA key, file, places in it ---->   copies the bytes out of the file once memory is posted for them
 *            <- DONE number ---------------------    the bytes may be overwritten
 *            -- GONE file ----------------------->   unmaps it
 *            -- CONTROL bytes ------------------->   and back, to a task whose listener is not known
 *
 *  Packets are read by the thread of this transport, or by another thread that has taken over its work.
 *
 *  Each block of memory allocated here (mst_shm_alloc) is a separate file (transport/memory_file.h). The file goes
 *  along with the first message that has bytes in it, and the receiver maps it for reading. The receiver therefore
 *  copies the bytes only once, or reads them in place. Small messages go along with their keys. The caller sends all
 *  other messages, and those that a link cannot take now, by its own connection.
 *
 *  When a generation ends, its sends are done at once, although a peer may still read their bytes. A peer that was
 *  stopped may read them much later. After copying, the peer therefore looks at the floor of the file, and drops
 *  messages that were over by then. */
#ifndef MUSTER_TRANSPORT_SHM_H
#define MUSTER_TRANSPORT_SHM_H

#include "transport/mailbox.h"

typedef struct mst_shm mst_shm;

typedef struct mst_shm_options {
    int32_t num_tasks, self;
    uint64_t instance;
    mst_mailbox *mailbox; /**< in which data are delivered */
    void *context;
    /** TASK has sent something that cannot be accepted: break all its connections. WHY: half a sentence. Called on a
     *  thread that holds no lock. */
    void (*refuse)(void *context, int32_t task, const char *why);
    /** TASK has sent a control message (mst_shm_control). Returns NULL, or why its connections must be broken. Called
     *  on the thread that receives, which holds no lock. */
    const char *(*control)(void *context, int32_t task, uint64_t instance, const void *data, size_t bytes);
} mst_shm_options;

/** Listens. MST_UNAVAILABLE, MST_OUT_OF_MEMORY if this machine does not provide such sockets or memory. */
MST_CHECKED mst_status mst_shm_open(const mst_shm_options *options, mst_shm **out);
/** After the return nothing is delivered or sent any more, and the mailbox may be destroyed. NULL is allowed, here and
 *  in mst_shm_close. */
void mst_shm_stop(mst_shm *shm);
/** Frees everything. All sends are done; peers keep the mappings of bytes that they have not copied yet. */
void mst_shm_close(mst_shm *shm);

/** The name to which peers connect: printable, valid while the transport is open. */
const char *mst_shm_listener_name(const mst_shm *shm);
/** From now on links of TASK are accepted only from process INSTANCE. */
void mst_shm_expect(mst_shm *shm, int32_t task, uint64_t instance);
/** Makes a link to TASK, process INSTANCE, whose listener has NAME, of LENGTH bytes. Does nothing if the link
 *  exists or the process is on another machine. */
void mst_shm_connect(mst_shm *shm, int32_t task, uint64_t instance, const void *name, size_t length);
/** Whether data to TASK go by a link. */
bool mst_shm_has_link(mst_shm *shm, int32_t task);
/** Whether there is a link that TASK has not answered yet: its process may take long to do so. */
bool mst_shm_makes_link(mst_shm *shm, int32_t task);

/** Another thread receives the packets of the links until mst_shm_hand_back; one thread at a time. It calls
 *  mst_shm_take when mst_shm_links, a file descriptor, is readable. */
void mst_shm_take_over(mst_shm *shm);
int mst_shm_links(const mst_shm *shm);
void mst_shm_take(mst_shm *shm);
void mst_shm_hand_back(mst_shm *shm);

/** Whether the process of TASK at the other end of the last link has ended. */
bool mst_shm_has_ended(mst_shm *shm, int32_t task);

/** As the functions of mst_transport_type. */
void *mst_shm_alloc(mst_shm *shm, size_t bytes);
void mst_shm_free(mst_shm *shm, void *memory);
void mst_shm_begin(mst_shm *shm, uint32_t generation);
void mst_shm_end(mst_shm *shm);
/** False: the message is not sent, and the caller must send it in another way. */
bool mst_shm_send(mst_shm *shm, int32_t to, mst_key key, const mst_iov *piece, int n, mst_timeline *done);
/** Sends a control message, which may overtake those sent in other ways. BACK: by the link that TO has made. False: the
 *  message is not sent, and the caller must send it in another way. */
bool mst_shm_control(mst_shm *shm, int32_t to, bool back, const void *data, size_t bytes);

#endif
