/** The inside of the executables of a task (task/task_executables.h), shared by its files. executable_entries.c has the
 *  entries and what is sent about them; executable_answers.c what other tasks send, and what is done for them;
 *  task_executables.c the calls of this process. */
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

/** Bytes that come in pieces, from the first to the last. */
typedef struct mst_arriving {
    unsigned char *data; /**< NULL: nothing has come */
    size_t total, got;
    unsigned char hash[MST_EXECUTABLE_HASH]; /**< as the sender has named it */
} mst_arriving;

/** How a call of this process gets an executable from another task. */
typedef struct mst_executable_fetch {
    const mst_executable_order *order; /**< NULL: no call wants it, another task has offered it */
    void *source;                      /**< of the order, encoded; NULL: nobody has asked for it yet */
    size_t source_size;
    int32_t asked;                               /**< -1: nobody */
    uint64_t generation;                         /**< in which the next one was set */
    int32_t next;                                /**< member that is asked next whether it has it */
    int64_t ask_at;                              /**< when the same one is asked again */
    unsigned char own_hash[MST_EXECUTABLE_HASH]; /**< of what this task's disk has; zeros: it has nothing */
    mst_arriving bytes;
    bool has_own;
    bool is_told;          /**< that the other task has it now */
    bool is_there;         /**< all bytes have come, or there are none to come: one of the next two, or a failure */
    bool is_same, is_none; /**< those of the own hash are the same; it cannot be had as bytes */
    mst_failure failure;   /**< of the other task, or of what it has sent */
} mst_executable_fetch;

typedef struct mst_executable_entry {
    struct mst_executable_entry *next;
    mst_executable_key key;
    int64_t users; /**< calls and errands that have it */
    bool is_under_way;
    bool is_searched; /**< the disk does not have it */
    void *data;       /**< NULL: it is not there */
    size_t size;
    unsigned char hash[MST_EXECUTABLE_HASH];
    uint64_t used;               /**< number of the last use */
    mst_executable_fetch *fetch; /**< under way from another task; NULL: not */
    bool *asks;                  /**< [num_tasks] wait for it */
    int32_t sender;              /**< task that sends the source; -1: none */
    mst_arriving source;
} mst_executable_entry;

struct mst_task_executables {
    mst_executable_exchange exchange;
    mst_task_executables_options o;
    _Atomic int64_t users; /**< the owner, calls and errands */
    pthread_mutex_t lock;  /**< guards all members after it */
    pthread_cond_t changed;
    bool is_open, is_closed;
    int32_t source;       /**< of the generation */
    uint64_t generations; /**< number of those that have begun */
    int32_t *member;      /**< [num_members] tasks of the generation */
    int32_t num_members;
    bool is_over;              /**< the job: this task compiles itself */
    mst_failure ended, failed; /**< of the generation, until the next one begins; of the job */
    bool *connected;           /**< [num_tasks] */
    mst_executable_entry *entries;
    size_t kept; /**< bytes of all entries */
    uint64_t num_uses;
    unsigned char *message; /**< room for one that is sent */
};

/** Drops what has come. */
void mst_arriving_drop(mst_arriving *a);
/** The entry of KEY; NULL: there is none. This function and those below are called under the lock. */
mst_executable_entry *mst_executable_entry_find(const mst_task_executables *x, const mst_executable_key *key);
/** The entry of KEY, which is added if there is none; NULL: there is no memory. */
mst_executable_entry *mst_executable_entry_need(mst_task_executables *x, const mst_executable_key *key);
/** E is under way no more. With STATUS MST_OK, DATA is its bytes, which now belong to it, and HASH their hash; or NULL,
 *  if it cannot be had as bytes. Else the calling thread's error says why there is none. Answers those who wait. */
void mst_executable_entry_end(mst_task_executables *x, mst_executable_entry *e, mst_status status, void *data,
                              size_t size, const unsigned char *hash);
/** Frees entries that have nothing and that nobody wants, and then those used least recently, if all together have more
 *  bytes than are kept. */
void mst_executables_tidy(mst_task_executables *x);
/** Whether this task makes what others ask for, and does not get it from another one. */
bool mst_executables_are_source(const mst_task_executables *x);
/** Sends a message. One that is not sent is lost, as others are with their connections: who waits asks again. */
void mst_executables_send(mst_task_executables *x, int32_t to, const mst_executable_message *message);
/** Sends a task that waits for E the error FAILURE. */
void mst_executables_send_error(mst_task_executables *x, int32_t to, const mst_executable_entry *e,
                                const mst_failure *failure);
/** Asks for the next piece of E, which is fetched. */
void mst_executables_ask(mst_task_executables *x, mst_executable_entry *e);
/** If this task gives executables to the others, offers E, if it is there, to the one that would do so next. */
void mst_executable_entry_offer(mst_task_executables *x, const mst_executable_entry *e);
/** The message that E is there; its piece may be added. */
mst_executable_message mst_executable_entry_message(const mst_executable_entry *e);

/** Returns DATA and sets HASH if DATA can be sent: SIZE is from 1 to MST_EXECUTABLE_MOST. Else frees DATA and returns
 *  NULL. */
void *mst_executable_take(void *data, size_t size, unsigned char hash[MST_EXECUTABLE_HASH]);
/** The same for what was compiled here from KEY, which is kept on the disk before. */
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
