# Installs the simulator and builds and runs the example with nothing but what was installed.
# Run: cmake -DBUILD=... -DEXAMPLE_COMPILER=... -DPLACE=... -P installed.cmake
function(run)
  cmake_parse_arguments(RUN "" "EXPECT" "COMMAND" ${ARGN})
  execute_process(COMMAND ${RUN_COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${RUN_EXPECT}" at)
  if(NOT status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "${RUN_COMMAND}\nended with ${status}, without \"${RUN_EXPECT}\":\n${output}")
  endif()
  string(STRIP "${output}" output)
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${PLACE})
# Installed in one place and used from another: the files name no absolute path.
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component simulator --prefix ${PLACE}/first EXPECT "librkllm_sim.so")
file(RENAME ${PLACE}/first ${PLACE}/moved)
file(GLOB_RECURSE pc ${PLACE}/moved/*/rkllm_sim.pc)
get_filename_component(pc_directory ${pc} DIRECTORY)
set(pkg_config ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${pc_directory} pkg-config)

run(COMMAND ${pkg_config} --cflags --libs rkllm_sim EXPECT "-lrkllm_sim")
separate_arguments(flags UNIX_COMMAND "${output}")
run(COMMAND ${pkg_config} --variable=libdir rkllm_sim EXPECT "")
set(libraries ${output})
foreach(set 1_1_4 1_2_0 1_2_1b1 1_2_3)
  if(NOT EXISTS ${libraries}/librkllm_sim_${set}.so)
    message(FATAL_ERROR "librkllm_sim_${set}.so was not installed")
  endif()
endforeach()
run(COMMAND ${pkg_config} --variable=modelsdir rkllm_sim EXPECT "models")
set(models ${output})

run(COMMAND ${EXAMPLE_COMPILER} -std=c11 -Wall -Wextra -Werror ${PLACE}/moved/share/rkllm_sim/example/ask.c ${flags}
            -o ${PLACE}/ask EXPECT "")
run(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${PLACE}/ask ${models}/fast.json "Why is the sky blue?"
    EXPECT "This is a simulated answer. You wrote: \"Why is the sky blue?\".")
run(COMMAND ${PLACE}/moved/bin/rkllm-sim-info ${models}/rk3588-1.5b.json EXPECT "16.7 tokens/s")
# As on a PC where a program that was linked to librkllmrt.so is tried out.
file(CREATE_LINK librkllm_sim.so ${libraries}/librkllmrt.so SYMBOLIC)
list(TRANSFORM flags REPLACE "-lrkllm_sim" "-lrkllmrt")
run(COMMAND ${EXAMPLE_COMPILER} ${PLACE}/moved/share/rkllm_sim/example/ask.c ${flags} -o ${PLACE}/ask EXPECT "")
run(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${PLACE}/ask ${models}/fast.json "Hello"
    EXPECT "This is a simulated answer.")
