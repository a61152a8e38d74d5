#include "rule_cases.h"

namespace ropewalk_aclnn {
namespace {

using Change = std::function<void(Arguments&, int64_t)>;

constexpr Op kRotary = Op::kRotaryPositionEmbedding;
constexpr Op kRotaryV2 = Op::kRotaryPositionEmbeddingV2;
constexpr Op kRotaryGrad = Op::kRotaryPositionEmbeddingGrad;
constexpr Op kPartial = Op::kInplacePartialRotaryMul;
constexpr Op kPartialGrad = Op::kInplacePartialRotaryMulGrad;
constexpr Op kCache = Op::kRopeWithSinCosCache;
constexpr Op kCacheV2 = Op::kRopeWithSinCosCacheV2;
constexpr Op kApply = Op::kApplyRotaryPosEmb;
constexpr Op kApplyV2 = Op::kApplyRotaryPosEmbV2;
constexpr Op kApplyGrad = Op::kApplyRotaryPosEmbGrad;
constexpr Op kInterleave = Op::kInterleaveRope;

const std::vector<Op> kAllOps = {
    kRotary,  kRotaryV2, kRotaryGrad, kPartial,   kPartialGrad, kCache,
    kCacheV2, kApply,    kApplyV2,    kApplyGrad, kInterleave};
const std::vector<Op> kRotaryOps = {kRotary, kRotaryV2, kRotaryGrad};
const std::vector<Op> kPartialOps = {kPartial, kPartialGrad};
const std::vector<Op> kCacheOps = {kCache, kCacheV2};
const std::vector<Op> kApplyOps = {kApply, kApplyV2, kApplyGrad};
const std::vector<Op> kApplyForward = {kApply, kApplyV2};

bool IsCache(Op op) { return op == kCache || op == kCacheV2; }
bool IsApply(Op op) {
  return op == kApply || op == kApplyV2 || op == kApplyGrad;
}

// Numbers of the first data tensor, the table, and what must follow each.
struct Numbers {
  int x, cos, sin;
  std::vector<int> like_x, like_cos;
};

Numbers Of(Op op) {
  switch (op) {
    case kRotaryV2:
      return {0, 1, 2, {0, 4}, {1, 2}};
    case kRotaryGrad:
      return {0, 1, 2, {0, 3, 4}, {1, 2, 5, 6}};
    case kPartial:
    case kPartialGrad:
      return {0, 1, 2, {0}, {1, 2}};
    case kCache:
    case kCacheV2:
      return {1, 3, 3, {1, 4}, {3}};
    case kApply:
    case kApplyV2:
      return {0, 2, 3, {0}, {2, 3}};
    case kApplyGrad:
      return {0, 2, 3, {0, 4, 6}, {2, 3, 8, 9}};
    default:
      return {0, 1, 2, {0, 3}, {1, 2}};
  }
}

std::string Name(Op op, int number) { return Info(op).tensors[number]; }

void Reshape(Arguments& a, const Shape& x, const Shape& table) {
  const Numbers at = Of(a.op);
  const aclDataType dtype = a[at.x].dtype();
  // The shapes may be those of tensors that are replaced.
  const Shape new_x = x;
  const Shape new_table = table;
  for (int i : at.like_x) a.Put(i, new_x, dtype);
  for (int i : at.like_cos) a.Put(i, new_table, dtype);
}

// Keys of ApplyRotaryPosEmb and its Grad.
void ReshapeKey(Arguments& a, const Shape& key) {
  a.Put(1, key);
  if (a.op == kApplyGrad) {
    a.Put(5, a[1].shape());
    a.Put(7, a[1].shape());
  }
}

void Retype(Arguments& a, const std::vector<int>& numbers, aclDataType dtype) {
  for (int i : numbers) {
    if (a.tensors[static_cast<size_t>(i)] != nullptr) {
      a.Put(i, a[i].shape(), dtype);
    }
  }
}

std::vector<int> AllNumbers(Op op) {
  std::vector<int> numbers;
  const OpInfo& info = Info(op);
  const int count = info.inputs + (info.in_place ? 0 : info.outputs);
  for (int i = IsCache(op) ? 1 : 0; i < count; ++i) numbers.push_back(i);
  return numbers;
}

Shape WithWidth(Shape shape, int64_t width) {
  shape.back() = width;
  return shape;
}

// Sets the width of rows and tables together.
void SetWidth(Arguments& a, int64_t width) {
  const Numbers at = Of(a.op);
  if (a.op == kPartial || a.op == kPartialGrad) {
    a.Put(0, WithWidth(a[0].shape(), width));
    return;
  }
  Reshape(a, WithWidth(a[at.x].shape(), width),
          WithWidth(a[at.cos].shape(), width));
  if (IsApply(a.op)) ReshapeKey(a, WithWidth(a[1].shape(), width));
}

class Cases {
 public:
  void Add(Rule rule, Op op, const std::string& argument, Change change,
           int64_t step = 0) {
    cases_.push_back({rule, op, argument, std::move(change), step});
  }
  void Add(Rule rule, const std::vector<Op>& ops, int number,
           const Change& change, int64_t step = 0) {
    for (Op op : ops) Add(rule, op, Name(op, number), change, step);
  }
  void AddNamed(Rule rule, const std::vector<Op>& ops,
                const std::string& argument, const Change& change,
                int64_t step = 0) {
    for (Op op : ops) Add(rule, op, argument, change, step);
  }
  std::vector<RuleCase> Take() { return std::move(cases_); }

