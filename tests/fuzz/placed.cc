#include "fuzz/placed.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/reference.h"

namespace ropewalk::test {
namespace {

constexpr int64_t kMaxElements = 6000;
constexpr int64_t kMaxBytes = 1 << 17;

// Bytes before and after the first element's address.
struct Reach {
  int64_t before = 0, bytes = 0;
};

std::optional<Reach> ReachOf(const TensorDesc& desc) {
  if (IsEmpty(desc)) return Reach{};
  __int128 low = 0, high = 0;
  __int128 elements = 1;
  for (int axis = 0; axis < desc.rank; ++axis) {
    elements *= desc.shape[axis];
    if (elements > kMaxElements) return std::nullopt;
    const __int128 reach =
        static_cast<__int128>(desc.shape[axis] - 1) * desc.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<int64_t>(DtypeSize(desc.dtype));
  const __int128 bytes = (high - low + 1) * size;
  if (bytes > kMaxBytes) return std::nullopt;
  return Reach{static_cast<int64_t>(-low * size), static_cast<int64_t>(bytes)};
}

// May an output lie exactly on that input?
bool MayCoincide(int out, int in) {
  return (out == kOut0 && (in == kIn0 || in == kX0)) ||
         (out == kOut1 && (in == kIn1 || in == kX1));
}

bool SameLayout(const TensorDesc& a, const TensorDesc& b) {
  if (a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.shape[axis] != b.shape[axis]) return false;
    if (a.shape[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  }
  return true;
}

int64_t PositionAt(Dtype dtype, const std::byte* element) {
  if (dtype == Dtype::kI32) {
    int32_t value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, element, sizeof(value));
  return value;
}

bool IsQuiet(Dtype dtype, const void* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, DtypeSize(dtype));
  const int quiet = dtype == Dtype::kF16    ? 9
                    : dtype == Dtype::kBF16 ? 6
                    : dtype == Dtype::kF32  ? 22
                                            : 51;
  return (bits >> quiet & 1) != 0;
}

}  // namespace

bool IsEmpty(const TensorDesc& desc) {
  for (int axis = 0; axis < desc.rank; ++axis) {
    if (desc.shape[axis] == 0) return true;
  }
  return false;
}

bool Fits63Bits(const TensorDesc& desc) {
  if (IsEmpty(desc)) return true;
  const auto size = static_cast<__int128>(DtypeSize(desc.dtype));
  __int128 low = 0, high = size, bytes = size;
  for (int axis = 0; axis < desc.rank; ++axis) {
    bytes *= desc.shape[axis];
    if (bytes > INT64_MAX) return false;
    const __int128 reach = size * desc.strides[axis] * (desc.shape[axis] - 1);
    (reach < 0 ? low : high) += reach;
    if (low < INT64_MIN || high > INT64_MAX) return false;
  }
  return true;
}

bool IsSmall(const OperatorCase& c) {
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (c.present[slot] && !ReachOf(c.desc[slot])) return false;
  }
  return true;
}

Placed::Placed(const OperatorCase& c, Data data, Input& input) : case_(c) {
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (c.present[slot]) Place(slot, input);
  }
  Random random(input.Bits());
  for (int slot = 0; slot < kOut0; ++slot) {
    if (!c.present[slot] || slot == kPositions) continue;
    const bool table = slot == kCos || slot == kSin;
    Fill(slot, table && data == Data::kNormal ? Data::kUnit : data, random,
         input);
  }
  // The last, so that nothing lies over it.
  if (c.present[kPositions]) Fill(kPositions, data, random, input);
  for (Block& block : blocks_) {
    block.before.assign(block.got.data(), block.got.data() + block.got.size());
    block.want = block.before;
  }
}

void Placed::Place(int slot, Input& input) {
  for (int in = 0; in < slot; ++in) {
    if (!case_.present[in]) continue;
    const bool exact =
        MayCoincide(slot, in) && SameLayout(case_.desc[slot], case_.desc[in]);
    if (exact && input.OneIn(2)) {
      block_[slot] = block_[in];
      origin_[slot] = origin_[in];
      address_[slot] = address_[in];
      return;
    }
  }
  if (input.OneIn(12) && slot > 0) {
    if (PlaceOn(slot, static_cast<int>(input.Int(0, slot - 1)), input)) return;
  }
  const Reach reach = *ReachOf(case_.desc[slot]);
  static const std::vector<Placement> all = {
      Placement::kPadded, Placement::kOdd, Placement::kOddByte,
      Placement::kGuardAfter, Placement::kGuardBefore};
  const int64_t room = input.OneIn(8) ? input.Int(0, 64) : 0;
  const size_t size = DtypeSize(case_.desc[slot].dtype);
  blocks_.emplace_back(static_cast<size_t>(reach.bytes + room), input.Pick(all),
                       size);
  block_[slot] = &blocks_.back();
  origin_[slot] = reach.before;
  address_[slot] = block_[slot]->got.data() + origin_[slot];
}

// Into the memory of another tensor, anywhere.
bool Placed::PlaceOn(int slot, int other, Input& input) {
  if (!case_.present[other]) return false;
  Block* block = block_[other];
  const Reach reach = *ReachOf(case_.desc[slot]);
  const int64_t room = static_cast<int64_t>(block->got.size()) - reach.bytes;
  if (room < 0) return false;
  block_[slot] = block;
  const auto size = static_cast<int64_t>(DtypeSize(case_.desc[slot].dtype));
  int64_t at = input.Int(0, room);
  if (!input.OneIn(4)) at -= at % size;
  origin_[slot] = at + reach.before;
  address_[slot] = block->got.data() + origin_[slot];
  return true;
}

