# Compiles each of HEADERS by itself, with all warnings as errors. Run with cmake -P; paths are below ROOT.
file(MAKE_DIRECTORY ${WORK})
foreach(header IN LISTS HEADERS)
  string(REGEX REPLACE "^(include|generated)/" "" included ${header})
  file(WRITE ${WORK}/alone.cpp "#include <${included}>\n")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only -I${ROOT}/include
            -I${ROOT}/generated ${WORK}/alone.cpp
    RESULT_VARIABLE failed ERROR_VARIABLE complaints)
  if(failed)
    message(SEND_ERROR "${header} does not compile alone:\n${complaints}")
  endif()
endforeach()
