set(LIBRARY_SOURCES
  library/elf_file.cpp
  library/library_engine.cpp
  library/library_file.cpp
  library/loaded_library.cpp
  library/run_sink.cpp
  library/standard_error_tap.cpp)
