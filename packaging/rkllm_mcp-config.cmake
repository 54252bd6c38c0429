# find_package(rkllm_mcp [COMPONENTS bindings runtime simulator]); without COMPONENTS: the bindings.
#
#   rkllm_mcp::bindings   the generated bindings and what they lean on, headers only (also: rkllm_mcp::headers)
#   rkllm_mcp::runtime    the runtime library, for servers of your own
#   rkllm_mcp::simulator  librkllm_sim.so and its rkllm.h
include(CMakeFindDependencyMacro)

if(NOT rkllm_mcp_FIND_COMPONENTS)
  set(rkllm_mcp_FIND_COMPONENTS bindings)
  set(rkllm_mcp_FIND_REQUIRED_bindings TRUE)
endif()
set(_rkllm_mcp_wanted ${rkllm_mcp_FIND_COMPONENTS})
if("runtime" IN_LIST _rkllm_mcp_wanted)
  list(PREPEND _rkllm_mcp_wanted bindings)  # the runtime library is made with them
  list(REMOVE_DUPLICATES _rkllm_mcp_wanted)
endif()

foreach(_rkllm_mcp_component IN LISTS _rkllm_mcp_wanted)
  if(NOT EXISTS ${CMAKE_CURRENT_LIST_DIR}/rkllm_mcp-${_rkllm_mcp_component}.cmake)
    continue()  # not installed, or no such component
  endif()
  if(_rkllm_mcp_component STREQUAL "bindings")
    find_dependency(nlohmann_json 3.10)
  elseif(_rkllm_mcp_component STREQUAL "runtime")
    find_dependency(Threads)
    find_dependency(OpenSSL 1.1.1)
    list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
    find_dependency(Asio 1.18)
    list(POP_FRONT CMAKE_MODULE_PATH)
  endif()
  include(${CMAKE_CURRENT_LIST_DIR}/rkllm_mcp-${_rkllm_mcp_component}.cmake)
  set(rkllm_mcp_${_rkllm_mcp_component}_FOUND TRUE)
endforeach()

if(TARGET rkllm_mcp::bindings AND NOT TARGET rkllm_mcp::headers)
  add_library(rkllm_mcp::headers ALIAS rkllm_mcp::bindings)
endif()
foreach(_rkllm_mcp_component IN LISTS rkllm_mcp_FIND_COMPONENTS)
  if(rkllm_mcp_FIND_REQUIRED_${_rkllm_mcp_component} AND NOT rkllm_mcp_${_rkllm_mcp_component}_FOUND)
    set(rkllm_mcp_FOUND FALSE)
    string(APPEND rkllm_mcp_NOT_FOUND_MESSAGE "the component ${_rkllm_mcp_component} is not installed. ")
  endif()
endforeach()
