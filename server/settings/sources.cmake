set(SETTINGS_SOURCES
  settings/assign.cpp
  settings/document.cpp
  settings/load.cpp
  settings/location.cpp
  settings/setting.cpp
  settings/settings_schema.cpp
  settings/table.cpp)
