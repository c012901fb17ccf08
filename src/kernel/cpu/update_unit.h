/* One unit of update, for element type T; included once for each. Every step is element by element, so where a unit or
 * a tile begins, and which device has it, does not show in the result. */

/* ---- gradients ---- */

/* sum[i] = a[i] + b[i] */
MST_SIMD static void MST_NAME(add)(T *sum, const T *a, const T *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

/* Rows of the gradient of gather that lie in a unit are added up in the order in which they come. */
static void MST_NAME(add_rows)(const update *u, const mst_array *rows, const mst_array *indices, int64_t columns,
                               int64_t begin, int64_t count, T *out) {
    (void)u;
    memset(out, 0, (size_t)count * sizeof(T));
    const int64_t first = begin / columns, end = (begin + count) / columns;
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t row =
            indices->dtype == MST_I32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
        if (row < first || row >= end) continue;
        const T *from = (const T *)rows->data + i * columns;
        T *to = out + (row - first) * columns;
        for (int64_t j = 0; j < columns; j++) to[j] += from[j];
    }
}

/* Makes leaf I of the gradient of elements BEGIN to BEGIN + COUNT - 1, a whole unit, in OUT. */
static mst_status MST_NAME(make_leaf)(const update *u, int32_t k, int32_t i, int64_t begin, int64_t count, void *pad,
                                      int thread, T *out) {
    const mst_update_variable *v = &u->state->options->variable[k];
    const variable *known = &u->state->variables[k];
    const mst_array *src = &u->src[leaf_source(v, 0, i)];
    if (v->kind == MST_GRADIENT_SPARSE) {
        MST_NAME(add_rows)(u, &src[0], &src[1], known->columns, begin, count, out);
        return MST_OK;
    }
    return mst_product_run(known->product[i], begin / known->unit, thread, pad, src[0].data, src[1].data, NULL,
                           (float *)(void *)out);
}

/* The sum over shards FIRST to FIRST + SHARDS - 1 of a whole unit, in BUFFER, whose levels are a unit apart. */
static mst_status MST_NAME(sum_unit)(const update *u, int32_t k, int32_t first, int32_t shards, int32_t *leaf,
                                     int64_t begin, int64_t count, T *buffer, void *pad, int thread) {
    const mst_update_variable *v = &u->state->options->variable[k];
    if (v->leaf[*leaf].first == first && v->leaf[*leaf].count == shards)
        return MST_NAME(make_leaf)(u, k, (*leaf)++, begin, count, pad, thread, buffer);
    const int64_t level = (int64_t)(mst_align((size_t)u->state->variables[k].unit * sizeof(T)) / sizeof(T));
    const int32_t half = mst_tree_half(shards);
    MST_TRY(MST_NAME(sum_unit)(u, k, first, half, leaf, begin, count, buffer, pad, thread));
    MST_TRY(MST_NAME(sum_unit)(u, k, first + half, shards - half, leaf, begin, count, buffer + level, pad, thread));
    MST_NAME(add)(buffer, buffer, buffer + level, count);
    return MST_OK;
}

/* The same of a tile of a dense gradient, where it stands or in BUFFER, whose levels are a tile apart. */
static const T *MST_NAME(sum_tile)(const update *u, const mst_update_variable *v, int32_t piece, int32_t first,
                                   int32_t shards, int32_t *leaf, int64_t at, int64_t count, T *buffer) {
    if (v->leaf[*leaf].first == first && v->leaf[*leaf].count == shards)
        return (const T *)u->src[leaf_source(v, piece, (*leaf)++)].data + (at - v->piece[piece].first);
    const int32_t half = mst_tree_half(shards);
    const T *left = MST_NAME(sum_tile)(u, v, piece, first, half, leaf, at, count, buffer);
    const T *right = MST_NAME(sum_tile)(u, v, piece, first + half, shards - half, leaf, at, count, buffer + TILE);
    MST_NAME(add)(buffer, left, right, count);
    return buffer;
}

/* ---- penalties ---- */

/* sum = gradient + l2 * w + l1 * sign(w) */
MST_SIMD static void MST_NAME(add_penalty)(T *sum, const T *gradient, const T *w, T l1, T l2, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = gradient[i] + (l2 * w[i] + l1 * (T)((w[i] > 0) - (w[i] < 0)));
}

/* Sum of squares in LANES interleaved sums: the same for every vector width. */
MST_SIMD static T MST_NAME(sum_squares)(const T *w, int64_t count) {
    T lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += w[i + k] * w[i + k];
    for (int k = 0; i < count; i++, k++) lane[k] += w[i] * w[i];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

/* The same of a gradient, in f64. */
MST_SIMD static double MST_NAME(norm)(const T *g, int64_t count) {
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += (double)g[i + k] * (double)g[i + k];
    for (int k = 0; i < count; i++, k++) lane[k] += (double)g[i] * (double)g[i];
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

static T MST_NAME(penalty_value)(const T *w, T l1, T l2, int64_t count) {
    T value = 0;
    if (l2 != 0) value += l2 * (T)0.5 * MST_NAME(sum_squares)(w, count);
    if (l1 != 0) {
        T sum = 0;
        for (int64_t i = 0; i < count; i++) sum += w[i] < 0 ? -w[i] : w[i];
        value += l1 * sum;
    }
    return value;
}

/* ---- the rest of a step ---- */

/* may work in place */
MST_SIMD static void MST_NAME(clip)(T *clipped, const T *gradient, T limit, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        T g = gradient[i];
        g = g > limit ? limit : g; /* NaN stays */
        clipped[i] = g < -limit ? -limit : g;
    }
}

MST_SIMD static void MST_NAME(multiply)(T *product, const T *gradient, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) product[i] = gradient[i] * factor;
}

