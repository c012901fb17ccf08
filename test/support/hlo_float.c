/* The interpreter of StableHLO (support/hlo_interpreter.h): elementwise formulas for floats. */
#include <math.h>

#include "support/hlo_inside.h"

#define T float
#define M(name) name##f
#define UNARY hlo_float_unary
#define BINARY hlo_float_binary
#include "support/hlo_floats.inc"

#define T double
#define M(name) name
#define UNARY hlo_double_unary
#define BINARY hlo_double_binary
#include "support/hlo_floats.inc"
