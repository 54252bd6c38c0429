# find_package(rkllm_mcp): the headers alone, as the target rkllm_mcp::headers.
include(CMakeFindDependencyMacro)
find_dependency(nlohmann_json 3.10)
include(${CMAKE_CURRENT_LIST_DIR}/rkllm_mcp-targets.cmake)
