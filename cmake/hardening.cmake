# RKLLM_MCP_HARDEN, which the preset `release` has on: what the compiler and the linker can do so that a fault of memory
# ends the process instead of obeying an attacker. What a compiler does not know is left out.
option(RKLLM_MCP_HARDEN "Build with the compiler's and the linker's hardening" OFF)
if(NOT RKLLM_MCP_HARDEN)
  return()
endif()
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

check_pie_supported(LANGUAGES CXX)  # without it, CMAKE_POSITION_INDEPENDENT_CODE does not reach the linker

set(hardening -fstack-protector-strong -fstack-clash-protection)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|i.86|AMD64)$")
  list(APPEND hardening -fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  list(APPEND hardening -mbranch-protection=standard)
endif()
foreach(flag IN LISTS hardening)
  string(MAKE_C_IDENTIFIER "has${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()

# Level 3 of _FORTIFY_SOURCE is for GCC from 12 on and Clang from 15 on. It takes optimisation.
set(fortified 3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12 OR
   CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  set(fortified 2)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortified})
endif()
add_compile_definitions(_GLIBCXX_ASSERTIONS)
add_link_options(LINKER:-z,relro LINKER:-z,now LINKER:-z,noexecstack)
