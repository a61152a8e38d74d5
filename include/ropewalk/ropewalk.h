// Everything: rotary position embedding, forward and backward.

#ifndef ROPEWALK_ROPEWALK_H_
#define ROPEWALK_ROPEWALK_H_

#include "ropewalk/executor.h"
#include "ropewalk/export.h"
#include "ropewalk/ops.h"
#include "ropewalk/plan.h"
#include "ropewalk/status.h"
#include "ropewalk/targets.h"
#include "ropewalk/tensor.h"
#include "ropewalk/verify.h"
#include "ropewalk/version.h"

#endif  // ROPEWALK_ROPEWALK_H_
