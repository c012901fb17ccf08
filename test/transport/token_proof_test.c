/* Proofs that a process knows the user's token: a proof is valid only for the step and the data for which it was
 * made, and each login counts once. */
#include "transport/token_proof.h"

#include <stdio.h>

#include "support/tasks.h"
#include "support/test.h"

static const mst_token_place places[] = {MST_TOKEN_LOGIN_PROOF, MST_TOKEN_CHALLENGE_PROOF, MST_TOKEN_ANSWER_PROOF};

static void login_is_read_in_one_form_alone(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        "00112233445566778899aabbccddeeff",
                                        "00112233445566778899aabbccddeeff-",
                                        "00112233445566778899aabbccddeeff-1",
                                        "00112233445566778899aabbccddeeff--1-a",
                                        "00112233445566778899aabbccddeef-1-a",
                                        "00112233445566778899aabbccddeeFF-1-a",
                                        "00112233445566778899aabbccddeeff0-1-a",
                                        "00112233445566778899aabbccddeeff-1x-a",
                                        "00112233445566778899aabbccddeeff-99999999999999999999-a"};
    char login[MST_TOKEN_LOGIN];
    mst_token_login said;
    assert_true(mst_token_login_make(1234567890123456789, "127.0.0.1:2222", login));
    assert_true(mst_token_login_read(login, &said));
    assert_int_equal(said.time, 1234567890123456789);
    assert_string_equal(said.address, "127.0.0.1:2222");
    assert_memory_equal(said.nonce, login, sizeof said.nonce - 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(mst_token_login_read(wrong[i], &said));
}

/* What is proved, with one thing changed at a time. */
typedef struct proved {
    unsigned char token;
    mst_token_place place;
    const char *login, *challenge;
    mst_wire_header sender;
} proved;

static void prove(const proved *p, char proof[MST_TOKEN_PROOF]) {
    const mst_cluster_keys keys = tasks_token(p->token);
    mst_token_prove(&keys, p->place, p->login, p->challenge, &p->sender, proof);
}

static void proof_is_of_no_use_where_anything_differs(void **state) {
    (void)state;
    const mst_wire_header hello = {.kind = MST_WIRE_HELLO, .from = 1, .to = 0, .instance = 7};
    const proved right = {1, MST_TOKEN_ANSWER_PROOF, "login", "challenge", hello};
    proved other[] = {right, right, right, right, right, right, right, right, right, right};
    enum { OTHERS = sizeof other / sizeof *other };
    char proofs[OTHERS + 1][MST_TOKEN_PROOF];
    other[0].token = 2;
    other[1].place = MST_TOKEN_LOGIN_PROOF;
    other[2].place = MST_TOKEN_CHALLENGE_PROOF;
    other[3].login = "logim";
    other[4].challenge = "challengf";
    other[5].login = "loginc", other[5].challenge = "hallenge"; /* the same letters in a row */
    other[6].sender.kind = MST_WIRE_ASK;
    other[7].sender.from = 2;
    other[8].sender.to = 2;
    other[9].sender.instance = 8;
    prove(&right, proofs[OTHERS]);
    for (int i = 0; i < OTHERS; i++) prove(&other[i], proofs[i]);
    for (int i = 0; i <= OTHERS; i++)
        for (int k = 0; k < i; k++) assert_string_not_equal(proofs[i], proofs[k]);
}

static void proof_is_known_again_whole_alone(void **state) {
    (void)state;
    const mst_cluster_keys keys = tasks_token(1);
    char proof[MST_TOKEN_PROOF];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        mst_token_prove(&keys, places[i], "login", NULL, NULL, proof);
        assert_true(mst_token_is_proved(&keys, places[i], "login", NULL, NULL, proof, MST_TOKEN_PROOF - 1));
        for (size_t size = 0; size < MST_TOKEN_PROOF - 1; size++)
            assert_false(mst_token_is_proved(&keys, places[i], "login", NULL, NULL, proof, size));
        proof[0] ^= 1;
        assert_false(mst_token_is_proved(&keys, places[i], "login", NULL, NULL, proof, MST_TOKEN_PROOF - 1));
    }
}

/* Uses login NUMBER, made at TIME, at NOW. */
static mst_token_use_result use(mst_token_used *used, int number, int64_t time, int64_t now) {
    mst_token_login login = {.time = time, .address = ""};
    snprintf(login.nonce, sizeof login.nonce, "%032d", number);
    return mst_token_use(used, &login, now);
}

static void login_counts_once(void **state) {
    (void)state;
    const int64_t second = 1000000000;
    mst_token_used used = {.since = 10 * second};
    assert_int_equal(use(&used, 1, 9 * second, 11 * second), MST_TOKEN_OUT_OF_TIME);
    assert_int_equal(use(&used, 1, 12 * second, 11 * second), MST_TOKEN_OUT_OF_TIME);
    assert_int_equal(use(&used, 1, 11 * second, 100 * second), MST_TOKEN_OUT_OF_TIME);
    assert_int_equal(use(&used, 1, 11 * second, 11 * second), MST_TOKEN_TAKEN);
    assert_int_equal(use(&used, 1, 11 * second, 11 * second), MST_TOKEN_USED_BEFORE);
    assert_int_equal(use(&used, 2, 11 * second, 12 * second), MST_TOKEN_TAKEN);
    assert_int_equal(use(&used, 1, 11 * second, 13 * second), MST_TOKEN_USED_BEFORE);
}

static void login_that_was_forgotten_counts_no_more(void **state) {
    (void)state;
    mst_token_used used = {.since = 1000};
    for (int i = 0; i < 3 * MST_TOKEN_USED; i++) assert_int_equal(use(&used, i, 2000 + i, 2000 + i), MST_TOKEN_TAKEN);
    for (int i = 0; i < 3 * MST_TOKEN_USED; i++)
        assert_int_equal(use(&used, i, 2000 + i, 9000),
                         i < 2 * MST_TOKEN_USED ? MST_TOKEN_OUT_OF_TIME : MST_TOKEN_USED_BEFORE);
    assert_int_equal(use(&used, 3 * MST_TOKEN_USED, 9000, 9000), MST_TOKEN_TAKEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(login_is_read_in_one_form_alone),
        cmocka_unit_test(proof_is_of_no_use_where_anything_differs),
        cmocka_unit_test(proof_is_known_again_whole_alone),
        cmocka_unit_test(login_counts_once),
        cmocka_unit_test(login_that_was_forgotten_counts_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
