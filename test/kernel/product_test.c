/* Products of oneDNN: gradients of weights, which updates compute while variables are written, need next to no
 * memory, and do not fail for lack of it. */
#include "kernel/onednn/base/product.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#include "base/openmp.h"
#include "base/reserve.h"
#include "kernel/onednn/base/primitive.h"
#include "support/sanitized.h"
#include "support/test.h"

/* What oneDNN and the C++ library below it ask for. */
static atomic_bool counting, refusing; /* refusing: there is no memory as long as there is a reserve */
static atomic_int blocks, buffers;

#if !SANITIZED && defined(__GLIBC__)
#define COUNTED 1
void *__libc_malloc(size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static bool is_foreign(const void *caller) {
    Dl_info info;
    if (!atomic_load(&counting) || !dladdr(caller, &info) || !info.dli_fname) return false;
    return strstr(info.dli_fname, "libdnnl") || strstr(info.dli_fname, "libstdc++");
}

MST_API void *malloc(size_t size) {
    if (is_foreign(__builtin_return_address(0))) atomic_fetch_add(&blocks, 1);
    return __libc_malloc(size);
}

MST_API int posix_memalign(void **out, size_t alignment, size_t size) {
    if (is_foreign(__builtin_return_address(0))) {
        atomic_fetch_add(&buffers, 1);
        if (atomic_load(&refusing) && mst_reserve_is_there()) return ENOMEM;
    }
    *out = __libc_memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
#else
#define COUNTED 0
#endif

/* A [k, m], whose columns FIRST to FIRST + rows - 1 count; B [k, n]. */
typedef struct factors {
    int64_t m, n, k, rows;
    mst_tensor *a, *b, *c;
    mst_product_shape shape;
    mst_product *product;
} factors;

static factors begin(int64_t m, int64_t n, int64_t k, int64_t rows) {
    factors f = {.m = m, .n = n, .k = k, .rows = rows, .shape = {.ndim = 2}};
    f.a = engine_random(MST_F32, MST_SHAPE(k, m), -1, 1, 1);
    f.b = engine_random(MST_F32, MST_SHAPE(k, n), -1, 1, 2);
    f.c = engine_tensor(MST_F32, MST_SHAPE(m, n), NULL);
    mst_product_operand(&f.shape, MST_PRODUCT_A, MST_SHAPE(k, m), true);
    mst_product_operand(&f.shape, MST_PRODUCT_B, MST_SHAPE(k, n), false);
    mst_product_operand(&f.shape, MST_PRODUCT_C, MST_SHAPE(m, n), false);
    EXPECT_OK(mst_product_create(&f.shape, 0, rows, 1, "test", &f.product));
    return f;
}

static void end(factors *f) {
    mst_product_destroy(f->product);
    mst_tensor_release(f->a);
    mst_tensor_release(f->b);
    mst_tensor_release(f->c);
}

static mst_status run(factors *f) {
    void *workspace =
        aligned_alloc(64, mst_product_workspace(f->product) + 64 - mst_product_workspace(f->product) % 64);
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_product_parts(f->product) && !status; i++)
        status = mst_product_run(f->product, i, 0, workspace, mst_tensor_data(f->a), mst_tensor_data(f->b), NULL,
                                 (float *)mst_tensor_data(f->c) + mst_product_offset(f->product, i));
    free(workspace);
    return status;
}

/* Whether PRIMITIVE sums in the order of dnnl_sgemm: it calls the same function, or K is small. */
static bool sums_in_the_same_order(const mst_primitive *primitive, int64_t k) {
    enum { MOST = 384 };
    const char *name = NULL;
    const_dnnl_primitive_desc_t description;
    assert_int_equal(dnnl_primitive_get_primitive_desc(mst_primitive_handle(primitive), &description), dnnl_success);
    assert_int_equal(dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, (void *)&name), dnnl_success);
    return k <= MOST || strncmp(name, "gemm", 4) == 0;
}

