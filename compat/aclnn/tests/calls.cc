// Calls of any operator, and a valid call of each.

#include "aclnnop/aclnn_apply_rotary_pos_emb.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_grad.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb_v2.h"
#include "aclnnop/aclnn_inplace_partial_rotary_mul.h"
#include "aclnnop/aclnn_inplace_partial_rotary_mul_grad.h"
#include "aclnnop/aclnn_interleave_rope.h"
#include "aclnnop/aclnn_rope_with_sin_cos_cache.h"
#include "aclnnop/aclnn_rope_with_sin_cos_cache_v2.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_rotary_position_embedding_grad.h"
#include "aclnnop/aclnn_rotary_position_embedding_v2.h"
#include "support.h"

namespace ropewalk_aclnn {
namespace {

using Tensors = std::vector<std::pair<Shape, aclDataType>>;

Arguments Make(Op op, const std::vector<Shape>& shapes, aclDataType dtype) {
  Arguments a;
  a.op = op;
  for (size_t i = 0; i < shapes.size(); ++i) {
    a.Put(static_cast<int>(i), shapes[i], dtype);
  }
  return a;
}

Arguments MakeCached(Op op) {
  Arguments a = Make(op, {{3}, {3, 128}, {3, 64}, {16, 64}, {3, 128}, {3, 64}},
                     ACL_FLOAT);
  a.Put(0, TestTensor({3}, {5, 0, 15}, ACL_INT64));
  return a;
}

}  // namespace

Arguments Accepted(Op op) {
  const Shape x = {2, 8, 4, 64};
  const Shape table = {1, 8, 1, 64};
  const Shape q = {2, 4, 3, 64};
  const Shape k = {2, 4, 1, 64};
  switch (op) {
    case Op::kRotaryPositionEmbedding:
      return Make(op, {x, table, table, x}, ACL_FLOAT);
    case Op::kRotaryPositionEmbeddingV2: {
      Arguments a = Make(op, {x, table, table, {64, 64}, x}, ACL_FLOAT);
      a.Null(3);
      return a;
    }
    case Op::kRotaryPositionEmbeddingGrad:
      return Make(op, {x, table, table, x, x, table, table}, ACL_FLOAT);
    case Op::kInplacePartialRotaryMul:
    case Op::kInplacePartialRotaryMulGrad: {
      Arguments a =
          Make(op, {{2, 3, 4, 64}, {2, 3, 1, 32}, {2, 3, 1, 32}}, ACL_FLOAT);
      a.mode = 1;
      a.list = {8, 40};
      return a;
    }
    case Op::kRopeWithSinCosCache:
    case Op::kRopeWithSinCosCacheV2:
      return MakeCached(op);
    case Op::kApplyRotaryPosEmb:
    case Op::kApplyRotaryPosEmbV2:
      return Make(op, {q, k, {2, 4, 1, 64}, {2, 4, 1, 64}}, ACL_FLOAT);
    case Op::kApplyRotaryPosEmbGrad: {
      const Shape t = {2, 4, 1, 64};
      return Make(op, {q, k, t, t, q, k, q, k, t, t}, ACL_FLOAT);
    }
    case Op::kInterleaveRope:
      break;
  }
  return Make(Op::kInterleaveRope,
              {{2, 3, 5, 64}, {2, 1, 5, 64}, {2, 1, 5, 64}, {2, 3, 5, 64}},
              ACL_FLOAT16);
}

int PhaseOne(const Arguments& a, uint64_t* size, aclOpExecutor** executor,
             const std::vector<aclTensor*>& handles) {
  std::vector<aclTensor*> t = handles;
  for (size_t i = t.size(); i < a.tensors.size(); ++i) {
    t.push_back(a.tensors[i] != nullptr ? a.tensors[i]->get() : nullptr);
  }
  aclIntArray* list = nullptr;
  if (a.list) list = aclCreateIntArray(a.list->data(), a.list->size());
  char* mode = const_cast<char*>(a.rotary_mode);
  int status = -1;
  switch (a.op) {
    case Op::kRotaryPositionEmbedding:
      status = aclnnRotaryPositionEmbeddingGetWorkspaceSize(
          t[0], t[1], t[2], a.mode, t[3], size, executor);
      break;
    case Op::kRotaryPositionEmbeddingV2:
      status = aclnnRotaryPositionEmbeddingV2GetWorkspaceSize(
          t[0], t[1], t[2], a.mode, t[3], t[4], size, executor);
      break;
    case Op::kRotaryPositionEmbeddingGrad:
      status = aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(
          t[0], t[1], t[2], t[3], a.mode, t[4], t[5], t[6], size, executor);
      break;
    case Op::kInplacePartialRotaryMul:
      status = aclnnInplacePartialRotaryMulGetWorkspaceSize(
          t[0], t[1], t[2], a.mode, list, size, executor);
      break;
    case Op::kInplacePartialRotaryMulGrad:
      status = aclnnInplacePartialRotaryMulGradGetWorkspaceSize(
          t[0], t[1], t[2], a.mode, list, size, executor);
      break;
    case Op::kRopeWithSinCosCache:
      status = aclnnRopeWithSinCosCacheGetWorkspaceSize(
          t[0], t[1], t[2], t[3], list, a.head_size, a.neox, t[4], t[5], size,
          executor);
      break;
    case Op::kRopeWithSinCosCacheV2:
      status = aclnnRopeWithSinCosCacheV2GetWorkspaceSize(
          t[0], t[1], t[2], t[3], list, a.head_size, a.neox, a.cache_mode, t[4],
          t[5], size, executor);
      break;
    case Op::kApplyRotaryPosEmb:
      status = aclnnApplyRotaryPosEmbGetWorkspaceSize(t[0], t[1], t[2], t[3],
                                                      a.layout, size, executor);
      break;
    case Op::kApplyRotaryPosEmbV2:
      status = aclnnApplyRotaryPosEmbV2GetWorkspaceSize(
          t[0], t[1], t[2], t[3], a.layout, mode, size, executor);
      break;
    case Op::kApplyRotaryPosEmbGrad:
      status = aclnnApplyRotaryPosEmbGradGetWorkspaceSize(
          t[0], t[1], t[2], t[3], t[4], t[5], mode, a.layout, t[6], t[7], t[8],
          t[9], size, executor);
      break;
    case Op::kInterleaveRope:
      status = aclnnInterleaveRopeGetWorkspaceSize(t[0], t[1], t[2], t[3], size,
                                                   executor);
      break;
  }
  aclDestroyIntArray(list);
  return status;
}

int PhaseTwo(Op op, void* workspace, uint64_t size, aclOpExecutor* executor,
             aclrtStream stream) {
  using Function = int (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  constexpr Function kFunctions[] = {aclnnRotaryPositionEmbedding,
                                     aclnnRotaryPositionEmbeddingV2,
                                     aclnnRotaryPositionEmbeddingGrad,
                                     aclnnInplacePartialRotaryMul,
                                     aclnnInplacePartialRotaryMulGrad,
                                     aclnnRopeWithSinCosCache,
                                     aclnnRopeWithSinCosCacheV2,
                                     aclnnApplyRotaryPosEmb,
                                     aclnnApplyRotaryPosEmbV2,
                                     aclnnApplyRotaryPosEmbGrad,
                                     aclnnInterleaveRope};
  return kFunctions[static_cast<int>(op)](workspace, size, executor, stream);
}

}  // namespace ropewalk_aclnn
