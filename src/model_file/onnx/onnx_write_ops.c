/* Writes ops of elements and of matrices as ONNX's operators, and finds the writer of each op. */
#include <math.h>
#include <string.h>

#include "model_file/onnx/onnx_write_op.h"
#include "muster/ops.h"

/* ---- options and values ---- */

static const void *option_at(const mst_node *node, const char *name) {
    const mst_field *field = mst_op_field(node->op, name);
    return (const char *)mst_node_options(node) + field->offset;
}

int32_t mst_onnx_option_int(const mst_node *node, const char *name) {
    int32_t value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

double mst_onnx_option_double(const mst_node *node, const char *name) {
    double value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

float mst_onnx_option_float(const mst_node *node, const char *name) {
    float value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

bool mst_onnx_option_bool(const mst_node *node, const char *name) {
    return *(const bool *)option_at(node, name);
}

mst_axes mst_onnx_option_axes(const mst_node *node, const char *name) {
    mst_axes value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

mst_shape mst_onnx_option_shape(const mst_node *node, const char *name) {
    mst_shape value;
    memcpy(&value, option_at(node, name), sizeof value);
    return value;
}

int mst_onnx_source_ndim(const mst_node *node, int i) {
    return mst_value_spec(node->src[i]).shape.ndim;
}

bool mst_onnx_is_first(mst_onnx_writer *w, mst_value value) {
    const mst_onnx_out *out = mst_onnx_out_of(w, value);
    return out->first && !out->plain && !out->tensor;
}

const char *mst_onnx_output_name(mst_onnx_writer *w, const mst_node *node, bool first) {
    mst_onnx_out *out = &w->out[w->offset[node->id]];
    const char *name = mst_onnx_name(w, node->name);
    *(first ? &out->first : &out->plain) = name;
    return name;
}

const char *mst_onnx_between(mst_onnx_writer *w, const mst_node *node, const char *what) {
    const char *name = mst_arena_print(&w->arena, "%s/%s", node->name, what);
    return mst_onnx_name(w, name ? name : what);
}

const char *mst_onnx_output_name_of(mst_onnx_writer *w, const mst_node *node, int i) {
    return w->out[w->offset[node->id] + i].plain = mst_onnx_name(w, node->name);
}

int64_t mst_onnx_from_front(int64_t axis, int ndim) {
    return axis < 0 ? axis + ndim : axis;
}

const char *mst_onnx_plain_source(mst_onnx_writer *w, const mst_node *node, int i) {
    return mst_onnx_plain_name(w, node->src[i]);
}

/* ---- nodes between others ---- */

const char *mst_onnx_unary(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a) {
    const char *name = mst_onnx_between(w, node, op_type);
    mst_onnx_node(w, op_type, name, 1, &a);
    return name;
}

const char *mst_onnx_binary(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a,
                            const char *b) {
    const char *name = mst_onnx_between(w, node, op_type);
    mst_onnx_node(w, op_type, name, 2, (const char *const[]){a, b});
    return name;
}

const char *mst_onnx_with_number(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a,
                                 double b) {
    return mst_onnx_binary(w, node, op_type, a, mst_onnx_constant_number(w, "number", node->dst[0].dtype, b));
}

const char *mst_onnx_transposed(mst_onnx_writer *w, const mst_node *node, const char *a, mst_axes perm) {
    const char *name = mst_onnx_between(w, node, "turned");
    int64_t list[MST_MAX_NDIM];
    for (int i = 0; i < perm.count; i++) list[i] = perm.axis[i];
    mst_onnx_set_ints(w, mst_onnx_node(w, "Transpose", name, 1, &a), "perm", list, perm.count);
    return name;
}

const char *mst_onnx_cast(mst_onnx_writer *w, const mst_node *node, const char *a, mst_dtype dtype) {
    const char *name = mst_onnx_between(w, node, mst_dtype_name(dtype));
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", name, 1, &a), "to", mst_onnx_type(dtype));
    return name;
}

void mst_onnx_same(mst_onnx_writer *w, const char *output, const char *a) {
    mst_onnx_node(w, "Identity", output, 1, &a);
}

/* ---- each element by itself ---- */

bool mst_onnx_operand_names(mst_onnx_writer *w, const mst_node *node, const char **name) {
    const int ndim = node->dst[0].shape.ndim;
    bool first = false, can = mst_onnx_is_picture(ndim);
    for (int i = 0; i < node->num_src; i++) {
        first |= mst_onnx_is_first(w, node->src[i]);
        can &= mst_onnx_source_ndim(node, i) == ndim || mst_onnx_out_of(w, node->src[i])->tensor;
    }
    first &= can;
    for (int i = 0; i < node->num_src; i++) {
        mst_tensor *tensor = mst_onnx_out_of(w, node->src[i])->tensor;
        mst_shape full = {.ndim = ndim};
        if (!first || (tensor && mst_tensor_shape(tensor).ndim == 0)) {
            name[i] = mst_onnx_plain_source(w, node, i);
        } else if (!tensor) {
            name[i] = mst_onnx_first_name(w, node->src[i]);
        } else {
            const mst_shape shape = mst_tensor_shape(tensor);
            const int missing = ndim - shape.ndim;
            for (int k = 0; k < ndim; k++) full.dim[k] = k < missing ? 1 : shape.dim[k - missing];
            name[i] = mst_onnx_constant(w, mst_value_name(node->src[i]), tensor, full, mst_onnx_first_perm(ndim));
        }
    }
    return first;
}

static mst_status write_same(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    if (node->num_src > MST_ONNX_MOST_SOURCES)
        return MST_FAIL(MST_UNIMPLEMENTED, "'%s' has too many sources", node->name);
    const bool first = mst_onnx_operand_names(w, node, name);
    mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, first), (size_t)node->num_src, name);
    return MST_OK;
}

/* Writes nothing: the output is source 0. */
static mst_status write_nothing(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    (void)op;
    w->out[w->offset[node->id]] = *mst_onnx_out_of(w, node->src[0]);
    return MST_OK;
}

static mst_status write_alpha(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name), leaky = strcmp(op->name, "leaky_relu") == 0;
    Muster__OnnxNode *made = mst_onnx_node(w, op->onnx, mst_onnx_output_name(w, node, first), 1, name);
    mst_onnx_set_float(w, made, "alpha", mst_onnx_option_float(node, leaky ? "slope" : "alpha"));
    return MST_OK;
}

static mst_status write_not_equal(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    const char *equal = mst_onnx_between(w, node, "equal");
    (void)op;
    mst_onnx_node(w, "Equal", equal, 2, name);
    mst_onnx_node(w, "Not", mst_onnx_output_name(w, node, first), 1, &equal);
    return MST_OK;
}

static mst_status write_clip(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES] = {""};
    const bool first = mst_onnx_operand_names(w, node, name), six = strcmp(op->name, "relu6") == 0;
    const mst_dtype dtype = node->dst[0].dtype;
    const double low = six ? 0 : mst_onnx_option_double(node, "low"),
                 high = six ? 6 : mst_onnx_option_double(node, "high");
    name[1] = isinf(low) ? "" : mst_onnx_constant_number(w, "low", dtype, low);
    name[2] = isinf(high) ? "" : mst_onnx_constant_number(w, "high", dtype, high);
    mst_onnx_node(w, "Clip", mst_onnx_output_name(w, node, first), 3, name);
    return MST_OK;
}

