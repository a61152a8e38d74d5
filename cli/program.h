// The program `ropewalk` as a function.

#ifndef ROPEWALK_CLI_PROGRAM_H_
#define ROPEWALK_CLI_PROGRAM_H_

namespace ropewalk::cli {

/// Does what the arguments say and returns the exit code: 0, or with one line
/// on standard error 1 for bad data, 2 for bad usage. verify has its own: 0 for
/// a result within its limit, 1 for one outside, 2 for all else. Throws
/// nothing.
int RunProgram(int argc, char** argv);

}  // namespace ropewalk::cli

#endif  // ROPEWALK_CLI_PROGRAM_H_
