/* A hash table of entries under one lock. Bytes are copied outside the lock. An entry counts the threads that are
 * copying, and the end of a generation waits for them. */
#include "transport/mailbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

enum { LEAST_BUCKETS = 64 };

/* A post, a message that has begun to arrive, or both. */
typedef struct mst_mailbox_entry {
    struct mst_mailbox_entry *next; /* in the bucket, or in the list of spare entries */
    int32_t from;
    mst_key key; /* with the post's hash if there is a post */
    bool posted, arriving;
    bool refused;  /* the message does not fit the post: the owner was told, and its remaining parts are dropped */
    int copying;   /* threads that are copying into the posted memory */
    size_t copied; /* bytes of the message that have been copied */
    /* of the post */
    void *into;
    size_t bytes;
    mst_kept_part **lent; /* NULL: the poster does not borrow */
    mst_timeline *done;
    /* of the message */
    uint64_t hash;
    size_t total, arrived;
    mst_kept_part *kept, **last;
    mst_fetch fetch; /* set if the message is only announced */
    void (*release)(void *source);
    void *source;
} entry;

struct mst_mailbox {
    size_t most_kept;
    mst_event_thread *events;
    pthread_mutex_t lock;    /* guards all members after it */
    pthread_cond_t uncopied; /* the end of a generation waits until nobody copies into its memory */
    uint64_t floor;          /* generations below it are over */
    uint32_t present;        /* the generation that was begun last */
    size_t bytes_kept, num_entries, num_posted, num_buckets;
    entry **bucket; /* [num_buckets], a power of two */
    entry *spare;
};

/* ---- the table ---- */

static size_t mailbox_hash(int32_t from, mst_key key) {
    uint64_t h = ((uint64_t)key.stream << 32 | (uint32_t)from) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 29 ^ key.run) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 32 ^ key.generation) * 0x94d049bb133111ebu;
    return (size_t)(h ^ h >> 31);
}

/* Returns the link that points to the entry, or that would point to it if there is none. */
static entry **mailbox_find(mst_mailbox *box, int32_t from, mst_key key) {
    entry **at = &box->bucket[mailbox_hash(from, key) & (box->num_buckets - 1)];
    while (*at && !((*at)->from == from && (*at)->key.generation == key.generation && (*at)->key.stream == key.stream &&
                    (*at)->key.run == key.run))
        at = &(*at)->next;
    return at;
}

/* Doubles the buckets. Without memory for them the chains get longer, and nothing else changes. */
static void mailbox_grow(mst_mailbox *box) {
    const size_t before = box->num_buckets;
    entry **old = box->bucket, **bucket = calloc(2 * before, sizeof *bucket);
    if (!bucket) return;
    box->bucket = bucket;
    box->num_buckets = 2 * before;
    for (size_t i = 0; i < before; i++)
        for (entry *e = old[i], *next; e; e = next) {
            next = e->next;
            entry **at = &bucket[mailbox_hash(e->from, e->key) & (2 * before - 1)];
            e->next = *at;
            *at = e;
        }
    free(old);
}

/* Returns the entry, made if there is none; NULL if there is no memory. */
static entry *mailbox_entry(mst_mailbox *box, int32_t from, mst_key key) {
    entry **at = mailbox_find(box, from, key);
    if (*at) return *at;
    if (box->num_entries >= box->num_buckets) {
        mailbox_grow(box);
        at = mailbox_find(box, from, key);
    }
    entry *e = box->spare ? box->spare : malloc(sizeof *e);
    if (!e) return NULL;
    if (box->spare) box->spare = e->next;
    *e = (entry){.from = from, .key = key};
    e->last = &e->kept;
    *at = e;
    box->num_entries++;
    return e;
}

void mst_kept_parts_release(mst_kept_part *kept) {
    for (mst_kept_part *next; kept; kept = next) {
        next = kept->next;
        kept->release(kept);
    }
}

static void mailbox_remove(mst_mailbox *box, entry *e) {
    entry **at = &box->bucket[mailbox_hash(e->from, e->key) & (box->num_buckets - 1)];
    while (*at != e) at = &(*at)->next;
    *at = e->next;
    for (const mst_kept_part *kept = e->kept; kept; kept = kept->next) box->bytes_kept -= kept->bytes;
    mst_kept_parts_release(e->kept);
    if (e->fetch) e->release(e->source);
    e->next = box->spare;
    box->spare = e;
    box->num_entries--;
    box->num_posted -= e->posted;
}

