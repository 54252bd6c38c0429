set(APP_SOURCES
  app/api_description.cpp
  app/autoload.cpp
  app/http_routes.cpp
  app/ports_file.cpp
  app/runtime_host.cpp
  app/server.cpp
  app/transports.cpp)