 private:
  std::vector<RuleCase> cases_;
};

TestTensor WithFormat(const TestTensor& like, aclFormat format) {
  Shape strides(like.shape().size(), 0);
  return TestTensor(like.shape(), strides, 0, 1, like.dtype(), format);
}

// Gaps between rows.
TestTensor WithGaps(const TestTensor& like) {
  Shape strides(like.shape().size());
  int64_t step = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i] = step;
    step *= like.shape()[i] + 1;
  }
  return TestTensor(like.shape(), strides, 0, step, like.dtype());
}

void AddDescriptors(Cases& cases) {
  for (Op op : kAllOps) {
    const OpInfo& info = Info(op);
    const int count = info.inputs + (info.in_place ? 0 : info.outputs);
    for (int i = 0; i < count; ++i) {
      if ((info.optional >> i & 1) != 0) continue;
      cases.Add(Rule::kPointer, op, Name(op, i),
                [i](Arguments& a, int64_t) { a.Null(i); });
      cases.Add(Rule::kDescriptor, op, Name(op, i),
                [i](Arguments& a, int64_t) { aclDestroyTensor(a[i].get()); });
      cases.Add(Rule::kFormat, op, Name(op, i), [i](Arguments& a, int64_t) {
        a.Put(i, WithFormat(a[i], ACL_FORMAT_FRACTAL_NZ));
      });
      cases.Add(Rule::kSizes, op, Name(op, i), [i](Arguments& a, int64_t) {
        a.Put(i, TestTensor(Shape(9, 1), a[i].dtype()));
      });
      cases.Add(Rule::kSizes, op, Name(op, i), [i](Arguments& a, int64_t) {
        Shape shape = a[i].shape();
        shape[0] = -1;
        a.Put(i, TestTensor(shape, Shape(shape.size(), 0), 0, 1, a[i].dtype()));
      });
      cases.Add(Rule::kDtypeKnown, op, Name(op, i), [i](Arguments& a, int64_t) {
        a.Put(i, TestTensor(a[i].shape(), ACL_INT8));
      });
    }
  }
  cases.Add(Rule::kPointer, kApplyV2, "rotaryMode",
            [](Arguments& a, int64_t) { a.rotary_mode = nullptr; });
  for (Op op : {kPartialGrad, kApplyGrad, kCacheV2}) {
    cases.Add(Rule::kProduct, op, "the operator", [](Arguments&, int64_t) {});
  }
}

