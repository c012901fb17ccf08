/* One unit of update, for element type T; included once for each. Every step is element by element, so where a unit or
 * a tile begins, and which device has it, does not show in the result. */

/* ---- gradients ---- */

/* Elements from one buffer of a whole unit to the next. */
static int64_t MST_NAME(whole_level)(const variable *known) {
    return (int64_t)(mst_align((size_t)known->unit * sizeof(T)) / sizeof(T));
}

/* sum[i] = a[i] + b[i] */
MST_SIMD static void MST_NAME(add)(T *sum, const T *a, const T *b, int64_t count) {
    for (int64_t i = 0; i < count; i++) sum[i] = a[i] + b[i];
}

/* Writes the rows of a source to their places in OUT, or with SQUARES the sums of squares that lie behind them. */
static void MST_NAME(take_rows)(const variable *known, const mst_array *src, const unit *x, bool squares, T *out) {
    const T *rows = (const T *)src[0].data + (squares ? known->columns : 0);
    const int64_t first = x->begin / known->columns, last = (x->begin + x->count - 1) / known->columns;
    int64_t from, to, at, size;
    find_rows(&src[1], first, last, &from, &to);
    for (int64_t n = from; n < to; n++) {
        const int64_t row = ((const int64_t *)src[1].data)[1 + n];
        row_part(known, x, row, &at, &size);
        memcpy(out + x->place[row - first], rows + n * known->width + (at - row * known->columns),
               (size_t)size * sizeof(T));
    }
}

/* Makes leaf I of the gradient of a whole unit in OUT, or of the sums of its squares. Rows that it does not have become
 * 0. */
static mst_status MST_NAME(make_leaf)(const update *u, int32_t k, int32_t i, const unit *x, bool squares, T *out) {
    const mst_update_variable *v = &u->state->options->variable[k];
    const variable *known = &u->state->variables[k];
    const mst_array *src = &u->src[leaf_source(v, 0, i)];
    if (v->kind == MST_GRADIENT_SPARSE) {
        memset(out, 0, (size_t)x->elements * sizeof(T));
        for (int32_t p = 0; p < v->num_pieces; p++)
            MST_NAME(take_rows)(known, &u->src[leaf_source(v, p, i)], x, squares, out);
        return MST_OK;
    }
    return mst_product_run(known->product[i], x->begin / known->unit, x->thread, x->pad, src[0].data, src[1].data, NULL,
                           (float *)(void *)out);
}

/* The sum over all shards of a whole unit, in BUFFER, whose levels are a unit apart; or of the sums of its squares. */
static mst_status MST_NAME(sum_unit)(const update *u, int32_t k, const unit *x, bool squares, T *buffer) {
    const mst_update_variable *v = &u->state->options->variable[k];
    const int32_t shards = u->state->options->num_shards;
    const int64_t level = MST_NAME(whole_level)(&u->state->variables[k]);
    for (int32_t i = 0; i < v->num_leaves; i++, buffer += level) {
        MST_TRY(MST_NAME(make_leaf)(u, k, i, x, squares, buffer));
        for (mst_shards s = v->leaf[i]; mst_shards_is_right(s, shards); s = mst_shards_parent(s, shards)) {
            buffer -= level;
            MST_NAME(add)(buffer, buffer, buffer + level, x->elements);
        }
    }
    return MST_OK;
}

/* The same for a tile of a dense gradient. With one leaf this is the source itself; else the sum is in BUFFER, whose
 * levels are a tile apart. */
