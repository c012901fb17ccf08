// Every macro of the public headers that takes named arguments, in C++20.
#include <muster/muster.h>

#include <cstdint>
#include <cstdio>

static void count_call(void *context) {
    ++*static_cast<int *>(context);
}

// The address of what a macro makes is good until the end of the expression.
static mst_optimizer first_of(const mst_optimizer *optimizer) {
    return *optimizer;
}

static bool optimizers_and_schedules() {
    const mst_optimizer all[] = {
        mst_sgd(.learning_rate = 0.1, .momentum = 0.9),
        mst_adagrad(),
        mst_rmsprop(.rho = 0.8, .centered = true),
        mst_momentum(.learning_rate = 0.01, .momentum = 0.8, .nesterov = true),
        mst_adam(.schedule = mst_exponential_decay(.rate = 0.1, .decay_rate = 0.99, .decay_steps = 600)),
        mst_adamw(.weight_decay = 0.01),
        mst_nadam(.schedule = mst_inverse_time_decay(.rate = 0.1, .decay_rate = 0.5, .decay_steps = 10)),
        mst_ftrl(.schedule = mst_cosine_decay(.rate = 0.1, .decay_steps = 10)),
        mst_sgd(.schedule = mst_polynomial_decay(.rate = 0.1, .decay_steps = 10, .end = 0.01)),
        mst_sgd(.schedule = mst_piecewise_constant(.num_pieces = 2, .boundary = {5}, .value = {0.1, 0.01})),
    };
    for (const mst_optimizer &optimizer : all)
        if (mst_optimizer_check(&optimizer)) return false;
    return first_of(&mst_sgd(.learning_rate = 0.25)).learning_rate == 0.25 && first_of(&mst_sgd()).learning_rate > 0;
}

static void constraints(mst_graph *graph) {
    const mst_value w = mst_variable(graph, "constrained", mst_fill(graph, MST_F32, MST_SHAPE(2, 3), 1),
                                     .constraint = mst_unit_norm_constraint(.axes = MST_AXES(1)));
    mst_variable_constrain(w, mst_non_neg_constraint());
    mst_variable_constrain(w, mst_max_norm_constraint(.max_value = 3));
    mst_variable_constrain(w, mst_min_max_norm_constraint(.min_value = 1, .rate = 0.5));
}

static void initializers(mst_graph *graph, mst_tensor *ones) {
    const mst_initializer all[] = {
        mst_glorot_uniform_initializer(),
        mst_glorot_normal_initializer(.seed = 1),
        mst_he_uniform_initializer(),
        mst_he_normal_initializer(),
        mst_lecun_uniform_initializer(),
        mst_lecun_normal_initializer(),
        mst_variance_scaling_initializer(.scale = 2, .fan = MST_FAN_AVERAGE, .distribution = MST_UNIFORM),
        mst_zeros_initializer(),
        mst_ones_initializer(),
        mst_constant_initializer(3),
        mst_random_uniform_initializer(.low = -1, .high = 1),
        mst_random_normal_initializer(.stddev = 0.1),
        mst_truncated_normal_initializer(.mean = 1, .stddev = 0.1),
        mst_orthogonal_initializer(.scale = 2),
        mst_tensor_initializer(ones),
    };
    int number = 0;
    for (const mst_initializer &initializer : all) {
        char name[32];
        std::snprintf(name, sizeof name, "initialized_%d", number++);
        mst_get_variable(graph, name, MST_SHAPE(2, 3), .dtype = MST_F32, .initializer = initializer);
    }
}

static void reductions(mst_value x) {
    mst_value truth = mst_greater(x, mst_zeros_like(x));
    mst_reduce_sum(x);
    mst_reduce_sum(x, .axes = MST_AXES(1), .keep_dims = true);
    mst_reduce_mean(x, .axes = MST_AXES(0, 1));
    mst_reduce_max(x, .axes = MST_AXES(0));
    mst_reduce_min(x, .keep_dims = true);
    mst_reduce_prod(x);
    mst_reduce_all(truth);
    mst_reduce_any(truth, .axes = MST_AXES(-1));
    mst_argmax(x, .axis = 1);
    mst_argmin(x, .dtype = MST_I32);
}

