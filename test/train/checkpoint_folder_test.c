/* The folder of checkpoints: who may write there, what is removed, links, and which checkpoint is the newest. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "format/bundle.h"
#include "muster/muster.h"
#include "support/folder.h"
#include "support/saving.h"
#include "support/test.h"
#include "support/training.h"

/* ---- the folder ---- */

static void second_manager_is_refused_until_the_first_is_closed(void **state) {
    (void)state;
    mst_checkpoint_manager *first = saving_manager((mst_checkpoint_options){.every_steps = 1}), *second;
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &second), MST_UNAVAILABLE, "another training writes");
    assert_null(second);
    EXPECT_OK(mst_checkpoint_manager_close(first));
    EXPECT_OK(mst_checkpoint_manager_open(&options, &second));
    EXPECT_OK(mst_checkpoint_manager_close(second));
}

static void lock_goes_with_the_process_that_has_it(void **state) {
    (void)state;
    const mst_checkpoint_options options = {.directory = folder_path("run")};
    mst_checkpoint_manager *manager;
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (mst_checkpoint_manager_open(&options, &manager)) _exit(1);
        (void)!write(ready[1], "x", 1);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_UNAVAILABLE, "another training writes");
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    EXPECT_OK(mst_checkpoint_manager_open(&options, &manager));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    close(ready[0]);
    close(ready[1]);
}

static void half_written_files_of_a_killed_process_are_removed(void **state) {
    (void)state;
    char path[700];
    saving_train(4, 4, 0);
    folder_write("run/.muster-0123456789abc", "half", 4);
    folder_write("run/model.ckpt-8.data-00000-of-00001", "half", 4);
    folder_write("run/mine.data-00000-of-00001", "half", 4);
    snprintf(path, sizeof path, "%s", folder_path("run/.muster-0123456789abc"));
    EXPECT_OK(mst_checkpoint_manager_close(saving_manager((mst_checkpoint_options){.every_steps = 1})));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_string_equal(saving_files(),
                        "checkpoint mine.data-00000-of-00001 model.ckpt-4.data-00000-of-00001 "
                        "model.ckpt-4.index ");
}

/* Another program writes into the folder, and keeps a file there whose name is alike. */
static void files_that_others_write_in_the_folder_stay(void **state) {
    (void)state;
    mst_file file;
    mst_bundle_writer *writer;
    char path[700];
    saving_train(4, 4, 0);
    EXPECT_OK(mst_file_create(folder_path("run/table.csv"), &file));
    EXPECT_OK(mst_file_append(&file, "1,2\n", 4));
    EXPECT_OK(mst_bundle_writer_create(folder_path("run/model.ckpt-9"), &writer));
    saving_add(writer, "a", MST_F32, 1);
    snprintf(path, sizeof path, "%s", folder_write("run/.muster-notes", "mine", 4));
    EXPECT_OK(mst_checkpoint_manager_close(saving_manager((mst_checkpoint_options){.every_steps = 1})));
    EXPECT_OK(mst_file_commit(&file));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    assert_int_equal(access(path, F_OK), 0);
    assert_non_null(strstr(saving_files(), "model.ckpt-9.data-00000-of-00001 model.ckpt-9.index table.csv "));
}

/* While a save is between data and index, there are only data. Another training that begins then must not remove them
 * as left over. */
static int open_meanwhile(mst_file_call call, size_t *size) {
    static int renames;
    (void)size;
    if (call != MST_FILE_RENAME || ++renames != 2) return call == MST_FILE_SYNC ? -1 : 0;
    mst_file_replace_fault(saving_without_sync);
    EXPECT_OK(mst_checkpoint_manager_close(saving_manager((mst_checkpoint_options){.every_steps = 1})));
    return 0;
}

