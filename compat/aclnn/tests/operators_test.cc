// Each operator against plain loops: modes, layouts, types, broadcasts,
// strides, in place.

#include "gtest/gtest.h"
#include "reference.h"

namespace ropewalk_aclnn {
namespace {

std::string Message() { return aclGetRecentErrMsg(); }

const aclDataType kFloats[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

// The leading axes of x, or 1, by the bits of `keep`.
Shape TableShape(const Shape& x, unsigned keep, int64_t width) {
  Shape table = x;
  for (size_t axis = 0; axis + 1 < x.size(); ++axis) {
    if ((keep >> axis & 1) == 0) table[axis] = 1;
  }
  table.back() = width;
  return table;
}

Arguments Rotary(Op op, const Shape& x, const Shape& table, int mode,
                 aclDataType dtype) {
  Arguments a = Accepted(op);
  a.mode = mode;
  if (op == Op::kRotaryPositionEmbeddingGrad) {
    for (int i : {0, 3, 4}) a.Put(i, x, dtype);
    for (int i : {1, 2, 5, 6}) a.Put(i, table, dtype);
  } else {
    const int out = op == Op::kRotaryPositionEmbeddingV2 ? 4 : 3;
    for (int i : {0, out}) a.Put(i, x, dtype);
    for (int i : {1, 2}) a.Put(i, table, dtype);
  }
  return a;
}

TEST(RotaryPositionEmbedding, EveryModeTypeAndBroadcast) {
  for (Op op : {Op::kRotaryPositionEmbedding, Op::kRotaryPositionEmbeddingV2}) {
    const int out = op == Op::kRotaryPositionEmbeddingV2 ? 4 : 3;
    for (int mode = 0; mode < 4; ++mode) {
      for (aclDataType dtype : kFloats) {
        for (unsigned keep = 0; keep < 8; ++keep) {
          const Shape x = {2, 3, 5, 12};
          const Shape table = TableShape(x, keep, 12);
          Arguments a = Rotary(op, x, table, mode, dtype);
          const Values y = Forward(mode, x, a[0].Values(), table, a[1].Values(),
                                   a[2].Values());
          ASSERT_EQ(Call(a), 0) << Message();
          ExpectValues(a[out], y);
        }
      }
    }
  }
}

TEST(RotaryPositionEmbedding, RankThree) {
  for (unsigned keep = 0; keep < 4; ++keep) {
    const Shape x = {5, 3, 8};
    const Shape table = TableShape(x, keep, 8);
    Arguments a =
        Rotary(Op::kRotaryPositionEmbedding, x, table, 1, ACL_FLOAT16);
    const Values y =
        Forward(1, x, a[0].Values(), table, a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[3], y);
  }
}

TEST(RotaryPositionEmbedding, InPlaceAndStrided) {
  for (int mode = 0; mode < 4; ++mode) {
    const Shape x = {2, 3, 2, 8};
    const Shape table = {1, 3, 1, 8};
    Arguments a =
        Rotary(Op::kRotaryPositionEmbedding, x, table, mode, ACL_BF16);
    // Columns 3 to 10 of rows of 13, with the head axis outside.
    const Shape strides = {78, 13, 39, 1};
    a.Put(0, std::move(TestTensor(x, strides, 3, 160, ACL_BF16).FillRandom(7)));
    a.tensors[3] = a.tensors[0];
    const auto before = a[0].bytes();
    const Values y =
        Forward(mode, x, a[0].Values(), table, a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[0], y);
    // What lies outside of the view is as before.
    const auto& after = a[0].bytes();
    for (size_t i = 0; i < after.size(); ++i) {
      const size_t column = (i / 2) % 13;
      if (column < 3 || column >= 11 || i / 2 >= 156) {
        ASSERT_EQ(after[i], before[i]) << i;
      }
    }
  }
}

TEST(RotaryPositionEmbedding, FormatTagsMeanPlainStrides) {
  for (aclFormat format : {ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_NCL,
                           ACL_FORMAT_NCDHW, ACL_FORMAT_ND}) {
    const Shape x = {1, 2, 2, 4};
    Arguments a = Rotary(Op::kRotaryPositionEmbedding, x, x, 0, ACL_FLOAT);
    a.Put(0, std::move(TestTensor(x, {16, 8, 4, 1}, 0, 16, ACL_FLOAT, format)
                           .FillRandom(3)));
    const Values y =
        Forward(0, x, a[0].Values(), x, a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[3], y);
  }
}

TEST(RotaryPositionEmbedding, ModeIsReadAs32Bits) {
  Arguments a = Accepted(Op::kRotaryPositionEmbedding);
  a.mode = (int64_t{77} << 32) | 1;
  const Values y = Forward(1, a[0].shape(), a[0].Values(), a[1].shape(),
                           a[1].Values(), a[2].Values());
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[3], y);
}

TEST(RotaryPositionEmbeddingV2, MatrixTakesThePlaceOfTheTurn) {
  for (aclDataType dtype : kFloats) {
    const Shape x = {2, 3, 2, 6};
    const Shape table = {1, 3, 1, 6};
    Arguments a = Rotary(Op::kRotaryPositionEmbeddingV2, x, table, 0, dtype);
    a.Put(3, {6, 6}, dtype);
    const Values in = a[0].Values();
    const Values cos = a[1].Values();
    const Values sin = a[2].Values();
    const Values matrix = a[3].Values();
    Values y(in.size());
    for (size_t row = 0; row < in.size() / 6; ++row) {
      const size_t t = static_cast<size_t>(
          TableRow(x, table, static_cast<int64_t>(row)) * 6);
      for (size_t j = 0; j < 6; ++j) {
        double turned = 0;
        for (size_t i = 0; i < 6; ++i) {
          turned += in[row * 6 + i] * matrix[i * 6 + j];
        }
        const float first = static_cast<float>(in[row * 6 + j]) *
                            static_cast<float>(cos[t + j]);
        const float second =
            static_cast<float>(turned) * static_cast<float>(sin[t + j]);
        y[row * 6 + j] = first + second;
      }
    }
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[4], y);
    a.tensors[4] = a.tensors[0];  // in place
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[0], y);
    a.tensors[4] = a.tensors[1] = a.tensors[2];
    EXPECT_NE(Call(a), 0);  // out over sin
  }
}

