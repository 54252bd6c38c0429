set(WATCH_SOURCES
  watch/board.cpp
  watch/metrics.cpp
  watch/watched_backend.cpp)
