/** Muster: trains neural networks on every device. This header includes all the others. */
#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

#include "muster/checkpoint.h"
#include "muster/dataset.h"
#include "muster/device.h"
#include "muster/dlpack.h"
#include "muster/example.h"
#include "muster/graph.h"
#include "muster/initializer.h"
#include "muster/inspect.h"
#include "muster/layer.h"
#include "muster/loss.h"
#include "muster/metric.h"
#include "muster/minimize.h"
#include "muster/model.h"
#include "muster/op.h"
#include "muster/ops.h"
#include "muster/optimizer.h"
#include "muster/schedule.h"
#include "muster/session.h"
#include "muster/status.h"
#include "muster/store.h"
#include "muster/strategy.h"
#include "muster/summary.h"
#include "muster/tensor.h"
#include "muster/tfrecord.h"
#include "muster/trace.h"
#include "muster/train.h"
#include "muster/version.h"

#endif
