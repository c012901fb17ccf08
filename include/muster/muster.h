/** Muster: trains neural networks on every device. This header includes all the others. */
#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

/* Each header comes after the headers that it includes. For a mistake in the arguments of a macro, compilers then
 * report two files, not the whole chain of headers. */
/* clang-format off */
#include "muster/named.h"
#include "muster/status.h"
#include "muster/compile_cache.h"
#include "muster/device.h"
#include "muster/inspect.h"
#include "muster/tensor.h"
#include "muster/tfrecord.h"
#include "muster/tokenizer.h"
#include "muster/version.h"
#include "muster/dlpack.h"
#include "muster/graph.h"
#include "muster/cluster.h"
#include "muster/example.h"
#include "muster/initializer.h"
#include "muster/loss.h"
#include "muster/metric.h"
#include "muster/op.h"
#include "muster/constraint.h"
#include "muster/store.h"
#include "muster/hlo.h"
#include "muster/layer.h"
#include "muster/ops.h"
#include "muster/schedule.h"
#include "muster/server.h"
#include "muster/session.h"
#include "muster/task.h"
#include "muster/transforms.h"
#include "muster/dataset.h"
#include "muster/layers.h"
#include "muster/optimizer.h"
#include "muster/trace.h"
#include "muster/data.h"
#include "muster/minimize.h"
#include "muster/model.h"
#include "muster/monitored_session.h"
#include "muster/summary.h"
#include "muster/applications.h"
#include "muster/model_file.h"
#include "muster/strategy.h"
#include "muster/train.h"
#include "muster/checkpoint.h"
#include "muster/generate.h"
/* clang-format on */

#endif
