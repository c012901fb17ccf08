/* The entries of a store: set, got, listed and cleared by container and name; versions that every write raises; and
 * values that are refused. */
#include "store/store.h"
#include "support/test.h"

static mst_store *new_store(void) {
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    return store;
}

static void set(mst_store *store, const char *container, const char *name, mst_state_kind kind, double value) {
    mst_tensor *tensor = engine_tensor(MST_F64, MST_SHAPE(2), (double[]){value, -value});
    EXPECT_OK(mst_store_set(store, container, name, kind, tensor));
    mst_tensor_release(tensor);
}

static double get(mst_store *store, const char *container, const char *name) {
    mst_tensor *tensor;
    EXPECT_OK(mst_store_get(store, container, name, &tensor));
    const double value = mst_tensor_get(tensor, 0);
    assert_true(mst_tensor_get(tensor, 1) == -value);
    mst_tensor_release(tensor);
    return value;
}

/* What the list says of an entry; a version of UINT64_MAX where it is not there. */
static mst_state_info info_of(mst_store *store, const char *container, const char *name) {
    mst_state_info *list, found = {.version = UINT64_MAX};
    int64_t count;
    EXPECT_OK(mst_store_list(store, &list, &count));
    for (int64_t i = 0; i < count; i++)
        if (strcmp(list[i].container, container) == 0 && strcmp(list[i].name, name) == 0) found = list[i];
    free(list);
    return found;
}

static void list_has_all_entries_in_order_with_what_they_are(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "b", "w", MST_STATE_WEIGHT, 1);
    set(store, NULL, "layer/w/m", MST_STATE_SLOT, 2);
    set(store, "a", "z", MST_STATE_METRIC, 3);
    set(store, "", "layer/w", MST_STATE_AVERAGE, 4);
    static const struct {
        const char *container, *name;
        mst_state_kind kind;
    } wanted[] = {{"", "layer/w", MST_STATE_AVERAGE},
                  {"", "layer/w/m", MST_STATE_SLOT},
                  {"", MST_STATE_RUNS, MST_STATE_RANDOM}, /* each store has it */
                  {"a", "z", MST_STATE_METRIC},
                  {"b", "w", MST_STATE_WEIGHT}};
    mst_state_info *list;
    int64_t count;
    EXPECT_OK(mst_store_list(store, &list, &count));
    assert_int_equal(count, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(list[i].container, wanted[i].container);
        assert_string_equal(list[i].name, wanted[i].name);
        assert_int_equal(list[i].kind, wanted[i].kind);
        if (list[i].kind == MST_STATE_RANDOM) continue;
        assert_true(list[i].spec.dtype == MST_F64 && mst_shape_equal(list[i].spec.shape, MST_SHAPE(2)));
        assert_int_equal(list[i].bytes, 16);
        assert_true(list[i].version > 0);
    }
    free(list);
    mst_store_release(store);
}

static void kinds_have_names(void **state) {
    (void)state;
    assert_string_equal(mst_state_kind_name(MST_STATE_WEIGHT), "weight");
    assert_string_equal(mst_state_kind_name(MST_STATE_RANDOM), "random");
    assert_string_equal(mst_state_kind_name(MST_NUM_STATE_KINDS), "unknown");
    for (int i = 0; i < MST_NUM_STATE_KINDS; i++)
        assert_string_equal(mst_state_kind_names[i], mst_state_kind_name((mst_state_kind)i));
    assert_null(mst_state_kind_names[MST_NUM_STATE_KINDS]);
}

static void get_returns_a_copy_of_the_value_that_was_set(void **state) {
    (void)state;
    mst_store *store = new_store();
    mst_tensor *value = engine_random(MST_F32, MST_SHAPE(3, 1000), -1, 1, 1), *first, *second;
    EXPECT_OK(mst_store_set(store, "", "w", MST_STATE_WEIGHT, value));
    EXPECT_OK(mst_store_get(store, NULL, "w", &first));
    assert_true(engine_same_bits(first, value));
    mst_tensor_set(value, 7, 9); /* neither is the store's own memory */
    mst_tensor_set(first, 7, 9);
    EXPECT_OK(mst_store_get(store, "", "w", &second));
    assert_false(engine_same_bits(second, value));
    mst_tensor_release(value);
    mst_tensor_release(first);
    mst_tensor_release(second);
    mst_store_release(store);
}

