#include "fuzz/operator_case.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/dtype.h"
#include "support/cases.h"
#include "support/test_tensor.h"

namespace ropewalk::test {
namespace {

// Strides in any order of axes, with gaps. Those of inputs may be 0.
TensorDesc AnyLayout(Dtype dtype, const Shape& shape, bool zeros,
                     Input& input) {
  if (input.OneIn(3)) return Contiguous(dtype, shape);
  std::vector<size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), size_t{0});
  for (size_t i = order.size(); i > 1; --i) {
    if (input.OneIn(2)) {
      std::swap(order[i - 1], order[static_cast<size_t>(
                                  input.Int(0, static_cast<int64_t>(i) - 1))]);
    }
  }
  Shape strides(shape.size());
  int64_t step = input.OneIn(4) ? input.Int(2, 3) : 1;
  for (const size_t axis : order) {
    const bool zero = zeros && input.OneIn(8);
    strides[axis] = zero ? 0 : input.OneIn(5) ? -step : step;
    step *= std::max<int64_t>(shape[axis], 1);
    if (input.OneIn(4)) step += input.Int(1, 5);
  }
  return Strided(dtype, shape, strides);
}

class Maker {
 public:
  explicit Maker(Input& input) : input_(input) {}

  OperatorCase Make() {
    c_.op = static_cast<Operator>(input_.Int(0, 2));
    const bool spoil = input_.OneIn(2);
    if (c_.op == Operator::kCached) {
      MakeCached();
    } else {
      MakeRotation();
    }
    if (spoil) Spoil();
    return c_;
  }

 private:
  void Put(int slot, Dtype dtype, const Shape& shape) {
    c_.present[slot] = true;
    const bool zeros = !IsOutput(slot) && !input_.OneIn(3);
    c_.desc[slot] = AnyLayout(dtype, shape, zeros, input_);
  }

  // An output that may go to the place of its input.
  void PutOutput(int slot, int in, Dtype dtype, const Shape& shape) {
    Put(slot, dtype, shape);
    if (!input_.OneIn(2)) return;
    c_.desc[in] = c_.desc[slot];
  }

  void MakeRotation() {
    const bool backward = c_.op == Operator::kBackward;
    const bool sums = backward && input_.OneIn(2);
    const bool rotate = !sums || input_.OneIn(2);
    const int operands = input_.OneIn(3) ? 2 : 1;
    c_.rotate.pairing = input_.Pick(AllPairings());
    const int64_t most[] = {4, 12, 40, 300, 1100};
    const int64_t width =
        PairingMultiple(c_.rotate.pairing) *
        input_.Int(
            1, most[input_.OneIn(20) ? input_.Int(3, 4) : input_.Int(0, 2)]);
    int64_t row = width;
    if (input_.OneIn(3)) {
      const int64_t start = input_.Int(0, 9);
      row = start + width + input_.Int(0, 9);
      c_.rotate.slice = Slice{start, start + width};
    }
    const bool half = input_.OneIn(3);
    const Dtypes dtypes = input_.Pick(AllDtypes());
    Shape shape[2];
    Shape table;
    ChooseShapes(row, half ? width / 2 : width, shape, &table);
    Put(kCos, dtypes.table, table);
    Put(kSin, dtypes.table, table);
    for (int i = 0; i < operands; ++i) {
      Dtype data = dtypes.data;
      if (i == 1 && data != Dtype::kF64 && input_.OneIn(2)) {
        data = input_.Pick(
            std::vector<Dtype>{Dtype::kF32, Dtype::kF16, Dtype::kBF16});
      }
      Put(kIn0 + i, data, shape[i]);
      if (sums) Put(kX0 + i, data, shape[i]);
      const int in = sums && input_.OneIn(2) ? kX0 + i : kIn0 + i;
      if (rotate) PutOutput(kOut0 + i, in, data, shape[i]);
    }
    if (!sums) return;
    Put(kDcos, dtypes.table, table);
    Put(kDsin, dtypes.table, table);
  }

