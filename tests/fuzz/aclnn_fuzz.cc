// Calls of the aclnn interface in any order, with handles that are right, gone
// or never were: each succeeds, or is refused with a message and writes
// nothing.

#include <deque>

#include "fuzz/input.h"
#include "ropewalk_acl.h"
#include "support.h"

namespace ropewalk_aclnn {
namespace {

using ropewalk::test::Input;

constexpr int kCallerFault = 161000;  // to 161999; 561000 to 561999 likewise
constexpr int64_t kScratch = 1 << 17;

// What a sequence knows of a call, and keeps alive.
struct Made {
  Arguments arguments;
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;  // null: refused
};

class Sequence {
 public:
  explicit Sequence(Input& input) : input_(input), scratch_(kScratch) {}

  void Run() {
    for (int64_t i = input_.Int(1, 30); i > 0; --i) Step();
    ropewalkAclSetProduct(nullptr);
    for (const Made& made : made_) {
      if (made.executor != nullptr) aclDestroyAclOpExecutor(made.executor);
    }
  }

 private:
  void Step() {
    switch (input_.Int(0, 11)) {
      case 0:
      case 1:
      case 2:
        return PhaseOneOfAny();
      case 3:
      case 4:
      case 5:
        return PhaseTwoOfAny();
      case 6:
        return Note(aclSetAclOpExecutorRepeatable(AnyExecutor()));
      case 7:
        return Note(aclDestroyAclOpExecutor(AnyExecutor()));
      case 8:
        return SetAddress();
      case 9:
        return Note(aclDestroyTensor(AnyTensor()));
      case 10:
        return Ask();
      default:
        ropewalkAclSetProduct(
            kProfileNames[static_cast<size_t>(input_.Int(0, 3))]);
    }
  }

  // Every refusal leaves a message.
  void Note(int status) const {
    if (status == 0) return;
    const char* message = aclGetRecentErrMsg();
    RW_MUST(message != nullptr && message[0] != '\0', std::to_string(status));
  }

  uint64_t Junk() {
    return input_.OneIn(3)   ? 0
           : input_.OneIn(2) ? input_.Bits()
                             : reinterpret_cast<uint64_t>(scratch_.data());
  }

  aclOpExecutor* AnyExecutor() {
    if (made_.empty() || input_.OneIn(10)) {
      return reinterpret_cast<aclOpExecutor*>(Junk());
    }
    return AnyMade().executor;
  }

  Made& AnyMade() {
    return made_[static_cast<size_t>(
        input_.Int(0, static_cast<int64_t>(made_.size()) - 1))];
  }

  aclTensor* AnyTensor() {
    if (made_.empty() || input_.OneIn(10)) {
      return reinterpret_cast<aclTensor*>(Junk());
    }
    const auto& tensors = AnyMade().arguments.tensors;
    const auto& tensor = tensors[static_cast<size_t>(
        input_.Int(0, static_cast<int64_t>(tensors.size()) - 1))];
    return tensor == nullptr ? nullptr : tensor->get();
  }

  // Room for any tensor of a sequence on both sides, or nothing.
  void* AnyAddress() {
    return input_.OneIn(5) ? nullptr : scratch_.data() + kScratch / 2;
  }

  // A tensor of any shape that has its memory, or has none.
  TestTensor AnyTestTensor() {
    static const std::vector<aclDataType> dtypes = {
        ACL_FLOAT, ACL_FLOAT16, ACL_BF16,        ACL_DOUBLE,
        ACL_INT64, ACL_INT32,   ACL_DT_UNDEFINED};
    Shape shape(static_cast<size_t>(input_.Int(0, input_.OneIn(9) ? 12 : 5)));
    const bool wild = input_.OneIn(3);
    for (int64_t& size : shape) {
      size = wild && input_.OneIn(3) ? input_.Wild() : input_.Int(0, 5);
    }
    const aclDataType dtype = input_.Pick(dtypes);
    if (!wild) return TestTensor(shape, dtype);
    Shape strides(shape.size());
    for (int64_t& stride : strides) stride = input_.Wild();
    TestTensor tensor(shape, strides, input_.Wild(), 0, dtype);
    aclSetRawTensorAddr(tensor.get(), nullptr);
    return tensor;
  }

