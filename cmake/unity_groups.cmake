# Unity builds compile sixteen files together, unless somebody sets another number: most of what a file costs is the
# headers that it includes, and they are read once for all of them. More would take more memory than small boards have.
if(NOT CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
endif()

# Compiles together only files of this target that lie in one top folder of it (runtime/mcp, server/worker). A new file
# then changes what is compiled of its own folder, and nothing elsewhere: compiler caches and builds after a merge stay
# quick. To be called where the target's sources are listed.
function(rkllm_mcp_unity_by_top_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    if("${folder}" MATCHES "^${CMAKE_BINARY_DIR}(/|$)")
      set(folder configured)
    elseif(IS_ABSOLUTE "${source}")  # of another target: its name, and its top folder
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} "${folder}")
      string(REGEX REPLACE "^([^/]*/[^/]*)/.*" "\\1" folder "${folder}")
    else()
      string(REGEX REPLACE "/.*" "" folder "${folder}")
    endif()
    string(MAKE_C_IDENTIFIER "folder_${folder}" group)
    if(NOT DEFINED count_${group})
      set(count_${group} 0)
    endif()
    math(EXPR batch "${count_${group}} / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    math(EXPR count_${group} "${count_${group}} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group}_${batch})
  endforeach()
endfunction()
