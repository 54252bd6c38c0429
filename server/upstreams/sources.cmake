set(UPSTREAMS_SOURCES
  upstreams/command_connection.cpp
  upstreams/offered_watch.cpp
  upstreams/upstream.cpp
  upstreams/upstream_document.cpp
  upstreams/upstream_link.cpp
  upstreams/upstream_tool.cpp
  upstreams/upstreams.cpp)