void AddDtypes(Cases& cases) {
  for (Op op : kAllOps) {
    cases.Add(
        Rule::kDtype, op, Name(op, Of(op).x),
        [op](Arguments& a, int64_t) { Retype(a, AllNumbers(op), ACL_DOUBLE); });
    if (op == kPartial || op == kPartialGrad) continue;
    for (int i : AllNumbers(op)) {
      if (i == Of(op).x || (op == kRotaryV2 && i == 3)) continue;
      cases.Add(Rule::kDtypeSame, op, Name(op, i), [i](Arguments& a, int64_t) {
        a.Put(i, a[i].shape(), ACL_BF16);
      });
    }
  }
  cases.Add(Rule::kDtypeSame, kRotaryV2, "rotate", [](Arguments& a, int64_t) {
    a.Put(3, {64, 64}, ACL_BF16);
  });
  cases.Add(Rule::kDtypeHalf, kInterleave, "x", [](Arguments& a, int64_t) {
    Retype(a, AllNumbers(kInterleave), ACL_FLOAT);
  });
  for (int i : {5, 6}) {
    cases.Add(Rule::kDtypeUnused, kRotaryGrad, Name(kRotaryGrad, i),
              [i](Arguments& a, int64_t) {
                a.Null(3);
                a.Put(i, {0}, ACL_BF16);
              });
  }
  cases.Add(Rule::kDtypeTable, kPartial, "cos", [](Arguments& a, int64_t) {
    Retype(a, {1, 2}, ACL_FLOAT16);
  });
  cases.Add(Rule::kDtypePair, kPartialOps, 2, [](Arguments& a, int64_t) {
    Retype(a, {0, 1}, ACL_FLOAT16);
  });
  cases.Add(Rule::kDtypePositions, kCacheOps, 0, [](Arguments& a, int64_t) {
    a.Put(0, TestTensor({3}, {5, 0, 15}, ACL_INT32));
  });
}

void AddModes(Cases& cases) {
  for (int64_t mode : {-1, 4, 256}) {
    const auto change = [mode](Arguments& a, int64_t) { a.mode = mode; };
    cases.AddNamed(Rule::kMode, kRotaryOps, "mode", change);
    cases.AddNamed(Rule::kModeA2, kRotaryOps, "mode", change);
    cases.Add(Rule::kMode, kPartial, "rotary_mode", change);
    cases.Add(Rule::kMode, kPartialGrad, "rotaryMode", change);
  }
  for (int64_t mode : {2, 3}) {
    cases.AddNamed(Rule::kModeA2, kRotaryOps, "mode",
                   [mode](Arguments& a, int64_t) { a.mode = mode; });
  }
  for (int64_t mode : {0, 2, 3}) {
    const auto change = [mode](Arguments& a, int64_t) { a.mode = mode; };
    cases.Add(Rule::kModeInterleave, kPartial, "rotary_mode", change);
    cases.Add(Rule::kModeInterleave, kPartialGrad, "rotaryMode", change);
  }
  for (int64_t layout : {-1, 0, 5, 9}) {
    const auto change = [layout](Arguments& a, int64_t) { a.layout = layout; };
    cases.AddNamed(Rule::kLayout, kApplyOps, "layout", change);
    cases.AddNamed(Rule::kLayoutA2, kApplyForward, "layout", change);
    cases.Add(Rule::kLayoutGrad, kApplyGrad, "layout", change);
  }
  cases.AddNamed(Rule::kLayoutA2, kApplyForward, "layout",
                 [](Arguments& a, int64_t) { a.layout = 2; });
  cases.Add(Rule::kLayoutGrad, kApplyGrad, "layout",
            [](Arguments& a, int64_t) { a.layout = 3; });
  for (const char* mode : {"", "x", "HALF", "interleave-half"}) {
    const auto change = [mode](Arguments& a, int64_t) { a.rotary_mode = mode; };
    cases.Add(Rule::kRotaryMode, kApplyV2, "rotaryMode", change);
    cases.Add(Rule::kRotaryModeHalf, kApplyV2, "rotaryMode", change);
    cases.Add(Rule::kRotaryModeHalf, kApplyGrad, "rotaryModeOptional", change);
    if (mode[0] == 'i') continue;
    cases.Add(Rule::kRotaryModeAny, kApplyV2, "rotaryMode", change);
    cases.Add(Rule::kRotaryModeAny, kApplyGrad, "rotaryModeOptional", change);
  }
}

