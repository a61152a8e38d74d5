#include "support/gradients.h"

#include <cstring>

#include "kernels/reference.h"

namespace ropewalk::test {
namespace {

TestTensor Make(Dtype dtype, const Shape& shape, const LayoutRules& rules,
                bool random_layout, Random& random) {
  if (!random_layout) return TestTensor(dtype, shape);
  return RandomTensor(dtype, shape, rules, random);
}

// Of the same layout, all bytes 0xff.
void Poison(const TestTensor& tensor) {
  if (tensor.memory().size() > 0) {
    std::memset(tensor.memory().data(), 0xff, tensor.memory().size());
  }
}

Shape Second(const GradientShapes& shapes) {
  return shapes.shape2.empty() ? Shape{0} : shapes.shape2;
}

// All bytes but those of the elements are still as Poison left them.
testing::AssertionResult OnlyElementsWritten(const TestTensor& tensor) {
  TestTensor want(tensor.desc());
  CopyElements(tensor.in(), want.out());
  return SameMemory(tensor, want);
}

}  // namespace

GradientCase::GradientCase(const GradientShapes& s, Data data, Random& random,
                           bool any)
    : shapes_(s),
      dy_(Make(s.dtypes.data, s.shape, kInputRules, any, random)),
      x_(Make(s.dtypes.data, s.shape, kInputRules, any, random)),
      cos_(Make(s.dtypes.table, s.table, kInputRules, any, random)),
      sin_(Make(s.dtypes.table, s.table, kInputRules, any, random)),
      dcos_(Make(s.dtypes.table, s.table, kOutputRules, any, random)),
      dsin_(Make(s.dtypes.table, s.table, kOutputRules, any, random)),
      dx_(Make(s.dtypes.data, s.shape, kOutputRules, any, random)),
      dy2_(Make(s.data2, Second(s), kInputRules, any, random)),
      x2_(Make(s.data2, Second(s), kInputRules, any, random)),
      dx2_(Make(s.data2, Second(s), kOutputRules, any, random)) {
  for (TestTensor* tensor : {&dy_, &x_, &dy2_, &x2_}) {
    tensor->Fill(data, random);
  }
  cos_.Fill(Data::kUnit, random);
  sin_.Fill(Data::kUnit, random);
}

Status GradientCase::Run(bool with_dx, Executor* executor) {
  for (TestTensor* tensor : {&dcos_, &dsin_, &dx_, &dx2_}) Poison(*tensor);
  const ConstTensor x = x_.in(), x2 = x2_.in(), dy2 = dy2_.in();
  const Tensor dx = dx_.out(), dx2 = dx2_.out();
  const Tensor dcos = dcos_.out(), dsin = dsin_.out();
  BackwardRun run{shapes_.options, dy_.in(), cos_.in(), sin_.in()};
  run.x = &x;
  run.dcos = &dcos;
  run.dsin = &dsin;
  run.executor = executor;
  if (with_dx) run.dx = &dx;
  if (two()) {
    run.dy2 = &dy2;
    run.x2 = &x2;
    if (with_dx) run.dx2 = &dx2;
  }
  return Execute(run);
}

void GradientCase::Check(bool with_dx) {
  SCOPED_TRACE("dy " + ToString(dy_.desc()) + " x " + ToString(x_.desc()) +
               " dcos " + ToString(dcos_.desc()) + " dy2 " +
               ToString(dy2_.desc()));
  reference::TableGradients exact;
  reference::AddTableGradients(shapes_.options, dy_.in(), x_.in(), cos_.desc(),
                               &exact);
  if (two()) {
    reference::AddTableGradients(shapes_.options, dy2_.in(), x2_.in(),
                                 cos_.desc(), &exact);
  }
  EXPECT_TRUE(WithinBound(dcos_.in(), exact.dcos, exact.dcos_abs)) << "dcos";
  EXPECT_TRUE(WithinBound(dsin_.in(), exact.dsin, exact.dsin_abs)) << "dsin";
  EXPECT_TRUE(OnlyElementsWritten(dcos_));
  EXPECT_TRUE(OnlyElementsWritten(dsin_));
  if (!with_dx) return;
  CheckDx(dy_, dx_);
  if (two()) CheckDx(dy2_, dx2_);
}

void GradientCase::CheckDx(const TestTensor& dy, const TestTensor& got) {
  TestTensor want(got.desc());
  reference::RotateBackward(shapes_.options, dy.in(), cos_.in(), sin_.in(),
                            want.out());
  EXPECT_TRUE(SameMemory(got, want)) << "dx";
}

testing::AssertionResult GradientCase::SameTables(
    const GradientCase& other) const {
  testing::AssertionResult same = SameElements(dcos_.in(), other.dcos_.in());
  return same ? SameElements(dsin_.in(), other.dsin_.in()) : same;
}

void GradientCase::CopyInputs(const GradientCase& other) {
  CopyElements(other.dy_.in(), dy_.out());
  CopyElements(other.x_.in(), x_.out());
  CopyElements(other.cos_.in(), cos_.out());
  CopyElements(other.sin_.in(), sin_.out());
  CopyElements(other.dy2_.in(), dy2_.out());
  CopyElements(other.x2_.in(), x2_.out());
}

}  // namespace ropewalk::test
