/* The record of the executables that a process has used: it keeps the newest bytes of each source, up to a limit. */
#include "run/executable_record.h"

#include <stdio.h>
#include <stdlib.h>

#include "muster/compile_cache.h"
#include "run/executables.h"
#include "support/folder.h"
#include "support/test.h"

static mst_executable_source source_of(const char *text, const char *kind) {
    return (mst_executable_source){.text = text, .options = "o", .options_size = 1, .plugin = "plugin", .kind = kind};
}

static mst_executable_key hash_of(const char *bytes) {
    mst_executable_key hash;
    mst_executable_hash(bytes, strlen(bytes), &hash);
    return hash;
}

static void use(const char *text, const char *kind, const char *bytes) {
    const mst_executable_source source = source_of(text, kind);
    const mst_executable_key hash = hash_of(bytes);
    mst_executable_note_used(&source, &hash);
}

/* The executable of TEXT; NULL: it was not used, or is forgotten. */
static const mst_used_executable *find(const mst_used_executable *list, int count, const char *text, const char *kind) {
    const mst_executable_source source = source_of(text, kind);
    mst_executable_key key;
    mst_executable_key_make(&source, &key);
    for (int i = 0; i < count; i++)
        if (memcmp(&list[i].source, &key, sizeof key) == 0) return &list[i];
    return NULL;
}

static void newest_bytes_of_each_source_are_noted(void **state) {
    (void)state;
    mst_used_executable list[MST_USED_EXECUTABLES_MOST];
    assert_int_equal(mst_executables_used(list), 0);
    assert_int_equal(mst_executables_num_uses(), 0);
    use("a", "kind", "1");
    use("b", "kind", "2");
    use("a", "other", "3");
    use("a", "kind", "4");
    assert_int_equal(mst_executables_used(list), 3);
    assert_int_equal(mst_executables_num_uses(), 4);
    for (int i = 1; i < 3; i++) assert_true(memcmp(&list[i - 1].source, &list[i].source, sizeof list->source) < 0);
    const mst_used_executable *a = find(list, 3, "a", "kind"), *b = find(list, 3, "b", "kind"),
                              *other = find(list, 3, "a", "other");
    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(other);
    const mst_executable_key hash = hash_of("4");
    assert_memory_equal(&a->bytes, &hash, sizeof hash);
    assert_memory_equal(&a->compiler, &b->compiler, sizeof hash);
    assert_memory_not_equal(&a->compiler, &other->compiler, sizeof hash);
}

static void what_was_noted_longest_ago_is_forgotten(void **state) {
    (void)state;
    mst_used_executable list[MST_USED_EXECUTABLES_MOST];
    char text[20];
    for (int i = 0; i < MST_USED_EXECUTABLES_MOST; i++) {
        snprintf(text, sizeof text, "text %d", i);
        use(text, "many", "1");
    }
    use("text 0", "many", "2"); /* the newest again */
    use("one more", "many", "1");
    assert_int_equal(mst_executables_used(list), MST_USED_EXECUTABLES_MOST);
    assert_null(find(list, MST_USED_EXECUTABLES_MOST, "text 1", "many"));
    assert_null(find(list, MST_USED_EXECUTABLES_MOST, "a", "kind"));
    assert_non_null(find(list, MST_USED_EXECUTABLES_MOST, "text 0", "many"));
    assert_non_null(find(list, MST_USED_EXECUTABLES_MOST, "text 2", "many"));
    assert_non_null(find(list, MST_USED_EXECUTABLES_MOST, "one more", "many"));
}

/* ---- making ---- */

static mst_status compile(void *context, void **data, size_t *size) {
    const char *bytes = context;
    *size = bytes ? strlen(bytes) : 0;
    *data = bytes ? strdup(bytes) : NULL;
    return MST_OK;
}

static mst_status compile_badly(void *context, void **data, size_t *size) {
    (void)context;
    (void)data;
    (void)size;
    return MST_FAIL(MST_INVALID, "not compiled");
}

/* Makes the executable of "made", which compiles to BYTES; NULL: it has no bytes. Returns its note. */
static mst_executable_key make(const char *bytes, bool is_found, bool refused) {
    const mst_executable_order order = {.source = source_of("made", "kind"),
                                        .device_type = "NONE",
                                        .refused = refused,
                                        .compile = compile,
                                        .context = (char *)(uintptr_t)bytes};
    mst_used_executable list[MST_USED_EXECUTABLES_MOST];
    void *data;
    size_t size;
    EXPECT_OK(mst_executable_make(&order, &data, &size));
    assert_int_equal(data != NULL, is_found);
    free(data);
    const int count = mst_executables_used(list);
    const mst_used_executable *x = find(list, count, "made", "kind");
    assert_non_null(x);
    return x->bytes;
}

static void what_is_made_is_noted(void **state) {
    (void)state;
    const mst_executable_key first = hash_of("first"), second = hash_of("second");
    EXPECT_OK(mst_compile_cache_set(folder_path("cache"), 0, NULL));
    mst_executable_key noted = make("first", false, false);
    assert_memory_equal(&noted, &first, sizeof noted);
    noted = make("second", true, false); /* the first was kept */
    assert_memory_equal(&noted, &first, sizeof noted);
    (void)!MST_FAIL(MST_CORRUPT, "it does not load");
    noted = make("second", false, true);
    assert_memory_equal(&noted, &second, sizeof noted);
    noted = make("first", true, false);
    assert_memory_equal(&noted, &second, sizeof noted);
    EXPECT_OK(mst_compile_cache_set("off", 0, NULL));
    noted = make(NULL, false, false);
    const mst_executable_key again = make(NULL, false, false);
    assert_memory_not_equal(&noted, &again, sizeof noted); /* who knows? */
    const uint64_t uses = mst_executables_num_uses();
    const mst_executable_order order = {
        .source = source_of("bad", "kind"), .device_type = "NONE", .compile = compile_badly};
    void *data;
    size_t size;
    EXPECT_ERROR(mst_executable_make(&order, &data, &size), MST_INVALID, "not compiled");
    assert_int_equal(mst_executables_num_uses(), uses);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(newest_bytes_of_each_source_are_noted),
                                       cmocka_unit_test(what_was_noted_longest_ago_is_forgotten),
                                       TEST_IN_FOLDER(what_is_made_is_noted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
