# rkllm_mcp_embed(target NAME symbol FILE file): compiles a text file into `target` as
#   namespace rkllm_mcp { extern const std::string_view <symbol>; }  in "embedded/<symbol>.hpp".
function(rkllm_mcp_embed target)
  cmake_parse_arguments(EMBED "" "NAME;FILE" "" ${ARGN})
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  get_filename_component(file ${EMBED_FILE} ABSOLUTE)
  set(header "#pragma once\n#include <string_view>\nnamespace rkllm_mcp {\nextern const std::string_view ${EMBED_NAME};\n}\n")
  file(GENERATE OUTPUT ${dir}/${EMBED_NAME}.hpp CONTENT "${header}")
  add_custom_command(
    OUTPUT ${dir}/${EMBED_NAME}.cpp
    COMMAND ${CMAKE_COMMAND} -DSYMBOL=${EMBED_NAME} -DINPUT=${file} -DOUTPUT=${dir}/${EMBED_NAME}.cpp
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake)
  target_sources(${target} PRIVATE ${dir}/${EMBED_NAME}.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
