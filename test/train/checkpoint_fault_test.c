/* Disk errors while checkpoints are saved: a good checkpoint is always there. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "muster/muster.h"
#include "support/folder.h"
#include "support/saving.h"
#include "support/test.h"
#include "support/training.h"

typedef enum fault_way { WAY_FULL, WAY_READ_ONLY, WAY_DENIED, WAY_TORN, NUM_WAYS } fault_way;

static struct {
    fault_way way;
    int at, calls;
} fault;

/* Call number `at` fails, and so do later ones: on a full disk only writes, on a torn or read-only disk all calls. A
 * denied permission is denied only once. A write to a full disk, and a torn write, writes half of its bytes. */
static int fail_at(mst_file_call call, size_t *size) {
    static const int codes[NUM_WAYS] = {ENOSPC, EROFS, EACCES, EIO};
    const int number = fault.calls++;
    if (number < fault.at && call == MST_FILE_SYNC) return -1;
    if (number < fault.at || (fault.way == WAY_DENIED && number > fault.at)) return 0;
    if (fault.way == WAY_FULL && call != MST_FILE_WRITE && call != MST_FILE_CREATE && call != MST_FILE_SYNC) return 0;
    if (call == MST_FILE_WRITE) *size = number == fault.at && fault.way != WAY_DENIED ? *size / 2 : 0;
    return codes[fault.way];
}

/* Resumes from the newest checkpoint and trains to SAVING_STEPS steps. The fault happens at call FAULT.at. */
static mst_status train_with_fault(int64_t steps, int at, fault_way way) {
    mst_model *model = saving_model(saving_adam, 8);
    mst_checkpoint_manager *manager = saving_manager((mst_checkpoint_options){.every_steps = 2, .keep = 1});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = saving_wait}};
    const mst_status restored = mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL);
    if (restored) assert_int_equal(restored, MST_NOT_FOUND);
    fault.way = way;
    fault.at = at;
    fault.calls = 0;
    mst_file_replace_fault(at >= 0 ? fail_at : saving_without_sync);
    mst_status status = saving_fit(model, steps, save, 2);
    const mst_status closed = mst_checkpoint_manager_close(manager);
    mst_file_replace_fault(saving_without_sync);
    mst_model_destroy(model);
    return status ? status : closed;
}

static void whatever_call_fails_a_good_checkpoint_is_there(void **state) {
    (void)state;
    char wanted[65], got[65], command[700];
    saving_undisturbed(wanted);
    for (fault_way way = 0; way < NUM_WAYS; way++) {
        bool reached = true;
        int at = 0;
        for (; reached; at++) {
            EXPECT_OK(train_with_fault(2, -1, way));
            const mst_status status = train_with_fault(6, at, way);
            reached = fault.calls > at;
            if (!reached) EXPECT_OK(status);
            const int64_t step = saving_resume(got, NULL);
            if (step < 2) fail_msg("way %d, call %d: step %d is what is left", (int)way, at, (int)step);
            assert_string_equal(got, wanted);
            EXPECT_OK(train_with_fault(8, -1, way)); /* and it can be saved again */
            assert_null(strstr(saving_files(), "muster-"));
            snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
            assert_int_equal(system(command), 0);
        }
        assert_true(at > 20);
    }
}

/* A file whose status cannot be read does not count as missing. */
static int fail_to_look(mst_file_call call, size_t *size) {
    (void)size;
    if (call == MST_FILE_LOOK) return EIO;
    return call == MST_FILE_SYNC ? -1 : 0;
}

static void file_that_cannot_be_looked_at_is_not_removed(void **state) {
    (void)state;
    char got[65];
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    mst_checkpoint_manager *manager;
    saving_train(4, 4, 0);
    mst_file_replace_fault(fail_to_look);
    const mst_status status = mst_checkpoint_manager_open(&options, &manager);
    mst_file_replace_fault(saving_without_sync);
    assert_int_equal(status, MST_IO);
    assert_non_null(strstr(mst_error()->message, "model.ckpt-4.index' cannot be found out: Input/output error"));
    assert_int_equal(saving_resume(got, NULL), 4);
}

/* Listing the folder fails half-way. If that were ignored, an older checkpoint could count as the newest. */
static _Atomic bool readdir_fails;
struct dirent *readdir(DIR *list) {
    static struct dirent *(*next)(DIR *);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    if (!readdir_fails) return next(list);
    errno = EIO;
    return NULL;
}

static void folder_that_cannot_be_listed_to_its_end_is_an_error(void **state) {
    (void)state;
    mst_model *model = saving_model(saving_adam, 8);
    saving_train(4, 4, 0);
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    readdir_fails = true;
    const mst_status status = mst_checkpoint_restore(folder_path("run"), mst_model_store(model), NULL, NULL);
    readdir_fails = false;
    assert_int_equal(status, MST_IO);
    assert_int_equal(symlink("loop.index", folder_path("loop.index")), 0);
    EXPECT_ERROR(mst_checkpoint_restore(folder_path("loop"), mst_model_store(model), NULL, NULL), MST_IO,
                 "loop.index' cannot be opened");
    mst_model_destroy(model);
}

static void save_fails_where_its_name_cannot_be_looked_up(void **state) {
    (void)state;
    char got[65];
    saving_train(4, 4, 0);
    mst_model *model = saving_model(saving_adam, 8);
    mst_checkpoint_manager *manager = saving_manager((mst_checkpoint_options){.every_steps = 4});
    EXPECT_OK(mst_checkpoint_manager_restore(manager, mst_model_store(model), NULL, NULL));
    mst_file_replace_fault(fail_to_look);
    EXPECT_OK(mst_checkpoint_manager_save(manager, mst_model_store(model)));
    EXPECT_ERROR(mst_checkpoint_manager_wait(manager), MST_IO, "model.ckpt-4.index' cannot be found out");
    mst_file_replace_fault(saving_without_sync);
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    assert_int_equal(saving_resume(got, NULL), 4);
}

static void failed_save_ends_the_training_with_its_error(void **state) {
    (void)state;
    EXPECT_OK(train_with_fault(2, -1, WAY_FULL));
    EXPECT_ERROR(train_with_fault(6, 0, WAY_FULL), MST_IO, "No space left on device");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(whatever_call_fails_a_good_checkpoint_is_there),
        TEST_IN_FOLDER(file_that_cannot_be_looked_at_is_not_removed),
        TEST_IN_FOLDER(folder_that_cannot_be_listed_to_its_end_is_an_error),
        TEST_IN_FOLDER(save_fails_where_its_name_cannot_be_looked_up),
        TEST_IN_FOLDER(failed_save_ends_the_training_with_its_error),
    };
    mst_file_replace_fault(saving_without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
