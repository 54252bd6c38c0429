set(PROCESS_SOURCES
  process/descriptor.cpp
  process/process_output.cpp
  process/printed_lines.cpp)
