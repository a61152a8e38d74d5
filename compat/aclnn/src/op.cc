#include "op.h"

#include <cctype>
#include <string_view>

namespace ropewalk_aclnn {
namespace {

constexpr OpInfo kInfos[kOps] = {
    {"aclnnRotaryPositionEmbedding",
     3,
     1,
     {"x", "cos", "sin", "out"},
     "x cos sin y",
     0,
     false,
     true},
    {"aclnnRotaryPositionEmbeddingV2",
     4,
     1,
     {"x", "cos", "sin", "rotate", "out"},
     "x cos sin rotate y",
     1u << 3,
     false,
     true},
    {"aclnnRotaryPositionEmbeddingGrad",
     4,
     3,
     {"dy", "cos", "sin", "xOptional", "dxOut", "dcosOut", "dsinOut"},
     "dy cos sin x dx dcos dsin",
     1u << 3,
     false,
     false},
    {"aclnnInplacePartialRotaryMul",
     3,
     1,
     {"xRef", "cos", "sin"},
     "x=y cos sin",
     0,
     true,
     false},
    {"aclnnInplacePartialRotaryMulGrad",
     3,
     1,
     {"dyRef", "cos", "sin"},
     "dy=dx cos sin",
     0,
     true,
     false},
    {"aclnnRopeWithSinCosCache",
     4,
     2,
     {"positions", "queryIn", "keyIn", "cosSinCache", "queryOut", "keyOut"},
     "positions query key cache query_out key_out",
     0,
     false,
     true},
    {"aclnnRopeWithSinCosCacheV2",
     4,
     2,
     {"positions", "queryIn", "keyIn", "cosSinCache", "queryOut", "keyOut"},
     "positions query key cache query_out key_out",
     0,
     false,
     true},
    {"aclnnApplyRotaryPosEmb",
     4,
     2,
     {"queryRef", "keyRef", "cos", "sin"},
     "x=y x2=y2 cos sin",
     0,
     true,
     false},
    {"aclnnApplyRotaryPosEmbV2",
     4,
     2,
     {"queryRef", "keyRef", "cos", "sin"},
     "x=y x2=y2 cos sin",
     0,
     true,
     false},
    {"aclnnApplyRotaryPosEmbGrad",
     6,
     4,
     {"gradQueryEmbed", "gradKeyEmbed", "cos", "sin", "queryOptional",
      "keyOptional", "gradQueryOut", "gradKeyOut", "gradCosOut", "gradSinOut"},
     "dy dy2 cos sin x x2 dx dx2 dcos dsin",
     1u << 4 | 1u << 5,
     false,
     false},
    {"aclnnInterleaveRope",
     3,
     1,
     {"x", "cos", "sin", "out"},
     "x cos sin y",
     0,
     false,
     false},
};

bool IsWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// The operator's name of a native name; the word itself if it is none.
std::string_view OwnName(const OpInfo& info, std::string_view word) {
  int number = 0;
  std::string_view names = info.native;
  while (!names.empty()) {
    const size_t length = names.find_first_of(" =");
    if (names.substr(0, length) == word) return info.tensors[number];
    if (length == names.npos) break;
    if (names[length] == ' ') ++number;
    names.remove_prefix(length + 1);
  }
  return word;
}

}  // namespace

const OpInfo& Info(Op op) noexcept { return kInfos[static_cast<int>(op)]; }

std::string InOwnWords(Op op, const std::string& message) {
  const OpInfo& info = Info(op);
  std::string text;
  size_t i = message.find("] ");  // "[operator] argument: ..."
  i = i == message.npos ? 0 : i + 2;
  while (i < message.size()) {
    size_t end = i;
    while (end < message.size() && IsWordPart(message[end])) ++end;
    if (end == i) {
      text += message[i++];
    } else {
      text += OwnName(info, std::string_view(message).substr(i, end - i));
      i = end;
    }
  }
  return text;
}

}  // namespace ropewalk_aclnn
