// The rules that operators share. Each returns success, or a status whose
// message names operator, argument, need and fact.

#ifndef ROPEWALK_SRC_OPS_CHECK_H_
#define ROPEWALK_SRC_OPS_CHECK_H_

#include <initializer_list>
#include <string>

#include "plan/problem.h"

namespace ropewalk {

/// "[op] argument: fact".
Status Refuse(Code code, const Problem& p, const char* argument,
              const std::string& fact);

std::string ShapeText(const TensorDesc& desc);

/// Adds a tensor to the problem. Rank 1 to 8, sizes not negative, extent within
/// 62 bits; an output must not overlap itself.
Status AddTensor(Problem& p, Slot slot, const char* name,
                 const TensorDesc& desc, bool output);

/// f32, f16, bf16 or f64.
Status CheckFloat(const Problem& p, Slot slot);
Status CheckSameDtype(const Problem& p, Slot slot, Slot as);
Status CheckSameShape(const Problem& p, Slot slot, Slot as);
/// A table dtype that goes with the data: f64 with f64 only.
Status CheckTableDtype(const Problem& p, Slot table, Slot data);

/// Sets start and width from the slice, or the whole row; checks them.
Status SetSlice(Problem& p, const RotateOptions& options);

/// cos against the operand: rank, broadcast, width. Sets half_width.
Status CheckTable(Problem& p, Slot data);

/// The second operand against cos, and against the first where cos keeps an
/// axis. Rows are as wide.
Status CheckSecondOperand(const Problem& p);

Status CheckPairing(const Problem& p);

/// Runs checks in order up to the first that refuses.
template <class... Checks>
Status FirstRefusal(Checks&&... checks) {
  Status status;
  (void)((status = checks(), status.ok()) && ...);
  return status;
}

}  // namespace ropewalk

#endif  // ROPEWALK_SRC_OPS_CHECK_H_
