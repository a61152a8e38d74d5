// The calls of the public header: checks, one pass for each output, diagnosis.

#include "ropewalk/verify.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "core/dtype.h"
#include "core/layout.h"
#include "verify/diagnose.h"
#include "verify/judge.h"
#include "verify/scene.h"
#include "verify/sums.h"
#include "verify/survey.h"

namespace ropewalk {
namespace {

using verify::Evidence;
using verify::Judge;
using verify::Scene;

Status Refuse(Code code, const char* name, const std::string& fact) {
  return Status(code, std::string("[verify] ") + name + ": " + fact);
}

std::vector<int64_t> ShapeOf(const TensorDesc& desc) {
  return {desc.shape, desc.shape + desc.rank};
}

std::string Text(const std::vector<int64_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  }
  return text + ")";
}

TensorDesc ContiguousLike(const TensorDesc& desc) {
  if (desc.rank < 0 || desc.rank > kMaxRank) return desc;
  return TensorDesc::Contiguous(
      desc.dtype,
      std::span<const int64_t>(desc.shape, static_cast<size_t>(desc.rank)));
}

bool Empty(const TensorDesc& desc) {
  return std::any_of(desc.shape, desc.shape + desc.rank,
                     [](int64_t size) { return size == 0; });
}

Status CheckData(const char* name, const ConstTensor& tensor) {
  if (tensor.data != nullptr || Empty(tensor.desc)) return Status();
  return Refuse(Code::kNullPointer, name, "needs data but is null");
}

// A result may have any float dtype, but f64 goes with f64 only.
Status CheckResult(const char* name, const ConstTensor& result,
                   const TensorDesc& like) {
  const TensorDesc& desc = result.desc;
  if (!IsFloat(desc.dtype) ||
      (desc.dtype == Dtype::kF64) != (like.dtype == Dtype::kF64)) {
    return Refuse(Code::kDtype, name,
                  std::string("dtype must be ") +
                      (like.dtype == Dtype::kF64 ? "f64" : "f32, f16 or bf16") +
                      ", but is " + DtypeName(desc.dtype));
  }
  if (desc.rank != like.rank || ShapeOf(desc) != ShapeOf(like)) {
    return Refuse(Code::kShape, name,
                  "shape must be " + Text(ShapeOf(like)) + ", but is " +
                      Text(ShapeOf(desc)));
  }
  return CheckData(name, result);
}

Status CheckOptions(const VerifyOptions& options) {
  const Limit& limit = options.limit;
  const bool fine = limit.ulp >= 0 && limit.rtol >= 0 && limit.atol >= 0;
  if (fine) return Status();
  return Refuse(Code::kOption, "limit",
                "ulp, rtol and atol must not be negative or NaN");
}

// What is found, output by output.
struct Findings {
  VerifyReport report;
  const VerifyOptions& options;
  std::vector<verify::Diagnosis> diagnoses = {};

