// RopeWithSinCosCache and its V2.

#include <algorithm>
#include <numeric>

#include "aclnnop/aclnn_rope_with_sin_cos_cache.h"
#include "aclnnop/aclnn_rope_with_sin_cos_cache_v2.h"
#include "call.h"
#include "ropewalk/ops.h"

namespace ropewalk_aclnn {
namespace {

struct Arguments {
  const aclTensor *positions, *query, *key, *cache;
  const aclIntArray* sections;
  int64_t head_size;
  bool neox;
  int64_t cache_mode;
  const aclTensor *query_out, *key_out;
};

enum { kPositions, kQuery, kKey, kCache, kQueryOut, kKeyOut };

using Sections = std::span<const int64_t>;

// The lists that documents allow; a profile takes the first few.
constexpr int64_t kLists[][4] = {
    {16, 24, 24}, {24, 20, 20}, {8, 12, 12}, {16, 16, 16, 16}, {11, 11, 10}};
constexpr size_t kListSizes[] = {3, 3, 3, 4, 3};

std::string SectionsText(Sections sections) {
  std::string text = "[";
  for (size_t i = 0; i < sections.size() && i < 8; ++i) {
    text += (i != 0 ? "," : "") + std::to_string(sections[i]);
  }
  return text + (sections.size() > 8 ? ",...]" : "]");
}

aclnnStatus CheckTypes(Call& call) {
  RW_TRY(call.CheckSameDtypes({kQuery, kKey, kCache, kQueryOut, kKeyOut}));
  const aclDataType type = call.dtype(kPositions);
  if (type == ACL_INT64) return call.SetPositionsDtype(ropewalk::Dtype::kI64);
  RW_TRY(call.Refuse(Rule::kDtypePositions, "positions", "is %s",
                     TypeText(type).c_str()));
  if (type == ACL_INT32) return call.SetPositionsDtype(ropewalk::Dtype::kI32);
  return call.Refuse(Rule::kDtypeKnown, "positions", "is %s",
                     TypeText(type).c_str());
}

aclnnStatus CheckOutShape(Call& call, int out, int in) {
  const ropewalk::TensorDesc& a = call.desc(out);
  const ropewalk::TensorDesc& b = call.desc(in);
  if (a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape)) {
    return 0;
  }
  return call.RefuseShape(Rule::kOutShape, out, in);
}

aclnnStatus CheckShapes(Call& call) {
  RW_TRY(call.CheckSizes());
  for (int i : {kQuery, kKey, kCache}) {
    if (call.rank(i) != 2) RW_TRY(call.RefuseShape(Rule::kRank, i));
  }
  for (int i : {kPositions, kQuery, kKey, kCache}) {
    if (IsEmpty(call.desc(i))) RW_TRY(call.RefuseShape(Rule::kNotEmpty, i));
  }
  if (call.rank(kQuery) > 0 && call.rank(kKey) > 0 &&
      call.size(kKey, 0) != call.size(kQuery, 0)) {
    RW_TRY(call.RefuseShape(Rule::kRows, kKey, kQuery));
  }
  RW_TRY(CheckOutShape(call, kQueryOut, kQuery));
  return CheckOutShape(call, kKeyOut, kKey);
}

// In `sections` the list where it is in force, else nothing.
aclnnStatus CheckSections(Call& call, const aclIntArray* list,
                          Sections* sections) {
  constexpr const char* kName = "mropeSection";
  if (list == nullptr) return 0;
  const std::vector<int64_t>* found = FindIntArray(list);
  if (found == nullptr) {
    return call.Refuse(Rule::kDescriptor, kName,
                       "%p is destroyed, or was never created",
                       static_cast<const void*>(list));
  }
  const Sections numbers = *found;
  if (numbers.empty()) return 0;
  const std::string text = SectionsText(numbers);
  const bool off = numbers[0] == 0;
  if (numbers.size() != 3 && numbers.size() != 4) {
    RW_TRY(call.Refuse(off ? Rule::kSectionCountOff : Rule::kSectionCount,
                       kName, "is %s", text.c_str()));
  }
  if (std::any_of(numbers.begin(), numbers.end(),
                  [](int64_t n) { return n < 0; })) {
    RW_TRY(call.Refuse(Rule::kSectionSign, kName, "is %s", text.c_str()));
  }
  if (off) return 0;
  uint64_t sum = 0;
  for (int64_t n : numbers) sum += static_cast<uint64_t>(n);
  const int64_t rotary_dim = call.rank(kCache) > 0 ? call.width(kCache) : 0;
  if (2 * sum != static_cast<uint64_t>(rotary_dim)) {
    RW_TRY(call.Refuse(Rule::kSectionSum, kName, "is %s, and rotaryDim is %lld",
                       text.c_str(), static_cast<long long>(rotary_dim)));
  }
  bool listed = false;
  const int64_t lists = call.Limit(Rule::kSectionList);
  for (size_t i = 0; i < std::size(kLists) && static_cast<int64_t>(i) < lists;
       ++i) {
    listed |= std::ranges::equal(numbers, Sections(kLists[i], kListSizes[i]));
  }
  if (!listed) {
    RW_TRY(call.Refuse(Rule::kSectionList, kName, "is %s", text.c_str()));
  }
  *sections = numbers;
  return 0;
}

aclnnStatus CheckWidths(Call& call, int64_t head_size) {
  const long long head = head_size;
  if (head_size <= 0) {
    RW_TRY(call.Refuse(Rule::kHeadSize, "headSize", "is %lld", head));
  }
  if (call.rank(kCache) == 0) return 0;  // the native API refuses it
  const int64_t rotary_dim = call.width(kCache);
  const int64_t unit = call.dtype(kQuery) == ACL_FLOAT ? 16 : 32;
  if (head_size % unit != 0) {
    RW_TRY(call.Refuse(Rule::kHeadAligned, "headSize", "is %lld", head));
  }
  if (rotary_dim % unit != 0) {
    RW_TRY(call.RefuseShape(Rule::kRotaryAligned, kCache));
  }
  RW_TRY(call.CheckEven(kCache, rotary_dim, 0));
  if (rotary_dim > head_size) {
    RW_TRY(call.Refuse(Rule::kRotaryFits, "cosSinCache",
                       "it is %lld, and headSize is %lld",
                       static_cast<long long>(rotary_dim), head));
  }
  for (int i : {kQuery, kKey}) {
    if (call.rank(i) != 2 || call.width(i) % head_size == 0) continue;
    RW_TRY(call.Refuse(Rule::kHeadsWhole, call.name(i),
                       "is %s, and headSize is %lld",
                       ShapeText(call.desc(i)).c_str(), head));
  }
  return 0;
}

aclnnStatus CheckPositions(Call& call, Sections sections) {
  const bool axes = !sections.empty();
  if (call.rank(kPositions) != (axes ? 2 : 1)) {
    return call.RefuseShape(Rule::kPositionsRank, kPositions);
  }
  const int64_t rows = static_cast<int64_t>(sections.size());
  if ((axes && call.size(kPositions, 0) != rows) ||
      call.width(kPositions) != call.size(kQuery, 0)) {
    return call.RefuseShape(Rule::kPositionsLength, kPositions, kQuery);
  }
  return 0;
}

aclnnStatus CheckStrides(Call& call) {
  for (int i : {kQuery, kKey}) {
    const ropewalk::TensorDesc& desc = call.desc(i);
    if (desc.rank == 0 || call.width(i) <= 1) continue;
    if (desc.strides[desc.rank - 1] == 1) continue;
    RW_TRY(call.Refuse(Rule::kContiguousRows, call.name(i), "is %lld",
                       static_cast<long long>(desc.strides[desc.rank - 1])));
  }
  return call.CheckContiguous(Rule::kContiguousCache, {kQueryOut, kKeyOut});
}

ropewalk::Status Launch(const Executor& executor, void* const* address,
                        const ropewalk::RunOptions& options) {
  ropewalk::RotateCachedBuffers buffers;
  buffers.positions = address[kPositions];
  buffers.cache = address[kCache];
  buffers.query = address[kQuery];
  buffers.query_out = address[kQueryOut];
  buffers.key = address[kKey];
  buffers.key_out = address[kKeyOut];
  return executor.plan->Run(buffers, options);
}

aclnnStatus MakePlan(Call& call, const Arguments& a, Sections sections) {
  ropewalk::RotateCachedOptions options;
  options.head_size = a.head_size;
  options.style =
      a.neox ? ropewalk::CachedStyle::kNeox : ropewalk::CachedStyle::kGptj;
  options.sections = sections;
  options.axes = a.cache_mode == 1 ? ropewalk::AxisLayout::kInterleaved
                                   : ropewalk::AxisLayout::kSegmented;
  ropewalk::RotateCachedTensors tensors;
  tensors.positions = call.desc(kPositions);
  tensors.cache = call.desc(kCache);
  tensors.query = call.desc(kQuery);
  tensors.query_out = call.desc(kQueryOut);
  tensors.key = call.desc(kKey);
  tensors.key_out = call.desc(kKeyOut);
  return call.Take(ropewalk::MakeRotateCachedPlan(options, tensors), Launch);
}

aclnnStatus Plan(Call& call, const void* arguments) {
  const Arguments& a = *static_cast<const Arguments*>(arguments);
  if (a.cache_mode != 0 && a.cache_mode != 1) {
    RW_TRY(call.Refuse(Rule::kCacheMode, "cacheMode", "is %lld",
                       static_cast<long long>(a.cache_mode)));
  }
  RW_TRY(call.Load(
      {a.positions, a.query, a.key, a.cache, a.query_out, a.key_out}));
  RW_TRY(CheckTypes(call));
  RW_TRY(CheckShapes(call));
  Sections sections;
  RW_TRY(CheckSections(call, a.sections, &sections));
  RW_TRY(CheckWidths(call, a.head_size));
  RW_TRY(CheckPositions(call, sections));
  if (sections.size() == 4 && a.cache_mode == 1) {
    RW_TRY(
        call.Refuse(Rule::kFourInterleaved, "mropeSection", "cacheMode is 1"));
  }
  RW_TRY(CheckStrides(call));
  return MakePlan(call, a, sections);
}

}  // namespace
}  // namespace ropewalk_aclnn

