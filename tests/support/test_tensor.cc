#include "support/test_tensor.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "kernels/reference.h"

namespace ropewalk::test {
namespace {

using reference::Decode;
using reference::ElementBytes;
using reference::Encode;

// Lowest and highest element offset; {0, -1} if there is no element.
struct Extent {
  int64_t low, high;
};

Extent ExtentOf(const TensorDesc& desc) {
  Extent extent{0, 0};
  for (int axis = 0; axis < desc.rank; ++axis) {
    if (desc.shape[axis] == 0) return {0, -1};
    const int64_t reach = (desc.shape[axis] - 1) * desc.strides[axis];
    (reach < 0 ? extent.low : extent.high) += reach;
  }
  return extent;
}

size_t BytesOf(const TensorDesc& desc) {
  const Extent extent = ExtentOf(desc);
  return (extent.high - extent.low + 1) * ElementBytes(desc.dtype);
}

std::string Hex(const void* element, size_t bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, bytes);
  std::ostringstream os;
  os << "0x" << std::hex << bits;
  return os.str();
}

double SpecialValue(Dtype dtype, Random& random) {
  const double tiny = dtype == Dtype::kF16 ? 0x1p-24 : 0x1p-133;
  const double large = dtype == Dtype::kF16 ? 65504.0 : 0x1.fep127;
  const std::vector<double> values = {
      0.0,   1.0,      std::numeric_limits<double>::infinity(),
      tiny,  3 * tiny, 1e6 * tiny,
      large, 1e-19,    std::numeric_limits<double>::quiet_NaN()};
  return random.Pick(values) * (random.OneIn(2) ? 1 : -1);
}

// NaNs that a careless conversion turns into infinity or zero.
uint64_t OddNan(Dtype dtype, Random& random) {
  const bool full = random.OneIn(2);
  const uint64_t sign = random.OneIn(2) ? 1 : 0;
  switch (dtype) {
    case Dtype::kF32:
      return (full ? 0x7fffffffU : 0x7f800001U) | sign << 31;
    case Dtype::kF16:
      return (full ? 0x7fffU : 0x7c01U) | sign << 15;
    case Dtype::kBF16:
      return (full ? 0x7fffU : 0x7f81U) | sign << 15;
    default:
      return (full ? 0x7fffffffffffffffU : 0x7ff0000000000001U) | sign << 63;
  }
}

bool SameBytes(const ConstTensor& a, const ConstTensor& b) {
  int64_t stride = 1;
  for (int axis = a.desc.rank - 1; axis >= 0; --axis) {
    if (a.desc.strides[axis] != stride || b.desc.strides[axis] != stride) {
      return false;
    }
    stride *= a.desc.shape[axis];
  }
  return stride == 0 ||
         std::memcmp(a.data, b.data, stride * ElementBytes(a.desc.dtype)) == 0;
}

}  // namespace

TensorDesc Contiguous(Dtype dtype, const Shape& shape) {
  return TensorDesc::Contiguous(dtype, std::span<const int64_t>(shape));
}

TensorDesc Strided(Dtype dtype, const Shape& shape, const Shape& strides) {
  return TensorDesc::Strided(dtype, std::span<const int64_t>(shape),
                             std::span<const int64_t>(strides));
}

int64_t Count(const TensorDesc& desc) {
  int64_t count = 1;
  for (int axis = 0; axis < desc.rank; ++axis) count *= desc.shape[axis];
  return count;
}

Shape ShapeOf(const TensorDesc& desc) {
  return Shape(desc.shape, desc.shape + desc.rank);
}

TestTensor::TestTensor(const TensorDesc& desc, Placement placement)
    : desc_(desc),
      origin_(-ExtentOf(desc).low *
              static_cast<int64_t>(ElementBytes(desc.dtype))),
      memory_(BytesOf(desc), placement, ElementBytes(desc.dtype)) {}

TestTensor::TestTensor(Dtype dtype, const Shape& shape, Placement placement)
    : TestTensor(Contiguous(dtype, shape), placement) {}

TestTensor::TestTensor(Dtype dtype, const Shape& shape, Data data,
                       Random& random)
    : TestTensor(dtype, shape) {
  Fill(data, random);
}

TestTensor& TestTensor::Fill(Data data, Random& random) {
  const int64_t count = Count(desc_);
  for (int64_t i = 0; i < count; ++i) {
    FillElement(desc_.dtype, data, random, Address(i));
  }
  return *this;
}

TestTensor& TestTensor::Fill(double value) {
  const int64_t count = Count(desc_);
  for (int64_t i = 0; i < count; ++i) Set(i, value);
  return *this;
}

double TestTensor::At(int64_t ordinal) const {
  return Decode(desc_.dtype, Address(ordinal));
}

