#include "view.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ropewalk::python {
namespace {

namespace dl = nb::dlpack;

// DLPack's function table for borrowing tensors from Python objects, version 1.
// A borrowed tensor has no owner: it is good as long as the object is.
struct ExchangeApi {
  struct {
    uint32_t major, minor;
  } version;
  const void* previous;
  const void* unused[3];
  int (*borrow)(void* object, nb::dlpack::dltensor* out);  // may be null
  const void* current_work_stream;
};

// The type of the last borrowed tensor: calls come with the same type again and
// again.
PyTypeObject* last_type = nullptr;
const ExchangeApi* last_api = nullptr;

const ExchangeApi* LastExchangeApi(nb::handle object) {
  return Py_TYPE(object.ptr()) == last_type ? last_api : nullptr;
}

// The table of an object's type, or null.
const ExchangeApi* FindExchangeApi(nb::handle object) {
  PyTypeObject* type = Py_TYPE(object.ptr());
  const nb::object capsule =
      nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)),
                  "__dlpack_c_exchange_api__", nb::none());
  if (capsule.is_none()) return nullptr;
  const void* pointer =
      PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api");
  const auto* api = static_cast<const ExchangeApi*>(pointer);
  if (api == nullptr) nb::raise_python_error();
  if (api->version.major != 1 || api->borrow == nullptr) return nullptr;
  // Kept, so that the address is never another type's.
  Py_INCREF(reinterpret_cast<PyObject*>(type));
  last_type = type;
  last_api = api;
  return api;
}

struct DtypePair {
  Dtype dtype;
  dl::dtype dlpack;
};
constexpr dl::dtype Code(dl::dtype_code code, uint8_t bits) {
  return {static_cast<uint8_t>(code), bits, 1};
}
constexpr DtypePair kDtypes[] = {
    {Dtype::kF32, Code(dl::dtype_code::Float, 32)},
    {Dtype::kF16, Code(dl::dtype_code::Float, 16)},
    {Dtype::kBF16, Code(dl::dtype_code::Bfloat, 16)},
    {Dtype::kF64, Code(dl::dtype_code::Float, 64)},
    {Dtype::kI32, Code(dl::dtype_code::Int, 32)},
    {Dtype::kI64, Code(dl::dtype_code::Int, 64)},
};

Dtype FromDlpackDtype(dl::dtype dtype) {
  for (const DtypePair& pair : kDtypes) {
    if (pair.dlpack == dtype) return pair.dtype;
  }
  throw nb::type_error(
      "dtype must be f32, bf16, f16 or f64 (positions: i64 or i32), but is "
      "another");
}

const DtypePair& FindDtype(const std::string& name) {
  for (const DtypePair& pair : kDtypes) {
    if (name == DtypeName(pair.dtype)) return pair;
  }
  throw nb::type_error(
      ("dtype must be f32, bf16, f16, f64, i32 or i64, but is " + name)
          .c_str());
}

// A rank that is too high is kept, for the operator to refuse.
void SetShape(TensorDesc& desc, int rank, const int64_t* shape,
              const int64_t* strides) {
  if (strides == nullptr) {
    const Dtype dtype = desc.dtype;
    desc = TensorDesc::Contiguous(
        dtype, std::span<const int64_t>(shape, static_cast<size_t>(rank)));
    return;
  }
  desc.rank = rank;
  const int kept = std::min(rank, kMaxRank);
  std::copy_n(shape, kept, desc.shape);
  std::copy_n(strides, kept, desc.strides);
}

View FromDlpack(const dl::dltensor& tensor) {
  if (tensor.device.device_type != nb::device::cpu::value) {
    throw nb::value_error("must be in the memory of the CPU, but is not");
  }
  View view;
  view.desc.dtype = FromDlpackDtype(tensor.dtype);
  SetShape(view.desc, tensor.ndim, tensor.shape, tensor.strides);
  if (tensor.data != nullptr) {
    view.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  }
  return view;
}

View Borrow(const ExchangeApi& api, nb::handle object) {
  dl::dltensor tensor;
  if (api.borrow(object.ptr(), &tensor) != 0) {
    PyErr_Clear();  // it speaks of DLPack, which the caller did not
    throw nb::value_error("must be a dense tensor in the memory of the CPU");
  }
  return FromDlpack(tensor);
}

