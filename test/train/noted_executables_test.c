/* The note of the executables of a fit, and the warning if the fit is resumed with others. */
#include "train/noted_executables.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "support/test.h"

enum { LINE = 3 * MST_EXECUTABLE_KEY_TEXT };

static void use(const char *text, const char *kind, const char *bytes) {
    const mst_executable_source source = {
        .text = text, .options = "o", .options_size = 1, .plugin = "plugin", .kind = kind};
    mst_executable_key hash;
    mst_executable_hash(bytes, strlen(bytes), &hash);
    mst_executable_note_used(&source, &hash);
}

/* The note of STORE, to be freed; NULL: none. */
static char *note_of(mst_store *store) {
    char *note;
    EXPECT_OK(mst_store_get_note(store, MST_NOTE_EXECUTABLES, &note));
    return note;
}

static void expect_lines(mst_store *store, size_t lines) {
    char *note = note_of(store);
    assert_int_equal(note ? strlen(note) : 0, lines * LINE);
    free(note);
}

/* Makes a step of a fit. It must say WARNING; NULL: nothing. */
static void step(mst_noted_executables *x, mst_store *store, bool resumes, const char *warning) {
    char text[300] = "";
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    EXPECT_OK(mst_noted_executables_step(x, store, resumes, file));
    fclose(file);
    assert_string_equal(text, warning ? warning : "");
}

/* Makes one step of a fit that is resumed. */
static void resume(mst_store *store, const char *warning) {
    mst_noted_executables x = {.before = NULL};
    step(&x, store, true, warning);
    mst_noted_executables_free(&x);
}

#define EFFECT ": weights may differ in their last digits from those of a training that was not stopped\n"
#define OTHERS(others, common)                                                                 \
    "warning: the training that is resumed had other compiled programs (" others " of " common \
    " were compiled anew)" EFFECT
#define OTHER_COMPILER "warning: the training that is resumed had programs of another compiler or kind of device" EFFECT
#define DAMAGED                                                                                                     \
    "warning: the note of compiled programs in the training that is resumed is damaged: whether they are the same " \
    "now is not known\n"

static int make_store(void **state) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    *state = store;
    return 0;
}

static int release_store(void **state) {
    mst_store_release(*state);
    return 0;
}

/* All before the first executable of this process. */
static void without_executables_there_is_no_note(void **state) {
    mst_store *store = *state;
    mst_noted_executables x = {.before = NULL};
    for (int i = 0; i < 3; i++) step(&x, store, false, NULL);
    mst_noted_executables_free(&x);
    expect_lines(store, 0);
    resume(store, NULL);
    expect_lines(store, 0);
}

static void one_that_goes_on_without_them_warns(void **state) {
    mst_store *store = *state;
    char note[LINE + 1];
    memset(note, 'a', LINE);
    note[64] = note[129] = ' ';
    note[194] = '\n';
    note[195] = '\0';
    EXPECT_OK(mst_store_set_note(store, MST_NOTE_EXECUTABLES, note));
    resume(store, OTHER_COMPILER);
    expect_lines(store, 0);
    resume(store, NULL);
}

static void the_same_say_nothing(void **state) {
    mst_store *store = *state;
    mst_noted_executables x = {.before = NULL};
    use("a", "kind", "1");
    step(&x, store, false, NULL);
    expect_lines(store, 1);
    use("b", "kind", "1");
    step(&x, store, false, NULL);
    expect_lines(store, 2);
    mst_noted_executables_free(&x);
    char *first = note_of(store), *second;
    resume(store, NULL);
    second = note_of(store);
    assert_string_equal(first, second);
    free(first);
    free(second);
}

static void what_was_compiled_anew_is_said_once(void **state) {
    mst_store *store = *state;
    mst_noted_executables x = {.before = NULL};
    use("a", "kind", "1");
    use("b", "kind", "1");
    step(&x, store, false, NULL);
    mst_noted_executables_free(&x);
    use("c", "kind", "1"); /* a new one is no reason */
    resume(store, NULL);
    expect_lines(store, 3);
    use("a", "kind", "2");
    step(&x, store, true, OTHERS("1", "3"));
    use("b", "kind", "2");
    step(&x, store, true, NULL);
    mst_noted_executables_free(&x);
    resume(store, NULL); /* now these count */
}

