# Finds libclang's C API, 14 to 19, where Debian and Ubuntu put it: /usr/lib/llvm-<version>. (find_package(Clang) fails
# there with libclang-dev alone.) The newest is taken unless LIBCLANG_VERSION names one.
#
# Sets LibClang_FOUND and LibClang_VERSION; defines the target LibClang::LibClang.
set(LIBCLANG_VERSION "" CACHE STRING "Version of libclang to use, 14 to 19; empty: the newest that is found")
if(LIBCLANG_VERSION)
  set(_versions ${LIBCLANG_VERSION})
else()
  set(_versions 19 18 17 16 15 14)
endif()
foreach(_version IN LISTS _versions)
  if(LibClang_LIBRARY)  # found just now, or by an earlier run of CMake
    break()
  endif()
  find_path(LibClang_INCLUDE_DIR clang-c/Index.h HINTS /usr/lib/llvm-${_version}/include NO_DEFAULT_PATH)
  find_library(LibClang_LIBRARY NAMES clang-${_version} clang HINTS /usr/lib/llvm-${_version}/lib NO_DEFAULT_PATH)
  if(NOT LibClang_INCLUDE_DIR OR NOT LibClang_LIBRARY)
    unset(LibClang_INCLUDE_DIR CACHE)
    unset(LibClang_LIBRARY CACHE)
  endif()
endforeach()
string(REGEX MATCH "llvm-([0-9]+)" _ "${LibClang_LIBRARY}")
set(LibClang_VERSION ${CMAKE_MATCH_1})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibClang REQUIRED_VARS LibClang_LIBRARY LibClang_INCLUDE_DIR
                                  VERSION_VAR LibClang_VERSION)
mark_as_advanced(LibClang_INCLUDE_DIR LibClang_LIBRARY)
if(LibClang_FOUND AND NOT TARGET LibClang::LibClang)
  add_library(LibClang::LibClang UNKNOWN IMPORTED)
  set_target_properties(LibClang::LibClang PROPERTIES IMPORTED_LOCATION ${LibClang_LIBRARY})
  target_include_directories(LibClang::LibClang SYSTEM INTERFACE ${LibClang_INCLUDE_DIR})
endif()