TEST(RotaryPositionEmbeddingV2, TheRotationAsAMatrix) {
  const Shape x = {1, 3, 2, 8};
  const Shape table = {1, 3, 1, 8};
  for (int mode = 0; mode < 4; ++mode) {
    const UseProfile use("unlimited");
    Arguments a =
        Rotary(Op::kRotaryPositionEmbeddingV2, x, table, mode, ACL_FLOAT);
    a.Put(3, {8, 8});
    Values matrix(64);
    for (const Pair& k : PairsOf(mode, 8)) {
      matrix[static_cast<size_t>(k.j * 8 + k.p)] = -1;
      matrix[static_cast<size_t>(k.i * 8 + k.r)] = 1;
    }
    a[3].Set(matrix);
    const Values y =
        Forward(mode, x, a[0].Values(), table, a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[4], y);
  }
}

TEST(RotaryPositionEmbeddingGrad, EveryModeTypeAndBroadcast) {
  for (int mode = 0; mode < 4; ++mode) {
    for (aclDataType dtype : kFloats) {
      for (unsigned keep = 0; keep < 8; ++keep) {
        const Shape x = {2, 3, 5, 8};
        const Shape table = TableShape(x, keep, 8);
        Arguments a =
            Rotary(Op::kRotaryPositionEmbeddingGrad, x, table, mode, dtype);
        const Values dx = Backward(mode, x, a[0].Values(), table, a[1].Values(),
                                   a[2].Values());
        Values dcos(static_cast<size_t>(Count(table)));
        Values dsin(dcos.size());
        AddSums(mode, x, a[3].Values(), a[0].Values(), table, &dcos, &dsin);
        ASSERT_EQ(Call(a), 0) << Message();
        ExpectValues(a[4], dx);
        // The numbers are small, so every sum is exact.
        ExpectValues(a[5], dcos);
        ExpectValues(a[6], dsin);
      }
    }
  }
}

