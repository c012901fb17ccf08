#include "model_file/keras/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "graph/field.h"
#include "model_file/keras/constraints.h"
#include "model_file/keras/custom_class.h"
#include "model_file/keras/initializers.h"
#include "model_file/keras/not_taken.h"
#include "model_file/keras/preprocessing.h"
#include "muster/layers.h"

/* The form in which a key of Keras' configuration becomes a member of the options. */
typedef enum form {
    NONE = 0,
    NUMBER,
    NEEDED, /* a number that Keras needs, even if it is 0 */
    ABOVE,  /* a number above 0 */
    FIRST,  /* the first number of a list, or the number itself */
    SECOND, /* the second number of a list, or the number itself */
    THREE,  /* a number, or a list of three */
    ACTIVATION,
    PADDING, /* "valid", "same"; "causal" sets the member causal */
    YES,     /* a bool */
    NO,      /* a bool that is negated */
    INITIALIZER,
    REGULARIZER, /* becomes the members l1 and l2, prefixed with the name */
    CONSTRAINT,  /* of a weight; an unknown one is ignored, since it acts only in training (mst_keras_only_trains) */
    SIDES_OF_1,  /* [before, after], or a number for both; becomes two numbers */
    SIDES_OF_2,  /* [[top, bottom], [left, right]]; becomes four numbers */
    SIDES_OF_3,  /* the same for three axes; becomes six numbers */
    SHAPE,       /* a list of numbers; one may be -1 */
    NOISE,       /* a list of numbers and of null, which becomes -1; null: no dimensions */
    RANGE, /* a list of two numbers, or x for -x and x; becomes the members lower and upper, prefixed with the name */
    RANGE_GIVEN, /* the same; null: not given */
    CONTRAST,    /* a list of two numbers a and b, or x for both; becomes lower = -a and upper = b */
    BOUNDS,      /* a list of two numbers; becomes the members low and high */
    AXIS,        /* the axis of a normalization */
    AXES,        /* one number, or a list */
    CHOICE,      /* one of the names of the field; becomes the number of that name */
    TEXT,
    CELL,  /* the inner layer of Bidirectional; becomes `cell` and the members with the names of its keys */
    COPY,  /* the backward layer of Bidirectional, which must equal the forward layer */
    INNER, /* the inner layer of TimeDistributed, which has a class of its own */
    ONLY   /* becomes no member: the value must be this JSON text, null, or missing */
} form;

typedef struct member {
    form form;
    const char *key, *name; /* Keras' name, our name; for ONLY, NAME is the JSON text */
} member;

enum { MOST_MEMBERS = 26, NUM_THREE = 3, MOST_NAME = 40 };
struct mst_keras_class {
    const char *name, *type;
    member member[MOST_MEMBERS];
    const char *fixed; /* a member that the class itself sets, to VALUE; NULL: none */
    double value;
};

#include "model_file/keras/classes.inc"

enum { NUM_CLASSES = sizeof classes / sizeof *classes };

const mst_keras_class *mst_keras_class_find(const char *name) {
    for (int i = 0; i < NUM_CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0) return &classes[i];
    return NULL;
}

/* Classes whose weights are those of inner layers. All inner layers of a class have the same number of weights. */
static const struct {
    const char *class_name;
    const char *part[MST_KERAS_PARTS + 1];
} parts[] = {{"LSTM", {"cell"}},
             {"GRU", {"cell"}},
             {"SimpleRNN", {"cell"}},
             {"Bidirectional", {"forward_layer/cell", "backward_layer/cell"}},
             {"MultiHeadAttention", {"query_dense", "key_dense", "value_dense", "output_dense"}}};

const char *const *mst_keras_class_parts(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].class_name, name) == 0) return parts[i].part;
    return NULL;
}

const char *const *mst_keras_parts_at(int i) {
    return i >= 0 && (size_t)i < sizeof parts / sizeof *parts ? parts[i].part : NULL;
}

const mst_layer_type *mst_keras_class_type(const mst_keras_class *class) {
    return mst_layer_find(class->type);
}

/* The field of this name; the end of the list, without a name, if there is none. */
static const mst_field *field_of(const mst_layer_type *type, const char *name) {
    const mst_field *field = type->fields;
    while (field->name && strcmp(field->name, name) != 0) field++;
    return field;
}

