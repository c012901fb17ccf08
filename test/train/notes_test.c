/* Notes of a store: in snapshots, checkpoints and model files. */
#include <jansson.h>

#include "format/bundle.h"
#include "format/npz.h"
#include "muster/muster.h"
#include "support/folder.h"
#include "support/test.h"

static const char names[] = "[\"caf\xc3\xa9\", \"\\\"quoted\\\"\"]";

static mst_store *new_store(void) {
    mst_store *store;
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){1, 2});
    EXPECT_OK(mst_store_create(&store));
    EXPECT_OK(mst_store_set(store, NULL, "layer1/weights", MST_STATE_WEIGHT, value));
    EXPECT_OK(mst_store_set(store, "other", "sum", MST_STATE_METRIC, value));
    mst_tensor_release(value);
    return store;
}

static void expect_note(mst_store *store, const char *key, const char *want) {
    char *text;
    EXPECT_OK(mst_store_get_note(store, key, &text));
    if (want) {
        assert_non_null(text);
        assert_string_equal(text, want);
    } else {
        assert_null(text);
    }
    free(text);
}

static void note_is_kept_changed_and_taken_away(void **state) {
    (void)state;
    mst_store *store = new_store();
    expect_note(store, "classes", NULL);
    EXPECT_OK(mst_store_set_note(store, "classes", names));
    EXPECT_OK(mst_store_set_note(store, "other", ""));
    expect_note(store, "classes", names);
    expect_note(store, "other", "");
    EXPECT_OK(mst_store_set_note(store, "classes", "changed"));
    expect_note(store, "classes", "changed");
    EXPECT_OK(mst_store_set_note(store, "classes", NULL));
    EXPECT_OK(mst_store_set_note(store, "classes", NULL));
    expect_note(store, "classes", NULL);
    expect_note(store, "other", "");
    mst_store_release(store);
}

static void snapshot_has_the_notes_of_its_moment(void **state) {
    (void)state;
    mst_store *store = new_store(), *second = new_store();
    mst_snapshot *snapshot;
    EXPECT_OK(mst_store_set_note(store, "classes", names));
    EXPECT_OK(mst_store_snapshot(store, &snapshot));
    EXPECT_OK(mst_store_set_note(store, "classes", "later"));
    assert_string_equal(mst_snapshot_note(snapshot, "classes"), names);
    assert_string_equal(mst_snapshot_note_key(snapshot, 0), "classes");
    assert_null(mst_snapshot_note_key(snapshot, 1));
    assert_null(mst_snapshot_note(snapshot, "nothing"));
    EXPECT_OK(mst_store_set_note(second, "mine", "stays"));
    EXPECT_OK(mst_store_restore(second, snapshot));
    expect_note(second, "classes", names);
    expect_note(second, "mine", "stays");
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    assert_string_equal(mst_snapshot_note(snapshot, "classes"), "later");
    mst_snapshot_release(snapshot);
    mst_store_release(store);
    mst_store_release(second);
}

static const char *const files[] = {"model", "model.safetensors", "model.npz"};

static void every_kind_of_file_has_the_notes(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        mst_store *store = new_store(), *second;
        mst_snapshot *snapshot, *read;
        EXPECT_OK(mst_store_set_note(store, "classes", names));
        EXPECT_OK(mst_store_set_note(store, "empty", ""));
        EXPECT_OK(mst_store_snapshot(store, &snapshot));
        EXPECT_OK(mst_checkpoint_write(folder_path(files[i]), snapshot, NULL));
        EXPECT_OK(mst_checkpoint_read(folder_path(files[i]), &read));
        assert_string_equal(mst_snapshot_note(read, "classes"), names);
        assert_string_equal(mst_snapshot_note(read, "empty"), "");
        /* and the entries, each with its container and kind */
        assert_int_equal(mst_snapshot_count(read), mst_snapshot_count(snapshot));
        assert_non_null(mst_snapshot_find(read, "other", "sum"));
        for (int64_t e = 0; e < mst_snapshot_count(read); e++)
            assert_int_equal(mst_snapshot_info(read, e).kind, mst_snapshot_info(snapshot, e).kind);
        EXPECT_OK(mst_store_create(&second));
        EXPECT_OK(mst_checkpoint_restore(folder_path(files[i]), second, NULL, NULL));
        expect_note(second, "classes", names);
        mst_snapshot_release(read);
        mst_snapshot_release(snapshot);
        mst_store_release(store);
        mst_store_release(second);
    }
}

static void note_that_is_no_utf8_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        mst_store *store = new_store();
        mst_snapshot *snapshot;
        char path[64];
        snprintf(path, sizeof path, "latin-%s", files[i]);
        EXPECT_OK(mst_store_set_note(store, "classes", "caf\xe9"));
        EXPECT_OK(mst_store_snapshot(store, &snapshot));
        EXPECT_ERROR(mst_checkpoint_write(folder_path(path), snapshot, NULL), MST_INVALID, "not UTF-8");
        mst_snapshot_release(snapshot);
        mst_store_release(store);
    }
}

static void file_without_notes_has_none(void **state) {
    (void)state;
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){1, 2});
    const mst_named_tensor tensor = {.name = "layer1/weights", .tensor = value};
    mst_snapshot *read;
    EXPECT_OK(mst_npz_write(folder_path("plain.npz"), &tensor, 1));
    EXPECT_OK(mst_checkpoint_read(folder_path("plain.npz"), &read));
    assert_null(mst_snapshot_note_key(read, 0));
    assert_int_equal(mst_snapshot_count(read), 1);
    mst_snapshot_release(read);
    mst_tensor_release(value);
}

static void damaged_description_of_an_archive_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "{", "[1, 2]", "{\"notes\": 3, \"entries\": 4}", "{\"notes\": {\"a\": 1}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(2), (double[]){1, 2}), *text;
        mst_snapshot *read;
        EXPECT_OK(mst_tensor_copy(MST_U8, MST_SHAPE((int64_t)strlen(texts[i])), texts[i], &text));
        const mst_named_tensor tensors[] = {{.name = "w", .tensor = value}, {.name = "_MUSTER_STATE", .tensor = text}};
        EXPECT_OK(mst_npz_write(folder_path("damaged.npz"), tensors, 2));
        if (i < 2) {
            EXPECT_ERROR(mst_checkpoint_read(folder_path("damaged.npz"), &read), MST_CORRUPT, "description");
            assert_null(read);
        } else {
            EXPECT_OK(mst_checkpoint_read(folder_path("damaged.npz"), &read));
            assert_null(mst_snapshot_note_key(read, 0));
            mst_snapshot_release(read);
        }
        mst_tensor_release(value);
        mst_tensor_release(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(note_is_kept_changed_and_taken_away),
        TEST_IN_FOLDER(snapshot_has_the_notes_of_its_moment),
        TEST_IN_FOLDER(every_kind_of_file_has_the_notes),
        TEST_IN_FOLDER(note_that_is_no_utf8_is_refused),
        TEST_IN_FOLDER(file_without_notes_has_none),
        TEST_IN_FOLDER(damaged_description_of_an_archive_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
