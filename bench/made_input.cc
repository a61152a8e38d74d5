#include "bench/made_input.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <utility>

#include "io/stored_tensor.h"

namespace ropewalk::bench {
namespace {

constexpr size_t kRandomValues = 1000003;  // then the same again

int64_t Width(const TensorDesc& desc) { return desc.shape[desc.rank - 1]; }

// Rounds a float that is 0 or normal in the narrow format, whose mantissa is
// `shift` bits shorter and whose exponents are `rebias` lower.
uint16_t Narrow(double value, int shift, uint32_t rebias) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t sign = bits >> 31 << 15;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude <= rebias) return static_cast<uint16_t>(sign);
  const uint32_t odd = magnitude >> shift & 1;
  const uint32_t half = (uint32_t{1} << (shift - 1)) - 1;
  return static_cast<uint16_t>(sign |
                               (magnitude - rebias + half + odd) >> shift);
}

void StoreElement(Dtype dtype, std::byte* data, size_t i, double value) {
  switch (dtype) {
    case Dtype::kF32:
      reinterpret_cast<float*>(data)[i] = static_cast<float>(value);
      break;
    case Dtype::kF64:
      reinterpret_cast<double*>(data)[i] = value;
      break;
    case Dtype::kF16:
      reinterpret_cast<uint16_t*>(data)[i] =
          Narrow(value, 13, uint32_t{127 - 15} << 23);
      break;
    case Dtype::kBF16:
      reinterpret_cast<uint16_t*>(data)[i] = Narrow(value, 16, 0);
      break;
    case Dtype::kI32:
      reinterpret_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
      break;
    case Dtype::kI64:
      reinterpret_cast<int64_t*>(data)[i] = static_cast<int64_t>(value);
      break;
  }
}

int64_t PairOfColumn(Pairing pairing, int64_t width, int64_t column) {
  const int64_t quarter = width / 4;
  if (pairing == Pairing::kInterleave) return column / 2;
  if (pairing == Pairing::kQuarter) {
    return column / (2 * quarter) * quarter + column % quarter;
  }
  return column % (width / 2);
}

// Of element i of a table.
double Angle(const TensorDesc& desc, Pairing pairing, size_t i) {
  const auto row = static_cast<int64_t>(i) / Width(desc);
  const auto column = static_cast<int64_t>(i) % Width(desc);
  const int64_t pair = PairOfColumn(pairing, Width(desc), column);
  return 0.37 * static_cast<double>(row) + 0.11 * static_cast<double>(pair);
}

}  // namespace

size_t TensorBytes(const TensorDesc& desc) {
  const std::span<const int64_t> shape(desc.shape,
                                       static_cast<size_t>(desc.rank));
  return io::ByteCount(shape, DtypeSize(desc.dtype)).value_or(0);
}

template <class ValueAt>
void* Memory::Fill(const TensorDesc& desc, const ValueAt& value_at,
                   size_t period) {
  const size_t bytes = TensorBytes(desc);
  const size_t element = DtypeSize(desc.dtype);
  Result<Block> block = Block::Allocate(bytes, pages_);
  if (!block.ok()) {
    status_ = block.status();
    return nullptr;
  }
  const size_t count = std::min(bytes / element, period);
  for (size_t i = 0; i < count; ++i) {
    StoreElement(desc.dtype, block->data(), i, value_at(i));
  }
  for (size_t done = count * element; done < bytes;) {
    const size_t size = std::min(done, bytes - done);
    std::memcpy(block->data() + done, block->data(), size);
    done += size;
  }
  blocks_.push_back(std::move(*block));
  return blocks_.back().data();
}

void* Memory::Random(const TensorDesc& desc) {
  std::minstd_rand random;
  const auto value_at = [&random](size_t) {
    const auto bits = static_cast<double>(random());
    const double value = 0.5 + bits / (2.0 * std::minstd_rand::max());
    return random() % 2 == 0 ? value : -value;
  };
  return Fill(desc, value_at, kRandomValues);
}

void* Memory::Zeros(const TensorDesc& desc) {
  return Fill(
      desc, [](size_t) { return 0.0; }, 1);
}

void* Memory::Cos(const TensorDesc& desc, Pairing pairing) {
  return Fill(desc,
              [&](size_t i) { return std::cos(Angle(desc, pairing, i)); });
}

void* Memory::Sin(const TensorDesc& desc, Pairing pairing) {
  return Fill(desc,
              [&](size_t i) { return std::sin(Angle(desc, pairing, i)); });
}

void* Memory::Cache(const TensorDesc& desc) {
  return Fill(desc, [&](size_t i) {
    const double angle = Angle(desc, Pairing::kHalf, i);
    const bool cosines =
        static_cast<int64_t>(i) % Width(desc) < Width(desc) / 2;
    return cosines ? std::cos(angle) : std::sin(angle);
  });
}

void* Memory::Positions(const TensorDesc& desc, int64_t rows) {
  const int64_t tokens = Width(desc);
  return Fill(desc, [rows, tokens](size_t i) {
    const auto index = static_cast<int64_t>(i);
    const int64_t token = index % tokens;
    return static_cast<double>((token + index / tokens) % rows);
  });
}

}  // namespace ropewalk::bench