static void data_whose_index_is_being_written_stays(void **state) {
    (void)state;
    mst_bundle_writer *writer;
    mst_snapshot *snapshot;
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    EXPECT_OK(mst_bundle_writer_create(folder_path("run/model.ckpt-9"), &writer));
    saving_add(writer, "a", MST_F32, 1);
    mst_file_replace_fault(open_meanwhile);
    EXPECT_OK(mst_bundle_writer_finish(writer));
    mst_file_replace_fault(saving_without_sync);
    EXPECT_OK(mst_checkpoint_read(folder_path("run/model.ckpt-9"), &snapshot));
    mst_snapshot_release(snapshot);
}

/* ---- folders from somebody else ---- */

static void copy_file(const char *from, const char *to) {
    void *data;
    size_t size;
    EXPECT_OK(mst_file_read(folder_path(from), 1 << 24, &data, &size));
    folder_write(to, data, size);
    free(data);
}

/* A folder beside `run` with a checkpoint that is not the training's. */
static void make_victim(void) {
    assert_int_equal(mkdir(folder_path("victim"), 0700), 0);
    copy_file("run/model.ckpt-4.index", "victim/model.ckpt-2.index");
    copy_file("run/model.ckpt-4.data-00000-of-00001", "victim/model.ckpt-2.data-00000-of-00001");
}

static void expect_victim(void) {
    mst_snapshot *snapshot;
    EXPECT_OK(mst_checkpoint_read(folder_path("victim/model.ckpt-2"), &snapshot));
    mst_snapshot_release(snapshot);
}

static void names_of_the_state_file_count_inside_the_folder_only(void **state) {
    (void)state;
    char text[2048];
    for (int absolute = 0; absolute < 2; absolute++) {
        saving_train(4, 4, 0);
        make_victim();
        snprintf(text, sizeof text,
                 "model_checkpoint_path: \"model.ckpt-4\"\nall_model_checkpoint_paths: \"%s/victim/model.ckpt-2\"\n"
                 "all_model_checkpoint_paths: \"model.ckpt-4\"\n",
                 absolute ? folder_path("") : "..");
        folder_write_text("run/checkpoint", text);
        saving_train(12, 4, 1);
        expect_victim();
        assert_null(strstr(saving_files(), "model.ckpt-4"));
        snprintf(text, sizeof text, "rm -r '%s' '%s'", folder_path("run"), folder_path("victim"));
        assert_int_equal(system(text), 0);
    }
}

/* A state file as TensorFlow writes it for a folder with an absolute path; then the folder is moved. */
static void whole_paths_of_the_state_file_are_found_where_the_folder_is(void **state) {
    (void)state;
    char got[65];
    saving_train(12, 4, 0);
    folder_write_text("run/checkpoint",
                      "model_checkpoint_path: \"/gone/run/model.ckpt-8\"\n"
                      "all_model_checkpoint_paths: \"/gone/run/model.ckpt-4\"\n"
                      "all_model_checkpoint_paths: \"/gone/run/model.ckpt-8\"\n");
    assert_int_equal(saving_resume(got, NULL), 8);
}

static void link_to(const char *target, const char *name) {
    (void)unlink(folder_path(name));
    assert_int_equal(symlink(target, folder_path(name)), 0);
}

static void expect_text(const char *name, const char *wanted) {
    void *data;
    size_t size;
    EXPECT_OK(mst_file_read(folder_path(name), 4096, &data, &size));
    ((char *)data)[size] = '\0';
    assert_string_equal(data, wanted);
    free(data);
}