mst_status mst_mailbox_create(size_t most_kept, mst_event_thread *events, mst_mailbox **out) {
    mst_mailbox *box = calloc(1, sizeof *box);
    entry **bucket = calloc(LEAST_BUCKETS, sizeof *bucket);
    if (!box || !bucket) {
        free(box);
        free(bucket);
        return MST_NO_MEMORY("for the messages of a transport");
    }
    box->most_kept = most_kept;
    box->events = events;
    box->bucket = bucket;
    box->num_buckets = LEAST_BUCKETS;
    pthread_mutex_init(&box->lock, NULL);
    pthread_cond_init(&box->uncopied, NULL);
    *out = box;
    return MST_OK;
}

/* ---- generations ---- */

/* Removes the entries of generations that are over, and raises `done` of their posts. Returns whether some could not be
 * removed yet, because a thread is copying into their memory. */
static bool sweep(mst_mailbox *box) {
    bool busy = false;
    for (size_t i = 0; i < box->num_buckets; i++)
        for (entry **at = &box->bucket[i]; *at;) {
            entry *e = *at;
            if (e->key.generation >= box->floor || e->copying) {
                busy |= e->key.generation < box->floor;
                at = &(*at)->next;
                continue;
            }
            mst_timeline *done = e->posted ? e->done : NULL;
            mailbox_remove(box, e);
            if (done) mst_timeline_add(done, 1);
        }
    return busy;
}

/* Ends the generations below FLOOR. Under the lock, which is released while others copy. */
static void raise_floor(mst_mailbox *box, uint64_t floor) {
    if (box->floor < floor) box->floor = floor;
    while (sweep(box)) pthread_cond_wait(&box->uncopied, &box->lock);
}

void mst_mailbox_begin(mst_mailbox *box, uint32_t generation) {
    pthread_mutex_lock(&box->lock);
    box->present = generation;
    raise_floor(box, generation);
    pthread_mutex_unlock(&box->lock);
}

void mst_mailbox_end(mst_mailbox *box) {
    pthread_mutex_lock(&box->lock);
    raise_floor(box, (uint64_t)box->present + 1);
    pthread_mutex_unlock(&box->lock);
}

bool mst_mailbox_is_over(mst_mailbox *box, uint32_t generation) {
    pthread_mutex_lock(&box->lock);
    const bool over = generation < box->floor;
    pthread_mutex_unlock(&box->lock);
    return over;
}

