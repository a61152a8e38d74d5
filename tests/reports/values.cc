#include "reports/values.h"

namespace ropewalk::test {

TestTensor Of(Dtype dtype, const Shape& shape, const Values& values) {
  TestTensor tensor(dtype, shape);
  EXPECT_EQ(static_cast<size_t>(Count(tensor.desc())), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    tensor.Set(static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

TestTensor Of(const Shape& shape, const Values& values) {
  return Of(Dtype::kF32, shape, values);
}

Values ValuesOf(const TestTensor& tensor) {
  Values values;
  const int64_t count = Count(tensor.desc());
  for (int64_t i = 0; i < count; ++i) values.push_back(tensor.At(i));
  return values;
}

Values TurnRow(Pairing pairing, Direction direction, const Values& x,
               const Values& cos, const Values& sin) {
  const Shape shape = {1, static_cast<int64_t>(x.size())};
  const TestTensor in = Of(shape, x), c = Of(shape, cos), s = Of(shape, sin);
  const TestTensor y(Dtype::kF32, shape);
  const Status status =
      Execute(Turn{{pairing, {}}, direction, in.in(), c.in(), s.in(), y.out()});
  EXPECT_TRUE(status.ok()) << status.message();
  return ValuesOf(y);
}

namespace {

Status Try(const SmallCached& c, Values* out) {
  const bool rows = !c.sections.empty() && c.sections[0] != 0;
  const auto count = static_cast<int64_t>(c.positions.size());
  const auto sections = static_cast<int64_t>(c.sections.size());
  const int64_t tokens = rows ? count / sections : count;
  const TestTensor positions = Of(
      Dtype::kI64, rows ? Shape{sections, tokens} : Shape{tokens}, c.positions);
  TestTensor cache(Dtype::kF32, {c.rows, c.rotary_dim});
  for (int64_t p = 0; p < c.rows; ++p) {
    for (int64_t i = 0; i < c.rotary_dim; ++i) {
      cache.Set(p * c.rotary_dim + i, c.row(p, i));
    }
  }
  TestTensor query(Dtype::kF32, {tokens, c.heads * c.head_size});
  query.Fill(1.0);
  for (size_t i = 0; i < c.query.size(); ++i) {
    query.Set(static_cast<int64_t>(i), c.query[i]);
  }
  const TestTensor query_out(query.desc());
  CachedRun run;
  run.options = {c.head_size, c.style, c.sections, c.axes};
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = query.in();
  run.query_out = query_out.out();
  const TestTensor before = query_out;
  Status status = Execute(run);
  if (status.ok()) {
    *out = ValuesOf(query_out);
  } else {
    EXPECT_TRUE(SameMemory(query_out, before)) << "written though refused";
  }
  return status;
}

}  // namespace

Values RowsOf(const SmallCached& call) {
  Values out;
  const Status status = Try(call, &out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

Status Try(const SmallCached& call) {
  Values out;
  return Try(call, &out);
}

std::function<double(int64_t, int64_t)> RowNumbers(int64_t rotary_dim) {
  return [=](int64_t p, int64_t i) {
    return i < rotary_dim / 2 ? static_cast<double>(p) : 0.0;
  };
}

std::function<double(int64_t, int64_t)> QuarterTurns(int64_t rotary_dim) {
  return [=](int64_t, int64_t i) { return i < rotary_dim / 2 ? 0.0 : 1.0; };
}

void ExpectReference(const RotateOptions& options, Direction direction,
                     const TestTensor& x, const TestTensor& cos,
                     const TestTensor& sin) {
  const TestTensor y(x.desc().dtype, ShapeOf(x.desc()));
  TestTensor want = y;
  Turn turn{options, direction, x.in(), cos.in(), sin.in(), y.out()};
  RW_ASSERT_OK(Execute(turn));
  turn.y = want.out();
  RunReference(turn);
  ASSERT_TRUE(SameMemory(y, want)) << ToString(turn);
  TestTensor place = x, wanted = x;
  turn.x = place.in();
  turn.y = place.out();
  RW_ASSERT_OK(Execute(turn));
  turn.x = x.in();
  turn.y = wanted.out();
  RunReference(turn);
  ASSERT_TRUE(SameMemory(place, wanted)) << "in place: " << ToString(turn);
}

}  // namespace ropewalk::test
