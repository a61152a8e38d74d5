// Every pairing, dtype, direction and table width at many row sizes, on every
// target, against the reference: the bits must agree.

#include <gtest/gtest.h>
#include <algorithm>

#include <cstdlib>
#include <tuple>

#include "core/dtype.h"
#include "support/cases.h"
#include "support/targets.h"

namespace ropewalk::test {
namespace {

// All even sizes up to some vectors of the widest target, then around powers
// of two and a long row that is not one.
std::vector<int64_t> Widths() {
  std::vector<int64_t> widths;
  const bool quick = std::getenv("ROPEWALK_TEST_QUICK") != nullptr;
  for (int64_t d = 2; d <= (quick ? 40 : 140); d += 2) widths.push_back(d);
  for (int64_t d : {192, 254, 256, 260, 512, 1000, 1024, 1026, 2050, 10000}) {
    if (!quick || d <= 256) widths.push_back(d);
  }
  return widths;
}

class RotateTest : public testing::TestWithParam<std::tuple<Pairing, Dtypes>> {
 protected:
  Pairing pairing() const { return std::get<0>(GetParam()); }
  Dtypes dtypes() const { return std::get<1>(GetParam()); }

  // Compares one case with the reference on every target.
  void Check(const Turn& turn) {
    SCOPED_TRACE(ToString(turn));
    TestTensor want(turn.y.desc);
    Turn expected = turn;
    expected.y = want.out();
    RunReference(expected);
    ForEachTarget([&] {
      TestTensor got(turn.y.desc);
      Turn run = turn;
      run.y = got.out();
      RW_ASSERT_OK(Execute(run));
      ASSERT_TRUE(SameMemory(got, want));
    });
  }
};

TEST_P(RotateTest, MatchesReferenceAtAllWidths) {
  Random random(1);
  for (int64_t width : Widths()) {
    if (!Fits(pairing(), width)) continue;
    const int64_t rows = width > 300 ? 2 : 3;
    TestTensor x(dtypes().data, {rows, width}, Data::kNormal, random);
    TestTensor y(dtypes().data, {rows, width});
    for (int64_t table : {width, width / 2}) {
      const int64_t table_rows = random.OneIn(2) ? 1 : rows;
      TestTensor cos(dtypes().table, {table_rows, table}, Data::kUnit, random);
      TestTensor sin(dtypes().table, {table_rows, table}, Data::kUnit, random);
      for (Direction direction : kDirections) {
        Check(
            {{pairing(), {}}, direction, x.in(), cos.in(), sin.in(), y.out()});
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }
}

TEST_P(RotateTest, MatchesReferenceOnAnyBits) {
  Random random(2);
  for (int64_t width : {4, 8, 12, 28, 64, 96, 132, 1028}) {
    for (Data data : {Data::kBits, Data::kSpecial}) {
      TestTensor x(dtypes().data, {5, width}, data, random);
      TestTensor y(dtypes().data, {5, width});
      for (int64_t table : {width, width / 2}) {
        TestTensor cos(dtypes().table, {5, table}, data, random);
        TestTensor sin(dtypes().table, {5, table}, data, random);
        for (Direction direction : kDirections) {
          Check({{pairing(), {}},
                 direction,
                 x.in(),
                 cos.in(),
                 sin.in(),
                 y.out()});
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

TEST_P(RotateTest, SlicesAnywhere) {
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    const int64_t step = PairingMultiple(pairing());
    const int64_t width = step * random.Int(1, random.OneIn(3) ? 40 : 6);
    const int64_t before = random.Int(0, 9);
    const int64_t all = before + width + random.Int(0, 9);
    RotateOptions options{pairing(), Slice{before, before + width}};
    TestTensor x(dtypes().data, {3, 2, all},
                 random.OneIn(2) ? Data::kBits : Data::kNormal, random);
    TestTensor y(dtypes().data, {3, 2, all});
    const int64_t table = random.OneIn(2) ? width : width / 2;
    TestTensor cos(dtypes().table, {3, 1, table}, Data::kUnit, random);
    TestTensor sin(dtypes().table, {3, 1, table}, Data::kUnit, random);
    for (Direction direction : kDirections) {
      Check({options, direction, x.in(), cos.in(), sin.in(), y.out()});
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST_P(RotateTest, InPlaceGivesTheSameBits) {
  Random random(4);
  for (int64_t width : {0, 4, 8, 12, 36, 64, 100, 128, 516, 4096, 9000}) {
    for (bool sliced : {false, true}) {
      RotateOptions options{pairing(), {}};
      if (sliced) options.slice = Slice{3, 3 + width};
      const int64_t all = sliced ? width + 8 : width;
      // More than are copied at once where a pairing needs copies.
      const int64_t rows = 5 + 4096 / std::max<int64_t>(width, 4);
      TestTensor x(dtypes().data, {rows, all}, Data::kNormal, random);
      TestTensor cos(dtypes().table, {1, width}, Data::kUnit, random);
      TestTensor sin(dtypes().table, {1, width}, Data::kUnit, random);
      for (Direction direction : kDirections) {
        TestTensor want(dtypes().data, {rows, all});
        RunReference(
            {options, direction, x.in(), cos.in(), sin.in(), want.out()});
        ForEachTarget([&] {
          TestTensor y = x;
          Turn turn{options, direction, y.in(), cos.in(), sin.in(), y.out()};
          SCOPED_TRACE(ToString(turn));
          RW_ASSERT_OK(Execute(turn));
          ASSERT_TRUE(SameMemory(y, want));
        });
        ASSERT_FALSE(HasFatalFailure());
      }
    }
  }
}

std::string CaseName(
    const testing::TestParamInfo<std::tuple<Pairing, Dtypes>>& info) {
  std::string name = PairingName(std::get<0>(info.param));
  for (char& c : name) c = c == '-' ? '_' : c;
  return name + "_" + Name(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, RotateTest,
                         testing::Combine(testing::ValuesIn(AllPairings()),
                                          testing::ValuesIn(AllDtypes())),
                         CaseName);

}  // namespace
}  // namespace ropewalk::test