TEST(RotaryPositionEmbeddingGrad, WithoutXTheSumsAreNotTouched) {
  for (int kind = 0; kind < 4; ++kind) {
    Arguments a = Accepted(Op::kRotaryPositionEmbeddingGrad);
    a.Null(3);
    if (kind == 0) {  // any shape, with data that must stay
      for (int i : {5, 6}) a.Put(i, {7});
      a[5].Fill(3);
    } else {
      const Shape shapes[] = {{}, {0}, {1, 1, 1, 0}, {2, 3}};
      for (int i : {5, 6}) {
        a.Put(i, TestTensor(shapes[kind], Shape(shapes[kind].size(), 1), 0, 0));
        aclSetRawTensorAddr(a[i].get(), nullptr);
      }
    }
    const Values dx = Backward(0, a[0].shape(), a[0].Values(), a[1].shape(),
                               a[1].Values(), a[2].Values());
    ASSERT_EQ(Call(a), 0) << Message();
    ExpectValues(a[4], dx);
    if (kind == 0) {
      EXPECT_EQ(a[5].Values(), Values(7, 3.0));
    }
  }
}

TEST(RotaryPositionEmbeddingGrad, EmptyDyMakesZeros) {
  const Shape x = {0, 3, 5, 8};
  Arguments a =
      Rotary(Op::kRotaryPositionEmbeddingGrad, x, {1, 3, 1, 8}, 0, ACL_FLOAT);
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[5].Values(), Values(24, 0.0));
  EXPECT_EQ(a[6].Values(), Values(24, 0.0));
}

TEST(InplacePartialRotaryMul, TurnsTheSliceOnly) {
  for (Op op :
       {Op::kInplacePartialRotaryMul, Op::kInplacePartialRotaryMulGrad}) {
    for (int mode = 0; mode < 4; ++mode) {
      for (unsigned keep = 0; keep < 8; ++keep) {
        const Shape x = {2, 3, 2, 31};
        const Shape rows = {2, 3, 2, 12};
        const Shape table = TableShape(x, keep, 12);
        Arguments a = Accepted(op);
        a.mode = mode;
        a.list = {7, 19};  // an odd start
        a.Put(0, x, ACL_FLOAT16);
        for (int i : {1, 2}) a.Put(i, table, ACL_FLOAT);
        Values expected = a[0].Values();
        Values slice;
        for (size_t i = 0; i < expected.size(); ++i) {
          if (i % 31 >= 7 && i % 31 < 19) slice.push_back(expected[i]);
        }
        const auto turn =
            op == Op::kInplacePartialRotaryMul ? Forward : Backward;
        slice = turn(mode, rows, slice, table, a[1].Values(), a[2].Values());
        size_t n = 0;
        for (size_t i = 0; i < expected.size(); ++i) {
          if (i % 31 >= 7 && i % 31 < 19) expected[i] = slice[n++];
        }
        ASSERT_EQ(Call(a), 0) << Message();
        ExpectValues(a[0], expected);
      }
    }
  }
}

TEST(InplacePartialRotaryMul, TypesOfTables) {
  for (aclDataType x : kFloats) {
    for (aclDataType table : kFloats) {
      for (Op op :
           {Op::kInplacePartialRotaryMul, Op::kInplacePartialRotaryMulGrad}) {
        Arguments a = Accepted(op);
        a.Put(0, a[0].shape(), x);
        for (int i : {1, 2}) a.Put(i, a[i].shape(), table);
        const bool forward = op == Op::kInplacePartialRotaryMul;
        const bool documented = !forward || x == table || table == ACL_FLOAT;
        EXPECT_EQ(Call(a), documented ? 0 : 161002);
        const UseProfile use("unlimited");
        EXPECT_EQ(Call(a), 0) << Message();
      }
    }
  }
}

