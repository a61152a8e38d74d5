// Plans as objects: what they say, which buffers they take, and what they
// refuse when run. Nothing is written on a refusal.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "support/cases.h"
#include "support/executors.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

// One forward rotation with all its memory.
struct Small {
  explicit Small(Dtype dtype = Dtype::kF32, const Shape& shape = {4, 3, 32},
                 const Shape& table = {4, 1, 32})
      : random(1),
        x(dtype, shape, Data::kNormal, random),
        cos(dtype, table, Data::kUnit, random),
        sin(dtype, table, Data::kUnit, random),
        y(dtype, shape) {}
  RotateRun Run() const { return {{}, x.in(), cos.in(), sin.in(), y.out()}; }
  TestTensor Want() const {
    TestTensor want(y.desc());
    RunReference(
        {{}, Direction::kForward, x.in(), cos.in(), sin.in(), want.out()});
    return want;
  }

  Random random;
  TestTensor x, cos, sin, y;
};

// Backward sums over many rows: such a plan needs a workspace.
struct Chunked {
  Chunked()
      : random(2),
        dy(Dtype::kF32, {30000, 64}, Data::kNormal, random),
        x(Dtype::kF32, {30000, 64}, Data::kNormal, random),
        cos(Dtype::kF32, {1, 64}, Data::kUnit, random),
        dcos(Dtype::kF32, {1, 64}),
        dsin(Dtype::kF32, {1, 64}) {}
  RotateBackwardTensors Descs() const {
    RotateBackwardTensors t;
    t.dy = dy.desc();
    t.cos = t.sin = cos.desc();
    t.x = x.desc();
    t.dcos = t.dsin = cos.desc();
    return t;
  }
  RotateBackwardBuffers Buffers() const {
    RotateBackwardBuffers b{dy.data(), cos.data(), cos.data(), x.data()};
    b.dcos = dcos.data();
    b.dsin = dsin.data();
    return b;
  }

  Random random;
  TestTensor dy, x, cos, dcos, dsin;
};

void ExpectRefused(const Status& status, Code code,
                   const std::string& message) {
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), message);
}

TEST(PlanTest, DescribeNamesWhatRuns) {
  const Small small(Dtype::kBF16);
  ForEachTarget([&] {
    const Result<Plan> plan = MakePlan(small.Run());
    ASSERT_TRUE(plan.ok());
    const std::string text = plan->Describe();
    for (const std::string& word : {std::string("rotate"), std::string("half"),
                                    std::string("bf16"), CurrentTarget()}) {
      EXPECT_NE(text.find(word), std::string::npos) << word << " in " << text;
    }
    EXPECT_EQ(text.find('\n'), std::string::npos);
  });
}

TEST(PlanTest, KeepsItsTarget) {
  const Small small;
  const std::vector<std::string> targets = UsableTargets();
  std::vector<Plan> plans;
  for (const std::string& name : targets) {
    const ScopedTarget forced(name);
    Result<Plan> plan = MakePlan(small.Run());
    ASSERT_TRUE(plan.ok());
    plans.push_back(std::move(plan).value());
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    EXPECT_NE(plans[i].Describe().find(targets[i]), std::string::npos);
  }
}

TEST(PlanTest, TargetsAreListedAndForced) {
  const std::vector<std::string> usable = UsableTargets();
  ASSERT_FALSE(usable.empty());
  EXPECT_GE(CompiledTargets().size(), usable.size());
  for (const std::string& name : usable) {
    EXPECT_TRUE(ForceTarget(name).ok());
    EXPECT_EQ(CurrentTarget(), name);
  }
  const std::string before = CurrentTarget();
  for (const char* name : {"AVX9", "avx2", " ", "AVX2 ", "HWY"}) {
    EXPECT_EQ(ForceTarget(name).code(), Code::kOption) << name;
    EXPECT_EQ(CurrentTarget(), before);
  }
  for (const std::string& name : CompiledTargets()) {
    const bool can =
        std::find(usable.begin(), usable.end(), name) != usable.end();
    EXPECT_EQ(ForceTarget(name).ok(), can) << name;
  }
  EXPECT_TRUE(ForceTarget("").ok());
}