/* Part I by the matmul primitive; false: that sums in another order. */
static bool run_primitive(factors *f, int64_t i, float *out) {
    const int64_t first = i * f->rows, rows = f->m - first < f->rows ? f->m - first : f->rows;
    mst_product_shape shape = f->shape;
    shape.dim[MST_PRODUCT_A][0] = shape.dim[MST_PRODUCT_C][0] = rows;
    mst_primitive *primitive;
    assert_int_equal(mst_primitive_get(&shape, &primitive), dnnl_success);
    const bool same_order = sums_in_the_same_order(primitive, f->k) || !mst_primitive_is_sgemm(primitive);
    const float *data[] = {(float *)mst_tensor_data(f->a) + first, mst_tensor_data(f->b), NULL, out + first * f->n};
    static const int name[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_BIAS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
    dnnl_stream_t stream;
    dnnl_exec_arg_t args[5];
    int count = 0;
    void *scratchpad = malloc(mst_primitive_scratchpad(primitive) + 1);
    assert_int_equal(dnnl_stream_create(&stream, mst_dnnl_engine(), dnnl_stream_default_flags), dnnl_success);
    for (int k = 0; k < 5; k++) {
        if (k == MST_PRODUCT_BIAS) continue;
        args[count].arg = name[k];
        assert_int_equal(dnnl_memory_create(&args[count++].memory, mst_primitive_description(primitive, k),
                                            mst_dnnl_engine(), k < 4 ? (void *)(uintptr_t)data[k] : scratchpad),
                         dnnl_success);
    }
    assert_int_equal(dnnl_primitive_execute(mst_primitive_handle(primitive), stream, count, args), dnnl_success);
    for (int k = 0; k < count; k++) dnnl_memory_destroy(args[k].memory);
    dnnl_stream_destroy(stream);
    mst_primitive_release(primitive);
    free(scratchpad);
    return same_order;
}

/* Weights [m, n], k rows of a shard, rows of a unit: of a large layer, a small one, an output layer. */
static const int64_t shapes[][4] = {{784, 500, 50, 56},   {784, 500, 1, 56},   {784, 2000, 250, 8},
                                    {392, 64, 1000, 100}, {64, 64, 50, 64},    {500, 10, 100, 500},
                                    {160, 10, 384, 160},  {100, 20, 600, 100}, {3, 1, 7, 8}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void gradient_has_the_bits_of_the_primitive(void **state) {
    (void)state;
    for (int s = 0; s < SHAPES; s++) {
        factors f = begin(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
        mst_tensor *wanted = engine_tensor(MST_F32, MST_SHAPE(f.m, f.n), NULL);
        bool same_order = true;
        for (int64_t i = 0; i < mst_product_parts(f.product); i++)
            same_order &= run_primitive(&f, i, mst_tensor_data(wanted));
        EXPECT_OK(run(&f));
        if (same_order ? !engine_same_bits(f.c, wanted) : engine_distance(f.c, wanted) > 1e-4)
            fail_msg("[%d, %d]: off by %g", (int)f.m, (int)f.n, engine_distance(f.c, wanted));
        mst_tensor_release(wanted);
        end(&f);
    }
}

/* Whole matrices of one unit whose factors are larger are not products of an update. */
static bool is_for_updates(const factors *f) {
    return f->k * (f->m + f->n) <= f->m * f->n;
}

static void gradient_makes_no_object_and_one_buffer_a_part_at_most(void **state) {
    (void)state;
    if (!COUNTED) skip();
    for (int s = 0; s < SHAPES; s++) {
        factors f = begin(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
        atomic_store(&blocks, 0);
        atomic_store(&buffers, 0);
        atomic_store(&counting, true);
        EXPECT_OK(run(&f));
        atomic_store(&counting, false);
        if (is_for_updates(&f) && (atomic_load(&blocks) || atomic_load(&buffers) > mst_product_parts(f.product)))
            fail_msg("[%d, %d]: %d blocks, %d buffers in %d parts", (int)f.m, (int)f.n, atomic_load(&blocks),
                     atomic_load(&buffers), (int)mst_product_parts(f.product));
        end(&f);
    }
}

static void gradient_that_gets_no_memory_takes_the_reserve(void **state) {
    (void)state;
    if (!COUNTED) skip();
    for (int s = 0; s < SHAPES; s++) {
        factors f = begin(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
        if (is_for_updates(&f)) {
            EXPECT_OK(run(&f));
            mst_tensor *wanted = engine_tensor(MST_F32, MST_SHAPE(f.m, f.n), NULL);
            memcpy(mst_tensor_data(wanted), mst_tensor_data(f.c), mst_tensor_bytes(wanted));
            memset(mst_tensor_data(f.c), 0, mst_tensor_bytes(f.c));
            assert_true(mst_reserve_is_there());
            atomic_store(&buffers, 0);
            atomic_store(&refusing, true);
            atomic_store(&counting, true);
            EXPECT_OK(run(&f));
            atomic_store(&counting, false);
            atomic_store(&refusing, false);
            assert_true(engine_same_bits(f.c, wanted));
            if (atomic_load(&buffers)) assert_false(mst_reserve_is_there());
            EXPECT_OK(mst_reserve_renew());
            assert_true(mst_reserve_is_there());
            mst_tensor_release(wanted);
        }
        end(&f);
    }
}

/* A batch of one example: both factors are transposed, and the rows of the second are one element. */
static void product_of_one_row_and_one_column_is_made(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_variable(g, "a", mst_values(g, MST_F32, MST_SHAPE(1, 2), (const double[]){2, 3}));
    mst_value b = mst_variable(g, "b", mst_values(g, MST_F32, MST_SHAPE(3, 1), (const double[]){1, 10, 100}));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, mst_matmul(a, b, .transpose_a = true, .transpose_b = true));
    static const double wanted[] = {2, 20, 200, 3, 30, 300};
    for (int i = 0; i < 6; i++) assert_true(mst_tensor_get(got, i) == wanted[i]);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void reserve_is_there_while_there_are_products(void **state) {
    (void)state;
    assert_false(mst_reserve_is_there());
    factors f = begin(64, 64, 8, 64), g = begin(64, 64, 8, 64);
    assert_true(mst_reserve_is_there());
    end(&f);
    assert_true(mst_reserve_is_there());
    mst_reserve_spend();
    assert_false(mst_reserve_is_there());
    end(&g);
    EXPECT_OK(mst_reserve_renew()); /* nobody needs it */
    assert_false(mst_reserve_is_there());
}

/* As the threads of devices. */
static int one_thread(void **state) {
    static int before;
    (void)state;
    return mst_openmp_begin(&before) != MST_OK;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_has_the_bits_of_the_primitive),
        cmocka_unit_test(gradient_makes_no_object_and_one_buffer_a_part_at_most),
        cmocka_unit_test(gradient_that_gets_no_memory_takes_the_reserve),
        cmocka_unit_test(product_of_one_row_and_one_column_is_made),
        cmocka_unit_test(reserve_is_there_while_there_are_products),
    };
    return cmocka_run_group_tests(tests, one_thread, NULL);
}
