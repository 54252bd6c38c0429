# Json::parse() takes any depth, and what is nested deeper than the stack ends the program as soon as it is copied or
# written. So it is for text that this program has written itself, or has measured before; whatever comes from anybody
# else goes through parse_bounded(). Run: cmake -DROOT=<repository> -P own_json.cmake; fails naming every mistake.
cmake_minimum_required(VERSION 3.22)

# Whose text it is.
set(listed
  runtime/dispatch/service_calls.cpp                 # the end of a tool's error, as this program writes it
  runtime/jsonrpc/message.cpp                        # an id, which is a number or a string; a member's name
  runtime/jsonrpc/message.hpp                        # an id
  runtime/mcp/protocol/state_seal.cpp                # sealed by this program
  runtime/mcp/tools/method_tools.cpp                 # schemas of the binding
  server/app/description/api_resources.cpp           # the same
  server/app/description/prompts.cpp                 # looked at and thrown away
  server/app/runtime/preset_fields.cpp               # schemas of the binding
  server/chat/dialects/openai/responses_request.cpp  # a constant
  server/chat/mcp/tool_words.cpp                     # the same
  server/chat/tokenizer/tokenizer_file.cpp           # with a callback that keeps what is wanted
  server/cli/call.cpp                                # what the command line has measured
  server/cli/tools_command.cpp                       # the same
  server/log.cpp                                     # its own message
  server/memory/answers.cpp                          # what a message, which was measured, had
  server/memory/transfer.cpp                         # the same
  server/settings/setting.cpp                        # defaults
  server/worker/served_model.cpp                     # parameters, which the server has measured
  server/worker/worker_main.cpp)                     # the server's own arguments

file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/runtime/*.?pp ${ROOT}/server/*.?pp)
set(wrong "")
foreach(file IN LISTS files)
  file(STRINGS ${ROOT}/${file} lines REGEX "Json::parse\\(")
  if(lines AND NOT file IN_LIST listed)
    set(wrong "${wrong}${file}: Json::parse() takes any depth: is it of text that nobody else has written?\n")
  endif()
  if(NOT lines AND file IN_LIST listed)
    set(wrong "${wrong}${file}: is listed, and has no Json::parse() any more\n")
  endif()
endforeach()
if(wrong)
  message("${wrong}")
  message(FATAL_ERROR "text of others is parsed without a bound, see above")
endif()
