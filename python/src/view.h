// Tensors that come from Python, as the library describes them.

#ifndef ROPEWALK_PYTHON_SRC_VIEW_H_
#define ROPEWALK_PYTHON_SRC_VIEW_H_

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>

#include "ropewalk/tensor.h"

namespace ropewalk::python {

namespace nb = nanobind;

/// A tensor's layout and address. What it is made of stays alive as long as it.
struct View {
  TensorDesc desc;
  void* data = nullptr;
  nb::object owner;  ///< may be null

  operator ConstTensor() const { return {desc, data}; }
  operator Tensor() const { return {desc, data}; }
};

/// Reads an argument of an operator: a View, or an object whose type has
/// DLPack's `__dlpack_c_exchange_api__`, as torch.Tensor has, whose memory is
/// then borrowed without a call into Python. Throws TypeError for all else,
/// ValueError for memory that is not the CPU's.
View ReadView(const char* name, nb::handle argument);

/// The same, but None is nothing.
std::optional<View> ReadOptional(const char* name, nb::handle argument);

/// Adds the class View to the module.
void BindView(nb::module_& module);

}  // namespace ropewalk::python

#endif  // ROPEWALK_PYTHON_SRC_VIEW_H_
