# cmake -DSOURCE=FOLDER -DFILE=HEADER -P commit.cmake: writes which commit is being built, for what tells of its failures.
set(commit "")
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "#pragma once\ninline constexpr const char* kCommit = \"${commit}\";  // empty: not known\n")
set(before "")
if(EXISTS ${FILE})
  file(READ ${FILE} before)
endif()
if(NOT before STREQUAL text)  # else all that includes it would be compiled again
  file(WRITE ${FILE} "${text}")
endif()
