/* The hash of strings has the values of TensorFlow. */
#include "base/farm_hash.h"
#include "support/test.h"

/* Of the first N of the bytes 37 i + i^2 / 7: what tf.strings.to_hash_bucket_fast of TensorFlow 2.21 gives for them in
 * 2^63 - 1 buckets; N takes each way through the function. */
static void hashes_are_those_of_tensorflow(void **state) {
    (void)state;
    static const struct {
        size_t size;
        uint64_t hash;
    } rows[] = {{0, 1936946117179621456},  {3, 2979360857936615334},  {7, 3410042020561689451},
                {16, 5653682405258208547}, {17, 7672636164037017699}, {32, 2936770924108165453},
                {33, 2262974204733171384}, {64, 6666564779923715090}, {65, 3765681652683942053},
                {200, 1063714625228240079}};
    uint8_t bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(37 * i + i * i / 7);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_true(mst_farm_hash(bytes, rows[i].size) % INT64_MAX == rows[i].hash);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hashes_are_those_of_tensorflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