TEST(InplacePartialRotaryMul, SlicesThatSayNothing) {
  for (Op op :
       {Op::kInplacePartialRotaryMul, Op::kInplacePartialRotaryMulGrad}) {
    for (int kind = 0; kind < 3; ++kind) {
      Arguments a = Accepted(op);
      a.list.reset();
      if (kind == 1) a.list = {0, 0};
      if (kind == 2) a.list = {64, 64};
      for (int i : {1, 2}) a.Put(i, {2, 3, 1, 5});
      const Values before = a[0].Values();
      ASSERT_EQ(Call(a), 0) << Message();
      EXPECT_EQ(a[0].Values(), before);
    }
  }
  // No numbers at all: the whole row, in the forward.
  Arguments a = Accepted(Op::kInplacePartialRotaryMul);
  a.list.emplace();
  for (int i : {1, 2}) a.Put(i, {2, 3, 1, 64});
  const Values y = Forward(1, a[0].shape(), a[0].Values(), a[1].shape(),
                           a[1].Values(), a[2].Values());
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[0], y);
}

TEST(ApplyRotaryPosEmb, EveryLayoutModeAndWidth) {
  struct Layout {
    int64_t number;
    Shape query, key, table;
  };
  const Layout layouts[] = {
      {1, {2, 3, 4, 16}, {2, 3, 1, 16}, {2, 3, 1, 8}},
      {1, {2, 3, 4, 16}, {2, 3, 1, 12}, {1, 3, 1, 12}},
      {2, {3, 2, 4, 8}, {3, 2, 2, 8}, {3, 1, 1, 8}},
      {3, {2, 4, 3, 8}, {2, 1, 3, 8}, {2, 1, 3, 8}},
      {4, {6, 4, 8}, {6, 2, 8}, {6, 1, 8}},
  };
  const char* modes[] = {"half", "interleave", "quarter"};
  for (const Layout& layout : layouts) {
    for (int mode = 0; mode < 3; ++mode) {
      Arguments a = Accepted(Op::kApplyRotaryPosEmbV2);
      a.layout = layout.number;
      a.rotary_mode = modes[mode];
      a.Put(0, layout.query, ACL_BF16);
      a.Put(1, layout.key, ACL_BF16);
      for (int i : {2, 3}) a.Put(i, layout.table, ACL_BF16);
      const size_t width = static_cast<size_t>(layout.table.back());
      Values expected[2];
      for (int i : {0, 1}) {
        Shape shape = a[i].shape();
        const size_t row = static_cast<size_t>(shape.back());
        expected[i] = a[i].Values();
        Values part;
        for (size_t n = 0; n < expected[i].size(); ++n) {
          if (n % row < width) part.push_back(expected[i][n]);
        }
        shape.back() = layout.table.back();
        part = Forward(mode, shape, part, layout.table, a[2].Values(),
                       a[3].Values());
        size_t next = 0;
        for (size_t n = 0; n < expected[i].size(); ++n) {
          if (n % row < width) expected[i][n] = part[next++];
        }
      }
      ASSERT_EQ(Call(a), 0) << Message();
      ExpectValues(a[0], expected[0]);
      ExpectValues(a[1], expected[1]);
    }
  }
}

TEST(ApplyRotaryPosEmb, FirstVersionIsHalf) {
  Arguments a = Accepted(Op::kApplyRotaryPosEmb);
  const Values q = Forward(0, a[0].shape(), a[0].Values(), a[2].shape(),
                           a[2].Values(), a[3].Values());
  ASSERT_EQ(Call(a), 0) << Message();
  ExpectValues(a[0], q);
}

