#include <string.h>

#include "format/events.h"

enum { DT_FLOAT_NUMBER = 1, DT_DOUBLE_NUMBER = 2 };

/* Reads a scalar as TensorFlow 2 writes it: a tensor without dimensions. */
static bool read_tensor(const Muster__SummaryTensor *t, double *out) {
    float number;
    if (!t || (t->tensor_shape && t->tensor_shape->n_dim)) return false;
    if (t->dtype == DT_FLOAT_NUMBER && t->tensor_content.len == sizeof number) {
        memcpy(&number, t->tensor_content.data, sizeof number);
        *out = (double)number;
        return true;
    }
    if (t->dtype == DT_DOUBLE_NUMBER && t->tensor_content.len == sizeof *out) {
        memcpy(out, t->tensor_content.data, sizeof *out);
        return true;
    }
    if (t->n_float_val == 1) *out = (double)t->float_val[0];
    if (t->n_double_val == 1) *out = t->double_val[0];
    return t->n_float_val == 1 || t->n_double_val == 1;
}

bool mst_event_scalar(const Muster__Summary__Value *value, double *out) {
    if (value->value_case == MUSTER__SUMMARY__VALUE__VALUE_SIMPLE_VALUE) {
        *out = (double)value->simple_value;
        return true;
    }
    return value->value_case == MUSTER__SUMMARY__VALUE__VALUE_TENSOR && read_tensor(value->tensor, out);
}
