#include "cli/program.h"

int main(int argc, char** argv) {
  return ropewalk::cli::RunProgram(argc, argv);
}