static void step(mst_loop_step *s) {
    s->next[0] = s->carry[0];
}

static mst_value is_done(mst_loop_step *s) {
    return mst_scalar(s->graph, MST_BOOL, 0);
}

static void ops(mst_graph *graph, mst_value x) {
    mst_value index = mst_random_uniform_int(graph, MST_SHAPE(2), .high = 3, .dtype = MST_I64);
    mst_matmul(x, x, .transpose_b = true, .precision = MST_FLOAT32);
    mst_dropout(x, .rate = 0.5F);
    mst_elu(x, .alpha = 0.5F);
    mst_gelu(x, .approximate = true);
    mst_leaky_relu(x, .slope = 0.1F);
    mst_one_hot(index, .depth = 3);
    mst_lookup(index, mst_range(graph, MST_I64, 0, 3, 1), mst_range(graph, MST_I64, 0, 3, 1), .found = true);
    mst_pad(x, .before = MST_SHAPE(1, 0), .after = MST_SHAPE(0, 1));
    mst_placeholder(graph, MST_F32, MST_SCALAR, .name = "fed");
    mst_random_normal(graph, MST_SHAPE(2), .mean = 1);
    mst_random_truncated_normal(graph, MST_SHAPE(2), .stddev = 2);
    mst_random_uniform(graph, MST_SHAPE(2), .low = 1, .high = 2);
    mst_random_normal_like(mst_random_uniform_like(x, .seed = 1));
    mst_cumsum(x, .axis = 1, .reverse = true);
    mst_squeeze(mst_expand_dims(x, 0), .axes = MST_AXES(0));
    mst_strided_slice(x, .begin = MST_AXES(0, 1), .end = MST_AXES(2, 3));
    mst_top_k(x, .k = 2);
    mst_scan(step, .carry = {x}, .num_steps = 2, .reverse = true);
    mst_while(is_done, step, .carry = {x}, .limit = 3);
    mst_sort(x, .axis = MST_AXES(0), .descending = true);
    mst_argsort(x, .descending = true);
    mst_transpose(x, .perm = MST_AXES(1, 0));
    mst_confusion_matrix(index, index, .num_classes = 3);
    mst_metric_batch(.metric = MST_METRIC_SPARSE_ACCURACY, .labels = index, .predictions = x);
    mst_regularizer_value(&mst_keras_regularizer(.l2 = 0.1), x);
    mst_regularizer_value(&mst_l1_regularizer(0.1), x);
    mst_regularizer_value(&mst_l2_regularizer(0.1), x);
}

static void scopes(mst_graph *graph, mst_value x) {
    mst_with_name (graph, "outer")
        mst_with_device (graph, "/cpu:0")
            mst_with_control (graph, x)
                mst_with_variables (graph, "shared", MST_REUSE_AUTO)
                    mst_with_replica_device (graph, .num_ps = 2, .by_bytes = true) mst_identity(x);
}