  void ChooseShapes(int64_t row, int64_t columns, Shape* shape, Shape* table) {
    const int64_t rank = input_.OneIn(8) ? input_.Int(6, 8) : input_.Int(1, 5);
    int64_t left = 1500 / row + 1;
    for (int64_t axis = 0; axis + 1 < rank; ++axis) {
      const int64_t size =
          input_.OneIn(40) ? 0 : input_.Int(1, std::min<int64_t>(5, left));
      left = std::max<int64_t>(1, left / std::max<int64_t>(size, 1));
      const bool shared = input_.OneIn(2);
      shape[0].push_back(size);
      shape[1].push_back(shared ? input_.Int(1, 3) : size);
      table->push_back(shared ? 1 : size);
    }
    shape[0].push_back(row);
    shape[1].push_back(row);
    table->push_back(columns);
  }

  void MakeCached() {
    const int64_t half = input_.Int(0, input_.OneIn(10) ? 80 : 12);
    const int64_t head = std::max<int64_t>(1, 2 * half + input_.Int(0, 9));
    const int64_t tokens = input_.OneIn(20) ? 0 : input_.Int(1, 6);
    const Dtypes dtypes = input_.Pick(AllDtypes());
    c_.cached.head_size = head;
    c_.cached.style = static_cast<CachedStyle>(input_.Int(0, 1));
    c_.cached.direction = static_cast<Direction>(input_.Int(0, 1));
    ChooseSections(half);
    const bool rows = !c_.sections.empty() && c_.sections[0] != 0;
    const Shape positions =
        rows ? Shape{static_cast<int64_t>(c_.sections.size()), tokens}
             : Shape{tokens};
    Put(kPositions, input_.OneIn(2) ? Dtype::kI64 : Dtype::kI32, positions);
    Put(kCos, dtypes.table, {input_.Int(1, 9), 2 * half});
    for (int i = 0; i < (input_.OneIn(2) ? 2 : 1); ++i) {
      Dtype data = dtypes.data;
      if (i == 1 && data != Dtype::kF64 && input_.OneIn(2)) data = Dtype::kBF16;
      const int64_t heads = input_.OneIn(20) ? 0 : input_.Int(1, 4);
      const Shape shape = input_.OneIn(2) ? Shape{tokens, heads, head}
                                          : Shape{tokens, heads * head};
      Put(kIn0 + i, data, shape);
      PutOutput(kOut0 + i, kIn0 + i, data, shape);
    }
  }

  void ChooseSections(int64_t half) {
    const int64_t kind = input_.Int(0, 4);
    if (kind == 0) return;
    if (kind == 1 || half == 0) {
      c_.sections.assign(static_cast<size_t>(input_.Int(1, 5)), 0);
      return;
    }
    const int64_t count = kind == 2 ? 4 : 3;
    int64_t left = half;
    for (int64_t i = 0; i + 1 < count; ++i) {
      c_.sections.push_back(input_.Int(i == 0 ? 1 : 0, left));
      left -= c_.sections.back();
    }
    c_.sections.push_back(left);
    if (count == 3 && input_.OneIn(2))
      c_.cached.axes = AxisLayout::kInterleaved;
  }

  void Spoil() {
    c_.spoilt = true;
    for (int64_t i = input_.Int(1, 3); i > 0; --i) {
      if (input_.OneIn(3)) {
        SpoilOptions();
      } else {
        SpoilTensor(static_cast<int>(input_.Int(0, kTensorSlots - 1)));
      }
    }
  }

  void SpoilTensor(int slot) {
    TensorDesc& desc = c_.desc[slot];
    const int64_t axis = input_.Int(0, kMaxRank - 1);
    switch (input_.Int(0, 7)) {
      case 0:
        desc.dtype = static_cast<Dtype>(input_.Int(0, 7));
        break;
      case 1:
        desc.rank = static_cast<int>(input_.OneIn(3) ? input_.Wild()
                                                     : input_.Int(-1, 9));
        break;
      case 2:
      case 3:
        desc.shape[axis % std::clamp(desc.rank, 1, kMaxRank)] = input_.Wild();
        break;
      case 4:
        c_.present[slot] = !c_.present[slot];
        break;
      case 5:
        desc = c_.desc[input_.Int(0, kTensorSlots - 1)];
        break;
      default:
        desc.strides[axis % std::clamp(desc.rank, 1, kMaxRank)] = input_.Wild();
    }
  }

