/* The manager of a training's checkpoints. It decides when to save and how many to keep, and has a thread that writes.
 *
 * The store is copied into a spare snapshot, whose memory is used again each time. The thread writes that snapshot
 * while training goes on. Files are written under temporary names, synced, and renamed in the order data, index, state
 * file. Only then are old checkpoints removed. At any moment the folder therefore has a complete checkpoint, if it ever
 * had one. */
#include "muster/checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "format/bundle.h"
#include "store/store.h"
#include "train/checkpoint_file.h"
#include "train/monitor.h"
#include "train/restore.h"
#include "train/trainer.h"

enum { DEFAULT_KEEP = 5, DEFAULT_SECONDS = 600 };
static const char lock_name[] = ".muster.lock";

struct mst_checkpoint_manager {
    mst_checkpoint_options options;
    mst_folder folder;
    char *prefix; /* "model.ckpt" */
    int lock;
    mst_optimizer optimizer;
    bool has_optimizer;
    /* the thread */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool busy;           /* the thread writes `spare`, or will do so next */
    bool stop;           /* the thread must end */
    mst_snapshot *spare; /* used by the thread while it is busy */
    mst_failure failure; /* why a checkpoint could not be written */
    mst_checkpoint_list list;
    char *latest; /* path of the checkpoint last written or restored; NULL: none */
    /* the callback */
    uint64_t saved_version; /* version of the store when it was last copied or restored */
    double saved_time;
    bool due;                            /* a checkpoint must be saved as soon as the thread can write it */
    struct mst_checkpoint_manager *best; /* the manager for the best epoch; NULL: that is not kept */
    double best_value;
};

/* ---- writing a checkpoint, on the thread ---- */

static mst_status is_taken(const mst_checkpoint_manager *m, const char *name, int size, bool *out) {
    char *index;
    if (asprintf(&index, "%.*s.index", size, name) < 0) return MST_NO_MEMORY("for a name");
    const mst_status status = mst_file_is_there(&m->folder, index, out);
    free(index);
    return status;
}

/* Makes a name, "model.ckpt-1000". An existing checkpoint of that step is not overwritten: the new name then ends in
 * one more number. */
static mst_status free_name(const mst_checkpoint_manager *m, int64_t step, char **out) {
    char *name = NULL;
    bool taken = true;
    for (long long copy = 0; taken; copy++) {
        free(name);
        const int size = copy ? asprintf(&name, "%s-%lld-%lld", m->prefix, (long long)step, copy)
                              : asprintf(&name, "%s-%lld", m->prefix, (long long)step);
        if (size < 0) return MST_NO_MEMORY("for a name");
        const mst_status status = is_taken(m, name, size, &taken);
        if (status) {
            free(name);
            return status;
        }
    }
    *out = name;
    return MST_OK;
}

/* Removes the oldest checkpoints that the state file names, except the last `keep`. If one cannot be removed, the next
 * save tries again. */
static void remove_old(mst_checkpoint_manager *m) {
    int64_t too_many = -m->options.keep;
    const double hours = m->options.keep_every_hours;
    for (int64_t i = 0; i < m->list.count; i++) too_many += m->list.item[i].in_state;
    for (int64_t i = 0; i < m->list.count && too_many > 0 && m->options.keep > 0;) {
        mst_checkpoint_item *item = &m->list.item[i];
        const bool listed = item->in_state;
        const bool stays = listed && hours > 0 && item->time - 3600 * hours >= m->list.last_preserved;
        if (stays) m->list.last_preserved = item->time; /* this checkpoint is kept forever */
        if (stays || (listed && mst_bundle_remove(&m->folder, item->name) == MST_OK))
            mst_checkpoint_list_drop(&m->list, i);
        else
            i++;
        too_many -= listed;
    }
}

static mst_status add_to_folder(mst_checkpoint_manager *m, const char *path, int64_t step) {
    const mst_checkpoint_item item = {
        .path = (char *)(uintptr_t)path, .step = step, .time = mst_clock_wall(), .in_state = true};
    MST_TRY(mst_checkpoint_list_add(&m->list, &item));
    MST_TRY(mst_checkpoint_list_write(&m->folder, &m->list));
    const int64_t before = m->list.count;
    remove_old(m);
    return m->list.count == before ? MST_OK : mst_checkpoint_list_write(&m->folder, &m->list);
}

