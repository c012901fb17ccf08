/** The inside of the executables of a task (task/task_executables.h), shared by its files. executable_entries.c keeps
 *  the entries and sends messages about them. executable_answers.c handles the messages of other tasks.
 *  task_executables.c has the calls of this process. */
#ifndef MUSTER_TASK_TASK_EXECUTABLES_INSIDE_H
#define MUSTER_TASK_TASK_EXECUTABLES_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "messages/executable_message.h"
#include "task/task_executables.h"

enum {
    MST_EXECUTABLE_ERROR = 900, /**< most bytes of an error's message that is sent */
    MST_EXECUTABLE_AGAIN = 1,   /**< seconds after which a task asks again */
};

/** Bytes that are received in pieces, from the first to the last. */
typedef struct mst_arriving {
    unsigned char *data; /**< NULL: nothing has come */
    size_t total, got;
    unsigned char hash[MST_EXECUTABLE_HASH]; /**< of all bytes, as the sender says */
} mst_arriving;

/** How a call of this process gets an executable from another task. */
typedef struct mst_executable_fetch {
    const mst_executable_order *order; /**< NULL: another task has offered it, and no call needs it yet */
    void *source;                      /**< encoded source of the order; NULL: no task has asked for it yet */
    size_t source_size;
    int32_t asked;                               /**< task that was asked; -1: none */
    uint64_t generation;                         /**< in which `next` was set */
    int32_t next;                                /**< member that is asked next whether it has it */
    int64_t ask_at;                              /**< time at which the same task is asked again */
    unsigned char own_hash[MST_EXECUTABLE_HASH]; /**< of the executable on this task's disk; zeros: none */
    mst_arriving bytes;
    bool has_own;
    bool is_told;          /**< the other task has said that it has the executable now */
    bool is_there;         /**< finished: all bytes have come, or is_same, is_none or a failure */
    bool is_same, is_none; /**< the own one is the same; the other task's plugin cannot give bytes */
    mst_failure failure;   /**< of the other task, or in its messages */
} mst_executable_fetch;

typedef struct mst_executable_entry {
    struct mst_executable_entry *next;
    mst_executable_key key;
    int64_t users; /**< number of calls and errands that use it */
    bool is_under_way;
    bool is_searched; /**< the disk does not have it */
    void *data;       /**< bytes of the executable; NULL: it has none */
    size_t size;
    unsigned char hash[MST_EXECUTABLE_HASH];
    uint64_t used;               /**< number of the last use */
    mst_executable_fetch *fetch; /**< getting it from another task; NULL: not under way */
    bool *asks;                  /**< [num_tasks] which tasks wait for it */
    int32_t sender;              /**< task that sends the source; -1: none */
    mst_arriving source;
} mst_executable_entry;

struct mst_task_executables {
    mst_executable_exchange exchange;
    mst_task_executables_options o;
    _Atomic int64_t users; /**< number of users: the owner, calls and errands */
    pthread_mutex_t lock;  /**< guards all members after it */
    pthread_cond_t changed;
    bool is_open, is_closed;
    int32_t source;       /**< of the generation */
    uint64_t generations; /**< number of generations that have begun */
    int32_t *member;      /**< [num_members] tasks of the generation */
    int32_t num_members;
    bool is_over;              /**< the job has ended: this task compiles its programs by itself */
    mst_failure ended, failed; /**< of the generation, until the next one begins; of the job */
    bool *connected;           /**< [num_tasks] */
    mst_executable_entry *entries;
    size_t kept; /**< bytes of all entries */
    uint64_t num_uses;
    unsigned char *message; /**< memory for a message to be sent */
};

/** Drops the bytes that have come. */
void mst_arriving_drop(mst_arriving *a);
/** The entry of KEY; NULL: there is none. This function and those below are called under the lock. */
mst_executable_entry *mst_executable_entry_find(const mst_task_executables *x, const mst_executable_key *key);
/** The entry of KEY, which is added if there is none; NULL: there is no memory. */
mst_executable_entry *mst_executable_entry_need(mst_task_executables *x, const mst_executable_key *key);
/** Ends the work on E, and answers the tasks that wait for it. With STATUS MST_OK, DATA is its bytes, which now belong
 *  to it, and HASH their hash; NULL: the plugin cannot give bytes. Else the error is that of the calling thread. */
void mst_executable_entry_end(mst_task_executables *x, mst_executable_entry *e, mst_status status, void *data,
                              size_t size, const unsigned char *hash);
/** Frees empty entries that nobody uses. If all entries together have too many bytes, then frees those used least
 *  recently. */
void mst_executables_tidy(mst_task_executables *x);
/** Whether this task is the one that gives executables to the others. */
bool mst_executables_are_source(const mst_task_executables *x);
/** Sends a message. If that fails the message is lost, as it would be with its connection: the receiver asks again. */
void mst_executables_send(mst_task_executables *x, int32_t to, const mst_executable_message *message);
/** Sends a task that waits for E the error FAILURE. */
void mst_executables_send_error(mst_task_executables *x, int32_t to, const mst_executable_entry *e,
                                const mst_failure *failure);
/** Asks for the next piece of E, which is being fetched. */
void mst_executables_ask(mst_task_executables *x, mst_executable_entry *e);
/** If this task gives executables to the others, and E has bytes, offers E to the task that would be next to do so. */
void mst_executable_entry_offer(mst_task_executables *x, const mst_executable_entry *e);
/** A message BYTES for E, without a piece; the caller may add one. */
mst_executable_message mst_executable_entry_message(const mst_executable_entry *e);

/** Returns DATA and sets HASH if DATA can be sent: SIZE is from 1 to MST_EXECUTABLE_MOST. Else frees DATA and returns
 *  NULL. */
void *mst_executable_take(void *data, size_t size, unsigned char hash[MST_EXECUTABLE_HASH]);
/** The same for an executable that was compiled here; it is first kept on disk under KEY. */
void *mst_executable_take_compiled(const mst_executable_key *key, void *data, size_t size,
                                   unsigned char hash[MST_EXECUTABLE_HASH]);
/** E has one user less. Not under the lock. */
void mst_executable_entry_leave(mst_task_executables *x, mst_executable_entry *e);
/** Gets E, which is under way, from the task that has offered it, if that still has it. Not under the lock. */
void mst_executable_fetch_offered(mst_task_executables *x, mst_executable_entry *e);
/** CONTEXT, of type mst_task_executables, has one user more, or less. Not under the lock. */
void mst_executables_retain(void *context);
void mst_executables_release(void *context);

#endif
