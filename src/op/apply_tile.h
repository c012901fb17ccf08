/* One tile of apply_gradients, for element type T; included once for each. Every step is element by element, so where
 * a tile begins, and which device has it, does not show in the result. */

/* sum[i] = a[i] + b[i] */
MST_SIMD static void MST_NAME(add)(T *restrict sum, const T *restrict a, const T *restrict b, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

MST_SIMD static void MST_NAME(add_to)(T *restrict sum, const T *restrict a, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] += a[i];
}

/* sum = gradient + l2 * w + l1 * sign(w) */
MST_SIMD static void MST_NAME(add_penalty)(T *restrict sum, const T *restrict gradient, const T *restrict w, T l1, T l2,
                                           int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = gradient[i] + (l2 * w[i] + l1 * (T)((w[i] > 0) - (w[i] < 0)));
}

/* Sum of squares in LANES interleaved sums: the same for every vector width. */
MST_SIMD static T MST_NAME(sum_squares)(const T *restrict w, int64_t count) {
    T lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += w[i + k] * w[i + k];
    for (int k = 0; i < count; i++, k++) lane[k] += w[i] * w[i];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

/* The usual case in one pass: sum = gradient + l2 * w, and the sum of squares of w in the order of sum_squares. */
MST_SIMD static T MST_NAME(add_l2)(T *restrict sum, const T *restrict gradient, const T *restrict w, T l2,
                                   int64_t count) {
    T lane[LANES] = {0}, squares = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) {
            lane[k] += w[i + k] * w[i + k];
            sum[i + k] = gradient[i + k] + l2 * w[i + k];
        }
    for (int k = 0; i < count; i++, k++) {
        lane[k] += w[i] * w[i];
        sum[i] = gradient[i] + l2 * w[i];
    }
    for (int k = 0; k < LANES; k++) squares += lane[k];
    return squares;
}

static T MST_NAME(penalty_value)(const T *w, const mst_penalty *penalty, int64_t count) {
    T value = 0;
    if (penalty->l2 != 0) value += (T)penalty->l2 * (T)0.5 * MST_NAME(sum_squares)(w, count);
    if (penalty->l1 != 0) {
        T sum = 0;
        for (int64_t i = 0; i < count; i++) sum += w[i] < 0 ? -w[i] : w[i];
        value += (T)penalty->l1 * sum;
    }
    return value;
}

/* may work in place */
MST_SIMD static void MST_NAME(clip)(T *clipped, const T *gradient, T limit, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        T g = gradient[i];
        g = g > limit ? limit : g; /* NaN stays */
        clipped[i] = g < -limit ? -limit : g;
    }
}

MST_SIMD static void MST_NAME(shrink)(T *restrict w, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) w[i] -= w[i] * factor; /* not w * (1 - factor): that loses digits of factor */
}

/* average -= (1 - decay) * (average - w) */
MST_SIMD static void MST_NAME(average)(T *restrict average, const T *restrict w, T rest, int64_t count) {
    for (int64_t i = 0; i < count; i++) average[i] -= rest * (average[i] - w[i]);
}

/* The gradients of all shards in a fixed tree: as a binary counter, which holds a partial sum for each of its ones. */
static const T *MST_NAME(sum_shards)(const mst_array *gradient, int shards, int64_t offset, int64_t count, T *buffer) {
    const T *first = (const T *)gradient[0].data + offset;
    if (shards == 1) return first;
    if (shards == 2) {
        MST_NAME(add)(buffer, first, (const T *)gradient[1].data + offset, count);
        return buffer;
    }
    int level = 0; /* buffers in use */
    for (int s = 0; s < shards; s++) {
        memcpy(buffer + level * TILE, (const T *)gradient[s].data + offset, (size_t)count * sizeof(T));
        level++;
        for (int ones = s + 1; ones % 2 == 0; ones /= 2) {
            level--;
            MST_NAME(add_to)(buffer + (level - 1) * TILE, buffer + level * TILE, count);
        }
    }
    while (level > 1) {
        level--;
        MST_NAME(add_to)(buffer + (level - 1) * TILE, buffer + level * TILE, count);
    }
    return buffer;
}

static void MST_NAME(tile)(const apply *a, int v, int64_t offset, int64_t count, T *buffer, void *penalty_out) {
    const mst_apply_options *o = a->options;
    const mst_array *src = &a->src[mst_apply_source(o, v)];
    const mst_array *slots = src + o->num_copies, *averages = slots + o->num_slots;
    const mst_array *gradients = averages + (o->averages ? 1 : 0);
    const mst_penalty *penalty = &o->penalty[v];
    T *w = (T *)src[0].data + offset;
    const T *gradient = MST_NAME(sum_shards)(gradients, o->num_shards, offset, count, buffer);
    T *sum = buffer + (gradient == buffer ? TILE : 0);
    bool only_l2 = penalty->l1 == 0 && penalty->l2 != 0 && !o->penalty_is_in_gradient;
    if (only_l2) {
        *(T *)penalty_out = (T)penalty->l2 * (T)0.5 * MST_NAME(add_l2)(sum, gradient, w, (T)penalty->l2, count);
        gradient = sum;
    } else {
        *(T *)penalty_out = MST_NAME(penalty_value)(w, penalty, count);
        if (!o->penalty_is_in_gradient && penalty->l1 != 0) {
            MST_NAME(add_penalty)(sum, gradient, w, (T)penalty->l1, (T)penalty->l2, count);
            gradient = sum;
        }
    }
    if (a->optimizer->clip_value > 0) {
        MST_NAME(clip)(buffer, gradient, (T)a->optimizer->clip_value, count);
        gradient = buffer;
    }
    if (a->optimizer->weight_decay > 0) MST_NAME(shrink)(w, (T)(a->learning_rate * a->optimizer->weight_decay), count);
    mst_rule_tile tile = {.count = count, .weight = w, .gradient = gradient, .scalar = a->scalar};
    for (int k = 0; k < o->num_slots; k++) tile.slot[k] = (T *)slots[k].data + offset;
    a->rule->MST_NAME(update)(a->optimizer, &tile);
    if (o->averages) MST_NAME(average)((T *)averages->data + offset, w, (T)a->average_rest, count);
    for (int c = 1; c < o->num_copies; c++) memcpy((T *)src[c].data + offset, w, (size_t)count * sizeof(T));
}
