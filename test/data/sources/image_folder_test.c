/* Which files of a folder are taken as pictures, and that each file that is left out is reported. */
#include "data/sources/image_folder.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/folder.h"
#include "support/test.h"

static void make(const char *name) {
    assert_int_equal(mkdir(folder_path(name), 0755), 0);
}

static void touch(const char *name) {
    (void)folder_write(name, "x", 1);
}

static void expect_file(const mst_image_folder *folder, int64_t i, const char *end, int64_t label) {
    const size_t length = strlen(folder->path[i]), size = strlen(end);
    assert_true(length > size);
    assert_string_equal(folder->path[i] + length - size, end);
    if (folder->label) assert_int_equal(folder->label[i], label);
}

/* Files with the same name in two folders are different pictures. */
static void pictures_of_folders_below_are_of_the_class(void **state) {
    (void)state;
    static const char *const folders[] = {"cat", "cat/2022", "cat/2021", "cat/2021/may", "dog"};
    static const char *const files[] = {"cat/2022/1.png",     "cat/2021/may/1.jpeg", "cat/2021/1.jfif", "cat/z.JPG",
                                        "cat/2021/notes.txt", "cat/2021/.2.png",     "dog/1.png"};
    static const char *const wanted[] = {"/cat/z.JPG", "/cat/2021/1.jfif", "/cat/2021/may/1.jpeg", "/cat/2022/1.png",
                                         "/dog/1.png"};
    mst_image_folder folder;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) make(folders[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) touch(files[i]);
    EXPECT_OK(mst_image_folder_list(folder_path(""), &folder));
    assert_int_equal(folder.num_classes, 2);
    assert_int_equal(folder.num_files, 5);
    for (int64_t i = 0; i < 5; i++) expect_file(&folder, i, wanted[i], i == 4);
    EXPECT_OK(mst_image_folder_check_classes(folder_path(""), &folder));
    mst_image_folder_free(&folder);
    const char *const path = folder_path("cat");
    EXPECT_OK(mst_image_folder_take(&path, 1, &folder));
    assert_int_equal(folder.num_files, 4);
    for (int64_t i = 0; i < 4; i++) expect_file(&folder, i, wanted[i], 0);
    mst_image_folder_free(&folder);
}

static void what_is_left_out_is_counted(void **state) {
    (void)state;
    static const char *const files[] = {"cat/1.webp",      "cat/2.gif",     "cat/more/3.BMP", "cat/notes.txt",
                                        "list.csv",        "cat/more/x",    ".hidden",        "cat/.DS_Store",
                                        "cat/more/.4.png", "cat/.git/1.png"};
    mst_image_folder folder;
    make("cat"), make("cat/more"), make("cat/.git");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) touch(files[i]);
    (void)folder_write("cat/0.png", "", 0);
    assert_int_equal(symlink("nowhere", folder_path("cat/away.jpg")), 0);
    EXPECT_OK(mst_image_folder_list(folder_path(""), &folder));
    assert_int_equal(folder.num_files, 3);
    expect_file(&folder, 0, "/cat/1.webp", 0);
    expect_file(&folder, 2, "/cat/more/3.BMP", 0);
    assert_int_equal(folder.left_out.no_pictures, 3);
    assert_int_equal(folder.left_out.hidden, 4);
    assert_int_equal(folder.left_out.empty, 1);
    assert_int_equal(folder.left_out.broken_links, 1);
    mst_image_folder_free(&folder);
    const char *const path = folder_path("cat");
    EXPECT_OK(mst_image_folder_take(&path, 1, &folder));
    assert_int_equal(folder.left_out.no_pictures, 2);
    mst_image_folder_free(&folder);
}

static void expect_refused(const char *why) {
    mst_image_folder folder;
    EXPECT_ERROR(mst_image_folder_list(folder_path(""), &folder), MST_INVALID, why);
    mst_image_folder_free(&folder);
}