void AddCommonShapes(Cases& cases) {
  cases.Add(Rule::kRank, kRotaryOps, 0, [](Arguments& a, int64_t) {
    Reshape(a, {8, 64}, {8, 64});
  });
  for (Op op : {kPartial, kPartialGrad, kInterleave}) {
    cases.Add(Rule::kRank, op, Name(op, 0), [op](Arguments& a, int64_t) {
      const int64_t width = op == kInterleave ? 64 : 32;
      Reshape(a, {2, 3, 64}, {2, 1, width});
    });
  }
  cases.Add(Rule::kRank, kApplyOps, 0,
            [](Arguments& a, int64_t) { a.layout = 4; });
  cases.Add(Rule::kRank, kCacheOps, 1, [](Arguments& a, int64_t) {
    Reshape(a, {3, 2, 64}, {16, 64});
  });
  for (Op op : kAllOps) {
    if (IsCache(op)) continue;
    const Numbers at = Of(op);
    cases.Add(Rule::kSameShape, op, Name(op, at.sin),
              [at](Arguments& a, int64_t) {
                a.Put(at.sin, WithWidth(a[at.sin].shape(), 6), a[0].dtype());
              });
    for (const auto* group : {&at.like_x, &at.like_cos}) {
      for (size_t n = 1; n < group->size(); ++n) {
        const int i = (*group)[n];
        cases.Add(Rule::kSameShape, op, Name(op, i),
                  [i](Arguments& a, int64_t) {
                    Shape shape = a[i].shape();
                    shape[1] += 1;
                    a.Put(i, shape, a[i].dtype());
                  });
      }
    }
    if (IsApply(op)) continue;
    cases.Add(Rule::kRankAny, op, Name(op, 1), [at](Arguments& a, int64_t) {
      for (int i : at.like_cos) {
        a.Put(i, {8, 1, a[i].shape().back()}, a[0].dtype());
      }
    });
    for (int axis = 0; axis < 3; ++axis) {
      cases.Add(Rule::kBroadcast, op, Name(op, 1),
                [at, axis](Arguments& a, int64_t) {
                  for (int i : at.like_cos) {
                    Shape shape = a[i].shape();
                    shape[static_cast<size_t>(axis)] = 7;
                    a.Put(i, shape, a[0].dtype());
                  }
                });
    }
  }
  // Where the layout's rules do not speak first.
  cases.Add(Rule::kBroadcast, kApplyOps, 2, [](Arguments& a, int64_t) {
    for (int i : Of(a.op).like_cos) a.Put(i, {2, 4, 2, 64});
  });
}