/* The field whose name is that of M with NAME appended; the end of the list if there is none. */
static const mst_field *penalty_of(const mst_layer_type *type, const member *m, const char *name) {
    char whole[MOST_NAME];
    snprintf(whole, sizeof whole, "%s%s", m->name, name);
    return field_of(type, whole);
}

/* The members of two numbers. */
static const char *const range_names[] = {"lower", "upper"}, *const bound_names[] = {"low", "high"};

/* ---- reading ---- */

static void set_number(const mst_field *field, void *options, double number) {
    void *at = (char *)options + field->offset;
    switch (field->type) {
        case MST_FIELD_TYPE_I32:
        case MST_FIELD_TYPE_ENUM: *(int32_t *)at = (int32_t)number; break;
        case MST_FIELD_TYPE_I64: *(int64_t *)at = (int64_t)number; break;
        case MST_FIELD_TYPE_F32: *(float *)at = (float)number; break;
        case MST_FIELD_TYPE_F64: *(double *)at = number; break;
        case MST_FIELD_TYPE_BOOL: *(bool *)at = number != 0; break;
        default: break;
    }
}

/* Reads a number in the range of FIELD; it must be whole if FIELD is an integer. */
static mst_status read_number(const char *key, const json_t *value, const mst_field *field, void *options) {
    const bool whole = field->type == MST_FIELD_TYPE_I32 || field->type == MST_FIELD_TYPE_I64;
    const double number = json_number_value(value);
    if (!value || json_is_null(value)) return MST_OK;
    if (!json_is_number(value) || (whole && !(number >= -1e9 && number <= 1e12 && number == (double)(int64_t)number)) ||
        (field->type == MST_FIELD_TYPE_I32 && !(number <= 2e9)))
        return mst_keras_not_taken(key, value);
    if (whole && number == 0) return mst_keras_not_taken(key, value); /* 0 in the options means the default */
    set_number(field, options, number);
    /* Keeps a 0 from the file as -0, since 0 would mean "not given" (graph/field.h). */
    if (number == 0) return mst_field_given(field, (char *)options + field->offset);
    return MST_OK;
}

static const json_t *element(const json_t *value, size_t i) {
    return json_is_array(value) ? json_array_get(value, i) : value;
}

/* Reads a list of three numbers, or one number for all axes. */
static mst_status read_three(const char *key, const json_t *value, mst_axes *axes) {
    if (!value || json_is_null(value)) return MST_OK;
    if (json_is_array(value) && json_array_size(value) != NUM_THREE) return mst_keras_not_taken(key, value);
    axes->count = NUM_THREE;
    for (size_t i = 0; i < NUM_THREE; i++) {
        const json_int_t number = json_integer_value(element(value, i));
        if (number < 1 || number > 1000000) return mst_keras_not_taken(key, value);
        axes->axis[i] = (int32_t)number;
    }
    return MST_OK;
}

static mst_status read_padding(const mst_layer_type *type, const json_t *value, void *options) {
    const char *text = json_string_value(value);
    const mst_field *causal = field_of(type, "causal");
    if (!value || (text && strcmp(text, "valid") == 0)) return MST_OK;
    if (text && strcmp(text, "causal") == 0 && causal->name)
        set_number(causal, options, 1);
    else if (text && strcmp(text, "same") == 0)
        set_number(field_of(type, "padding"), options, MST_PADDING_SAME);
    else
        return mst_keras_not_taken("padding", value);
    return MST_OK;
}

/* The number of axes that M has sides for. */
static int num_sided(const member *m) {
    return (int)m->form - SIDES_OF_1 + 1;
}

static mst_status read_sides(const member *m, const json_t *value, mst_axes *sides) {
    const size_t num_axes = (size_t)num_sided(m);
    if (!value) return MST_OK;
    if (json_is_array(value) && json_array_size(value) != (num_axes == 1 ? 2 : num_axes))
        return mst_keras_not_taken(m->key, value);
    sides->count = (int32_t)(2 * num_axes);
    for (size_t i = 0; i < 2 * num_axes; i++) {
        const json_t *side = element(num_axes == 1 ? value : element(value, i / 2), i % 2);
        const json_int_t number = json_integer_value(side);
        if (!json_is_integer(side) || number < 0 || number > 1000000) return mst_keras_not_taken(m->key, value);
        sides->axis[i] = (int32_t)number;
    }
    return MST_OK;
}

