// Prints the table of errors of docs/numerics.md. With a folder it writes the
// inputs there too, for tools/compare_numerics.py.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "io/safetensors.h"
#include "numerics/cases.h"
#include "support/run.h"

namespace ropewalk::test {
namespace {

constexpr Dtype kDtypes[] = {Dtype::kF32, Dtype::kBF16, Dtype::kF16,
                             Dtype::kF64};

void Need(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  std::exit(1);
}

void Add(const TestTensor& got, const Exacts& exact, size_t from,
         Errors* errors) {
  const int64_t count = Count(got.desc());
  for (int64_t i = 0; i < count; ++i) {
    errors->Add(got.desc().dtype, got.At(i),
                exact[from + static_cast<size_t>(i)]);
  }
}

Errors OfTurn(Pairing pairing, Direction direction, const NumericsCase& c) {
  const TestTensor y(c.x.desc());
  const TestTensor& x = direction == Direction::kForward ? c.x : c.dy;
  Need(Execute(
      Turn{{pairing, {}}, direction, x.in(), c.cos.in(), c.sin.in(), y.out()}));
  Errors errors;
  Add(y, ExactTurn(pairing, direction, x, c.cos, c.sin), 0, &errors);
  return errors;
}

Errors OfSums(Pairing pairing, const NumericsCase& c) {
  const TestTensor dcos(c.cos.desc()), dsin(c.cos.desc());
  const ConstTensor x = c.x.in();
  const Tensor outs[] = {dcos.out(), dsin.out()};
  BackwardRun run{{pairing, {}}, c.dy.in(), c.cos.in(), c.sin.in(), &x};
  run.dcos = &outs[0];
  run.dsin = &outs[1];
  Need(Execute(run));
  Errors errors;
  const Exacts exact = ExactSums(pairing, c);
  Add(dcos, exact, 0, &errors);
  Add(dsin, exact, exact.size() / 2, &errors);
  return errors;
}

// The cache is made of the tables; its rows are taken in order.
Errors OfCached(CachedStyle style, const NumericsCase& c) {
  const int64_t rows = c.cos.desc().shape[1], d = c.cos.desc().shape[2];
  const TensorDesc heads = c.x.desc();
  TestTensor cache(c.cos.desc().dtype, {rows, d}), y(heads);
  TestTensor cos(c.cos.desc()), sin(c.cos.desc());
  TestTensor positions(Dtype::kI64, {rows});
  const Pairing pairing =
      style == CachedStyle::kNeox ? Pairing::kHalf : Pairing::kInterleave;
  for (int64_t r = 0; r < rows; ++r) {
    positions.Set(r, static_cast<double>(r));
    for (int64_t k = 0; k < d / 2; ++k) {
      const int64_t i = style == CachedStyle::kNeox ? k : 2 * k;
      const int64_t j = style == CachedStyle::kNeox ? k + d / 2 : 2 * k + 1;
      for (const int64_t column : {i, j}) {
        cos.Set(r * d + column, c.cos.At(r * d + k));
        sin.Set(r * d + column, c.sin.At(r * d + k));
      }
      cache.Set(r * d + k, c.cos.At(r * d + k));
      cache.Set(r * d + d / 2 + k, c.sin.At(r * d + k));
    }
  }
  // (heads, tokens, columns) in memory, seen as (tokens, heads, columns).
  TensorDesc tokens = heads;
  std::swap(tokens.shape[0], tokens.shape[1]);
  std::swap(tokens.strides[0], tokens.strides[1]);
  CachedRun run;
  run.options.head_size = d;
  run.options.style = style;
  run.positions = positions.in();
  run.cache = cache.in();
  run.query = {tokens, c.x.data()};
  run.query_out = {tokens, y.data()};
  Need(Execute(run));
  Errors errors;
  Add(y, ExactTurn(pairing, Direction::kForward, c.x, cos, sin), 0, &errors);
  return errors;
}

void PrintRow(Dtype dtype, const std::string& name,
              const std::function<Errors(const NumericsCase&)>& errors) {
  std::printf("| %s | %s |", DtypeName(dtype), name.c_str());
  for (const Inputs inputs : kAllInputs) {
    std::printf(" %s |", errors(NumericsCase(dtype, inputs)).Text().c_str());
  }
  std::printf("\n");
}

void PrintTable() {
  std::printf("| dtype | operator |");
  for (const Inputs inputs : kAllInputs)
    std::printf(" %s |", InputsName(inputs));
  std::printf("\n|---|---|---|---|---|---|\n");
  for (const Dtype dtype : kDtypes) {
    for (const Pairing pairing : AllPairings()) {
      const std::string name = PairingName(pairing);
      for (const Direction direction : kDirections) {
        const bool forward = direction == Direction::kForward;
        PrintRow(dtype, (forward ? "rotate " : "dx ") + name,
                 [&](const NumericsCase& c) {
                   return OfTurn(pairing, direction, c);
                 });
      }
      PrintRow(dtype, "dcos, dsin " + name,
               [&](const NumericsCase& c) { return OfSums(pairing, c); });
    }
    for (const CachedStyle style : {CachedStyle::kNeox, CachedStyle::kGptj}) {
      PrintRow(dtype,
               style == CachedStyle::kNeox ? "cached neox" : "cached gptj",
               [&](const NumericsCase& c) { return OfCached(style, c); });
    }
  }
}

void WriteInputs(const std::string& path) {
  for (const Dtype dtype : kDtypes) {
    for (const Inputs inputs : kAllInputs) {
      const NumericsCase c(dtype, inputs);
      const io::StoredTensor tensors[] = {
          io::Store("x", c.x.in()), io::Store("dy", c.dy.in()),
          io::Store("cos", c.cos.in()), io::Store("sin", c.sin.in())};
      Need(io::WriteSafetensors(path + "/" + DtypeName(dtype) + " " +
                                    InputsName(inputs) + ".safetensors",
                                tensors));
    }
  }
}

}  // namespace
}  // namespace ropewalk::test

int main(int argc, char** argv) {
  ropewalk::test::PrintTable();
  if (argc > 1) ropewalk::test::WriteInputs(argv[1]);
  return 0;
}
