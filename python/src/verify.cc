#include "verify.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operators.h"
#include "ropewalk/verify.h"
#include "view.h"

namespace ropewalk::python {
namespace {

// How to judge, as the command line's options say it.
VerifyOptions OptionsOf(const std::string& reference, bool exact,
                        std::optional<double> ulp, std::optional<double> rtol,
                        std::optional<double> atol, size_t worst,
                        bool diagnose) {
  VerifyOptions options;
  if (reference == "contract") {
    options.reference = Reference::kContract;
  } else if (reference == "eager-bf16") {
    options.reference = Reference::kEagerBF16;
  } else if (reference == "eager-fp16") {
    options.reference = Reference::kEagerFP16;
  } else if (reference != "exact") {
    throw nb::value_error(("[verify] reference: must be exact, contract, "
                           "eager-bf16 or eager-fp16, but is " +
                           reference)
                              .c_str());
  }
  const bool tolerance = rtol.has_value() || atol.has_value();
  if (static_cast<int>(exact) + static_cast<int>(ulp.has_value()) +
          static_cast<int>(tolerance) >
      1) {
    throw nb::value_error(
        "[verify] limit: exact, ulp, and rtol with atol exclude each other");
  }
  Limit& limit = options.limit;
  if (exact) limit.kind = Limit::Kind::kBits;
  if (ulp.has_value()) limit = {Limit::Kind::kUlp, *ulp, 0, 0};
  if (tolerance) {
    limit = {Limit::Kind::kTolerance, 0, rtol.value_or(0), atol.value_or(0)};
  }
  options.worst = worst;
  options.diagnose = diagnose;
  return options;
}

nb::object Number(double value) {
  if (!std::isfinite(value)) return nb::none();
  return nb::float_(value);
}

nb::dict OutputDict(const OutputReport& output) {
  nb::dict dict;
  dict["ok"] = output.ok;
  dict["max_ulp"] = Number(output.max_ulp);
  dict["mean_ulp"] = Number(output.mean_ulp);
  dict["max_abs"] = Number(output.max_abs);
  dict["mean_abs"] = Number(output.mean_abs);
  dict["correctly_rounded"] = output.correctly_rounded;
  dict["elements"] = output.elements;
  dict["outside"] = output.outside;
  dict["nan_mismatches"] = output.nan_mismatches;
  dict["inf_mismatches"] = output.inf_mismatches;
  nb::list worst;
  nb::list errors;
  for (const WorstError& error : output.worst) {
    worst.append(nb::cast(error.index));
    nb::dict one;
    one["ulp"] = Number(error.ulp);
    one["got"] = Number(error.got);
    one["want"] = Number(error.want);
    one["position"] = error.position;
    one["head"] = error.head;
    one["column"] = error.column;
    errors.append(one);
  }
  dict["worst"] = worst;
  dict["worst_errors"] = errors;
  return dict;
}

nb::dict CauseDict(const Cause& cause) {
  nb::dict dict;
  dict["cause"] = cause.id;
  dict["explains"] = cause.explains;
  dict["outputs"] = nb::cast(cause.outputs);
  if (!cause.detail.empty()) dict["detail"] = cause.detail;
  if (!cause.with.empty()) dict["with"] = cause.with;
  dict["fit_before"] = cause.fit_before;
  dict["fit_after"] = cause.fit_after;
  return dict;
}

template <class Call>
nb::dict Judge(const Call& call, const VerifyOptions& options) {
  Result<VerifyReport> report = [&] {
    const nb::gil_scoped_release released;
    return Verify(call, options);
  }();
  RaiseIfRefused(report.status());
  nb::dict dict;
  dict["ok"] = report->ok;
  nb::dict outputs;
  for (const OutputReport& output : report->outputs) {
    outputs[output.name.c_str()] = OutputDict(output);
  }
  dict["outputs"] = outputs;
  nb::list diagnosis;
  for (const Cause& cause : report->diagnosis) {
    diagnosis.append(CauseDict(cause));
  }
  dict["diagnosis"] = diagnosis;
  return dict;
}

std::optional<ConstTensor> Tensor(const std::optional<View>& view) {
  if (!view.has_value()) return std::nullopt;
  return ConstTensor(*view);
}

nb::dict VerifyRotateView(nb::handle x, nb::handle cos, nb::handle sin,
                          nb::handle y, const char* pairing,
                          const Columns& slice, const std::string& reference,
                          bool exact, std::optional<double> ulp,
                          std::optional<double> rtol,
                          std::optional<double> atol, size_t worst,
                          bool diagnose) {
  const View vx = ReadView("[verify] x", x);
  const View vcos = ReadView("[verify] cos", cos);
  const View vsin = ReadView("[verify] sin", sin);
  const View vy = ReadView("[verify] y", y);
  return Judge(VerifyRotateCall{RotateOptionsOf("verify", pairing, slice), vx,
                                vcos, vsin, vy},
               OptionsOf(reference, exact, ulp, rtol, atol, worst, diagnose));
}

nb::dict VerifyBackwardView(nb::handle dy, nb::handle cos, nb::handle sin,
                            nb::handle x, nb::handle dx, nb::handle dcos,
                            nb::handle dsin, const char* pairing,
                            const Columns& slice, const std::string& reference,
                            bool exact, std::optional<double> ulp,
                            std::optional<double> rtol,
                            std::optional<double> atol, size_t worst,
                            bool diagnose) {
  const View vdy = ReadView("[verify] dy", dy);
  const View vcos = ReadView("[verify] cos", cos);
  const View vsin = ReadView("[verify] sin", sin);
  const auto vx = ReadOptional("[verify] x", x);
  const auto vdx = ReadOptional("[verify] dx", dx);
  const auto vdcos = ReadOptional("[verify] dcos", dcos);
  const auto vdsin = ReadOptional("[verify] dsin", dsin);
  return Judge(VerifyBackwardCall{RotateOptionsOf("verify", pairing, slice),
                                  vdy, vcos, vsin, Tensor(vx), Tensor(vdx),
                                  Tensor(vdcos), Tensor(vdsin)},
               OptionsOf(reference, exact, ulp, rtol, atol, worst, diagnose));
}

nb::dict VerifyCachedView(
    nb::handle positions, nb::handle cache, nb::handle query, nb::handle key,
    nb::handle query_out, nb::handle key_out, int64_t head_size,
    const char* style, const std::optional<std::vector<int64_t>>& sections,
    const char* axes, bool backward, const std::string& reference, bool exact,
    std::optional<double> ulp, std::optional<double> rtol,
    std::optional<double> atol, size_t worst, bool diagnose) {
  const View vpositions = ReadView("[verify] positions", positions);
  const View vcache = ReadView("[verify] cache", cache);
  const View vquery = ReadView("[verify] query", query);
  const auto vkey = ReadOptional("[verify] key", key);
  const auto vquery_out = ReadOptional("[verify] query", query_out);
  const auto vkey_out = ReadOptional("[verify] key", key_out);
  return Judge(VerifyCachedCall{CachedOptionsOf(head_size, style, sections,
                                                axes, backward),
                                vpositions, vcache, vquery, Tensor(vkey),
                                Tensor(vquery_out), Tensor(vkey_out)},
               OptionsOf(reference, exact, ulp, rtol, atol, worst, diagnose));
}

}  // namespace

void BindVerify(nb::module_& module) {
  module.def("verify_rotate", &VerifyRotateView, nb::kw_only(), nb::arg("x"),
             nb::arg("cos"), nb::arg("sin"), nb::arg("y"), nb::arg("pairing"),
             nb::arg("slice") = nb::none(), nb::arg("reference") = "exact",
             nb::arg("exact") = false, nb::arg("ulp") = nb::none(),
             nb::arg("rtol") = nb::none(), nb::arg("atol") = nb::none(),
             nb::arg("worst") = 5, nb::arg("diagnose") = true,
             "The report on a result of rotate.");
  module.def("verify_backward", &VerifyBackwardView, nb::kw_only(),
             nb::arg("dy"), nb::arg("cos"), nb::arg("sin"),
             nb::arg("x") = nb::none(), nb::arg("dx") = nb::none(),
             nb::arg("dcos") = nb::none(), nb::arg("dsin") = nb::none(),
             nb::arg("pairing"), nb::arg("slice") = nb::none(),
             nb::arg("reference") = "exact", nb::arg("exact") = false,
             nb::arg("ulp") = nb::none(), nb::arg("rtol") = nb::none(),
             nb::arg("atol") = nb::none(), nb::arg("worst") = 5,
             nb::arg("diagnose") = true,
             "The report on results of rotate_backward.");
  module.def(
      "verify_cached", &VerifyCachedView, nb::kw_only(), nb::arg("positions"),
      nb::arg("cache"), nb::arg("query"), nb::arg("key") = nb::none(),
      nb::arg("query_out") = nb::none(), nb::arg("key_out") = nb::none(),
      nb::arg("head_size"), nb::arg("style"), nb::arg("sections") = nb::none(),
      nb::arg("axes") = "segmented", nb::arg("backward") = false,
      nb::arg("reference") = "exact", nb::arg("exact") = false,
      nb::arg("ulp") = nb::none(), nb::arg("rtol") = nb::none(),
      nb::arg("atol") = nb::none(), nb::arg("worst") = 5,
      nb::arg("diagnose") = true, "The report on results of rotate_cached.");
}

}  // namespace ropewalk::python
