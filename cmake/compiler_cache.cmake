# Compilers are asked through ccache where it is installed, unless the user has named a launcher. Clones of the
# repository share what it keeps: paths below the clone's root count as relative to it, and __FILE__ is, so that nothing
# of where the clone lies reaches what is compiled.
option(RKLLM_MCP_COMPILER_CACHE "Compile through ccache, if it is installed" ON)
find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(NOT RKLLM_MCP_COMPILER_CACHE OR NOT CCACHE_PROGRAM OR CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
    ${CCACHE_PROGRAM})
set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