static mst_status write_named(mst_checkpoint_manager *m, const char *name, int64_t step) {
    char *path = mst_folder_join(&m->folder, name);
    if (!path) return MST_NO_MEMORY("for a path");
    const mst_optimizer *optimizer = m->has_optimizer ? &m->optimizer : NULL;
    mst_status status = mst_checkpoint_write_in(&m->folder, name, m->spare, optimizer, ++m->list.saves);
    if (!status) status = add_to_folder(m, path, step);
    if (status) {
        free(path);
        return status;
    }
    pthread_mutex_lock(&m->mutex);
    free(m->latest);
    m->latest = path;
    pthread_mutex_unlock(&m->mutex);
    return MST_OK;
}

static mst_status write_one(mst_checkpoint_manager *m) {
    const mst_tensor *value = mst_snapshot_find(m->spare, NULL, MST_STATE_GLOBAL_STEP);
    const int64_t step = value ? (int64_t)mst_tensor_get(value, 0) : 0;
    char *name = NULL;
    mst_status status = free_name(m, step, &name);
    if (!status) status = write_named(m, name, step);
    free(name);
    return status ? mst_error_prefix("checkpoint of step %lld", (long long)step) : MST_OK;
}

static void *write_all(void *context) {
    mst_checkpoint_manager *m = context;
    pthread_mutex_lock(&m->mutex);
    for (;;) {
        while (!m->busy && !m->stop) pthread_cond_wait(&m->changed, &m->mutex);
        if (!m->busy) break;
        pthread_mutex_unlock(&m->mutex);
        const mst_status status = write_one(m);
        pthread_mutex_lock(&m->mutex);
        if (status) mst_failure_keep(&m->failure, status);
        m->busy = false;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->mutex);
    return NULL;
}

/* ---- opening ---- */

/* Opens the file to lock. It must be in this folder and have no other name, since its text is overwritten. */
static mst_status open_lock(mst_checkpoint_manager *m) {
    const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const char *folder = m->folder.path;
    struct stat info = {.st_mode = 0};
    m->lock = openat(m->folder.descriptor, lock_name, flags, 0666);
    const int code = m->lock < 0 || fstat(m->lock, &info) ? errno : 0;
    if (code == ELOOP) return MST_FAIL(MST_INVALID, "'%s/%s' is a symbolic link: remove it", folder, lock_name);
    if (code) return MST_FAIL(MST_IO, "'%s': checkpoints cannot be written to it: %s", folder, strerror(code));
    if (S_ISREG(info.st_mode) && info.st_nlink == 1) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s/%s' is not a plain file, or has several names (hard links): remove it", folder,
                    lock_name);
}

/* Takes the lock, which the system releases when the process ends. The text of the file only says who has the lock. */
static mst_status take_lock(mst_checkpoint_manager *m) {
    char owner[32] = "";
    MST_TRY(open_lock(m));
    if (flock(m->lock, LOCK_EX | LOCK_NB) == 0) {
        const int size = snprintf(owner, sizeof owner, "%ld\n", (long)getpid());
        if (ftruncate(m->lock, 0) == 0) (void)!pwrite(m->lock, owner, (size_t)size, 0);
        return MST_OK;
    }
    if (errno != EWOULDBLOCK)
        return MST_FAIL(MST_IO, "'%s' cannot be locked: %s: name a folder on another file system", m->folder.path,
                        strerror(errno));
    const ssize_t size = pread(m->lock, owner, sizeof owner - 1, 0);
    for (ssize_t i = 0; i < size; i++)
        if (owner[i] < '0' || owner[i] > '9') owner[i] = '\0';
    return MST_FAIL(MST_UNAVAILABLE,
                    "'%s': another training writes its checkpoints there (process %s): name another "
                    "folder, or wait until it ends",
                    m->folder.path, *owner ? owner : "?");
}

/* Whether NAME is a file that a killed process left behind: a temporary file, or data without an index. The answer is
 * certain only while the lock of NAME is held, because a writer of a checkpoint holds it until the index exists. */
