#include "core/layout.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace ropewalk {
namespace {

using Int128 = __int128;

// Steps of the search below; far more than layouts met in practice need.
constexpr int kBudget = 20000;

// So that a step beyond the end of an axis still fits 63 bits: with two indices
// it reaches twice as far as the axis does.
constexpr int64_t kMostBytes = INT64_MAX / 2;

// Contributes 0, step, 2 step, ... (count - 1) step to a sum.
struct Term {
  int64_t step;
  int64_t count;
};

constexpr int kMaxTerms = 2 * kMaxRank + 1;

// Longest step first. (std::sort on so short an array makes GCC 12 warn.)
void SortBySteps(Term* terms, int size) {
  for (int i = 1; i < size; ++i) {
    for (int j = i; j > 0 && terms[j - 1].step < terms[j].step; --j) {
      std::swap(terms[j - 1], terms[j]);
    }
  }
}

// Can one multiple from each term be chosen so that they sum to `target`?
class SumSearch {
 public:
  void Add(int64_t step, int64_t count) {
    if (count <= 1 || step == 0) return;
    for (int i = 0; i < size_; ++i) {
      if (terms_[i].step == step) {
        terms_[i].count += count - 1;
        return;
      }
    }
    terms_[size_++] = {step, count};
  }

  Answer Reaches(Int128 target) {
    SortBySteps(terms_, size_);
    most_[size_] = 0;
    divisor_[size_] = 0;
    for (int i = size_ - 1; i >= 0; --i) {
      most_[i] = most_[i + 1] + Int128{terms_[i].step} * (terms_[i].count - 1);
      divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].step);
    }
    budget_ = kBudget;
    return Search(0, target);
  }

 private:
  Answer Search(int i, Int128 target) {
    if (target < 0 || target > most_[i]) return Answer::kNo;
    if (target == 0) return Answer::kYes;
    if (target % divisor_[i] != 0) return Answer::kNo;
    const Int128 step = terms_[i].step;
    const Int128 high = std::min<Int128>(terms_[i].count - 1, target / step);
    const Int128 rest = target - most_[i + 1];
    const Int128 low = rest <= 0 ? 0 : (rest + step - 1) / step;
    for (Int128 n = high; n >= low; --n) {
      if (--budget_ < 0) return Answer::kUnknown;
      const Answer found = Search(i + 1, target - n * step);
      if (found != Answer::kNo) return found;
    }
    return Answer::kNo;
  }

  Term terms_[kMaxTerms];
  Int128 most_[kMaxTerms + 1];
  int64_t divisor_[kMaxTerms + 1];
  int size_ = 0;
  int budget_ = 0;
};

// Axes longer than 1 as (|stride|, size), longest stride first.
int SortedAxes(const TensorDesc& desc, Term* axes) {
  int size = 0;
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.shape[i] > 1)
      axes[size++] = {std::abs(desc.strides[i]), desc.shape[i]};
  }
  SortBySteps(axes, size);
  return size;
}

bool IsEmpty(const TensorDesc& desc) {
  return std::any_of(desc.shape, desc.shape + desc.rank,
                     [](int64_t size) { return size == 0; });
}

}  // namespace

bool ComputeExtent(const TensorDesc& desc, Extent* extent) {
  *extent = Extent();
  // A dtype that does not exist has no size; its elements are counted all the
  // same, as it is refused only later.
  const auto size =
      std::max<int64_t>(static_cast<int64_t>(DtypeSize(desc.dtype)), 1);
  int64_t elements = size;
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.shape[i] == 0) continue;
    if (__builtin_mul_overflow(elements, desc.shape[i], &elements)) {
      return false;
    }
  }
  if (elements > kMostBytes) return false;
  if (IsEmpty(desc)) return true;
  int64_t low = 0;
  int64_t high = 0;
  for (int i = 0; i < desc.rank; ++i) {
    if (desc.shape[i] == 1) continue;  // whose stride means nothing
    int64_t reach = 0;
    if (__builtin_mul_overflow(desc.strides[i], size, &reach) ||
        __builtin_mul_overflow(reach, desc.shape[i] - 1, &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach,
                               reach < 0 ? &low : &high)) {
      return false;
    }
  }
  extent->lowest = low;
  int64_t bytes = 0;
  return !__builtin_add_overflow(high, size, &extent->end) &&
         !__builtin_sub_overflow(extent->end, low, &bytes) &&
         bytes <= kMostBytes;
}

