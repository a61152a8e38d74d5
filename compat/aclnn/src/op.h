// The operators: their names and the order of their tensors.

#ifndef ROPEWALK_COMPAT_ACLNN_OP_H_
#define ROPEWALK_COMPAT_ACLNN_OP_H_

#include <cstdint>
#include <string>

namespace ropewalk_aclnn {

enum class Op : uint8_t {
  kRotaryPositionEmbedding,
  kRotaryPositionEmbeddingV2,
  kRotaryPositionEmbeddingGrad,
  kInplacePartialRotaryMul,
  kInplacePartialRotaryMulGrad,
  kRopeWithSinCosCache,
  kRopeWithSinCosCacheV2,
  kApplyRotaryPosEmb,
  kApplyRotaryPosEmbV2,
  kApplyRotaryPosEmbGrad,
  kInterleaveRope,
};
inline constexpr int kOps = 11;
inline constexpr int kMaxTensors = 10;

// Tensors are numbered inputs first, then outputs.
struct OpInfo {
  const char* name;
  int inputs;
  int outputs;
  const char* tensors[kMaxTensors];
  // The native API's names of them, space between; an output that is its input
  // has both of its names with "=".
  const char* native;
  // Which tensors may be null, by bit.
  uint32_t optional;
  // The output with the input's name and memory; they share the input's number.
  bool in_place;
  // How CANN treats aclSetInputTensorAddr: in the operators that it writes by
  // hand the index means nothing, the tensor decides.
  bool by_tensor;
};

const OpInfo& Info(Op op) noexcept;

// A message of the native API with the operator's names of the tensors.
std::string InOwnWords(Op op, const std::string& message);

}  // namespace ropewalk_aclnn

#endif  // ROPEWALK_COMPAT_ACLNN_OP_H_