static mst_status read_shape(const char *key, const json_t *value, mst_shape *shape) {
    const size_t count = json_array_size(value);
    if (!json_is_array(value) || count >= MST_MAX_NDIM) return mst_keras_not_taken(key, value);
    shape->ndim = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_integer(number) || json_integer_value(number) < -1) return mst_keras_not_taken(key, value);
        shape->dim[i] = json_integer_value(number);
    }
    return MST_OK;
}

static mst_status read_noise_shape(const char *key, const json_t *value, mst_shape *shape) {
    const size_t count = json_array_size(value);
    if (!value || json_is_null(value)) return MST_OK;
    if (!json_is_array(value) || count > MST_MAX_NDIM) return mst_keras_not_taken(key, value);
    shape->ndim = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(value, i);
        if (!json_is_null(number) && !(json_is_integer(number) && json_integer_value(number) >= 1))
            return mst_keras_not_taken(key, value);
        shape->dim[i] = json_is_null(number) ? -1 : json_integer_value(number);
    }
    return MST_OK;
}

/* Reads two numbers, or a number that stands for them: a for SIGN * a and a. The first is multiplied by FACTOR. */
static mst_status read_two(const mst_layer_type *type, const member *m, const json_t *value, const char *const names[2],
                           double sign, double factor, void *options) {
    if (!value || json_is_null(value)) return m->form == RANGE ? mst_keras_not_taken(m->key, value) : MST_OK;
    const bool is_list = json_array_size(value) == 2;
    const json_t *second = is_list ? json_array_get(value, 1) : value;
    if (!json_is_number(second) || (is_list && !json_is_number(json_array_get(value, 0))))
        return mst_keras_not_taken(m->key, value);
    const double b = json_number_value(second), a = is_list ? json_number_value(json_array_get(value, 0)) : sign * b;
    const double two[] = {factor * a, b};
    for (int i = 0; i < 2; i++) {
        json_t *number = json_real(two[i]);
        const mst_status status = read_number(m->key, number, penalty_of(type, m, names[i]), options);
        json_decref(number);
        MST_TRY(status);
    }
    return MST_OK;
}

static mst_status read_axis(const json_t *value, int64_t *axis) {
    const json_t *number = element(value, 0);
    if (!value) return MST_OK;
    if (!json_is_integer(number) || json_integer_value(number) < -1 || json_array_size(value) > 1)
        return mst_keras_not_taken("axis", value);
    *axis = json_integer_value(number);
    return MST_OK;
}

static mst_status read_axes(const char *key, const json_t *value, mst_axes *axes) {
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    if (!value) return MST_OK;
    if (count < 1 || count > MST_MAX_NDIM) return mst_keras_not_taken(key, value);
    axes->count = (int)count;
    for (size_t i = 0; i < count; i++) {
        const json_t *number = element(value, i);
        if (!json_is_integer(number) || llabs(json_integer_value(number)) > MST_MAX_NDIM)
            return mst_keras_not_taken(key, value);
        axes->axis[i] = (int32_t)json_integer_value(number);
    }
    return MST_OK;
}

static mst_status read_choice(const char *key, const json_t *value, const mst_field *field, void *options) {
    const char *text = json_string_value(value);
    if (!value) return MST_OK;
    for (int i = 0; text && field->names[i]; i++) {
        if (strcmp(field->names[i], text) != 0) continue;
        set_number(field, options, i);
        return MST_OK;
    }
    return mst_keras_not_taken(key, value);
}

/* Reads the first number. A list must have one number for each member that is made from it. */
static mst_status read_first(const member *m, const json_t *value, const mst_field *field, void *options) {
    const bool has_second = m[1].form == SECOND && strcmp(m[1].key, m->key) == 0;
    if (json_array_size(value) > (has_second ? 2 : 1)) return mst_keras_not_taken(m->key, value);
    return read_number(m->key, element(value, 0), field, options);
}

