#include "support/hlo_inside.h"
const hlo_row hlo_index_rows[] = {{0}};
