# No two files of the product have the same name: a name says which file is meant, in an error, in a
# debugger, and in the list of open files. Run: cmake -DROOT=<repository> -P unique_names.cmake; fails naming every
# mistake.
cmake_minimum_required(VERSION 3.22)

set(parts include runtime server simulator generator)
list(TRANSFORM parts REPLACE "(.+)" "${ROOT}/\\1/*.?pp")
file(GLOB_RECURSE files RELATIVE ${ROOT} ${parts})
set(wrong "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME)
  if(DEFINED "first_${name}")
    string(APPEND wrong "${file}: ${first_${name}} has that name\n")
  else()
    set("first_${name}" ${file})
  endif()
endforeach()
if(wrong)
  message(FATAL_ERROR "${wrong}")
endif()