TEST(PlanTest, MovedPlansRunAndTheOldOneIsHarmless) {
  const Small small;
  Result<Plan> made = MakePlan(small.Run());
  ASSERT_TRUE(made.ok());
  Plan plan = std::move(made).value();
  Plan other = std::move(plan);
  RW_ASSERT_OK(other.Run(Buffers(small.Run())));
  EXPECT_TRUE(SameMemory(small.y, small.Want()));
  plan = std::move(other);
  RW_ASSERT_OK(plan.Run(Buffers(small.Run())));
}

TEST(PlanTest, ShortLivedArgumentsAreNotNeededLater) {
  CachedRun run;
  TestTensor positions(Dtype::kI64, {3, 5}), cache(Dtype::kF32, {4, 12});
  TestTensor query(Dtype::kF32, {5, 12}), out(Dtype::kF32, {5, 12});
  positions.Fill(1);
  cache.Fill(0.5);
  query.Fill(1.0);
  Result<Plan> plan = [&] {
    std::vector<int64_t> sections = {2, 2, 2};
    run.options.head_size = 12;
    run.options.sections = sections;
    run.positions = positions.in();
    run.cache = cache.in();
    run.query = query.in();
    run.query_out = out.out();
    Result<Plan> made = MakePlan(run);
    sections.assign(3, 1000000);
    return made;
  }();
  ASSERT_TRUE(plan.ok());
  RW_ASSERT_OK(plan->Run(Buffers(run)));
  for (int i = 0; i < 60; ++i) EXPECT_EQ(out.At(i), i % 12 < 6 ? 0.0 : 1.0);
}

TEST(PlanTest, OnePlanFromManyThreads) {
  const Small small(Dtype::kF16, {64, 8, 128}, {64, 1, 128});
  const Result<Plan> plan = MakePlan(small.Run());
  ASSERT_TRUE(plan.ok());
  const TestTensor want = small.Want();
  std::vector<std::thread> threads;
  std::vector<TestTensor> outputs(8, TestTensor(small.y.desc()));
  for (TestTensor& y : outputs) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        RotateBuffers buffers = Buffers(small.Run());
        buffers.y = y.data();
        const Status status = plan->Run(buffers);
        EXPECT_TRUE(status.ok()) << status.message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const TestTensor& y : outputs) EXPECT_TRUE(SameMemory(y, want));
}

TEST(PlanTest, RefusesBuffersOfOtherOperators) {
  const Small small;
  const Result<Plan> plan = MakePlan(small.Run());
  ASSERT_TRUE(plan.ok());
  ExpectRefused(plan->Run(RotateBackwardBuffers{}), Code::kOption,
                "[rotate] buffers: must be those of rotate, but are "
                "RotateBackwardBuffers");
  ExpectRefused(
      plan->Run(RotateCachedBuffers{}), Code::kOption,
      "[rotate] buffers: must be those of rotate, but are RotateCachedBuffers");
  const Chunked chunked;
  const Result<Plan> backward = MakeRotateBackwardPlan({}, chunked.Descs());
  ASSERT_TRUE(backward.ok());
  ExpectRefused(backward->Run(Buffers(small.Run())), Code::kOption,
                "[rotate_backward] buffers: must be those of rotate_backward, "
                "but are RotateBuffers");
  EXPECT_TRUE(SameMemory(small.y, TestTensor(small.y.desc())));
}

