# Finds standalone asio, which comes without a file for CMake. Installed with the runtime library, whose users need it,
# too.
#
# Sets Asio_FOUND and Asio_VERSION ("1.18"); defines the target asio::asio.
find_package(Threads QUIET)
find_path(ASIO_INCLUDE_DIR asio.hpp)
mark_as_advanced(ASIO_INCLUDE_DIR)
if(ASIO_INCLUDE_DIR AND EXISTS ${ASIO_INCLUDE_DIR}/asio/version.hpp)
  file(STRINGS ${ASIO_INCLUDE_DIR}/asio/version.hpp _asio_line REGEX "#define ASIO_VERSION [0-9]+")
  string(REGEX REPLACE "^#define ASIO_VERSION ([0-9]+).*" "\\1" _asio_number "${_asio_line}")
  math(EXPR _asio_major "${_asio_number} / 100000")
  math(EXPR _asio_minor "${_asio_number} / 100 % 1000")
  set(Asio_VERSION ${_asio_major}.${_asio_minor})
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS ASIO_INCLUDE_DIR Threads_FOUND VERSION_VAR Asio_VERSION)
if(Asio_FOUND AND NOT TARGET asio::asio)
  add_library(asio::asio INTERFACE IMPORTED)
  target_include_directories(asio::asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
  # asio would decide by what was included before it whether to use aligned_alloc, differently in each source file: memory
  # that one of them allocates, another frees.
  target_compile_definitions(asio::asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED ASIO_DISABLE_STD_ALIGNED_ALLOC)
  target_link_libraries(asio::asio INTERFACE Threads::Threads)
endif()
