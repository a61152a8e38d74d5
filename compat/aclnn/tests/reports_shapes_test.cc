// What users of rotary kernels reported, as checks of this API: positions,
// strides, shapes, sizes, messages. The letter and number name a report in the
// list of public reports.

#include <sys/mman.h>

#include <cmath>
#include <cstring>

#include "gtest/gtest.h"
#include "reference.h"

namespace ropewalk_aclnn {
namespace {

std::string Message() { return aclGetRecentErrMsg(); }

Arguments Rotary(const Shape& x, const Shape& table, int mode = 0,
                 aclDataType dtype = ACL_FLOAT) {
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  a.mode = mode;
  for (int i : {0, 3}) a.Put(i, x, dtype);
  for (int i : {1, 2}) a.Put(i, table, dtype);
  return a;
}

void ExpectForward(Arguments& a) {
  const Values y =
      Forward(static_cast<int>(a.mode), a[0].shape(), a[0].Values(),
              a[1].shape(), a[1].Values(), a[2].Values());
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[3], y);
}

TEST(Report, D1_PositionsOutsideTheTableAreRefused) {
  for (const Values& positions : {Values{0, 3, 4}, {0, 0, -1}}) {
    Arguments a = Accepted(Op::kRopeWithSinCosCache);
    a.Put(3, {4, 64});
    a[0].Set(positions);
    a[4].Fill(7);
    EXPECT_EQ(Call(a), 161002);
    EXPECT_EQ(a[4].Values(), Values(a[4].Values().size(), 7.0));
    a[0].Set({0, 3, 0});
    EXPECT_EQ(Call(a), 0) << Message();
  }
}

TEST(Report, D5_ShortTablesAreRefusedInPhaseOne) {
  Arguments a = Rotary({1, 5, 2, 8}, {1, 4, 1, 8});
  EXPECT_EQ(Plan(a), 561002);
}

TEST(Report, D8_PositionsOf32BitsAreATypeError) {
  Arguments a = Accepted(Op::kRopeWithSinCosCache);
  a.Put(0, TestTensor({3}, {5, 6, 7}, ACL_INT32));
  EXPECT_EQ(Call(a), 161002);
  const UseProfile use("unlimited");
  ASSERT_EQ(Call(a), 0) << Message();
  const auto narrow = a[4].bytes();
  a.Put(0, TestTensor({3}, {5, 6, 7}, ACL_INT64));
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[4].bytes(), narrow);
}

TEST(Report, D9_ValuesOfPositionsCount) {
  Arguments all = Accepted(Op::kRopeWithSinCosCache);
  all[0].Set({5, 0, 5});
  ASSERT_EQ(Call(all), 0) << Message();
  const Values out = all[4].Values();
  for (size_t t = 0; t < 3; ++t) {
    Arguments one = Accepted(Op::kRopeWithSinCosCache);
    one.Put(0, TestTensor({1}, {t == 1 ? 0.0 : 5.0}, ACL_INT64));
    const auto row = [&](int i, size_t width) {
      const Values from = all[i].Values();
      one.Put(i, TestTensor({1, static_cast<int64_t>(width)},
                            Values(from.begin() + t * width,
                                   from.begin() + (t + 1) * width)));
    };
    row(1, 128);
    row(2, 64);
    one.Put(4, TestTensor({1, 128}));
    one.Put(5, TestTensor({1, 64}));
    one.tensors[3] = all.tensors[3];
    ASSERT_EQ(Call(one), 0) << Message();
    EXPECT_EQ(one[4].Values(),
              Values(out.begin() + t * 128, out.begin() + (t + 1) * 128));
  }
}

TEST(Report, D10_EachBatchRowStartsAnew) {
  Arguments a = Rotary({2, 3, 2, 8}, {1, 3, 1, 8});
  Values x = a[0].Values();
  std::copy(x.begin(), x.begin() + 48, x.begin() + 48);
  a[0].Set(x);
  ASSERT_EQ(Call(a), 0) << Message();
  const Values y = a[3].Values();
  EXPECT_EQ(Values(y.begin(), y.begin() + 48), Values(y.begin() + 48, y.end()));
}

