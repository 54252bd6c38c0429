# Installs the headers and builds and runs examples/embed with nothing but what was installed. Run:
#   cmake -DBUILD=... -DSOURCE=... -DGENERATOR=... -DCOMPILER=... -DLIBRARIES=... -DPLACE=... -P embed.cmake
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PLACE})
# Installed in one place and used from another: the files name no absolute path.
run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component headers --prefix ${PLACE}/first EXPECT "abi_sets.hpp")
file(RENAME ${PLACE}/first ${PLACE}/prefix)
file(GLOB_RECURSE others RELATIVE ${PLACE}/prefix ${PLACE}/prefix/*)
list(FILTER others EXCLUDE REGEX "^include/rkllm_mcp/.*\\.hpp$|^share/cmake/rkllm_mcp/.*\\.cmake$")
if(others)
  message(FATAL_ERROR "installed with the headers, but not of them: ${others}")
endif()

file(COPY ${SOURCE}/examples/embed DESTINATION ${PLACE})
run(COMMAND ${CMAKE_COMMAND} -S ${PLACE}/embed -B ${PLACE}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
            -DCMAKE_PREFIX_PATH=${PLACE}/prefix
            "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Wconversion -Wshadow -Werror")
run(COMMAND ${CMAKE_COMMAND} --build ${PLACE}/build)

set(model ${SOURCE}/simulator/models/fast.json)
string(REPLACE ":" ";" LIBRARIES "${LIBRARIES}")
foreach(library IN LISTS LIBRARIES)
  run(COMMAND ${PLACE}/build/ask ${library} ${model} "Why is the sky blue?"
      EXPECT "This is a simulated answer. You wrote: \"Why is the sky blue?\".")
endforeach()
list(GET LIBRARIES -1 library)
run(COMMAND ${PLACE}/build/ask ${library} /no/such/model "Hello" FAILS EXPECT "rkllm_init returned ")
run(COMMAND ${PLACE}/build/ask ${model} ${model} "Hello" FAILS EXPECT "fast.json is no RKLLM runtime")
