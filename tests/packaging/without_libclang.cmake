# Configures a machine without libclang. Run: cmake -DSOURCE=... -DGENERATOR=... -DPLACE=... -P without_libclang.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PLACE})
run(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${PLACE} -G ${GENERATOR} -DRKLLM_MCP_CLIENT_TESTS=OFF
            -DCMAKE_DISABLE_FIND_PACKAGE_LibClang=ON
    EXPECT "rkllm-bindgen is not built: apt-get install libclang-dev")
expect_targets(${PLACE} HAS rkllm-mcp bindings_test HAS_NOT rkllm-bindgen regenerate generator_test)
