// Every refusal of MakeRotateCachedPlan: the code and the exact message.

#include "support/refusals.h"

namespace ropewalk::test {
namespace {

using O = RotateCachedOptions;
using T = RotateCachedTensors;

// 5 tokens, 3 and 1 heads of 64, rotary_dim 48, 100 rows.
T Valid() {
  const TensorDesc query = Contiguous(Dtype::kF32, {5, 192});
  const TensorDesc key = Contiguous(Dtype::kF32, {5, 64});
  return {Contiguous(Dtype::kI64, {5}),
          Contiguous(Dtype::kF32, {100, 48}),
          query,
          query,
          key,
          key};
}

void SetSections(O& o, T& t, std::span<const int64_t> sections) {
  o.sections = sections;
  t.positions =
      Contiguous(Dtype::kI64, {static_cast<int64_t>(sections.size()), 5});
}

constexpr int64_t kGood[] = {8, 8, 8};
constexpr int64_t kTwo[] = {12, 12};
constexpr int64_t kFive[] = {4, 4, 4, 4, 8};
constexpr int64_t kShort[] = {8, 8, 7};
constexpr int64_t kDouble[] = {16, 16, 16};
constexpr int64_t kNegative[] = {20, -4, 8};
constexpr int64_t kNegativeFirst[] = {-8, 24, 8};
constexpr int64_t kFour[] = {6, 6, 6, 6};
constexpr int64_t kHuge[] = {std::numeric_limits<int64_t>::max(),
                             std::numeric_limits<int64_t>::max(), 26};

const std::vector<Refusal<O, T>> kRefusals = {
    {"positions of floats", [](O&, T& t) { t.positions.dtype = Dtype::kF32; },
     Code::kDtype,
     "[rotate_cached] positions: dtype must be i64 or i32, but is f32"},
    {"query of integers",
     [](O&, T& t) { t.query.dtype = t.query_out.dtype = Dtype::kI32; },
     Code::kDtype,
     "[rotate_cached] query: dtype must be f32, f16, bf16 or f64, but is i32"},
    {"query_out of another dtype",
     [](O&, T& t) { t.query_out.dtype = Dtype::kF16; }, Code::kDtype,
     "[rotate_cached] query_out: dtype must be that of query, f32, but is f16"},
    {"key of another dtype", [](O&, T& t) { t.key->dtype = Dtype::kF16; },
     Code::kDtype,
     "[rotate_cached] key_out: dtype must be that of key, f16, but is f32"},
    {"key_out of another dtype",
     [](O&, T& t) { t.key_out->dtype = Dtype::kBF16; }, Code::kDtype,
     "[rotate_cached] key_out: dtype must be that of key, f32, but is bf16"},
    {"cache of integers", [](O&, T& t) { t.cache.dtype = Dtype::kI64; },
     Code::kDtype,
     "[rotate_cached] cache: dtype must be f32, f16, bf16 or f64, but is i64"},
    {"cache of fp64 with fp32", [](O&, T& t) { t.cache.dtype = Dtype::kF64; },
     Code::kDtype,
     "[rotate_cached] cache: dtype must be f32, f16 or bf16 with query of f32, "
     "but is f64"},
    {"query of rank 1", [](O&, T& t) { t.query.rank = 1; }, Code::kShape,
     "[rotate_cached] query: rank must be 2 or 3, but is 1"},
    {"query of rank 4",
     [](O&, T& t) {
       t.query = t.query_out = Contiguous(Dtype::kF32, {1, 5, 3, 64});
     },
     Code::kShape, "[rotate_cached] query: rank must be 2 or 3, but is 4"},
    {"query_out of another rank",
     [](O&, T& t) {
       t.query_out = Contiguous(Dtype::kF32, {5, 3, 64});
     },
     Code::kShape,
     "[rotate_cached] query_out: shape must be that of query, (5, 192), but is "
     "(5, 3, 64)"},
    {"query_out of another shape",
     [](O&, T& t) {
       t.query_out = Contiguous(Dtype::kF32, {5, 128});
     },
     Code::kShape,
     "[rotate_cached] query_out: shape must be that of query, (5, 192), but is "
     "(5, 128)"},
    {"query not a multiple of head_size",
     [](O&, T& t) {
       t.query = t.query_out = Contiguous(Dtype::kF32, {5, 200});
     },
     Code::kShape,
     "[rotate_cached] query: last axis must be a multiple of head_size 64, but "
     "is 200"},
    {"query with heads of another size",
     [](O&, T& t) {
       t.query = t.query_out = Contiguous(Dtype::kF32, {5, 3, 32});
     },
     Code::kShape,
     "[rotate_cached] query: last axis must be head_size 64, but is 32"},
    {"key of other tokens",
     [](O&, T& t) {
       t.key = t.key_out = Contiguous(Dtype::kF32, {4, 64});
     },
     Code::kShape,
     "[rotate_cached] key: first axis must be 5 as in query, but is 4"},
    {"key not a multiple of head_size",
     [](O&, T& t) {
       t.key = t.key_out = Contiguous(Dtype::kF32, {5, 63});
     },
     Code::kShape,
     "[rotate_cached] key: last axis must be a multiple of head_size 64, but "
     "is 63"},
    {"key_out of another shape",
     [](O&, T& t) {
       t.key_out = Contiguous(Dtype::kF32, {5, 128});
     },
     Code::kShape,
     "[rotate_cached] key_out: shape must be that of key, (5, 64), but is (5, "
     "128)"},
    {"key without key_out", [](O&, T& t) { t.key_out.reset(); },
     Code::kNullPointer,
     "[rotate_cached] key_out: key and key_out go together, but this one is "
     "missing"},
    {"key_out without key", [](O&, T& t) { t.key.reset(); }, Code::kNullPointer,
     "[rotate_cached] key: key and key_out go together, but this one is "
     "missing"},
    {"positions of rank 2",
     [](O&, T& t) {
       t.positions = Contiguous(Dtype::kI64, {1, 5});
     },
     Code::kShape,
     "[rotate_cached] positions: shape must be (5) without sections, but is "
     "(1, 5)"},
    {"positions of rank 0", [](O&, T& t) { t.positions.rank = 0; },
     Code::kShape, "[rotate_cached] positions: rank must be 1 to 8, but is 0"},
    {"too few positions",
     [](O&, T& t) { t.positions = Contiguous(Dtype::kI64, {4}); }, Code::kShape,
     "[rotate_cached] positions: shape must be (5) without sections, but is "
     "(4)"},
    {"too many positions",
     [](O&, T& t) { t.positions = Contiguous(Dtype::kI64, {6}); }, Code::kShape,
     "[rotate_cached] positions: shape must be (5) without sections, but is "
     "(6)"},
    {"cache of rank 1",
     [](O&, T& t) { t.cache = Contiguous(Dtype::kF32, {48}); }, Code::kShape,
     "[rotate_cached] cache: rank must be 2, but is 1"},
    {"cache of rank 3",
     [](O&, T& t) {
       t.cache = Contiguous(Dtype::kF32, {1, 100, 48});
     },
     Code::kShape, "[rotate_cached] cache: rank must be 2, but is 3"},
    {"rotary_dim odd",
     [](O&, T& t) {
       t.cache = Contiguous(Dtype::kF32, {100, 47});
     },
     Code::kShape,
     "[rotate_cached] cache: last axis (rotary_dim) must be even, but is 47"},
    {"rotary_dim above head_size",
     [](O&, T& t) {
       t.cache = Contiguous(Dtype::kF32, {100, 66});
     },
     Code::kShape,
     "[rotate_cached] cache: last axis (rotary_dim) must be at most head_size "
     "64, but is 66"},
    {"head_size 0", [](O& o, T&) { o.head_size = 0; }, Code::kOption,
     "[rotate_cached] head_size: must be positive, but is 0"},
    {"head_size negative", [](O& o, T&) { o.head_size = -64; }, Code::kOption,
     "[rotate_cached] head_size: must be positive, but is -64"},
    {"no such style", [](O& o, T&) { o.style = static_cast<CachedStyle>(2); },
     Code::kOption,
     "[rotate_cached] style: must be 0 (neox) or 1 (gptj), but is "
     "2"},
    {"no such axis layout",
     [](O& o, T& t) {
       SetSections(o, t, kGood);
       o.axes = static_cast<AxisLayout>(2);
     },
     Code::kOption,
     "[rotate_cached] axes: must be 0 (segmented) or 1 (interleave"
     "d), but is 2"},
    {"no such direction",
     [](O& o, T&) { o.direction = static_cast<Direction>(2); }, Code::kOption,
     "[rotate_cached] direction: must be 0 (forward) or 1 (backwar"
     "d), but is 2"},
    {"two sections", [](O& o, T& t) { SetSections(o, t, kTwo); }, Code::kOption,
     "[rotate_cached] sections: must be 3 or 4, but are 2"},
    {"five sections", [](O& o, T& t) { SetSections(o, t, kFive); },
     Code::kOption, "[rotate_cached] sections: must be 3 or 4, but are 5"},
    {"sections one short", [](O& o, T& t) { SetSections(o, t, kShort); },
     Code::kOption,
     "[rotate_cached] sections: must sum to half of the cache's last axis, 24, "
     "but are [8, 8, 7]"},
    {"sections that sum to rotary_dim",
     [](O& o, T& t) { SetSections(o, t, kDouble); }, Code::kOption,
     "[rotate_cached] sections: must sum to half of the cache's last axis, 24, "
     "but are [16, 16, 16]"},
    {"a negative section", [](O& o, T& t) { SetSections(o, t, kNegative); },
     Code::kOption,
     "[rotate_cached] sections: must not be negative, but are [20, -4, 8]"},
    {"a negative first section",
     [](O& o, T& t) { SetSections(o, t, kNegativeFirst); }, Code::kOption,
     "[rotate_cached] sections: must not be negative, but are [-8, 24, 8]"},
    {"sections whose sum overflows",
     [](O& o, T& t) { SetSections(o, t, kHuge); }, Code::kOption,
     "[rotate_cached] sections: must sum to half of the cache's last axis, 24, "
     "but are [9223372036854775807, 9223372036854775807, 26]"},
    {"four sections, interleaved axes",
     [](O& o, T& t) {
       SetSections(o, t, kFour);
       o.axes = AxisLayout::kInterleaved;
     },
     Code::kOption,
     "[rotate_cached] sections: must be 3 with interleaved axes, but are 4"},
    {"sections, positions of rank 1", [](O& o, T&) { o.sections = kGood; },
     Code::kShape,
     "[rotate_cached] positions: shape must be (3, 5), but is (5)"},
    {"sections, too few position rows",
     [](O& o, T& t) {
       SetSections(o, t, kFour);
       t.positions = Contiguous(Dtype::kI64, {3, 5});
     },
     Code::kShape,
     "[rotate_cached] positions: shape must be (4, 5), but is (3, 5)"},
    {"sections, positions transposed",
     [](O& o, T& t) {
       SetSections(o, t, kGood);
       t.positions = Contiguous(Dtype::kI64, {5, 3});
     },
     Code::kShape,
     "[rotate_cached] positions: shape must be (3, 5), but is (5, 3)"},
    {"query_out that overlaps itself",
     [](O&, T& t) { t.query_out.strides[0] = 191; }, Code::kOverlap,
     "[rotate_cached] query_out: an output must not overlap itself, but its "
     "strides make it do so"},
    {"key_out that overlaps itself",
     [](O&, T& t) { t.key_out->strides[0] = 0; }, Code::kOverlap,
     "[rotate_cached] key_out: an output must not overlap itself, but its "
     "strides make it do so"},
    {"a negative number of tokens",
     [](O&, T& t) { t.query.shape[0] = t.query_out.shape[0] = -5; },
     Code::kShape,
     "[rotate_cached] query: sizes must not be negative, but shape is (-5, "
     "192)"},
    {"strides of the cache that overflow",
     [](O&, T& t) { t.cache.strides[0] = std::numeric_limits<int64_t>::max(); },
     Code::kShape,
     "[rotate_cached] cache: size in bytes must fit 62 bits, but s"
     "hape is (100, 48) and strides are (9223372036854775807, 1)"},
    {"strides of positions that overflow",
     [](O&, T& t) {
       t.positions.strides[0] = std::numeric_limits<int64_t>::min();
     },
     Code::kShape,
     "[rotate_cached] positions: size in bytes must fit 62 bits, b"
     "ut shape is (5) and strides are (-9223372036854775808)"},
};

TEST(CachedRefusals, Table) {
  O options;
  options.head_size = 64;
  ASSERT_TRUE(MakeRotateCachedPlan(options, Valid()).ok());
  CheckRefusals(kRefusals, Valid(), MakeRotateCachedPlan, options);
}

TEST(CachedRefusals, GoodSectionsAreAccepted) {
  O options;
  options.head_size = 64;
  T tensors = Valid();
  SetSections(options, tensors, kGood);
  EXPECT_TRUE(MakeRotateCachedPlan(options, tensors).ok());
  SetSections(options, tensors, kFour);
  EXPECT_TRUE(MakeRotateCachedPlan(options, tensors).ok());
}

TEST(CachedRefusals, RotaryDimMayBeZero) {
  O options;
  options.head_size = 64;
  T tensors = Valid();
  tensors.cache = Contiguous(Dtype::kF32, {100, 0});
  EXPECT_TRUE(MakeRotateCachedPlan(options, tensors).ok());
}

}  // namespace
}  // namespace ropewalk::test
