// The life of executors, and the addresses in them.

#include <malloc.h>

#include <atomic>
#include <string>
#include <thread>

#include "aclnn/opdev/op_errno.h"
#include "gtest/gtest.h"
#include "support.h"

namespace ropewalk_aclnn {
namespace {

std::string Message() { return aclGetRecentErrMsg(); }

// A forward of (1, 1, 1, 4) in mode half, a quarter turn: [1,2,3,4] becomes
// [-3,-4,1,2].
Arguments QuarterTurn() {
  Arguments a;
  a.Put(0, TestTensor({1, 1, 1, 4}, {1, 2, 3, 4}));
  a.Put(1, TestTensor({1, 1, 1, 4}, {0, 0, 0, 0}));
  a.Put(2, TestTensor({1, 1, 1, 4}, {1, 1, 1, 1}));
  a.Put(3, TestTensor({1, 1, 1, 4}));
  return a;
}

const std::vector<double> kTurned = {-3, -4, 1, 2};

aclOpExecutor* Executor(const Arguments& a) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(PhaseOne(a, &size, &executor), OK) << Message();
  EXPECT_EQ(size, 0u);
  return executor;
}

int RunIt(const Arguments& a, aclOpExecutor* executor) {
  return PhaseTwo(a.op, nullptr, 0, executor);
}

TEST(Executor, IsUsedOnce) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(a[3].Values(), kTurned);
  a[3].Fill(7);
  EXPECT_EQ(RunIt(a, executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(Message().find("used up"), std::string::npos);
  EXPECT_EQ(a[3].Values()[0], 7);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, a[0].get(), a[0].data()),
            ACLNN_ERR_PARAM_INVALID);
}

TEST(Executor, NullAndForeignOnesAreRefused) {
  Arguments a = QuarterTurn();
  EXPECT_EQ(RunIt(a, nullptr), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_EQ(RunIt(a, reinterpret_cast<aclOpExecutor*>(&a)),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(RunIt(a, reinterpret_cast<aclOpExecutor*>(a[0].get())),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(nullptr), ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), ACLNN_ERR_INNER_NULLPTR);
}

TEST(Executor, OfAnotherOperatorIsLeftAlone) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(PhaseTwo(Op::kInterleaveRope, nullptr, 0, executor),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_NE(Message().find("aclnnRotaryPositionEmbedding"), std::string::npos);
  EXPECT_EQ(RunIt(a, executor), OK);
}

TEST(Executor, RepeatableOnesRunUntilDestroyed) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(aclSetAclOpExecutorRepeatable(executor), OK);
  for (int i = 0; i < 3; ++i) {
    a[3].Fill(0);
    EXPECT_EQ(RunIt(a, executor), OK);
    EXPECT_EQ(a[3].Values(), kTurned);
  }
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(RunIt(a, executor), ACLNN_ERR_PARAM_INVALID);
}

TEST(Executor, UnusedOnesCanBeDestroyed) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
  EXPECT_EQ(RunIt(a, executor), ACLNN_ERR_PARAM_INVALID);
}

TEST(Executor, FollowsRawAddressesAfterPhaseOne) {
  Arguments a = QuarterTurn();
  TestTensor other({1, 1, 1, 4}, {10, 20, 30, 40});
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(aclSetRawTensorAddr(a[0].get(), other.data()), OK);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(a[3].Values(), (std::vector<double>{-30, -40, 10, 20}));
}

TEST(Executor, DescriptorsMayGoBetweenRuns) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  aclSetAclOpExecutorRepeatable(executor);
  EXPECT_EQ(RunIt(a, executor), OK);
  for (auto& tensor : a.tensors) aclDestroyTensor(tensor->get());
  TestTensor reused({1, 1, 1, 4});  // maybe in the slot of one of them
  a[3].Fill(0);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(a[3].Values(), kTurned);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
}

TEST(Executor, SwapsAddressesOfHandWrittenOperatorsByTensor) {
  Arguments a = QuarterTurn();
  TestTensor other({1, 1, 1, 4}, {10, 20, 30, 40});
  aclOpExecutor* executor = Executor(a);
  aclSetAclOpExecutorRepeatable(executor);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 99, a[0].get(), other.data()), OK);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(a[3].Values()[0], -30);
  // A descriptor that phase one did not see is taken by its index.
  EXPECT_EQ(aclSetTensorAddr(executor, 3, other.get(), other.data()), OK);
  EXPECT_EQ(aclSetRawTensorAddr(a[0].get(), a[0].data()), OK);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(other.Values(), kTurned);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
}