int64_t NumElements(const TensorDesc& desc) {
  if (IsEmpty(desc)) return 0;
  int64_t elements = 1;
  for (int i = 0; i < desc.rank; ++i) elements *= desc.shape[i];
  return elements;
}

TensorDesc SplitHeads(const TensorDesc& desc, int64_t head_size) {
  if (desc.rank == 3) return desc;
  const int64_t heads = desc.shape[1] / head_size;
  TensorDesc split = desc;
  split.rank = 3;
  split.shape[1] = heads;
  split.shape[2] = head_size;
  split.strides[2] = desc.strides[1];
  // With one head there is no step, and with none the product may overflow.
  split.strides[1] = heads > 1 ? desc.strides[1] * head_size : 0;
  return split;
}

bool SameShape(const TensorDesc& a, const TensorDesc& b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

bool SameLayout(const TensorDesc& a, const TensorDesc& b) {
  if (!SameShape(a, b) || a.dtype != b.dtype) return false;
  for (int i = 0; i < a.rank; ++i) {
    if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

Answer OverlapsItself(const TensorDesc& desc) {
  if (IsEmpty(desc)) return Answer::kNo;
  Term axes[kMaxRank];
  const int size = SortedAxes(desc, axes);
  Int128 reach = 0;
  bool nested = true;
  for (int i = size - 1; i >= 0; --i) {
    if (axes[i].step == 0) return Answer::kYes;
    nested = nested && axes[i].step > reach;
    reach += Int128{axes[i].step} * (axes[i].count - 1);
  }
  if (nested) return Answer::kNo;
  // Two indices meet if their difference d, not all zero, has
  // sum(d[i] * step[i]) = 0. Let i be the first axis with d[i] != 0 and take
  // d[i] >= 1; the later d[j] range over +-(count[j] - 1).
  bool unknown = false;
  for (int i = 0; i < size; ++i) {
    SumSearch search;
    search.Add(axes[i].step, axes[i].count - 1);
    Int128 target = -Int128{axes[i].step};
    for (int j = i + 1; j < size; ++j) {
      search.Add(axes[j].step, 2 * axes[j].count - 1);
      target += Int128{axes[j].step} * (axes[j].count - 1);
    }
    const Answer answer = search.Reaches(target);
    if (answer == Answer::kYes) return answer;
    unknown = unknown || answer == Answer::kUnknown;
  }
  return unknown ? Answer::kUnknown : Answer::kNo;
}

Answer Overlaps(const TensorDesc& a, const void* a_data, const TensorDesc& b,
                const void* b_data) {
  if (IsEmpty(a) || IsEmpty(b)) return Answer::kNo;
  // An address of a minus an address of b as a sum of terms that start at 0.
  SumSearch search;
  Int128 target = Int128{reinterpret_cast<uintptr_t>(b_data)} -
                  Int128{reinterpret_cast<uintptr_t>(a_data)};
  const auto add = [&](const TensorDesc& desc, int sign) {
    const auto size = static_cast<int64_t>(DtypeSize(desc.dtype));
    for (int i = 0; i < desc.rank; ++i) {
      if (desc.shape[i] == 1) continue;
      const int64_t stride = desc.strides[i] * size * sign;
      if (stride < 0) {
        target -= Int128{stride} * (desc.shape[i] - 1);
      }
      search.Add(std::abs(stride), desc.shape[i]);
    }
    search.Add(1, size);
  };
  add(a, 1);
  add(b, -1);
  target += static_cast<int64_t>(DtypeSize(b.dtype)) - 1;
  return search.Reaches(target);
}

}  // namespace ropewalk
