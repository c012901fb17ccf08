/* A model of absurd sizes is noticed by its number of parameters. Without this check, a step is planned for it first,
 * which takes long and much memory where there are many layers. What a step needs besides is counted in its plan. */
#include "cli/train/train_size.h"

#include "base/byte_count.h"
#include "cli/number_text.h"
#include "cli/train/train_cluster.h"
#include "device/device.h"
#include "model/model.h"
#include "rule/rule.h"

enum { WHAT = 160 };

static const char advice[] = "take a smaller model, with fewer or smaller layers";

/* A + B * FACTOR, or the largest number if that is more. B and FACTOR are at least 0. */
static int64_t add_product(int64_t a, int64_t b, int64_t factor) {
    int64_t product, sum;
    if (__builtin_mul_overflow(b, factor, &product) || __builtin_add_overflow(a, product, &sum)) return INT64_MAX;
    return sum;
}

/* Values that are kept for each parameter: itself, and what the optimizer keeps in every process. */
static int64_t num_values(const training *t) {
    const mst_rule *rule = mst_rule_find(t->optimizer.rule);
    if (!rule || t->o->sharded_state) return 1;
    return 1 + rule->num_slots(&t->optimizer) + (t->optimizer.ema_decay > 0);
}

static int64_t num_elements(const mst_weight *weight) {
    int64_t count = 1;
    for (int i = 0; i < weight->spec.shape.ndim; i++) count = add_product(0, count, weight->spec.shape.dim[i]);
    return count;
}

/* Fails if BYTES for WHAT are more than the memory of a device, as far as that is known. Of several devices of the CPU,
 * the first keeps all. */
static mst_status check_devices(const training *t, int64_t bytes, const char *what) {
    const mst_device_info *device = &t->device[0];
    const int64_t limit = t->o->memory_limit, memory = device->compiles ? device->memory : 0;
    char need[MST_BYTES_TEXT], has[MST_BYTES_TEXT];
    if (limit > 0 && bytes > limit) {
        mst_bytes_print_two(bytes, limit, need, has);
        return MST_FAIL(MST_OUT_OF_MEMORY, "%s need %s, the limit of a device (--memory-limit) is %s: raise it, or %s",
                        what, need, has, advice);
    }
    if (memory > 0 && bytes > memory) {
        mst_bytes_print_two(bytes, memory, need, has);
        return MST_FAIL(MST_OUT_OF_MEMORY, "%s need %s, %s has %s: %s", what, need, device->name, has, advice);
    }
    return device->compiles ? MST_OK : mst_host_check(bytes, what, advice);
}

mst_status train_size_check(training *t) {
    const mst_weight *weight;
    int64_t count = 0, parameters = 0, bytes = 0;
    char what[WHAT], number[NUMBER_TEXT];
    if (train_cluster_is_served(t)) return MST_OK; /* the servers keep them */
    for (int i = 0; i < training_num_inputs(t); i++) mst_model_learn_input(t->model, i, mst_dataset_spec(t->train, i));
    MST_TRY(mst_model_weights(t->model, &weight, &count));
    for (int64_t i = 0; i < count; i++) {
        const int64_t size = num_elements(&weight[i]), values = weight[i].trainable ? num_values(t) : 1;
        parameters = add_product(parameters, size, 1);
        bytes = add_product(bytes, add_product(0, size, values), (int64_t)mst_dtype_size(weight[i].spec.dtype));
    }
    snprintf(what, sizeof what, "the model's %s%s parameters, with what the optimizer keeps,",
             parameters == INT64_MAX ? "more than " : "", number_text(parameters, number));
    return check_devices(t, bytes, what);
}