static void it_is_said_when_the_program_is_made(void **state) {
    mst_store *store = *state;
    mst_noted_executables x = {.before = NULL};
    use("a", "kind", "1");
    use("b", "kind", "1");
    step(&x, store, false, NULL);
    mst_noted_executables_free(&x);
    step(&x, store, true, NULL);
    for (int i = 0; i < 3; i++) step(&x, store, true, NULL);
    use("b", "kind", "2");
    step(&x, store, true, OTHERS("1", "3"));
    step(&x, store, true, NULL);
    mst_noted_executables_free(&x);
}

static void a_fit_that_begins_forgets_the_note(void **state) {
    mst_store *store = *state;
    mst_noted_executables x = {.before = NULL};
    use("a", "kind", "1");
    EXPECT_OK(mst_store_set_note(store, MST_NOTE_EXECUTABLES, "anything"));
    step(&x, store, false, NULL);
    mst_noted_executables_free(&x);
    resume(store, NULL);
}

/* Writes a note as that of another process, with COUNT lines: the source of line I is I + 1 in its last digits. */
static void set_note(mst_store *store, int count, const char *compiler, const char *end) {
    char *text = malloc((size_t)count * LINE + strlen(end) + 1), *at = text;
    assert_non_null(text);
    for (int i = 0; i < count; i++) at += sprintf(at, "%064x %s %064x\n", i + 1, compiler, i);
    strcpy(at, end);
    EXPECT_OK(mst_store_set_note(store, MST_NOTE_EXECUTABLES, text));
    free(text);
}

static void those_not_made_yet_stay_noted(void **state) {
    mst_store *store = *state;
    mst_used_executable list[MST_USED_EXECUTABLES_MOST];
    char compiler[MST_EXECUTABLE_KEY_TEXT];
    use("a", "kind", "1");
    const int made = mst_executables_used(list);
    mst_executable_key_print(&list[0].compiler, compiler);
    set_note(store, 5, compiler, "");
    resume(store, NULL);
    expect_lines(store, (size_t)made + 5);
    resume(store, NULL);
    expect_lines(store, (size_t)made + 5);
    set_note(store, MST_USED_EXECUTABLES_MOST, compiler, "");
    resume(store, NULL);
    expect_lines(store, MST_USED_EXECUTABLES_MOST);
    resume(store, NULL);
    memset(compiler, 'f', sizeof compiler - 1);
    set_note(store, 5, compiler, "");
    resume(store, OTHER_COMPILER);
    expect_lines(store, (size_t)made);
}

static void a_damaged_note_is_said(void **state) {
    mst_store *store = *state;
    char hash[MST_EXECUTABLE_KEY_TEXT] = "";
    use("a", "kind", "1");
    memset(hash, 'c', sizeof hash - 1);
    static const char *const ends[] = {"\n", "x", "0123 4567 89ab\n", " "};
    for (int i = 0; i < 4; i++) {
        set_note(store, 2, hash, ends[i]);
        resume(store, DAMAGED);
        resume(store, NULL);
    }
    set_note(store, MST_USED_EXECUTABLES_MOST + 1, hash, "");
    resume(store, DAMAGED);
    hash[9] = 'C'; /* not as it is written */
    set_note(store, 2, hash, "");
    resume(store, DAMAGED);
    set_note(store, 1, hash + 1, "");
    resume(store, DAMAGED);
    memset(hash, 'c', sizeof hash - 1);
    char twice[LINE + 1];
    snprintf(twice, sizeof twice, "%064x %s %064x\n", 1, hash, 0); /* a source again */
    set_note(store, 1, hash, twice);
    resume(store, DAMAGED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_store, release_store)

int main(void) {
    const struct CMUnitTest tests[] = {TEST(without_executables_there_is_no_note),
                                       TEST(one_that_goes_on_without_them_warns),
                                       TEST(the_same_say_nothing),
                                       TEST(what_was_compiled_anew_is_said_once),
                                       TEST(it_is_said_when_the_program_is_made),
                                       TEST(a_fit_that_begins_forgets_the_note),
                                       TEST(those_not_made_yet_stay_noted),
                                       TEST(a_damaged_note_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
