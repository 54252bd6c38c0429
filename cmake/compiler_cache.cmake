# Compilers are asked through ccache where it is installed, unless the user has named a launcher. Clones of the
# repository share what it keeps: paths below the clone's root count as relative to it, and __FILE__ is, so that nothing
# of where the clone lies reaches what is compiled.
# With TESTS only what tests are made of goes there, which the presets ci and asan share: to put into the cache what nobody
# takes out of it costs half a second a file.
set(RKLLM_MCP_COMPILER_CACHE ON CACHE STRING "Compile through ccache, if it is installed: ON, OFF or TESTS")
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(NOT RKLLM_MCP_COMPILER_CACHE OR NOT CCACHE_PROGRAM OR CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
set(launcher_for_tests
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
    ${CCACHE_PROGRAM})
if(NOT RKLLM_MCP_COMPILER_CACHE STREQUAL "TESTS")
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher_for_tests})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher_for_tests})
endif()
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
