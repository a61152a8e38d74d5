// RopeWithSinCosCache and V2 against plain loops.

#include "gtest/gtest.h"
#include "reference.h"
#include "rule_cases.h"

namespace ropewalk_aclnn {
namespace {

std::string Message() { return aclGetRecentErrMsg(); }

// Which row of positions pair `i` of `pairs` takes.
int64_t AxisOf(const std::vector<int64_t>& sections, bool interleaved,
               int64_t i) {
  if (interleaved) {
    if (i % 3 == 1 && i / 3 < sections[1]) return 1;
    if (i % 3 == 2 && i / 3 < sections[2]) return 2;
    return 0;
  }
  int64_t axis = 0;
  for (int64_t end = sections[0]; i >= end; end += sections[axis]) ++axis;
  return axis;
}

// What becomes of query or key, number `n` of the arguments.
Values Expected(Arguments& a, int n) {
  const bool plain = !a.list || a.list->empty() || (*a.list)[0] == 0;
  const Values positions = a[0].Values();
  const Values cache = a[3].Values();
  const int64_t rotary = a[3].shape()[1];
  const int64_t tokens = a[n].shape()[0];
  const int64_t row = a[n].shape()[1];
  Values x = a[n].Values();
  for (int64_t t = 0; t < tokens; ++t) {
    Values cos(static_cast<size_t>(rotary));
    Values sin(cos.size());
    const auto pairs = PairsOf(a.neox ? 0 : 1, rotary);
    for (size_t i = 0; i < pairs.size(); ++i) {
      const int64_t axis =
          plain ? 0
                : AxisOf(*a.list, a.cache_mode == 1, static_cast<int64_t>(i));
      const int64_t at = static_cast<int64_t>(
          positions[static_cast<size_t>(axis * tokens + t)]);
      const size_t c = static_cast<size_t>(at * rotary) + i;
      const size_t half = static_cast<size_t>(rotary / 2);
      for (int64_t column : {pairs[i].p, pairs[i].r}) {
        cos[static_cast<size_t>(column)] = cache[c];
        sin[static_cast<size_t>(column)] = cache[c + half];
      }
    }
    for (int64_t head = 0; head < row; head += a.head_size) {
      const auto begin = x.begin() + t * row + head;
      Values part(begin, begin + rotary);
      part = Forward(a.neox ? 0 : 1, {1, rotary}, part, {1, rotary}, cos, sin);
      std::copy(part.begin(), part.end(), begin);
    }
  }
  return x;
}

void ExpectRight(Arguments& a) {
  const Values query = Expected(a, 1);
  const Values key = Expected(a, 2);
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[4], query);
  ExpectValues(a[5], key);
}

TEST(RopeWithSinCosCache, StylesTypesAndPartialWidth) {
  for (Op op : {Op::kRopeWithSinCosCache, Op::kRopeWithSinCosCacheV2}) {
    for (aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}) {
      for (bool neox : {true, false}) {
        for (int64_t rotary : {32, 64, 96}) {
          Arguments a = Accepted(op);
          a.neox = neox;
          a.head_size = 96;
          for (int i : {1, 4}) a.Put(i, {3, 288}, dtype);
          for (int i : {2, 5}) a.Put(i, {3, 96}, dtype);
          a.Put(3, {16, rotary}, dtype);
          ExpectRight(a);
        }
      }
    }
  }
}

TEST(RopeWithSinCosCache, Sections) {
  for (int64_t mode : {0, 1}) {
    for (bool neox : {true, false}) {
      for (const std::vector<int64_t>& sections :
           {std::vector<int64_t>{16, 24, 24},
            {24, 20, 20},
            {8, 12, 12},
            {11, 11, 10},
            {16, 16, 16, 16},
            {20, 6, 6},
            {16, 10, 6}}) {
        if (mode == 1 && sections.size() == 4) continue;
        const UseProfile use("unlimited");
        Arguments a = Accepted(Op::kRopeWithSinCosCacheV2);
        SetSections(a, sections);
        a.cache_mode = mode;
        a.neox = neox;
        Values positions(sections.size() * 3);
        for (size_t i = 0; i < positions.size(); ++i) {
          positions[i] = static_cast<double>(i * 5 % 16);
        }
        a[0].Set(positions);
        ExpectRight(a);
      }
    }
  }
}

TEST(RopeWithSinCosCache, RowsMayHaveGapsAndBeInPlace) {
  Arguments a = Accepted(Op::kRopeWithSinCosCache);
  // q and k in one buffer of 200 columns.
  auto buffer = [&](int64_t columns, int64_t offset) {
    return TestTensor({3, columns}, {200, 1}, offset, 600);
  };
  a.Put(1, std::move(buffer(128, 0).FillRandom(1)));
  a.Put(2, std::move(buffer(64, 128).FillRandom(2)));
  const Values query = Expected(a, 1);
  const Values key = Expected(a, 2);
  a.tensors[4] = a.tensors[1];
  a.tensors[5] = a.tensors[2];
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[1], query);
  ExpectValues(a[2], key);
}

TEST(RopeWithSinCosCache, PositionsAreCheckedBeforeTheFirstWrite) {
  for (const Values& bad : {Values{0, 1, 16}, {-1, 0, 0}, {0, 1e12, 0}}) {
    Arguments a = Accepted(Op::kRopeWithSinCosCache);
    a[0].Set(bad);
    const Values query = a[4].Values();
    EXPECT_EQ(Plan(a), 0);
    EXPECT_EQ(Call(a), 161002);
    EXPECT_NE(Message().find("positions"), std::string::npos) << Message();
    EXPECT_NE(Message().find("16"), std::string::npos) << Message();
    EXPECT_EQ(a[4].Values(), query);
  }
}

TEST(RopeWithSinCosCache, ListsThatMeanPlainRope) {
  for (int kind = 0; kind < 3; ++kind) {
    Arguments a = Accepted(Op::kRopeWithSinCosCacheV2);
    a.cache_mode = 1;  // without meaning then
    if (kind == 1) a.list.emplace();
    if (kind == 2) a.list = {0, 0, 0};
    ExpectRight(a);
  }
}

TEST(RopeWithSinCosCache, WithoutLimits) {
  const UseProfile use("unlimited");
  Arguments a = Accepted(Op::kRopeWithSinCosCache);
  a.head_size = 5;  // odd, and a narrow rotation
  a.Put(0, TestTensor({3}, {5, 0, 15}, ACL_INT32));
  for (int i : {1, 4}) a.Put(i, {3, 15});
  for (int i : {2, 5}) a.Put(i, {3, 5});
  a.Put(3, {16, 2});
  ExpectRight(a);
  for (int i : {1, 2, 4, 5}) a.Put(i, {0, 15});
  a.Put(0, TestTensor({0}, ACL_INT64));
  EXPECT_EQ(Call(a), 0) << Message();
}

}  // namespace
}  // namespace ropewalk_aclnn
