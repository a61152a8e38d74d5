#include "support/cases.h"

#include <cmath>
#include <sstream>

#include "core/dtype.h"
#include "kernels/reference.h"

namespace ropewalk::test {

const std::vector<Dtypes>& AllDtypes() {
  static const std::vector<Dtypes> all = [] {
    std::vector<Dtypes> list;
    for (Dtype data : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      for (Dtype table : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
        list.push_back({data, table});
      }
    }
    list.push_back({Dtype::kF64, Dtype::kF64});
    return list;
  }();
  return all;
}

std::string Name(const Dtypes& dtypes) {
  return std::string(DtypeName(dtypes.data)) + "_" + DtypeName(dtypes.table);
}

const std::vector<Pairing>& AllPairings() {
  static const std::vector<Pairing> all = [] {
    std::vector<Pairing> list;
    for (size_t i = 0; i < std::size(kPairings); ++i) {
      list.push_back(static_cast<Pairing>(i));
    }
    return list;
  }();
  return all;
}

bool Fits(Pairing pairing, int64_t width) {
  return width % PairingMultiple(pairing) == 0;
}

Status Execute(const Turn& turn) {
  if (turn.direction == Direction::kForward) {
    RotateRun run{turn.options, turn.x, turn.cos, turn.sin, turn.y};
    run.executor = turn.executor;
    return Execute(run);
  }
  BackwardRun run{turn.options, turn.x, turn.cos, turn.sin};
  run.dx = &turn.y;
  run.executor = turn.executor;
  return Execute(run);
}

void RunReference(const Turn& turn) {
  if (turn.direction == Direction::kForward) {
    reference::Rotate(turn.options, turn.x, turn.cos, turn.sin, turn.y);
  } else {
    reference::RotateBackward(turn.options, turn.x, turn.cos, turn.sin, turn.y);
  }
}

std::string ToString(const Turn& turn) {
  std::ostringstream os;
  os << PairingName(turn.options.pairing) << " "
     << (turn.direction == Direction::kForward ? "forward" : "backward");
  if (turn.options.slice) {
    os << " slice [" << turn.options.slice->start << ", "
       << turn.options.slice->end << ")";
  }
  os << " x " << ToString(turn.x.desc) << " cos " << ToString(turn.cos.desc)
     << " sin " << ToString(turn.sin.desc) << " y " << ToString(turn.y.desc);
  return os.str();
}

testing::AssertionResult WithinBound(const ConstTensor& got,
                                     const std::vector<double>& exact,
                                     const std::vector<double>& abs) {
  const Dtype dtype = got.desc.dtype;
  if (static_cast<size_t>(Count(got.desc)) != exact.size()) {
    return testing::AssertionFailure() << "sizes differ";
  }
  const double unit = dtype == Dtype::kF64 ? 0x1p-40 : 4 * 0x1p-24;
  for (size_t i = 0; i < exact.size(); ++i) {
    const double value =
        reference::Decode(dtype, ElementAddress(got, static_cast<int64_t>(i)));
    if (std::isnan(exact[i]) && std::isnan(value)) continue;
    if (std::isinf(exact[i]) && value == exact[i]) continue;
    const double slack = unit * abs[i];
    // Rounding is monotonic: these are the bounds after it.
    const double low = reference::RoundTo(dtype, exact[i] - slack);
    const double high = reference::RoundTo(dtype, exact[i] + slack);
    if (low <= value && value <= high) continue;
    return testing::AssertionFailure()
           << "element " << i << " of " << exact.size() << " is " << value
           << ", exact " << exact[i] << ", sum of absolute terms " << abs[i]
           << ", error " << std::fabs(value - exact[i]) / abs[i] * 0x1p24
           << " * 2^-24 of it";
  }
  return testing::AssertionSuccess();
}

}  // namespace ropewalk::test