void mst_mailbox_destroy(mst_mailbox *box) {
    if (!box) return;
    pthread_mutex_lock(&box->lock);
    raise_floor(box, UINT64_MAX);
    pthread_mutex_unlock(&box->lock);
    for (entry *e = box->spare, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    pthread_cond_destroy(&box->uncopied);
    pthread_mutex_destroy(&box->lock);
    free(box->bucket);
    free(box);
}

/* ---- messages and posts ---- */

/* Refuses the message of E if it does not fit the post. Both are there. */
static void compare_with_post(const mst_mailbox *box, entry *e) {
    char why[160];
    if (e->hash != e->key.hash)
        snprintf(why, sizeof why, "the sender does another thing than this task at this point");
    else if (e->total != e->bytes)
        snprintf(why, sizeof why, "%zu bytes were sent where %zu are expected", e->total, e->bytes);
    else
        return;
    e->refused = true;
    mst_event_thread_mismatch(box->events, e->from, e->key, why);
}

/* Whether the bytes that have just been read are valid. The sender may overwrite them once *FLOOR is above
 * GENERATION. */
static bool is_intact(const _Atomic uint64_t *floor, uint32_t generation) {
    if (!floor) return true;
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer does not support fences */
    atomic_thread_fence(memory_order_acquire);
#endif
    return atomic_load(floor) <= generation;
}

bool mst_kept_parts_are_intact(const mst_kept_part *kept, uint32_t generation) {
    while (kept && is_intact(kept->floor, generation)) kept = kept->next;
    return !kept;
}

/* Ends the entry E: all bytes of the message are in the posted memory. */
static void arrived(mst_mailbox *box, entry *e) {
    mst_timeline *done = e->done;
    mailbox_remove(box, e);
    mst_timeline_add(done, 1);
}

/* A thread has copied BYTES into the posted memory. Ends the entry if the message is complete now. */
static void copied(mst_mailbox *box, entry *e, size_t bytes) {
    e->copying--;
    e->copied += bytes;
    if (e->key.generation < box->floor) {
        pthread_cond_broadcast(&box->uncopied);
    } else if (e->copied == e->total) {
        arrived(box, e);
    }
}

/* Copies the kept parts into the memory that has just been posted for them. */
static void copy_kept(mst_mailbox *box, entry *e) {
    mst_kept_part *kept = e->kept;
    unsigned char *into = e->into;
    size_t bytes = 0, intact = 0;
    e->kept = NULL;
    e->last = &e->kept;
    e->copying++;
    pthread_mutex_unlock(&box->lock);
    for (const mst_kept_part *k = kept; k; k = k->next) {
        memcpy(into + k->offset, k->data, k->bytes);
        bytes += k->bytes;
        intact += is_intact(k->floor, e->key.generation) ? k->bytes : 0;
    }
    mst_kept_parts_release(kept);
    pthread_mutex_lock(&box->lock);
    box->bytes_kept -= bytes;
    copied(box, e, intact);
}

/* Whether the parts of the message can be lent: all of them are kept. */
static bool is_lent(const entry *e) {
    return e->lent && e->kept && e->arrived == e->total && !e->copied && !e->copying;
}

static void lend(mst_mailbox *box, entry *e) {
    *e->lent = e->kept;
    e->kept = NULL;
    box->bytes_kept -= e->total;
    arrived(box, e);
}

/* Fetches the announced message of E: memory is posted for it now. Under the lock, which is released during the
 * call. */
static void begin_fetch(mst_mailbox *box, entry *e) {
    const mst_fetch fetch = e->fetch;
    e->fetch = NULL;
    e->copying++;
    pthread_mutex_unlock(&box->lock);
    fetch(e->source, e->into, e);
    pthread_mutex_lock(&box->lock);
}

mst_status mst_mailbox_borrow(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes,
                              mst_kept_part **lent, mst_timeline *done) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&box->lock);
    entry *e = key.generation < box->floor ? NULL : mailbox_entry(box, from, key);
    if (key.generation < box->floor) {
        mst_timeline_add(done, 1);
    } else if (!e) {
        status = MST_NO_MEMORY("for a message of task %d", from);
    } else if (e->posted) {
        status = MST_FAIL(MST_EXISTS, "memory is posted twice for message %u of run %llu of task %d", key.stream,
                          (unsigned long long)key.run, from);
    } else {
        e->posted = true;
        box->num_posted++;
        e->key.hash = key.hash;
        e->into = into;
        e->bytes = bytes;
        e->lent = lent;
        e->done = done;
        if (e->arriving) compare_with_post(box, e);
        if (e->fetch && !e->refused)
            begin_fetch(box, e);
        else if (is_lent(e) && !e->refused)
            lend(box, e);
        else if (e->arriving && !e->refused)
            copy_kept(box, e);
    }
    pthread_mutex_unlock(&box->lock);
    return status;
}

mst_status mst_mailbox_post(mst_mailbox *box, int32_t from, mst_key key, void *into, size_t bytes, mst_timeline *done) {
    return mst_mailbox_borrow(box, from, key, into, bytes, NULL, done);
}

static void free_copy(mst_kept_part *kept) {
    free(kept);
}

/* A copy of a part; the bytes follow the struct in memory. */
static mst_kept_part *make_copy(const mst_mailbox_part *part) {
    mst_kept_part *kept = malloc(sizeof *kept + part->bytes);
    if (!kept) return NULL;
    *kept = (mst_kept_part){.data = kept + 1, .release = free_copy};
    memcpy(kept + 1, part->data, part->bytes);
    return kept;
}