TEST(ApplyRotaryPosEmbGrad, SumsQueryAndKey) {
  struct Layout {
    int64_t number;
    Shape query, key, table;
  };
  const Layout layouts[] = {
      {1, {2, 3, 4, 8}, {2, 3, 1, 8}, {1, 3, 1, 8}},
      {2, {3, 2, 4, 8}, {3, 2, 2, 8}, {3, 2, 1, 8}},
      {4, {6, 4, 8}, {6, 2, 8}, {6, 1, 8}},
  };
  for (const Layout& l : layouts) {
    for (aclDataType dtype : kFloats) {
      Arguments a = Accepted(Op::kApplyRotaryPosEmbGrad);
      a.layout = l.number;
      for (int i : {0, 4, 6}) a.Put(i, l.query, dtype);
      for (int i : {1, 5, 7}) a.Put(i, l.key, dtype);
      for (int i : {2, 3, 8, 9}) a.Put(i, l.table, dtype);
      const Values cos = a[2].Values();
      const Values sin = a[3].Values();
      Values dcos(cos.size());
      Values dsin(cos.size());
      AddSums(0, l.query, a[4].Values(), a[0].Values(), l.table, &dcos, &dsin);
      AddSums(0, l.key, a[5].Values(), a[1].Values(), l.table, &dcos, &dsin);
      ASSERT_EQ(Call(a), 0) << Message();
      ExpectValues(a[6],
                   Backward(0, l.query, a[0].Values(), l.table, cos, sin));
      ExpectValues(a[7], Backward(0, l.key, a[1].Values(), l.table, cos, sin));
      ExpectValues(a[8], dcos);
      ExpectValues(a[9], dsin);
    }
  }
}

TEST(ApplyRotaryPosEmbGrad, WithoutInputsNoSums) {
  Arguments a = Accepted(Op::kApplyRotaryPosEmbGrad);
  a.Null(4);
  a.Null(5);
  a.rotary_mode = nullptr;  // "half"
  for (int i : {8, 9}) a.Put(i, {3});
  a[8].Fill(7);
  ASSERT_EQ(Call(a), 0) << Message();
  EXPECT_EQ(a[8].Values(), Values(3, 7.0));
  ExpectValues(a[6], Backward(0, a[0].shape(), a[0].Values(), a[2].shape(),
                              a[2].Values(), a[3].Values()));
}

TEST(InterleaveRope, PutsEvenColumnsFirst) {
  for (aclDataType dtype : kFloats) {
    for (int64_t tokens : {1, 5}) {
      Arguments a = Accepted(Op::kInterleaveRope);
      for (int i : {0, 3}) a.Put(i, {2, 3, 5, 64}, dtype);
      for (int i : {1, 2}) a.Put(i, {2, 1, tokens, 64}, dtype);
      const Values y = Forward(3, a[0].shape(), a[0].Values(), a[1].shape(),
                               a[1].Values(), a[2].Values());
      ASSERT_EQ(Call(a), 0) << Message();
      ExpectValues(a[3], y);
      a.tensors[3] = a.tensors[0];
      ASSERT_EQ(Call(a), 0) << Message();
      ExpectValues(a[0], y);
    }
  }
}

TEST(Empty, TensorsAreNoWork) {
  for (Op op : {Op::kRotaryPositionEmbedding, Op::kInplacePartialRotaryMul,
                Op::kInplacePartialRotaryMulGrad, Op::kApplyRotaryPosEmb,
                Op::kApplyRotaryPosEmbGrad, Op::kInterleaveRope}) {
    Arguments a = Accepted(op);
    for (auto& tensor : a.tensors) {
      Shape shape = tensor->shape();
      shape[0] = 0;
      *tensor = TestTensor(shape, tensor->dtype());
      aclSetRawTensorAddr(tensor->get(), nullptr);
    }
    EXPECT_EQ(Call(a), 0) << Message();
  }
}

}  // namespace
}  // namespace ropewalk_aclnn
