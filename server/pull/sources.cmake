set(PULL_SOURCES
  pull/download.cpp
  pull/hub.cpp
  pull/model_file_name.cpp
  pull/model_source.cpp
  pull/part_file.cpp
  pull/pull.cpp
  pull/web_get.cpp)
