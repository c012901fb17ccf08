/* Options as text: what is printed reads back as the same values, and errors name the place of the mistake. */
#include <float.h>
#include <math.h>

#include "base/rng.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "support/all_fields.h"
#include "support/test.h"

static mst_status parse(const mst_graph *graph, const char *text, mst_option_memory *memory, all_options *out) {
    *out = (all_options){0};
    return mst_options_parse(graph, "all", all_op.fields, text, memory, out);
}

/* TEXT is read, and what is printed of it is PRINTED. */
static void expect_printed(const mst_graph *graph, const char *text, const char *printed) {
    mst_option_memory memory = {0};
    all_options options;
    char back[1024];
    EXPECT_OK(parse(graph, text, &memory, &options));
    assert_int_equal(mst_options_print(all_op.fields, &options, back, sizeof back), strlen(printed));
    assert_string_equal(back, printed);
    mst_option_memory_free(&memory);
}

static void expect_wrong(const char *text, const char *message) {
    mst_option_memory memory = {0};
    all_options options;
    EXPECT_ERROR(parse(NULL, text, &memory, &options), MST_INVALID, message);
    assert_ptr_equal(strstr(mst_error()->message, "all: "), mst_error()->message);
    mst_option_memory_free(&memory);
}

/* ---- tests ---- */

static void each_type_reads_and_prints(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"", "shape=[]"},
        {"flag", "flag, shape=[]"},
        {"flag=true, keep_dims=false", "flag, shape=[]"},
        {"  axis = -3 ,keep_dims", "keep_dims, axis=-3, shape=[]"},
        {"axis=2147483647", "axis=2147483647, shape=[]"},
        {"axis=-2147483648", "axis=-2147483648, shape=[]"},
        {"large=9223372036854775807", "large=9223372036854775807, shape=[]"},
        {"large=-9223372036854775808", "large=-9223372036854775808, shape=[]"},
        {"seeds=18446744073709551615", "seeds=18446744073709551615, shape=[]"},
        {"rate=0.1", "rate=0.1, shape=[]"},
        {"rate=-0", "rate=-0, shape=[]"},
        {"rate=inf, factor=-inf", "rate=inf, factor=-inf, shape=[]"},
        {"factor=1e-3", "factor=0.001, shape=[]"},
        {"factor=0x1p-1", "factor=0.5, shape=[]"},
        {"dtype=i64", "dtype=i64, shape=[]"},
        {"shape=[2, ?]", "shape=[2, ?]"},
        {"shape=[ -1,0,-2 ]", "shape=[?, 0, -2]"},
        {"axes=[0, -1]", "shape=[], axes=[0, -1]"},
        {"axes=[]", "shape=[]"},
        {"text=word/of:1", "shape=[], text='word/of:1'"},
        {"text=''", "shape=[], text=''"},
        {"text=\"it's, so\"", "shape=[], text='it\\'s, so'"},
        {"text='a\\\\b\\n\\t\\r\\x01\\x7F\\''", "shape=[], text='a\\\\b\\n\\t\\r\\x01\\x7f\\''"},
        {"text='\xc3\xa4'", "shape=[], text='\xc3\xa4'"},
        {"tensor=f32(2.5)", "shape=[], tensor=f32(2.5)"},
        {"tensor = i64 [2, 2] ( 1, -2, 3 ,9007199254740993)", "shape=[], tensor=i64[2, 2](1, -2, 3, 9007199254740993)"},
        {"tensor=bool[2](0, 1)", "shape=[], tensor=bool[2](0, 1)"},
        {"tensor=u8[0]()", "shape=[], tensor=u8[0]()"},
        {"tensor=f64[1](nan)", "shape=[], tensor=f64[1](nan)"},
        {"tensor=i32[9](1, 2, 3, 4, 5, 6, 7, 8, 9)", "shape=[], tensor=i32[9](...)"},
        {"join=first_of_all", "shape=[], join=first_of_all"},
        {"join=mean", "shape=[]"},
        {"nested.member=-3", "shape=[], nested.member=-3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_printed(NULL, rows[i][0], rows[i][1]);
}