static bool ends_in(const char *key, const char *ending) {
    const size_t length = strlen(key), size = strlen(ending);
    return length >= size && strcmp(key + length - size, ending) == 0;
}

/* Whether KEY is an option that acts only in training. */
static bool only_trains(const char *key) {
    return ends_in(key, "_constraint") || ends_in(key, "_regularizer");
}

/* Checks that VALUE is the JSON text of M. Null always means "not given". */
static mst_status check_only(const member *m, const json_t *value) {
    json_t *wanted = mst_json_read_value(m->name, NULL);
    const bool same =
        !value || json_is_null(value) || json_equal(wanted, value) ||
        (json_is_number(value) && json_is_number(wanted) && json_number_value(value) == json_number_value(wanted));
    json_decref(wanted);
    return same ? MST_OK : mst_keras_not_taken(m->key, value);
}

/* Whether M acts only in training, and Muster does not support its VALUE. */
static bool is_left_out(const member *m, const json_t *value) {
    if (m->form == CONSTRAINT) return !mst_keras_constraint_is_known(value);
    return m->form == ONLY && only_trains(m->key) && check_only(m, value);
}

static mst_status read_bool(const member *m, const json_t *value, const mst_field *field, void *options) {
    if (!value) return MST_OK;
    if (!json_is_boolean(value)) return mst_keras_not_taken(m->key, value);
    set_number(field, options, json_is_true(value) == (m->form == YES));
    return MST_OK;
}

static mst_status read_member(const mst_layer_type *type, const member *m, const json_t *value, void *options,
                              int64_t *axis) {
    const mst_field *field = field_of(type, m->name), *l1, *l2;
    void *at = (char *)options + field->offset;
    switch (m->form) {
        case ABOVE:
            if (json_is_number(value) && !(json_number_value(value) > 0)) return mst_keras_not_taken(m->key, value);
            return read_number(m->key, value, field, options);
        case NUMBER:
        case NEEDED: return read_number(m->key, value, field, options);
        case FIRST: return read_first(m, value, field, options);
        case SECOND: return read_number(m->key, element(value, 1), field, options);
        case THREE: return read_three(m->key, value, at);
        case ACTIVATION: return mst_keras_activation_read(value, at);
        case PADDING: return read_padding(type, value, options);
        case YES:
        case NO: return read_bool(m, value, field, options);
        case INITIALIZER: return mst_keras_initializer_read(value, at);
        case REGULARIZER:
            l1 = penalty_of(type, m, "l1"), l2 = penalty_of(type, m, "l2");
            return mst_keras_regularizer_read(value, (float *)((char *)options + l1->offset),
                                              (float *)((char *)options + l2->offset));
        case CONSTRAINT:
            if (!mst_keras_constraint_is_known(value)) return MST_OK; /* mst_keras_only_trains finds it */
            return mst_keras_constraint_read(m->key, value, at);
        case SIDES_OF_1:
        case SIDES_OF_2:
        case SIDES_OF_3: return read_sides(m, value, at);
        case SHAPE: return read_shape(m->key, value, at);
        case RANGE:
        case RANGE_GIVEN: return read_two(type, m, value, range_names, -1, 1, options);
        case CONTRAST: return read_two(type, m, value, range_names, 1, -1, options);
        case BOUNDS: return read_two(type, m, value, bound_names, 0, 1, options);
        case NOISE: return read_noise_shape(m->key, value, at);
        case AXIS: return read_axis(value, axis);
        case AXES: return read_axes(m->key, value, at);
        case CHOICE: return read_choice(m->key, value, field, options);
        case TEXT: *(const char **)at = json_string_value(value); return MST_OK;
        default: return only_trains(m->key) ? MST_OK : check_only(m, value);
    }
}

/* Whether M is a member of an inner layer that the Bidirectional around it sets. */
static bool is_set_outside(const member *m) {
    return strcmp(m->key, BACKWARDS) == 0 || strcmp(m->key, ZERO_OUTPUT) == 0;
}

