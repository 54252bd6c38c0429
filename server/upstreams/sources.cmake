set(UPSTREAMS_SOURCES
  upstreams/upstream.cpp
  upstreams/upstream_link.cpp
  upstreams/upstreams.cpp)