// Of an array by the buffer protocol or by DLPack; never of a copy. `dtype`
// says what 16-bit numbers mean that neither protocol can name.
template <class Array>
View FromArray(nb::handle object, const std::optional<std::string>& dtype) {
  Array array;
  if (!nb::try_cast(object, array, /*convert=*/false)) {
    throw nb::type_error("must be an array that can be read in place");
  }
  std::vector<int64_t> shape(array.ndim());
  std::vector<int64_t> strides(array.ndim());
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape[i] = static_cast<int64_t>(array.shape(i));
    strides[i] = array.stride(i);
  }
  dl::dltensor tensor = {};
  tensor.data = const_cast<void*>(static_cast<const void*>(array.data()));
  tensor.device = {array.device_type(), array.device_id()};
  tensor.ndim = static_cast<int32_t>(array.ndim());
  tensor.dtype = array.dtype();
  tensor.shape = shape.data();
  tensor.strides = strides.data();
  if (dtype.has_value() && tensor.dtype == nb::dtype<uint16_t>()) {
    tensor.dtype = FindDtype(*dtype).dlpack;
  }
  View view = FromDlpack(tensor);
  view.owner = nb::cast(array);  // keeps what the producer has to free
  return view;
}

View At(size_t address, const std::string& dtype,
        const std::vector<int64_t>& shape,
        const std::vector<int64_t>& strides) {
  View view;
  view.desc.dtype = FindDtype(dtype).dtype;
  if (shape.size() != strides.size()) {
    throw nb::value_error("shape and strides must have one length");
  }
  SetShape(view.desc, static_cast<int>(shape.size()), shape.data(),
           strides.data());
  view.data = reinterpret_cast<void*>(address);
  return view;
}

nb::typed<nb::tuple, int, nb::ellipsis> ShapeOf(const View& view) {
  nb::list shape;
  for (int i = 0; i < std::min(view.desc.rank, kMaxRank); ++i) {
    shape.append(view.desc.shape[i]);
  }
  return nb::typed<nb::tuple, int, nb::ellipsis>(nb::tuple(shape));
}

// Errors name the argument, as the library's do.
template <class Body>
View Named(const char* name, Body body) {
  try {
    return body();
  } catch (const nb::builtin_exception& error) {
    throw nb::builtin_exception(
        error.type(), (std::string(name) + ": " + error.what()).c_str());
  }
}

}  // namespace

View ReadView(const char* name, nb::handle argument) {
  const ExchangeApi* api = LastExchangeApi(argument);
  View* view = nullptr;
  if (api == nullptr && nb::try_cast(argument, view, /*convert=*/false) &&
      view != nullptr) {
    return *view;
  }
  return Named(name, [&] {
    if (api == nullptr) api = FindExchangeApi(argument);
    if (api == nullptr) throw nb::type_error("must be a tensor");
    return Borrow(*api, argument);
  });
}

std::optional<View> ReadOptional(const char* name, nb::handle argument) {
  if (argument.is_none()) return std::nullopt;
  return ReadView(name, argument);
}

void BindView(nb::module_& module) {
  nb::class_<View>(module, "View",
                   "A tensor's layout and address; no copy of it.")
      .def(
          "__init__",
          [](View* self, nb::handle array,
             const std::optional<std::string>& dtype, bool writable) {
            new (self)
                View(writable ? FromArray<nb::ndarray<>>(array, dtype)
                              : FromArray<nb::ndarray<nb::ro>>(array, dtype));
          },
          nb::arg("array"), nb::arg("dtype") = nb::none(), nb::kw_only(),
          nb::arg("writable") = false,
          "Of an array with the buffer protocol or DLPack. `dtype` names what "
          "uint16 numbers mean.")
      .def_static("at", &At, nb::arg("address"), nb::arg("dtype"),
                  nb::arg("shape"), nb::arg("strides"),
                  "Of memory that the caller keeps alive; strides count "
                  "elements.")
      .def_prop_ro("dtype",
                   [](const View& v) { return DtypeName(v.desc.dtype); })
      .def_prop_ro("shape", &ShapeOf);
}

}  // namespace ropewalk::python
