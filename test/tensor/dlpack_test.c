/* Tensors that are exchanged with other libraries by DLPack, without a copy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* after what it needs */
#include <cmocka.h>

#include "muster/dlpack.h"

static void a_round_trip_shares_memory_and_keeps_it_alive(void **state) {
    (void)state;
    mst_tensor *tensor, *back;
    struct DLManagedTensor *managed;
    assert_int_equal(mst_tensor_create(MST_F32, MST_SHAPE(2, 3), &tensor), MST_OK);
    mst_tensor_set(tensor, 4, 2.5);
    assert_int_equal(mst_tensor_to_dlpack(tensor, &managed), MST_OK);
    assert_int_equal(mst_tensor_references(tensor), 2);
    assert_int_equal(mst_tensor_from_dlpack(managed, &back), MST_OK);
    void *data = mst_tensor_data(tensor);
    mst_tensor_release(tensor);
    assert_ptr_equal(mst_tensor_data(back), data);
    assert_true(mst_shape_equal(mst_tensor_shape(back), MST_SHAPE(2, 3)));
    assert_int_equal(mst_tensor_dtype(back), MST_F32);
    assert_true(mst_tensor_get(back, 4) == 2.5);
    mst_tensor_release(back);
}

static void every_dtype_of_numbers_and_a_scalar_go_through(void **state) {
    (void)state;
    for (int d = 1; d < MST_NUM_DTYPES; d++) {
        if (d == MST_STRING) continue;
        mst_tensor *tensor, *back;
        struct DLManagedTensor *managed;
        assert_int_equal(mst_tensor_create((mst_dtype)d, MST_SCALAR, &tensor), MST_OK);
        assert_int_equal(mst_tensor_to_dlpack(tensor, &managed), MST_OK);
        mst_tensor_release(tensor);
        assert_int_equal(mst_tensor_from_dlpack(managed, &back), MST_OK);
        assert_int_equal(mst_tensor_dtype(back), d);
        assert_int_equal(mst_tensor_count(back), 1);
        mst_tensor_release(back);
    }
}

/* as another library would lay it out */
struct foreign {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
    void *context;
    void (*deleter)(struct DLManagedTensor *self);
};

static int deleted;

static void count_delete(struct DLManagedTensor *self) {
    (void)self;
    deleted++;
}

static void unsupported_tensors_are_refused_and_stay_the_callers(void **state) {
    (void)state;
    float data[6] = {0, 1, 2, 3, 4, 5};
    int64_t shape[2] = {2, 3}, columns[2] = {1, 2}, rows[2] = {3, 1};
    struct foreign f = {data, 1, 0, 2, 2, 32, 1, shape, rows, 0, NULL, count_delete};
    mst_tensor *tensor;
    f.device_type = 2;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_UNIMPLEMENTED);
    f.device_type = 1;
    f.strides = columns;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_UNIMPLEMENTED);
    f.strides = rows;
    f.bits = 16;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_UNIMPLEMENTED);
    f.code = f.bits = 0;
    f.lanes = 0; /* what strings have in the table of dtypes */
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_UNIMPLEMENTED);
    f.code = 2;
    f.bits = 32;
    f.lanes = 1;
    assert_int_equal(deleted, 0);
    f.byte_offset = sizeof(float);
    shape[0] = 1;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_OK);
    assert_true(mst_tensor_get(tensor, 0) == 1);
    mst_tensor_release(tensor);
    assert_int_equal(deleted, 1);
}

static void empty_tensors_of_any_strides_are_taken_and_unaligned_ones_are_not(void **state) {
    (void)state;
    float data[2] = {0, 1};
    int64_t shape[2] = {2, 0}, ones[2] = {1, 1}; /* strides that PyTorch gives */
    struct foreign f = {data, 1, 0, 2, 2, 32, 1, shape, ones, 0, NULL, NULL};
    mst_tensor *tensor;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_OK);
    assert_int_equal(mst_tensor_count(tensor), 0);
    mst_tensor_release(tensor);
    shape[0] = shape[1] = 1;
    f.byte_offset = 1;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_UNIMPLEMENTED);
}

static void malformed_tensor_of_another_library_is_refused(void **state) {
    (void)state;
    float data[2] = {0, 1};
    int64_t shape[2] = {INT64_MAX, INT64_MAX}, strides[2] = {INT64_MAX, 1};
    struct foreign f = {data, 1, 0, 2, 2, 32, 1, NULL, NULL, 0, NULL, NULL};
    mst_tensor *tensor;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_INVALID);
    f.shape = shape;
    f.strides = strides;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_OUT_OF_MEMORY);
    shape[0] = -3;
    assert_int_equal(mst_tensor_from_dlpack((struct DLManagedTensor *)(void *)&f, &tensor), MST_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trip_shares_memory_and_keeps_it_alive),
        cmocka_unit_test(every_dtype_of_numbers_and_a_scalar_go_through),
        cmocka_unit_test(unsupported_tensors_are_refused_and_stay_the_callers),
        cmocka_unit_test(malformed_tensor_of_another_library_is_refused),
        cmocka_unit_test(empty_tensors_of_any_strides_are_taken_and_unaligned_ones_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
