/* Names of files, and names in files of every format, that contain control characters for the terminal: no report,
 * as text or as JSON, and no error prints them unescaped. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "muster/inspect.h"
#include "support/folder.h"
#include "support/obeyed.h"
#include "support/samples.h"
#include "support/test.h"

typedef mst_status (*inspect_fn)(const char *path, FILE *out);

/* What FUNCTION prints of PATH, to be freed. */
static char *plain_report(inspect_fn function, const char *path, const char *what, mst_status *status) {
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    *status = function(path, out);
    fclose(out);
    if (has_obeyed(text, size, true)) fail_msg("the report of %s has such a character: %s", what, text);
    return text;
}

static void expect_plain(const char *path, const char *what) {
    mst_status status;
    char *json = plain_report(mst_inspect_json, path, what, &status);
    free(json);
    char *text = plain_report(mst_inspect, path, what, &status);
    free(text);
    const char *message = status ? mst_error()->message : "";
    if (has_obeyed(message, strlen(message), false))
        fail_msg("the error of %s has such a character: %s", what, message);
}

static void names_of_files(void **state) {
    (void)state;
    samples_write();
    for (const sample *s = samples; s->name; s++) {
        void *data;
        size_t size;
        if (access(folder_path(s->name), F_OK)) continue; /* built without the codec */
        EXPECT_OK(mst_file_read(folder_path(s->name), 1 << 20, &data, &size));
        for (int i = 0; obeyed_names[i]; i++) {
            const size_t part[] = {size, size / 2, size < 10 ? size : 10};
            for (int k = 0; k < 3; k++) {
                const char *path = folder_write(obeyed_names[i], data, part[k]);
                expect_plain(path, s->name);
                (void)unlink(path);
            }
        }
        free(data);
    }
    expect_plain(folder_path("n\302\233owhere\n"), "a file that is not there");
}

/* Everywhere in the file in turn: some of these places are in a name, and some of the names are then in an error. */
static void names_in_files(void **state) {
    static const char *const put[] = {"\302\233", "\u202e" /* NOLINT(misc-misleading-bidirectional) */, "\n\033[",
                                      "\xff"};
    enum { MOST_PLACES = 150 };
    (void)state;
    samples_write();
    for (const sample *s = samples; s->name; s++) {
        void *data;
        size_t size;
        if (access(folder_path(s->name), F_OK)) continue;
        EXPECT_OK(mst_file_read(folder_path(s->name), 1 << 20, &data, &size));
        char *copy = malloc(size);
        assert_non_null(copy);
        const size_t step = size / MOST_PLACES + 1;
        for (int i = 0; i < 4; i++) {
            for (size_t at = (size_t)i; at + 4 < size; at += step) {
                memcpy(copy, data, size);
                memcpy(copy + at, put[i], strlen(put[i]));
                (void)unlink(folder_path(s->name)); /* a file that is only cut off is synced by some file systems */
                expect_plain(folder_write(s->name, copy, size), s->name);
            }
        }
        (void)folder_write(s->name, data, size);
        free(copy);
        free(data);
    }
}

/* A program that reads the JSON gets the name as it is. */
static void json_has_the_same_names(void **state) {
    (void)state;
    for (int i = 0; obeyed_names[i]; i++) {
        mst_status status;
        json_t *name = json_string(obeyed_names[i]);
        if (!name) continue; /* no UTF-8 */
        const char *path = folder_write(obeyed_names[i], "a,b\n1,2\n", strlen("a,b\n1,2\n"));
        char *text = plain_report(mst_inspect_json, path, "a table", &status);
        EXPECT_OK(status);
        json_t *report = json_loads(text, 0, NULL);
        assert_non_null(report);
        assert_string_equal(json_string_value(json_object_get(report, "file")), path);
        json_decref(report);
        json_decref(name);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(json_has_the_same_names),
        TEST_IN_FOLDER(names_of_files),
        TEST_IN_FOLDER(names_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
