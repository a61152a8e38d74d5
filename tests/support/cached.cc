#include "support/cached.h"

#include "kernels/reference.h"

namespace ropewalk::test {
namespace {

TestTensor Make(Dtype dtype, const Shape& shape, const LayoutRules& rules,
                bool any, Random& random) {
  return any ? RandomTensor(dtype, shape, rules, random)
             : TestTensor(dtype, shape);
}

Shape PositionShape(const CachedShapes& s) {
  if (s.sections.empty() || s.sections[0] == 0) return {s.tokens};
  return {static_cast<int64_t>(s.sections.size()), s.tokens};
}

Shape HeadShape(const CachedShapes& s, int64_t heads) {
  if (s.split) return {s.tokens, heads, s.options.head_size};
  return {s.tokens, heads * s.options.head_size};
}

}  // namespace

CachedCase::CachedCase(const CachedShapes& s, Random& random, bool any,
                       Data data)
    : shapes_(s),
      positions_(Make(s.positions, PositionShape(s), kInputRules, any, random)),
      cache_(Make(s.cache, {s.rows, s.rotary_dim}, kInputRules, any, random)),
      query_(
          Make(s.data, HeadShape(s, s.query_heads), kOutputRules, any, random)),
      key_(Make(s.key_data.value_or(s.data), HeadShape(s, s.key_heads),
                kOutputRules, any, random)),
      query_out_(
          Make(s.data, HeadShape(s, s.query_heads), kOutputRules, any, random)),
      key_out_(Make(s.key_data.value_or(s.data), HeadShape(s, s.key_heads),
                    kOutputRules, any, random)) {
  const int64_t count = Count(positions_.desc());
  for (int64_t i = 0; i < count; ++i) {
    positions_.Set(i, static_cast<double>(random.Int(0, s.rows - 1)));
  }
  cache_.Fill(data == Data::kNormal ? Data::kUnit : data, random);
  query_.Fill(data, random);
  key_.Fill(data, random);
}

RotateCachedOptions CachedCase::Options() const {
  RotateCachedOptions options = shapes_.options;
  options.sections = shapes_.sections;
  return options;
}

CachedRun CachedCase::Run(const Tensor& query_out, const Tensor* key_out,
                          const ConstTensor* key) const {
  CachedRun run;
  run.options = Options();
  run.positions = positions_.in();
  run.cache = cache_.in();
  run.query = query_.in();
  run.query_out = query_out;
  if (with_key()) {
    run.key = key;
    run.key_out = key_out;
  }
  return run;
}

void CachedCase::Reference(const TestTensor& in, const TestTensor& out) const {
  reference::RotateCached(Options(), positions_.in(), cache_.in(), in.in(),
                          out.out());
}

void CachedCase::CheckOutOfPlace() {
  TestTensor want_query = query_out_, want_key = key_out_;
  Reference(query_, want_query);
  Reference(key_, want_key);
  const TestTensor query_out = query_out_, key_out = key_out_;
  const ConstTensor key = key_.in();
  const Tensor key_to = key_out.out();
  RW_ASSERT_OK(Execute(Run(query_out.out(), &key_to, &key)));
  ASSERT_TRUE(SameMemory(query_out, want_query)) << "query";
  if (!with_key()) return;
  ASSERT_TRUE(SameMemory(key_out, want_key)) << "key";
}

void CachedCase::CheckInPlace() {
  TestTensor want_query = query_, want_key = key_;
  Reference(want_query, want_query);
  Reference(want_key, want_key);
  const TestTensor query_out = query_, key_out = key_;
  const ConstTensor key = key_out.in();
  const Tensor key_to = key_out.out();
  CachedRun run = Run(query_out.out(), &key_to, &key);
  run.query = query_out.in();
  RW_ASSERT_OK(Execute(run));
  ASSERT_TRUE(SameMemory(query_out, want_query)) << "query in place";
  if (!with_key()) return;
  ASSERT_TRUE(SameMemory(key_out, want_key)) << "key in place";
}

void CachedCase::Check() {
  SCOPED_TRACE("query " + ToString(query_.desc()) + " cache " +
               ToString(cache_.desc()) + " positions " +
               ToString(positions_.desc()) + " head size " +
               std::to_string(shapes_.options.head_size));
  CheckOutOfPlace();
  if (testing::Test::HasFatalFailure()) return;
  CheckInPlace();
}

}  // namespace ropewalk::test