static mst_status is_litter(const mst_checkpoint_manager *m, const char *name, bool *out) {
    const char *data = strstr(name, ".data-");
    const size_t size = strlen(m->prefix);
    *out = mst_file_is_side_name(name);
    if (*out || strncmp(name, m->prefix, size) != 0 || name[size] != '-' || !data) return MST_OK;
    bool has_index;
    MST_TRY(is_taken(m, name, (int)(data - name), &has_index));
    *out = !has_index;
    return MST_OK;
}

static mst_status remove_if_litter(const mst_checkpoint_manager *m, const char *name) {
    bool litter;
    mst_status status = is_litter(m, name, &litter);
    const int lock = status || !litter ? -1 : mst_file_claim(&m->folder, name);
    if (lock < 0) return status;
    status = is_litter(m, name, &litter);
    /* if it cannot be removed, the next call tries again */
    if (!status && litter) (void)!mst_file_remove_in(&m->folder, name);
    close(lock);
    return status;
}

static mst_status remove_litter(const mst_checkpoint_manager *m) {
    mst_status status = MST_OK;
    DIR *folder = mst_folder_list(&m->folder);
    for (const struct dirent *entry; folder && !status && (entry = readdir(folder));)
        status = remove_if_litter(m, entry->d_name);
    if (folder) closedir(folder);
    return status;
}

static mst_status set_options(mst_checkpoint_manager *m, const mst_checkpoint_options *o) {
    if (o->every_steps < 0 || !(o->every_seconds >= 0) || !(o->keep_every_hours >= 0))
        return MST_FAIL(MST_INVALID, "checkpoints: every_steps, every_seconds and keep_every_hours must be 0 or more");
    const char *prefix = o->prefix ? o->prefix : "model.ckpt";
    if (!*prefix || strchr(prefix, '/'))
        return MST_FAIL(MST_INVALID, "checkpoints: the prefix '%s' must be a file name, not empty and without '/'",
                        prefix);
    m->options = *o;
    if (!o->keep) m->options.keep = DEFAULT_KEEP;
    if (!o->every_steps && !(o->every_seconds > 0)) m->options.every_seconds = DEFAULT_SECONDS;
    if (o->optimizer) m->optimizer = *o->optimizer;
    m->has_optimizer = o->optimizer != NULL;
    return (m->prefix = strdup(prefix)) ? MST_OK : MST_NO_MEMORY("for checkpoints");
}

/* Empties the list: checkpoints of an earlier training are no longer named in the state file, and are never removed. */
static void forget_list(mst_checkpoint_manager *m) {
    const int64_t saves = m->list.saves;
    mst_checkpoint_list_free(&m->list);
    m->list.saves = saves;
}

static mst_status open_in(const mst_folder *folder, const mst_checkpoint_options *options,
                          mst_checkpoint_manager **out);

static mst_status open_best(mst_checkpoint_manager *m) {
    mst_folder folder;
    MST_TRY(mst_folder_open_in(&m->folder, "best", &folder));
    mst_checkpoint_options options = m->options;
    options.monitor = NULL;
    options.keep = 1;
    options.keep_every_hours = 0;
    const mst_status status = open_in(&folder, &options, &m->best);
    mst_folder_close(&folder);
    return status;
}

static mst_status checkpoint_start(mst_checkpoint_manager *m, const mst_folder *folder,
                                   const mst_checkpoint_options *options) {
    MST_TRY(set_options(m, options));
    MST_TRY(mst_folder_copy(folder, &m->folder));
    MST_TRY(take_lock(m));
    MST_TRY(remove_litter(m));
    MST_TRY(mst_checkpoint_list_read(&m->folder, &m->list));
    if (options->anew) forget_list(m);
    if (m->list.last_preserved <= 0) m->list.last_preserved = mst_clock_wall();
    const int code = mst_thread_start(&m->thread, write_all, m);
    if (code) return MST_FAIL(MST_UNAVAILABLE, "checkpoints: no thread can be started: %s", strerror(code));
    m->has_thread = true;
    return options->monitor ? open_best(m) : MST_OK;
}

