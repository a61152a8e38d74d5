// Prints the table of rules for docs/aclnn.md.

#include <cstdio>

#include "rules.h"

int main() {
  std::fputs(ropewalk_aclnn::RulesAsMarkdown().c_str(), stdout);
  return 0;
}