using namespace ropewalk_aclnn;  // NOLINT: the C functions below

aclnnStatus aclnnRopeWithSinCosCacheGetWorkspaceSize(
    const aclTensor* positions, const aclTensor* queryIn,
    const aclTensor* keyIn, const aclTensor* cosSinCache,
    const aclIntArray* mropeSection, int64_t headSize, bool isNeoxStyle,
    aclTensor* queryOut, aclTensor* keyOut, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
  const Arguments arguments = {positions,    queryIn,  keyIn,       cosSinCache,
                               mropeSection, headSize, isNeoxStyle, 0,
                               queryOut,     keyOut};
  return PhaseOne(Op::kRopeWithSinCosCache, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnRopeWithSinCosCache(void* workspace, uint64_t workspaceSize,
                                     aclOpExecutor* executor,
                                     aclrtStream stream) {
  return Run(Op::kRopeWithSinCosCache, workspace, workspaceSize, executor,
             stream);
}

aclnnStatus aclnnRopeWithSinCosCacheV2GetWorkspaceSize(
    const aclTensor* positions, const aclTensor* queryIn,
    const aclTensor* keyIn, const aclTensor* cosSinCache,
    const aclIntArray* mropeSection, int64_t headSize, bool isNeoxStyle,
    int64_t cacheMode, aclTensor* queryOut, aclTensor* keyOut,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
  const Arguments arguments = {positions,    queryIn,  keyIn,       cosSinCache,
                               mropeSection, headSize, isNeoxStyle, cacheMode,
                               queryOut,     keyOut};
  return PhaseOne(Op::kRopeWithSinCosCacheV2, Plan, &arguments, workspaceSize,
                  executor);
}

aclnnStatus aclnnRopeWithSinCosCacheV2(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor,
                                       aclrtStream stream) {
  return Run(Op::kRopeWithSinCosCacheV2, workspace, workspaceSize, executor,
             stream);
}