static const T *MST_NAME(sum_tile)(const update *u, const mst_update_variable *v, int32_t piece, int64_t at,
                                   int64_t count, T *buffer) {
    const int32_t shards = u->state->options->num_shards;
    const T *sum[MST_SHARD_LEVELS] = {NULL};
    int32_t height = 0;
    for (int32_t i = 0; i < v->num_leaves; i++) {
        sum[height++] = (const T *)u->src[leaf_source(v, piece, i)].data + (at - v->piece[piece].first);
        for (mst_shards s = v->leaf[i]; height > 1 && mst_shards_is_right(s, shards);
             s = mst_shards_parent(s, shards)) {
            T *both = buffer + (--height - 1) * TILE;
            MST_NAME(add)(both, sum[height - 1], sum[height], count);
            sum[height - 1] = both;
        }
    }
    return sum[0];
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

/* The same for a gradient, in f64. */
MST_SIMD static double MST_NAME(norm)(const T *g, int64_t count) {
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += (double)g[i + k] * (double)g[i + k];
    for (int k = 0; i < count; i++, k++) lane[k] += (double)g[i] * (double)g[i];
    for (int k = 0; k < LANES; k++) sum += lane[k];
    return sum;
}

/* The sum of squares that are there already, likewise. */
MST_SIMD static double MST_NAME(total)(const T *squares, int64_t count) {
    double lane[LANES] = {0}, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += (double)squares[i + k];
    for (int k = 0; i < count; i++, k++) lane[k] += (double)squares[i];
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

/* The weights to compute with: the master, or else a copy. All copies hold the same values; this device's own is in its
 * cache. */
static T *MST_NAME(weights)(const update *u, int32_t k) {
    const mst_update_variable *v = &u->state->options->variable[k];
    if (v->master >= 0) return u->src[v->master].data;
    return u->src[v->weight + own_copy(u)].data;
}

/* Weights AT to AT + COUNT - 1 to read; ROOM is memory for them. */
static const T *MST_NAME(weights_at)(const update *u, int32_t k, int64_t at, int64_t count, T *room) {
    const mst_update_variable *v = &u->state->options->variable[k];
    const T *w = MST_NAME(weights)(u, k) + at;
    if (v->master < 0) return w;
    join_master(room, (const uint16_t *)u->src[v->weight + own_copy(u)].data + at, w, count);
    return room;
}

/* Where the weight was assigned since the last step, the master takes its value. */
static void MST_NAME(adopt)(const update *u, int32_t k, int64_t at, int64_t count) {
    const mst_update_variable *v = &u->state->options->variable[k];
    if (v->master >= 0) (void)MST_NAME(weights_at)(u, k, at, count, MST_NAME(weights)(u, k) + at);
}

/* The penalty of a unit, added up tile by tile as in a step. */
static T MST_NAME(penalties)(const update *u, int32_t k, const unit *x) {
    const mst_update_variable *v = &u->state->options->variable[k];
    T sum = 0, room[TILE];
    for (int64_t at = x->begin, end = x->begin + x->count; at < end; at += TILE) {
        const int64_t count = end - at < TILE ? end - at : TILE;
        sum += MST_NAME(penalty_value)(MST_NAME(weights_at)(u, k, at, count, room), (T)v->l1, (T)v->l2, count);
    }
    return sum;
}

/* ---- the rest of a step ---- */

MST_SIMD static void MST_NAME(multiply)(T *product, const T *gradient, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) product[i] = gradient[i] * factor;
}

MST_SIMD static void MST_NAME(shrink)(T *restrict w, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) w[i] -= w[i] * factor; /* not w * (1 - factor): that loses digits of factor */
}

static void MST_NAME(decay)(const update *u, int32_t k, int64_t at, int64_t count) {
    const double rate = u->scalar[MST_SCALAR_LEARNING_RATE] * u->state->options->optimizer->weight_decay;
    if (rate != 0) MST_NAME(shrink)(MST_NAME(weights)(u, k) + at, (T)rate, count);
}

/* Brings up to date what depends on new weights: their moving average and the other copies. */
static void MST_NAME(follow)(const update *u, int32_t k, int64_t at, int64_t count) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    const T *w = MST_NAME(weights)(u, k) + at;
    if (v->average >= 0)
        MST_NAME(mst_moving_average)((T *)u->src[v->average].data + at, w, (T)u->scalar[MST_SCALAR_AVERAGE], count);
    for (int32_t c = 0; c < o->num_copies; c++)
        if (v->master >= 0)
            round_copy((uint16_t *)u->src[v->weight + c].data + at, w, count);
        else if (c != own_copy(u))
            memcpy((T *)u->src[v->weight + c].data + at, w, (size_t)count * sizeof(T));
}