/* Reads the inner layer of a Bidirectional, whose TYPE has members with the names of the inner layer's members. */
static mst_status read_cell(const mst_layer_type *type, const json_t *value, bool backwards, void *options) {
    const char *name = json_string_value(json_object_get(value, "class_name"));
    const json_t *config = json_object_get(value, "config");
    const mst_keras_class *class = name && !mst_keras_is_custom_class(value) ? mst_keras_class_find(name) : NULL;
    const mst_field *cell = field_of(type, "cell");
    int64_t axis;
    int i = 0;
    while (class && cell->names[i] && strcmp(cell->names[i], class->type) != 0) i++;
    if (!class || !cell->names[i])
        return MST_FAIL(MST_UNIMPLEMENTED, "a layer %.100s in it is not taken: LSTM, GRU and SimpleRNN are",
                        name ? name : "without a class");
    if (json_is_true(json_object_get(config, BACKWARDS)) != backwards)
        return mst_keras_not_taken(BACKWARDS, json_object_get(config, BACKWARDS));
    set_number(cell, options, i);
    for (const member *m = class->member; m->form; m++)
        if (!is_set_outside(m)) MST_TRY(read_member(type, m, json_object_get(config, m->key), options, &axis));
    return MST_OK;
}

/* Checks that VALUE, the backward layer, has the same OPTIONS as read_cell found in the forward layer. */
static mst_status check_copy(const mst_layer_type *type, const json_t *value, const void *options) {
    if (!value || json_is_null(value)) return MST_OK;
    void *own = calloc(1, type->options_size);
    if (!own) return MST_NO_MEMORY("for a layer");
    mst_status status = read_cell(type, value, true, own);
    if (!status && memcmp(own, options, type->options_size) != 0)
        status = MST_FAIL(MST_UNIMPLEMENTED, "a backward_layer that is not as the other layer is not taken");
    free(own);
    return status;
}

/* Reads the inner layer of a TimeDistributed. mst_keras_class_free frees its options. *AXIS becomes the axis of an
 * inner normalization, counted in the source of the TimeDistributed; -1: none. That source has the axis of steps before
 * the axes of the inner layer's source, so the number is larger by 1. */
static mst_status read_inner(const json_t *value, mst_option_memory *memory, mst_inner_layer *inner, int64_t *axis) {
    const char *name = json_string_value(json_object_get(value, "class_name"));
    const json_t *config = json_object_get(value, "config");
    const mst_keras_class *class = name && !mst_keras_is_custom_class(value) ? mst_keras_class_find(name) : NULL;
    if (!class || mst_keras_class_type(class)->inner)
        return MST_FAIL(MST_UNIMPLEMENTED, "a layer %.100s in it is not taken", name ? name : "without a class");
    const mst_layer_type *type = mst_keras_class_type(class);
    void *options = calloc(1, type->options_size);
    if (!options) return MST_NO_MEMORY("for a layer");
    *inner = (mst_inner_layer){type->name, options};
    MST_TRY(mst_keras_class_read(class, config, memory, options, axis));
    *(const char **)(void *)((char *)options + field_of(type, "name")->offset) =
        json_string_value(json_object_get(config, "name"));
    if (*axis >= 0) ++*axis;
    return MST_OK;
}

void mst_keras_class_free(const mst_keras_class *class, void *options) {
    const mst_layer_type *type = mst_keras_class_type(class);
    if (type->inner) free((void *)(uintptr_t)type->inner(options)->options);
}

mst_status mst_keras_class_read(const mst_keras_class *class, const json_t *config, mst_option_memory *memory,
                                void *options, int64_t *axis) {
    const mst_layer_type *type = mst_keras_class_type(class);
    *axis = -1;
    if (class->fixed) set_number(field_of(type, class->fixed), options, class->value);
    for (int i = 0; i < MOST_MEMBERS && class->member[i].form; i++) {
        const member *m = &class->member[i];
        const json_t *value = json_object_get(config, m->key);
        if (m->form == CELL)
            MST_TRY(read_cell(type, value, false, options));
        else if (m->form == COPY)
            MST_TRY(check_copy(type, value, options));
        else if (m->form == INNER)
            MST_TRY(read_inner(value, memory, type->inner(options), axis));
        else
            MST_TRY(read_member(type, m, value, options, axis));
    }
    return mst_keras_preprocessing_read(class->name, config, memory, options);
}

/* ---- options that are arguments of calls ---- */

