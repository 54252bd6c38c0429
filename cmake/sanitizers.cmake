# RKLLM_MCP_SANITIZE=address,undefined (or thread) instruments everything, the simulator included.
set(sanitizer_options "")
if(RKLLM_MCP_SANITIZE)
  set(sanitizer_options -fsanitize=${RKLLM_MCP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC's check of types asks the system whether an object's memory can be read, by a pipe, and remembers some answers. So
  # it takes a sound object for a wrong one where no more files may be opened, which some tests are about.
  if(RKLLM_MCP_SANITIZE MATCHES "undefined")
    list(APPEND sanitizer_options -fno-sanitize=vptr)
  endif()
  add_compile_options(${sanitizer_options})
  # asio uses fences, which the thread sanitizer of GCC 12 does not model and warns about; asio's mutexes suffice here.
  if(RKLLM_MCP_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
  add_link_options(-fsanitize=${RKLLM_MCP_SANITIZE})
  # Tests start thousands of programs. With debug code in them, what a program that may lie anywhere does to find its own
  # 370,000 addresses is a sixth of the time that it takes to start. The thread sanitizer and libFuzzer want such programs.
  if(RKLLM_MCP_SANITIZE MATCHES "address" AND NOT RKLLM_MCP_FUZZ)
    add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()

# For code that never looks at memory as another type than it has: without what UBSan asks at each use of a pointer. What
# that would find, the address sanitizer finds where it matters; and it takes a third of the time that compiling takes.
set(options_for_pointers "")
if(RKLLM_MCP_SANITIZE STREQUAL "address,undefined")
  set(options_for_pointers -fno-sanitize=null,alignment,pointer-overflow)
endif()
macro(rkllm_mcp_ask_less_of_pointers)
  add_compile_options(${options_for_pointers})
endmacro()