static mst_status open_in(const mst_folder *folder, const mst_checkpoint_options *options,
                          mst_checkpoint_manager **out) {
    mst_checkpoint_manager *m = calloc(1, sizeof *m);
    if (!m) return MST_NO_MEMORY("for checkpoints");
    m->lock = -1;
    pthread_mutex_init(&m->mutex, NULL);
    pthread_cond_init(&m->changed, NULL);
    mst_status status = checkpoint_start(m, folder, options);
    if (!status) {
        *out = m;
        return MST_OK;
    }
    mst_failure failure;
    mst_failure_keep(&failure, status);
    (void)!mst_checkpoint_manager_close(m);
    return mst_failure_restore(&failure);
}

/* Returns PATH without slashes at its end: "run" for "run//". The caller frees it. */
static char *without_slashes(const char *path) {
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    return strndup(path, size);
}

mst_status mst_checkpoint_manager_open(const mst_checkpoint_options *options, mst_checkpoint_manager **out) {
    mst_folder folder = {.path = NULL};
    if (MST_IS_NULL(options) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!options->directory || !*options->directory) return MST_FAIL(MST_INVALID, "checkpoints: no directory is given");
    char *path = without_slashes(options->directory);
    mst_status status = path ? mst_folder_make(path) : MST_NO_MEMORY("for checkpoints");
    if (!status) status = mst_folder_open(path, &folder);
    if (!status) status = open_in(&folder, options, out);
    mst_folder_close(&folder);
    free(path);
    return status;
}

mst_status mst_checkpoint_manager_close(mst_checkpoint_manager *m) {
    if (!m) return MST_OK;
    mst_status status = MST_OK;
    if (m->has_thread) {
        status = mst_checkpoint_manager_wait(m);
        pthread_mutex_lock(&m->mutex);
        m->stop = true;
        pthread_cond_broadcast(&m->changed);
        pthread_mutex_unlock(&m->mutex);
        pthread_join(m->thread, NULL);
    }
    const mst_status best = mst_checkpoint_manager_close(m->best);
    if (!status) status = best;
    if (m->lock >= 0) close(m->lock);
    pthread_mutex_destroy(&m->mutex);
    pthread_cond_destroy(&m->changed);
    mst_snapshot_release(m->spare);
    mst_checkpoint_list_free(&m->list);
    free(m->latest);
    free(m->prefix);
    mst_folder_close(&m->folder);
    free(m);
    return status;
}

/* ---- saving and restoring ---- */

/* A number that rises with each update of weights or slots. Changes of the position in the data do not count: a fit
 * that is resumed after the last step of an epoch only ends the epoch, which needs no new checkpoint. */
static mst_status version_of(mst_store *store, uint64_t *out) {
    mst_state_info *list;
    int64_t count;
    *out = 0;
    MST_TRY(mst_store_list(store, &list, &count));
    for (int64_t i = 0; i < count; i++) {
        const mst_state_kind kind = list[i].kind;
        if (kind != MST_STATE_CURSOR && kind != MST_STATE_METRIC && kind != MST_STATE_RANDOM) *out += list[i].version;
    }
    free(list);
    return MST_OK;
}

/* Returns the error of the thread that could not write a checkpoint, and clears it. Under the mutex. */
static mst_status take_failure(mst_checkpoint_manager *m) {
    const mst_failure failure = m->failure;
    m->failure.code = MST_OK;
    return mst_failure_restore(&failure);
}

mst_status mst_checkpoint_manager_wait(mst_checkpoint_manager *manager) {
    if (MST_IS_NULL(manager)) return MST_INVALID;
    pthread_mutex_lock(&manager->mutex);
    while (manager->busy) pthread_cond_wait(&manager->changed, &manager->mutex);
    const mst_status status = take_failure(manager);
    pthread_mutex_unlock(&manager->mutex);
    return status;
}

/* Copies the store into the spare snapshot. WHOLES: entries that are parts are copied as the whole values that the
 * store holds. */
static mst_status copy_store(mst_checkpoint_manager *m, mst_store *store, bool wholes) {
    mst_snapshot *taken;
    if (!wholes) return mst_store_snapshot_again(store, &m->spare);
    MST_TRY(mst_store_snapshot_wholes(store, &taken));
    mst_snapshot_release(m->spare);
    m->spare = taken;
    return MST_OK;
}