static void links_in_the_folder_are_not_written_through(void **state) {
    (void)state;
    static const char *const names[] = {"run/checkpoint", "run/model.ckpt-8.data-00000-of-00001"};
    struct stat info;
    for (int i = 0; i < 2; i++) {
        saving_train(4, 4, 0);
        folder_write_text("victim", "precious");
        link_to("../victim", names[i]);
        saving_train(8, 4, 0);
        expect_text("victim", "precious");
        assert_int_equal(lstat(folder_path(names[i]), &info), 0);
        assert_true(S_ISREG(info.st_mode));
        char command[700];
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

static void lock_that_is_a_link_is_refused(void **state) {
    (void)state;
    char path[700];
    const mst_checkpoint_options options = {.directory = path};
    mst_checkpoint_manager *manager;
    snprintf(path, sizeof path, "%s", folder_path("run"));
    saving_train(4, 4, 0);
    folder_write_text("victim", "precious");
    link_to("../victim", "run/.muster.lock");
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, ".muster.lock' is a symbolic link");
    expect_text("victim", "precious");
    assert_int_equal(unlink(folder_path("run/.muster.lock")), 0);
    assert_int_equal(link(folder_path("victim"), folder_path("run/.muster.lock")), 0);
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, "or has several names (hard links)");
    expect_text("victim", "precious");
}

static void folder_of_the_best_that_is_a_link_is_refused(void **state) {
    (void)state;
    char path[700];
    const mst_checkpoint_options options = {.directory = path, .monitor = "loss"};
    mst_checkpoint_manager *manager;
    snprintf(path, sizeof path, "%s", folder_path("run"));
    saving_train(4, 4, 0);
    make_victim();
    link_to("../victim", "run/best");
    EXPECT_ERROR(mst_checkpoint_manager_open(&options, &manager), MST_INVALID, "best' is a symbolic link");
    expect_victim();
}

static void folder_can_be_reached_through_a_link_and_data_be_read_through_one(void **state) {
    (void)state;
    char wanted[65], got[65];
    saving_undisturbed(wanted);
    assert_int_equal(mkdir(folder_path("disk"), 0700), 0);
    link_to("disk", "run");
    saving_train(4, 4, 0);
    assert_int_equal(rename(folder_path("run/model.ckpt-4.data-00000-of-00001"), folder_path("data")), 0);
    link_to("../data", "run/model.ckpt-4.data-00000-of-00001");
    assert_int_equal(saving_resume(got, NULL), 4);
    assert_string_equal(got, wanted);
    saving_train(8, 4, 1); /* removes the link */
    assert_int_equal(access(folder_path("data"), F_OK), 0);
    assert_int_equal(access(folder_path("disk/model.ckpt-8.index"), F_OK), 0);
}

/* ---- which is the newest ---- */

static void set_time(const char *name, time_t seconds) {
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, folder_path(name), times, 0), 0);
}

/* A copied folder, whose files have other times. Checkpoints that the state file does not name are kept for good. */
static void times_of_files_do_not_tell_the_order(void **state) {
    (void)state;
    char got[65];
    for (int named = 0; named < 2; named++) {
        mst_model *model = saving_model(saving_adam, 8);
        mst_checkpoint_manager *manager =
            saving_manager((mst_checkpoint_options){.every_steps = 3, .keep = 2, .keep_every_hours = 1e-12});
        const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = saving_wait}};
        EXPECT_OK(saving_fit(model, 12, save, 2));
        EXPECT_OK(mst_checkpoint_manager_close(manager));
        mst_model_destroy(model);
        if (!named) assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
        for (int step = 3; step <= 12; step += 3) {
            char name[64];
            snprintf(name, sizeof name, "run/model.ckpt-%d.index", step);
            set_time(name, 2000000000 - step);
        }
        assert_int_equal(saving_resume(got, NULL), 12);
        saving_train(15, 15, 1);
        assert_non_null(strstr(saving_files(), named ? "model.ckpt-15" : "model.ckpt-12"));
        assert_non_null(strstr(saving_files(), "model.ckpt-3.index model.ckpt-6.data"));
        assert_int_equal(saving_resume(got, NULL), 15);
        char command[700];
        snprintf(command, sizeof command, "rm -r '%s'", folder_path("run"));
        assert_int_equal(system(command), 0);
    }
}

