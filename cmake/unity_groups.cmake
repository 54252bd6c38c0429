# In unity builds, files are compiled together that lie in one room (runtime/mcp, server/chat), sixteen at a time: most of
# what a file costs is the headers that it includes, and they are read once for all of them. A new file changes what is
# compiled of its own room, and nothing elsewhere: compiler caches and builds after a merge stay quick.
# To be called where the target's sources are listed. Targets without rooms are cut into as many files each.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

function(rkllm_mcp_unity_by_room target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    if("${folder}" MATCHES "^${CMAKE_BINARY_DIR}(/|$)")
      set(folder configured)
    elseif(IS_ABSOLUTE "${source}")
      file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} "${folder}")
    endif()
    # Most are listed from their target's folder, whose rooms are one step down; others from the root.
    if(IS_ABSOLUTE "${source}")
      string(REGEX REPLACE "^([^/]*/[^/]*)/.*" "\\1" room "${folder}")
    else()
      string(REGEX REPLACE "/.*" "" room "${folder}")
    endif()
    string(MAKE_C_IDENTIFIER "room_${room}" room)
    if(NOT DEFINED count_${room})
      set(count_${room} 0)
    endif()
    math(EXPR batch "${count_${room}} / ${CMAKE_UNITY_BUILD_BATCH_SIZE}")
    math(EXPR count_${room} "${count_${room}} + 1")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${room}_${batch})
  endforeach()
endfunction()