TEST(PlanTest, RefusesNullPointers) {
  const Small small;
  const Result<Plan> plan = MakePlan(small.Run());
  ASSERT_TRUE(plan.ok());
  const auto refused = [&](auto change, const char* message) {
    RotateBuffers buffers = Buffers(small.Run());
    change(buffers);
    ExpectRefused(plan->Run(buffers), Code::kNullPointer, message);
  };
  refused([](RotateBuffers& b) { b.x = nullptr; },
          "[rotate] x: needs data but is null");
  refused([](RotateBuffers& b) { b.cos = nullptr; },
          "[rotate] cos: needs data but is null");
  refused([](RotateBuffers& b) { b.sin = nullptr; },
          "[rotate] sin: needs data but is null");
  refused([](RotateBuffers& b) { b.y = nullptr; },
          "[rotate] y: needs data but is null");
  refused([](RotateBuffers& b) { b = {}; },
          "[rotate] x: needs data but is null");
  EXPECT_TRUE(SameMemory(small.y, TestTensor(small.y.desc())));
}

TEST(PlanTest, EmptyTensorsNeedNoPointers) {
  const TensorDesc x = Contiguous(Dtype::kF32, {2, 0, 8});
  const TensorDesc cos = Contiguous(Dtype::kF32, {2, 1, 8});
  const TensorDesc none = Contiguous(Dtype::kF32, {2, 0, 8});
  RW_ASSERT_OK(
      MakeRotatePlan({}, {x, none, none, x, {}, {}})->Run(RotateBuffers{}));
  TestTensor table(cos);
  table.Fill(1.0);
  RotateBuffers buffers;
  buffers.cos = buffers.sin = table.data();
  RW_ASSERT_OK(MakeRotatePlan({}, {x, cos, cos, x, {}, {}})->Run(buffers));
  // A row without columns, and a slice without columns.
  const TensorDesc row = Contiguous(Dtype::kF32, {3, 0});
  RW_ASSERT_OK(
      MakeRotatePlan({}, {row, row, row, row, {}, {}})->Run(RotateBuffers{}));
}

TEST(PlanTest, AnEmptySliceCopies) {
  Random random(3);
  TestTensor x(Dtype::kF16, {3, 8}, Data::kBits, random), y(x.desc());
  const TensorDesc none = Contiguous(Dtype::kF16, {3, 0});
  const RotateOptions options{Pairing::kHalf, Slice{5, 5}};
  RotateBuffers buffers;
  buffers.x = x.data();
  buffers.y = y.data();
  const Result<Plan> plan =
      MakeRotatePlan(options, {x.desc(), none, none, y.desc(), {}, {}});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  RW_ASSERT_OK(plan->Run(buffers));
  for (int i = 0; i < 24; ++i) {
    EXPECT_EQ(0, std::memcmp(x.Address(i), y.Address(i), 2));
  }
}

TEST(PlanTest, RefusesAWorkspaceThatWillNotDo) {
  const Chunked chunked;
  const Result<Plan> plan = MakeRotateBackwardPlan({}, chunked.Descs());
  ASSERT_TRUE(plan.ok());
  const size_t bytes = plan->workspace_bytes();
  ASSERT_GT(bytes, 0u);
  const Memory memory(bytes + 64, Placement::kPadded, 64);
  RunOptions options;
  const std::string need = "[rotate_backward] workspace: must be " +
                           std::to_string(bytes) +
                           " bytes aligned to 64, but is ";
  const auto refused = [&](const std::string& but) {
    const Status status = plan->Run(chunked.Buffers(), options);
    ExpectRefused(status, Code::kOutOfMemory, need + but);
  };
  refused("0 bytes");
  options.workspace = {memory.data(), bytes - 1};
  refused(std::to_string(bytes - 1) + " bytes");
  options.workspace = {memory.data() + 8, bytes};
  refused(std::to_string(bytes) + " bytes not aligned");
  const TestTensor untouched(chunked.dcos.desc());
  EXPECT_TRUE(SameMemory(chunked.dcos, untouched));
  EXPECT_TRUE(SameMemory(chunked.dsin, untouched));
  options.workspace = {memory.data(), bytes};
  RW_ASSERT_OK(plan->Run(chunked.Buffers(), options));
}

