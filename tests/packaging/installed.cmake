# Installs everything, moves the folder, and uses it there: the programs, and the package that CMake finds. Run:
#   cmake -DBUILD=... -DSOURCE=... -DGENERATOR=... -DCOMPILER=... -DARCHITECTURE=... -DPLACE=... -P installed.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PLACE})
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PLACE}/first EXPECT "rkllm_mcp-config.cmake")
file(RENAME ${PLACE}/first ${PLACE}/prefix)
set(prefix ${PLACE}/prefix)

foreach(file bin/rkllm-mcp bin/rkllm-sim-info include/rkllm_mcp/abi_sets.hpp include/rkllm_mcp/runtime/mcp/catalogue.hpp
             include/rkllm_sim/rkllm.h lib/librkllm_sim.so lib/librkllm_mcp_runtime.a lib/pkgconfig/rkllm_sim.pc
             lib/systemd/system/rkllm-mcp.service lib/systemd/system/rkllm-mcp.socket
             share/man/man1/rkllm-mcp.1 share/bash-completion/completions/rkllm-mcp share/zsh/site-functions/_rkllm-mcp
             share/fish/vendor_completions.d/rkllm-mcp.fish
             share/doc/rkllm-mcp/LICENSE share/doc/rkllm-mcp/NOTICE.txt share/doc/rkllm-mcp/README.md share/doc/rkllm-mcp/docs/protocol.md)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()

# Nothing that is read by people or programs names a folder of this machine.
file(GLOB_RECURSE texts ${prefix}/include/* ${prefix}/share/* ${prefix}/lib/*.pc)
foreach(file IN LISTS texts)
  file(READ ${file} text)
  foreach(folder ${BUILD} ${SOURCE} ${PLACE})
    string(FIND "${text}" "${folder}" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()

# But systemd finds programs by themselves in a few folders only; elsewhere the unit has to name the place.
function(expect_command folder command)
  file(STRINGS ${folder}/lib/systemd/system/rkllm-mcp.service line REGEX "^ExecStart=")
  if(NOT line STREQUAL "ExecStart=${command} serve --settings /etc/rkllm-mcp/settings.json")
    message(FATAL_ERROR "the unit says ${line}; ${command} is expected")
  endif()
endfunction()
expect_command(${prefix} ${PLACE}/first/bin/rkllm-mcp)
run(COMMAND ${CMAKE_COMMAND} -E env DESTDIR=${PLACE}/staged
            ${CMAKE_COMMAND} --install ${BUILD} --prefix /usr --component program)
expect_command(${PLACE}/staged/usr rkllm-mcp)

# The program finds the simulator beside it, also where Debian would put libraries.
set(ask "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rkllm_init\",\"params\":{\"param\":{\"model_path\":\"${prefix}/share/rkllm_sim/models/fast.json\"}}}")
file(WRITE ${PLACE}/ask "${ask}\n")
function(load_a_model)
  run(COMMAND ${CMAKE_COMMAND} -E env --unset=LD_LIBRARY_PATH ${prefix}/bin/rkllm-mcp stdio --simulator
              --settings ${PLACE}/settings.json INPUT ${PLACE}/ask EXPECT "\"handle\":\"llm-1\"")
endfunction()
load_a_model()
file(MAKE_DIRECTORY ${prefix}/lib/${ARCHITECTURE})
file(RENAME ${prefix}/lib/librkllm_sim.so ${prefix}/lib/${ARCHITECTURE}/librkllm_sim.so)
load_a_model()
file(RENAME ${prefix}/lib/${ARCHITECTURE}/librkllm_sim.so ${prefix}/lib/librkllm_sim.so)

# The generator, with the headers and the overlay that came with it.
if(EXISTS ${prefix}/bin/rkllm-bindgen)
  run(COMMAND ${prefix}/bin/rkllm-bindgen ${prefix}/share/rkllm-mcp/generator/headers/rkllm_1.3.0.h --api-version 1.3.0
              --root ${prefix}/share/rkllm-mcp --out ${PLACE}/generated EXPECT "files changed")
endif()

# Programs of other projects: the complete server of docs/library.md, and one that links the simulator.
file(READ ${SOURCE}/docs/library.md text)
string(FIND "${text}" "<!-- tested The complete server: compiled -->\n```cpp\n" begin)
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "```cpp\n" begin)
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/uses_the_package DESTINATION ${PLACE})
file(WRITE ${PLACE}/uses_the_package/complete_server.cpp "${text}")
run(COMMAND ${CMAKE_COMMAND} -S ${PLACE}/uses_the_package -B ${PLACE}/build -G ${GENERATOR}
            -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${prefix}
            "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Wconversion -Wshadow -Werror")
run(COMMAND ${CMAKE_COMMAND} --build ${PLACE}/build)
file(WRITE ${PLACE}/ask "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"kitchen://times\"}}\n")
run(COMMAND ${PLACE}/build/complete_server INPUT ${PLACE}/ask EXPECT "soft: 240 s, hard: 540 s")
run(COMMAND ${PLACE}/build/simulated_model ${prefix}/share/rkllm_sim/models/fast.json EXPECT "loaded")