void AddWidths(Cases& cases) {
  for (Op op : kRotaryOps) {
    cases.Add(Rule::kWidthEven, op, Name(op, 0),
              [](Arguments& a, int64_t) { SetWidth(a, 33); });
    cases.Add(Rule::kWidthQuarter, op, Name(op, 0), [](Arguments& a, int64_t) {
      SetWidth(a, 66);
      a.mode = 2;
    });
    cases.Add(
        Rule::kWidthMax, op, Name(op, 0),
        [](Arguments& a, int64_t value) { SetWidth(a, value & ~int64_t{1}); },
        2);
    const Numbers at = Of(op);
    for (Rule rule : {Rule::kTableWidth, Rule::kTableHalf}) {
      const int64_t width = rule == Rule::kTableWidth ? 32 : 16;
      cases.Add(rule, op, "cos", [at, width](Arguments& a, int64_t) {
        for (int i : at.like_cos) a.Put(i, WithWidth(a[i].shape(), width));
      });
    }
  }
  for (Op op : kPartialOps) {
    cases.Add(Rule::kWidthEven, op, Name(op, 0), [](Arguments& a, int64_t) {
      a.list = {8, 41};
      Reshape(a, a[0].shape(), WithWidth(a[1].shape(), 33));
    });
    cases.Add(Rule::kWidthQuarter, op, Name(op, 0), [](Arguments& a, int64_t) {
      a.list = {8, 42};
      a.mode = 2;
      Reshape(a, a[0].shape(), WithWidth(a[1].shape(), 34));
    });
    cases.Add(
        Rule::kWidthMax, op, Name(op, 0),
        [](Arguments& a, int64_t value) { SetWidth(a, value); }, 2);
  }
  for (Op op : kApplyOps) {
    const char* argument = op == kApplyGrad ? "gradQueryEmbed" : "cos";
    cases.Add(Rule::kWidthEven, op, argument,
              [](Arguments& a, int64_t) { SetWidth(a, 33); });
    cases.Add(
        Rule::kWidthMax, op, Name(op, 0),
        [](Arguments& a, int64_t value) { SetWidth(a, value); }, 2);
    if (op == kApply) continue;
    cases.Add(Rule::kWidthQuarter, op, argument, [](Arguments& a, int64_t) {
      SetWidth(a, 66);
      a.rotary_mode = "quarter";
    });
  }
  cases.Add(Rule::kWidthEven, kCacheOps, 3, [](Arguments& a, int64_t) {
    a.Put(3, {16, 33});
  });
  cases.Add(Rule::kWidthEven, kInterleave, "x",
            [](Arguments& a, int64_t) { SetWidth(a, 33); });
}

void AddRotary(Cases& cases) {
  for (Op op : kRotaryOps) {
    cases.Add(Rule::kTablesHalf, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {3, 5, 7, 64}, {1, 5, 7, 64});
    });
    cases.Add(Rule::kTablesHalf, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {3, 5, 7, 64}, {1, 1, 1, 64});
    });
    cases.Add(Rule::kTablesHalf, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {5, 7, 64}, {1, 7, 64});  // TND with 1ND
    });
    cases.Add(Rule::kTablesInterleave, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {3, 5, 7, 64}, {3, 5, 1, 64});
      a.mode = 1;
    });
    cases.Add(
        Rule::kHeadsInterleave, op, "cos",
        [](Arguments& a, int64_t value) {
          Reshape(a, {1, 3, value, 2}, {1, 3, 1, 2});
          a.mode = 1;
        },
        1);
    const int out = Of(op).like_x.back();
    cases.Add(Rule::kContiguous, op, Name(op, out),
              [out](Arguments& a, int64_t) { a.Put(out, WithGaps(a[out])); });
  }
}

void AddRotaryMore(Cases& cases) {
  for (int out : {5, 6}) {
    cases.Add(Rule::kContiguous, kRotaryGrad, Name(kRotaryGrad, out),
              [out](Arguments& a, int64_t) { a.Put(out, WithGaps(a[out])); });
  }
  cases.Add(
      Rule::kHeadsHalf, kRotaryGrad, "cos",
      [](Arguments& a, int64_t value) {
        Reshape(a, {1, 3, value, 2}, {1, 3, 1, 2});
        a.Null(3);
      },
      1);
  cases.Add(
      Rule::kHeadsSum, kRotaryGrad, "cos",
      [](Arguments& a, int64_t value) {
        Reshape(a, {2, 3, value / 2, 2}, {1, 3, 1, 2});
      },
      2);
  for (Op op : {kRotary, kRotaryV2}) {
    cases.Add(Rule::kHeadsBnsd, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {2, 17, 4, 64}, {1, 1, 4, 64});  // 34 heads, 8 * 4 allowed
    });
    cases.Add(Rule::kHeadsBnsd, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {2, 3, 96, 68}, {1, 1, 96, 68});  // no multiple of 32 bytes
    });
  }
  cases.Add(Rule::kRotateNull, kRotaryV2, "rotate", [](Arguments& a, int64_t) {
    a.Put(3, {64, 64});
  });
  cases.Add(Rule::kRotateShape, kRotaryV2, "rotate", [](Arguments& a, int64_t) {
    a.Put(3, {64, 32});
  });
  cases.Add(Rule::kRotateMode, kRotaryV2, "mode", [](Arguments& a, int64_t) {
    a.Put(3, {64, 64});
    a.mode = 2;
  });
}

