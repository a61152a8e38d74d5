// Every refusal of MakeRotateBackwardPlan that the forward does not have, and
// the main ones that it has: the code and the exact message.

#include "support/refusals.h"

namespace ropewalk::test {
namespace {

using O = RotateOptions;
using T = RotateBackwardTensors;

T Valid() {
  const TensorDesc x = Contiguous(Dtype::kF32, {2, 3, 4, 128});
  const TensorDesc table = Contiguous(Dtype::kF32, {2, 1, 4, 128});
  T t{x, table, table, x, x, table, table, {}, {}, {}};
  return t;
}

void AddSecond(T& t) {
  t.dy2 = t.x2 = t.dx2 = Contiguous(Dtype::kF32, {2, 1, 4, 128});
}

const std::vector<Refusal<O, T>> kRefusals = {
    {"nothing wanted",
     [](O&, T& t) {
       t.dx.reset();
       t.dcos.reset();
       t.dsin.reset();
     },
     Code::kNullPointer,
     "[rotate_backward] dx: dx, or dcos and dsin, must be given, but all are "
     "missing"},
    {"dcos without dsin", [](O&, T& t) { t.dsin.reset(); }, Code::kNullPointer,
     "[rotate_backward] dsin: dcos and dsin go together, but this one is "
     "missing"},
    {"dsin without dcos", [](O&, T& t) { t.dcos.reset(); }, Code::kNullPointer,
     "[rotate_backward] dcos: dcos and dsin go together, but this one is "
     "missing"},
    {"dcos and dsin without x", [](O&, T& t) { t.x.reset(); },
     Code::kNullPointer,
     "[rotate_backward] x: is needed for dcos and dsin, but is missing"},
    {"dy of rank 0", [](O&, T& t) { t.dy.rank = 0; }, Code::kShape,
     "[rotate_backward] dy: rank must be 1 to 8, but is 0"},
    {"dy of rank 9", [](O&, T& t) { t.dy.rank = 9; }, Code::kShape,
     "[rotate_backward] dy: rank must be 1 to 8, but is 9"},
    {"dy of integers", [](O&, T& t) { t.dy.dtype = Dtype::kI64; }, Code::kDtype,
     "[rotate_backward] dy: dtype must be f32, f16, bf16 or f64, but is i64"},
    {"x of another dtype", [](O&, T& t) { t.x->dtype = Dtype::kBF16; },
     Code::kDtype,
     "[rotate_backward] x: dtype must be that of dy, f32, but is bf16"},
    {"dx of another dtype", [](O&, T& t) { t.dx->dtype = Dtype::kF16; },
     Code::kDtype,
     "[rotate_backward] dx: dtype must be that of dy, f32, but is f16"},
    {"dcos of another dtype", [](O&, T& t) { t.dcos->dtype = Dtype::kF16; },
     Code::kDtype,
     "[rotate_backward] dcos: dtype must be that of cos, f32, but is f16"},
    {"dsin of another dtype", [](O&, T& t) { t.dsin->dtype = Dtype::kF64; },
     Code::kDtype,
     "[rotate_backward] dsin: dtype must be that of cos, f32, but is f64"},
    {"fp64 data, fp32 tables",
     [](O&, T& t) { t.dy.dtype = t.x->dtype = t.dx->dtype = Dtype::kF64; },
     Code::kDtype,
     "[rotate_backward] cos: dtype must be f64 with dy of f64, but is f32"},
    {"x of another shape", [](O&, T& t) { t.x->shape[0] = 3; }, Code::kShape,
     "[rotate_backward] x: shape must be that of dy, (2, 3, 4, 128), but is "
     "(3, 3, 4, 128)"},
    {"dx of another shape", [](O&, T& t) { t.dx->shape[3] = 64; }, Code::kShape,
     "[rotate_backward] dx: shape must be that of dy, (2, 3, 4, 128), but is "
     "(2, 3, 4, 64)"},
    {"dx of another rank", [](O&, T& t) { t.dx->rank = 3; }, Code::kShape,
     "[rotate_backward] dx: shape must be that of dy, (2, 3, 4, 128), but is "
     "(2, 3, 4)"},
    {"dcos of another shape", [](O&, T& t) { t.dcos->shape[0] = 3; },
     Code::kShape,
     "[rotate_backward] dcos: shape must be that of cos, (2, 1, 4, 128), but "
     "is (3, 1, 4, 128)"},
    {"dsin of half the width", [](O&, T& t) { t.dsin->shape[3] = 64; },
     Code::kShape,
     "[rotate_backward] dsin: shape must be that of cos, (2, 1, 4, 128), but "
     "is (2, 1, 4, 64)"},
    {"dcos of another rank", [](O&, T& t) { t.dcos->rank = 3; }, Code::kShape,
     "[rotate_backward] dcos: shape must be that of cos, (2, 1, 4, 128), but "
     "is (2, 1, 4)"},
    {"cos that does not broadcast",
     [](O&, T& t) { t.cos.shape[0] = t.sin.shape[0] = 3; }, Code::kShape,
     "[rotate_backward] cos: axis 0 must be 1 or 2, but is 3: (3, 1, 4, 128) "
     "against dy (2, 3, 4, 128)"},
    {"odd width",
     [](O&, T& t) {
       for (TensorDesc* d :
            {&t.dy, &t.cos, &t.sin, &*t.x, &*t.dx, &*t.dcos, &*t.dsin}) {
         d->shape[3] = 127;
       }
     },
     Code::kShape,
     "[rotate_backward] dy: last axis must be a multiple of 2 for pairing "
     "half, but is 127"},
    {"no such pairing", [](O& o, T&) { o.pairing = static_cast<Pairing>(255); },
     Code::kOption,
     "[rotate_backward] pairing: must be a value of Pairing, but is 255"},
    {"slice that ends beyond",
     [](O& o, T&) {
       o.slice = Slice{2, 130};
     },
     Code::kOption,
     "[rotate_backward] slice: must be 0 <= start <= end <= 128, but is [2, "
     "130)"},
    {"slice with tables of all columns",
     [](O& o, T&) {
       o.slice = Slice{0, 32};
     },
     Code::kShape,
     "[rotate_backward] cos: last axis must be 32 or 16, but is 128 (tables "
     "have the width of the slice, not of the row)"},
    {"dx that overlaps itself", [](O&, T& t) { t.dx->strides[0] = 0; },
     Code::kOverlap,
     "[rotate_backward] dx: an output must not overlap itself, but its strides "
     "make it do so"},
    {"dcos that overlaps itself", [](O&, T& t) { t.dcos->strides[2] = 1; },
     Code::kOverlap,
     "[rotate_backward] dcos: an output must not overlap itself, but its "
     "strides make it do so"},
    {"dsin that overlaps itself", [](O&, T& t) { t.dsin->strides[3] = 0; },
     Code::kOverlap,
     "[rotate_backward] dsin: an output must not overlap itself, but its "
     "strides make it do so"},
    {"a negative size of dy", [](O&, T& t) { t.dy.shape[2] = -4; },
     Code::kShape,
     "[rotate_backward] dy: sizes must not be negative, but shape is (2, 3, "
     "-4, 128)"},
    {"strides of dcos that overflow",
     [](O&, T& t) { t.dcos->strides[0] = std::numeric_limits<int64_t>::max(); },
     Code::kShape,
     "[rotate_backward] dcos: size in bytes must fit 62 bits, but "
     "shape is (2, 1, 4, 128) and strides are (9223372036854775807"
     ", 512, 128, 1)"},
    // A second operand: all of it or nothing.
    {"dy2 alone", [](O&, T& t) { t.dy2 = t.dy; }, Code::kNullPointer,
     "[rotate_backward] x2: must be given if and only if x is given"},
    {"dx2 without dy2",
     [](O&, T& t) {
       AddSecond(t);
       t.dy2.reset();
     },
     Code::kNullPointer,
     "[rotate_backward] dy2: is needed with x2 or dx2, but is missing"},
    {"x2 missing",
     [](O&, T& t) {
       AddSecond(t);
       t.x2.reset();
     },
     Code::kNullPointer,
     "[rotate_backward] x2: must be given if and only if x is given"},
    {"dx2 missing",
     [](O&, T& t) {
       AddSecond(t);
       t.dx2.reset();
     },
     Code::kNullPointer,
     "[rotate_backward] dx2: must be given if and only if dx is given"},
    {"dx2 but no dx",
     [](O&, T& t) {
       AddSecond(t);
       t.dx.reset();
     },
     Code::kNullPointer,
     "[rotate_backward] dx2: must be given if and only if dx is given"},
    {"x2 of another dtype than dy2",
     [](O&, T& t) {
       AddSecond(t);
       t.x2->dtype = Dtype::kF16;
     },
     Code::kDtype,
     "[rotate_backward] x2: dtype must be that of dy2, f32, but is f16"},
    {"dy2 of another width",
     [](O&, T& t) {
       t.dy2 = t.x2 = t.dx2 = Contiguous(Dtype::kF32, {2, 1, 4, 64});
     },
     Code::kShape,
     "[rotate_backward] dy2: axis 3 must be 128 as in dy, but is 64"},
    {"dy2 that cos does not broadcast to",
     [](O&, T& t) {
       t.dy2 = t.x2 = t.dx2 = Contiguous(Dtype::kF32, {2, 1, 5, 128});
     },
     Code::kShape,
     "[rotate_backward] dy2: axis 2 must be 4 as in dy, but is 5"},
};

TEST(BackwardRefusals, Table) {
  ASSERT_TRUE(MakeRotateBackwardPlan({}, Valid()).ok());
  CheckRefusals(kRefusals, Valid(), MakeRotateBackwardPlan);
}

TEST(BackwardRefusals, WhatIsLeftOutIsFine) {
  T t = Valid();
  t.dx.reset();
  EXPECT_TRUE(MakeRotateBackwardPlan({}, t).ok());
  t = Valid();
  t.dcos.reset();
  t.dsin.reset();
  EXPECT_TRUE(MakeRotateBackwardPlan({}, t).ok()) << "x that nothing needs";
  t.x.reset();
  EXPECT_TRUE(MakeRotateBackwardPlan({}, t).ok());
  t = Valid();
  AddSecond(t);
  t.dx.reset();
  t.dx2.reset();
  EXPECT_TRUE(MakeRotateBackwardPlan({}, t).ok());
}

}  // namespace
}  // namespace ropewalk::test
