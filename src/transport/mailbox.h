/** Pairs the data messages that have arrived with the memory posted for them, by sender and key. A transport has one
 *  mailbox.
 *
 *      only a post      waits for its message
 *      only a message   is kept until memory is posted for it, as parts in the order in which they arrived
 *      both             bytes are copied into the posted memory, outside the lock; then `done` rises. If the
 *                       generation ended at the sender before the copy was complete, the sender may have overwritten
 *                       the bytes: they are ignored, and `done` rises when the generation ends here
 *
 *  A receiver may also borrow: if all parts of the message are kept, it gets the parts themselves instead of a copy.
 *
 *  A message may also be announced: its bytes are fetched once memory is posted for it. The mailbox says where they
 *  must go, and is told when they are there. It keeps no bytes of such a message.
 *
 *  All functions may be called by any thread. */
#ifndef MUSTER_TRANSPORT_MAILBOX_H
#define MUSTER_TRANSPORT_MAILBOX_H

#include "transport/event_thread.h"

typedef struct mst_mailbox mst_mailbox;

/** A part of a message. The parts of one message arrive from left to right. */
typedef struct mst_mailbox_part {
    int32_t from;
    mst_key key;
    size_t total;         /**< bytes of the whole message */
    size_t offset, bytes; /**< of this part */
    const void *data;
    /** not NULL: DATA is the sender's own memory. The sender may overwrite it as soon as *FLOOR is above the key's
     *  generation. NULL: nobody overwrites it */
    const _Atomic uint64_t *floor;
} mst_mailbox_part;

/** The entry of a message that is being fetched; valid until mst_mailbox_fetched. */
typedef struct mst_mailbox_entry mst_fetched;

/** Fetches an announced message into the posted memory INTO. Must not wait. One call of mst_mailbox_fetched with WHERE
 *  must follow. */
typedef void (*mst_fetch)(void *source, void *into, mst_fetched *where);

/** MOST_KEPT: the most bytes kept of messages for which no memory is posted. EVENTS, which receives the mismatches,
 *  must outlive the mailbox. At first no generation has begun. */
MST_CHECKED mst_status mst_mailbox_create(size_t most_kept, mst_event_thread *events, mst_mailbox **out);
/** Ends the generation. NULL is allowed. */
void mst_mailbox_destroy(mst_mailbox *box);

void mst_mailbox_begin(mst_mailbox *box, uint32_t generation);
void mst_mailbox_end(mst_mailbox *box);
/** Whether GENERATION has ended, or was skipped. */
bool mst_mailbox_is_over(mst_mailbox *box, uint32_t generation);

/** As mst_transport_type.post. MST_EXISTS if memory is already posted for the message. */
MST_CHECKED mst_status mst_mailbox_post(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes,
                                        mst_timeline *done);
/** As mst_transport_type.borrow. */
MST_CHECKED mst_status mst_mailbox_borrow(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes,
                                          mst_kept_part **lent, mst_timeline *done);
/** A part has arrived. If nothing is posted for it yet, the mailbox calls KEEP(SOURCE). KEEP sets `data`, `floor` and
 *  `release`; it returns NULL if there is no memory. KEEP NULL: the mailbox keeps a copy. Returns NULL, or, as half a
 *  sentence, why the connection to the sender must be given up. */
MST_CHECKED const char *mst_mailbox_deliver(mst_mailbox *box, const mst_mailbox_part *part,
                                            mst_kept_part *(*keep)(void *source), void *source);
/** MESSAGE is whole in one part and not empty; its sender keeps the bytes until they are fetched. When memory is posted
 *  for it, now or later, FETCH(SOURCE) is called. If it will never be fetched, RELEASE(SOURCE) is called instead.
 *  Returns as mst_mailbox_deliver. */
MST_CHECKED const char *mst_mailbox_announce(mst_mailbox *box, const mst_mailbox_part *message, mst_fetch fetch,
                                             void (*release)(void *source), void *source);
/** WHOLE: all bytes of the message are in the posted memory. Otherwise they will not come, and nothing writes to that
 *  memory any more. */
void mst_mailbox_fetched(mst_mailbox *box, mst_fetched *where, bool whole);
/** Whether memory is posted for messages that have not arrived yet. */
bool mst_mailbox_waits(mst_mailbox *box);

#endif
