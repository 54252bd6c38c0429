set(BACKEND_SOURCES
  backend/library_engine.cpp
  backend/library_file.cpp
  backend/loaded_library.cpp
  backend/queued_backend.cpp
  backend/run_sink.cpp
  backend/runner.cpp
  backend/unavailable_backend.cpp)