void Placed::Fill(int slot, Data data, Random& random, Input& input) {
  const TensorDesc& desc = case_.desc[slot];
  std::byte* base = static_cast<std::byte*>(address_[slot]);
  const int64_t rows = case_.desc[kCos].shape[0];
  const bool bad = slot == kPositions && input.OneIn(8);
  ForEachElement(desc, [&](int64_t offset) {
    if (slot != kPositions) {
      FillElement(desc.dtype, data, random, base + offset);
      return;
    }
    const int64_t value = bad && random.OneIn(3)
                              ? input.Wild()
                              : random.Int(0, std::max<int64_t>(rows - 1, 0));
    // The low bytes come first.
    std::memcpy(base + offset, &value, DtypeSize(desc.dtype));
  });
}

ConstTensor Placed::Before(int slot) const {
  if (!case_.present[slot]) return {};
  return {case_.desc[slot], block_[slot]->before.data() + origin_[slot]};
}

Tensor Placed::Want(int slot) {
  if (!case_.present[slot]) return {};
  return {case_.desc[slot], block_[slot]->want.data() + origin_[slot]};
}

std::string Placed::Text() const {
  std::string text;
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (block_[slot] == nullptr) continue;
    size_t number = 0;
    for (const Block& block : blocks_) {
      if (&block == block_[slot]) break;
      ++number;
    }
    text += " " + std::to_string(slot) + " at block " + std::to_string(number) +
            " byte " + std::to_string(origin_[slot]);
  }
  return text;
}

Code Placed::Expected() const {
  for (int slot = 0; slot < kTensorSlots; ++slot) {
    if (case_.present[slot] && address_[slot] == nullptr &&
        !IsEmpty(case_.desc[slot])) {
      return Code::kNullPointer;
    }
  }
  if (Overlap()) return Code::kOverlap;
  return BadPosition() ? Code::kPosition : Code::kOk;
}

// Who writes each byte, by looking at each.
bool Placed::Overlap() const {
  bool overlap = false;
  for (const Block& block : blocks_) {
    std::vector<uint8_t> writer(block.got.size());
    for (const bool outputs : {true, false}) {
      for (int slot = 0; slot < kTensorSlots; ++slot) {
        if (block_[slot] != &block || IsOutput(slot) != outputs) continue;
        const TensorDesc& desc = case_.desc[slot];
        const auto size = static_cast<int64_t>(DtypeSize(desc.dtype));
        ForEachElement(desc, [&](int64_t offset) {
          for (int64_t i = 0; i < size; ++i) {
            uint8_t& by =
                writer[static_cast<size_t>(origin_[slot] + offset + i)];
            const int other = by - 1;
            if (by == 0) {
              if (outputs) by = static_cast<uint8_t>(slot + 1);
            } else if (other == slot) {
              Broken("an output over itself was accepted");
            } else if (outputs || !MayCoincide(other, slot) ||
                       origin_[other] != origin_[slot] ||
                       !SameLayout(case_.desc[other], desc)) {
              overlap = true;
            }
          }
        });
      }
    }
  }
  return overlap;
}

bool Placed::BadPosition() const {
  if (case_.op != Operator::kCached) return false;
  const TensorDesc& desc = case_.desc[kPositions];
  const std::byte* base =
      block_[kPositions]->before.data() + origin_[kPositions];
  bool bad = false;
  ForEachElement(desc, [&](int64_t offset) {
    const int64_t value = PositionAt(desc.dtype, base + offset);
    bad = bad || value < 0 || value >= case_.desc[kCos].shape[0];
  });
  return bad;
}

bool Placed::Untouched() const {
  for (const Block& block : blocks_) {
    if (!block.got.PaddingIntact() ||
        (!block.before.empty() &&
         std::memcmp(block.got.data(), block.before.data(), block.got.size()) !=
             0)) {
      return false;
    }
  }
  return true;
}

void Placed::Accept(int slot) {
  Block& block = *block_[slot];
  const size_t size = DtypeSize(case_.desc[slot].dtype);
  ForEachElement(case_.desc[slot], [&](int64_t offset) {
    const auto at = static_cast<size_t>(origin_[slot] + offset);
    std::memcpy(block.want.data() + at, block.got.data() + at, size);
  });
}

void Placed::AcceptNan(int slot, int64_t start, int64_t end) {
  Block& block = *block_[slot];
  const TensorDesc& desc = case_.desc[slot];
  const size_t size = DtypeSize(desc.dtype);
  const int64_t row = desc.shape[desc.rank - 1];
  int64_t n = 0;
  ForEachElement(desc, [&](int64_t offset) {
    const int64_t column = n++ % row;
    if (column < start || column >= end) return;
    const auto at = static_cast<size_t>(origin_[slot] + offset);
    std::byte* want = block.want.data() + at;
    const std::byte* got = block.got.data() + at;
    if (std::isnan(reference::Decode(desc.dtype, want)) &&
        std::isnan(reference::Decode(desc.dtype, got)) &&
        IsQuiet(desc.dtype, got)) {
      std::memcpy(want, got, size);
    }
  });
}

std::string Placed::Difference() const {
  for (const Block& block : blocks_) {
    if (!block.got.PaddingIntact()) return "written around the tensors";
    for (size_t i = 0; i < block.want.size(); ++i) {
      if (block.got.data()[i] == block.want[i]) continue;
      std::string text = "byte " + std::to_string(i) + " of the memory of";
      for (int slot = 0; slot < kTensorSlots; ++slot) {
        if (block_[slot] == &block) text += " tensor " + std::to_string(slot);
      }
      return text + " is " +
             std::to_string(static_cast<int>(block.got.data()[i])) + ", not " +
             std::to_string(static_cast<int>(block.want[i]));
    }
  }
  return "";
}

}  // namespace ropewalk::test
