# A default that its setting does not take stops the compiler, which says why; others do not. Run:
# cmake -DROOT=<repository> -DCOMPILER=... -DINCLUDES=<folder|folder> -DWORKPLACE=<folder> -P refused_defaults.cmake
cmake_minimum_required(VERSION 3.22)
include(${ROOT}/server/settings/defaults.cmake)
string(REPLACE "|" ";-I" includes "-I${WORKPLACE}|${INCLUDES}")

# compile(RESULT NAME VALUE): what the compiler says of the table of settings with that default; empty if it takes it.
function(compile result name value)
  set(RKLLM_MCP_DEFAULT_${name} ${value})
  rkllm_mcp_settings_defaults(${ROOT}/settings_defaults.h.in ${WORKPLACE}/settings_defaults.h)
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${includes} ${ROOT}/server/settings/table.cpp
                  RESULT_VARIABLE status ERROR_VARIABLE said)
  if(status EQUAL 0)
    set(said "")
  elseif(said STREQUAL "")
    set(said "${status}")
  endif()
  set(${result} "${said}" PARENT_SCOPE)
endfunction()

compile(said LIMITS_MAX_DEPTH 64)
if(said)
  message(FATAL_ERROR "a default that can be set is refused: ${said}")
endif()
foreach(refused "LIMITS_MAX_DEPTH|0|this default is out of the setting's range"
                "RUNTIME_ISOLATION|processes|this default is none of the setting's words")
  string(REPLACE "|" ";" refused "${refused}")
  list(GET refused 0 name)
  list(GET refused 1 value)
  list(GET refused 2 reason)
  compile(said ${name} ${value})
  if(NOT said MATCHES "${reason}")
    message(FATAL_ERROR "with the default ${name}=${value} the compiler was to say \"${reason}\", and said: ${said}")
  endif()
endforeach()