void AddPartial(Cases& cases) {
  for (const std::vector<int64_t>& list :
       {std::vector<int64_t>{8}, {8, 40, 1}, {0, 0, 0}}) {
    cases.AddNamed(Rule::kSliceSize, kPartialOps, "partialSlice",
                   [list](Arguments& a, int64_t) { a.list = list; });
  }
  cases.Add(Rule::kSliceSize, kPartialGrad, "partialSlice",
            [](Arguments& a, int64_t) { a.list.emplace(); });
  for (const std::vector<int64_t>& list :
       {std::vector<int64_t>{-2, 30}, {34, 66}, {40, 8}, {66, 66}, {-1, -1}}) {
    cases.AddNamed(Rule::kSlice, kPartialOps, "partialSlice",
                   [list](Arguments& a, int64_t) { a.list = list; });
  }
  for (int64_t width : {64, 30}) {  // a table of the whole row; just another
    cases.Add(Rule::kSliceWidth, kPartialOps, 1,
              [width](Arguments& a, int64_t) {
                Reshape(a, a[0].shape(), WithWidth(a[1].shape(), width));
              });
  }
  cases.Add(Rule::kSliceHalf, kPartialOps, 1, [](Arguments& a, int64_t) {
    Reshape(a, a[0].shape(), WithWidth(a[1].shape(), 8));
  });
  cases.Add(Rule::kRowEven, kPartial, "xRef", [](Arguments& a, int64_t) {
    a.Put(0, {2, 3, 4, 65});
  });
  for (const Shape& table :
       {Shape{1, 3, 1, 32}, {2, 3, 4, 32}, {1, 1, 1, 32}}) {
    cases.Add(
        Rule::kTablesPartial, kPartial, "cos",
        [table](Arguments& a, int64_t) { Reshape(a, a[0].shape(), table); });
  }
  for (int i : {0, 1, 2}) {
    cases.Add(Rule::kContiguousPartial, kPartialOps, i,
              [i](Arguments& a, int64_t) { a.Put(i, WithGaps(a[i])); });
  }
}

void AddApply(Cases& cases) {
  for (Op op : kApplyOps) {
    for (const Shape& key : {Shape{3, 4, 1, 64}, {2, 5, 1, 64}}) {
      cases.Add(Rule::kQueryKey, op, Name(op, 1),
                [key](Arguments& a, int64_t) { ReshapeKey(a, key); });
    }
    const auto table = [&](Rule rule, const Shape& shape) {
      cases.Add(rule, op, "cos", [shape](Arguments& a, int64_t) {
        for (int i : Of(a.op).like_cos) a.Put(i, shape);
      });
    };
    table(Rule::kTableHeads, {2, 4, 3, 64});
    table(Rule::kTableBatch, {3, 4, 1, 64});
    table(Rule::kTableTokens, {2, 1, 1, 64});
    if (op == kApplyGrad) {
      table(Rule::kTableEqual, {2, 4, 1, 32});
      table(Rule::kTableGrad, {2, 4, 1, 16});
      continue;
    }
    table(Rule::kTableBatchA2, {1, 4, 1, 64});
    table(Rule::kTableFits, {2, 4, 1, 128});
    table(Rule::kWidth64, {2, 4, 1, 32});
    cases.Add(Rule::kTableFits, op, "cos", [](Arguments& a, int64_t) {
      Reshape(a, {2, 4, 3, 128}, {2, 4, 1, 128});
    });
    cases.Add(Rule::kKeyWidth, op, "keyRef", [](Arguments& a, int64_t) {
      ReshapeKey(a, {2, 4, 1, 128});
    });
    cases.Add(
        Rule::kHeadSum, op, "keyRef",
        [](Arguments& a, int64_t value) {
          Reshape(a, {2, 4, value - 1, 64}, {2, 4, 1, 64});
        },
        1);
  }
  for (int i : {4, 5}) {
    cases.Add(Rule::kBoth, kApplyGrad, Name(kApplyGrad, i),
              [i](Arguments& a, int64_t) { a.Null(i); });
  }
  cases.Add(Rule::kNotEmpty, kApplyGrad, "gradQueryEmbed",
            [](Arguments& a, int64_t) {
              Reshape(a, {2, 4, 0, 64}, {2, 4, 1, 64});
            });
}