/* The process is killed after the index was written, and before the state file. That checkpoint is still the newest. */
static void checkpoint_that_the_state_file_does_not_name_yet_is_the_newest(void **state) {
    (void)state;
    char got[65];
    saving_train(8, 4, 0);
    copy_file("run/checkpoint", "state");
    saving_train(12, 12, 0);
    copy_file("state", "run/checkpoint");
    set_time("run/model.ckpt-12.index", 1000000000);
    assert_int_equal(saving_resume(got, NULL), 12);
}

static void training_that_begins_anew_keeps_old_checkpoints(void **state) {
    (void)state;
    char got[65];
    saving_train(8, 4, 0);
    mst_model *model = saving_model(saving_adam, 8);
    mst_checkpoint_manager *manager =
        saving_manager((mst_checkpoint_options){.every_steps = 2, .keep = 1, .anew = true});
    const mst_callback save[] = {mst_checkpoint_callback(manager), {.context = manager, .step_end = saving_wait}};
    EXPECT_OK(saving_fit(model, 6, save, 2));
    EXPECT_OK(mst_checkpoint_manager_close(manager));
    mst_model_destroy(model);
    static const char kept[] =
        "checkpoint model.ckpt-4.data-00000-of-00001 model.ckpt-4.index "
        "model.ckpt-6.data-00000-of-00001 model.ckpt-6.index "
        "model.ckpt-8.data-00000-of-00001 model.ckpt-8.index ";
    assert_string_equal(saving_files(), kept);
    assert_int_equal(saving_resume(got, NULL), 6); /* the newest, though another is of a later step */
    assert_int_equal(unlink(folder_path("run/checkpoint")), 0);
    assert_int_equal(saving_resume(got, NULL), 6);
}

static void impossible_options_are_named(void **state) {
    (void)state;
    mst_checkpoint_manager *manager;
    folder_write("file", "", 0);
    const mst_checkpoint_options none = {.every_steps = 1}, negative = {.directory = "x", .every_steps = -1},
                                 prefix = {.directory = "x", .prefix = "a/b"},
                                 file = {.directory = folder_path("file")},
                                 below = {.directory = folder_path("file/below")};
    EXPECT_ERROR(mst_checkpoint_manager_open(&none, &manager), MST_INVALID, "no directory");
    EXPECT_ERROR(mst_checkpoint_manager_open(&negative, &manager), MST_INVALID, "0 or more");
    EXPECT_ERROR(mst_checkpoint_manager_open(&prefix, &manager), MST_INVALID, "prefix 'a/b' must be a file name");
    EXPECT_ERROR(mst_checkpoint_manager_open(&file, &manager), MST_INVALID, "file' is a file");
    EXPECT_ERROR(mst_checkpoint_manager_open(&below, &manager), MST_INVALID, "cannot be made");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(second_manager_is_refused_until_the_first_is_closed),
        TEST_IN_FOLDER(lock_goes_with_the_process_that_has_it),
        TEST_IN_FOLDER(half_written_files_of_a_killed_process_are_removed),
        TEST_IN_FOLDER(files_that_others_write_in_the_folder_stay),
        TEST_IN_FOLDER(data_whose_index_is_being_written_stays),
        TEST_IN_FOLDER(names_of_the_state_file_count_inside_the_folder_only),
        TEST_IN_FOLDER(whole_paths_of_the_state_file_are_found_where_the_folder_is),
        TEST_IN_FOLDER(links_in_the_folder_are_not_written_through),
        TEST_IN_FOLDER(lock_that_is_a_link_is_refused),
        TEST_IN_FOLDER(folder_of_the_best_that_is_a_link_is_refused),
        TEST_IN_FOLDER(folder_can_be_reached_through_a_link_and_data_be_read_through_one),
        TEST_IN_FOLDER(times_of_files_do_not_tell_the_order),
        TEST_IN_FOLDER(checkpoint_that_the_state_file_does_not_name_yet_is_the_newest),
        TEST_IN_FOLDER(training_that_begins_anew_keeps_old_checkpoints),
        TEST_IN_FOLDER(impossible_options_are_named),
    };
    mst_file_replace_fault(saving_without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
