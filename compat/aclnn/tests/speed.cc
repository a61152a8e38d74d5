// What the aclnn layer costs over the native API: a decode step and a large
// tensor. Prints; judges nothing, since times depend on the machine's load.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_apply_rotary_pos_emb.h"
#include "ropewalk/ropewalk.h"

namespace {

using Clock = std::chrono::steady_clock;

// The least of many means: what the machine's other work does not disturb.
template <class Body>
double Nanoseconds(int rounds, int calls, Body body) {
  double best = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = Clock::now();
    for (int i = 0; i < calls; ++i) body();
    const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
    best = std::min(best, spent.count() / calls);
  }
  return best;
}

struct Step {
  Step(int64_t tokens, int64_t heads, int64_t key_heads)
      : q(static_cast<size_t>(tokens * heads * 128), 1.0f),
        k(static_cast<size_t>(tokens * key_heads * 128), 1.0f),
        cos(static_cast<size_t>(tokens * 128), 0.6f),
        sin(static_cast<size_t>(tokens * 128), 0.8f),
        q_shape{1, tokens, heads, 128},
        k_shape{1, tokens, key_heads, 128},
        t_shape{1, tokens, 1, 128} {}

  ropewalk::Plan NativePlan() const {
    using ropewalk::Dtype;
    using ropewalk::TensorDesc;
    const auto desc_q = TensorDesc::Contiguous(Dtype::kF32, q_shape);
    const auto desc_k = TensorDesc::Contiguous(Dtype::kF32, k_shape);
    const auto table = TensorDesc::Contiguous(Dtype::kF32, t_shape);
    return std::move(ropewalk::MakeRotatePlan(
                         {}, {desc_q, table, table, desc_q, desc_k, desc_k}))
        .value();
  }
  ropewalk::RotateBuffers Buffers() {
    return {q.data(), cos.data(), sin.data(), q.data(), k.data(), k.data()};
  }
  aclTensor* Describe(const int64_t* shape, std::vector<float>* data) {
    return aclCreateTensor(shape, 4, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                           shape, 4, data->data());
  }

  std::vector<float> q, k, cos, sin;
  int64_t q_shape[4], k_shape[4], t_shape[4];
};

void Measure(const char* name, int64_t tokens, int rounds, int calls) {
  Step step(tokens, 32, 8);
  aclTensor* tensors[] = {step.Describe(step.q_shape, &step.q),
                          step.Describe(step.k_shape, &step.k),
                          step.Describe(step.t_shape, &step.cos),
                          step.Describe(step.t_shape, &step.sin)};
  int wrong = 0;
  uint64_t size = 0;
  const auto phase_one = [&] {
    aclOpExecutor* executor = nullptr;
    wrong |= aclnnApplyRotaryPosEmbGetWorkspaceSize(
        tensors[0], tensors[1], tensors[2], tensors[3], 1, &size, &executor);
    return executor;
  };
  const ropewalk::Plan plan = step.NativePlan();
  aclOpExecutor* repeatable = phase_one();
  aclSetAclOpExecutorRepeatable(repeatable);
  double native = 1e300, both = 1e300, repeated = 1e300;
  for (int i = 0; i < rounds; ++i) {  // turn by turn, for a drifting clock
    native = std::min(native, Nanoseconds(1, calls, [&] {
                        wrong |= !plan.Run(step.Buffers()).ok();
                      }));
    both = std::min(both, Nanoseconds(1, calls, [&] {
                      wrong |= aclnnApplyRotaryPosEmb(nullptr, 0, phase_one(),
                                                      nullptr);
                    }));
    repeated = std::min(repeated, Nanoseconds(1, calls, [&] {
                          wrong |= aclnnApplyRotaryPosEmb(nullptr, 0,
                                                          repeatable, nullptr);
                        }));
  }
  std::printf(
      "%s: native run %.0f ns; aclnn both phases %+.0f ns (%+.1f %%); "
      "repeatable executor %+.0f ns (%+.1f %%)%s\n",
      name, native, both - native, 100 * (both / native - 1), repeated - native,
      100 * (repeated / native - 1), wrong != 0 ? "; CALLS FAILED" : "");
  aclDestroyAclOpExecutor(repeatable);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

}  // namespace

int main() {
  Measure("decode step, 32 + 8 heads x 128, float", 1, 60, 5000);
  Measure("4096 tokens, 32 + 8 heads x 128, float", 4096, 20, 1);
  return 0;
}
