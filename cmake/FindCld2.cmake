# Finds cld2, which tells in which language a text is written. It comes without a file for CMake or pkg-config, and has
# had one version since 2015.
#
# Sets Cld2_FOUND; defines the target cld2::cld2.
find_path(CLD2_INCLUDE_DIR cld2/public/compact_lang_det.h)
find_library(CLD2_LIBRARY cld2)
mark_as_advanced(CLD2_INCLUDE_DIR CLD2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cld2 REQUIRED_VARS CLD2_LIBRARY CLD2_INCLUDE_DIR)
if(Cld2_FOUND AND NOT TARGET cld2::cld2)
  add_library(cld2::cld2 INTERFACE IMPORTED)
  target_include_directories(cld2::cld2 SYSTEM INTERFACE ${CLD2_INCLUDE_DIR})
  target_link_libraries(cld2::cld2 INTERFACE ${CLD2_LIBRARY})
endif()