void AddInterleave(Cases& cases) {
  cases.Add(Rule::kWidth, kInterleave, "x",
            [](Arguments& a, int64_t) { SetWidth(a, 128); });
  for (const Shape& table : {Shape{1, 1, 5, 64}, {2, 3, 5, 64}}) {
    cases.Add(
        Rule::kTablesBnsd, kInterleave, "cos",
        [table](Arguments& a, int64_t) { Reshape(a, a[0].shape(), table); });
  }
}

void AddCacheShapes(Cases& cases) {
  for (int64_t mode : {-1, 2}) {
    cases.Add(Rule::kCacheMode, kCacheV2, "cacheMode",
              [mode](Arguments& a, int64_t) { a.cache_mode = mode; });
  }
  cases.Add(Rule::kNotEmpty, kCacheOps, 1, [](Arguments& a, int64_t) {
    Reshape(a, {3, 0}, {16, 64});
  });
  cases.Add(Rule::kNotEmpty, kCacheOps, 0, [](Arguments& a, int64_t) {
    a.Put(0, TestTensor({0}, ACL_INT64));
    Reshape(a, {0, 128}, {16, 64});
    for (int i : {2, 5}) a.Put(i, {0, 64});
  });
  cases.Add(Rule::kRows, kCacheOps, 2, [](Arguments& a, int64_t) {
    for (int i : {2, 5}) a.Put(i, {4, 64});
  });
  for (int i : {4, 5}) {
    cases.Add(Rule::kOutShape, kCacheOps, i, [i](Arguments& a, int64_t) {
      a.Put(i, {3, 192});
    });
  }
  for (int64_t size : {0, -64}) {
    cases.AddNamed(Rule::kHeadSize, kCacheOps, "headSize",
                   [size](Arguments& a, int64_t) { a.head_size = size; });
  }
  cases.AddNamed(Rule::kHeadAligned, kCacheOps, "headSize",
                 [](Arguments& a, int64_t) {
                   a.head_size = 72;
                   Reshape(a, {3, 144}, {16, 64});
                   for (int i : {2, 5}) a.Put(i, {3, 72});
                 });
  cases.AddNamed(Rule::kHeadAligned, kCacheOps, "headSize",
                 [](Arguments& a, int64_t) {
                   a.head_size = 48;
                   Reshape(a, {3, 96}, {16, 32});
                   for (int i : {2, 5}) a.Put(i, {3, 48});
                   Retype(a, AllNumbers(a.op), ACL_FLOAT16);
                 });
  cases.Add(Rule::kRotaryAligned, kCacheOps, 3, [](Arguments& a, int64_t) {
    a.Put(3, {16, 40});
  });
  cases.Add(Rule::kRotaryFits, kCacheOps, 3, [](Arguments& a, int64_t) {
    a.Put(3, {16, 96});
  });
  for (int i : {1, 2}) {
    cases.Add(Rule::kHeadsWhole, kCacheOps, i, [i](Arguments& a, int64_t) {
      a.Put(i, {3, 80});
      a.Put(i + 3, {3, 80});
    });
    cases.Add(Rule::kContiguousRows, kCacheOps, i, [i](Arguments& a, int64_t) {
      const Shape& shape = a[i].shape();
      const int64_t row = 2 * shape[1];
      a.Put(i, TestTensor(shape, {row, 2}, 0, 3 * row));
    });
    cases.Add(Rule::kContiguousCache, kCacheOps, i + 3,
              [i](Arguments& a, int64_t) { a.Put(i + 3, WithGaps(a[i + 3])); });
  }
}

