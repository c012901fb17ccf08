#include "support/hlo_inside.h"
const hlo_row hlo_control_rows[] = {{0}};
