# Writes FILE, a header with the commit of SOURCE, and touches it only when that
# changed. Run at each build: cmake -DFILE= -DSOURCE= -P Commit.cmake
execute_process(
  COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
  RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT "${FILE}" CONTENT "#define ROPEWALK_COMMIT \"${commit}\"\n")
