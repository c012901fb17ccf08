/* Pickles of NumPy's arrays of lists: files that NumPy wrote with each protocol, and pickles that are refused. */
#include <stdlib.h>

#include "format/pickle.h"
#include "support/archive.h"
#include "support/test.h"

/* pickle.dumps(x, 3) and pickle.dumps(x, 4) by NumPy 2.4.6 of an array of objects, [1, 2, 300], [70000] and []. */
static const char protocol_3[] =
    "8003636e756d70792e5f636f72652e6d756c746961727261790a5f7265636f6e7374727563740a7100636e756d70790a6e646172726179"
    "0a71014b008571024301627103877104527105284b014b03857106636e756d70790a64747970650a710758020000004f38710889888771"
    "0952710a284b0358010000007c710b4e4e4e4affffffff4affffffff4b3f74710c62895d710d285d710e284b014b024d2c01655d710f4a"
    "70110100615d711065747111622e";
static const char protocol_4[] =
    "8004959f000000000000008c166e756d70792e5f636f72652e6d756c74696172726179948c0c5f7265636f6e7374727563749493948c05"
    "6e756d7079948c076e6461727261799493944b0085944301629487945294284b014b03859468038c0564747970659493948c024f389489"
    "8887945294284b038c017c944e4e4e4affffffff4affffffff4b3f749462895d94285d94284b014b024d2c01655d944a70110100615d94"
    "657494622e";

/* As Python 2 with NumPy 1 wrote the same: texts of bytes, and numbers of values from 1. */
static const char protocol_2[] =
    "\x80\x02"
    "cnumpy.core.multiarray\n_reconstruct\nq\x01"
    "cnumpy\nndarray\nq\x02"
    "K\x00\x85"
    "U\x01"
    "b\x87Rq\x03"
    "(K\x01K\x03\x85"
    "cnumpy\ndtype\nq\x04U\x02O8K\x00K\x01\x87Rq\x05"
    "(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb"
    "\x89]q\x06(]q\x07(K\x01K\x02M,\x01"
    "e]q\x08"
    "Jp\x11\x01\x00"
    "a]q\x09"
    "etb.";

static blob from_hex(const char *hex) {
    blob b = {0};
    for (; *hex; hex += 2) {
        const char digits[3] = {hex[0], hex[1], 0};
        blob_little(&b, strtoul(digits, NULL, 16), 1);
    }
    return b;
}

static void expect_lists(const void *data, size_t size) {
    static const int64_t integers[] = {1, 2, 300, 70000}, ends[] = {3, 4, 4};
    mst_integer_lists lists;
    EXPECT_OK(mst_pickle_read("p", data, size, &lists));
    assert_int_equal(lists.num_lists, 3);
    assert_false(lists.flat);
    assert_memory_equal(lists.integer, integers, sizeof integers);
    assert_memory_equal(lists.end, ends, sizeof ends);
    mst_integer_lists_free(&lists);
}

static void arrays_of_every_protocol_are_read(void **state) {
    (void)state;
    blob three = from_hex(protocol_3), four = from_hex(protocol_4);
    expect_lists(protocol_2, sizeof protocol_2 - 1);
    expect_lists(three.data, three.size);
    expect_lists(four.data, four.size);
    blob_free(&three);
    blob_free(&four);
}

static void cut_pickles_are_damaged(void **state) {
    (void)state;
    mst_integer_lists lists;
    blob b = from_hex(protocol_4);
    for (size_t size = 0; size < b.size; size++) {
        assert_int_equal(mst_pickle_read("p", b.data, size, &lists), MST_CORRUPT);
        assert_null(lists.integer);
    }
    blob_little(&b, 'N', 1);
    EXPECT_ERROR(mst_pickle_read("p", b.data, b.size, &lists), MST_CORRUPT, "more bytes than end");
    blob_free(&b);
}

#define BEGIN                                                          \
    "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" \
    "C\x01"                                                            \
    "b\x87R"
#define DTYPE "cnumpy\ndtype\nU\x02O8\x89\x88\x87R"

typedef struct refused {
    const char *bytes;
    size_t size;
    mst_status code;
    const char *text;
} refused;
#define REFUSED(bytes, code, text) \
    { bytes, sizeof(bytes) - 1, code, text }

