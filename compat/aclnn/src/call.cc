#include "call.h"

#include <cstdarg>
#include <cstdio>

#include "aclnn/opdev/op_errno.h"
#include "error.h"

namespace ropewalk_aclnn {
namespace {

// False where the native API has no such type.
bool NativeDtype(aclDataType dtype, ropewalk::Dtype* native) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      *native = ropewalk::Dtype::kF32;
      return true;
    case ACL_FLOAT16:
      *native = ropewalk::Dtype::kF16;
      return true;
    case ACL_BF16:
      *native = ropewalk::Dtype::kBF16;
      return true;
    case ACL_DOUBLE:
      *native = ropewalk::Dtype::kF64;
      return true;
    case ACL_INT32:
      *native = ropewalk::Dtype::kI32;
      return true;
    case ACL_INT64:
      *native = ropewalk::Dtype::kI64;
      return true;
    default:
      return false;
  }
}

bool IsPlain(aclFormat format) noexcept {
  return format == ACL_FORMAT_ND || format == ACL_FORMAT_NCHW ||
         format == ACL_FORMAT_NHWC || format == ACL_FORMAT_NCL ||
         format == ACL_FORMAT_NCDHW;
}

bool IsSmallFloat(aclDataType dtype) noexcept {
  return dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}

aclnnStatus StatusOf(ropewalk::Code code) noexcept {
  switch (code) {
    case ropewalk::Code::kOk:
      return ACLNN_SUCCESS;
    case ropewalk::Code::kNullPointer:
      return ACLNN_ERR_PARAM_NULLPTR;
    case ropewalk::Code::kDtype:
    case ropewalk::Code::kPosition:
    case ropewalk::Code::kOverlap:
      return ACLNN_ERR_PARAM_INVALID;
    case ropewalk::Code::kShape:
    case ropewalk::Code::kOption:
      return ACLNN_ERR_INNER_TILING_ERROR;
    default:
      return ACLNN_ERR_INNER;
  }
}

}  // namespace

bool IsEmpty(const ropewalk::TensorDesc& desc) noexcept {
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.shape[i] == 0) return true;
  }
  return false;
}

bool IsContiguous(const ropewalk::TensorDesc& desc) noexcept {
  if (IsEmpty(desc)) return true;
  uint64_t step = 1;  // wraps where sizes are absurd
  for (int i = desc.rank; i-- > 0;) {
    if (desc.shape[i] == 1) continue;
    if (static_cast<uint64_t>(desc.strides[i]) != step) return false;
    step *= static_cast<uint64_t>(desc.shape[i]);
  }
  return true;
}

std::string ShapeText(const ropewalk::TensorDesc& desc) {
  std::string text = "(";
  for (int i = 0; i < desc.rank; ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(desc.shape[i]);
  }
  return text + ")";
}

aclnnStatus Call::Refuse(Rule rule, const char* argument, const char* fact,
                         ...) {
  const RuleRow* row = FindRule(op_, rule);
  if (row == nullptr || row->limits[static_cast<int>(profile_)] == 0) {
    return ACLNN_SUCCESS;
  }
  if (quiet_) return row->status;
  char text[512];
  va_list args;
  va_start(args, fact);
  std::vsnprintf(text, sizeof(text), fact, args);
  va_end(args);
  Fail(row->status, "%s: %s: %s, but %s [rule %s of profile %s", Info(op_).name,
       argument, NeedText(*row, profile_).c_str(), text, row->name,
       ProfileName(profile_));
  return row->status;
}

aclnnStatus Call::RefuseShape(Rule rule, int tensor, int other) {
  if (!Holds(rule)) return ACLNN_SUCCESS;
  const std::string shape = ShapeText(desc(tensor));
  if (other < 0) return Refuse(rule, name(tensor), "is %s", shape.c_str());
  return Refuse(rule, name(tensor), "is %s, and %s is %s", shape.c_str(),
                name(other), ShapeText(desc(other)).c_str());
}

aclnnStatus Call::Refused(const ropewalk::Status& status) {
  if (!quiet_) {
    Fail(0, "%s: %s [profile %s", Info(op_).name,
         InOwnWords(op_, status.message()).c_str(), ProfileName(profile_));
  }
  return StatusOf(status.code());
}

