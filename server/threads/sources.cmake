set(THREADS_SOURCES
  threads/fair_threads.cpp
  threads/stop_signal.cpp)
# <linux/tcp.h>, which alone knows how many bytes have come, and <netinet/tcp.h> cannot be in one piece.
set_source_files_properties(threads/stop_signal.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
