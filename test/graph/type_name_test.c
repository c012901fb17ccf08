/* Names of ops' types in TensorFlow's style. */
#include "graph/type_name.h"
#include "support/test.h"

static void tensorflow_has_a_name_or_ours_is_in_camel_case(void **state) {
    (void)state;
    static const struct {
        mst_op op;
        const char *wanted;
    } rows[] = {
        {{.name = "reduce_sum", .tf_form = "Sum($0, @axes)"}, "Sum"},
        {{.name = "relu"}, "Relu"},
        {{.name = "squared_difference"}, "SquaredDifference"},
        {{.name = "relu6_grad"}, "Relu6Grad"},
        {{.name = "a_very_long_name"}, "AVeryLongNa"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[MST_TYPE_NAME_TEXT];
        const size_t size = i == 4 ? 12 : sizeof text;
        assert_string_equal(mst_op_type_name(&rows[i].op, text, size), rows[i].wanted);
    }
}

/* A file that lacks Muster's own names is read by type names, so no two ops may share one. */
static void ops_of_the_library_have_type_names_of_their_own(void **state) {
    (void)state;
    for (int i = 0; mst_op_at(i); i++)
        for (int k = 0; k < i; k++) {
            char a[MST_TYPE_NAME_TEXT], b[MST_TYPE_NAME_TEXT];
            assert_string_not_equal(mst_op_type_name(mst_op_at(i), a, sizeof a),
                                    mst_op_type_name(mst_op_at(k), b, sizeof b));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensorflow_has_a_name_or_ours_is_in_camel_case),
        cmocka_unit_test(ops_of_the_library_have_type_names_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
