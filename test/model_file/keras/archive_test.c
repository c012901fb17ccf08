/* .keras files as archives: entries in any order, each name only once, and weights that are in memory only once
 * while they are read. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/zip_read.h"
#include "model_file/keras/tree.h"
#include "module/module.h"
#include "muster/inspect.h"
#include "muster/layers.h"
#include "muster/model_file.h"
#include "muster/train.h"
#include "support/archive.h"
#include "support/folder.h"
#include "support/sanitized.h"
#include "support/test.h"

enum { MOST_ENTRIES = 8 };

/* The entries of a model's file. */
typedef struct parts {
    char name[MOST_ENTRIES][64];
    blob data[MOST_ENTRIES];
    int count;
} parts;

static void read_parts(const char *path, parts *out) {
    mst_bytes bytes;
    mst_zip zip;
    *out = (parts){.count = 0};
    EXPECT_OK(mst_bytes_open(path, &bytes));
    EXPECT_OK(mst_zip_open(&bytes, &zip));
    assert_in_range(zip.num_entries, 3, MOST_ENTRIES);
    for (int i = 0; i < zip.num_entries; i++) {
        mst_zip_reader reader;
        const size_t size = (size_t)zip.entry[i].size;
        uint8_t *data = malloc(size + 1);
        assert_non_null(data);
        EXPECT_OK(mst_zip_reader_open(&zip, &zip.entry[i], &reader));
        EXPECT_OK(mst_zip_reader_read(&reader, data, size));
        mst_zip_reader_close(&reader);
        snprintf(out->name[i], sizeof out->name[i], "%s", zip.entry[i].name);
        blob_add(&out->data[i], data, size);
        out->count++;
        free(data);
    }
    mst_zip_free(&zip);
    mst_bytes_close(&bytes);
}

static void make_parts(parts *out) {
    const char *path = folder_path("whole.keras");
    mst_model *model;
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 4), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_dense(mst_input(model, MST_SHAPE(4)), 3);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(), .seed = 1));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_OK(mst_model_save(model, path));
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_tensor_release(x);
    read_parts(path, out);
}

static void free_parts(parts *p) {
    for (int i = 0; i < p->count; i++) blob_free(&p->data[i]);
}

static const char *write_zip(zip_maker *zip, const char *name) {
    zip_end(zip);
    const char *path = folder_write(name, zip->file.data, zip->file.size);
    zip_free(zip);
    return path;
}

static mst_status look_at(const char *path, const char *wanted) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const mst_status status = mst_inspect(path, out);
    fclose(out);
    assert_non_null(strstr(text, wanted));
    free(text);
    return status;
}

/* Every rotation, so that each entry is the first one once. */
static void entries_may_have_any_order(void **state) {
    (void)state;
    parts p;
    make_parts(&p);
    for (int first = 0; first < p.count; first++) {
        zip_maker zip = {.num_entries = 0};
        mst_model *model;
        for (int i = 0; i < p.count; i++)
            zip_add(&zip, p.name[(first + i) % p.count], &p.data[(first + i) % p.count], 0);
        const char *path = write_zip(&zip, "order.keras");
        EXPECT_OK(look_at(path, ": Keras, "));
        EXPECT_OK(mst_model_load(path, &model, NULL));
        mst_model_destroy(model);
    }
    free_parts(&p);
}

/* Whichever of the entries it is. */
static void two_entries_of_one_name_are_refused(void **state) {
    (void)state;
    parts p;
    make_parts(&p);
    for (int twice = 0; twice < p.count; twice++) {
        zip_maker zip = {.num_entries = 0};
        mst_model *model;
        char wanted[100];
        for (int i = 0; i < p.count; i++) zip_add(&zip, p.name[i], &p.data[i], 0);
        zip_add(&zip, p.name[twice], &p.data[twice], 8);
        const char *path = write_zip(&zip, "twice.keras");
        snprintf(wanted, sizeof wanted, "has two entries of the name '%s'", p.name[twice]);
        EXPECT_ERROR(mst_model_load(path, &model, NULL), MST_CORRUPT, wanted);
        EXPECT_ERROR(look_at(path, ": Keras, "), MST_CORRUPT, wanted);
    }
    free_parts(&p);
}

/* Arrays are counted against the file's own bytes, also where HDF5 inflates what the archive has inflated. */
static void arrays_are_at_most_what_the_file_can_become(void **state) {
    (void)state;
    parts p;
    mst_keras_tree tree;
    make_parts(&p);
    for (int i = 0; i < p.count; i++) {
        if (strcmp(p.name[i], "model.weights.h5") != 0) continue;
        EXPECT_OK(mst_keras_tree_read("a.keras", p.data[i].data, p.data[i].size, p.data[i].size, &tree));
        mst_keras_tree_free(&tree);
        EXPECT_ERROR(mst_keras_tree_read("a.keras", p.data[i].data, p.data[i].size, 0, &tree), MST_CORRUPT,
                     "'a.keras': its arrays have more than 1032 times the bytes of the file");
        mst_keras_tree_free(&tree);
    }
    free_parts(&p);
}

/* 128 MiB of zeros in 130 kB: they are in memory once, in this process and in the one that reads HDF5 together. */
static void inflated_weights_are_in_memory_once(void **state) {
    enum { SIZE = 128 << 20, MOST_KB = SIZE / 1024 + 40000 };
    (void)state;
    if (SANITIZED) skip();
    parts p;
    blob weights = {0};
    zip_maker zip = {.num_entries = 0};
    struct rusage own, children;
    make_parts(&p);
    uint8_t *zeros = calloc(1, SIZE);
    assert_non_null(zeros);
    static const uint8_t signature[] = {0211, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    memcpy(zeros, signature, sizeof signature);
    weights = (blob){zeros, SIZE};
    for (int i = 0; i < p.count; i++)
        zip_add(&zip, p.name[i], strcmp(p.name[i], "model.weights.h5") == 0 ? &weights : &p.data[i], 8);
    free(zeros);
    const char *path = write_zip(&zip, "zeros.keras");
    free_parts(&p);
    const pid_t child = fork(); /* whose memory was not touched yet */
    if (child == 0) {
        mst_model *model;
        if (mst_model_load(path, &model, NULL) != MST_CORRUPT) _exit(1);
        getrusage(RUSAGE_SELF, &own);
        getrusage(RUSAGE_CHILDREN, &children);
        _exit(own.ru_maxrss > MOST_KB ? 2 : children.ru_maxrss > MOST_KB ? 3 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(entries_may_have_any_order),
        TEST_IN_FOLDER(two_entries_of_one_name_are_refused),
        TEST_IN_FOLDER(arrays_are_at_most_what_the_file_can_become),
        TEST_IN_FOLDER(inflated_weights_are_in_memory_once),
    };
    if (!mst_module_is_here("hdf5") || !mst_module_is_here("zip")) {
        print_message("skipped: the module hdf5 or zip is not there\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
