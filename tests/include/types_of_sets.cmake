# types_of_sets(FILE): writes a header that names the types of every ABI set, as generated/api/ tells them, for tests
# that are the same for each: C++ cannot list the types of a namespace. What is added there is tested without asking.
function(types_of_sets header)
  file(GLOB apis CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/generated/api/*.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${apis})
  set(each_library "")
  set(each_struct "")
  foreach(api IN LISTS apis)
    file(READ ${api} json)
    string(JSON version GET "${json}" version)
    string(REPLACE . _ namespace v${version})
    string(APPEND each_library "  visit(\"${version}\", TypeTag<${namespace}::Functions>{});\n")
    string(JSON count LENGTH "${json}" structs)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON name GET "${json}" structs ${i} name)
      string(APPEND each_struct "  visit(\"${version}\", \"${name}\", TypeTag<${namespace}::${name}>{});\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT [[
// The types of every ABI set, written by CMake from generated/api/.
#pragma once

#include <rkllm_mcp/abi_sets.hpp>

namespace rkllm_mcp::test {

template <class Visit>
void for_each_library(const Visit& visit) {
@each_library@}

template <class Visit>
void for_each_struct(const Visit& visit) {
@each_struct@}

}  // namespace rkllm_mcp::test
]])
endfunction()