static mst_status save_store(mst_checkpoint_manager *manager, mst_store *store, bool wholes) {
    /* first the checkpoint of the best epoch must be written, since the store refers to it */
    if (manager->best) MST_TRY(mst_checkpoint_manager_wait(manager->best));
    MST_TRY(mst_checkpoint_manager_wait(manager));
    MST_TRY(version_of(store, &manager->saved_version));
    MST_TRY(copy_store(manager, store, wholes));
    manager->due = false;
    manager->saved_time = mst_clock_seconds();
    pthread_mutex_lock(&manager->mutex);
    manager->busy = true;
    pthread_cond_broadcast(&manager->changed);
    pthread_mutex_unlock(&manager->mutex);
    return MST_OK;
}

mst_status mst_checkpoint_manager_save(mst_checkpoint_manager *manager, mst_store *store) {
    if (MST_IS_NULL(manager) || MST_IS_NULL(store)) return MST_INVALID;
    return save_store(manager, store, false);
}

mst_status mst_checkpoint_manager_restore(mst_checkpoint_manager *manager, mst_store *store,
                                          const mst_restore_options *options, mst_restored *restored) {
    mst_restored none, *out = restored ? restored : &none;
    *out = (mst_restored){.path = NULL};
    if (MST_IS_NULL(manager) || MST_IS_NULL(store)) return MST_INVALID;
    mst_snapshot *snapshot;
    MST_TRY(mst_checkpoint_manager_wait(manager));
    mst_status status = mst_checkpoint_read_latest(&manager->folder, &snapshot, &out->path, &out->damaged);
    if (!status) status = mst_restore_snapshot(out->path, snapshot, store, options, out);
    if (!status) status = version_of(store, &manager->saved_version);
    if (!status) {
        free(manager->latest);
        manager->latest = strdup(out->path);
    }
    mst_snapshot_release(snapshot);
    if (!restored) mst_restored_free(out);
    return status;
}

const char *mst_checkpoint_manager_latest(mst_checkpoint_manager *manager) {
    return MST_IS_NULL(manager) ? NULL : manager->latest;
}

/* ---- the callback ---- */

static const char who[] = "checkpoint";

static bool larger_is_better(const mst_checkpoint_manager *m, const mst_train_state *state) {
    return mst_monitor_larger_is_better(m->options.monitor, state, m->options.maximize);
}

static mst_status begin_best(mst_checkpoint_manager *m, const mst_train_state *state) {
    MST_TRY(mst_monitor_check("best checkpoint", m->options.monitor, state->metric_name, state->num_metrics,
                              state->validates));
    m->best->optimizer = m->optimizer;
    m->best->has_optimizer = m->has_optimizer;
    m->best_value = larger_is_better(m, state) ? -INFINITY : INFINITY;
    if (state->epoch == 0) return MST_OK;
    return mst_monitor_kept(mst_model_store(state->model), who, m->options.monitor, "best", &m->best_value);
}

/* Asks the other workers for their parts of the state, if the state will be saved after the next step. */
static void ask_ahead(const mst_checkpoint_manager *m, const mst_train_state *state) {
    mst_trainer *trainer = state->model->trainer;
    const int64_t every = m->options.every_steps;
    const bool is_next = m->due || (every && (state->step + 1) % every == 0);
    if (is_next && trainer->cooperation->want) trainer->cooperation->want(trainer);
}

/* Makes the spare snapshot, so that the first save costs no more than the others. */
static mst_status checkpoint_begin(void *context, mst_train_state *state) {
    mst_checkpoint_manager *m = context;
    const mst_trainer *trainer = state->model->trainer;
    if (!m->options.optimizer) {
        m->optimizer = trainer->optimizer;
        m->has_optimizer = true;
    }
    if (m->best) MST_TRY(begin_best(m, state));
    MST_TRY(mst_checkpoint_manager_wait(m));
    m->saved_time = mst_clock_seconds();
    m->due = false;
    if (trainer->rules.cuts_slots) {
        ask_ahead(m, state);
        return MST_OK;
    }
    return mst_store_snapshot_again(mst_model_store(state->model), &m->spare);
}