/* The member that in Keras is an argument of the call and not an option of the layer. */
static const mst_field *called_field(const mst_keras_class *class) {
    return field_of(mst_keras_class_type(class), "causal");
}

bool mst_keras_class_is_called(const mst_keras_class *class) {
    return strcmp(class->name, "MultiHeadAttention") == 0;
}

void mst_keras_class_read_call(const mst_keras_class *class, const json_t *arguments, void *options) {
    if (!mst_keras_class_is_called(class)) return;
    if (json_is_true(json_object_get(arguments, "use_causal_mask"))) set_number(called_field(class), options, 1);
}

/* ---- writing ---- */

static double number_of(const mst_field *field, const void *options) {
    const void *at = (const char *)options + field->offset;
    switch (field->type) {
        case MST_FIELD_TYPE_I32:
        case MST_FIELD_TYPE_ENUM: return *(const int32_t *)at;
        case MST_FIELD_TYPE_I64: return (double)*(const int64_t *)at;
        case MST_FIELD_TYPE_F32: return (double)*(const float *)at;
        case MST_FIELD_TYPE_F64: return *(const double *)at;
        default: return *(const bool *)at;
    }
}

/* The number as JSON. A 0 that was given is kept as -0 (graph/field.h), and `+ 0.0` makes it 0 again. */
static json_t *json_of(const mst_field *field, const void *options) {
    const double number = number_of(field, options);
    const bool whole = field->type == MST_FIELD_TYPE_I32 || field->type == MST_FIELD_TYPE_I64;
    return whole ? json_integer((json_int_t)number) : json_real(number + 0.0);
}

/* Writes a member to its place in a list. A member of 0 means the default, which is the same in Keras. */
static void write_list(const mst_layer_type *type, const member *m, const void *options, json_t *config) {
    const mst_field *field = field_of(type, m->name);
    json_t *list = json_object_get(config, m->key);
    if (m->form == FIRST) {
        if (number_of(field, options) != 0)
            json_object_set_new(config, m->key, json_pack("[o]", json_of(field, options)));
    } else if (list) { /* a second number that is not given equals the first */
        json_array_append_new(list, number_of(field, options) != 0
                                        ? json_of(field, options)
                                        : json_integer(json_integer_value(json_array_get(list, 0))));
    } else if (number_of(field, options) != 0) {
        const mst_field *rows = field_of(type, "pool_size"); /* strides that are not given equal the window */
        json_object_set_new(config, m->key,
                            json_pack("[o, o]", json_of(rows->name ? rows : field, options), json_of(field, options)));
    }
}

static void write_given(json_t *config, const char *key, json_t *value) {
    if (value) json_object_set_new(config, key, value);
}

static void write_padding(const mst_layer_type *type, const void *options, json_t *config) {
    const mst_field *causal = field_of(type, "causal");
    const bool same = number_of(field_of(type, "padding"), options) == MST_PADDING_SAME;
    const bool before = causal->name && number_of(causal, options) != 0;
    json_object_set_new(config, "padding", json_string(before ? "causal" : same ? "same" : "valid"));
}

/* Writes two numbers for each axis. A layer that was given one number for all sides has it in the member named like
 * Keras' key. */
static json_t *sides_json(const mst_layer_type *type, const member *m, const mst_axes *sides, const void *options) {
    const int all = (int)number_of(field_of(type, m->key), options), num_axes = num_sided(m);
    json_t *list = json_array();
    for (int i = 0; i < 2 * num_axes; i += 2) {
        const int before = sides->count ? sides->axis[i] : all, behind = sides->count ? sides->axis[i + 1] : all;
        json_array_append_new(list, json_pack("[i, i]", before, behind));
    }
    if (num_axes > 1) return list;
    json_t *pair = json_incref(json_array_get(list, 0));
    json_decref(list);
    return pair;
}

static json_t *shape_json(const mst_shape *shape) {
    json_t *list = json_array();
    for (int i = 0; i < shape->ndim; i++) json_array_append_new(list, json_integer(shape->dim[i]));
    return list;
}

static json_t *noise_shape_json(const mst_shape *shape) {
    json_t *list = json_array();
    for (int i = 0; i < shape->ndim; i++)
        json_array_append_new(list, shape->dim[i] < 0 ? json_null() : json_integer(shape->dim[i]));
    return list;
}

