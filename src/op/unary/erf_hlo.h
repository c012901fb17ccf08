/** The error function in StableHLO, which has no operation for it. */
#ifndef MUSTER_OP_ERF_HLO_H
#define MUSTER_OP_ERF_HLO_H

#include "muster/hlo.h"

/** erf(X); X is f32 or f64. */
mst_hlo mst_hlo_erf(mst_lower *l, mst_hlo x);
/** 1 - erf(X), without cancellation if X is large. */
mst_hlo mst_hlo_erfc(mst_lower *l, mst_hlo x);

#endif