static void windows(mst_graph *graph) {
    mst_value pictures = mst_fill(graph, MST_F32, MST_SHAPE(1, 5, 5, 2), 1);
    mst_value rows = mst_reshape(pictures, MST_SHAPE(5, 5, 2));
    mst_value weights = mst_fill(graph, MST_F32, MST_SHAPE(1, 2, 2, 3), 1);
    mst_value channels = mst_fill(graph, MST_F32, MST_SHAPE(2), 1);
    mst_convolve2d(pictures, weights, .strides = MST_AXES(2), .padding = MST_PADDING_SAME);
    mst_convolve2d_depthwise(pictures, weights, .dilations = MST_AXES(1, 2));
    mst_convolve1d(rows, mst_reshape(weights, MST_SHAPE(2, 2, 3)), .stride = 2, .causal = true);
    mst_max_pool2d(pictures, MST_AXES(2), .strides = MST_AXES(1));
    mst_avg_pool2d(pictures, MST_AXES(2, 1));
    mst_value volumes = mst_reshape(pictures, MST_SHAPE(1, 1, 5, 5, 2));
    mst_value filters = mst_reshape(weights, MST_SHAPE(1, 1, 2, 2, 3));
    mst_max_pool3d(mst_convolve3d(volumes, filters, .strides = MST_AXES(1, 2, 1)), MST_AXES(1));
    mst_avg_pool3d(mst_convolve3d_transpose(volumes, mst_reshape(weights, MST_SHAPE(1, 1, 2, 3, 2))),
                   MST_AXES(1, 2, 2));
    mst_convolve1d_transpose(rows, mst_reshape(weights, MST_SHAPE(2, 3, 2)), .stride = 2);
    mst_convolve1d_depthwise(rows, mst_reshape(weights, MST_SHAPE(2, 2, 3)), .stride = 2);
    mst_max_pool1d(rows, 2, .stride = 1);
    mst_avg_pool1d(rows, 2, .padding = MST_PADDING_SAME);
    mst_batch_norm(pictures, channels, channels, .epsilon = 0.1);
    mst_layer_norm(pictures, channels, channels, .epsilon = 0.1);
    mst_scaled_dot_product_attention(pictures, pictures, pictures, .causal = true, .scale = 0.5);
    mst_cached_attention(pictures, pictures, pictures, .past_key = pictures, .past_value = pictures,
                         .past = mst_scalar(graph, MST_I32, 1), .scale = 0.5);
    mst_rotary_embedding(mst_fill(graph, MST_F32, MST_SHAPE(2, 4), 1), .base = 100);
    mst_group_norm(pictures, channels, channels, .groups = 2);
    mst_convolve2d_transpose(pictures, mst_reshape(weights, MST_SHAPE(1, 2, 3, 2)), .strides = MST_AXES(2));
    mst_space_to_depth(mst_depth_to_space(mst_fill(graph, MST_F32, MST_SHAPE(1, 2, 2, 4), 1), 2), 2);
    mst_text_to_hashes(mst_placeholder(graph, MST_STRING, MST_SHAPE(2)), .length = 4);
    mst_l2_normalize(pictures, .axes = MST_AXES(-1), .epsilon = 1e-9);
    mst_glu(mst_fill(graph, MST_F32, MST_SHAPE(4, 3), 1), .axis = MST_AXES(0));
    mst_resize2d(pictures, MST_AXES(7, 3), .interpolation = MST_INTERPOLATION_BILINEAR);
}

static bool graphs() {
    mst_graph *graph = nullptr;
    mst_tensor *ones = nullptr;
    float six[6] = {1, 1, 1, 1, 1, 1};
    int released = 0;
    if (mst_graph_create(&graph) || mst_tensor_wrap(MST_F32, MST_SHAPE(2, 3), six, count_call, &released, &ones))
        return false;
    mst_value x = mst_constant(graph, ones);
    constraints(graph);
    initializers(graph, ones);
    reductions(x);
    ops(graph, x);
    scopes(graph, x);
    windows(graph);
    mst_value w = mst_variable(graph, "w", mst_fill(graph, MST_F32, MST_SHAPE(3, 1), 1), .l2 = 0.1F);
    mst_value h = mst_dense(mst_matmul(x, w), 4, .activation = MST_RELU, .name = "layer1");
    mst_minimize(&mst_sgd(.learning_rate = 0.1), mst_reduce_sum(h), nullptr, 0, MST_NONE);
    mst_value joined = mst_concat(MST_VALUES(x, mst_einsum("ij->ij", MST_VALUES(x), 1)), 2, 0);
    bool good = !mst_graph_check(graph) && mst_value_spec(joined).shape.dim[0] == 4;
    mst_graph_destroy(graph);
    mst_tensor_release(ones);
    return good && released == 1;
}

static mst_value same(void *, mst_value x, bool) {
    return x;
}