static void pictures_of_other_kinds_are_counted(void **state) {
    (void)state;
    static const char *const kinds[] = {"tif", "tiff", "heic", "heif", "avif", "ppm", "PGM"};
    mst_image_folder folder;
    char name[32];
    make("cat"), make("cat/more");
    touch("cat/1.png");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        snprintf(name, sizeof name, "cat/more/1.%s", kinds[i]);
        touch(name);
        expect_refused(name);
        const char *const path = folder_path("cat");
        EXPECT_ERROR(mst_image_folder_take(&path, 1, &folder), MST_INVALID, name);
        mst_image_folder_free(&folder);
        assert_int_equal(unlink(folder_path(name)), 0);
    }
    touch("cat/1.tif"), touch("cat/2.TIFF"), touch("cat/more/1.avif");
    expect_refused(
        "': TIFF pictures are not read, only PNG, JPEG, WebP, GIF and BMP (2 TIFF, 1 AVIF in all): convert them");
}

static void pictures_without_a_class_and_classes_without_pictures(void **state) {
    (void)state;
    mst_image_folder folder;
    make("cat"), make("dog"), make("dog/none");
    touch("cat/1.png");
    EXPECT_OK(mst_image_folder_list(folder_path(""), &folder));
    EXPECT_ERROR(mst_image_folder_check_classes(folder_path(""), &folder), MST_INVALID,
                 "dog': is the folder of a class");
    mst_image_folder_free(&folder);
    touch("dog/1.png"), touch("stray.png");
    expect_refused("stray.png': is a picture beside the folders of the classes, the first of 1 there");
}

static void parts_are_no_classes(void **state) {
    (void)state;
    make("Training"), make("Training/cat"), make("validation"), make("validation/cat");
    touch("Training/cat/1.png"), touch("validation/cat/1.png");
    expect_refused("its folders 'Training' and 'validation' are parts of the data");
}

static void a_link_that_leads_back_is_told(void **state) {
    (void)state;
    make("cat");
    touch("cat/1.png");
    assert_int_equal(symlink("..", folder_path("cat/up")), 0);
    expect_refused("is a link to a folder that it lies in itself");
}

static void link_to(const char *target, const char *name) {
    assert_int_equal(symlink(target, folder_path(name)), 0);
}

/* A folder that two links lead to is listed twice. With two links to the next folder in each of 30 folders, there would
 * be 2^30 paths. */
static void ways_by_links_are_bounded(void **state) {
    (void)state;
    mst_image_folder folder;
    char name[32], next[32];
    make("cat"), make(".steps");
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, ".steps/%d", i);
        make(name);
    }
    touch(".steps/29/1.png");
    link_to("../.steps/29", "cat/a"), link_to("../.steps/29", "cat/b");
    EXPECT_OK(mst_image_folder_list(folder_path(""), &folder));
    assert_int_equal(folder.num_files, 2);
    expect_file(&folder, 0, "/cat/a/1.png", 0);
    expect_file(&folder, 1, "/cat/b/1.png", 0);
    mst_image_folder_free(&folder);
    for (int i = 0; i < 29; i++) {
        snprintf(next, sizeof next, "../%d", i + 1);
        snprintf(name, sizeof name, ".steps/%d/a", i);
        link_to(next, name);
        snprintf(name, sizeof name, ".steps/%d/b", i);
        link_to(next, name);
    }
    link_to("../.steps/0", "cat/c");
    expect_refused("folders are listed because links lead to them");
    const char *const path = folder_path("cat");
    EXPECT_ERROR(mst_image_folder_take(&path, 1, &folder), MST_INVALID,
                 "folders are listed because links lead to them");
    mst_image_folder_free(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(pictures_of_folders_below_are_of_the_class),
        TEST_IN_FOLDER(what_is_left_out_is_counted),
        TEST_IN_FOLDER(pictures_of_other_kinds_are_counted),
        TEST_IN_FOLDER(pictures_without_a_class_and_classes_without_pictures),
        TEST_IN_FOLDER(parts_are_no_classes),
        TEST_IN_FOLDER(a_link_that_leads_back_is_told),
        TEST_IN_FOLDER(ways_by_links_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
