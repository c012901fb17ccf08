#include "support/hlo_inside.h"
const hlo_row hlo_window_rows[] = {{0}};