static void values_are_found_by_name(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value parts = mst_split(mst_fill(g, MST_F32, MST_SHAPE(2), 1), 2, 0);
    EXPECT_OK(mst_graph_check(g));
    expect_printed(g, "initial=split", "shape=[], initial=split");
    expect_printed(g, "initial=split:1", "shape=[], initial=split:1");
    expect_printed(g, "initial=split:0", "shape=[], initial=split");
    mst_option_memory memory = {0};
    all_options options;
    EXPECT_OK(parse(g, "initial=split:1", &memory, &options));
    assert_true(mst_value_equal(options.initial, mst_value_output(parts, 1)));
    static const char *const wrong[] = {"initial=split:2", "initial=none", "initial=split:",  "initial=split:-1",
                                        "initial=",        "initial=:1",   "initial=split:1x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT_ERROR(parse(g, wrong[i], &memory, &options), MST_INVALID, "initial: there is no value '");
    mst_option_memory_free(&memory);
    mst_graph_destroy(g);
}

static void mistakes_are_told_with_their_place_in_the_text(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"axs=1", "there is no option 'axs': did you mean 'axis'?, at character 1 of the options 'axs=1'"},
        {"axis=1, kep_dims", "did you mean 'keep_dims'?, at character 9 of"},
        {"nothing_like_it=1", "there are flag, keep_dims, axis, large, seeds, rate"},
        {"axis", "axis wants '=' and a value, at character 5"},
        {"axis=", "'' is no whole number, as axis wants, at character 6"},
        {"axis=1.5", "'1.5' is no whole number"},
        {"axis=2147483648", "'2147483648' is out of the range of axis, -2147483648 to 2147483647"},
        {"large=9223372036854775808", "is out of the range of large"},
        {"seeds=-1", "'-1' is no whole number from 0 on"},
        {"seeds=18446744073709551616", "is out of the range of seeds"},
        {"rate=much", "'much' is no number of f32"},
        {"rate=1e39", "'1e39' is no number of f32"},
        {"factor=1e999", "'1e999' is no number of f64"},
        {"flag=1", "'1' is neither true nor false"},
        {"dtype=f16", "'f16' is no dtype, as dtype wants: there are f32, f64, i32, i64, u8, bool, bf16 and string"},
        {"dtype=none", "'none' is no dtype"},
        {"shape=2", "shape wants a list, like [0, 1], at character 7"},
        {"shape=[2", "the list of shape goes on with ',' or ends with ']', at character 9"},
        {"shape=[2,]", "'' is no whole number"},
        {"shape=[1, 1, 1, 1, 1, 1, 1, 1, 1]", "shape has more than 8 numbers"},
        {"axes=[?]", "'?' is no whole number"},
        {"axes=[3000000000]", "is out of the range of axes"},
        {"text=", "text wants text"},
        {"text='open", "the text of text has no end, at character 6"},
        {"text='\\q'", "there is no such escape"},
        {"text='\\x0'", "there is no such escape"},
        {"text='\\x00'", "the text of text has the byte \\x00"},
        {"text='\\", "there is no such escape"},
        {"text='a'b", "',' or the end is due, at character 9"},
        {"tensor=1", "'1' is no dtype"},
        {"tensor=f32", "tensor wants its numbers, like f32[2](1, 2)"},
        {"tensor=f32[2](1)", "tensor wants 2 numbers"},
        {"tensor=f32[2](1, 2, 3)", "tensor wants 2 numbers and then ')'"},
        {"tensor=f32[?](1)", "'?' is no whole number"},
        {"tensor=f32[1000000, 1000000](1)", "tensor wants 1000000000000 numbers"},
        {"tensor=f32[9223372036854775807, 9](1)", "is too large"},
        {"tensor=f32[100](...)", "the numbers of tensor are left out"},
        {"tensor=bool(2)", "'2' is out of the range of tensor, 0 to 1"},
        {"join=product", "'product' is no join: there are mean, sum, first_of_all"},
        {"nested.membr=1", "did you mean 'nested.member'?"},
        {"initial=x", "initial: there is no value 'x'"},
        {"pointer=x", "pointer is a pointer, which cannot be given as text"},
        {"flag flag", "',' or the end is due, at character 6"},
        {"flag, flag", "flag is given twice, at character 7"},
        {"flag,", "another option is due after ',', at character 6"},
        {",flag", "the name of an option is due, at character 1"},
        {"flag,\naxs", "at character 7 of the options 'flag,\\naxs'"},
        {"=1", "the name of an option is due"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_wrong(rows[i][0], rows[i][1]);
}

static void text_that_is_longer_than_its_room_is_cut_and_measured(void **state) {
    (void)state;
    all_options options = {.axis = 12345, .flag = true};
    char text[10];
    const char *whole = "flag, axis=12345, shape=[]";
    assert_int_equal(mst_options_print(all_op.fields, &options, text, sizeof text), strlen(whole));
    assert_string_equal(text, "flag, axi");
    assert_int_equal(mst_options_print(all_op.fields, &options, NULL, 0), strlen(whole));
}

/* All bits of numbers and text, at random. */
static void values_of_all_bits_read_back(void **state) {
    (void)state;
    enum { TIMES = 3000 };
    const mst_rng rng = mst_rng_make(4, 5, 6);
    for (uint64_t i = 0; i < TIMES; i++) {
        uint32_t word[16];
        char string[13], text[1024], again[1024];
        mst_rng_blocks(&rng, i, 4, 0, word);
        all_options given, back;
        all_options_random(word, string, &given);
        mst_option_memory memory = {0};
        assert_true(mst_options_print(all_op.fields, &given, text, sizeof text) < sizeof text);
        EXPECT_OK(parse(NULL, text, &memory, &back));
        mst_options_print(all_op.fields, &back, again, sizeof again);
        assert_string_equal(again, text);
        if (!isnan(given.rate) && !isnan(given.factor)) assert_true(mst_options_equal(all_op.fields, &given, &back));
        mst_option_memory_free(&memory);
    }
}

static void calls_by_text_make_the_same_nodes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 3));
    mst_value a = mst_reduce_sum(x, MST_AXES(1), .keep_dims = true);
    mst_value b = mst_call_text(NULL, "reduce_sum", "total", 1, &x, "axes=[1], keep_dims=true");
    mst_value c = mst_call_text(g, "constant", NULL, 0, NULL, "value=f32[2](1, 0.1)");
    mst_value d = mst_call_text(g, "leaky_relu", NULL, 1, &c, NULL);
    mst_value e = mst_call_text(g, "placeholder", "y", 0, NULL, "shape=[?, 2], dtype=i64");
    EXPECT_OK(mst_graph_check(g));
    assert_true(mst_options_equal(mst_node_op(a.node)->fields, mst_node_options(a.node), mst_node_options(b.node)));
    assert_string_equal(mst_value_name(b), "total");
    assert_string_equal(mst_value_name(d), "leaky_relu");
    assert_true(mst_value_spec(e).dtype == MST_I64 && mst_value_spec(e).shape.dim[0] == -1);
    mst_tensor *got = NULL;
    mst_session *session = engine_session(g, NULL);
    got = engine_fetch(session, NULL, 0, d);
    assert_true(mst_tensor_get(got, 1) == (double)0.1f);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void zero_in_a_text_is_not_taken_for_the_default(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value index = mst_scalar(g, MST_I32, 1);
    mst_value hot = mst_call_text(g, "one_hot", NULL, 1, &index, "depth=3, on_value=0, off_value=5");
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, hot);
    assert_true(mst_tensor_get(got, 0) == 5 && mst_tensor_get(got, 1) == 0);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void mistakes_of_calls_by_text_stick_to_the_graph(void **state) {
    (void)state;
    static const char *const rows[][3] = {
        {"reduce_sun", "", "there is no op 'reduce_sun': did you mean 'reduce_sum'?"},
        {"nothing_like_it", "", "there is no op 'nothing_like_it': register your own with mst_register_op"},
        {"reduce_sum", "axis=[0]", "reduce_sum: there is no option 'axis': did you mean 'axes'?"},
        {"leaky_relu", "slope=2", "leaky_relu 'n': slope is 2, must be between 1e-06 and 1"},
        {"leaky_relu", "slope=0", "leaky_relu 'n': slope is 0, must be between 1e-06 and 1"},
        {"top_k", "k=0", "k is 0, must be another number"},
        {"relu", "slope=2", "relu: there is no option 'slope', nor any other"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mst_graph *g = engine_graph();
        mst_value x = engine_input(g, "x", MST_SHAPE(2, 3));
        mst_value out = mst_call_text(g, rows[i][0], "n", 1, &x, rows[i][1]);
        assert_true(mst_value_is_none(out));
        EXPECT_ERROR(mst_graph_check(g), MST_INVALID, rows[i][2]);
        mst_graph_destroy(g);
    }
    assert_true(mst_value_is_none(mst_call_text(NULL, "relu", NULL, 0, NULL, "")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_reads_and_prints),
        cmocka_unit_test(values_are_found_by_name),
        cmocka_unit_test(mistakes_are_told_with_their_place_in_the_text),
        cmocka_unit_test(text_that_is_longer_than_its_room_is_cut_and_measured),
        cmocka_unit_test(values_of_all_bits_read_back),
        cmocka_unit_test(calls_by_text_make_the_same_nodes),
        cmocka_unit_test(zero_in_a_text_is_not_taken_for_the_default),
        cmocka_unit_test(mistakes_of_calls_by_text_stick_to_the_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
