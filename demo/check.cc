#include "demo/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace ropewalk::demo {
namespace {

constexpr double kHalfUlp = 0x1p-24;  // of an fp32 number, relative

Row MakeRow(const std::string& output, const ConstTensor& result,
            std::span<const double> exact) {
  Row row;
  row.output = output;
  row.desc = result.desc;
  const auto values = Values<float>(result);
  if (values.size() != exact.size()) {
    row.max_abs_error = std::numeric_limits<double>::infinity();
    return row;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    row.max_abs_error =
        std::max(row.max_abs_error, std::abs(values[i] - exact[i]));
  }
  return row;
}

}  // namespace

Reader::Reader(const std::string& path)
    : path_(path),
      file_(io::SafetensorsFile::Open(path)),
      status_(file_.status()) {}

ConstTensor Reader::Get(const std::string& name, Dtype dtype, int rank) {
  if (!status_.ok()) return {};
  const io::StoredTensor* tensor = file_->Find(name);
  if (tensor != nullptr) {
    const Result<TensorDesc> desc = io::Describe(*tensor);
    if (desc.ok() && desc->dtype == dtype && desc->rank == rank) {
      return {*desc, tensor->data};
    }
  }
  status_ = Status(io::kFileCode, path_ + ": " + name + ": a tensor of dtype " +
                                      DtypeName(dtype) + " and rank " +
                                      std::to_string(rank) + " is needed");
  return {};
}

Row CheckBits(const std::string& output, const ConstTensor& result,
              const ConstTensor& expected, std::span<const double> exact) {
  Row row = MakeRow(output, result, exact);
  const size_t bytes = bench::TensorBytes(expected.desc);
  row.as_expected = bytes == bench::TensorBytes(result.desc) &&
                    std::memcmp(result.data, expected.data, bytes) == 0;
  return row;
}

Row CheckSums(const std::string& output, const ConstTensor& result,
              const ConstTensor& exact, std::span<const double> term_sums) {
  const auto exact_values = Values<double>(exact);
  const auto values = Values<float>(result);
  Row row = MakeRow(output, result, exact_values);
  row.as_expected =
      values.size() == exact_values.size() && values.size() == term_sums.size();
  for (size_t i = 0; row.as_expected && i < values.size(); ++i) {
    const double of_sum = 4 * 0x1p-24 * term_sums[i];
    const double of_rounding = kHalfUlp * (std::abs(exact_values[i]) + of_sum);
    row.as_expected =
        std::abs(values[i] - exact_values[i]) <= of_sum + of_rounding;
  }
  return row;
}

}  // namespace ropewalk::demo
