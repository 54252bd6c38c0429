# From 128 megabytes on GCC looks for garbage each time that what it holds has doubled, which is a tenth of the time that
# compiling takes. Where there is memory for it, it begins later; a compiler takes up to 1.3 gigabytes then, and 1.0 otherwise.
cmake_host_system_information(RESULT megabytes QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
if(NOT processors)
  set(processors 1)
endif()
math(EXPR megabytes_each "${megabytes} / ${processors}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND megabytes_each GREATER_EQUAL 4000)
  add_compile_options(--param=ggc-min-expand=300 --param=ggc-min-heapsize=1000000)
endif()
