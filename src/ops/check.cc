#include "ops/check.h"

#include "core/dtype.h"

namespace ropewalk {

Status Refuse(Code code, const Problem& p, const char* argument,
              const std::string& fact) {
  return Status(code, std::string("[") + p.op + "] " + argument + ": " + fact);
}

namespace {

std::string ListText(const int64_t* values, int count) {
  std::string text = "(";
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(values[i]);
  }
  return text + ")";
}

// Strides that mean nothing, of axes with at most one element and of empty
// tensors, may be any number: they are made harmless.
void ClearIdleStrides(TensorDesc& desc, bool empty) {
  for (int i = 0; i < desc.rank; ++i) {
    if (empty || desc.shape[i] == 1) desc.strides[i] = 0;
  }
  if (empty || desc.shape[desc.rank - 1] == 1) desc.strides[desc.rank - 1] = 1;
}

Status CheckDesc(const Problem& p, const char* name, const TensorDesc& desc,
                 bool output, Extent* extent) {
  if (desc.rank < 1 || desc.rank > kMaxRank) {
    return Refuse(Code::kShape, p, name,
                  "rank must be 1 to 8, but is " + std::to_string(desc.rank));
  }
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.shape[i] < 0) {
      return Refuse(
          Code::kShape, p, name,
          "sizes must not be negative, but shape is " + ShapeText(desc));
    }
  }
  if (!ComputeExtent(desc, extent)) {
    return Refuse(Code::kShape, p, name,
                  "size in bytes must fit 62 bits, but shape is " +
                      ShapeText(desc) + " and strides are " +
                      ListText(desc.strides, desc.rank));
  }
  if (!output) return Status();
  const Answer answer = OverlapsItself(desc);
  if (answer == Answer::kNo) return Status();
  return Refuse(Code::kOverlap, p, name,
                answer == Answer::kYes
                    ? "an output must not overlap itself, but its strides make "
                      "it do so"
                    : "an output must not overlap itself, which could not be "
                      "decided for these strides");
}

}  // namespace

std::string ShapeText(const TensorDesc& desc) {
  return ListText(desc.shape, desc.rank);
}

Status AddTensor(Problem& p, Slot slot, const char* name,
                 const TensorDesc& desc, bool output) {
  Status status = CheckDesc(p, name, desc, output, &p.extent[slot]);
  p.names[slot] = name;
  p.desc[slot] = desc;
  p.present[slot] = true;
  if (status.ok()) ClearIdleStrides(p.desc[slot], p.extent[slot].empty());
  return status;
}

Status CheckFloat(const Problem& p, Slot slot) {
  if (IsFloat(p.desc[slot].dtype)) return Status();
  return Refuse(Code::kDtype, p, p.names[slot],
                std::string("dtype must be f32, f16, bf16 or f64, but is ") +
                    DtypeName(p.desc[slot].dtype));
}

Status CheckSameDtype(const Problem& p, Slot slot, Slot as) {
  if (p.desc[slot].dtype == p.desc[as].dtype) return Status();
  return Refuse(Code::kDtype, p, p.names[slot],
                std::string("dtype must be that of ") + p.names[as] + ", " +
                    DtypeName(p.desc[as].dtype) + ", but is " +
                    DtypeName(p.desc[slot].dtype));
}

Status CheckSameShape(const Problem& p, Slot slot, Slot as) {
  if (SameShape(p.desc[slot], p.desc[as])) return Status();
  return Refuse(Code::kShape, p, p.names[slot],
                std::string("shape must be that of ") + p.names[as] + ", " +
                    ShapeText(p.desc[as]) + ", but is " +
                    ShapeText(p.desc[slot]));
}

Status CheckTableDtype(const Problem& p, Slot table, Slot data) {
  const Dtype dtype = p.desc[table].dtype;
  const Dtype with = p.desc[data].dtype;
  if ((dtype == Dtype::kF64) == (with == Dtype::kF64)) return Status();
  return Refuse(Code::kDtype, p, p.names[table],
                std::string("dtype must be ") +
                    (with == Dtype::kF64 ? "f64" : "f32, f16 or bf16") +
                    " with " + p.names[data] + " of " + DtypeName(with) +
                    ", but is " + DtypeName(dtype));
}