void TestTensor::Set(int64_t ordinal, double value) {
  Encode(desc_.dtype, value, Address(ordinal));
}

void* TestTensor::Address(int64_t ordinal) const {
  return ElementAddress(in(), ordinal);
}

void* ElementAddress(const ConstTensor& tensor, int64_t ordinal) {
  int64_t offset = 0;
  for (int axis = tensor.desc.rank - 1; axis >= 0; --axis) {
    offset += ordinal % tensor.desc.shape[axis] * tensor.desc.strides[axis];
    ordinal /= tensor.desc.shape[axis];
  }
  return const_cast<char*>(static_cast<const char*>(tensor.data)) +
         offset * static_cast<int64_t>(ElementBytes(tensor.desc.dtype));
}

void CopyElements(const ConstTensor& from, const Tensor& to) {
  const int64_t count = Count(from.desc);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(ElementAddress(to, i), ElementAddress(from, i),
                ElementBytes(from.desc.dtype));
  }
}

TestTensor Packed(const ConstTensor& tensor) {
  TestTensor packed(tensor.desc.dtype, ShapeOf(tensor.desc));
  CopyElements(tensor, packed.out());
  return packed;
}

testing::AssertionResult SameElements(const ConstTensor& got,
                                      const ConstTensor& want) {
  if (ShapeOf(got.desc) != ShapeOf(want.desc) ||
      got.desc.dtype != want.desc.dtype) {
    return testing::AssertionFailure()
           << "shapes " << ToString(got.desc) << ", " << ToString(want.desc);
  }
  const Dtype dtype = got.desc.dtype;
  const size_t bytes = ElementBytes(dtype);
  if (SameBytes(got, want)) return testing::AssertionSuccess();
  const int64_t count = Count(got.desc);
  for (int64_t i = 0; i < count; ++i) {
    const void* g = ElementAddress(got, i);
    const void* w = ElementAddress(want, i);
    if (std::memcmp(g, w, bytes) == 0) continue;
    if (std::isnan(Decode(dtype, g)) && std::isnan(Decode(dtype, w))) continue;
    return testing::AssertionFailure()
           << "element " << i << " of " << count << " (column "
           << i % got.desc.shape[got.desc.rank - 1] << " of "
           << ToString(got.desc) << ") is " << Decode(dtype, g) << " ("
           << Hex(g, bytes) << "), not " << Decode(dtype, w) << " ("
           << Hex(w, bytes) << ")";
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult SameMemory(const TestTensor& got,
                                    const TestTensor& want) {
  testing::AssertionResult same = SameElements(got.in(), want.in());
  if (!same) return same;
  if (!got.memory().PaddingIntact()) {
    return testing::AssertionFailure()
           << "bytes around " << ToString(got.desc()) << " were written";
  }
  // Leave only what lies between the elements.
  TestTensor a = got;
  TestTensor b = want;
  a.Fill(0.0);
  b.Fill(0.0);
  if (std::memcmp(a.memory().data(), b.memory().data(), a.memory().size()) !=
      0) {
    return testing::AssertionFailure()
           << "bytes between the elements of " << ToString(got.desc())
           << " were written";
  }
  return testing::AssertionSuccess();
}

void FillElement(Dtype dtype, Data data, Random& random, void* element) {
  switch (data) {
    case Data::kNormal:
      return Encode(dtype, random.Normal(), element);
    case Data::kUnit:
      return Encode(dtype, random.Unit(), element);
    case Data::kSpecial:
      if (random.OneIn(12)) {
        const uint64_t bits = OddNan(dtype, random);
        std::memcpy(element, &bits, ElementBytes(dtype));
        return;
      }
      return Encode(
          dtype,
          random.OneIn(2) ? SpecialValue(dtype, random) : random.Normal(),
          element);
    case Data::kBits: {
      const uint64_t bits = random.Bits();
      std::memcpy(element, &bits, ElementBytes(dtype));
      return;
    }
  }
}

std::string ToString(const TensorDesc& desc) {
  std::ostringstream os;
  os << DtypeName(desc.dtype) << " [";
  for (int i = 0; i < desc.rank && i < kMaxRank; ++i) {
    os << (i > 0 ? ", " : "") << desc.shape[i];
  }
  os << "] strides [";
  for (int i = 0; i < desc.rank && i < kMaxRank; ++i) {
    os << (i > 0 ? ", " : "") << desc.strides[i];
  }
  os << "]";
  return os.str();
}

}  // namespace ropewalk::test

namespace ropewalk {
void PrintTo(const TensorDesc& desc, std::ostream* os) {
  *os << test::ToString(desc);
}
}  // namespace ropewalk
