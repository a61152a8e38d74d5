// Queries or keys with tables: y, dx, dcos and dsin.

#include <utility>

#include "demo/check.h"
#include "demo/reference.h"
#include "ropewalk/ops.h"

namespace ropewalk::demo {
namespace {

struct Given {
  ConstTensor x, dy, cos, sin;

  Rows rows() const {
    return {static_cast<size_t>(x.desc.shape[2]),
            static_cast<size_t>(x.desc.shape[3])};
  }
  Tables tables() const { return {Values<float>(cos), Values<float>(sin)}; }
};

struct Expected {
  ConstTensor y, dx, dcos, dsin;  // the last two in double
};

struct Results {
  Tensor y, dx, dcos, dsin;
};

Result<bench::Measurement> Forward(const Given& in, const Results& out) {
  RotateTensors tensors;
  tensors.x = tensors.y = in.x.desc;
  tensors.cos = tensors.sin = in.cos.desc;
  RotateBuffers buffers;
  buffers.x = in.x.data;
  buffers.cos = in.cos.data;
  buffers.sin = in.sin.data;
  buffers.y = out.y.data;
  const TensorDesc moved[] = {in.x.desc, in.cos.desc, in.sin.desc, out.y.desc};
  return MeasurePlan(MakeRotatePlan({}, tensors), buffers, moved,
                     bench::YardstickKind::kCopy);
}

Result<bench::Measurement> Backward(const Given& in, const Results& out) {
  RotateBackwardTensors tensors;
  tensors.dy = in.dy.desc;
  tensors.x = in.x.desc;
  tensors.cos = tensors.sin = in.cos.desc;
  tensors.dx = out.dx.desc;
  tensors.dcos = tensors.dsin = out.dcos.desc;
  RotateBackwardBuffers buffers;
  buffers.dy = in.dy.data;
  buffers.x = in.x.data;
  buffers.cos = in.cos.data;
  buffers.sin = in.sin.data;
  buffers.dx = out.dx.data;
  buffers.dcos = out.dcos.data;
  buffers.dsin = out.dsin.data;
  const TensorDesc moved[] = {in.dy.desc,   in.x.desc,   in.cos.desc,
                              in.sin.desc,  out.dx.desc, out.dcos.desc,
                              out.dsin.desc};
  return MeasurePlan(MakeRotateBackwardPlan({}, tensors), buffers, moved,
                     bench::YardstickKind::kTriad);
}

std::vector<Row> Check(const Given& in, const Expected& expected,
                       const Results& out) {
  const auto dy = Values<float>(in.dy);
  const auto x = Values<float>(in.x);
  const TermSums sums = SumTerms(in.rows(), dy, x);
  return {CheckBits("y", out.y, expected.y, Rotate(in.rows(), x, in.tables())),
          CheckBits("dx", out.dx, expected.dx,
                    RotateBackward(in.rows(), dy, in.tables())),
          CheckSums("dcos", out.dcos, expected.dcos, sums.cos),
          CheckSums("dsin", out.dsin, expected.dsin, sums.sin)};
}

Status Write(const std::string& path, const Results& out) {
  const io::StoredTensor stored[] = {
      io::Store("y", out.y), io::Store("dx", out.dx),
      io::Store("dcos", out.dcos), io::Store("dsin", out.dsin)};
  return io::WriteSafetensors(path, stored);
}

}  // namespace

Result<std::vector<Row>> RotateRows(const std::string& what,
                                    const std::string& input,
                                    const std::string& output) {
  Reader reader(input);
  const auto read = [&reader](const char* name, Dtype dtype = Dtype::kF32) {
    return reader.Get(name, dtype, 4);
  };
  const Given in{read("x"), read("dy"), read("cos"), read("sin")};
  const Expected expected{read("y"), read("dx"), read("dcos_f64", Dtype::kF64),
                          read("dsin_f64", Dtype::kF64)};
  if (!reader.status().ok()) return reader.status();

  bench::Memory memory;
  const auto make = [&memory](const ConstTensor& like) {
    return Tensor{like.desc, memory.Zeros(like.desc)};
  };
  const Results out{make(in.x), make(in.x), make(in.cos), make(in.sin)};
  if (!memory.status().ok()) return memory.status();
  const auto forward = Forward(in, out);
  if (!forward.ok()) return forward.status();
  const auto backward = Backward(in, out);
  if (!backward.ok()) return backward.status();

  std::vector<Row> rows = Check(in, expected, out);
  for (Row& row : rows) {
    const bool is_forward = row.output == "y";
    row.operation = (is_forward ? "rotate " : "backward ") + what;
    row.measurement = is_forward ? *forward : *backward;
  }
  const Status written = Write(output, out);
  return written.ok() ? Result<std::vector<Row>>(std::move(rows)) : written;
}

}  // namespace ropewalk::demo