// Descriptors of tensors that no machine holds: plans are made or refused, and
// no arithmetic on the way overflows.
TEST(PlanTest, HugeDescriptorsDoNoHarm) {
  Random random(4);
  for (int round = 0; round < 3000; ++round) {
    Shape shape;
    for (int64_t axis = random.Int(0, 3); axis > 0; --axis) {
      shape.push_back(int64_t{1} << random.Int(0, 40));
    }
    const int64_t width = int64_t{4} << random.Int(0, random.Int(1, 56));
    shape.push_back(width);
    Shape table = shape;
    for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
      if (random.OneIn(2)) table[axis] = 1;
    }
    const TensorDesc x = Contiguous(Dtype::kBF16, shape);
    const TensorDesc cos = Contiguous(Dtype::kF16, table);
    const RotateOptions options{random.Pick(AllPairings()), {}};
    RotateTensors forward;
    forward.x = forward.y = x;
    forward.cos = forward.sin = cos;
    (void)MakeRotatePlan(options, forward);
    RotateBackwardTensors backward;
    backward.dy = x;
    backward.x = x;
    backward.cos = backward.sin = cos;
    backward.dcos = backward.dsin = cos;
    if (random.OneIn(2)) backward.dx = x;
    const Result<Plan> plan = MakeRotateBackwardPlan(options, backward);
    EXPECT_TRUE(!plan.ok() || !plan->Describe().empty());
  }
}

TEST(PlanTest, ReportsExecutorsThatFail) {
  const Small small(Dtype::kF32, {512, 16, 128}, {512, 1, 128});
  RotateRun run = small.Run();
  ThrowingExecutor at_once(0), later(2);
  ThrowingIntExecutor number;
  ForgetfulExecutor forgetful;
  for (Executor* executor :
       {static_cast<Executor*>(&at_once), static_cast<Executor*>(&later),
        static_cast<Executor*>(&number), static_cast<Executor*>(&forgetful)}) {
    run.executor = executor;
    const Status status = Execute(run);
    EXPECT_EQ(status.code(), Code::kExecutor);
    EXPECT_EQ(status.message().substr(0, 9), "[rotate] ") << status.message();
  }
  // The library is none the worse for it.
  run.executor = nullptr;
  RW_ASSERT_OK(Execute(run));
  EXPECT_TRUE(SameMemory(small.y, small.Want()));
}

TEST(PlanTest, OneCallForms) {
  const Small small;
  const TestTensor want = small.Want();
  RW_ASSERT_OK(
      Rotate({}, small.x.in(), small.cos.in(), small.sin.in(), small.y.out()));
  EXPECT_TRUE(SameMemory(small.y, want));
  const Chunked c;
  const ConstTensor x = c.x.in();
  const Tensor dcos = c.dcos.out(), dsin = c.dsin.out();
  RotateBackwardCall call{c.dy.in(), c.cos.in(), c.cos.in()};
  call.x = &x;
  call.dcos = &dcos;
  call.dsin = &dsin;
  RW_ASSERT_OK(RotateBackward({}, call));
  BackwardRun run{{}, c.dy.in(), c.cos.in(), c.cos.in()};
  TestTensor dcos2(c.dcos.desc()), dsin2(c.dsin.desc());
  const Tensor dcos2_out = dcos2.out(), dsin2_out = dsin2.out();
  run.x = &x;
  run.dcos = &dcos2_out;
  run.dsin = &dsin2_out;
  RW_ASSERT_OK(Execute(run));
  EXPECT_TRUE(SameMemory(c.dcos, dcos2));
  EXPECT_TRUE(SameMemory(c.dsin, dsin2));
}

TEST(PlanTest, VersionsAgree) {
  EXPECT_STREQ(Version(), ROPEWALK_VERSION_STRING);
}

}  // namespace
}  // namespace ropewalk::test
