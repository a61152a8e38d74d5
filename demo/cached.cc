// Queries and keys with positions and a cache.

#include <cstdint>
#include <utility>

#include "demo/check.h"
#include "demo/reference.h"
#include "ropewalk/ops.h"

namespace ropewalk::demo {
namespace {

constexpr int64_t kHeadSize = 64;

struct Given {
  ConstTensor positions, cache, query, key;
};

struct Results {
  Tensor query, key;
};

Result<bench::Measurement> Run(const Given& in, const Results& out) {
  RotateCachedOptions options;
  options.head_size = kHeadSize;
  RotateCachedTensors tensors;
  tensors.positions = in.positions.desc;
  tensors.cache = in.cache.desc;
  tensors.query = tensors.query_out = in.query.desc;
  tensors.key = tensors.key_out = in.key.desc;
  RotateCachedBuffers buffers;
  buffers.positions = in.positions.data;
  buffers.cache = in.cache.data;
  buffers.query = in.query.data;
  buffers.query_out = out.query.data;
  buffers.key = in.key.data;
  buffers.key_out = out.key.data;
  TensorDesc read_rows = in.cache.desc;  // of the cache: one for each token
  read_rows.shape[0] = in.positions.desc.shape[0];
  const TensorDesc moved[] = {in.positions.desc, read_rows,   in.query.desc,
                              out.query.desc,    in.key.desc, out.key.desc};
  return MeasurePlan(MakeRotateCachedPlan(options, tensors), buffers, moved,
                     bench::YardstickKind::kCopy);
}

// Each token's row of the cache, spread to the full width of a head.
struct TokenTables {
  std::vector<float> cos, sin;
};

TokenTables LookUp(const Given& in) {
  constexpr int64_t kPairs = kHeadSize / 2;
  const auto cache = Values<float>(in.cache);
  TokenTables tables;
  for (int64_t position : Values<int64_t>(in.positions)) {
    for (int64_t column = 0; column < kHeadSize; ++column) {
      const auto cos =
          static_cast<size_t>(position * kHeadSize + column % kPairs);
      tables.cos.push_back(cache[cos]);
      tables.sin.push_back(cache[cos + kPairs]);
    }
  }
  return tables;
}

Row Check(const char* name, const ConstTensor& given, const Tensor& result,
          const ConstTensor& expected, const TokenTables& tables) {
  const Rows rows{static_cast<size_t>(given.desc.shape[1] / kHeadSize),
                  kHeadSize};
  return CheckBits(
      name, result, expected,
      Rotate(rows, Values<float>(given), {tables.cos, tables.sin}));
}

}  // namespace

Result<std::vector<Row>> CachedRows(const std::string& input,
                                    const std::string& output) {
  Reader reader(input);
  const auto read = [&reader](const char* name) {
    return reader.Get(name, Dtype::kF32, 2);
  };
  const Given in{reader.Get("positions", Dtype::kI64, 1), read("cache"),
                 read("query"), read("key")};
  const ConstTensor want_query = read("query_out"), want_key = read("key_out");
  if (!reader.status().ok()) return reader.status();

  bench::Memory memory;
  const Results out{{in.query.desc, memory.Zeros(in.query.desc)},
                    {in.key.desc, memory.Zeros(in.key.desc)}};
  if (!memory.status().ok()) return memory.status();
  const auto measurement = Run(in, out);
  if (!measurement.ok()) return measurement.status();

  const TokenTables tables = LookUp(in);
  std::vector<Row> rows = {
      Check("query", in.query, out.query, want_query, tables),
      Check("key", in.key, out.key, want_key, tables)};
  for (Row& row : rows) {
    row.operation = "cached";
    row.measurement = *measurement;
  }
  const io::StoredTensor stored[] = {io::Store("query", out.query),
                                     io::Store("key", out.key)};
  const Status written = io::WriteSafetensors(output, stored);
  return written.ok() ? Result<std::vector<Row>>(std::move(rows)) : written;
}

}  // namespace ropewalk::demo
