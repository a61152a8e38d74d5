# ropewalk_aclnn::ropewalk_aclnn: the aclnn API on any CPU.
include(${CMAKE_CURRENT_LIST_DIR}/ropewalk_aclnn-targets.cmake)