static json_t *axes_json(const mst_axes *axes) {
    json_t *list = json_array();
    for (int i = 0; i < axes->count; i++) json_array_append_new(list, json_integer(axes->axis[i]));
    return list;
}

/* Writes a list of three numbers, as Keras expects it. */
static json_t *three_json(const mst_axes *axes) {
    json_t *list = json_array();
    for (int i = 0; i < NUM_THREE; i++) json_array_append_new(list, json_integer(axes->axis[axes->count == 1 ? 0 : i]));
    return list;
}

/* Writes two numbers. If neither was given, writes nothing for RANGE_GIVEN and BOUNDS, so that Keras' default holds,
 * and zeros for the other forms. */
static void write_two(const mst_layer_type *type, const member *m, const void *options, json_t *config) {
    const char *const *names = m->form == BOUNDS ? bound_names : range_names;
    const double a = number_of(penalty_of(type, m, names[0]), options);
    const double b = number_of(penalty_of(type, m, names[1]), options);
    const bool can_be_missing = m->form == RANGE_GIVEN || m->form == BOUNDS;
    if (can_be_missing && !mst_number_given(a) && !mst_number_given(b)) return;
    json_object_set_new(config, m->key, json_pack("[f, f]", (m->form == CONTRAST ? -a : a) + 0.0, b + 0.0));
}

static void write_member(const mst_layer_type *type, const member *m, const void *options, json_t *config) {
    const mst_field *field = field_of(type, m->name), *l1, *l2;
    const void *at = (const char *)options + field->offset;
    switch (m->form) {
        case NUMBER:
        case ABOVE:
            if (mst_number_given(number_of(field, options))) write_given(config, m->key, json_of(field, options));
            break;
        case NEEDED: write_given(config, m->key, json_of(field, options)); break;
        case FIRST:
        case SECOND: write_list(type, m, options, config); break;
        case THREE:
            if (((const mst_axes *)at)->count) write_given(config, m->key, three_json(at));
            break;
        case ACTIVATION: write_given(config, m->key, json_string(mst_keras_activation_name(*(const int *)at))); break;
        case PADDING: write_padding(type, options, config); break;
        case YES:
        case NO: write_given(config, m->key, json_boolean((number_of(field, options) != 0) == (m->form == YES))); break;
        case INITIALIZER: write_given(config, m->key, mst_keras_initializer_write(at)); break;
        case REGULARIZER:
            l1 = penalty_of(type, m, "l1"), l2 = penalty_of(type, m, "l2");
            write_given(config, m->key,
                        mst_keras_regularizer_write((float)number_of(l1, options), (float)number_of(l2, options)));
            break;
        case CONSTRAINT: write_given(config, m->key, mst_keras_constraint_write(at)); break;
        case SIDES_OF_1:
        case SIDES_OF_2:
        case SIDES_OF_3: write_given(config, m->key, sides_json(type, m, at, options)); break;
        case SHAPE: write_given(config, m->key, shape_json(at)); break;
        case RANGE:
        case RANGE_GIVEN:
        case CONTRAST:
        case BOUNDS: write_two(type, m, options, config); break;
        case NOISE:
            if (((const mst_shape *)at)->ndim) write_given(config, m->key, noise_shape_json(at));
            break;
        case CHOICE: write_given(config, m->key, json_string(field->names[(int)number_of(field, options)])); break;
        case TEXT: write_given(config, m->key, json_string(*(const char *const *)at)); break;
        case AXES:
            if (((const mst_axes *)at)->count) write_given(config, m->key, axes_json(at));
            break;
        default: break; /* it equals Keras' default */
    }
}

/* Writes the forward layer of a Bidirectional. Keras makes the backward layer from it. */
static json_t *cell_json(const mst_layer_type *type, const void *options) {
    const mst_field *cell = field_of(type, "cell");
    const char *inside = cell->names[(int)number_of(cell, options)];
    int k = 0;
    while (strcmp(classes[k].type, inside) != 0) k++;
    json_t *config = json_pack("{s:s}", "name", inside);
    for (const member *m = classes[k].member; m->form; m++)
        if (!is_set_outside(m)) write_member(type, m, options, config);
    return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.layers", "class_name", classes[k].name, "config", config,
                     "registered_name");
}