TEST(Report, E1_E7_SlicesOfPackedBuffers) {
  // The columns [128, 192) of a buffer of rows of 192, in place.
  const Shape x = {1, 4, 4, 64};
  Arguments a = Rotary(x, {1, 4, 1, 64}, 0, ACL_FLOAT16);
  a.Put(0, std::move(TestTensor(x, {3072, 768, 192, 1}, 128, 3072, ACL_FLOAT16)
                         .FillRandom(1)));
  a.tensors[3] = a.tensors[0];
  const auto before = a[0].bytes();
  ExpectForward(a);
  const auto& after = a[0].bytes();
  for (size_t i = 0; i < after.size(); ++i) {
    if ((i / 2) % 192 < 128) {
      ASSERT_EQ(after[i], before[i]) << i;
    }
  }
}

TEST(Report, E3_PartialAndStrided) {
  for (int mode : {0, 1}) {
    for (aclDataType dtype : {ACL_FLOAT, ACL_FLOAT16}) {
      Arguments a = Accepted(Op::kInplacePartialRotaryMul);
      a.mode = mode;
      a.list = {0, 32};
      // (2, 80, 3, 5) permuted to (2, 5, 3, 80).
      a.Put(0, std::move(
                   TestTensor({2, 5, 3, 80}, {1200, 1, 5, 15}, 0, 2400, dtype)
                       .FillRandom(1)));
      for (int i : {1, 2}) a.Put(i, {1, 5, 1, 32}, dtype);
      Values expected = a[0].Values();
      Values part;
      for (size_t i = 0; i < expected.size(); ++i) {
        if (i % 80 < 32) part.push_back(expected[i]);
      }
      part = Forward(mode, {2, 5, 3, 32}, part, a[1].shape(), a[1].Values(),
                     a[2].Values());
      size_t n = 0;
      for (size_t i = 0; i < expected.size(); ++i) {
        if (i % 80 < 32) expected[i] = part[n++];
      }
      ASSERT_EQ(Call(a), 0) << Message();
      ExpectValues(a[0], expected);
    }
  }
}

TEST(Report, E4_InPlaceGivesTheSameBits) {
  for (int mode = 0; mode < 4; ++mode) {
    const Shape x = {2, 3, 2, 128};
    Arguments a = Rotary(x, {1, 3, 1, 128}, mode);
    a.Put(0,
          std::move(TestTensor(x, {1536, 512, 256, 1}, 0, 3072).FillRandom(1)));
    ASSERT_EQ(Call(a), 0) << Message();
    const Values y = a[3].Values();
    a.tensors[3] = a.tensors[0];
    ASSERT_EQ(Call(a), 0) << Message();
    EXPECT_EQ(a[0].Values(), y);
  }
}

TEST(Report, E8_E9_BothQueryAndKeyChange) {
  for (int64_t d : {128, 6}) {
    Arguments a = Accepted(Op::kApplyRotaryPosEmbV2);
    a.Put(0, {1, 2, 8, d});
    a.Put(1, {1, 2, 2, d});
    a.Put(2, TestTensor({1, 2, 1, d}));
    a.Put(3, TestTensor({1, 2, 1, d}));
    a[3].Fill(1);  // a quarter turn
    const Values q = Forward(0, a[0].shape(), a[0].Values(), a[2].shape(),
                             a[2].Values(), a[3].Values());
    const Values k = Forward(0, a[1].shape(), a[1].Values(), a[2].shape(),
                             a[2].Values(), a[3].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[0], q);
    ExpectValues(a[1], k);
  }
}

TEST(Report, E11_OutputsOverThemselvesAreRefused) {
  Arguments a = Accepted(Op::kApplyRotaryPosEmb);
  a.Put(0, TestTensor({2, 4, 3, 64}, {0, 192, 64, 1}, 0, 768));
  EXPECT_EQ(Call(a), 161002);
  EXPECT_NE(Message().find("queryRef"), std::string::npos) << Message();
  // Backwards is fine.
  Arguments b = Rotary({2, 3, 2, 8}, {1, 3, 1, 8});
  b.Put(0,
        std::move(
            TestTensor({2, 3, 2, 8}, {-48, 16, 8, 1}, 48, 96).FillRandom(1)));
  ExpectForward(b);
}

