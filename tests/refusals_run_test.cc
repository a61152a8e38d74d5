// Refusals of runs, of each pointer of each operator, with nothing written; and
// of what is not an operator.

#include <cstring>
#include <utility>

#include "support/refusals.h"
#include "support/run.h"

namespace ropewalk::test {
namespace {

// All tensors of two operands with dcos and dsin: (4, 2, 8), tables (4, 1, 8).
struct Memories {
  Memories() : in(17) {
    for (int i = 0; i < 17; ++i) {
      in[static_cast<size_t>(i)].assign(4 * 2 * 8, static_cast<float>(i));
    }
  }
  float* operator[](size_t i) { return in[i].data(); }
  std::vector<std::vector<float>> in;
};

TensorDesc Data() { return Contiguous(Dtype::kF32, {4, 2, 8}); }
TensorDesc Table() { return Contiguous(Dtype::kF32, {4, 1, 8}); }

void ExpectRefused(const std::string& what, const Status& status, Code code,
                   const std::string& message) {
  EXPECT_EQ(status.code(), code) << what;
  EXPECT_EQ(status.message(), message) << what;
  NoteRefusal(what, status.message());
}

// Runs with each pointer null in turn.
template <class Buffers>
void CheckNulls(
    const Plan& plan, const char* op, Buffers buffers,
    const std::vector<std::pair<const char*, const void * Buffers::*>>& inputs,
    const std::vector<std::pair<const char*, void * Buffers::*>>& outputs) {
  const auto check = [&](const char* name, const Buffers& spoilt) {
    ExpectRefused(
        std::string("run with null ") + name, plan.Run(spoilt),
        Code::kNullPointer,
        std::string("[") + op + "] " + name + ": needs data but is null");
  };
  for (const auto& [name, member] : inputs) {
    Buffers spoilt = buffers;
    spoilt.*member = nullptr;
    check(name, spoilt);
  }
  for (const auto& [name, member] : outputs) {
    Buffers spoilt = buffers;
    spoilt.*member = nullptr;
    check(name, spoilt);
  }
}

TEST(RunRefusals, NullPointersOfRotate) {
  Memories m;
  const Memories before = m;
  const Result<Plan> plan =
      MakeRotatePlan({}, {Data(), Table(), Table(), Data(), Data(), Data()});
  ASSERT_TRUE(plan.ok());
  using B = RotateBuffers;
  CheckNulls<B>(
      *plan, "rotate", {m[0], m[1], m[2], m[3], m[4], m[5]},
      {{"x", &B::x}, {"cos", &B::cos}, {"sin", &B::sin}, {"x2", &B::x2}},
      {{"y", &B::y}, {"y2", &B::y2}});
  EXPECT_EQ(m.in, before.in);
}

TEST(RunRefusals, NullPointersOfRotateBackward) {
  Memories m;
  const Memories before = m;
  const Result<Plan> plan =
      MakeRotateBackwardPlan({}, {Data(), Table(), Table(), Data(), Data(),
                                  Table(), Table(), Data(), Data(), Data()});
  ASSERT_TRUE(plan.ok());
  using B = RotateBackwardBuffers;
  CheckNulls<B>(*plan, "rotate_backward",
                {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9]},
                {{"dy", &B::dy},
                 {"cos", &B::cos},
                 {"sin", &B::sin},
                 {"x", &B::x},
                 {"dy2", &B::dy2},
                 {"x2", &B::x2}},
                {{"dx", &B::dx},
                 {"dcos", &B::dcos},
                 {"dsin", &B::dsin},
                 {"dx2", &B::dx2}});
  EXPECT_EQ(m.in, before.in);
}

TEST(RunRefusals, NullPointersAndPositionsOfRotateCached) {
  Memories m;
  int64_t positions[] = {0, 3, 1, 2};
  RotateCachedOptions options;
  options.head_size = 8;
  const TensorDesc rows = Contiguous(Dtype::kF32, {4, 8});
  const Result<Plan> plan = MakeRotateCachedPlan(
      options, {Contiguous(Dtype::kI64, {4}), rows, rows, rows, rows, rows});
  ASSERT_TRUE(plan.ok());
  const Memories before = m;
  using B = RotateCachedBuffers;
  const B good = {positions, m[0], m[1], m[2], m[3], m[4]};
  CheckNulls<B>(*plan, "rotate_cached", good,
                {{"positions", &B::positions},
                 {"cache", &B::cache},
                 {"query", &B::query},
                 {"key", &B::key}},
                {{"query_out", &B::query_out}, {"key_out", &B::key_out}});
  for (const int64_t bad : {int64_t{-1}, int64_t{4}, INT64_MIN, INT64_MAX}) {
    positions[2] = bad;
    ExpectRefused("run with a position outside the cache", plan->Run(good),
                  Code::kPosition,
                  "[rotate_cached] positions: must be at least 0 and below the "
                  "4 rows of cache, but positions[2] is " +
                      std::to_string(bad));
  }
  EXPECT_EQ(m.in, before.in);
}

TEST(RunRefusals, PlacesOfOutputs) {
  Memories m;
  const Memories before = m;
  const Result<Plan> plan =
      MakeRotatePlan({}, {Data(), Table(), Table(), Data()});
  ASSERT_TRUE(plan.ok());
  ExpectRefused("run with y a bit behind x",
                plan->Run(RotateBuffers{m[0], m[1], m[2], m[0] + 1}),
                Code::kOverlap,
                "[rotate] y: must not overlap x unless they coincide exactly, "
                "but does");
  ExpectRefused("run with y on cos",
                plan->Run(RotateBuffers{m[0], m[1], m[2], m[1]}),
                Code::kOverlap, "[rotate] y: must not overlap cos, but does");
  EXPECT_EQ(m.in, before.in);
}

// What cannot be decided in bounded time is refused, in these words.
TEST(RunRefusals, OverlapThatTakesTooLong) {
  const TensorDesc hard =
      Strided(Dtype::kF32, {4, 4, 4, 4, 4, 4, 4, 4},
              {1000000007, 1171319531, 1308345127, 1443110399, 1597463007,
               1700000009, 1832719231, 1999999973});
  const TensorDesc plain = Contiguous(Dtype::kF32, {4, 4, 4, 4, 4, 4, 4, 4});
  const TensorDesc table = Contiguous(Dtype::kF32, {1, 1, 1, 1, 1, 1, 1, 4});
  ExpectRefused("plan of y with strides that are too hard",
                MakeRotatePlan({}, {plain, table, table, hard}).status(),
                Code::kOverlap,
                "[rotate] y: an output must not overlap itself, which could "
                "not be decided for these strides");
  // Nothing lies at these addresses.
  const Shape shape = {9, 9, 9, 9, 4};
  const TensorDesc x =
      Strided(Dtype::kF32, shape,
              {1000000008, 1171319534, 1308345132, 1443110406, 1597463016});
  const TensorDesc y =
      Strided(Dtype::kF32, shape,
              {1000000007, 1171319531, 1308345127, 1443110399, 1597463007});
  const TensorDesc row = Contiguous(Dtype::kF32, {1, 1, 1, 1, 4});
  const Result<Plan> plan = MakeRotatePlan({}, {x, row, row, y});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const float one = 1;
  const uintptr_t at = uintptr_t{1} << 44;
  ExpectRefused(
      "run of x with strides that are too hard",
      plan->Run(RotateBuffers{reinterpret_cast<const void*>(at), &one, &one,
                              reinterpret_cast<void*>(at + 4000000004)}),
      Code::kOverlap,
      "[rotate] y: must not overlap x, which could not be decided for these "
      "strides");
}

TEST(RunRefusals, BuffersWorkspaceAndPlan) {
  Memories m;
  Result<Plan> plan = MakeRotatePlan({}, {Data(), Table(), Table(), Data()});
  ASSERT_TRUE(plan.ok());
  ExpectRefused("run with buffers of another operator",
                plan->Run(RotateCachedBuffers{}), Code::kOption,
                "[rotate] buffers: must be those of rotate, but are "
                "RotateCachedBuffers");
  const Plan moved = std::move(*plan);
  ExpectRefused("run of a plan that was moved from", plan->Run(RotateBuffers{}),
                Code::kOption, "[plan] Run: the plan was moved from");
  // One table row for many rows: sums in chunks, in workspace.
  const TensorDesc many = Contiguous(Dtype::kF32, {4096, 8});
  const TensorDesc one = Contiguous(Dtype::kF32, {1, 8});
  const Result<Plan> sums = MakeRotateBackwardPlan(
      {}, {many, one, one, many, {}, one, one, {}, {}, {}});
  ASSERT_TRUE(sums.ok());
  const size_t need = sums->workspace_bytes();
  ASSERT_GT(need, 0u);
  std::vector<float> data(4096 * 8);
  const RotateBackwardBuffers buffers = {data.data(), m[1], m[2], data.data(),
                                         nullptr,     m[3], m[4]};
  const Memory memory(need + 64, Placement::kPadded, 64);
  const std::string text = "[rotate_backward] workspace: must be " +
                           std::to_string(need) +
                           " bytes aligned to 64, but is ";
  ExpectRefused("run without workspace", sums->Run(buffers), Code::kOutOfMemory,
                text + "0 bytes");
  ExpectRefused("run with workspace that is not aligned",
                sums->Run(buffers, {nullptr, {memory.data() + 1, need}}),
                Code::kOutOfMemory,
                text + std::to_string(need) + " bytes not aligned");
  ExpectRefused("run with a small workspace",
                sums->Run(buffers, {nullptr, {memory.data(), need - 1}}),
                Code::kOutOfMemory, text + std::to_string(need - 1) + " bytes");
}

TEST(RunRefusals, Targets) {
  const std::string before = CurrentTarget();
  const Status status = ForceTarget("MMX");
  EXPECT_EQ(status.code(), Code::kOption);
  EXPECT_TRUE(
      status.message().starts_with("[targets] target: must be one of "));
  EXPECT_TRUE(status.message().ends_with(", but is \"MMX\""));
  EXPECT_EQ(CurrentTarget(), before);
  NoteRefusal("ForceTarget of an unknown name", status.message());
}

}  // namespace
}  // namespace ropewalk::test
