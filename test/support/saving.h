/** A small training that saves checkpoints in the folder `run` of the test's folder. */
#ifndef MUSTER_TEST_SUPPORT_SAVING_H
#define MUSTER_TEST_SUPPORT_SAVING_H

#include "base/file.h"
#include "format/bundle.h"
#include "muster/muster.h"

enum {
    SAVING_ROWS = 47,
    SAVING_BATCH = 10,
    SAVING_FEATURES = 6,
    SAVING_CLASSES = 3,
    SAVING_EPOCHS = 3,
    SAVING_STEPS = 15
};

/** The optimizer of the functions below. */
extern const mst_optimizer saving_adam;

mst_model *saving_model(mst_optimizer optimizer, int64_t hidden);
/** Fits with CALLBACKS (may be NULL); resumes where the store has been restored. */
mst_status saving_fit(mst_model *model, int64_t steps, const mst_callback *callbacks, int count);
/** The SHA of the weights, and of those at the end of a training that nothing disturbs. */
void saving_sha(mst_model *model, char sha[65]);
void saving_undisturbed(char sha[65]);
/** Opens `run` with OPTIONS. */
mst_checkpoint_manager *saving_manager(mst_checkpoint_options options);
/** For `step_end` of a callback, with a manager: steps here take less time than a save, so each waits, and no save is
 *  put off. */
mst_status saving_wait(void *manager, mst_train_state *state);
/** Trains STEPS steps, saving every EVERY. */
void saving_train(int64_t steps, int64_t every, int64_t keep);
/** The names of the files in `run`, sorted, without what is hidden; valid until the next call. */
const char *saving_files(void);
/** Changes a bit of the file NAME. */
void saving_damage(const char *name);
/** A new model goes on from the newest good checkpoint to the end; from which step, with which SHA. */
int64_t saving_resume(char sha[65], char **damaged);
/** Adds an entry of one value, f32 [2] or another dtype and a scalar. */
void saving_add(mst_bundle_writer *writer, const char *key, mst_dtype dtype, double value);
/** For mst_file_replace_fault: nobody pulls the plug here, so syncs, which take most of the time, are left out. */
int saving_without_sync(mst_file_call call, size_t *size);

#endif