/* Saves the state of a model in training, with the parts that other tasks have. If these parts cannot be collected
 * after this step, nothing is saved, and the previous checkpoint stays the last one. */
static mst_status save(mst_checkpoint_manager *m, mst_model *model) {
    mst_trainer *trainer;
    bool may_save = true;
    MST_TRY(mst_trainer_of(model, &trainer));
    MST_TRY(MST_COOPERATE(trainer, collect, trainer, &may_save));
    return may_save ? save_store(m, mst_model_store(model), trainer->rules.cuts_slots) : MST_OK;
}

static mst_status save_best(void *context, mst_train_state *state) {
    mst_checkpoint_manager *m = context;
    mst_store *store = mst_model_store(state->model);
    double value;
    if (!m->best || mst_monitor_is_cut_off(state)) return MST_OK;
    MST_TRY(mst_monitor_value("best checkpoint", m->options.monitor, state, &value));
    if (!(larger_is_better(m, state) ? value > m->best_value : value < m->best_value)) return MST_OK;
    m->best_value = value;
    MST_TRY(mst_monitor_keep(store, who, m->options.monitor, "best", value));
    return save(m->best, state->model);
}

static bool is_busy(mst_checkpoint_manager *m) {
    pthread_mutex_lock(&m->mutex);
    const bool busy = m->busy;
    pthread_mutex_unlock(&m->mutex);
    return busy;
}

static mst_status save_if_due(void *context, mst_train_state *state) {
    mst_checkpoint_manager *m = context;
    const mst_checkpoint_options *o = &m->options;
    const mst_trainer *trainer = state->model->trainer;
    if (o->every_steps && state->step % o->every_steps == 0) m->due = true;
    if (o->every_seconds > 0 && mst_clock_seconds() - m->saved_time >= o->every_seconds) m->due = true;
    /* saves even if no save is due: a task that keeps state is about to leave */
    if (MST_COOPERATION_SAYS(trainer, must_save, trainer)) m->due = true;
    if (m->due && !is_busy(m) && !(m->best && is_busy(m->best))) MST_TRY(save(m, state->model));
    ask_ahead(m, state);
    return MST_OK;
}

/* Saves the last complete state when training with parameter servers has been cut short, unless the last checkpoint has
 * it. A server may be gone by then, or the workers may have stopped in the middle of a step. */
static mst_status save_rest(mst_checkpoint_manager *m, mst_model *model) {
    mst_store *store = mst_model_store(model);
    mst_tensor *step;
    MST_TRY(MST_COOPERATE(model->trainer, collect_rest, model->trainer));
    MST_TRY(mst_checkpoint_manager_wait(m));
    MST_TRY(mst_store_get(store, NULL, MST_STATE_GLOBAL_STEP, &step));
    const bool is_there = m->list.count && m->list.item[m->list.count - 1].step == (int64_t)mst_tensor_get(step, 0);
    mst_tensor_release(step);
    return is_there ? MST_OK : save_store(m, store, false);
}

/* Saves the state at the end of training, unless the last checkpoint has it. A training that has failed may have
 * damaged its state, so nothing is saved then, and the last good checkpoint stays the newest; except if the training
 * has failed only because another task was lost. */
static mst_status end(void *context, mst_train_state *state) {
    mst_checkpoint_manager *m = context;
    uint64_t version;
    if (m->best) MST_TRY(mst_checkpoint_manager_wait(m->best));
    if (!state->model || (state->failed && !state->model->trainer->is_left)) return mst_checkpoint_manager_wait(m);
    mst_store *store = mst_model_store(state->model);
    MST_TRY(version_of(store, &version));
    const mst_trainer *trainer = state->model->trainer;
    const bool is_rest = MST_COOPERATION_SAYS(trainer, is_broken_off, trainer, state);
    if (version != m->saved_version) MST_TRY((is_rest ? save_rest : save)(m, state->model));
    return mst_checkpoint_manager_wait(m);
}

mst_callback mst_checkpoint_callback(mst_checkpoint_manager *manager) {
    if (MST_IS_NULL(manager)) return (mst_callback){0};
    return (mst_callback){.context = manager,
                          .train_begin = checkpoint_begin,
                          .step_end = save_if_due,
                          .epoch_end = save_best,
                          .train_end = end};
}