static bool functional() {
    mst_model *model = nullptr;
    if (mst_model_create(&model)) return false;
    mst_output ids = mst_input(model, MST_SHAPE(4), .dtype = MST_I32, .name = "ids");
    mst_output a = mst_flatten(mst_embedding(ids, 10, 3)), b = mst_dense(a, 12);
    mst_output c = mst_category_encoding(ids, 10, .output_mode = MST_OUTPUT_MODE_COUNT);
    mst_output d =
        mst_discretization(mst_normalization(b, .axis = 1), .num_bins = 4, .output_mode = MST_OUTPUT_MODE_COUNT);
    mst_output kind = mst_input(model, MST_SCALAR, .dtype = MST_STRING, .name = "kind");
    mst_output e = mst_string_lookup(kind, .max_tokens = 8, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
    mst_output f = mst_integer_lookup(ids, .max_tokens = 8, .has_mask = true, .output_mode = MST_OUTPUT_MODE_COUNT);
    mst_output g = mst_text_vectorization(kind, .max_tokens = 8, .output_mode = MST_OUTPUT_MODE_COUNT);
    mst_concatenate(MST_OUTPUTS(a, b, mst_share(b, a), c, d, e, f, g), .axis = 1);
    bool good = !mst_model_check(model) && !mst_model_summary(model, nullptr, stdout);
    mst_model_destroy(model);
    return good;
}

static bool convolutions() {
    mst_model *model = nullptr;
    if (mst_model_create(&model)) return false;
    mst_output x = mst_input(model, MST_SHAPE(16, 16, 2));
    x = mst_zero_padding2d(mst_rescaling(x, .scale = 0.5F, .offset = -1), .sides = MST_AXES(0, 1, 0, 1));
    x = mst_power(x, .exponent = 3, .name = "cube");
    x = mst_conv2d(x, 8, 3, .strides = 2, .padding = MST_PADDING_SAME, .no_bias = true);
    x = mst_re_lu(mst_batch_normalization(x, .momentum = 0.9F, .synchronized = true), .max_value = 6);
    x = mst_depthwise_conv2d(x, 3, .depth_multiplier = 2);
    x = mst_group_normalization(mst_unit_normalization(x), .groups = 8);
    x = mst_layer_normalization(x, .axes = MST_AXES(-2, -1));
    x = mst_conv2d_transpose(mst_up_sampling2d(x, .size = 3), 4, 3, .padding = MST_PADDING_SAME, .no_bias = true);
    x = mst_average_pooling2d(mst_max_pooling2d(x), .pool_size = 2, .strides = 1);
    x = mst_cropping2d(mst_separable_conv2d(x, 4, 1, .pointwise_l2 = 0.1F), .sides = MST_AXES(0, 1, 1, 0));
    mst_output a = mst_global_average_pooling2d(x), b = mst_global_max_pooling2d(x);
    mst_output row = mst_input(model, MST_SHAPE(32, 2));
    row = mst_average_pooling1d(mst_max_pooling1d(mst_conv1d(row, 4, 3, .causal = true)), .pool_size = 3);
    row = mst_conv1d_transpose(row, 3, 2, .strides = 2);
    mst_output block = mst_conv3d(mst_input(model, MST_SHAPE(4, 4, 4, 1)), 2, MST_AXES(3), .padding = MST_PADDING_SAME);
    block = mst_conv3d_transpose(block, 2, MST_AXES(1, 2, 2), .strides = MST_AXES(2));
    block = mst_cropping3d(mst_zero_padding3d(mst_up_sampling3d(block), .padding = 2), .cropping = 3);
    block = mst_average_pooling3d(mst_max_pooling3d(block), .pool_size = MST_AXES(2), .strides = MST_AXES(1));
    mst_concatenate(MST_OUTPUTS(mst_global_average_pooling3d(block), mst_global_max_pooling3d(block)));
    row = mst_depthwise_conv1d(mst_separable_conv1d(row, 4, 2), 2, .padding = MST_PADDING_SAME);
    row = mst_zero_padding1d(mst_cropping1d(mst_up_sampling1d(row, .size = 3)), .padding = 2);
    mst_output c = mst_global_average_pooling1d(row), d = mst_global_max_pooling1d(row);
    mst_tensor *indices = nullptr, *scales = nullptr;
    if (mst_tensor_create(MST_I64, MST_SHAPE(2), &indices) || mst_tensor_create(MST_F32, MST_SHAPE(2), &scales))
        return false;
    mst_output e = mst_rescaling(mst_take(c, indices, .axis = 1), .scales = scales);
    mst_tensor_release(indices);
    mst_tensor_release(scales);
    mst_concatenate(MST_OUTPUTS(a, b, c, d, e));
    const bool good = !mst_model_check(model) && !mst_model_summary(model, nullptr, stdout);
    mst_model_destroy(model);
    return good;
}

static bool sequences() {
    mst_model *model = nullptr;
    if (mst_model_create(&model)) return false;
    mst_output x = mst_input(model, MST_SHAPE(6, 4));
    x = mst_multi_head_attention(MST_OUTPUTS(x, x), 2, 3, .dropout = 0.1F, .causal = true);
    x = mst_multi_head_attention(x, 2, 2, .num_key_value_heads = 1, .rotary_base = 10000);
    x = mst_position_embedding(mst_rms_normalization(x, .epsilon = 0.1F), .sequence_length = 6, .name = "places");
    x = mst_permute(mst_permute(x, MST_AXES(2, 1)), MST_AXES(2, 1), .name = "back");
    x = mst_masking(x, .mask_value = 2);
    x = mst_bidirectional(x, 4, .cell = MST_RECURRENT_GRU, .merge_mode = MST_MERGE_MODE_SUM, .return_sequences = true);
    x = mst_lstm(x, 5, .activation = MST_CELL_RELU, .return_sequences = true, .no_bias = true);
    x = mst_gru(x, 3, .recurrent_activation = MST_CELL_TANH, .return_sequences = true, .go_backwards = true);
    x = mst_time_distributed(x, MST_INNER(dense, .units = 5, .activation = MST_RELU), .name = "each");
    x = mst_repeat_vector(mst_global_average_pooling1d(x), 5);
    mst_simple_rnn(x, 3, .activation = MST_CELL_RELU, .go_backwards = true);
    const bool good = !mst_model_check(model) && !mst_model_summary(model, nullptr, stdout);
    mst_model_destroy(model);
    return good;
}

static bool networks() {
    mst_model *model[6] = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
    bool good = true;
    for (mst_model *&each : model) good = good && !mst_model_create(&each);
    if (!good) return false;
    mst_mobilenet_v2(model[0], .input_shape = MST_SHAPE(33, 40, 3), .alpha = 0.35, .classes = 4);
    mst_resnet50(model[1], .no_top = true);
    mst_lenet(model[2]);
    mst_unet(model[4], .input_shape = MST_SHAPE(16, 32, 1), .alpha = 0.05);
    mst_text_cnn(model[3], .input_shape = MST_SHAPE(40), .vocabulary_size = 50, .classes = 4);
    mst_gpt(model[5], .layers = 1, .width = 8, .heads = 2, .vocabulary_size = 11, .positions = 4);
    for (mst_model *each : model) {
        good = !mst_model_check(each) && good;
        mst_model_destroy(each);
    }
    return good;
}

static bool shared_embedding() {
    mst_model *model = nullptr;
    if (mst_model_create(&model)) return false;
    const mst_output words = mst_input(model, MST_SHAPE(6), .dtype = MST_I32);
    mst_embedding_logits(mst_embedding(words, 11, 4, .name = "words"), "words", .name = "logits");
    const bool good = !mst_model_check(model);
    mst_model_destroy(model);
    return good;
}

static bool random_layers() {
    mst_model *model = nullptr;
    if (mst_model_create(&model)) return false;
    mst_output x = mst_input(model, MST_SHAPE(6, 8, 3));
    x = mst_random_flip(x, .mode = MST_PICTURE_FLIP_HORIZONTAL);
    x = mst_random_rotation(x, .upper = 0.1F, .fill_mode = MST_PICTURE_FILL_WRAP, .seed = 1);
    x = mst_random_translation(x, .height_upper = 0.2F, .width_lower = -0.1F, .interpolation = MST_PICTURE_NEAREST);
    x = mst_random_zoom(x, .height_upper = 0.2F, .fill_value = 1);
    x = mst_resizing(x, 6, 8, .interpolation = MST_RESIZING_AREA);
    x = mst_random_brightness(mst_random_contrast(x, .upper = 0.5F, .high = 1), .lower = -0.1F, .seed = 2);
    x = mst_gaussian_noise(mst_spatial_dropout2d(x, .rate = 0.1F), .stddev = 0.1F);
    x = mst_gaussian_dropout(mst_layer_scale(x, 3, .init_values = 1), .rate = 0.1F);
    x = mst_dropout(x, .rate = 0.1F, .noise_shape = MST_SHAPE(-1, 1, 1, 1));
    x = mst_scaled_add(MST_OUTPUTS(x, mst_alpha_dropout(x, .rate = 0.1F)), .scale = 0.5F);
    mst_spatial_dropout3d(mst_reshape_to(x, MST_SHAPE(6, 8, 3, 1)), .rate = 0.1F);
    mst_spatial_dropout1d(mst_reshape_to(x, MST_SHAPE(48, 3)), .rate = 0.1F, .seed = 3);
    const bool good = !mst_model_check(model) && !mst_model_summary(model, nullptr, stdout);
    mst_model_destroy(model);
    return good;
}

static bool models() {
    mst_model *model = nullptr;
    mst_tensor *parts[2] = {nullptr, nullptr};
    mst_dataset *data = nullptr;
    if (mst_model_create(&model) || mst_tensor_create(MST_F32, MST_SHAPE(8, 5), &parts[0]) ||
        mst_tensor_create(MST_I64, MST_SHAPE(8), &parts[1]))
        return false;
    data = mst_data_shuffle(mst_data_from_tensors(parts, 2), .seed = 1);
    mst_dataset_release(mst_data_pad_sequences(mst_dataset_retain(data), .length = 8));
    mst_dataset_release(mst_data_vectorize_text(mst_dataset_retain(data), .max_tokens = 100, .sequence_length = 8));
    mst_dense(model, 6, .activation = MST_RELU, .kernel_initializer = mst_he_normal_initializer());
    mst_dropout(model, .rate = 0.1F, .seed = 7);
    mst_activate(mst_flatten(mst_reshape_to(model, MST_SHAPE(2, 3), .name = "two"), .name = "flat"), MST_TANH);
    mst_output h = mst_dense(model, 10);
    mst_merge(MST_OUTPUTS(h, mst_lambda(h, same)), MST_MERGE_AVERAGE);
    const mst_weight *weight = nullptr;
    std::int64_t count = 0;
    bool good = !mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .metric = {MST_METRIC_ACCURACY},
                             .session = {.devices = "cpu:1"}, .seed = 1) &&
                !mst_fit(model, .data = data, .batch_size = 4, .epochs = 2) &&
                !mst_model_weights(model, &weight, &count) && count == 4 && functional() && convolutions() &&
                sequences() && networks() && shared_embedding() && random_layers() &&
                mst_model_save(model, "model.pickle", .optimizer = &mst_sgd()) == MST_INVALID;
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (mst_tensor *part : parts) mst_tensor_release(part);
    return good;
}

