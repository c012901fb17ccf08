/* The answers that an MPI gets when it starts, line by line, and lines that are not requests. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"
#include "transport/pmi_server.h"

static void expect(mst_pmi_server *server, const char *line, mst_pmi_turn turn, const char *wanted) {
    char answer[MST_PMI_LINE];
    assert_int_equal(mst_pmi_server_take(server, line, answer), turn);
    assert_string_equal(answer, wanted);
}

static void start_of_an_mpi_is_answered(void **state) {
    (void)state;
    mst_pmi_server s = {.num_tasks = 3};
    expect(&s, "cmd=init pmi_version=1 pmi_subversion=1", MST_PMI_ANSWERED,
           "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    expect(&s, "cmd=get_maxes", MST_PMI_ANSWERED, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n");
    expect(&s, "cmd=get_appnum", MST_PMI_ANSWERED, "cmd=appnum appnum=0\n");
    expect(&s, "cmd=get_my_kvsname", MST_PMI_ANSWERED, "cmd=my_kvsname kvsname=muster\n");
    expect(&s, "cmd=get_universe_size", MST_PMI_ANSWERED, "cmd=universe_size size=3 rc=0\n");
    expect(&s, "cmd=put kvsname=muster key=card[0] value=a=b", MST_PMI_ANSWERED, "cmd=put_result rc=0 msg=success\n");
    expect(&s, "cmd=barrier_in", MST_PMI_WAITS, "cmd=barrier_out\n");
    assert_string_equal(s.own.data, "card[0] a=b\n");
    assert_true(mst_pmi_server_add(&s, "card[1] c\n", 10));
    expect(&s, "cmd=get kvsname=muster key=card[0]", MST_PMI_ANSWERED, "cmd=get_result rc=0 msg=success value=a=b\n");
    expect(&s, "cmd=get kvsname=muster key=card[1]", MST_PMI_ANSWERED, "cmd=get_result rc=0 msg=success value=c\n");
    expect(&s, "cmd=finalize", MST_PMI_FINISHED, "cmd=finalize_ack\n");
    expect(&s, "cmd=abort exitcode=1", MST_PMI_ABORTED, "");
    mst_pmi_server_free(&s);
}

static void wrong_requests_are_refused(void **state) {
    (void)state;
    static const char missing[] = "cmd=put_result rc=-1 msg=no_key_or_value_or_too_long\n";
    static const char unknown[] = "cmd=get_result rc=-1 msg=key_not_found value=unknown\n";
    mst_pmi_server s = {.num_tasks = 2};
    char line[2 * MST_PMI_LINE], letters[MST_PMI_VALUE_MOST + 1];
    memset(letters, 'x', sizeof letters);
    expect(&s, "", MST_PMI_ANSWERED, "cmd=unknown rc=-1 msg=no_command\n");
    expect(&s, "cmd", MST_PMI_ANSWERED, "cmd=unknown rc=-1 msg=no_command\n");
    expect(&s, "cmd=", MST_PMI_ANSWERED, "cmd=unknown rc=-1 msg=no_command\n");
    expect(&s, "mcmd=spawn", MST_PMI_ANSWERED, "cmd=unknown rc=-1 msg=no_command\n");
    expect(&s, "cmd=publish_name service=a port=b", MST_PMI_ANSWERED,
           "cmd=publish_name_result rc=-1 msg=unknown_command\n");
    expect(&s, "cmd=put kvsname=muster key=a", MST_PMI_ANSWERED, missing);
    expect(&s, "cmd=put kvsname=muster key= value=b", MST_PMI_ANSWERED, missing);
    expect(&s, "cmd=put kvsname=muster xkey=a value=b", MST_PMI_ANSWERED, missing);
    expect(&s, "cmd=put kvsname=muster key=a value=b\tc", MST_PMI_ANSWERED, missing);
    snprintf(line, sizeof line, "cmd=put key=a value=%.*s", MST_PMI_VALUE_MOST, letters);
    expect(&s, line, MST_PMI_ANSWERED, missing);
    snprintf(line, sizeof line, "cmd=put key=%.*s value=b", MST_PMI_KEY_MOST, letters);
    expect(&s, line, MST_PMI_ANSWERED, missing);
    snprintf(line, sizeof line, "cmd=get key=%.*s", MST_PMI_KEY_MOST, letters);
    expect(&s, line, MST_PMI_ANSWERED, unknown);
    expect(&s, "cmd=get kvsname=muster key=a", MST_PMI_ANSWERED, unknown);
    assert_null(s.known.data);
    expect(&s, "cmd=put key=ab value=1", MST_PMI_ANSWERED, "cmd=put_result rc=0 msg=success\n");
    expect(&s, "cmd=put key=ab value=2", MST_PMI_ANSWERED, "cmd=put_result rc=-1 msg=duplicate_key\n");
    expect(&s, "cmd=get key=a", MST_PMI_ANSWERED, unknown);
    expect(&s, "cmd=get key=b", MST_PMI_ANSWERED, unknown);
    mst_pmi_server_free(&s);
}

static void longest_pair_goes_there_and_back(void **state) {
    (void)state;
    mst_pmi_server s = {.num_tasks = 2};
    char line[MST_PMI_LINE], wanted[MST_PMI_LINE], key[MST_PMI_KEY_MOST] = "", value[MST_PMI_VALUE_MOST] = "";
    memset(key, 'k', sizeof key - 1);
    memset(value, 'v', sizeof value - 1);
    snprintf(line, sizeof line, "cmd=put kvsname=muster key=%s value=%s", key, value);
    expect(&s, line, MST_PMI_ANSWERED, "cmd=put_result rc=0 msg=success\n");
    assert_true(mst_pmi_are_pairs(s.own.data, s.own.size));
    snprintf(line, sizeof line, "cmd=get kvsname=muster key=%s", key);
    snprintf(wanted, sizeof wanted, "cmd=get_result rc=0 msg=success value=%s\n", value);
    expect(&s, line, MST_PMI_ANSWERED, wanted);
    mst_pmi_server_free(&s);
}

/* Each prefix of good pairs, and each with one byte changed. The copy ends where the pairs do, so that a sanitizer sees
 * what is read past their end. */
static void damaged_pairs_are_refused(void **state) {
    (void)state;
    static const char good[] = "a 1\nbc 23\n";
    const size_t size = sizeof good - 1;
    for (size_t n = 0; n <= size; n++) {
        char *copy = malloc(n ? n : 1);
        memcpy(copy, good, n);
        assert_int_equal(mst_pmi_are_pairs(copy, n), n == 0 || n == 4 || n == size);
        for (size_t i = 0; i < n; i++) {
            copy[i] = '\0';
            assert_false(mst_pmi_are_pairs(copy, n));
            copy[i] = '\x80';
            assert_false(mst_pmi_are_pairs(copy, n));
            copy[i] = good[i];
        }
        free(copy);
    }
    assert_false(mst_pmi_are_pairs("a  1\n", 5));
    assert_false(mst_pmi_are_pairs("a 1 2\n", 6));
    assert_false(mst_pmi_are_pairs("\n", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_of_an_mpi_is_answered), cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(longest_pair_goes_there_and_back), cmocka_unit_test(damaged_pairs_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
