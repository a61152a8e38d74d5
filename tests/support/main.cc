#include <gtest/gtest.h>

#include <cstdio>

#include "ropewalk/targets.h"
#include "support/random.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::printf("seed %llu (ROPEWALK_TEST_SEED sets it); targets:",
              static_cast<unsigned long long>(ropewalk::test::Seed()));
  for (const std::string& name : ropewalk::UsableTargets()) {
    std::printf(" %s", name.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return RUN_ALL_TESTS();
}
