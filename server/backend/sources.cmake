set(BACKEND_SOURCES
  backend/library_file.cpp
  backend/loaded_library.cpp
  backend/local_backend.cpp
  backend/run_sink.cpp
  backend/runner.cpp
  backend/unavailable_backend.cpp)