void AddSections(Cases& cases) {
  const auto list = [&](Rule rule, const std::vector<int64_t>& numbers) {
    cases.AddNamed(rule, kCacheOps, "mropeSection",
                   [numbers](Arguments& a, int64_t) { a.list = numbers; });
  };
  list(Rule::kSectionCount, {16, 16});
  list(Rule::kSectionCount, {8, 8, 8, 4, 4});
  list(Rule::kSectionCountOff, {0, 0});
  list(Rule::kSectionSign, {16, -8, 24});
  list(Rule::kSectionSum, {16, 24, 24});  // the cache has room for half of it
  cases.AddNamed(Rule::kSectionList, kCacheOps, "mropeSection",
                 [](Arguments& a, int64_t) {
                   SetSections(a, {16, 8, 8});
                 });
  const std::vector<std::vector<int64_t>> lists = {
      {24, 20, 20}, {8, 12, 12}, {16, 16, 16, 16}, {11, 11, 10}};
  for (const auto& numbers : lists) {
    cases.AddNamed(
        Rule::kSectionList, kCacheOps, "mropeSection",
        [numbers](Arguments& a, int64_t) { SetSections(a, numbers); });
  }
  cases.Add(Rule::kFourInterleaved, kCacheV2, "mropeSection",
            [](Arguments& a, int64_t) {
              SetSections(a, {16, 16, 16, 16});
              a.cache_mode = 1;
            });
  cases.Add(Rule::kPositionsRank, kCacheOps, 0, [](Arguments& a, int64_t) {
    a.Put(0, TestTensor({3, 3}, ACL_INT64));
    a.list = {0, 0, 0};
  });
  cases.Add(Rule::kPositionsRank, kCacheOps, 0, [](Arguments& a, int64_t) {
    SetSections(a, {16, 24, 24});
    a.Put(0, TestTensor({3}, ACL_INT64));
  });
  for (const Shape& shape : {Shape{4, 3}, {3, 4}}) {
    cases.Add(Rule::kPositionsLength, kCacheOps, 0,
              [shape](Arguments& a, int64_t) {
                SetSections(a, {16, 24, 24});
                a.Put(0, TestTensor(shape, ACL_INT64));
              });
  }
  cases.Add(Rule::kPositionsLength, kCacheOps, 0, [](Arguments& a, int64_t) {
    a.Put(0, TestTensor({4}, ACL_INT64));
  });
}

}  // namespace

void SetSections(Arguments& a, const std::vector<int64_t>& sections) {
  int64_t sum = 0;
  for (int64_t n : sections) sum += n;
  a.list = sections;
  a.head_size = 2 * sum;
  a.Put(3, {16, 2 * sum});
  Reshape(a, {3, 4 * sum}, {16, 2 * sum});
  for (int i : {2, 5}) a.Put(i, {3, 2 * sum});
  a.Put(0, TestTensor({static_cast<int64_t>(sections.size()), 3}, ACL_INT64));
}

std::vector<RuleCase> RuleCases() {
  Cases cases;
  AddDescriptors(cases);
  AddDtypes(cases);
  AddModes(cases);
  AddCommonShapes(cases);
  AddWidths(cases);
  AddRotary(cases);
  AddRotaryMore(cases);
  AddPartial(cases);
  AddApply(cases);
  AddInterleave(cases);
  AddCacheShapes(cases);
  AddSections(cases);
  return cases.Take();
}

}  // namespace ropewalk_aclnn