static void what_is_no_array_of_lists_is_refused(void **state) {
    (void)state;
    static const refused cases[] = {
        REFUSED("cos\nsystem\nX\x04\x00\x00\x00true\x85R.", MST_UNIMPLEMENTED, "asks for 'os.system' at byte 0"),
        REFUSED("\x80\x04\x8c\x02os\x8c\x06system\x93.", MST_UNIMPLEMENTED, "asks for 'os.system' at byte 14"),
        REFUSED("cnumpy\nload\n.", MST_UNIMPLEMENTED, "'numpy.load'"),
        REFUSED("cb\x1b[31m\nx\n.", MST_UNIMPLEMENTED, "'b?[31m.x'"),
        REFUSED("(lp0\n.", MST_UNIMPLEMENTED, "instruction 0x6c at byte 1"),
        REFUSED("K\x01.", MST_UNIMPLEMENTED, "its pickle is not of an array"),
        REFUSED("cnumpy\nndarray\n)R.", MST_CORRUPT, "a call that NumPy's arrays do not need"),
        REFUSED("cnumpy\ndtype\nU\x02i8\x85R.", MST_UNIMPLEMENTED, "an array of 'i8'"),
        REFUSED(BEGIN ".", MST_UNIMPLEMENTED, "not of an array"),
        REFUSED(BEGIN "(K\x01K\x01\x85" DTYPE "\x89](Natb.", MST_CORRUPT, "a list that is missing"),
        REFUSED(BEGIN "(K\x01K\x01\x85" DTYPE "\x89]Natb.", MST_UNIMPLEMENTED, "element 0 of the array is neither"),
        REFUSED(BEGIN "(K\x01K\x01\x85" DTYPE "\x89]]]aatb.", MST_UNIMPLEMENTED, "element 0 of the array is neither"),
        REFUSED(BEGIN "(K\x01K\x02\x85" DTYPE "\x89]K\x07"
                      "atb.",
                MST_CORRUPT, "not as long as its array"),
        REFUSED(BEGIN "(K\x01K\x01K\x01\x86" DTYPE "\x89]K\x07"
                      "atb.",
                MST_UNIMPLEMENTED, "not one dimension"),
        REFUSED("\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01.", MST_UNIMPLEMENTED, "more than 64 bits"),
        REFUSED("Nr\xff\xff\xff\xff.", MST_CORRUPT, "a number of a value that is too large"),
        REFUSED("Nq\x01h\x00.", MST_CORRUPT, "a number of no value"),
        REFUSED("X\xff\xff\xff\xff.", MST_CORRUPT, "an end within an instruction"),
        REFUSED("a.", MST_CORRUPT, "a list that is missing"),
        REFUSED("N(e.", MST_CORRUPT, "a list that is missing"),
        REFUSED("Nt.", MST_CORRUPT, "a mark that is missing"),
        REFUSED("\x85.", MST_CORRUPT, "a value that is missing"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_integer_lists lists;
        EXPECT_ERROR(mst_pickle_read("p", cases[i].bytes, cases[i].size, &lists), cases[i].code, cases[i].text);
        assert_null(lists.integer);
    }
}

/* [N, N, ...] of a list N of 100 integers, which is 100 times used again: more integers than bytes. */
static void lists_that_are_used_again_without_end_are_refused(void **state) {
    (void)state;
    mst_integer_lists lists;
    blob b = {0};
    blob_add(&b, BEGIN "(K\x01K\x64\x85" DTYPE "\x89](", sizeof(BEGIN "(K\x01K\x64\x85" DTYPE "\x89](") - 1);
    blob_add(&b, "](", 2);
    for (int i = 0; i < 100; i++) blob_add(&b, "K\x05", 2);
    blob_add(&b, "eq\x00", 3);
    for (int i = 0; i < 99; i++) blob_add(&b, "h\x00", 2);
    blob_add(&b, "etb.", 4);
    EXPECT_ERROR(mst_pickle_read("p", b.data, b.size, &lists), MST_UNIMPLEMENTED,
                 "the same lists in it too many times");
    blob_free(&b);
}

static void a_list_in_itself_is_refused(void **state) {
    (void)state;
    static const char bytes[] = BEGIN "(K\x01K\x01\x85" DTYPE
                                      "\x89]q\x00h\x00"
                                      "atb.";
    mst_integer_lists lists;
    EXPECT_ERROR(mst_pickle_read("p", bytes, sizeof bytes - 1, &lists), MST_UNIMPLEMENTED, "element 0");
}

static void integers_alone_are_flat(void **state) {
    (void)state;
    static const char bytes[] = BEGIN "(K\x01K\x02\x85" DTYPE
                                      "\x89](K\x07\x8a\x02\xff\xff"
                                      "etb.";
    mst_integer_lists lists;
    EXPECT_OK(mst_pickle_read("p", bytes, sizeof bytes - 1, &lists));
    assert_true(lists.flat && lists.num_lists == 2);
    assert_int_equal(lists.integer[0], 7);
    assert_int_equal(lists.integer[1], -1);
    mst_integer_lists_free(&lists);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_every_protocol_are_read),
        cmocka_unit_test(cut_pickles_are_damaged),
        cmocka_unit_test(what_is_no_array_of_lists_is_refused),
        cmocka_unit_test(lists_that_are_used_again_without_end_are_refused),
        cmocka_unit_test(a_list_in_itself_is_refused),
        cmocka_unit_test(integers_alone_are_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