TEST(Report, F3_F17_TablesOfTheirOwnForBatchAndHead) {
  const Shape x = {2, 2, 3, 4};
  Arguments a = Rotary(x, {2, 2, 1, 4});
  ExpectForward(a);
  a = Rotary(x, x);
  ExpectForward(a);
}

TEST(Report, F4_QueryAndKeyOfOneBatch) {
  Arguments a = Accepted(Op::kApplyRotaryPosEmbV2);
  a.Put(0, {4, 8, 2, 16});
  a.Put(1, {2, 8, 2, 16});
  for (int i : {2, 3}) a.Put(i, {1, 8, 1, 16});
  EXPECT_EQ(Call(a), 561002);
}

TEST(Report, F6_NoTokens) {
  Arguments a = Rotary({2, 0, 4, 64}, {1, 0, 1, 64});
  EXPECT_EQ(Call(a), 0) << Message();
}

TEST(Report, F7_OddWidths) {
  Arguments a = Rotary({1, 2, 2, 33}, {1, 2, 1, 33});
  EXPECT_EQ(Call(a), 561002);
  a = Rotary({1, 2, 2, 6}, {1, 2, 1, 6}, 2);
  EXPECT_EQ(Call(a), 561002);
  Arguments p = Accepted(Op::kInplacePartialRotaryMul);
  p.Put(0, {2, 3, 4, 33});
  p.list = {0, 32};
  const Values before = p[0].Values();
  ASSERT_EQ(Call(p), 0) << Message();
  EXPECT_EQ(p[0].Values()[32], before[32]);
  EXPECT_NE(p[0].Values()[0], before[0]);
  p.list = {0, 34};
  EXPECT_EQ(Call(p), 561002);
}

TEST(Report, F10_EveryEvenWidth) {
  for (int64_t d = 2; d <= 256; d += 2) {
    Arguments a = Rotary({1, 2, 2, d}, {1, 2, 1, d});
    ExpectForward(a);
  }
}

TEST(Report, F11_F12_F13_NoLimitsOfADevice) {
  Arguments a = Rotary({2, 32, 4, 80}, {1, 1, 4, 80}, 0, ACL_BF16);
  ExpectForward(a);
  for (const Shape& table : {Shape{2, 1, 4, 8}, {2, 3, 4, 8}}) {
    a = Rotary({2, 3, 4, 8}, table, 1);
    ExpectForward(a);
  }
  for (const Shape& x : {Shape{1, 2048, 3, 8}, {1025, 1, 3, 8}}) {
    const Shape table = {1, 1, 3, 8};
    Arguments g = Accepted(Op::kRotaryPositionEmbeddingGrad);
    for (int i : {0, 3, 4}) g.Put(i, x);
    for (int i : {1, 2, 5, 6}) g.Put(i, table);
    Values dcos(24);
    Values dsin(24);
    AddSums(0, x, g[3].Values(), g[0].Values(), table, &dcos, &dsin);
    ASSERT_EQ(Call(g), 0) << Message();
    ExpectNear(g[5], dcos, 1e-6);
    ExpectNear(g[6], dsin, 1e-6);
  }
}

TEST(Report, F15_TheTableTellsTheLayout) {
  const Shape x = {1, 4, 4, 8};
  Arguments bsnd = Rotary(x, {1, 4, 1, 8});
  Arguments bnsd = Rotary(x, {1, 1, 4, 8});
  ExpectForward(bsnd);
  ExpectForward(bnsd);
  EXPECT_NE(bsnd[3].Values(), bnsd[3].Values());
}

