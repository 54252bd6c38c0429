set(WATCH_SOURCES
  watch/board.cpp
  watch/handle_watch.cpp
  watch/metrics.cpp
  watch/watched_backend.cpp)