  void SpoilOptions() {
    switch (input_.Int(0, 6)) {
      case 0:
        c_.rotate.pairing = static_cast<Pairing>(input_.Int(0, 255));
        break;
      case 1:
        c_.rotate.slice = Slice{input_.Wild(), input_.Wild()};
        break;
      case 2:
        c_.cached.head_size = input_.Wild();
        break;
      case 3:
        c_.sections.resize(static_cast<size_t>(input_.Int(0, 9)));
        for (int64_t& section : c_.sections) section = input_.Wild();
        break;
      case 4:
        c_.cached.axes = static_cast<AxisLayout>(input_.Int(0, 3));
        break;
      case 5:
        c_.cached.style = static_cast<CachedStyle>(input_.Int(0, 255));
        break;
      default:
        c_.cached.direction = static_cast<Direction>(input_.Int(0, 255));
    }
  }

  Input& input_;
  OperatorCase c_;
};

std::optional<TensorDesc> Optional(const OperatorCase& c, int slot) {
  if (!c.present[slot]) return std::nullopt;
  return c.desc[slot];
}

}  // namespace

OperatorCase MakeCase(Input& input) { return Maker(input).Make(); }

Result<Plan> MakePlan(const OperatorCase& c) {
  switch (c.op) {
    case Operator::kRotate:
      return MakeRotatePlan(
          c.rotate, {c.desc[kIn0], c.desc[kCos], c.desc[kSin], c.desc[kOut0],
                     Optional(c, kIn1), Optional(c, kOut1)});
    case Operator::kBackward:
      return MakeRotateBackwardPlan(
          c.rotate, {c.desc[kIn0], c.desc[kCos], c.desc[kSin], Optional(c, kX0),
                     Optional(c, kOut0), Optional(c, kDcos), Optional(c, kDsin),
                     Optional(c, kIn1), Optional(c, kX1), Optional(c, kOut1)});
    case Operator::kCached:
      break;
  }
  RotateCachedOptions options = c.cached;
  options.sections = c.sections;
  return MakeRotateCachedPlan(
      options, {c.desc[kPositions], c.desc[kCos], c.desc[kIn0], c.desc[kOut0],
                Optional(c, kIn1), Optional(c, kOut1)});
}

Status Run(const OperatorCase& c, const Plan& plan, void* const* a,
           const RunOptions& options) {
  switch (c.op) {
    case Operator::kRotate:
      return plan.Run(
          RotateBuffers{a[kIn0], a[kCos], a[kSin], a[kOut0], a[kIn1], a[kOut1]},
          options);
    case Operator::kBackward:
      return plan.Run(
          RotateBackwardBuffers{a[kIn0], a[kCos], a[kSin], a[kX0], a[kOut0],
                                a[kDcos], a[kDsin], a[kIn1], a[kX1], a[kOut1]},
          options);
    case Operator::kCached:
      break;
  }
  return plan.Run(RotateCachedBuffers{a[kPositions], a[kCos], a[kIn0], a[kOut0],
                                      a[kIn1], a[kOut1]},
                  options);
}

std::string ToString(const OperatorCase& c) {
  static const char* const kNames[] = {"in0",  "in1",  "x0",        "x1",
                                       "cos",  "sin",  "positions", "out0",
                                       "out1", "dcos", "dsin"};
  std::string text = c.op == Operator::kRotate     ? "rotate"
                     : c.op == Operator::kBackward ? "backward"
                                                   : "cached";
  text += c.spoilt ? ", spoilt" : "";
  if (c.op == Operator::kCached) {
    text += " head_size " + std::to_string(c.cached.head_size) + " style " +
            std::to_string(static_cast<int>(c.cached.style)) + " axes " +
            std::to_string(static_cast<int>(c.cached.axes)) + " direction " +
            std::to_string(static_cast<int>(c.cached.direction)) + " sections";
    for (const int64_t s : c.sections) text += " " + std::to_string(s);
  } else {
    text += " pairing " + std::to_string(static_cast<int>(c.rotate.pairing));
    if (c.rotate.slice) {
      text += " slice " + std::to_string(c.rotate.slice->start) + ":" +
              std::to_string(c.rotate.slice->end);
    }
  }
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (!c.present[slot]) continue;
    text += std::string("\n  ") + kNames[slot] + " " + ToString(c.desc[slot]);
  }
  return text;
}

}  // namespace ropewalk::test