static const mst_inner_layer *inner_of(const mst_layer_type *type, const void *options) {
    return type->inner ? type->inner((void *)(uintptr_t)options) : NULL;
}

const char *mst_keras_class_inside(const mst_keras_class *class, const void *options) {
    const mst_inner_layer *inner = inner_of(mst_keras_class_type(class), options);
    if (!inner) return NULL;
    const mst_layer_type *type = mst_layer_find(inner->type);
    const char *name = type->class_of ? type->class_of(inner->options) : type->class_name;
    const mst_keras_class *found = mst_keras_class_find(name);
    return found && mst_keras_class_type(found) == type ? found->name : "";
}

static json_t *inner_json(const mst_keras_class *class, const void *options) {
    const mst_inner_layer *inner = inner_of(mst_keras_class_type(class), options);
    const char *class_name = mst_keras_class_inside(class, options);
    const char *name = mst_layer_name(mst_layer_find(inner->type), inner->options);
    json_t *config = json_pack("{s:s}", "name", name ? name : inner->type);
    mst_keras_class_write(mst_keras_class_find(class_name), inner->options, config);
    return json_pack("{s:s, s:s, s:o, s:n}", "module", "keras.layers", "class_name", class_name, "config", config,
                     "registered_name");
}

/* Whether CLASS acts only in training: it is read as a linear activation (ONLY_TRAINS in classes.inc). */
static bool class_only_trains(const mst_keras_class *class) {
    return class->fixed && strcmp(class->fixed, "activation") == 0 && class->value == MST_LINEAR;
}

const char *mst_keras_only_trains(const json_t *layer) {
    static const char *const insides[] = {"layer", "backward_layer"};
    const char *name = json_string_value(json_object_get(layer, "class_name")), *what = NULL;
    const json_t *config = json_object_get(layer, "config");
    const mst_keras_class *class = name ? mst_keras_class_find(name) : NULL;
    if (!class) return NULL;
    if (class_only_trains(class)) return class->name;
    for (int i = 0; i < MOST_MEMBERS && class->member[i].form && !what; i++) {
        const member *m = &class->member[i];
        if (is_left_out(m, json_object_get(config, m->key))) what = m->key;
    }
    for (size_t i = 0; i < sizeof insides / sizeof *insides && !what; i++) {
        const json_t *inside = json_object_get(config, insides[i]);
        if (json_is_object(inside) && inside != layer) what = mst_keras_only_trains(inside);
    }
    return what;
}

mst_status mst_keras_class_check(const mst_keras_class *class, const void *options) {
    const mst_layer_type *type = mst_keras_class_type(class);
    const mst_inner_layer *inner = inner_of(type, options);
    for (int i = 0; i < MOST_MEMBERS && class->member[i].form; i++) {
        const member *m = &class->member[i];
        const void *at = (const char *)options + field_of(type, m->name)->offset;
        if (m->form == ACTIVATION && !mst_keras_activation_name(*(const int *)at))
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "its activation '%s' cannot be saved for Keras 3, which does not have it",
                            mst_activation_name(*(const mst_activation *)at));
    }
    return inner ? mst_keras_class_check(mst_keras_class_find(mst_keras_class_inside(class, options)), inner->options)
                 : MST_OK;
}

void mst_keras_class_write(const mst_keras_class *class, const void *options, json_t *config) {
    const mst_layer_type *type = mst_keras_class_type(class);
    for (int i = 0; i < MOST_MEMBERS && class->member[i].form; i++) {
        const member *m = &class->member[i];
        if (m->form == CELL)
            write_given(config, m->key, cell_json(type, options));
        else if (m->form == INNER)
            write_given(config, m->key, inner_json(class, options));
        else
            write_member(type, m, options, config);
    }
}

json_t *mst_keras_class_write_call(const mst_keras_class *class, const void *options) {
    json_t *arguments = json_object();
    if (mst_keras_class_is_called(class) && number_of(called_field(class), options) != 0)
        json_object_set_new(arguments, "use_causal_mask", json_true());
    return arguments;
}