/* root = sqrt(squares) * factor */
MST_SIMD static void MST_NAME(take_root)(T *root, const T *squares, T factor, int64_t count) {
    for (int64_t i = 0; i < count; i++) root[i] = sqrt(squares[i]) * factor;
}

/* Makes the new weights of a tile from its summed GRADIENT, and adds its penalty to *PENALTY. SQUARES may be NULL: they
 * are those of the gradient. BUFFER holds a tile. With ALONE only the rule is applied: the caller has decayed the weights
 * and updates averages and copies later. */
static void MST_NAME(step_tile)(const update *u, int32_t k, int64_t at, int64_t count, bool alone, const T *gradient,
                                const T *squares, T *buffer, T *penalty) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    const T factor = o->factors < 0 ? 1 : (T)((const double *)u->src[o->factors].data)[v->number];
    T root[TILE];
    T *w = MST_NAME(weights)(u, k) + at;
    if (!alone) MST_NAME(adopt)(u, k, at, count);
    if (v->l1 == 0 && v->l2 != 0) {
        *penalty += (T)v->l2 * (T)0.5 * MST_NAME(add_l2)(buffer, gradient, w, (T)v->l2, count);
        gradient = buffer;
    } else if (v->l1 != 0) {
        *penalty += MST_NAME(penalty_value)(w, (T)v->l1, (T)v->l2, count);
        MST_NAME(add_penalty)(buffer, gradient, w, (T)v->l1, (T)v->l2, count);
        gradient = buffer;
    }
    if (o->factors >= 0) {
        MST_NAME(multiply)(buffer, gradient, factor, count);
        gradient = buffer;
    }
    if (o->optimizer->clip_value > 0 && !v->clipped) {
        MST_NAME(mst_clip_value)(buffer, gradient, (T)o->optimizer->clip_value, count);
        gradient = buffer;
    }
    if (!alone) MST_NAME(decay)(u, k, at, count);
    if (o->optimizer->clip_global_norm > 0) squares = NULL; /* Keras adds rows up when it multiplies by the factor */
    if (squares) MST_NAME(take_root)(root, squares, factor, count);
    mst_rule_tile tile = {
        .count = count, .weight = w, .gradient = gradient, .root = squares ? root : gradient, .scalar = u->scalar};
    for (int i = 0; i < o->num_slots; i++) tile.slot[i] = (T *)u->src[v->slot + i].data + at;
    u->state->rule->MST_NAME(update)(o->optimizer, &tile);
    if (!alone) MST_NAME(follow)(u, k, at, count);
}

/* The sum of squares of a tile's gradient with its penalty; with SQUARES it is theirs. */
static double MST_NAME(norm_tile)(const update *u, int32_t k, int64_t at, int64_t count, const T *gradient,
                                  const T *squares, T *buffer) {
    const mst_update_variable *v = &u->state->options->variable[k];
    if (squares) return MST_NAME(total)(squares, count);
    if (v->l1 == 0 && v->l2 == 0) return MST_NAME(norm)(gradient, count);
    T room[TILE];
    const T *w = MST_NAME(weights_at)(u, k, at, count, room);
    MST_NAME(add_penalty)(buffer, gradient, w, (T)v->l1, (T)v->l2, count);
    return MST_NAME(norm)(buffer, count);
}

/* ---- a unit ---- */

/* Sums of a unit. */
typedef struct MST_NAME(results) {
    T penalty;
    double norm;
} MST_NAME(results);

/* Elements AT to AT + COUNT - 1 of a unit, tile by tile. GRADIENT is NULL where it is dense and lies in the sources;
 * SQUARES where they are those of the gradient. BUFFER: tiles, one a level and one more. */
static void MST_NAME(tiles)(const update *u, int32_t k, int64_t at, int64_t count, bool alone, const T *gradient,
                            const T *squares, T *buffer, MST_NAME(results) * out) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    T *own = buffer + (int64_t)u->state->variables[k].levels * TILE;
    int32_t piece = 0;
    while (piece + 1 < v->num_pieces && v->piece[piece + 1].first <= at) piece++;
    for (const int64_t end = at + count; at < end; at += TILE) {
        const int64_t size = end - at < TILE ? end - at : TILE;
        const T *sum = gradient;
        if (v->kind != MST_GRADIENT_DENSE)
            gradient += size;
        else
            sum = MST_NAME(sum_tile)(u, v, piece, at, size, buffer);
        if (o->purpose == MST_UPDATE_NORMS)
            out->norm += MST_NAME(norm_tile)(u, k, at, size, sum, squares, own);
        else
            MST_NAME(step_tile)(u, k, at, size, alone, sum, squares, own, &out->penalty);
        if (squares) squares += size;
    }
}

