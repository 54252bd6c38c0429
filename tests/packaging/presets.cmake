# What the presets say of warnings and hardening: a new compiler's new warning must never end a user's build.
# Run: cmake -DSOURCE=... -P presets.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

function(expect_preset preset)
  cmake_parse_arguments(EXPECTED "" "" "HAS;HAS_NOT" ${ARGN})
  execute_process(COMMAND ${CMAKE_COMMAND} --preset ${preset} -N WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  foreach(variable IN LISTS EXPECTED_HAS)
    if(NOT said MATCHES "${variable}=\"ON\"")
      message(FATAL_ERROR "${preset} has no ${variable}:\n${said}")
    endif()
  endforeach()
  foreach(variable IN LISTS EXPECTED_HAS_NOT)
    if(said MATCHES "${variable}=\"ON\"")
      message(FATAL_ERROR "${preset} has ${variable}:\n${said}")
    endif()
  endforeach()
endfunction()

expect_preset(dev HAS_NOT RKLLM_MCP_WERROR)
expect_preset(release HAS RKLLM_MCP_HARDEN HAS_NOT RKLLM_MCP_WERROR)
foreach(ours ci asan asan-generator tsan clang fuzz arm64 armhf)
  expect_preset(${ours} HAS RKLLM_MCP_WERROR)
endforeach()
