# Who may include whom. Run: cmake -DROOT=<repository> -P include_directions.cmake; fails naming every wrong line.
#
#   include    nothing of ours but itself
#   generated  include
#   runtime    itself, and of include/ what knows no C binding
#   server     everything but generator and simulator
#   generator, simulator   nothing but themselves (the simulator: also the headers that it implements)
#
# Below that, each folder of runtime/ and server/ is listed with the folders that it may use. A folder that is not listed
# here is an error: whoever adds one says where it stands. docs/architecture.md shows the same as a picture.
cmake_minimum_required(VERSION 3.22)

set(wrong "")
set(folders_with_rules "")

# includes_of(RESULT FOLDER RECURSE|NO_RECURSE): the #include lines of the files in FOLDER, each as FILE|LINE.
function(includes_of result folder depth)
  set(found "")
  foreach(kind hpp cpp h c)
    if(depth STREQUAL "RECURSE")
      file(GLOB_RECURSE files ${ROOT}/${folder}/*.${kind})
    else()
      file(GLOB files ${ROOT}/${folder}/*.${kind})
    endif()
    foreach(file IN LISTS files)
      file(RELATIVE_PATH name ${ROOT} ${file})
      file(STRINGS ${file} lines REGEX "^#include")
      foreach(line IN LISTS lines)
        list(APPEND found "${name}|${line}")
      endforeach()
    endforeach()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

function(complain include why)
  string(REPLACE "|" ": " include "${include}")
  set(wrong "${wrong}${include}\n    ${why}\n" PARENT_SCOPE)
endfunction()

# forbid(FOLDER PATTERN WHY [EXCEPT]): no line of FOLDER may match PATTERN, unless it matches EXCEPT.
function(forbid folder pattern why)
  includes_of(includes ${folder} RECURSE)
  foreach(include IN LISTS includes)
    if(include MATCHES "[|].*(${pattern})" AND NOT (ARGC GREATER 3 AND include MATCHES "${ARGV3}"))
      complain("${include}" "${why}")
    endif()
  endforeach()
  set(wrong "${wrong}" PARENT_SCOPE)
endfunction()

# folder(NAME MAY_USE FOLDER... [AND FILE...]): of our quoted includes, those in NAME name a header of these folders, of
# NAME itself, or one of these files. A header of no folder ("counts.hpp") stands at the top of runtime/ or server/; those
# of runtime/ are for everybody, those of server/ for server/.
function(folder name)
  cmake_parse_arguments(PARSE_ARGV 1 MAY "" "" "USE;AND")
  get_filename_component(own ${name} NAME)
  get_filename_component(part ${name} DIRECTORY)
  includes_of(includes ${name} RECURSE)
  foreach(include IN LISTS includes)
    if(include MATCHES "[|]#include \"([a-z_0-9]+)/([^\"]+)\"")
      set(used ${CMAKE_MATCH_1})
      if(NOT used STREQUAL own AND NOT used IN_LIST MAY_USE AND NOT "${used}/${CMAKE_MATCH_2}" IN_LIST MAY_AND)
        set(allowed ${own} ${MAY_USE} ${MAY_AND})
        list(JOIN allowed ", " allowed)
        complain("${include}" "${name}/ may use ${allowed} only")
      endif()
    elseif(part STREQUAL "runtime" AND include MATCHES "[|]#include \"([^/\"]+)\"")
      if(NOT EXISTS ${ROOT}/runtime/${CMAKE_MATCH_1})
        complain("${include}" "runtime/ must not depend on server/")
      endif()
    endif()
  endforeach()
  set(wrong "${wrong}" PARENT_SCOPE)
  set(folders_with_rules "${folders_with_rules};${name}" PARENT_SCOPE)
endfunction()

# --- the parts ------------------------------------------------------------------------------------------------------

set(runtime_may_use "errors|facts|method|json|base64|array_encoding|result_sink|nearest_name|lower_case|tensor")

forbid(include "rkllm_mcp/(v[0-9]|any_version)" "include/ must not depend on generated code")
forbid(include "asio|\"" "include/ stands on nothing of ours, and has no sockets")
forbid(generated "asio|\"" "generated code leans on include/ only")
forbid(runtime "<rkllm_mcp/" "runtime/ knows no binding" "<rkllm_mcp/(${runtime_may_use})\\.hpp>")
forbid(server "generator/|simulator/" "server/ must not depend on generator/ or simulator/")
forbid(generator "rkllm_mcp/|\"[a-z_0-9]+/" "generator/ stands alone" "\"(read|overlay|meaning|check|emit|compare)/")
forbid(simulator "rkllm_mcp/|\"[a-z_0-9]+/" "simulator/ stands alone" "\"(exports|engine|model|answers|board)/")

# --- inside runtime/, lowest first ----------------------------------------------------------------------------------

folder(runtime/text)
folder(runtime/auth USE text)
folder(runtime/transport USE text)
folder(runtime/stream USE text)
folder(runtime/jsonrpc USE text transport)  # a reply ends in a transport's peer
folder(runtime/call USE auth jsonrpc stream text transport)
folder(runtime/direct USE call jsonrpc)
folder(runtime/mcp USE auth call jsonrpc stream text transport)
folder(runtime/dispatch USE auth call direct jsonrpc mcp transport)
# What both sides of a connection agree on: names of MCP, and what HTTP and WebSocket are made of.
folder(runtime/client USE jsonrpc AND mcp/protocol/agreed_names.hpp transport/http/http_message.hpp
                                      transport/websocket/websocket_protocol.hpp)

# What stands at the top of runtime/ is for everybody, and so uses nobody.
includes_of(includes runtime NO_RECURSE)
foreach(include IN LISTS includes)
  if(include MATCHES "[|]#include \"[a-z_0-9]+/")
    complain("${include}" "the headers at the top of runtime/ stand on no folder of it")
  endif()
endforeach()

# --- inside server/, lowest first -----------------------------------------------------------------------------------

folder(server/defaults USE dispatch transport)
folder(server/settings USE text AND jsonrpc/bounded_json.hpp)
folder(server/service USE settings text)
folder(server/process USE text)
folder(server/threads USE process)
folder(server/backend USE jsonrpc AND mcp/catalogue.hpp)
folder(server/library USE backend process AND jsonrpc/unread.hpp)
folder(server/worker USE backend jsonrpc library process text)
folder(server/watch USE backend jsonrpc mcp text)
folder(server/upstreams USE call client mcp process text transport)
folder(server/tools USE auth mcp process settings text threads AND client/http/http_error.hpp jsonrpc/bounded_json.hpp)
folder(server/memory USE auth call client dispatch jsonrpc mcp text)
# Of the chat host only assistant/, http/ and mcp/ have a server around them. Inside, lowest first: turn; templates and tokenizer;
# answer and structured; dialects and host; assistant, http and mcp.
folder(server/chat USE auth call dispatch jsonrpc mcp text threads transport
                   AND client/http/http_error.hpp settings/document.hpp upstreams/offered.hpp)
foreach(room turn templates tokenizer answer structured dialects host)
  forbid(server/chat/${room} "asio|\"(auth|call|dispatch|mcp|settings|transport)/|\"chat/(assistant|http|mcp)/"
         "only chat/assistant, chat/http and chat/mcp have a server around them")
endforeach()
forbid(server/chat/turn "\"chat/(templates|answer|structured|dialects|host)/" "turns know no form")
forbid(server/chat/tokenizer "\"chat/(turn|templates|answer|structured|dialects|host)/" "a tokenizer knows texts and tokens")
forbid(server/chat/templates "\"chat/(answer|structured|dialects|host)/" "templates know no answers")
forbid(server/chat/answer "\"chat/(structured|dialects|host)/" "answers know no dialect")
forbid(server/chat/structured "\"chat/(templates|answer|dialects|host)/" "structure is of text alone")
forbid(server/chat/dialects "\"chat/host/" "dialects only put words around what a turn has made")
forbid(server/chat/dialects/anthropic "\"chat/dialects/(ollama|openai)/" "dialects do not know each other")
forbid(server/chat/dialects/ollama "\"chat/dialects/(anthropic|openai)/" "dialects do not know each other")
forbid(server/chat/dialects/openai "\"chat/dialects/(anthropic|ollama)/" "dialects do not know each other")
forbid(server/chat/mcp "\"(dispatch|chat/(assistant|dialects|http))/|httplib" "tools know no HTTP")
forbid(server/chat/assistant "\"chat/(dialects|http|mcp)/" "an assistant is asked by all dialects, and knows none")
forbid(server/chat/assistant/profile "\"chat/assistant/(providers/|servers/|[a-z_]+\\.)" "a profile is words and values, and asks nobody")
forbid(server/chat/assistant/providers "\"chat/assistant/(servers/|[a-z_]+\\.)" "who makes a text knows nothing of the turn around it")
forbid(server/chat/assistant/servers "\"chat/assistant/(profile/|[a-z_]+\\.)" "a server knows nothing of who asks it")
forbid(server/chat/http "\"(mcp|chat/(assistant|mcp))/" "endpoints know no tools")
forbid(server/chat/host "\"chat/dialects/" "turns are made the same for all dialects")
folder(server/models USE backend chat jsonrpc mcp stream text AND pull/model_file_name.hpp)
folder(server/page USE embedded text transport)
folder(server/pull USE text AND client/http/http_error.hpp jsonrpc/bounded_json.hpp)
folder(server/app USE auth backend call chat dispatch jsonrpc library mcp memory models page pull service settings threads
                  tools transport upstreams watch worker AND stream/token_stream.hpp text/url.hpp)
# Inside, lowest first: runtime and endpoints; services; description; what builds and ends the server of all that.
forbid(server/app/runtime "\"app/(endpoints|services|description|server|shutdown)" "a runtime knows nothing of what is built on it")
forbid(server/app/endpoints "\"app/(runtime|services|description|server|shutdown)" "an endpoint does not know what answers there")
forbid(server/app/services "\"app/(runtime|description|server|shutdown)" "services know no runtime")
forbid(server/app/description "\"app/(server|shutdown)\\." "the server tells of its parts, which do not know it")
folder(server/doctor USE app backend library settings text watch AND models/model_files.hpp pull/model_file_name.hpp
                                                               pull/hub.hpp pull/web_get.hpp)
folder(server/cli USE app client doctor memory process pull service settings text
                  AND backend/logged_errors.hpp library/program_folders.hpp jsonrpc/bounded_json.hpp models/model_files.hpp models/model_list.hpp
                      tools/html/page_reading.hpp upstreams/command_connection.hpp)

# --- every folder ---------------------------------------------------------------------------------------------------

foreach(part runtime server)
  file(GLOB children LIST_DIRECTORIES true RELATIVE ${ROOT} ${ROOT}/${part}/*)
  foreach(child IN LISTS children)
    if(IS_DIRECTORY ${ROOT}/${child} AND NOT child IN_LIST folders_with_rules)
      set(wrong "${wrong}${child}: no rule\n    say in include_directions.cmake which folders it may use\n")
    endif()
  endforeach()
endforeach()

if(NOT wrong STREQUAL "")
  message("${wrong}")
  message(FATAL_ERROR "includes against the layers, see above")
endif()