// A cluster of one worker is no cluster.
static bool tasks() {
    mst_cluster *cluster = nullptr;
    mst_task *task = nullptr;
    if (mst_cluster_from_tf_config("{}", &cluster)) return false;
    const mst_status status = mst_task_open(&task, .cluster = cluster, .timeout = 1, .recovery_timeout = 60);
    const mst_status served = mst_server_run(.cluster = cluster, .timeout = 1);
    mst_task_server *server = nullptr;
    const mst_status started = mst_task_server_start(&server, .cluster = cluster, .devices = "cpu:1/1");
    mst_cluster_release(cluster);
    return status == MST_INVALID && !task && served == MST_INVALID && started == MST_INVALID && !server;
}

// A graph without variables of its own gets a global_step, whose value a new session finds.
static bool monitored() {
    mst_graph *graph = nullptr;
    mst_monitored_session *session = nullptr;
    if (mst_graph_create(&graph)) return false;
    const bool made = !mst_monitored_session_create(graph, &session, .session = {.devices = "cpu:1/1"}, .last_step = 1);
    const bool good = made && !mst_monitored_session_should_stop(session) && mst_monitored_session_step(session) == 0;
    const mst_status closed = mst_monitored_session_close(session);
    mst_graph_destroy(graph);
    return good && !closed;
}

int main() {
    const bool good = optimizers_and_schedules() && graphs() && models() && tasks() && monitored();
    std::puts(good ? "every macro works in C++" : mst_error()->message);
    return good ? 0 : 1;
}
