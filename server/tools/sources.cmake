set(TOOLS_SOURCES
  tools/html/duckduckgo_page.cpp
  tools/html/html_document.cpp
  tools/html/markdown_writer.cpp
  tools/html/page_reading.cpp
  tools/html/readable_text.cpp
  tools/numbers/expression.cpp
  tools/numbers/rational.cpp
  tools/search_results.cpp
  tools/time_zone.cpp
  tools/tool_server.cpp
  tools/web/charset.cpp
  tools/web/web_client.cpp
  tools/web/web_transfer.cpp)

# One file is one tool, named like it: no list has to be kept.
file(GLOB OFFERED_FILES CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
     ${CMAKE_CURRENT_SOURCE_DIR}/tools/offered/*.cpp)
list(SORT OFFERED_FILES)
set(OFFERED_DECLARATIONS "")
set(OFFERED_CALLS "")
foreach(file IN LISTS OFFERED_FILES)
  get_filename_component(name ${file} NAME_WE)
  string(APPEND OFFERED_DECLARATIONS "OfferedTool ${name}(const ToolSurroundings& surroundings);\n")
  list(APPEND OFFERED_CALLS "offered::${name}(surroundings)")
endforeach()
list(JOIN OFFERED_CALLS ", " OFFERED_CALLS)
configure_file(tools/offered_tools.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/configured/offered_tools.cpp @ONLY)
list(APPEND TOOLS_SOURCES ${OFFERED_FILES} ${CMAKE_CURRENT_BINARY_DIR}/configured/offered_tools.cpp)