static void entries_of_one_name_in_two_containers_are_two(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "", "w", MST_STATE_WEIGHT, 1);
    set(store, "left", "w", MST_STATE_WEIGHT, 2);
    set(store, "right", "w", MST_STATE_WEIGHT, 3);
    assert_true(get(store, "", "w") == 1 && get(store, "left", "w") == 2 && get(store, "right", "w") == 3);
    mst_store_release(store);
}

static void long_names_are_names(void **state) {
    (void)state;
    char name[3000];
    mst_store *store = new_store();
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    set(store, "", name, MST_STATE_WEIGHT, 1);
    name[sizeof name - 2] = 'm';
    set(store, "", name, MST_STATE_WEIGHT, 2);
    assert_true(get(store, "", name) == 2);
    name[sizeof name - 2] = 'n';
    assert_true(get(store, "", name) == 1);
    mst_store_release(store);
}

static void every_write_raises_the_version_and_no_read_does(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "", "other", MST_STATE_WEIGHT, 0);
    uint64_t before = 0;
    for (int i = 0; i < 5; i++) {
        set(store, "", "w", MST_STATE_WEIGHT, 7); /* also of the same value */
        const uint64_t version = info_of(store, "", "w").version;
        assert_true(version > before);
        assert_true(get(store, "", "w") == 7);
        assert_true(info_of(store, "", "w").version == version);
        before = version;
    }
    const uint64_t other = info_of(store, "", "other").version;
    set(store, "", "w", MST_STATE_WEIGHT, 8);
    assert_true(info_of(store, "", "other").version == other);
    mst_store_release(store);
}

static void setting_keeps_the_kind_that_an_entry_has(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "", "w", MST_STATE_AVERAGE, 1);
    set(store, "", "w", MST_STATE_WEIGHT, 2);
    assert_int_equal(info_of(store, "", "w").kind, MST_STATE_AVERAGE);
    mst_store_release(store);
}

static void values_of_another_dtype_or_shape_are_refused_and_change_nothing(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "", "w", MST_STATE_WEIGHT, 1);
    const uint64_t version = info_of(store, "", "w").version;
    mst_tensor *narrow = engine_tensor(MST_F32, MST_SHAPE(2), NULL),
               *longer = engine_tensor(MST_F64, MST_SHAPE(3), NULL);
    EXPECT_ERROR(mst_store_set(store, "", "w", MST_STATE_WEIGHT, narrow), MST_INVALID,
                 "'w' is f64[2] there, and is wanted as f32[2]");
    EXPECT_ERROR(mst_store_set(store, "", "w", MST_STATE_WEIGHT, longer), MST_INVALID,
                 "'w' is f64[2] there, and is wanted as f64[3]");
    assert_true(get(store, "", "w") == 1);
    assert_true(info_of(store, "", "w").version == version);
    mst_tensor_release(narrow);
    mst_tensor_release(longer);
    mst_store_release(store);
}

static void missing_entry_is_not_found(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "here", "w", MST_STATE_WEIGHT, 1);
    mst_tensor *tensor = (mst_tensor *)store; /* anything but NULL */
    EXPECT_ERROR(mst_store_get(store, "", "w", &tensor), MST_NOT_FOUND, "there is no 'w'");
    assert_null(tensor);
    EXPECT_ERROR(mst_store_get(store, "there", "w", &tensor), MST_NOT_FOUND, "there is no 'w'");
    EXPECT_OK(mst_store_clear(store, 1u << MST_STATE_WEIGHT));
    EXPECT_ERROR(mst_store_get(store, "here", "w", &tensor), MST_NOT_FOUND, "'w' has no value yet");
    assert_null(tensor);
    mst_store_release(store);
}