MST_SIMD static void MST_NAME(shrink)(T *restrict w, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) w[i] -= w[i] * factor; /* not w * (1 - factor): that loses digits of factor */
}

/* average -= (1 - decay) * (average - w) */
MST_SIMD static void MST_NAME(average)(T *restrict average, const T *restrict w, T rest, int64_t count) {
    for (int64_t i = 0; i < count; i++) average[i] -= rest * (average[i] - w[i]);
}

/* From the summed GRADIENT of a tile to its new weights; its penalty is added to *PENALTY. BUFFER: a tile. */
static void MST_NAME(step_tile)(const update *u, int32_t k, int64_t at, int64_t count, const T *gradient, T *buffer,
                                T *penalty) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    /* any copy will do, and all are written: the device's own is in its cache */
    const int32_t own = u->args->part < o->num_copies ? u->args->part : 0;
    T *w = (T *)u->src[v->weight + own].data + at;
    if (v->l1 == 0 && v->l2 != 0) {
        *penalty += (T)v->l2 * (T)0.5 * MST_NAME(add_l2)(buffer, gradient, w, (T)v->l2, count);
        gradient = buffer;
    } else if (v->l1 != 0) {
        *penalty += MST_NAME(penalty_value)(w, (T)v->l1, (T)v->l2, count);
        MST_NAME(add_penalty)(buffer, gradient, w, (T)v->l1, (T)v->l2, count);
        gradient = buffer;
    }
    if (o->factors >= 0) {
        MST_NAME(multiply)(buffer, gradient, (T)((const double *)u->src[o->factors].data)[k], count);
        gradient = buffer;
    }
    if (o->optimizer->clip_value > 0) {
        MST_NAME(clip)(buffer, gradient, (T)o->optimizer->clip_value, count);
        gradient = buffer;
    }
    if (o->optimizer->weight_decay > 0)
        MST_NAME(shrink)(w, (T)(u->scalar[MST_SCALAR_LEARNING_RATE] * o->optimizer->weight_decay), count);
    mst_rule_tile tile = {.count = count, .weight = w, .gradient = gradient, .scalar = u->scalar};
    for (int i = 0; i < o->num_slots; i++) tile.slot[i] = (T *)u->src[v->slot + i].data + at;
    u->state->rule->MST_NAME(update)(o->optimizer, &tile);
    if (v->average >= 0)
        MST_NAME(average)((T *)u->src[v->average].data + at, w, (T)u->scalar[MST_SCALAR_AVERAGE], count);
    for (int c = 0; c < o->num_copies; c++)
        if (c != own) memcpy((T *)u->src[v->weight + c].data + at, w, (size_t)count * sizeof(T));
}

/* The sum of squares of a tile's gradient with its penalty. */
static double MST_NAME(norm_tile)(const update *u, int32_t k, int64_t at, int64_t count, const T *gradient, T *buffer) {
    const mst_update_variable *v = &u->state->options->variable[k];
    if (v->l1 == 0 && v->l2 == 0) return MST_NAME(norm)(gradient, count);
    MST_NAME(add_penalty)(buffer, gradient, (const T *)u->src[v->weight].data + at, (T)v->l1, (T)v->l2, count);
    return MST_NAME(norm)(buffer, count);
}

/* ---- a unit ---- */

/* Unit UNIT of variable K. WORKSPACE: buffers of whole units, then of tiles, then what oneDNN asks for. */
static mst_status MST_NAME(unit)(const update *u, int32_t k, int64_t unit, char *workspace, int thread) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    const variable *known = &u->state->variables[k];
    const int64_t begin = unit * known->unit, rest = known->count - begin;
    const int64_t count = rest < known->unit ? rest : known->unit;
    const bool whole = v->kind != MST_GRADIENT_DENSE && o->purpose != MST_UPDATE_PENALTIES;
    T *units = (T *)(void *)workspace, *buffer = units, penalty = 0;
    double norm = 0;
    int32_t piece = 0, leaf = 0;
    if (whole) {
        buffer += known->levels * (int64_t)(mst_align((size_t)known->unit * sizeof(T)) / sizeof(T));
        MST_TRY(MST_NAME(sum_unit)(u, k, 0, o->num_shards, &leaf, begin, count, units, workspace + u->state->buffer,
                                   thread));
    }
    while (piece + 1 < v->num_pieces && v->piece[piece + 1].first <= begin) piece++;
    for (int64_t at = begin; at < begin + count; at += TILE) {
        const int64_t left = begin + count - at, size = left < TILE ? left : TILE;
        T *sum = buffer + (int64_t)known->levels * TILE;
        leaf = 0;
        if (o->purpose == MST_UPDATE_PENALTIES) {
            penalty += MST_NAME(penalty_value)((const T *)u->src[v->weight].data + at, (T)v->l1, (T)v->l2, size);
            continue;
        }
        const T *gradient =
            whole ? units + (at - begin) : MST_NAME(sum_tile)(u, v, piece, 0, o->num_shards, &leaf, at, size, buffer);
        if (o->purpose == MST_UPDATE_NORMS)
            norm += MST_NAME(norm_tile)(u, k, at, size, gradient, sum);
        else
            MST_NAME(step_tile)(u, k, at, size, gradient, sum, &penalty);
    }
    const int64_t out = known->first_unit + unit;
    if (o->purpose == MST_UPDATE_NORMS)
        ((double *)u->args->dst[0].data)[out] = norm;
    else
        ((T *)u->args->dst[0].data)[out] = penalty;
    return MST_OK;
}