aclnnStatus Call::Load(std::initializer_list<const aclTensor*> tensors,
                       uint32_t unused) {
  const OpInfo& info = Info(op_);
  const aclTensor* const* handle = tensors.begin();
  const int count = static_cast<int>(tensors.size());
  for (int i = 0; i < count; ++i) {
    if (handle[i] == nullptr && (info.optional >> i & 1) == 0) [[unlikely]] {
      return Refuse(Rule::kPointer, name(i), "is null");
    }
  }
  if (Holds(Rule::kProduct)) {
    return Refuse(Rule::kProduct, "the operator", "is not on this one");
  }
  for (int i = 0; i < count; ++i) {
    if (handle[i] == nullptr) continue;
    const Tensor* tensor = FindTensor(handle[i]);
    if (tensor == nullptr) [[unlikely]] {
      return Refuse(Rule::kDescriptor, name(i),
                    "%p is destroyed, or was never created",
                    static_cast<const void*>(handle[i]));
    }
    tensors_[i] = tensor;
    executor_->bindings[i] = {ToHandle(handle[i]), tensor->Address(), 0};
    if ((unused >> i & 1) != 0) continue;
    used_ |= 1u << i;
    if (!IsPlain(tensor->format)) [[unlikely]] {
      RW_TRY(Refuse(Rule::kFormat, name(i), "is %d", tensor->format));
    }
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckDtypes(std::initializer_list<int> tensors) {
  for (int i : tensors) {
    if (!has(i) || (used_ >> i & 1) == 0) continue;
    const aclDataType type = dtype(i);
    if (type != ACL_FLOAT && !IsSmallFloat(type)) {
      RW_TRY(Refuse(Rule::kDtype, name(i), "is %s", TypeText(type).c_str()));
    }
    if (!IsSmallFloat(type)) {
      RW_TRY(
          Refuse(Rule::kDtypeHalf, name(i), "is %s", TypeText(type).c_str()));
    }
    if (!NativeDtype(type, &descs_[i].dtype)) {
      RW_TRY(
          Refuse(Rule::kDtypeKnown, name(i), "is %s", TypeText(type).c_str()));
    }
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckSameDtypes(std::initializer_list<int> tensors) {
  RW_TRY(CheckDtypes(tensors));
  const int first = *tensors.begin();
  for (int i : tensors) {
    if (!has(i) || (used_ >> i & 1) == 0 || dtype(i) == dtype(first)) continue;
    RW_TRY(Refuse(Rule::kDtypeSame, name(i), "is %s, and %s is %s",
                  TypeText(dtype(i)).c_str(), name(first),
                  TypeText(dtype(first)).c_str()));
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckSizes() {
  for (int i = 0; i < kMaxTensors; ++i) {
    if ((used_ >> i & 1) == 0) continue;
    const Tensor& tensor = *tensors_[i];
    const uint64_t rank = tensor.shape.size();
    if (rank > ropewalk::kMaxRank) {
      return Refuse(Rule::kSizes, name(i), "has rank %llu",
                    static_cast<unsigned long long>(rank));
    }
    ropewalk::TensorDesc& desc = descs_[i];
    desc.rank = static_cast<int>(rank);
    std::copy_n(tensor.shape.data(), rank, desc.shape);
    std::copy_n(tensor.strides.data(), rank, desc.strides);
    for (int axis = 0; axis < desc.rank; ++axis) {
      if (desc.shape[axis] < 0) return RefuseShape(Rule::kSizes, i);
    }
    executor_->bindings[i].offset = static_cast<int64_t>(
        static_cast<uint64_t>(tensor.offset) * ElementSize(tensor.dtype));
    if (!IsEmpty(desc)) executor_->needed |= 1u << i;
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckSameShape(int tensor, int as) {
  const ropewalk::TensorDesc& a = desc(tensor);
  const ropewalk::TensorDesc& b = desc(as);
  if (a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape)) {
    return ACLNN_SUCCESS;
  }
  return RefuseShape(Rule::kSameShape, tensor, as);
}

aclnnStatus Call::CheckContiguous(Rule rule,
                                  std::initializer_list<int> tensors) {
  for (int i : tensors) {
    if (!has(i) || (used_ >> i & 1) == 0 || IsContiguous(desc(i))) continue;
    RW_TRY(Refuse(rule, name(i), "its strides have gaps or another order"));
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckBroadcast(int table, int x) {
  if (rank(x) == 0) return RefuseShape(Rule::kRankAny, x);
  if (rank(table) != rank(x)) return RefuseShape(Rule::kRankAny, table, x);
  for (int axis = 0; axis + 1 < rank(x); ++axis) {
    if (size(table, axis) != 1 && size(table, axis) != size(x, axis)) {
      return RefuseShape(Rule::kBroadcast, table, x);
    }
  }
  return ACLNN_SUCCESS;
}

aclnnStatus Call::CheckEven(int tensor, int64_t width, int mode) {
  const bool quarter = mode == 2;
  if (width % (quarter ? 4 : 2) == 0) return ACLNN_SUCCESS;
  return Refuse(quarter ? Rule::kWidthQuarter : Rule::kWidthEven, name(tensor),
                "is %lld", static_cast<long long>(width));
}

aclnnStatus Call::CheckTableWidth(int table, int x, int64_t w, Rule full,
                                  Rule half) {
  if (width(table) == w) return ACLNN_SUCCESS;
  RW_TRY(RefuseShape(full, table, x));
  if (w % 2 == 0 && width(table) == w / 2) return ACLNN_SUCCESS;
  return RefuseShape(half, table, x);
}

aclnnStatus Call::Take(ropewalk::Result<ropewalk::Plan> plan, Launch launch) {
  if (!plan.ok()) return Refused(plan.status());
  const size_t bytes = plan->workspace_bytes();
  // Phase two aligns what it is given.
  executor_->workspace_size = bytes != 0 ? bytes + kAlignment - 1 : 0;
  executor_->plan.emplace(std::move(plan).value());
  executor_->launch = launch;
  return ACLNN_SUCCESS;
}

aclnnStatus Call::Nothing() {
  executor_->launch = nullptr;
  return ACLNN_SUCCESS;
}

}  // namespace ropewalk_aclnn
