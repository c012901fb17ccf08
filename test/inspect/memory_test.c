/* A report for which memory runs out is one error, and no half of it is printed. */
#include <stdlib.h>
#include <string.h>

#include "muster/inspect.h"
#include "support/folder.h"
#include "support/samples.h"
#include "support/test.h"

/* The copy of a string that fails, counted down; 0: none. */
static int failing;

/* In place of the C library's. */
char *strdup(const char *text) {
    if (failing && --failing == 0) return NULL;
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* A copy for each of the runs, the tags and the files of the log. */
static void log_whose_names_find_no_memory_is_one_error(void **state) {
    (void)state;
    samples_write();
    int times = 0;
    for (int at = 1; at < 100; at++, times++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        failing = at;
        const mst_status status = mst_inspect(folder_path("logs"), out);
        const bool failed = failing == 0;
        failing = 0;
        fclose(out);
        free(text);
        if (!failed) break;
        if (status) assert_int_equal(status, MST_OUT_OF_MEMORY);
    }
    assert_in_range(times, 4, 99);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(log_whose_names_find_no_memory_is_one_error)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
