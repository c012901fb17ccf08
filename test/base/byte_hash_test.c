/* The hash of bytes by which replicas are compared: every single changed bit changes it, wherever that bit is. */
#include "base/byte_hash.h"

#include <stdlib.h>

#include "support/test.h"

enum { MOST = 200 };

static void fill(unsigned char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 37 + 11);
}

static void each_bit_of_any_length_counts(void **state) {
    (void)state;
    unsigned char data[MOST] = {0};
    for (size_t bytes = 0; bytes < MOST; bytes++) {
        fill(data, bytes);
        const uint64_t hash = mst_byte_hash(data, bytes);
        assert_true(hash == mst_byte_hash(data, bytes));
        for (size_t bit = 0; bit < 8 * bytes; bit++) {
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(hash != mst_byte_hash(data, bytes));
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
}

static void length_counts(void **state) {
    (void)state;
    static const unsigned char zeros[MOST];
    for (size_t bytes = 1; bytes < MOST; bytes++)
        assert_true(mst_byte_hash(zeros, bytes) != mst_byte_hash(zeros, bytes - 1));
}

static void place_of_an_array_does_not_count(void **state) {
    (void)state;
    unsigned char data[MOST + 8];
    fill(data, MOST);
    const uint64_t hash = mst_byte_hash(data, MOST);
    for (size_t shift = 1; shift < 8; shift++) {
        fill(data + shift, MOST);
        assert_true(hash == mst_byte_hash(data + shift, MOST));
    }
}

/* The highest bits of two neighbouring words: a hash that only multiplies would lose them. */
static void two_changed_signs_count(void **state) {
    (void)state;
    unsigned char data[MOST];
    fill(data, MOST);
    const uint64_t hash = mst_byte_hash(data, MOST);
    for (size_t first = 7; first < MOST; first += 8)
        for (size_t second = first + 8; second < MOST; second += 8) {
            data[first] ^= 0x80;
            data[second] ^= 0x80;
            assert_true(hash != mst_byte_hash(data, MOST));
            data[first] ^= 0x80;
            data[second] ^= 0x80;
        }
}

static void order_of_words_counts(void **state) {
    (void)state;
    uint64_t words[24];
    for (uint64_t i = 0; i < 24; i++) words[i] = i;
    const uint64_t hash = mst_byte_hash(words, sizeof words);
    for (int a = 0; a < 24; a++)
        for (int b = a + 1; b < 24; b++) {
            const uint64_t first = words[a];
            words[a] = words[b];
            words[b] = first;
            assert_true(hash != mst_byte_hash(words, sizeof words));
            words[b] = words[a];
            words[a] = first;
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_bit_of_any_length_counts),
        cmocka_unit_test(length_counts),
        cmocka_unit_test(place_of_an_array_does_not_count),
        cmocka_unit_test(two_changed_signs_count),
        cmocka_unit_test(order_of_words_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
