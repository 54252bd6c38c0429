set(WORKER_SOURCES
  worker/descriptor.cpp
  worker/worker_engine.cpp
  worker/worker_line.cpp
  worker/worker_log.cpp
  worker/worker_model.cpp
  worker/worker_process.cpp
  worker/workplace.cpp)