  void Spoil(Arguments& a) {
    const int tensor = static_cast<int>(
        input_.Int(0, static_cast<int64_t>(a.tensors.size()) - 1));
    switch (input_.Int(0, 10)) {
      case 0:
        return a.Null(tensor);
      case 1:
      case 2:
      case 3:
        return a.Put(tensor, AnyTestTensor());
      case 4:
        a.tensors[static_cast<size_t>(tensor)] = a.tensors[0];
        return;
      case 5:
        a.mode = input_.Wild();
        return;
      case 6:
        a.layout = input_.Wild();
        return;
      case 7:
        a.head_size = input_.Wild();
        return;
      case 8:
        a.cache_mode = input_.Wild();
        return;
      case 9:
        a.rotary_mode = input_.OneIn(2) ? "interleave" : nullptr;
        return;
      default:
        a.list.emplace(static_cast<size_t>(input_.Int(0, 6)));
        for (int64_t& value : *a.list) value = input_.Wild();
    }
  }

  void PhaseOneOfAny() {
    Made made;
    made.arguments = Accepted(static_cast<Op>(input_.Int(0, kOps - 1)));
    const bool spoilt = input_.OneIn(2);
    for (int64_t i = spoilt ? input_.Int(1, 3) : 0; i > 0; --i) {
      Spoil(made.arguments);
    }
    const int status =
        PhaseOne(made.arguments, &made.workspace, &made.executor);
    Note(status);
    RW_MUST(status == 0 || status / 1000 == kCallerFault / 1000 ||
                status / 1000 == 561,
            std::to_string(status));
    RW_MUST((status == 0) == (made.executor != nullptr),
            std::to_string(status));
    made_.push_back(std::move(made));
  }

  void PhaseTwoOfAny() {
    if (made_.empty()) return;
    Made& made = AnyMade();
    const Op op = input_.OneIn(12) ? static_cast<Op>(input_.Int(0, kOps - 1))
                                   : made.arguments.op;
    aclOpExecutor* executor = input_.OneIn(12) ? AnyExecutor() : made.executor;
    std::vector<unsigned char> workspace(made.workspace);
    const bool none = input_.OneIn(12);
    std::vector<std::vector<unsigned char>> before;
    for (const auto& tensor : made.arguments.tensors) {
      before.push_back(tensor == nullptr ? std::vector<unsigned char>()
                                         : tensor->bytes());
    }
    const std::vector<unsigned char> scratch = scratch_;
    const int status = PhaseTwo(
        op, none ? nullptr : workspace.data(), none ? 0 : workspace.size(),
        executor,
        input_.OneIn(20) ? reinterpret_cast<aclrtStream>(Junk()) : nullptr);
    Note(status);
    if (status == 0) return;
    for (size_t i = 0; i < before.size(); ++i) {
      const auto& tensor = made.arguments.tensors[i];
      RW_MUST(tensor == nullptr || tensor->bytes() == before[i],
              std::string("written though refused: ") + aclGetRecentErrMsg());
    }
    RW_MUST(scratch == scratch_, aclGetRecentErrMsg());
  }

  void SetAddress() {
    const auto index = static_cast<size_t>(input_.Int(0, 11));
    aclTensor* tensor = AnyTensor();
    void* address = AnyAddress();
    switch (input_.Int(0, 3)) {
      case 0:
        return Note(
            aclSetInputTensorAddr(AnyExecutor(), index, tensor, address));
      case 1:
        return Note(
            aclSetOutputTensorAddr(AnyExecutor(), index, tensor, address));
      case 2:
        return Note(aclSetTensorAddr(AnyExecutor(), index, tensor, address));
      default:
        return Note(aclSetRawTensorAddr(tensor, address));
    }
  }

  void Ask() {
    const aclTensor* tensor = AnyTensor();
    int64_t* dims = nullptr;
    uint64_t count = 0;
    int64_t offset = 0;
    aclDataType dtype = ACL_FLOAT;
    aclFormat format = ACL_FORMAT_ND;
    void* address = nullptr;
    if (aclGetViewShape(tensor, &dims, &count) == 0) delete[] dims;
    dims = nullptr;
    if (aclGetViewStrides(tensor, &dims, &count) == 0) delete[] dims;
    (void)aclGetViewOffset(tensor, &offset);
    (void)aclGetDataType(tensor, &dtype);
    (void)aclGetFormat(tensor, &format);
    (void)aclGetRawTensorAddr(tensor, &address);
    // Of another kind.
    (void)aclDestroyIntArray(reinterpret_cast<const aclIntArray*>(tensor));
    (void)aclDestroyTensorList(reinterpret_cast<const aclTensorList*>(tensor));
  }

  Input& input_;
  std::vector<unsigned char> scratch_;
  std::deque<Made> made_;
};

}  // namespace
}  // namespace ropewalk_aclnn

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ropewalk::test::Input input(data, size);
  ropewalk_aclnn::Sequence(input).Run();
  return 0;
}