  void Add(const char* name, const ConstTensor& result,
           std::vector<int64_t> shape, OutputReport output) {
    output.name = name;
    output.dtype = result.desc.dtype;
    output.shape = std::move(shape);
    report.outputs.push_back(std::move(output));
  }
  Status AddRotated(const Scene& scene) {
    const Judge judge(scene.result.desc.dtype, options.limit,
                      options.reference);
    OutputReport output;
    Evidence evidence;
    const Status status = RunSurvey(scene, judge, options, &output, &evidence);
    if (!status.ok()) return status;
    const bool wrong = !output.ok;
    Add(scene.name.c_str(), scene.result, scene.shown_shape, std::move(output));
    if (!wrong || !options.diagnose) return status;
    return Diagnose(scene, judge, evidence, options, &diagnoses.emplace_back());
  }
  Status AddSum(const verify::SumScene& scene, verify::Sum sum,
                OutputReport output, const Evidence& evidence) {
    const ConstTensor& result = *scene.result(sum);
    const bool wrong = !output.ok;
    Add(sum == verify::Sum::kCos ? "dcos" : "dsin", result,
        ShapeOf(result.desc), std::move(output));
    if (!wrong || !options.diagnose) return Status();
    const Judge judge(result.desc.dtype, options.limit, options.reference);
    return DiagnoseSum(scene, sum, judge, evidence, options,
                       &diagnoses.emplace_back());
  }
  VerifyReport Done() {
    report.ok = std::ranges::all_of(report.outputs, &OutputReport::ok);
    report.diagnosis = Conclude(diagnoses);
    return std::move(report);
  }
};

Scene RotatedScene(const char* name, const RotateOptions& options,
                   Direction direction, const ConstTensor& x,
                   const ConstTensor& cos, const ConstTensor& sin,
                   const ConstTensor& result) {
  Scene scene;
  scene.name = name;
  scene.pairing = options.pairing;
  scene.direction = direction;
  scene.x = x;
  scene.result = result;
  scene.shown_shape = ShapeOf(result.desc);
  const int last = x.desc.rank - 1;
  const Slice slice = options.slice.value_or(Slice{0, x.desc.shape[last]});
  scene.start = slice.start;
  scene.width = slice.end - slice.start;
  scene.tables = verify::Tables(cos, sin, scene.width);
  std::vector<bool> kept(static_cast<size_t>(last));
  for (int axis = 0; axis < last; ++axis) {
    kept[static_cast<size_t>(axis)] = cos.desc.shape[axis] != 1;
  }
  scene.SetRows(kept);
  return scene;
}

Scene CachedScene(const char* name, const VerifyCachedCall& call,
                  const ConstTensor& x, const ConstTensor& result) {
  const int64_t head_size = call.options.head_size;
  Scene scene;
  scene.name = name;
  scene.pairing = call.options.style == CachedStyle::kNeox
                      ? Pairing::kHalf
                      : Pairing::kInterleave;
  scene.direction = call.options.direction;
  scene.x = {SplitHeads(x.desc, head_size), x.data};
  scene.result = {SplitHeads(result.desc, head_size), result.data};
  scene.shown_shape = ShapeOf(result.desc);
  scene.width = call.cache.desc.shape[1];
  scene.tables = verify::Tables(call.positions, call.cache, call.options);
  scene.SetRows({true, false});
  return scene;
}

Result<VerifyReport> Check(const VerifyRotateCall& call,
                           const VerifyOptions& options) {
  Status status = CheckOptions(options);
  if (!status.ok()) return status;
  RotateTensors tensors;
  tensors.x = call.x.desc;
  tensors.cos = call.cos.desc;
  tensors.sin = call.sin.desc;
  tensors.y = ContiguousLike(call.x.desc);
  status = MakeRotatePlan(call.options, tensors).status();
  for (const auto& [name, tensor] :
       {std::pair{"x", &call.x}, {"cos", &call.cos}, {"sin", &call.sin}}) {
    if (status.ok()) status = CheckData(name, *tensor);
  }
  if (status.ok()) status = CheckResult("y", call.y, call.x.desc);
  if (!status.ok()) return status;
  Findings findings{{}, options};
  status =
      findings.AddRotated(RotatedScene("y", call.options, Direction::kForward,
                                       call.x, call.cos, call.sin, call.y));
  if (!status.ok()) return status;
  return findings.Done();
}

Status CheckBackward(const VerifyBackwardCall& call) {
  RotateBackwardTensors tensors;
  tensors.dy = call.dy.desc;
  tensors.cos = call.cos.desc;
  tensors.sin = call.sin.desc;
  tensors.dx = ContiguousLike(call.dy.desc);
  if (call.x) {
    tensors.x = call.x->desc;
    tensors.dcos = tensors.dsin = ContiguousLike(call.cos.desc);
  }
  Status status = MakeRotateBackwardPlan(call.options, tensors).status();
  for (const auto& [name, tensor] :
       {std::pair{"dy", &call.dy}, {"cos", &call.cos}, {"sin", &call.sin}}) {
    if (status.ok()) status = CheckData(name, *tensor);
  }
  if (status.ok() && call.x) status = CheckData("x", *call.x);
  if (!status.ok()) return status;
  if (!call.dx && !call.dcos && !call.dsin) {
    return Refuse(Code::kNullPointer, "dx", "dx, dcos or dsin must be there");
  }
  if ((call.dcos || call.dsin) && !call.x) {
    return Refuse(Code::kNullPointer, "x", "dcos and dsin need it");
  }
  if (call.dx) status = CheckResult("dx", *call.dx, call.dy.desc);
  if (status.ok() && call.dcos) {
    status = CheckResult("dcos", *call.dcos, call.cos.desc);
  }
  if (status.ok() && call.dsin) {
    status = CheckResult("dsin", *call.dsin, call.cos.desc);
  }
  return status;
}

Result<VerifyReport> Check(const VerifyBackwardCall& call,
                           const VerifyOptions& options) {
  Status status = CheckOptions(options);
  if (status.ok()) status = CheckBackward(call);
  if (!status.ok()) return status;
  Findings findings{{}, options};
  if (call.dx) {
    status = findings.AddRotated(RotatedScene("dx", call.options,
                                              Direction::kBackward, call.dy,
                                              call.cos, call.sin, *call.dx));
    if (!status.ok()) return status;
  }
  if (call.dcos || call.dsin) {
    const verify::SumScene scene = verify::MakeSumScene(call);
    verify::SumSurvey survey;
    status = RunSumSurvey(scene, options, &survey);
    if (!status.ok()) return status;
    if (survey.dcos) {
      status = findings.AddSum(scene, verify::Sum::kCos,
                               std::move(*survey.dcos), survey.dcos_evidence);
    }
    if (status.ok() && survey.dsin) {
      status = findings.AddSum(scene, verify::Sum::kSin,
                               std::move(*survey.dsin), survey.dsin_evidence);
    }
    if (!status.ok()) return status;
  }
  return findings.Done();
}

// As CheckResult, where (tokens, heads * head_size) and (tokens, heads,
// head_size) are one.
Status CheckFlatResult(const char* name, const ConstTensor& result,
                       const TensorDesc& like, int64_t head_size) {
  ConstTensor split = result;
  const bool flat = result.desc.rank == 2 && head_size > 0 &&
                    result.desc.shape[1] % head_size == 0;
  if (flat) split.desc = SplitHeads(result.desc, head_size);
  return CheckResult(name, split, SplitHeads(like, head_size));
}

Status CheckCached(const VerifyCachedCall& call) {
  RotateCachedTensors tensors;
  tensors.positions = call.positions.desc;
  tensors.cache = call.cache.desc;
  tensors.query = call.query.desc;
  tensors.query_out = ContiguousLike(call.query.desc);
  if (call.key) {
    tensors.key = call.key->desc;
    tensors.key_out = ContiguousLike(call.key->desc);
  }
  Status status = MakeRotateCachedPlan(call.options, tensors).status();
  for (const auto& [name, tensor] : {std::pair{"positions", &call.positions},
                                     {"cache", &call.cache},
                                     {"query", &call.query}}) {
    if (status.ok()) status = CheckData(name, *tensor);
  }
  if (status.ok() && call.key) status = CheckData("key", *call.key);
  if (!status.ok()) return status;
  if (!call.query_out && !call.key_out) {
    return Refuse(Code::kNullPointer, "query", "query or key must be there");
  }
  if (call.key_out && !call.key) {
    return Refuse(Code::kNullPointer, "key", "a result, but no input, of it");
  }
  const int64_t head_size = call.options.head_size;
  if (call.query_out) {
    status =
        CheckFlatResult("query", *call.query_out, call.query.desc, head_size);
  }
  if (status.ok() && call.key_out) {
    status = CheckFlatResult("key", *call.key_out, call.key->desc, head_size);
  }
  return status;
}

Result<VerifyReport> Check(const VerifyCachedCall& call,
                           const VerifyOptions& options) {
  Status status = CheckOptions(options);
  if (status.ok()) status = CheckCached(call);
  if (!status.ok()) return status;
  Findings findings{{}, options};
  if (call.query_out) {
    status = findings.AddRotated(
        CachedScene("query", call, call.query, *call.query_out));
  }
  if (status.ok() && call.key_out) {
    status =
        findings.AddRotated(CachedScene("key", call, *call.key, *call.key_out));
  }
  if (!status.ok()) return status;
  return findings.Done();
}

template <class Call>
Result<VerifyReport> CheckNoThrow(const Call& call,
                                  const VerifyOptions& options) {
  try {
    return Check(call, options);
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory, "[verify] not enough memory");
  }
}

}  // namespace

Result<VerifyReport> Verify(const VerifyRotateCall& call,
                            const VerifyOptions& options) {
  return CheckNoThrow(call, options);
}

Result<VerifyReport> Verify(const VerifyBackwardCall& call,
                            const VerifyOptions& options) {
  return CheckNoThrow(call, options);
}

Result<VerifyReport> Verify(const VerifyCachedCall& call,
                            const VerifyOptions& options) {
  return CheckNoThrow(call, options);
}

}  // namespace ropewalk
