/* Inputs and outputs of Keras' models that are dicts and nested lists become one list, in Keras' order. */
#include "model_file/keras/flat_ends.h"

#include <string.h>

#include "support/test.h"

static void expect(const char *before, const char *after) {
    char text[512];
    snprintf(text, sizeof text, "{\"config\": {\"input_layers\": %s, \"output_layers\": %s}}", before, before);
    json_t *config = json_loads(text, 0, NULL), *wanted = json_loads(after, 0, NULL);
    assert_non_null(config);
    assert_non_null(wanted);
    EXPECT_OK(mst_keras_flatten_ends(config));
    const json_t *inside = json_object_get(config, "config");
    if (!json_equal(json_object_get(inside, "input_layers"), wanted) ||
        !json_equal(json_object_get(inside, "output_layers"), wanted))
        fail_msg("%s", json_dumps(inside, 0));
    json_decref(wanted);
    json_decref(config);
}

#define A "[\"a\", 0, 0]"
#define B "[\"b\", 0, 0]"
#define C "[\"c\", 0, 1]"

static void nested_ends_become_one_list(void **state) {
    (void)state;
    expect(A, A); /* one alone */
    expect("[" A ", " B "]", "[" A ", " B "]");
    expect("[]", "[]");
    expect("[[" B ", " A "], " C "]", "[" B ", " A ", " C "]");
    expect("[" B ", [[" A "]]]", "[" B ", " A "]");
    expect("{\"z\": " A ", \"k\": " B "}", "[" B ", " A "]"); /* by their keys */
    expect("{\"k\": [" C ", {\"y\": " A ", \"x\": " B "}]}", "[" C ", " B ", " A "]");
    expect("{\"k\": 7}", "[7]"); /* the reader says that it is none */
}

/* As deep as a file may be made: no end of the stack. */
static void deep_ends_end(void **state) {
    (void)state;
    enum { DEEP = 1000 };
    json_t *deep = json_array(), *config = json_object();
    for (int i = 0; i < DEEP; i++) deep = json_pack("[o]", deep);
    json_object_set_new(config, "input_layers", deep);
    EXPECT_OK(mst_keras_flatten_ends(config));
    json_decref(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_ends_become_one_list),
        cmocka_unit_test(deep_ends_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