// Address space without memory behind what is not touched.
class Sparse {
 public:
  explicit Sparse(size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~Sparse() { munmap(data_, bytes_); }
  void* data() const { return data_; }

 private:
  size_t bytes_;
  void* data_;
};

TEST(Report, G1_G4_OffsetsOf64Bits) {
  const int64_t stride = (int64_t{1} << 31) + 64;
  const Sparse memory(static_cast<size_t>(stride) * 4 + 4096);
  if (memory.data() == MAP_FAILED) GTEST_SKIP() << "no address space";
  for (int mode : {0, 1}) {
    Arguments a = Rotary({2, 1, 1, 64}, {1, 1, 1, 64}, mode);
    a.Put(0, TestTensor({2, 1, 1, 64}, {stride, 64, 64, 1}, 0, 0));
    aclSetRawTensorAddr(a[0].get(), memory.data());
    Values row(64);
    for (int i = 0; i < 64; ++i) row[static_cast<size_t>(i)] = i - 30;
    float* at = static_cast<float*>(memory.data());
    for (int i = 0; i < 64; ++i) {
      at[i] = at[stride + i] = static_cast<float>(i - 30);
    }
    row.insert(row.end(), row.begin(), row.end());
    const Values y = Forward(mode, {2, 1, 1, 64}, row, {1, 1, 1, 64},
                             a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[3], y);
  }
}

TEST(Report, G5_ProductsOfSizesThatDoNotFit) {
  const int64_t big = int64_t{1} << 31;
  const Shape shape = {big, big, 2, 2};
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  for (int i : {0, 1, 2, 3}) {
    a.Put(i, TestTensor(shape, {2 * 2 * big, 4, 2, 1}, 0, 0));
    aclSetRawTensorAddr(a[i].get(), nullptr);
  }
  EXPECT_EQ(Plan(a), 561002);
}

TEST(Report, G6_NoAxisIsLimited) {
  for (const Shape& x :
       {Shape{1, 65536, 1, 8}, {65536, 1, 1, 8}, {1, 1, 65536, 8}}) {
    Arguments a = Rotary(x, {1, 1, 1, 8});
    ExpectForward(a);
  }
}

TEST(Report, J1_SameBitsInEveryRun) {
  for (int64_t tokens : {1, 16, 257, 1025}) {
    Arguments a = Accepted(Op::kRopeWithSinCosCache);
    a.head_size = 64;
    for (int i : {1, 4}) a.Put(i, {tokens, 768}, ACL_BF16);
    for (int i : {2, 5}) a.Put(i, {tokens, 64}, ACL_BF16);
    a.Put(3, {tokens, 64}, ACL_BF16);
    Values positions;
    for (int64_t t = 0; t < tokens; ++t) {
      positions.push_back(static_cast<double>(t * 7 % tokens));
    }
    a.Put(0, TestTensor({tokens}, positions, ACL_INT64));
    ASSERT_EQ(Call(a), 0) << Message();
    const auto first = a[4].bytes();
    for (int run = 0; run < 5; ++run) {
      std::memset(a[4].data(), 0xff, a[4].bytes().size());
      ASSERT_EQ(Call(a), 0) << Message();
      ASSERT_EQ(a[4].bytes(), first);
    }
  }
}

TEST(Report, N5_NothingIsKeptBetweenCalls) {
  for (int round = 0; round < 3; ++round) {
    for (int64_t rotary : {64, 32}) {
      Arguments a = Accepted(Op::kRopeWithSinCosCache);
      a.neox = round % 2 == 0;
      a.Put(3, {16, rotary});
      a[1].FillRandom(static_cast<uint32_t>(round + rotary));
      const Values in = a[1].Values();
      ASSERT_EQ(Call(a), 0) << Message();
      const Values cache = a[3].Values();
      const size_t half = static_cast<size_t>(rotary / 2);
      const double cos = cache[5 * 2 * half];
      const double sin = cache[5 * 2 * half + half];
      const size_t partner = a.neox ? half : 1;
      EXPECT_EQ(a[4].Values()[0],
                RoundTo(ACL_FLOAT, in[0] * cos - in[partner] * sin));
    }
  }
}

TEST(Report, P1_MessagesShowBothShapes) {
  Arguments a = Rotary({1, 4, 2, 128}, {1, 4, 1, 512});
  EXPECT_EQ(Plan(a), 561002);
  EXPECT_NE(Message().find("128"), std::string::npos) << Message();
  EXPECT_NE(Message().find("512"), std::string::npos) << Message();
}

TEST(Report, P3_NullPointersAreNamed) {
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  a.Null(2);
  EXPECT_EQ(Plan(a), 161001);
  EXPECT_NE(Message().find(": sin: "), std::string::npos) << Message();
}

TEST(Report, P5_SectionsOfZerosWantPlainPositions) {
  Arguments a = Accepted(Op::kRopeWithSinCosCache);
  a.list = {0, 0, 0};
  EXPECT_EQ(Call(a), 0) << Message();
  a.Put(0, TestTensor({3, 3}, ACL_INT64));
  EXPECT_EQ(Call(a), 161002);
}

TEST(Report, P6_OneCodeForOneMistake) {
  for (int64_t mode : {4, -1}) {
    Arguments a = Accepted(Op::kRotaryPositionEmbedding);
    a.mode = mode;
    EXPECT_EQ(Plan(a), 561002);
  }
  Arguments a = Accepted(Op::kApplyRotaryPosEmbV2);
  a.layout = 9;
  EXPECT_EQ(Plan(a), 561002);
  a = Accepted(Op::kApplyRotaryPosEmbV2);
  a.rotary_mode = "x";
  EXPECT_EQ(Plan(a), 561002);
  a = Accepted(Op::kRopeWithSinCosCacheV2);
  a.Put(3, {16, 128});
  EXPECT_EQ(Plan(a), 561002);
  a = Accepted(Op::kRotaryPositionEmbedding);
  a.Put(0, TestTensor(a[0].shape(), ACL_INT32));
  EXPECT_EQ(Plan(a), 161002);
}

TEST(Overlap, OtherThanInPlaceIsRefused) {
  // out one element behind x, in the words of the operator.
  const Shape x = {1, 2, 2, 8};
  Arguments a = Rotary(x, {1, 2, 1, 8});
  TestTensor memory({40});
  const int64_t storage = 40;
  aclTensor* in = aclCreateTensor(x.data(), 4, ACL_FLOAT, nullptr, 0,
                                  ACL_FORMAT_ND, &storage, 1, memory.data());
  aclTensor* out = aclCreateTensor(x.data(), 4, ACL_FLOAT, nullptr, 1,
                                   ACL_FORMAT_ND, &storage, 1, memory.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(PhaseOne(a, &size, &executor, {in, a[1].get(), a[2].get(), out}),
            0);
  EXPECT_EQ(PhaseTwo(a.op, nullptr, 0, executor), 161002);
  EXPECT_NE(Message().find("out"), std::string::npos) << Message();
  EXPECT_EQ(memory.Values(), Values(40, 0.0));
  aclDestroyTensor(in);
  aclDestroyTensor(out);
}

TEST(Overlap, QueryAndKeyOfOneBufferPass) {
  Arguments a = Accepted(Op::kApplyRotaryPosEmb);
  TestTensor memory({2, 4, 6, 64});
  memory.FillRandom(4);
  const int64_t storage = 2 * 4 * 6 * 64;
  const int64_t query[] = {2, 4, 3, 64};
  const int64_t key[] = {2, 4, 1, 64};
  const int64_t strides[] = {1536, 384, 64, 1};
  aclTensor* q = aclCreateTensor(query, 4, ACL_FLOAT, strides, 0, ACL_FORMAT_ND,
                                 &storage, 1, memory.data());
  aclTensor* k = aclCreateTensor(key, 4, ACL_FLOAT, strides, 192, ACL_FORMAT_ND,
                                 &storage, 1, memory.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(PhaseOne(a, &size, &executor, {q, k, a[2].get(), a[3].get()}), 0);
  EXPECT_EQ(PhaseTwo(a.op, nullptr, 0, executor), 0) << Message();
  aclDestroyTensor(q);
  aclDestroyTensor(k);
}

}  // namespace
}  // namespace ropewalk_aclnn
