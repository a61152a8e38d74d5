// One call of phase one: its arguments, and how it is refused.

#ifndef ROPEWALK_COMPAT_ACLNN_CALL_H_
#define ROPEWALK_COMPAT_ACLNN_CALL_H_

#include <initializer_list>
#include <string>

#include "aclnn/acl_meta.h"
#include "executor.h"
#include "ropewalk/status.h"
#include "ropewalk/tensor.h"
#include "rules.h"
#include "tensor.h"

// Leaves the function with the status of a call that was not a success.
#define RW_TRY(call)                      \
  do {                                    \
    const aclnnStatus rw_status = (call); \
    if (rw_status != 0) [[unlikely]]      \
      return rw_status;                   \
  } while (false)

namespace ropewalk_aclnn {

class Call {
 public:
  // A quiet call leaves no message: it only finds out whether the profile
  // accepts. `executor` is filled in.
  Call(Op op, Profile profile, bool quiet, Executor* executor)
      : op_(op), profile_(profile), quiet_(quiet), executor_(executor) {
    executor->op = op;
  }

  Op op() const { return op_; }
  Executor& executor() { return *executor_; }
  bool Holds(Rule rule) const { return RuleLimit(op_, rule, profile_) != 0; }
  // The rule's number; without the rule, a number above all others.
  int64_t Limit(Rule rule) const {
    const int64_t limit = RuleLimit(op_, rule, profile_);
    return limit != 0 ? limit : INT64_MAX;
  }

  // Says that `argument` breaks the rule: the rule's status, with a message of
  // the need and the fact; success where the profile has no such rule.
  [[gnu::format(printf, 4, 5)]] aclnnStatus Refuse(Rule rule,
                                                   const char* argument,
                                                   const char* fact, ...);
  // The same with the tensor's shape, and maybe another one's, as the fact.
  aclnnStatus RefuseShape(Rule rule, int tensor, int other = -1);
  // A refusal by the native API.
  aclnnStatus Refused(const ropewalk::Status& status);

  // Takes the operator's tensors, in order: pointers, product, descriptors and
  // formats. Those in `unused`, by bit, may be anything that is not null.
  aclnnStatus Load(std::initializer_list<const aclTensor*> tensors,
                   uint32_t unused = 0);
  // The dtypes of the tensors (those that are there) are allowed.
  aclnnStatus CheckDtypes(std::initializer_list<int> tensors);
  // And they are the first one's.
  aclnnStatus CheckSameDtypes(std::initializer_list<int> tensors);
  // Tensor 0 holds positions, of this type; always success.
  aclnnStatus SetPositionsDtype(ropewalk::Dtype type) {
    descs_[0].dtype = type;
    return 0;
  }
  // Sizes that can be computed with. From here on desc() may be asked.
  aclnnStatus CheckSizes();
  aclnnStatus CheckSameShape(int tensor, int as);
  aclnnStatus CheckContiguous(Rule rule, std::initializer_list<int> tensors);
  // Leading axes of the table are 1 or x's; ranks are equal and not 0.
  aclnnStatus CheckBroadcast(int table, int x);
  // The rotated width suits the mode.
  aclnnStatus CheckEven(int tensor, int64_t width, int mode);

  bool has(int tensor) const { return tensors_[tensor] != nullptr; }
  const char* name(int tensor) const { return Info(op_).tensors[tensor]; }
  aclDataType dtype(int tensor) const { return tensors_[tensor]->dtype; }
  const ropewalk::TensorDesc& desc(int tensor) const { return descs_[tensor]; }
  int rank(int tensor) const { return descs_[tensor].rank; }
  int64_t size(int tensor, int axis) const {
    return descs_[tensor].shape[axis];
  }
  // The last axis; the rank is not 0.
  int64_t width(int tensor) const {
    return descs_[tensor].shape[descs_[tensor].rank - 1];
  }

  // The last axis of the table is `width`; by the rule `half`, or half of it.
  aclnnStatus CheckTableWidth(int table, int x, int64_t width, Rule full,
                              Rule half);

  // Leaves the executor with nothing to do.
  aclnnStatus Nothing();
  // Gives the executor its plan, or refuses as the native API did.
  aclnnStatus Take(ropewalk::Result<ropewalk::Plan> plan, Launch launch);

 private:
  const Op op_;
  const Profile profile_;
  const bool quiet_;
  Executor* const executor_;
  uint32_t used_ = 0;
  const Tensor* tensors_[kMaxTensors] = {};
  ropewalk::TensorDesc descs_[kMaxTensors];
};

bool IsEmpty(const ropewalk::TensorDesc& desc) noexcept;
bool IsContiguous(const ropewalk::TensorDesc& desc) noexcept;
std::string ShapeText(const ropewalk::TensorDesc& desc);

// Phase one of every operator. `plan` checks the arguments and fills the
// executor.
using PlanFunction = aclnnStatus (*)(Call& call, const void* arguments);
aclnnStatus PhaseOne(Op op, PlanFunction plan, const void* arguments,
                     uint64_t* workspace_size,
                     aclOpExecutor** executor) noexcept;

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_CALL_H_