static const char *keep_part(mst_mailbox *box, entry *e, const mst_mailbox_part *part,
                             mst_kept_part *(*keep)(void *source), void *source) {
    if (part->bytes == 0) return NULL;
    if (part->bytes > box->most_kept - box->bytes_kept) return "it sent more data ahead than can be kept";
    mst_kept_part *kept = keep ? keep(source) : make_copy(part);
    if (!kept) return "no memory for what it sent";
    kept->next = NULL;
    kept->offset = part->offset;
    kept->bytes = part->bytes;
    *e->last = kept;
    e->last = &kept->next;
    box->bytes_kept += part->bytes;
    return NULL;
}

/* Copies PART into the posted memory. Under the lock, which is released during the copy. */
static void copy_part(mst_mailbox *box, entry *e, const mst_mailbox_part *part) {
    unsigned char *into = e->into;
    e->copying++;
    pthread_mutex_unlock(&box->lock);
    if (part->bytes) memcpy(into + part->offset, part->data, part->bytes);
    const bool intact = is_intact(part->floor, part->key.generation);
    pthread_mutex_lock(&box->lock);
    copied(box, e, intact ? part->bytes : 0);
}

/* Whether PART is the next part of E's message. */
static bool follows(const entry *e, const mst_mailbox_part *part) {
    return part->offset == e->arrived && part->total == e->total && part->key.hash == e->hash &&
           part->bytes <= e->total - e->arrived && (part->bytes || part->total == 0);
}

/* Returns the entry to which PART belongs. NULL: the part is dropped; *WHY is then the error, or NULL if it is none. */
static entry *arrive(mst_mailbox *box, const mst_mailbox_part *part, const char **why) {
    *why = NULL;
    if (part->key.generation < box->floor) return NULL;
    entry *e = mailbox_entry(box, part->from, part->key);
    if (!e) {
        *why = "no memory for what it sent";
        return NULL;
    }
    const bool begins = !e->arriving;
    if (begins) {
        e->arriving = true;
        e->hash = part->key.hash;
        e->total = part->total;
        if (e->posted) compare_with_post(box, e);
    }
    if (e->refused) return NULL;
    if (!follows(e, part) || (!begins && e->total == 0)) {
        *why = "a part of a message is not the one that follows";
        return NULL;
    }
    e->arrived += part->bytes;
    return e;
}

/* Whether E's message, one part of which is PART, can still be lent without a copy. */
static bool borrows(const mst_mailbox *box, const entry *e, const mst_mailbox_part *part) {
    return e->lent && !e->copied && !e->copying && part->bytes && part->bytes <= box->most_kept - box->bytes_kept;
}

static const char *deliver(mst_mailbox *box, const mst_mailbox_part *part, mst_kept_part *(*keep)(void *source),
                           void *source) {
    const char *why;
    entry *e = arrive(box, part, &why);
    if (!e) return why;
    const bool keeps = !e->posted || (keep && borrows(box, e, part));
    if (keeps) why = keep_part(box, e, part, keep, source);
    if (keeps && e->posted && !why && is_lent(e)) lend(box, e);
    if (keeps) return why;
    if (e->kept) copy_kept(box, e);
    copy_part(box, e, part);
    return NULL;
}

const char *mst_mailbox_deliver(mst_mailbox *box, const mst_mailbox_part *part, mst_kept_part *(*keep)(void *source),
                                void *source) {
    pthread_mutex_lock(&box->lock);
    const char *why = deliver(box, part, keep, source);
    pthread_mutex_unlock(&box->lock);
    return why;
}

const char *mst_mailbox_announce(mst_mailbox *box, const mst_mailbox_part *message, mst_fetch fetch,
                                 void (*release)(void *source), void *source) {
    const char *why;
    pthread_mutex_lock(&box->lock);
    entry *e = arrive(box, message, &why);
    if (e) {
        e->fetch = fetch;
        e->release = release;
        e->source = source;
        if (e->posted) begin_fetch(box, e);
    }
    pthread_mutex_unlock(&box->lock);
    if (!e) release(source);
    return why;
}

void mst_mailbox_fetched(mst_mailbox *box, mst_fetched *where, bool whole) {
    pthread_mutex_lock(&box->lock);
    copied(box, where, whole ? where->total : 0);
    pthread_mutex_unlock(&box->lock);
}

bool mst_mailbox_waits(mst_mailbox *box) {
    pthread_mutex_lock(&box->lock);
    const bool waits = box->num_posted > 0;
    pthread_mutex_unlock(&box->lock);
    return waits;
}