static void clear_removes_the_values_of_some_kinds(void **state) {
    (void)state;
    mst_store *store = new_store();
    set(store, "", "w", MST_STATE_WEIGHT, 1);
    set(store, "", "w/m", MST_STATE_SLOT, 2);
    set(store, "", "rate", MST_STATE_RATE, 3);
    EXPECT_OK(mst_store_clear(store, 1u << MST_STATE_SLOT | 1u << MST_STATE_RATE | 1u << MST_STATE_RANDOM));
    assert_true(get(store, "", "w") == 1);
    assert_int_equal(info_of(store, "", "w/m").version, 0);
    assert_int_equal(info_of(store, "", "rate").version, 0);
    set(store, "", "rate", MST_STATE_RATE, 4);
    assert_true(get(store, "", "rate") == 4);
    mst_store_release(store);
}

static void runs_without_a_step_are_an_entry_that_can_be_set(void **state) {
    (void)state;
    mst_store *store = new_store();
    mst_graph *g = engine_graph();
    const mst_value noise = mst_random_uniform(g, MST_SHAPE(4));
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.store = store}, &session));
    mst_tensor *runs, *first, *second, *again;
    first = engine_fetch(session, NULL, 0, noise);
    EXPECT_OK(mst_store_get(store, "", MST_STATE_RUNS, &runs));
    assert_true(mst_tensor_get(runs, 0) == 1);
    second = engine_fetch(session, NULL, 0, noise);
    assert_false(engine_same_bits(first, second));
    EXPECT_OK(mst_store_set(store, "", MST_STATE_RUNS, MST_STATE_RANDOM, runs));
    again = engine_fetch(session, NULL, 0, noise);
    assert_true(engine_same_bits(again, second));
    mst_tensor *all[] = {runs, first, second, again};
    for (int i = 0; i < 4; i++) mst_tensor_release(all[i]);
    engine_end(g, session);
    mst_store_release(store);
}

/* Entries stay as long as the store; looking for one, and copies that come and go, must not make it larger. */
static void store_grows_with_its_entries_alone(void **state) {
    (void)state;
    mst_store *store = new_store();
    const mst_spec spec = {.dtype = MST_F32, .shape = MST_SHAPE(4)};
    mst_state *first, *entry;
    EXPECT_OK(mst_store_declare(store, "c", "name", MST_STATE_WEIGHT, &spec, &first));
    const size_t used = store->arena.used;
    for (int i = 0; i < 1000; i++) {
        mst_copy *copy;
        EXPECT_OK(mst_store_declare(store, "c", "name", MST_STATE_WEIGHT, &spec, &entry));
        assert_ptr_equal(entry, first);
        EXPECT_OK(mst_store_place(store, &entry, 1, &mst_domain_host, "/device:CPU:0", &copy));
        entry->version = 1; /* without the copy: it is stale, and goes with its last user */
        mst_copy_release(store, entry, copy);
        entry->version = 0;
    }
    assert_int_equal(store->arena.used, used);
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_grows_with_its_entries_alone),
        cmocka_unit_test(list_has_all_entries_in_order_with_what_they_are),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(get_returns_a_copy_of_the_value_that_was_set),
        cmocka_unit_test(entries_of_one_name_in_two_containers_are_two),
        cmocka_unit_test(long_names_are_names),
        cmocka_unit_test(every_write_raises_the_version_and_no_read_does),
        cmocka_unit_test(setting_keeps_the_kind_that_an_entry_has),
        cmocka_unit_test(values_of_another_dtype_or_shape_are_refused_and_change_nothing),
        cmocka_unit_test(missing_entry_is_not_found),
        cmocka_unit_test(clear_removes_the_values_of_some_kinds),
        cmocka_unit_test(runs_without_a_step_are_an_entry_that_can_be_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
