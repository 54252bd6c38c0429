# Configures a machine that has nothing of what only the server needs. Run like without_libclang.cmake.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(absent "")
foreach(package OpenSSL CLI11 spdlog PkgConfig LibClang)
  list(APPEND absent -DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON)
endforeach()
file(REMOVE_RECURSE ${PLACE})
run(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${PLACE} -G ${GENERATOR} -DRKLLM_MCP_SERVER=OFF ${absent})
expect_targets(${PLACE} HAS rkllm_sim bindings_test simulator_test HAS_NOT rkllm-mcp rkllm_mcp_runtime)
# The absence is real: with the server, the same machine is told what to install.
run(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${PLACE} -DRKLLM_MCP_SERVER=ON FAILS EXPECT "Install it: apt-get install")