/* The rows of a sparse gradient, in runs. */
static void MST_NAME(row_runs)(const update *u, int32_t k, const unit *x, const T *gradient, const T *squares,
                               T *buffer, MST_NAME(results) * out) {
    const mst_update_options *o = u->state->options;
    const variable *known = &u->state->variables[k];
    const int64_t first = x->begin / known->columns, last = (x->begin + x->count - 1) / known->columns;
    const bool alone = known->rows_only && o->purpose == MST_UPDATE_STEP &&
                       (o->optimizer->weight_decay > 0 || o->variable[k].average >= 0);
    if (alone) {
        MST_NAME(adopt)(u, k, x->begin, x->count);
        MST_NAME(decay)(u, k, x->begin, x->count);
    }
    for (int64_t r = first; r <= last; r++) {
        int64_t at, size, next, more;
        if (x->place[r - first] < 0) continue;
        const int32_t place = x->place[r - first];
        row_part(known, x, r, &at, &size);
        for (; r < last && x->place[r + 1 - first] >= 0; size += more) row_part(known, x, ++r, &next, &more);
        MST_NAME(tiles)(u, k, at, size, alone, gradient + place, squares ? squares + place : NULL, buffer, out);
    }
    if (alone) MST_NAME(follow)(u, k, x->begin, x->count);
}

/* Unit NUMBER of variable K. WORKSPACE: buffers of whole units, then of tiles, then places of rows, then what oneDNN
 * asks for. */
static mst_status MST_NAME(unit)(const update *u, int32_t k, int64_t number, char *workspace, int thread) {
    const mst_update_options *o = u->state->options;
    const mst_update_variable *v = &o->variable[k];
    const variable *known = &u->state->variables[k];
    unit x = {.begin = number * known->unit, .thread = thread, .pad = workspace + u->state->buffer};
    const int64_t rest = known->count - x.begin;
    x.elements = x.count = rest < known->unit ? rest : known->unit;
    MST_NAME(results) out = {0};
    T *whole = (T *)(void *)workspace, *buffer = whole, *squares = NULL;
    if (v->kind != MST_GRADIENT_DENSE) buffer += known->levels * MST_NAME(whole_level)(known);
    if (v->squares) {
        squares = buffer;
        buffer += known->levels * MST_NAME(whole_level)(known);
    }
    x.place = (int32_t *)(void *)(buffer + (int64_t)(known->levels + 1) * TILE);
    if (o->purpose == MST_UPDATE_PENALTIES) {
        out.penalty = MST_NAME(penalties)(u, k, &x);
    } else if (v->kind == MST_GRADIENT_DENSE) {
        MST_NAME(tiles)(u, k, x.begin, x.count, false, NULL, NULL, buffer, &out);
    } else {
        if (v->kind == MST_GRADIENT_SPARSE) x.elements = place_rows(u, k, &x);
        if (x.elements) MST_TRY(MST_NAME(sum_unit)(u, k, &x, false, whole));
        if (x.elements && squares) MST_TRY(MST_NAME(sum_unit)(u, k, &x, true, squares));
        if (v->kind == MST_GRADIENT_SPARSE)
            MST_NAME(row_runs)(u, k, &x, whole, squares, buffer, &out);
        else
            MST_NAME(tiles)(u, k, x.begin, x.count, false, whole, NULL, buffer, &out);
    }
    const int64_t at = known->first_unit + number;
    if (o->purpose == MST_UPDATE_NORMS)
        ((double *)u->args->dst[0].data)[at] = out.norm;
    else
        ((T *)u->args->dst[0].data)[at] = out.penalty;
    return MST_OK;
}
