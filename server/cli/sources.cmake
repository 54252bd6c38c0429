set(CLI_SOURCES
  cli/answer_reader.cpp
  cli/call.cpp
  cli/command_line.cpp
  cli/connect.cpp
  cli/serve.cpp
  cli/settings_command.cpp)