static mst_status write_scale(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    name[1] = mst_onnx_constant_number(w, "factor", node->dst[0].dtype, mst_onnx_option_double(node, "factor"));
    mst_onnx_node(w, "Mul", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_square(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    name[1] = name[0];
    mst_onnx_node(w, "Mul", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_rsqrt(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES], *root = mst_onnx_between(w, node, "sqrt");
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    mst_onnx_node(w, "Sqrt", root, 1, name);
    mst_onnx_node(w, "Reciprocal", mst_onnx_output_name(w, node, first), 1, &root);
    return MST_OK;
}

static mst_status write_swish(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    name[1] = mst_onnx_between(w, node, "sigmoid");
    mst_onnx_node(w, "Sigmoid", name[1], 1, name);
    mst_onnx_node(w, "Mul", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

/* Writes gelu: x (1 + erf(x / sqrt(2))) / 2, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
static mst_status write_gelu(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES], *part;
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    if (mst_onnx_option_bool(node, "approximate")) {
        part = mst_onnx_binary(w, node, "Mul", name[0], mst_onnx_binary(w, node, "Mul", name[0], name[0]));
        part = mst_onnx_binary(w, node, "Add", name[0], mst_onnx_with_number(w, node, "Mul", part, 0.044715));
        part = mst_onnx_unary(w, node, "Tanh", mst_onnx_with_number(w, node, "Mul", part, 0.79788456080286536));
    } else {
        part = mst_onnx_unary(w, node, "Erf", mst_onnx_with_number(w, node, "Mul", name[0], 0.70710678118654752));
    }
    name[1] = mst_onnx_with_number(w, node, "Mul", mst_onnx_with_number(w, node, "Add", part, 1), 0.5);
    mst_onnx_node(w, "Mul", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

/* Writes (a - b)^2 as the difference times itself. */
static mst_status write_squared_difference(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    name[0] = name[1] = mst_onnx_binary(w, node, "Sub", name[0], name[1]);
    mst_onnx_node(w, "Mul", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

/* Writes floor(a / b), or a - floor(a / b) b. For integers, ONNX's Div truncates towards 0, and its Mod rounds down. */
static mst_status write_floored(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name), floats = mst_dtype_is_float(node->dst[0].dtype);
    const bool rest = strcmp(op->name, "mod") == 0;
    if (!floats && !rest)
        name[0] = mst_onnx_binary(w, node, "Sub", name[0], mst_onnx_binary(w, node, "Mod", name[0], name[1]));
    const char *floor =
        floats ? mst_onnx_unary(w, node, "Floor", mst_onnx_binary(w, node, "Div", name[0], name[1])) : NULL;
    if (floats && rest) name[1] = mst_onnx_binary(w, node, "Mul", floor, name[1]);
    const char *output = mst_onnx_output_name(w, node, first);
    if (floats && !rest)
        mst_onnx_same(w, output, floor);
    else
        mst_onnx_node(w, floats ? "Sub" : rest ? "Mod" : "Div", output, 2, name);
    return MST_OK;
}

/* Writes log1p as log(x + 1), and expm1 as exp(x) - 1. */
static mst_status write_beside_one(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    if (strcmp(op->onnx, "Log") == 0) { /* log1p */
        name[0] = mst_onnx_with_number(w, node, "Add", name[0], 1);
        mst_onnx_node(w, "Log", mst_onnx_output_name(w, node, first), 1, name);
        return MST_OK;
    }
    name[0] = mst_onnx_unary(w, node, "Exp", name[0]); /* expm1 */
    name[1] = mst_onnx_constant_number(w, "one", node->dst[0].dtype, 1);
    mst_onnx_node(w, "Sub", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_is_finite(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    name[0] = mst_onnx_binary(w, node, "Or", mst_onnx_unary(w, node, "IsNaN", name[0]),
                              mst_onnx_unary(w, node, "IsInf", name[0]));
    mst_onnx_node(w, "Not", mst_onnx_output_name(w, node, first), 1, name);
    return MST_OK;
}

/* Writes a constant number with the shape of source 0. */
static mst_status write_filled(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    name[1] = mst_onnx_unary(w, node, "Shape", name[0]);
    name[0] = mst_onnx_constant_number(w, "number", node->dst[0].dtype, strcmp(op->name, "ones_like") == 0);
    mst_onnx_node(w, "Expand", mst_onnx_output_name(w, node, first), 2, name);
    return MST_OK;
}

static mst_status write_cast(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const char *name[MST_ONNX_MOST_SOURCES];
    const bool first = mst_onnx_operand_names(w, node, name);
    (void)op;
    mst_onnx_set_int(w, mst_onnx_node(w, "Cast", mst_onnx_output_name(w, node, first), 1, name), "to",
                     mst_onnx_type(node->dst[0].dtype));
    return MST_OK;
}

/* ---- matrices ---- */

/* The name of source I of NODE with its last two axes exchanged. */
static const char *swapped(mst_onnx_writer *w, const mst_node *node, int i) {
    mst_axes perm = {.count = mst_onnx_source_ndim(node, i)};
    for (int k = 0; k < perm.count; k++) perm.axis[k] = k < perm.count - 2 ? k : 2 * perm.count - 3 - k;
    return mst_onnx_transposed(w, node, mst_onnx_plain_source(w, node, i), perm);
}

static mst_status write_matmul(mst_onnx_writer *w, const mst_node *node, const mst_onnx_written *op) {
    const bool turn[] = {mst_onnx_option_bool(node, "transpose_a"), mst_onnx_option_bool(node, "transpose_b")};
    const bool gemm = (turn[0] || turn[1]) && mst_onnx_source_ndim(node, 0) == 2 && mst_onnx_source_ndim(node, 1) == 2;
    const char *name[2];
    (void)op;
    for (int i = 0; i < 2; i++) name[i] = turn[i] && !gemm ? swapped(w, node, i) : mst_onnx_plain_source(w, node, i);
    Muster__OnnxNode *made = mst_onnx_node(w, gemm ? "Gemm" : "MatMul", mst_onnx_output_name(w, node, false), 2, name);
    if (!gemm) return MST_OK;
    mst_onnx_set_int(w, made, "transA", turn[0]);
    mst_onnx_set_int(w, made, "transB", turn[1]);
    return MST_OK;
}

/* ---- all ---- */

const mst_onnx_written mst_onnx_written_elements[] = {
    {"abs", write_same, "Abs"},
    {"acos", write_same, "Acos"},
    {"add", write_same, "Add"},
    {"add_n", write_same, "Sum"},
    {"asin", write_same, "Asin"},
    {"atan", write_same, "Atan"},
    {"cast", write_cast, NULL},
    {"ceil", write_same, "Ceil"},
    {"clip", write_clip, NULL},
    {"cos", write_same, "Cos"},
    {"cosh", write_same, "Cosh"},
    {"div", write_same, "Div"},
    {"elu", write_alpha, "Elu"},
    {"equal", write_same, "Equal"},
    {"erf", write_same, "Erf"},
    {"exp", write_same, "Exp"},
    {"expm1", write_beside_one, "Exp"},
    {"floor", write_same, "Floor"},
    {"floor_div", write_floored, NULL},
    {"gelu", write_gelu, NULL},
    {"greater", write_same, "Greater"},
    {"greater_equal", write_same, "GreaterOrEqual"},
    {"identity", write_nothing, NULL},
    {"is_finite", write_is_finite, NULL},
    {"is_inf", write_same, "IsInf"},
    {"is_nan", write_same, "IsNaN"},
    {"leaky_relu", write_alpha, "LeakyRelu"},
    {"less", write_same, "Less"},
    {"less_equal", write_same, "LessOrEqual"},
    {"log", write_same, "Log"},
    {"log1p", write_beside_one, "Log"},
    {"logical_and", write_same, "And"},
    {"logical_not", write_same, "Not"},
    {"logical_or", write_same, "Or"},
    {"logical_xor", write_same, "Xor"},
    {"matmul", write_matmul, NULL},
    {"maximum", write_same, "Max"},
    {"minimum", write_same, "Min"},
    {"mod", write_floored, NULL},
    {"mul", write_same, "Mul"},
    {"neg", write_same, "Neg"},
    {"not_equal", write_not_equal, NULL},
    {"ones_like", write_filled, NULL},
    {"pow", write_same, "Pow"},
    {"reciprocal", write_same, "Reciprocal"},
    {"relu", write_same, "Relu"},
    {"relu6", write_clip, NULL},
    {"round", write_same, "Round"},
    {"rsqrt", write_rsqrt, NULL},
    {"scale", write_scale, NULL},
    {"select", write_same, "Where"},
    {"sigmoid", write_same, "Sigmoid"},
    {"sign", write_same, "Sign"},
    {"sin", write_same, "Sin"},
    {"sinh", write_same, "Sinh"},
    {"softplus", write_same, "Softplus"},
    {"sqrt", write_same, "Sqrt"},
    {"square", write_square, NULL},
    {"squared_difference", write_squared_difference, NULL},
    {"stop_gradient", write_nothing, NULL},
    {"sub", write_same, "Sub"},
    {"swish", write_swish, NULL},
    {"tan", write_same, "Tan"},
    {"tanh", write_same, "Tanh"},
    {"zeros_like", write_filled, NULL},
    {NULL, NULL, NULL},
};

mst_status mst_onnx_write_node(mst_onnx_writer *w, const mst_node *from) {
    static const mst_onnx_written *const tables[] = {mst_onnx_written_elements, mst_onnx_written_windows,
                                                     mst_onnx_written_rows,     mst_onnx_written_shapes,
                                                     mst_onnx_written_indices,  mst_onnx_written_cells};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const mst_onnx_written *op = tables[i]; op->name; op++)
            if (strcmp(op->name, from->op->name) == 0) return op->write(w, from, op);
    return MST_FAIL(MST_UNIMPLEMENTED, "op %s of '%s' cannot be written as ONNX", from->op->name, from->name);
}
