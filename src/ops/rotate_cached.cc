// Rotation by position, through a cache of cosines and sines.

#include <algorithm>

#include "core/layout.h"
#include "ops/check.h"
#include "ops/once.h"
#include "ropewalk/ops.h"

namespace ropewalk {
namespace {

Status CheckOptions(const Problem& p, const RotateCachedOptions& options) {
  if (options.head_size <= 0) {
    return Refuse(
        Code::kOption, p, "head_size",
        "must be positive, but is " + std::to_string(options.head_size));
  }
  if (static_cast<unsigned>(options.style) > 1) {
    return Refuse(Code::kOption, p, "style",
                  "must be 0 (neox) or 1 (gptj), but is " +
                      std::to_string(static_cast<unsigned>(options.style)));
  }
  if (static_cast<unsigned>(options.axes) > 1) {
    return Refuse(Code::kOption, p, "axes",
                  "must be 0 (segmented) or 1 (interleaved), but is " +
                      std::to_string(static_cast<unsigned>(options.axes)));
  }
  if (static_cast<unsigned>(options.direction) > 1) {
    return Refuse(Code::kOption, p, "direction",
                  "must be 0 (forward) or 1 (backward), but is " +
                      std::to_string(static_cast<unsigned>(options.direction)));
  }
  return Status();
}

Status CheckCache(Problem& p, int64_t head_size) {
  const TensorDesc& cache = p.desc[kCache];
  if (cache.rank != 2) {
    return Refuse(Code::kShape, p, "cache",
                  "rank must be 2, but is " + std::to_string(cache.rank));
  }
  const int64_t width = cache.shape[1];
  if (width % 2 != 0) {
    return Refuse(
        Code::kShape, p, "cache",
        "last axis (rotary_dim) must be even, but is " + std::to_string(width));
  }
  if (width > head_size) {
    return Refuse(Code::kShape, p, "cache",
                  "last axis (rotary_dim) must be at most head_size " +
                      std::to_string(head_size) + ", but is " +
                      std::to_string(width));
  }
  p.start = 0;
  p.width = width;
  p.half_width = true;
  return Status();
}

std::string SectionsText(std::span<const int64_t> sections) {
  std::string text = "[";
  for (size_t i = 0; i < sections.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(sections[i]);
  }
  return text + "]";
}

Status SetSections(Problem& p, const RotateCachedOptions& options) {
  const auto& sections = options.sections;
  if (sections.empty()) return Status();
  const std::string text =
      SectionsText(sections.first(std::min<size_t>(sections.size(), 8)));
  for (const int64_t section : sections) {
    if (section >= 0) continue;
    return Refuse(Code::kOption, p, "sections",
                  "must not be negative, but are " + text);
  }
  if (sections[0] == 0) return Status();
  if (sections.size() != 3 && sections.size() != 4) {
    return Refuse(Code::kOption, p, "sections",
                  "must be 3 or 4, but are " + std::to_string(sections.size()));
  }
  // Counted down, since a sum might overflow.
  int64_t left = p.width / 2;
  for (const int64_t section : sections) {
    left = section > left ? -1 : left - section;
    if (left < 0) break;
  }
  if (left != 0) {
    return Refuse(Code::kOption, p, "sections",
                  "must sum to half of the cache's last axis, " +
                      std::to_string(p.width / 2) + ", but are " + text);
  }
  if (options.axes == AxisLayout::kInterleaved && sections.size() == 4) {
    return Refuse(Code::kOption, p, "sections",
                  "must be 3 with interleaved axes, but are 4");
  }
  p.sections = static_cast<int>(sections.size());
  for (int i = 0; i < p.sections; ++i) {
    p.section[i] = sections[static_cast<size_t>(i)];
  }
  p.axes = options.axes;
  return Status();
}

Status CheckRank(const Problem& p, Slot slot) {
  const int rank = p.desc[slot].rank;
  if (rank == 2 || rank == 3) return Status();
  return Refuse(Code::kShape, p, p.names[slot],
                "rank must be 2 or 3, but is " + std::to_string(rank));
}

// (tokens, heads * head_size) as (tokens, heads, head_size).
Status SetHeads(Problem& p, Slot slot, int64_t head_size) {
  TensorDesc& desc = p.desc[slot];
  if (desc.rank == 3) {
    if (desc.shape[2] == head_size) return Status();
    return Refuse(Code::kShape, p, p.names[slot],
                  "last axis must be head_size " + std::to_string(head_size) +
                      ", but is " + std::to_string(desc.shape[2]));
  }
  if (desc.shape[1] % head_size != 0) {
    return Refuse(Code::kShape, p, p.names[slot],
                  "last axis must be a multiple of head_size " +
                      std::to_string(head_size) + ", but is " +
                      std::to_string(desc.shape[1]));
  }
  desc = SplitHeads(desc, head_size);
  return Status();
}

Status AddOperand(Problem& p, Slot in, Slot out, const char* in_name,
                  const char* out_name, const TensorDesc& in_desc,
                  const TensorDesc& out_desc, int64_t head_size) {
  return FirstRefusal(
      [&] { return AddTensor(p, in, in_name, in_desc, false); },
      [&] { return AddTensor(p, out, out_name, out_desc, true); },
      [&] { return CheckFloat(p, in); },
      [&] { return CheckSameDtype(p, out, in); },
      [&] { return CheckTableDtype(p, kCache, in); },
      [&] { return CheckRank(p, in); },
      [&] { return CheckSameShape(p, out, in); },
      [&] { return SetHeads(p, in, head_size); },
      [&] { return SetHeads(p, out, head_size); });
}

Status CheckPositions(const Problem& p) {
  const TensorDesc& positions = p.desc[kPositions];
  const int64_t tokens = p.desc[kIn0].shape[0];
  if (positions.dtype != Dtype::kI64 && positions.dtype != Dtype::kI32) {
    return Refuse(Code::kDtype, p, "positions",
                  std::string("dtype must be i64 or i32, but is ") +
                      DtypeName(positions.dtype));
  }
  const std::string need = p.sections == 0
                               ? "(" + std::to_string(tokens) + ")"
                               : "(" + std::to_string(p.sections) + ", " +
                                     std::to_string(tokens) + ")";
  const bool fits = p.sections == 0
                        ? positions.rank == 1 && positions.shape[0] == tokens
                        : positions.rank == 2 &&
                              positions.shape[0] == p.sections &&
                              positions.shape[1] == tokens;
  if (fits) return Status();
  return Refuse(Code::kShape, p, "positions",
                "shape must be " + need +
                    (p.sections == 0 ? " without sections" : "") + ", but is " +
                    ShapeText(positions));
}

Status AddKey(Problem& p, const RotateCachedTensors& t, int64_t head_size) {
  if (!t.key.has_value() && !t.key_out.has_value()) return Status();
  if (!t.key.has_value() || !t.key_out.has_value()) {
    return Refuse(Code::kNullPointer, p, t.key.has_value() ? "key_out" : "key",
                  "key and key_out go together, but this one is missing");
  }
  p.operands = 2;
  return FirstRefusal(
      [&] {
        return AddOperand(p, kIn1, kOut1, "key", "key_out", *t.key, *t.key_out,
                          head_size);
      },
      [&] {
        const int64_t tokens = p.desc[kIn0].shape[0];
        if (p.desc[kIn1].shape[0] == tokens) return Status();
        return Refuse(Code::kShape, p, "key",
                      "first axis must be " + std::to_string(tokens) +
                          " as in query, but is " +
                          std::to_string(p.desc[kIn1].shape[0]));
      });
}

}  // namespace

Result<Plan> MakeRotateCachedPlan(const RotateCachedOptions& options,
                                  const RotateCachedTensors& t) {
  Problem p;
  p.op = "rotate_cached";
  p.kind = OpKind::kRotateCached;
  p.cached = true;
  p.pairing = options.style == CachedStyle::kNeox ? Pairing::kHalf
                                                  : Pairing::kInterleave;
  p.direction = options.direction;
  Status status = FirstRefusal(
      [&] { return CheckOptions(p, options); },
      [&] { return AddTensor(p, kPositions, "positions", t.positions, false); },
      [&] { return AddTensor(p, kCache, "cache", t.cache, false); },
      [&] { return CheckFloat(p, kCache); },
      [&] { return CheckCache(p, options.head_size); },
      [&] { return SetSections(p, options); },
      [&] {
        return AddOperand(p, kIn0, kOut0, "query", "query_out", t.query,
                          t.query_out, options.head_size);
      },
      [&] { return AddKey(p, t, options.head_size); },
      [&] { return CheckPositions(p); });
  if (!status.ok()) return status;
  return MakePlan(p);
}

Status RotateCached(const RotateCachedOptions& options,
                    const RotateCachedCall& call, Executor* executor) {
  RotateCachedTensors tensors;
  RotateCachedBuffers buffers;
  tensors.positions = call.positions.desc;
  tensors.cache = call.cache.desc;
  tensors.query = call.query.desc;
  tensors.query_out = call.query_out.desc;
  buffers.positions = call.positions.data;
  buffers.cache = call.cache.data;
  buffers.query = call.query.data;
  buffers.query_out = call.query_out.data;
  if (call.key != nullptr) {
    tensors.key = call.key->desc;
    buffers.key = call.key->data;
  }
  if (call.key_out != nullptr) {
    tensors.key_out = call.key_out->desc;
    buffers.key_out = call.key_out->data;
  }
  return RunOnce(MakeRotateCachedPlan(options, tensors), buffers, executor);
}

}  // namespace ropewalk
