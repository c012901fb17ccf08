/** Where the data messages that have arrived and the memory that was posted for them find each other, by sender and
 *  key. A transport has one.
 *
 *      post            waits for its message
 *      message         is kept until it is posted for, as parts in the order in which they arrived
 *      both            bytes are copied into the posted memory, outside the lock; then `done` rises. Where the
 *                      generation was over for the sender by then, who may have written them again, they do not count:
 *                      the post is done when the generation ends here
 *
 *  Who posts may also borrow: a message whose parts are all kept is not copied then, but handed over as it is.
 *
 *  A message may also be announced, and its bytes fetched once memory is posted for it: the mailbox says where they are
 *  to go, and is told when they are there. Nothing of it is kept.
 *
 *  All functions may be called by any thread. */
#ifndef MUSTER_TRANSPORT_MAILBOX_H
#define MUSTER_TRANSPORT_MAILBOX_H

#include "transport/event_thread.h"

typedef struct mst_mailbox mst_mailbox;

/** A part of a message. The parts of one message arrive from left to right. */
typedef struct mst_message_part {
    int32_t from;
    mst_key key;
    size_t total; /**< bytes of the whole message */
    size_t offset, bytes;
    const void *data;
    const _Atomic uint64_t *floor; /**< DATA is the sender's own memory, which it may write again as soon as this is
                                    *   above the key's generation; NULL: nobody writes it */
} mst_message_part;

/** The place of a message that is being fetched, until mst_mailbox_fetched. */
typedef struct mst_mailbox_entry mst_fetched;

/** How an announced message is fetched: INTO is the posted memory. Must not wait, and leads to one call of
 *  mst_mailbox_fetched with WHERE. */
typedef void (*mst_fetch)(void *source, void *into, mst_fetched *where);

/** MOST_KEPT: bytes of messages that nobody has posted for. EVENTS, which is told of mismatches, must outlive the
 *  mailbox. No generation has begun. */
MST_CHECKED mst_status mst_mailbox_create(size_t most_kept, mst_event_thread *events, mst_mailbox **out);
/** Ends the generation. NULL is allowed. */
void mst_mailbox_destroy(mst_mailbox *box);

void mst_mailbox_begin(mst_mailbox *box, uint32_t generation);
void mst_mailbox_end(mst_mailbox *box);
/** Whether GENERATION has ended, or been left out. */
bool mst_mailbox_is_over(mst_mailbox *box, uint32_t generation);

/** As mst_transport_type.post. MST_EXISTS where memory is posted for the message already. */
MST_CHECKED mst_status mst_mailbox_post(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes,
                                        mst_timeline *done);
/** As mst_transport_type.borrow. */
MST_CHECKED mst_status mst_mailbox_borrow(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes,
                                          mst_kept_part **lent, mst_timeline *done);
/** A part has arrived. KEEP(SOURCE) is called where nothing is posted for it yet, and returns NULL where memory is out;
 *  it sets `data`, `floor` and `release`. KEEP NULL: the mailbox keeps a copy. Returns NULL, or in half a sentence why
 *  the sender must be given up. */
MST_CHECKED const char *mst_mailbox_deliver(mst_mailbox *box, const mst_message_part *part,
                                            mst_kept_part *(*keep)(void *source), void *source);
/** The sender of MESSAGE, whose parts are one and not empty, keeps its bytes until they are fetched. FETCH(SOURCE) is
 *  called where memory is posted for it, now or later; SOURCE is released where that will not be: RELEASE(SOURCE).
 *  Returns as mst_mailbox_deliver. */
MST_CHECKED const char *mst_mailbox_announce(mst_mailbox *box, const mst_message_part *message, mst_fetch fetch,
                                             void (*release)(void *source), void *source);
/** All bytes of a message are in the posted memory; WHOLE false: they will not come, and nothing writes there any
 *  more. */
void mst_mailbox_fetched(mst_mailbox *box, mst_fetched *where, bool whole);
/** Whether memory is posted for messages that are not there yet. */
bool mst_mailbox_waits(mst_mailbox *box);

#endif
