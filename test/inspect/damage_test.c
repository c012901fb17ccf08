/* Files of every format that are cut off, have flipped bits or overwritten bytes. Inspecting them neither crashes
 * nor hangs, calls no file whole whose checksum is wrong, and prints valid JSON. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "muster/inspect.h"
#include "support/folder.h"
#include "support/samples.h"
#include "support/test.h"

#include <jansson.h>

enum { VARIANTS = 300 };

static uint64_t random_state;

/* xorshift64: the same variants in each run */
static uint64_t next_random(uint64_t below) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

typedef enum change { CUT, FLIP, OVERWRITE, NUM_CHANGES } change;

/* Half of the changes are at the beginning, where headers are. */
static size_t place(size_t size) {
    return (size_t)next_random(next_random(2) && size > 128 ? 128 : size);
}

/* Changes DATA in one way; false where nothing is another than before. */
static bool damage(uint8_t *data, size_t *size, change how) {
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    bool changed = how != OVERWRITE;
    if (how == CUT) *size = (size_t)next_random(*size);
    if (how == FLIP) {
        const size_t at = place(*size);
        data[at] = (uint8_t)(data[at] ^ 1u << next_random(8));
    }
    for (uint64_t i = 0, n = 1 + next_random(8); how == OVERWRITE && i < n; i++) {
        const size_t at = place(*size);
        const uint8_t byte = bytes[next_random(sizeof bytes)];
        changed |= data[at] != byte;
        data[at] = byte;
    }
    return changed;
}

static mst_status inspect(const char *path) {
    char *text = NULL, *line = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    const mst_status status = mst_inspect(path, out);
    if (status && (strlen(mst_error()->message) == 0 || strchr(mst_error()->message, '\n')))
        fail_msg("'%s' is no message of one line", mst_error()->message);
    fclose(out);
    out = open_memstream(&line, &size);
    assert_int_equal(mst_inspect_json(path, out), status);
    fclose(out);
    json_t *json = size ? json_loads(line, 0, NULL) : NULL;
    if (size && !json) fail_msg("this is no JSON: %s", line);
    if (json) assert_int_equal(json_integer_value(json_object_get(json, "num_damaged")) > 0, status != MST_OK);
    json_decref(json);
    free(line);
    free(text);
    return status;
}

static void expect_variants(const sample *s, const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size);
    for (int i = 0; i < VARIANTS; i++) {
        size_t left = size;
        const change how = (change)(i % NUM_CHANGES);
        memcpy(copy, data, size);
        const bool changed = damage(copy, &left, how);
        (void)unlink(folder_path(s->name)); /* a file that is only cut off is synced by some file systems */
        (void)folder_write(s->name, copy, left);
        const mst_status status = inspect(folder_path(s->name));
        if (!status && changed && (how == CUT ? s->checks_length : s->checks_all_bits))
            fail_msg("variant %d of '%s' is damaged and called whole", i, s->name);
    }
    (void)folder_write(s->name, data, size);
    free(copy);
}

static void damage_is_reported_without_a_crash(void **state) {
    (void)state;
    samples_write();
    random_state = 88172645463325252u;
    for (const sample *s = samples; s->name; s++) {
        void *data;
        size_t size;
        if (access(folder_path(s->name), F_OK)) continue; /* built without the codec */
        EXPECT_OK(mst_file_read(folder_path(s->name), 1 << 20, &data, &size));
        expect_variants(s, data, size);
        if (inspect(folder_path(s->name)) && mst_error()->code != MST_UNIMPLEMENTED)
            fail_msg("'%s': %s", s->name, mst_error()->message);
        free(data);
    }
}

static void empty_file_is_told(void **state) {
    (void)state;
    samples_write();
    for (const sample *s = samples; s->name; s++) {
        (void)folder_write(s->name, "", 0);
        if (!inspect(folder_path(s->name))) fail_msg("'%s' is empty and called whole", s->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(damage_is_reported_without_a_crash),
        TEST_IN_FOLDER(empty_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
