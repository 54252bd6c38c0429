# Who may include whom. Run: cmake -DROOT=<repository> -P include_directions.cmake; fails naming every wrong line.
#
#   include    nothing of ours but itself
#   generated  include
#   runtime    itself, and of include/ what knows no C binding
#   server     everything but generator and simulator
#   generator, simulator   nothing but themselves (the simulator: also the headers that it implements)
cmake_minimum_required(VERSION 3.22)

set(runtime_may_use "errors|method|json|base64|array_encoding|result_sink|nearest_name|tensor")

set(wrong "")
function(forbid folder pattern why)
  file(GLOB_RECURSE files ${ROOT}/${folder}/*.hpp ${ROOT}/${folder}/*.cpp ${ROOT}/${folder}/*.h ${ROOT}/${folder}/*.c)
  foreach(file IN LISTS files)
    file(STRINGS ${file} includes REGEX "^#include")
    foreach(line IN LISTS includes)
      if(line MATCHES "${pattern}")
        if(ARGC GREATER 3 AND line MATCHES "${ARGV3}")
          continue()
        endif()
        file(RELATIVE_PATH name ${ROOT} ${file})
        set(wrong "${wrong}${name}: ${line}\n    ${why}\n")
      endif()
    endforeach()
  endforeach()
  set(wrong "${wrong}" PARENT_SCOPE)
endfunction()

forbid(include "rkllm_mcp/v[0-9]" "include/ must not depend on generated code")
forbid(include "asio|\"(text|transport|stream|jsonrpc|call|direct|mcp|dispatch|client|settings|backend|app|cli)/" "include/ stands on nothing of ours")
forbid(generated "asio|\"(text|transport|stream|jsonrpc|call|direct|mcp|dispatch|client|settings|backend|app|cli)/" "generated code leans on include/ only")
forbid(runtime "<rkllm_mcp/" "runtime/ knows no binding" "<rkllm_mcp/(${runtime_may_use})\\.hpp>")
forbid(runtime "\"(settings|backend|app|cli)/" "runtime/ must not depend on server/")
# Inside runtime/, lowest first: text; auth, transport and stream; jsonrpc; call; direct and mcp; dispatch.
forbid(runtime/text "\"(auth|transport|stream|jsonrpc|call|direct|mcp|dispatch)/" "text/ is the lowest layer")
forbid(runtime/transport "\"(stream|jsonrpc|call|direct|mcp|dispatch)/" "transports know no messages")
forbid(runtime/stream "\"(transport|jsonrpc|call|direct|mcp|dispatch)/" "streams know neither clients nor messages")
forbid(runtime/jsonrpc "\"(call|direct|mcp|dispatch)/" "messages know no calls")
forbid(runtime/auth "\"(transport|stream|jsonrpc|call|direct|mcp|dispatch)/" "tokens know nothing of what they open")
forbid(runtime/call "\"(direct|mcp|dispatch)/" "calls know no dialect")
forbid(runtime/direct "\"(mcp|dispatch)/" "dialects do not know who chooses them")
forbid(runtime/mcp "\"(direct|dispatch)/" "dialects know neither each other nor who chooses them")
forbid(server "generator/|simulator/" "server/ must not depend on generator/ or simulator/")
forbid(generator "rkllm_mcp/|\"(text|transport|stream|jsonrpc|call|direct|mcp|dispatch|client|settings|backend|app|cli)/" "generator/ stands alone")
forbid(simulator "rkllm_mcp/|\"(text|transport|stream|jsonrpc|call|direct|mcp|dispatch|client|settings|backend|app|cli)/" "simulator/ stands alone")

if(NOT wrong STREQUAL "")
  message(FATAL_ERROR "includes against the layers:\n${wrong}")
endif()