TEST(Executor, SwapsAddressesOfGeneratedOperatorsByIndex) {
  Arguments a = Accepted(Op::kRotaryPositionEmbeddingGrad);
  a.Null(3);
  TestTensor dx(a[4].shape());
  TestTensor dy(a[0].shape());
  dy.FillRandom(9);
  aclOpExecutor* executor = Executor(a);
  aclSetAclOpExecutorRepeatable(executor);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(AclSetInputTensorAddr(executor, 0, dy.get(), dy.data()), OK);
  EXPECT_EQ(AclSetOutputTensorAddr(executor, 0, dx.get(), dx.data()), OK);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_NE(dx.Values(), a[4].Values());
  EXPECT_EQ(AclSetTensorAddr(executor, 0, a[0].get(), a[0].data()), OK);
  EXPECT_EQ(RunIt(a, executor), OK);
  EXPECT_EQ(dx.Values(), a[4].Values());
  // x was null, and there are 4 inputs and 3 outputs.
  EXPECT_EQ(aclSetInputTensorAddr(executor, 3, dx.get(), dx.data()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 4, dx.get(), dx.data()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetOutputTensorAddr(executor, 3, dx.get(), dx.data()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetTensorAddr(executor, 7, dx.get(), dx.data()),
            ACLNN_ERR_PARAM_INVALID);
  EXPECT_EQ(aclSetInputTensorAddr(executor, 0, nullptr, dx.data()),
            ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(aclSetInputTensorAddr(nullptr, 0, dx.get(), dx.data()),
            ACLNN_ERR_INNER_NULLPTR);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
}

TEST(Executor, KeepsOutputsInPlaceInStep) {
  for (bool by_output : {false, true}) {
    Arguments a = Accepted(Op::kApplyRotaryPosEmb);
    TestTensor key(a[1].shape());
    key.FillRandom(2);
    const auto before = a[1].Values();
    aclOpExecutor* executor = Executor(a);
    aclSetAclOpExecutorRepeatable(executor);
    auto* set = by_output ? aclSetOutputTensorAddr : aclSetInputTensorAddr;
    EXPECT_EQ(set(executor, 1, a[1].get(), key.data()), OK);
    EXPECT_EQ(RunIt(a, executor), OK);
    EXPECT_EQ(a[1].Values(), before);
    EXPECT_NE(key.Values(), before);
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
  }
}

TEST(Executor, ListsOfTensorsAreRefused) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  const aclTensor* tensors[] = {TestTensor({1}).get(), nullptr};
  aclTensorList* list = aclCreateTensorList(tensors, 1);
  for (auto* set : {aclSetDynamicInputTensorAddr, aclSetDynamicOutputTensorAddr,
                    aclSetDynamicTensorAddr, AclSetDynamicInputTensorAddr,
                    AclSetDynamicOutputTensorAddr, AclSetDynamicTensorAddr}) {
    EXPECT_EQ(set(executor, 0, 0, list, &a), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(set(executor, 0, 5, list, &a), ACLNN_ERR_PARAM_INVALID);
    EXPECT_EQ(set(executor, 0, 0, nullptr, &a), ACLNN_ERR_INNER_NULLPTR);
  }
  aclDestroyTensorList(list);
  EXPECT_EQ(RunIt(a, executor), OK);
}

TEST(Executor, RunsOnAnotherThread) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  std::thread([&] { EXPECT_EQ(RunIt(a, executor), OK); }).join();
  EXPECT_EQ(a[3].Values(), kTurned);
}

TEST(Executor, OneOfManyThreadsGetsIt) {
  Arguments a = QuarterTurn();
  for (int round = 0; round < 200; ++round) {
    aclOpExecutor* executor = Executor(a);
    std::atomic<int> successes{0};
    auto try_it = [&] { successes += RunIt(a, executor) == OK; };
    std::thread other(try_it);
    try_it();
    other.join();
    ASSERT_EQ(successes, 1);
  }
}

TEST(Executor, ThreadsShareARepeatableOne) {
  Arguments a = QuarterTurn();
  aclOpExecutor* executor = Executor(a);
  aclSetAclOpExecutorRepeatable(executor);
  std::atomic<int> refused{0};
  auto run = [&] {
    for (int i = 0; i < 2000; ++i) refused += RunIt(a, executor) != OK;
  };
  std::thread other(run);
  run();
  EXPECT_EQ(refused, 0);
  other.join();
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
}

TEST(Executor, DestroyedWhileRunningEndsCleanly) {
  for (int round = 0; round < 200; ++round) {
    Arguments a = QuarterTurn();
    aclOpExecutor* executor = Executor(a);
    aclSetAclOpExecutorRepeatable(executor);
    std::thread other([&] {
      while (RunIt(a, executor) == OK) {
      }
    });
    EXPECT_EQ(aclDestroyAclOpExecutor(executor), OK);
    other.join();
  }
}

TEST(Executor, ThousandsLiveAtOnce) {
  Arguments a = QuarterTurn();
  std::vector<aclOpExecutor*> executors(20000);
  for (auto& executor : executors) executor = Executor(a);
  for (size_t i = 0; i < executors.size(); i += 2) {
    ASSERT_EQ(RunIt(a, executors[i]), OK);
  }
  for (size_t i = 0; i < executors.size(); ++i) {
    ASSERT_EQ(aclDestroyAclOpExecutor(executors[i]),
              i % 2 == 0 ? ACLNN_ERR_PARAM_INVALID : OK);
  }
}

TEST(Executor, ManyCallsNeedNoMoreMemory) {
  Arguments a = QuarterTurn();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Call(a), OK);
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(Call(a), OK);
  EXPECT_LE(mallinfo2().uordblks, before + 4096);
}

TEST(Executor, WantsAStreamThatLives) {
  Arguments a = QuarterTurn();
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(PhaseTwo(a.op, nullptr, 0, Executor(a), stream), OK);
  aclrtDestroyStream(stream);
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(PhaseTwo(a.op, nullptr, 0, executor, stream),
            ACLNN_ERR_RUNTIME_ERROR);
  EXPECT_NE(Message().find("stream"), std::string::npos);
  EXPECT_EQ(RunIt(a, executor), OK);
}

TEST(Executor, RefusedRunsEndItToo) {
  Arguments a = QuarterTurn();
  aclSetRawTensorAddr(a[1].get(), nullptr);
  aclOpExecutor* executor = Executor(a);
  EXPECT_EQ(RunIt(a, executor), ACLNN_ERR_PARAM_NULLPTR);
  EXPECT_NE(Message().find("cos"), std::string::npos);
  EXPECT_EQ(a[3].Values()[0], 0);
  EXPECT_EQ(RunIt(a, executor), ACLNN_ERR_PARAM_INVALID);
}

}  // namespace
}  // namespace ropewalk_aclnn
