# Builds one program as the preset `release` does, and reads from its file that it is hardened. Run:
#   cmake -DSOURCE=... -DGENERATOR=... -DCOMPILER=... -DREADELF=... -DPLACE=... -P hardened.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PLACE})
file(WRITE ${PLACE}/CMakeLists.txt "
cmake_minimum_required(VERSION 3.22)
project(hardened LANGUAGES CXX)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(${SOURCE}/cmake/hardening.cmake)
add_executable(hardened main.cpp)
")
# An array on the stack, and a copy whose length the compiler cannot check but the library can.
file(WRITE ${PLACE}/main.cpp "
#include <cstring>
int main(int count, char** words) {
  char copy[64];
  std::strcpy(copy, words[count - 1]);
  return copy[count];
}
")
run(COMMAND ${CMAKE_COMMAND} -S ${PLACE} -B ${PLACE}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
            -DCMAKE_BUILD_TYPE=Release -DRKLLM_MCP_HARDEN=ON)
run(COMMAND ${CMAKE_COMMAND} --build ${PLACE}/build)

run(COMMAND ${READELF} --wide --file-header --dynamic --segments --dyn-syms ${PLACE}/build/hardened
    EXPECT "Position-Independent Executable")
foreach(wanted "GNU_RELRO" "BIND_NOW" "__stack_chk_fail" "__strcpy_chk")
  if(NOT output MATCHES "${wanted}")
    message(FATAL_ERROR "no ${wanted} in:\n${output}")
  endif()
endforeach()
if(output MATCHES "GNU_STACK[^\n]* RWE ")
  message(FATAL_ERROR "the stack can be executed:\n${output}")
endif()
