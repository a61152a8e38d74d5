// Every refusal of MakeRotatePlan: the code and the exact message.

#include "support/refusals.h"

namespace ropewalk::test {
namespace {

using O = RotateOptions;
using T = RotateTensors;

// x (2, 3, 4, 128), tables (2, 1, 4, 128).
T Valid() {
  const TensorDesc x = Contiguous(Dtype::kF32, {2, 3, 4, 128});
  const TensorDesc table = Contiguous(Dtype::kF32, {2, 1, 4, 128});
  return {x, table, table, x, {}, {}};
}

void SetAll(T& t, const Shape& x, const Shape& table) {
  t.x = t.y = Contiguous(t.x.dtype, x);
  t.cos = t.sin = Contiguous(t.cos.dtype, table);
}

const std::vector<Refusal<O, T>> kRefusals = {
    // Ranks.
    {"x of rank 0", [](O&, T& t) { SetAll(t, {}, {}); }, Code::kShape,
     "[rotate] x: rank must be 1 to 8, but is 0"},
    {"x of rank 9",
     [](O&, T& t) {
       SetAll(t, {1, 1, 1, 1, 1, 1, 1, 1, 8}, {1, 1, 1, 1, 1, 1, 1, 1, 8});
     },
     Code::kShape, "[rotate] x: rank must be 1 to 8, but is 9"},
    {"x of negative rank", [](O&, T& t) { t.x.rank = -1; }, Code::kShape,
     "[rotate] x: rank must be 1 to 8, but is -1"},
    {"y of another rank",
     [](O&, T& t) {
       t.y = Contiguous(Dtype::kF32, {6, 4, 128});
     },
     Code::kShape,
     "[rotate] y: shape must be that of x, (2, 3, 4, 128), but is (6, 4, 128)"},
    {"cos of another rank",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {4, 128});
     },
     Code::kShape, "[rotate] cos: rank must be that of x, 4, but is 2"},
    {"cos of rank 9",
     [](O&, T& t) {
       t.cos = Contiguous(Dtype::kF32, {1, 1, 1, 1, 1, 1, 1, 1, 128});
     },
     Code::kShape, "[rotate] cos: rank must be 1 to 8, but is 9"},
    {"sin of another rank",
     [](O&, T& t) {
       t.sin = Contiguous(Dtype::kF32, {4, 128});
     },
     Code::kShape,
     "[rotate] sin: shape must be that of cos, (2, 1, 4, 128), but is (4, "
     "128)"},
    // Dtypes.
    {"x of integers", [](O&, T& t) { t.x.dtype = Dtype::kI32; }, Code::kDtype,
     "[rotate] x: dtype must be f32, f16, bf16 or f64, but is i32"},
    {"x of an unknown dtype",
     [](O&, T& t) { t.x.dtype = static_cast<Dtype>(17); }, Code::kDtype,
     "[rotate] x: dtype must be f32, f16, bf16 or f64, but is unknown"},
    {"y of another dtype", [](O&, T& t) { t.y.dtype = Dtype::kBF16; },
     Code::kDtype, "[rotate] y: dtype must be that of x, f32, but is bf16"},
    {"cos of integers",
     [](O&, T& t) { t.cos.dtype = t.sin.dtype = Dtype::kI64; }, Code::kDtype,
     "[rotate] cos: dtype must be f32, f16, bf16 or f64, but is i64"},
    {"sin of another dtype than cos",
     [](O&, T& t) { t.sin.dtype = Dtype::kF16; }, Code::kDtype,
     "[rotate] sin: dtype must be that of cos, f32, but is f16"},
    {"fp64 data, fp32 tables",
     [](O&, T& t) { t.x.dtype = t.y.dtype = Dtype::kF64; }, Code::kDtype,
     "[rotate] cos: dtype must be f64 with x of f64, but is f32"},
    {"fp32 data, fp64 tables",
     [](O&, T& t) { t.cos.dtype = t.sin.dtype = Dtype::kF64; }, Code::kDtype,
     "[rotate] cos: dtype must be f32, f16 or bf16 with x of f32, but is f64"},
    // Widths.
    {"odd width",
     [](O&, T& t) {
       SetAll(t, {2, 3, 4, 127}, {2, 1, 4, 127});
     },
     Code::kShape,
     "[rotate] x: last axis must be a multiple of 2 for pairing half, but is "
     "127"},
    {"width of one",
     [](O&, T& t) {
       SetAll(t, {2, 1}, {2, 1});
     },
     Code::kShape,
     "[rotate] x: last axis must be a multiple of 2 for pairing half, but is "
     "1"},
    {"quarter of 6",
     [](O& o, T& t) {
       o.pairing = Pairing::kQuarter;
       SetAll(t, {3, 6}, {3, 6});
     },
     Code::kShape,
     "[rotate] x: last axis must be a multiple of 4 for pairing quarter, but "
     "is 6"},
    {"quarter of 2",
     [](O& o, T& t) {
       o.pairing = Pairing::kQuarter;
       SetAll(t, {3, 2}, {3, 2});
     },
     Code::kShape,
     "[rotate] x: last axis must be a multiple of 4 for pairing quarter, but "
     "is 2"},
    {"table too narrow",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 1, 4, 32});
     },
     Code::kShape, "[rotate] cos: last axis must be 128 or 64, but is 32"},
    {"table too wide",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 1, 4, 256});
     },
     Code::kShape, "[rotate] cos: last axis must be 128 or 64, but is 256"},
    {"table of width 1",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 1, 4, 1});
     },
     Code::kShape, "[rotate] cos: last axis must be 128 or 64, but is 1"},
    {"table of width 0",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 1, 4, 0});
     },
     Code::kShape, "[rotate] cos: last axis must be 128 or 64, but is 0"},
    // Equal shapes and broadcasts.
    {"y of another shape",
     [](O&, T& t) {
       t.y = Contiguous(Dtype::kF32, {2, 3, 5, 128});
     },
     Code::kShape,
     "[rotate] y: shape must be that of x, (2, 3, 4, 128), but is (2, 3, 5, "
     "128)"},
    {"y wider than x",
     [](O&, T& t) {
       t.y = Contiguous(Dtype::kF32, {2, 3, 4, 130});
     },
     Code::kShape,
     "[rotate] y: shape must be that of x, (2, 3, 4, 128), but is (2, 3, 4, "
     "130)"},
    {"sin of another shape than cos",
     [](O&, T& t) {
       t.sin = Contiguous(Dtype::kF32, {1, 1, 4, 128});
     },
     Code::kShape,
     "[rotate] sin: shape must be that of cos, (2, 1, 4, 128), but is (1, 1, "
     "4, 128)"},
    {"cos full, sin half",
     [](O&, T& t) {
       t.sin = Contiguous(Dtype::kF32, {2, 1, 4, 64});
     },
     Code::kShape,
     "[rotate] sin: shape must be that of cos, (2, 1, 4, 128), but is (2, 1, "
     "4, 64)"},
    {"axis 0 does not broadcast",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {3, 1, 4, 128});
     },
     Code::kShape,
     "[rotate] cos: axis 0 must be 1 or 2, but is 3: (3, 1, 4, 128) against x "
     "(2, 3, 4, 128)"},
    {"axis 2 is a divisor only",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 1, 2, 128});
     },
     Code::kShape,
     "[rotate] cos: axis 2 must be 1 or 4, but is 2: (2, 1, 2, 128) against x "
     "(2, 3, 4, 128)"},
    {"axis 1 of cos is empty",
     [](O&, T& t) {
       t.cos = t.sin = Contiguous(Dtype::kF32, {2, 0, 4, 128});
     },
     Code::kShape,
     "[rotate] cos: axis 1 must be 1 or 3, but is 0: (2, 0, 4, 128) against x "
     "(2, 3, 4, 128)"},
    {"cos larger where x is 1",
     [](O&, T& t) {
       SetAll(t, {1, 128}, {4, 128});
     },
     Code::kShape,
     "[rotate] cos: axis 0 must be 1, but is 4: (4, 128) against x"
     " (1, 128)"},
    // Sizes.
    {"a negative size", [](O&, T& t) { t.x.shape[1] = -3; }, Code::kShape,
     "[rotate] x: sizes must not be negative, but shape is (2, -3, 4, 128)"},
    {"a negative size of cos", [](O&, T& t) { t.cos.shape[1] = -1; },
     Code::kShape,
     "[rotate] cos: sizes must not be negative, but shape is (2, -1, 4, 128)"},
    {"elements that overflow",
     [](O&, T& t) {
       const int64_t big = int64_t{1} << 32;
       SetAll(t, {big, big, 128}, {1, 1, 128});
     },
     Code::kShape,
     "[rotate] x: size in bytes must fit 62 bits, but shape is (42"
     "94967296, 4294967296, 128) and strides are (549755813888, 12"
     "8, 1)"},
    {"bytes that overflow",
     [](O&, T& t) {
       const int64_t big = int64_t{1} << 62;
       SetAll(t, {big, 2}, {1, 2});
     },
     Code::kShape,
     "[rotate] x: size in bytes must fit 62 bits, but shape is (46"
     "11686018427387904, 2) and strides are (2, 1)"},
    {"strides that overflow",
     [](O&, T& t) { t.x.strides[0] = std::numeric_limits<int64_t>::max(); },
     Code::kShape,
     "[rotate] x: size in bytes must fit 62 bits, but shape is (2,"
     " 3, 4, 128) and strides are (9223372036854775807, 512, 128, "
     "1)"},
    {"strides of y that overflow",
     [](O&, T& t) { t.y.strides[1] = std::numeric_limits<int64_t>::min(); },
     Code::kShape,
     "[rotate] y: size in bytes must fit 62 bits, but shape is (2,"
     " 3, 4, 128) and strides are (1536, -9223372036854775808, 128"
     ", 1)"},
    {"strides of sin that overflow",
     [](O&, T& t) {
       t.sin.strides[0] = std::numeric_limits<int64_t>::max() / 2;
     },
     Code::kShape,
     "[rotate] sin: size in bytes must fit 62 bits, but shape is ("
     "2, 1, 4, 128) and strides are (4611686018427387903, 512, 128"
     ", 1)"},
    // Outputs that overlap themselves.
    {"y with stride 0", [](O&, T& t) { t.y.strides[1] = 0; }, Code::kOverlap,
     "[rotate] y: an output must not overlap itself, but its strides make it "
     "do so"},
    {"y with rows that overlap", [](O&, T& t) { t.y.strides[2] = 127; },
     Code::kOverlap,
     "[rotate] y: an output must not overlap itself, but its strides make it "
     "do so"},
    {"y with stride 0 in the last axis", [](O&, T& t) { t.y.strides[3] = 0; },
     Code::kOverlap,
     "[rotate] y: an output must not overlap itself, but its strides make it "
     "do so"},
    // Options.
    {"no such pairing", [](O& o, T&) { o.pairing = static_cast<Pairing>(255); },
     Code::kOption, "[rotate] pairing: must be a value of Pairing, but is 255"},
    {"slice that starts below 0",
     [](O& o, T&) {
       o.slice = Slice{-2, 126};
     },
     Code::kOption,
     "[rotate] slice: must be 0 <= start <= end <= 128, but is [-2, 126)"},
    {"slice that ends beyond",
     [](O& o, T&) {
       o.slice = Slice{2, 130};
     },
     Code::kOption,
     "[rotate] slice: must be 0 <= start <= end <= 128, but is [2, 130)"},
    {"slice turned round",
     [](O& o, T&) {
       o.slice = Slice{64, 32};
     },
     Code::kOption,
     "[rotate] slice: must be 0 <= start <= end <= 128, but is [64, 32)"},
    {"slice of odd width",
     [](O& o, T&) {
       o.slice = Slice{0, 7};
     },
     Code::kOption,
     "[rotate] slice: width must be a multiple of 2 for pairing half, but is "
     "7"},
    {"quarter slice of 6",
     [](O& o, T&) {
       o.pairing = Pairing::kQuarter;
       o.slice = Slice{0, 6};
     },
     Code::kOption,
     "[rotate] slice: width must be a multiple of 4 for pairing quarter, but "
     "is 6"},
    {"slice with limits far out",
     [](O& o, T&) {
       o.slice = Slice{std::numeric_limits<int64_t>::min(),
                       std::numeric_limits<int64_t>::max()};
     },
     Code::kOption,
     "[rotate] slice: must be 0 <= start <= end <= 128, but is "
     "[-9223372036854775808, 9223372036854775807)"},
    {"slice with tables of all columns",
     [](O& o, T&) {
       o.slice = Slice{0, 32};
     },
     Code::kShape,
     "[rotate] cos: last axis must be 32 or 16, but is 128 (tables have the "
     "width of the slice, not of the row)"},
    // A second operand.
    {"x2 without y2", [](O&, T& t) { t.x2 = t.x; }, Code::kNullPointer,
     "[rotate] y2: x2 and y2 go together, but this one is missing"},
    {"y2 without x2", [](O&, T& t) { t.y2 = t.y; }, Code::kNullPointer,
     "[rotate] x2: x2 and y2 go together, but this one is missing"},
    {"x2 of another rank",
     [](O&, T& t) {
       t.x2 = t.y2 = Contiguous(Dtype::kF32, {2, 4, 128});
     },
     Code::kShape, "[rotate] x2: rank must be that of x, 4, but is 3"},
    {"x2 of another width",
     [](O&, T& t) {
       t.x2 = t.y2 = Contiguous(Dtype::kF32, {2, 3, 4, 64});
     },
     Code::kShape, "[rotate] x2: axis 3 must be 128 as in x, but is 64"},
    {"x2 that cos does not broadcast to",
     [](O&, T& t) {
       t.x2 = t.y2 = Contiguous(Dtype::kF32, {1, 3, 4, 128});
     },
     Code::kShape, "[rotate] x2: axis 0 must be 2 as in x, but is 1"},
    {"y2 of another dtype",
     [](O&, T& t) {
       t.x2 = Contiguous(Dtype::kBF16, {2, 1, 4, 128});
       t.y2 = Contiguous(Dtype::kF32, {2, 1, 4, 128});
     },
     Code::kDtype, "[rotate] y2: dtype must be that of x2, bf16, but is f32"},
    {"y2 of another shape",
     [](O&, T& t) {
       t.x2 = Contiguous(Dtype::kF32, {2, 1, 4, 128});
       t.y2 = Contiguous(Dtype::kF32, {2, 2, 4, 128});
     },
     Code::kShape,
     "[rotate] y2: shape must be that of x2, (2, 1, 4, 128), but is (2, 2, 4, "
     "128)"},
    {"y2 that overlaps itself",
     [](O&, T& t) {
       t.x2 = t.y2 = Contiguous(Dtype::kF32, {2, 2, 4, 128});
       t.y2->strides[1] = 0;
     },
     Code::kOverlap,
     "[rotate] y2: an output must not overlap itself, but its strides make it "
     "do so"},
    {"fp64 with fp32 as second operand",
     [](O&, T& t) {
       for (TensorDesc* d : {&t.x, &t.y, &t.cos, &t.sin}) {
         d->dtype = Dtype::kF64;
       }
       t.x2 = t.y2 = Contiguous(Dtype::kF32, {2, 1, 4, 128});
     },
     Code::kDtype,
     "[rotate] cos: dtype must be f32, f16 or bf16 with x2 of f32, but is f64"},
};

TEST(RotateRefusals, Table) {
  ASSERT_TRUE(MakeRotatePlan({}, Valid()).ok());
  CheckRefusals(kRefusals, Valid(), MakeRotatePlan);
}

}  // namespace
}  // namespace ropewalk::test
