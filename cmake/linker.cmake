# Programs of tests are many and large: mold links one in a fifth of the time, where it is installed and the compiler knows
# it. What is released is linked by what the system has for that.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR CMAKE_CROSSCOMPILING)
  return()
endif()
if(MOLD_PROGRAM AND NOT EXISTS "${MOLD_PROGRAM}")  # it has been removed since
  unset(MOLD_PROGRAM CACHE)
endif()
find_program(MOLD_PROGRAM mold)
if(MOLD_PROGRAM)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold RKLLM_MCP_HAS_MOLD)
  if(RKLLM_MCP_HAS_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