Status SetSlice(Problem& p, const RotateOptions& options) {
  const TensorDesc& in = p.desc[kIn0];
  const int64_t row = in.shape[in.rank - 1];
  const Slice slice = options.slice.value_or(Slice{0, row});
  if (slice.start < 0 || slice.end < slice.start || slice.end > row) {
    return Refuse(Code::kOption, p, "slice",
                  "must be 0 <= start <= end <= " + std::to_string(row) +
                      ", but is [" + std::to_string(slice.start) + ", " +
                      std::to_string(slice.end) + ")");
  }
  p.start = slice.start;
  p.width = slice.end - slice.start;
  const int64_t multiple = PairingMultiple(p.pairing);
  if (p.width % multiple == 0) return Status();
  const std::string need = "must be a multiple of " + std::to_string(multiple) +
                           " for pairing " + PairingName(p.pairing) +
                           ", but is " + std::to_string(p.width);
  return options.slice.has_value()
             ? Refuse(Code::kOption, p, "slice", "width " + need)
             : Refuse(Code::kShape, p, p.names[kIn0], "last axis " + need);
}

Status CheckTable(Problem& p, Slot data) {
  const TensorDesc& cos = p.desc[kCos];
  const TensorDesc& in = p.desc[data];
  if (cos.rank != in.rank) {
    return Refuse(Code::kShape, p, "cos",
                  std::string("rank must be that of ") + p.names[data] + ", " +
                      std::to_string(in.rank) + ", but is " +
                      std::to_string(cos.rank));
  }
  for (int i = 0; i + 1 < in.rank; ++i) {
    if (cos.shape[i] == 1 || cos.shape[i] == in.shape[i]) continue;
    return Refuse(
        Code::kShape, p, "cos",
        "axis " + std::to_string(i) + " must be 1" +
            (in.shape[i] == 1 ? std::string()
                              : " or " + std::to_string(in.shape[i])) +
            ", but is " + std::to_string(cos.shape[i]) + ": " + ShapeText(cos) +
            " against " + p.names[data] + " " + ShapeText(in));
  }
  const int64_t columns = cos.shape[cos.rank - 1];
  p.half_width = columns != p.width;
  if (columns == p.width || columns == p.width / 2) return Status();
  return Refuse(
      Code::kShape, p, "cos",
      "last axis must be " + std::to_string(p.width) + " or " +
          std::to_string(p.width / 2) + ", but is " + std::to_string(columns) +
          (p.width < in.shape[in.rank - 1]
               ? " (tables have the width of the slice, not of the row)"
               : ""));
}

Status CheckSecondOperand(const Problem& p) {
  const TensorDesc& first = p.desc[kIn0];
  const TensorDesc& second = p.desc[kIn1];
  const TensorDesc& cos = p.desc[kCos];
  if (second.rank != first.rank) {
    return Refuse(Code::kShape, p, p.names[kIn1],
                  std::string("rank must be that of ") + p.names[kIn0] + ", " +
                      std::to_string(first.rank) + ", but is " +
                      std::to_string(second.rank));
  }
  for (int i = 0; i < first.rank; ++i) {
    const bool row = i + 1 == first.rank;
    if (second.shape[i] == first.shape[i]) continue;
    if (!row && cos.shape[i] == 1) continue;
    return Refuse(Code::kShape, p, p.names[kIn1],
                  "axis " + std::to_string(i) + " must be " +
                      std::to_string(first.shape[i]) + " as in " +
                      p.names[kIn0] + ", but is " +
                      std::to_string(second.shape[i]));
  }
  return Status();
}

Status CheckPairing(const Problem& p) {
  const auto pairing = static_cast<size_t>(p.pairing);
  if (pairing < std::size(kPairings)) return Status();
  return Refuse(
      Code::kOption, p, "pairing",
      "must be a value of Pairing, but is " + std::to_string(pairing));
}

}  // namespace ropewalk
