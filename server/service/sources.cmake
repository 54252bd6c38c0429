set(SERVICE_SOURCES
  service/handed_sockets.cpp
  service/supervisor.cpp)
